"""The brackets and quotes of a line, found without parsing it: for lines that no parser takes."""

import re
import sys
from collections.abc import Iterator
from typing import Final

from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import parse_value

QUOTE: Final = ord('"')
BACKSLASH: Final = ord("\\")
OPENING: Final = b"{["
CLOSING: Final = b"}]"
COMMA: Final = ord(",")

# Quotes that begin or end a string (escaped ones follow an odd number of backslashes), and structure.
_TOKEN: Final = re.compile(rb'\\+"?|["{}\[\],:]')
# What parsers bear is 1,000 levels or so, less where they are called from deep down.
_LEVELS: Final = 256
_STRETCH_BYTES: Final = 1 << 16


def tokens(data: bytes, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, int]]:
    """Yield place and byte of all unescaped quotes and of all structural bytes, also those in strings."""
    for match in _TOKEN.finditer(data, start, end):
        token = match[0]
        if len(token) % 2 and token[-1] != BACKSLASH:  # an escaped quote makes an even number of bytes
            yield match.end() - 1, token[-1]


def tokens_backwards(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield what `tokens` yields from the end on, without holding more than a stretch of it."""
    end = len(data)
    while end:
        start = max(0, end - _STRETCH_BYTES)
        while start and data[start - 1] == BACKSLASH:  # they count from the first of a row
            start -= 1
        yield from reversed(list(tokens(data, start, end)))
        end = start


def shallow(data: bytes) -> bytes | None:
    """Return a line that is nested too deeply for a parser, with null in the place of what is too deep.

    None where nothing is, or where what is left out is no JSON. (The rest is for the caller to parse.) Takes
    time linear in the line's length: what is left out is parsed in pieces, each a few hundred levels high.
    """
    if data.count(b"[") + data.count(b"{") < _LEVELS:
        return None
    pieces: list[list[bytes]] = [[]]
    taken = [0]
    depth = 0
    in_string = False
    for place, byte in tokens(data):
        if byte == QUOTE:
            in_string = not in_string
        elif in_string:
            continue
        elif byte in OPENING:
            depth += 1
            if depth % _LEVELS == 0:
                pieces[-1] += (data[taken[-1] : place], b"null")
                pieces.append([])
                taken.append(place)
        elif byte in CLOSING:
            if depth <= 0:
                return None
            if depth % _LEVELS == 0:
                piece = b"".join((*pieces.pop(), data[taken.pop() : place + 1]))
                if not _is_json(piece):
                    return None
                taken[-1] = place + 1
            depth -= 1
    if depth or in_string or not pieces[0]:
        return None
    return b"".join((*pieces[0], data[taken[0] :]))


def made_whole(data: bytes) -> Iterator[bytes]:
    """Yield ways to make a whole document of the beginning of one, from those that keep most of it on.

    What is yielded is not always JSON: to be parsed until one is. A string at the end of `data` ends there.
    """
    closing: list[bytes] = []
    comma: tuple[int, bytes] | None = None
    in_string = False
    for place, byte in tokens(data):
        if byte == QUOTE:
            in_string = not in_string
        elif in_string:
            continue
        elif byte in OPENING:
            closing.append(CLOSING[OPENING.index(byte)].to_bytes())
        elif byte in CLOSING and closing:
            closing.pop()
        elif byte == COMMA:
            comma = (place, b"".join(reversed(closing)))
    end = b"".join(reversed(closing))
    if in_string:
        # a character takes up to four bytes, an escaped one six, and two of those can be one
        for less in range(13):
            yield data[: len(data) - less] + b'"' + end
    elif data[-1:] in {b'"', b"}", b"]"}:  # else a number may go on
        yield data + end
    if comma is not None:
        yield data[: comma[0]] + comma[1]


def _is_json(data: bytes) -> bool:
    try:
        parse_value(data)
    except LineError:
        return False
    return True
