"""Small session files for the preview."""

import json
from pathlib import Path
from typing import Any

from pitree.sessions.file import SessionFile

MOMENT = "2026-03-01T10:00:00.000Z"
SAFE_WIDTHS = (1, 7, 40, 80)


def session_file(path: Path, *entries: dict[str, Any]) -> SessionFile:
    """Write entries one below the other, unless they say otherwise, and read them back."""
    header = {"type": "session", "version": 3, "id": "s", "timestamp": MOMENT, "cwd": "/home/ada"}
    lines: list[dict[str, Any]] = [header]
    above: object = None
    for number, entry in enumerate(entries, 1):
        line = {"id": f"e{number}", "parentId": above, "timestamp": MOMENT} | entry
        above = line["id"]
        lines.append(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return SessionFile.load(path)


def message(role: str, content: object = None, **fields: object) -> dict[str, Any]:
    """Return a message entry."""
    said = {} if content is None else {"content": content}
    return {"type": "message", "message": {"role": role, **said, **fields}}


def call(name: str, arguments: object, call_id: str = "c1") -> dict[str, Any]:
    """Return a tool call block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def usage(total: int, cost: float) -> dict[str, Any]:
    """Return a usage record."""
    parts = {"input": total - 200, "output": 150, "cacheRead": 50, "cacheWrite": 0}
    return {**parts, "totalTokens": total, "cost": {"total": cost}}
