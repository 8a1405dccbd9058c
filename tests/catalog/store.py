"""Stores and session files that the tests of the catalog write for themselves."""

import json
import os
from pathlib import Path
from typing import Any

from pitree.catalog.cache import Cache, Kept
from pitree.catalog.locations import FoundFile
from pitree.catalog.rows import SessionRow
from pitree.catalog.scan import Mark, Scanned, Text, scan_file
from pitree.catalog.tally import Span, Tally

Json = dict[str, Any]

TIME = "2026-01-01T00:00:00.000Z"
TIME_MS = 1767225600000


def header(session_id: str = "s1", **fields: object) -> Json:
    """Make a header; a field given as None is null, one given as ... is left out."""
    made: Json = {
        "type": "session",
        "version": 3,
        "id": session_id,
        "timestamp": TIME,
        "cwd": "/code",
        **fields,
    }
    return {key: value for key, value in made.items() if value is not ...}


def entry(kind: str, **fields: object) -> Json:
    made: Json = {"type": kind, "id": "e", "parentId": None, "timestamp": TIME, **fields}
    return {key: value for key, value in made.items() if value is not ...}


def message(role: object, content: object = ..., *, at: object = TIME_MS, **fields: object) -> Json:
    """Make a message entry; `at` is the message's own time in milliseconds after which lists are sorted."""
    made: Json = {"role": role, "content": content, "timestamp": at}
    return entry("message", message={key: value for key, value in made.items() if value is not ...}, **fields)


def write(path: Path, *lines: Json | bytes, end: bytes = b"\n", mtime: float | None = None) -> Path:
    """Write a file of these lines; objects are written as Pi writes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = [
        line
        if isinstance(line, bytes)
        else json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for line in lines
    ]
    path.write_bytes(b"\n".join(data) + end)
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def found(path: Path) -> FoundFile:
    return FoundFile.at(path)


def scanned(path: Path, *lines: Json | bytes, end: bytes = b"\n") -> SessionRow | None:
    """Write a file and return its row."""
    return scan_file(found(write(path, *lines, end=end)))


def row(path: Path, *lines: Json | bytes, end: bytes = b"\n") -> SessionRow:
    """Write a file that is a session and return its row."""
    made = scanned(path, *lines, end=end)
    assert made is not None
    return made


def known(**fields: Any) -> SessionRow:  # noqa: ANN401 - whatever the row holds
    """Make a row without a file."""
    made: Json = {
        "folder": "/store",
        "file": "s.jsonl",
        "id": "0199aaaa",
        "cwd": "",
        "name": None,
        "created": None,
        "modified": 0.0,
        "message_count": 0,
        "first_message": "(no messages)",
        "parent_session": None,
        "size": 0,
        "mtime_ns": 0,
        "damage": 0,
        "text": "",
    }
    if (path := fields.pop("path", None)) is not None:
        made |= {"folder": str(path.parent), "file": path.name}
    return SessionRow(**{**made, **fields})


def kept(cache: Cache, rows: list[SessionRow]) -> list[SessionRow]:
    """Put rows and their texts into a cache, as if there were files, and leave the texts there."""
    batch = []
    for place, made in enumerate(rows):
        text = Text(made.text, [Span(len(made.text), 0, "e", "user")] if made.text else [])
        file = FoundFile(made.folder, f"{place}.jsonl", 0, 0, place)
        scanned = Scanned(made, text, Text("", []), Mark(Tally(objects=1), place, b""), goes_on=False)
        batch.append(Kept(made.folder, file.file, file, scanned))
    for made, key in zip(rows, cache.keep(batch), strict=True):
        made.key = key
        made.text = ""
    return rows
