"""Giving back the entries that a torn line swallowed.

When a program dies in the middle of a line and the next one appends without a newline, one line holds the
beginning of an entry and then a whole one. Pi skips both; the second is still there to be read.

The search goes backwards from the line's end, where a whole entry has to end: outside strings, brackets pair
up, so there is one place where it can begin. An object that could as well be a value inside the torn entry
(the tear just behind it) is left alone: better an entry too few than one that never was.
"""

from collections.abc import Iterator
from typing import Final

from pitree.sessions import structure
from pitree.sessions.entries import Entry, decode_entry
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line, parse_value

# What Pi writes into every entry; objects inside messages have some of these at most.
_ALWAYS_THERE: Final = frozenset({"type", "id", "parentId", "timestamp"})
_BLANKS: Final = b" \t\r"
_NOTE: Final = "recovered from a torn line; Pi does not see it"

_COMMA, _COLON = b",:"


def swallowed(line: Line) -> list[Entry]:
    """Return the whole entries at the end of a line that is no JSON, in their order; mostly none.

    Takes time linear in the line's length.
    """
    data = line.data.rstrip(_BLANKS)
    if not data.endswith(b"}"):
        return []
    tokens = structure.tokens_backwards(data)
    found: list[Entry] = []
    end = len(data)
    while (start := _beginning(data, tokens, end)) is not None:
        entry = _entry(Line(line.number, line.offset + start, line.data[start:end]))
        if entry is None:
            break
        found.append(entry)
        end = _without_blanks(data, start)
    if found and _may_be_a_value(data[: found[-1].offset - line.offset]):
        found.pop()
    return found[::-1]


def _without_blanks(data: bytes, end: int) -> int:
    while end and data[end - 1] in _BLANKS:
        end -= 1
    return end


def _entry(line: Line) -> Entry | None:
    """Return what is on a stretch of a line if it is as whole as Pi writes entries."""
    try:
        entry = decode_entry(line)
        if not isinstance(entry, Entry) or entry.notes or _ALWAYS_THERE - parse_value(line.data).keys():
            return None
    except LineError:
        return None
    entry.notes = (_NOTE,)
    return entry


def _beginning(data: bytes, tokens: Iterator[tuple[int, int]], end: int) -> int | None:
    """Return where the object begins that ends before `end`, or None; takes its tokens, from the last on."""
    if not data.endswith(b"}", 0, end):
        return None
    depth = 0
    in_string = False
    for place, byte in tokens:
        if byte == structure.QUOTE:
            in_string = not in_string
        elif in_string:
            continue
        elif byte in structure.CLOSING:
            depth += 1
        elif byte in structure.OPENING:
            depth -= 1
            if depth == 0:
                return place if byte == structure.OPENING[0] else None
    return None


def _may_be_a_value(before: bytes) -> bool:
    """Return whether what follows a torn beginning may be a value in it: behind a colon, or in an array."""
    opened = bytearray()
    in_string = False
    last = -1
    for _place, byte in structure.tokens(before):
        if byte == structure.QUOTE:
            in_string = not in_string
        elif in_string:
            continue
        elif byte in structure.OPENING:
            opened.append(byte)
        elif byte in structure.CLOSING:
            del opened[-1:]
        last = byte
    end = _without_blanks(before, len(before))
    if not end or before[end - 1] != last:  # as it is inside a string, whose last token is its quote
        return False
    return last == _COLON or (opened.endswith(b"[") and last in (_COMMA, structure.OPENING[1]))
