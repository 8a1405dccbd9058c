"""The header of a session file as Pi writes it: on the first line."""

import os
from typing import Final

from pitree.sessions.entries import JsonObject, decode_entry
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line

_HEADER_BYTES: Final = 1 << 16


def plain_header(fd: int) -> tuple[JsonObject, int] | None:
    """Return the header on the first line of an open file, and where the second line begins; else None.

    For those who can do without: what stands elsewhere, or is longer than 64 KiB, is not looked for.
    """
    line, newline, _ = os.pread(fd, _HEADER_BYTES, 0).partition(b"\n")
    try:
        header = decode_entry(Line(1, 0, line)) if newline else None
    except LineError:
        return None
    return (header, len(line) + 1) if isinstance(header, dict) else None
