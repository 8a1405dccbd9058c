"""Making session files for the tests, line by line."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SESSION_ID = "019b7a00-0000-7000-8000-00000000c0de"


class LastEntry:
    """Stands for "hang it on the entry before", where None already means a root."""


LAST = LastEntry()

Json = dict[str, Any]

_SURROGATE = re.compile("[\ud800-\udfff]")


def moment(seconds: float) -> str:
    """Give the ISO timestamp `seconds` after `START`, as Pi writes it."""
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(seconds: float) -> int:
    """Give the Unix milliseconds `seconds` after `START`."""
    return round((START + timedelta(seconds=seconds)).timestamp() * 1000)


def text(words: str) -> Json:
    """Make a text block."""
    return {"type": "text", "text": words}


def call(name: str, call_id: str = "call-1", **arguments: object) -> Json:
    """Make a tool call block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def usage(output: int = 7) -> Json:
    """Make a usage object."""
    cost = {"input": 0.001, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.003}
    return {
        "input": 10,
        "output": output,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 10 + output,
        "cost": cost,
    }


class Session:
    """A session file under construction.

    Every method that adds an entry gives its id and makes it the parent of the next one, unless `parent` says
    otherwise. Ids are `00000001` and so on; timestamps are one second apart.
    """

    def __init__(self, **header: object) -> None:
        self.header: Json = {
            "type": "session",
            "version": 3,
            "id": SESSION_ID,
            "timestamp": moment(0),
            "cwd": "/home/ada/paperboy",
            **header,
        }
        self.lines: list[Json | bytes] = []
        self.tail = b""
        """What follows the last newline."""
        self.last: str | None = None
        self._count = 0

    # Entries

    def entry(self, kind: str, parent: str | LastEntry | None = LAST, /, **fields: object) -> str:
        """Add an entry of any type; `fields` come last and may replace `id` and `timestamp`."""
        self._count += 1
        made: Json = {
            "type": kind,
            "id": f"{self._count:08x}",
            "parentId": self.last if isinstance(parent, LastEntry) else parent,
            "timestamp": moment(self._count),
            **fields,
        }
        self.lines.append(made)
        self.last = made["id"]
        return str(made["id"])

    def message(self, role: str, parent: str | LastEntry | None = LAST, /, **fields: object) -> str:
        """Add a message of any role; `fields` belong to the message."""
        stamp = milliseconds(self._count + 1)
        return self.entry("message", parent, message={"role": role, "timestamp": stamp, **fields})

    def user(self, content: object = "hello", parent: str | LastEntry | None = LAST, **fields: object) -> str:
        """Add a user message."""
        return self.message("user", parent, content=content, **fields)

    def assistant(
        self, content: object = "fine", parent: str | LastEntry | None = LAST, **fields: object
    ) -> str:
        """Add an assistant message; a string becomes one text block."""
        blocks = [text(content)] if isinstance(content, str) else content
        made = {
            "provider": "maker",
            "model": "m-1",
            "api": "some-api",
            "usage": usage(),
            "stopReason": "stop",
        }
        return self.message("assistant", parent, content=blocks, **{**made, **fields})

    def calls(self, *blocks: Json, parent: str | LastEntry | None = LAST, **fields: object) -> str:
        """Add an assistant message that calls tools."""
        return self.assistant(list(blocks), parent, **{"stopReason": "toolUse", **fields})

    def result(
        self, content: object = "done", call_id: str = "call-1", parent: str | LastEntry | None = LAST
    ) -> str:
        """Add a tool result; a string becomes one text block."""
        blocks = [text(content)] if isinstance(content, str) else content
        return self.message(
            "toolResult", parent, toolCallId=call_id, toolName="read", content=blocks, isError=False
        )

    def compaction(
        self, first_kept: str | None, parent: str | LastEntry | None = LAST, **fields: object
    ) -> str:
        """Add a compaction; `first_kept` "self" stands for its own id."""
        kept = f"{self._count + 1:08x}" if first_kept == "self" else first_kept
        stored = {"summary": f"summary {self._count}", "firstKeptEntryId": kept, "tokensBefore": 1234}
        return self.entry("compaction", parent, **{**stored, **fields})

    def summary(
        self, words: str, from_id: str, parent: str | LastEntry | None = LAST, **fields: object
    ) -> str:
        """Add a branch summary."""
        return self.entry("branch_summary", parent, fromId=from_id, summary=words, **fields)

    def edit(self, target: str, replacement: object, parent: str | LastEntry | None = LAST) -> str:
        """Add a context edit; `replacement` is None or what `content` shall be."""
        stored = None if replacement is None else {"content": replacement}
        return self.entry("context_edit", parent, targetId=target, replacement=stored)

    def label(self, target: str, label: str | None, parent: str | LastEntry | None = LAST) -> str:
        """Add a label; None leaves the field out."""
        fields = {} if label is None else {"label": label}
        return self.entry("label", parent, targetId=target, **fields)

    def name(self, name: object, parent: str | LastEntry | None = LAST) -> str:
        """Add a session name."""
        return self.entry("session_info", parent, name=name)

    # Lines

    def raw(self, line: bytes) -> Self:
        """Add a line as it is, without its newline."""
        self.lines.append(line)
        return self

    def __repr__(self) -> str:
        # What a failing random test shows; ready to be pasted into a file.
        return self.encoded().decode()

    def ids(self) -> list[str]:
        """Give the ids of all entries so far."""
        return [line["id"] for line in self.lines if isinstance(line, dict) and line["type"] != "session"]

    def write(self, path: Path, *, ascii_only: bool = True) -> Path:
        """Write the file and give its path."""
        path.write_bytes(self.encoded(ascii_only=ascii_only))
        return path

    def encoded(self, *, ascii_only: bool = True) -> bytes:
        """Give the bytes of the file."""
        return encode([self.header, *self.lines], ascii_only=ascii_only) + self.tail


def encode(lines: Sequence[Json | bytes], *, ascii_only: bool = True) -> bytes:
    """Give the bytes of a file; without `ascii_only`, only what UTF-8 cannot hold is escaped, as Pi does."""
    parts = []
    for line in lines:
        if isinstance(line, bytes):
            parts.append(line)
        else:
            written = json.dumps(line, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
            parts.append(_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", written).encode())
    return b"".join(part + b"\n" for part in parts)
