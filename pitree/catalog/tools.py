"""Searching what tools were told and what they answered: most of a store, so it is read from the files.

Keeping these texts as the others are kept would make the cache as large as the store.
"""

import os
from collections.abc import Callable, Iterator
from typing import Final

from pitree.catalog.header import OPEN_FLAGS
from pitree.catalog.hits import Hit, hit_in, matching
from pitree.catalog.scan import ScanStoppedError
from pitree.catalog.tally import Span
from pitree.sessions.context import blocks_of
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import LineCutter, encode_value, parse_value
from pitree.sessions.query import Query

_CHUNK_BYTES: Final = 1 << 20
_SIGNS: Final = (b'"toolCall"', b'"toolResult"', b'"bashExecution"')


def tool_hits(path: str, query: Query, *, stop: Callable[[], bool] = lambda: False) -> Iterator[Hit]:
    """Yield the tool calls, tool results and commands of a session in which all of a query matches.

    Raises OSError when the file cannot be read, ScanStoppedError when `stop` says so.
    """
    wanted = 1 if query.pattern is not None else len(query.terms)
    for span, text in _tool_texts(path, _raw_words(query), stop):
        if matching(text, query) == wanted:
            yield hit_in(span, text, query)


def _raw_words(query: Query) -> list[bytes]:
    """Return words that stand in a line as they are if they are in its text: plain letters and digits."""
    if query.pattern is not None:
        return []
    words = [word for term in query.terms for word in term.text.split(" ")]
    return [word.encode() for word in words if word.isascii() and word.isalnum()]


def _tool_texts(path: str, words: list[bytes], stop: Callable[[], bool]) -> Iterator[tuple[Span, str]]:
    fd = os.open(path, OPEN_FLAGS)
    try:
        cutter = LineCutter()
        while chunk := os.read(fd, _CHUNK_BYTES):
            if stop():
                raise ScanStoppedError
            for line in cutter.feed(chunk):
                yield from _of_line(line.offset, line.data, words)
        yield from _of_line(cutter.tail.offset, cutter.tail.data, words)
    finally:
        os.close(fd)


def _of_line(offset: int, data: bytes, words: list[bytes]) -> Iterator[tuple[Span, str]]:
    if not any(sign in data for sign in _SIGNS):
        return
    if words:
        lowered = data.lower()
        if not all(word in lowered for word in words):
            return
    try:
        entry = parse_value(data)
    except LineError:
        return
    message = entry.get("message") if isinstance(entry, dict) else None
    if isinstance(message, dict):
        text = _tool_text(message)
        if text:
            entry_id, role = entry.get("id"), message.get("role")
            known = entry_id if isinstance(entry_id, str) else ""
            yield Span(len(text), offset, known, role if isinstance(role, str) else ""), text


def _tool_text(message: JsonObject) -> str:
    if message.get("role") == "bashExecution":
        parts = [message.get("command"), message.get("output")]
    elif message.get("role") == "toolResult":
        parts = [message.get("toolName"), *(block.get("text") for block in blocks_of(message.get("content")))]
    else:
        calls = [block for block in blocks_of(message.get("content")) if block.get("type") == "toolCall"]
        parts = [part for call in calls for part in (call.get("name"), _arguments(call.get("arguments")))]
    return "\n".join(part for part in parts if isinstance(part, str))


def _arguments(value: object) -> str:
    """Return a call's arguments as text: the strings in it as they are, names and numbers around them."""
    pieces: list[str] = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            pieces.append(inner)
        elif isinstance(inner, dict):
            waiting += [piece for pair in reversed(inner.items()) for piece in reversed(pair)]
        elif isinstance(inner, list):
            waiting += reversed(inner)
        elif inner is not None:
            pieces.append(encode_value(inner).decode())
    return " ".join(pieces)
