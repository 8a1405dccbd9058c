"""The header of a session file: looked for among the first lines, with Pi's patience and a little more."""

import os
from pathlib import Path
from typing import Final

from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import LineCutter, parse_value

OPEN_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
"""For files of a store; not blocking, since a fifo may have the name of a session."""

BLANKS: Final = b" \t\r\n\v\f"
"""A line of these alone is no damage."""

_CHUNK_BYTES: Final = 4096
# As Pi: a header can hold much metadata, but to look for one no more than this is read.
_MAX_BYTES: Final = 1 << 20
# What opens is listed: see `pitree.sessions.file`, which bears with as many stray objects before a header.
_MAX_STRAYS: Final = 20


class HeaderSearch:
    """Takes lines until one is the header (`header`) or shows that there will be none (`refused`).

    Lines that are no JSON objects are skipped; objects before the header are borne with unless they are the
    entries of a conversation. Both count as `damage`.
    """

    def __init__(self) -> None:
        self.header: JsonObject | None = None
        self.refused = False
        self.damage = 0
        self._strays = 0

    @property
    def over(self) -> bool:
        """Whether further lines change nothing."""
        return self.refused or self.header is not None

    def take(self, data: bytes) -> None:
        """Take the next line."""
        if not data:
            return
        try:
            value = parse_value(data)
        except LineError:
            self.damage += bool(data.strip(BLANKS))
            return
        if isinstance(value, dict) and value.get("type") == "session":
            if isinstance(value.get("id"), str):
                self.header = value
            else:
                self.refused = True
            return
        self.damage += 1
        if isinstance(value, dict):
            self._strays += 1
            conversation = value.get("type") == "message" or value.get("id") is not None
            self.refused = conversation or self._strays > _MAX_STRAYS


def read_header(path: Path) -> JsonObject | None:
    """Return the header of the session file at `path`, or None where it holds no session.

    Reads no more than the lines up to it, and at most 1 MiB. Raises OSError when the file cannot be read.
    """
    search = HeaderSearch()
    fd = os.open(path, OPEN_FLAGS)
    try:
        cutter = LineCutter()
        read = 0
        while read < _MAX_BYTES and not search.over and (chunk := os.read(fd, _CHUNK_BYTES)):
            read += len(chunk)
            for line in cutter.feed(chunk):
                if not search.over:
                    search.take(line.data)
        if not search.over:
            search.take(cutter.tail.data)
    finally:
        os.close(fd)
    return search.header
