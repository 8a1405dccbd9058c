"""An entry as one line of plain text: who, and what. The same words on the screen and in pipes."""

import os
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pitree.sessions.context import FAILED, Session, blocks_of
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.jsonl import encode_value
from pitree.sessions.text import one_line
from pitree.sessions.tree import NO_PARENT, Tree

_LIMIT: Final = 400
# Results follow their calls. To look up to the root for each that has none would take a damaged file of
# 100,000 entries minutes.
_MAX_ABOVE: Final = 500
_LINE_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)


class Description(NamedTuple):
    """`lead` says who or what (`user`, `read`, `compaction`), `text` the rest; both are safe to print.

    `kind` groups entries that look alike: user, assistant, tool, shell, summary, note, setting, other.
    """

    kind: str
    lead: str
    text: str
    failed: bool = False

    def __str__(self) -> str:
        mark = "✗ " if self.failed else ""
        return f"{mark}{self.lead}: {self.text}" if self.text else f"{mark}{self.lead}"


def describe(session: Session, entry: Entry) -> Description:
    """Return an entry's line. Reads its body; for a tool result also that of the call it answers.

    Raises what `session.body` raises.
    """
    body = session.body(entry)
    if entry.type == "message":
        message = body.get("message")
        return _message(session, entry, message if isinstance(message, dict) else {})
    describer = _DESCRIBERS.get(entry.type)
    if describer is None:
        return Description("other", one_line(entry.type, 40) or "(no type)", "")
    return describer(body)


def describe_or_say(session: Session, entry: Entry, name: str) -> Description:
    """Return an entry's line or, where its body cannot be read, one that says why of `name`."""
    try:
        return describe(session, entry)
    except (SessionError, OSError) as error:
        return Description("other", one_line(name, 40), one_line(f"({error})"), failed=True)


def _message(session: Session, entry: Entry, message: JsonObject) -> Description:
    if entry.role == "assistant":
        return _assistant(message)
    if entry.role == "toolResult":
        return _tool_result(session, entry, message)
    if entry.role == "bashExecution":
        lead = "!!" if message.get("excludeFromContext") else "!"
        failed = bool(message.get("exitCode")) or bool(message.get("cancelled"))
        return Description("shell", lead, _string(message.get("command")), failed)
    text = content_line(message.get("content"))
    if entry.role == "user":
        return Description("user", "user", text)
    if entry.role in {"branchSummary", "compactionSummary"}:
        return Description("summary", one_line(entry.role, 40), _string(message.get("summary")))
    return Description("note", one_line(entry.role, 40) or "(no role)", text)


def _assistant(message: JsonObject) -> Description:
    reason = message.get("stopReason")
    failed = reason in FAILED
    text = content_line(message.get("content"), images=False)
    if not text and reason == "aborted":
        text = "(aborted)"
    elif not text and message.get("errorMessage"):
        text = _string(message["errorMessage"])
    elif not text:
        calls = [
            str(tool_line(block.get("name"), block.get("arguments")))
            for block in blocks_of(message.get("content"))
            if block.get("type") == "toolCall"
        ]
        text = one_line("→ " + "; ".join(calls), _LIMIT) if calls else "(no text)"
    return Description("assistant", "assistant", text, failed)


def _tool_result(session: Session, entry: Entry, message: JsonObject) -> Description:
    failed = bool(message.get("isError"))
    call = call_of(session, entry)
    if call is None:
        name = _string(message.get("toolName")) or "tool"
        return Description("tool", name, content_line(message.get("content")), failed)
    line = tool_line(call.get("name"), call.get("arguments"))
    return line._replace(failed=failed)


def call_of(session: Session, result: Entry) -> JsonObject | None:
    """Return the tool call block that a tool result answers: the nearest one not far above it, or None."""
    calling = calling_entry(session.tree, result)
    if calling is None:
        return None
    message = session.body(calling).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in blocks_of(content):
        if block.get("type") == "toolCall" and block.get("id") == result.calls[0]:
            return block
    return None


def calling_entry(tree: Tree, result: Entry) -> Entry | None:
    """Return the nearest assistant message not far above a tool result that makes the call it answers."""
    if not result.calls:
        return None
    wanted = result.calls[0]
    position = tree.position(result.id)
    for _ in range(_MAX_ABOVE):
        if position is None or position == NO_PARENT:
            break
        entry = tree.entries[position]
        if entry.role == "assistant" and wanted in entry.calls:
            return entry
        position = tree.parents[position]
    return None


def results_of(tree: Tree, calling: Entry) -> dict[str, Entry]:
    """Return the entries that answer an assistant message's tool calls, by call id.

    Those are looked for below it, not far, up to the next assistant message.
    """
    wanted = set(calling.calls)
    found: dict[str, Entry] = {}
    position = tree.position(calling.id) if wanted else None
    waiting = [] if position is None else list(reversed(tree.children(position)))
    for _ in range(_MAX_ABOVE):
        if not waiting or len(found) == len(wanted):
            break
        position = waiting.pop()
        entry = tree.entries[position]
        if entry.role == "toolResult" and entry.calls and entry.calls[0] in wanted:
            found.setdefault(entry.calls[0], entry)
        if entry.role != "assistant":
            waiting += reversed(tree.children(position))
    return found


def content_line(content: object, *, images: bool = True) -> str:
    """Return the beginning of a message's text as one safe line; images as `[image/png]`."""
    parts = []
    length = 0
    for block in blocks_of(content):
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"][: _LIMIT * 4])
        elif images and block.get("type") == "image":
            parts.append(f"[{_string(block.get('mimeType')) or 'image'}] ")
        length += len(parts[-1]) if parts else 0
        if length > _LIMIT * 4:
            break
    return one_line("".join(parts), _LIMIT)


def tool_line(name: object, arguments: object) -> Description:
    """Return a tool call as its tool means it: `read: path:10-40`, `bash: command`, else its arguments."""
    tool = _string(name) or "tool"
    given: JsonObject = arguments if isinstance(arguments, dict) else {}
    path = _string(_short_path(given.get("path") or given.get("file_path") or ""))
    if tool == "read":
        text = path + _line_range(given)
    elif tool in {"write", "edit"}:
        text = path
    elif tool == "bash":
        text = _string(given.get("command"))
    elif tool == "grep":
        text = f"/{_string(given.get('pattern'))}/ in {path or '.'}"
    elif tool == "find":
        text = f"{_string(given.get('pattern'))} in {path or '.'}"
    elif tool == "ls":
        text = path or "."
    else:
        text = one_line(encode_value(arguments).decode(), _LIMIT) if arguments is not None else ""
    return Description("tool", tool, text)


def _short_path(path: object) -> object:
    home = os.environ.get("HOME", "").rstrip("/")
    if isinstance(path, str) and home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def _line_range(arguments: JsonObject) -> str:
    offset, limit = arguments.get("offset"), arguments.get("limit")
    if offset is None and limit is None:
        return ""
    start = 1 if offset is None else _line_number(offset)
    if start is None:
        return ""
    count = None if limit is None else _line_number(limit)
    return f":{start}" if count is None else f":{start}-{start + count - 1}"


def _line_number(value: object) -> int | None:
    if isinstance(value, str) and _LINE_NUMBER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        return None
    return int(value)


def _string(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a field as one safe line: strings and numbers as they are, null and missing as nothing."""
    if isinstance(value, str):
        return one_line(value, _LIMIT)
    if value is None:
        return ""
    return one_line(encode_value(value).decode(), _LIMIT)


def _compaction(body: JsonObject) -> Description:
    tokens = body.get("tokensBefore")
    size = f"{round(tokens / 1000)}k tokens" if isinstance(tokens, int | float) and 0 <= tokens < 1e15 else ""
    summary = _string(body.get("summary"))
    return Description("summary", "compaction", " · ".join(part for part in (size, summary) if part))


def _custom_message(body: JsonObject) -> Description:
    return Description("note", _string(body.get("customType")) or "custom", content_line(body.get("content")))


def _model(body: JsonObject) -> Description:
    names = [_string(body.get(key)) for key in ("provider", "modelId")]
    return Description("setting", "model", "/".join(name for name in names if name))


def _context_edit(body: JsonObject) -> Description:
    verb = "omit" if body.get("replacement", {}) is None else "replace"
    return Description("setting", "context edit", f"{verb} {_string(body.get('targetId'))}")


def _label(body: JsonObject) -> Description:
    label = _string(body.get("label")) or "(cleared)"
    return Description("setting", "label", f"{label} on {_string(body.get('targetId'))}")


def _field(kind: str, lead: str, key: str, missing: str = "") -> Callable[[JsonObject], Description]:
    return lambda body: Description(kind, lead, _string(body.get(key)) or missing)


_DESCRIBERS: Final[dict[str, Callable[[JsonObject], Description]]] = {
    "compaction": _compaction,
    "branch_summary": _field("summary", "branch summary", "summary", "(empty)"),
    "custom_message": _custom_message,
    "custom": _field("setting", "custom", "customType"),
    "model_change": _model,
    "thinking_level_change": _field("setting", "thinking", "thinkingLevel"),
    "session_info": _field("setting", "name", "name", "(cleared)"),
    "label": _label,
    "context_edit": _context_edit,
    "usage": _field("setting", "usage", "kind"),
    "active_tools_change": _field("setting", "active tools", "activeToolNames"),
    "leaf": _field("setting", "leaf", "targetId", "(before the first entry)"),
}

KNOWN_TYPES: Final = frozenset({"message", *_DESCRIBERS})
"""The types of entries whose meaning is known."""
