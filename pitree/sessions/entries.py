"""What an entry of a session file is, and how a line becomes one.

Opening a file decodes only the skeleton of each line: what links the entry into the tree and decides
whether a filter shows it. The body stays in the file until somebody looks at it.
"""

from typing import Any, Final

import msgspec

from pitree.sessions import javascript
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line, parse_value

JsonObject = dict[str, Any]

CURRENT_VERSION: Final = 3
"""The newest file version whose meaning is known; older ones are migrated in memory."""


_POINTING: Final = ("label", "context_edit", "leaf")
_TEXT_FIELDS: Final = {"label": "label", "session_info": "name"}


class Damage(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Something wrong in a file: `line` counts from 1, `offset` is in bytes from the file's start."""

    line: int
    offset: int
    reason: str
    entry_id: str | None = None


class Entry(msgspec.Struct, eq=False, gc=False):
    """The skeleton of one entry. Two entries are equal only if they are the same line of the same reading.

    `parent_id` is None for a root. `role` is the message's role, "" where there is none. `calls` holds the
    ids of an assistant message's tool calls, or the one id that a tool result answers. `target_id` is what a
    label, context edit or older `leaf` points at; `text` is a label's text or a session's name. `notes` says
    what is wrong with the line itself.
    """

    id: str
    parent_id: str | None
    type: str
    timestamp: str
    line: int
    offset: int
    length: int
    role: str = ""
    has_text: bool = False
    stop_reason: str = ""
    calls: tuple[str, ...] = ()
    target_id: str | None = None
    text: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def ended_badly(self) -> bool:
        """Whether an assistant message ended in anything but a finished reply or a tool call."""
        return self.stop_reason not in {"", "stop", "toolUse"}


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    id: str | None = None


class _Reply(msgspec.Struct, gc=False):
    role: str = ""
    content: str | list[_Block] = ""
    stopReason: str | None = None  # noqa: N815 - the field's name in the file


class _ReplyLine(msgspec.Struct, gc=False):
    type: str
    id: str
    timestamp: str
    message: _Reply
    parentId: str | None = None  # noqa: N815


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    toolCallId: str | None = None  # noqa: N815


class _Line(msgspec.Struct, gc=False):
    type: str
    id: str
    timestamp: str
    parentId: str | None = None  # noqa: N815
    message: _Message | None = None
    targetId: str | None = None  # noqa: N815
    label: str | None = None
    name: str | None = None


# Replies are the only lines whose content decides anything; one look at where Pi writes the role tells them,
# so that no line is decoded twice. In a JSON string the quotes would be escaped.
_REPLY: Final = b'"role":"assistant"'
_ROLE_WITHIN: Final = 400
_decode_reply = msgspec.json.Decoder(_ReplyLine).decode
_decode_line = msgspec.json.Decoder(_Line).decode


def decode_entry(line: Line) -> Entry | JsonObject:
    """Return the entry on `line`, or the whole object where the line holds a session header.

    Raises LineError when the line is no JSON object.
    """
    try:
        if line.data.find(_REPLY, 0, _ROLE_WITHIN) >= 0:
            entry = _reply_entry(line) or _usual_entry(line)
        else:
            entry = _usual_entry(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        entry = None
    return entry or _entry_from_value(line, parse_value(line.data))


def _reply_entry(line: Line) -> Entry | None:
    """Return the reply on a line as Pi writes it; None where it is something else."""
    number, offset, data = line
    found = _decode_reply(data)
    message = found.message
    if message.role != "assistant" or found.type != "message" or not found.id:
        return None
    content = message.content
    calls: list[str] = []
    if isinstance(content, str):
        has_text = _has_text(content)
    else:
        has_text = False
        for block in content:
            if block.type == "toolCall":
                if block.id is not None:
                    calls.append(block.id)
            elif block.type == "text" and not has_text:
                has_text = block.text is not None and _has_text(block.text)
    return Entry(
        found.id,
        found.parentId or None,
        "message",
        found.timestamp,
        number,
        offset,
        len(data),
        "assistant",
        has_text,
        message.stopReason or "",
        tuple(calls),
    )


def _usual_entry(line: Line) -> Entry | None:
    """Return the entry on a line as Pi writes it; None for what needs a closer look."""
    number, offset, data = line
    found = _decode_line(data)
    kind, message = found.type, found.message
    if kind == "session" or not found.id or (message is None) == (kind == "message"):
        return None
    entry = Entry(found.id, found.parentId or None, kind, found.timestamp, number, offset, len(data))
    if message is not None:
        if not message.role:
            return None
        if message.role == "assistant":  # but not where Pi writes it
            return _reply_entry(line)
        entry.role = message.role
        if message.toolCallId is not None:
            entry.calls = (message.toolCallId,)
    elif kind == "session_info":
        entry.text = found.name
    elif kind in _POINTING:
        entry.target_id = found.targetId
        if kind == "label":
            entry.text = found.label
    return entry


def _has_text(text: str) -> bool:
    return "!" <= text[:1] <= "~" or bool(javascript.trim(text))


def _entry_from_value(line: Line, value: object) -> Entry | JsonObject:
    """Return the entry on a line with unusual types: each field is taken where it is usable, else noted."""
    if not isinstance(value, dict):
        raise LineError(f"not an object but {_kind(value)}")
    if value.get("type") == "session":
        return value
    notes: list[str] = []

    def text(key: str, *, expected: bool = False) -> str | None:
        field = value.get(key)
        if isinstance(field, str):
            return field
        if field is not None or expected:
            notes.append(f"{key} is {_kind(field)}" if field is not None else f"{key} is missing")
        return None

    entry_id = text("id", expected=True)
    if entry_id == "":
        notes.append("id is empty")
    entry = Entry(
        entry_id or f"line:{line.number}",
        text("parentId") or None,
        text("type", expected=True) or "",
        text("timestamp", expected=True) or _odd_timestamp(value),
        line.number,
        line.offset,
        len(line.data),
    )
    # fields of these names are taken, and missed, only where they mean something
    if entry.type in _POINTING:
        entry.target_id = text("targetId")
    if entry.type in _TEXT_FIELDS:
        entry.text = text(_TEXT_FIELDS[entry.type])
    if entry.type == "message":
        message = value.get("message")
        if isinstance(message, dict):
            _take_message(entry, message, notes)
        else:
            notes.append("message is missing" if message is None else f"message is {_kind(message)}")
    entry.notes = tuple(notes)
    return entry


def _odd_timestamp(value: JsonObject) -> str:
    """Return what Pi would order by where the timestamp is no string: a number counts as milliseconds."""
    moment = javascript.time_ms(value["timestamp"]) if "timestamp" in value else None
    try:
        return "" if moment is None else javascript.iso_from_ms(moment)
    except OverflowError:
        return ""


def _take_message(entry: Entry, message: JsonObject, notes: list[str]) -> None:
    role = message.get("role")
    if isinstance(role, str):
        entry.role = role
    else:
        notes.append("role is missing" if role is None else f"role is {_kind(role)}")
    call_id = message.get("toolCallId")
    if entry.role != "assistant":
        entry.calls = (call_id,) if isinstance(call_id, str) else ()
        return
    reason = message.get("stopReason")
    entry.stop_reason = reason if isinstance(reason, str) else "odd" if javascript.truthy(reason) else ""
    content = message.get("content")
    if isinstance(content, str):
        entry.has_text = bool(javascript.trim(content))
        return
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    entry.has_text = any(
        block.get("type") == "text" and isinstance(block.get("text"), str) and javascript.trim(block["text"])
        for block in blocks
    )
    entry.calls = tuple(
        block["id"]
        for block in blocks
        if block.get("type") == "toolCall" and isinstance(block.get("id"), str)
    )


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return kinds.get(type(value), "a number")
