"""Entries as they are written: every type of the format with its fields in Pi's order.

Python's None for an optional argument is JavaScript's undefined: the field is left out.
"""

import re
import uuid
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from pitree.sessions import javascript
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import InvalidValueError

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_ATTEMPTS: Final = 100


def now() -> str:
    """Return the present as entries state it: ISO 8601, UTC, milliseconds."""
    return javascript.iso_from_ms(int(datetime.now(UTC).timestamp() * 1000))


def new_id(taken: Container[object]) -> str:
    """Return an entry id that is not taken: eight hex digits, a whole UUID should those run out."""
    for _ in range(_ATTEMPTS):
        candidate = uuid.uuid4().hex[:8]
        if candidate not in taken:
            return candidate
    return str(uuid.uuid4())


def new_session_id() -> str:
    """Return a fresh session id: a UUID of version 7, which sorts by time."""
    milliseconds = int(datetime.now(UTC).timestamp() * 1000)
    random = uuid.uuid4().int
    value = (
        milliseconds << 80 | 0x7 << 76 | (random >> 64 & 0xFFF) << 64 | 0b10 << 62 | random & (1 << 62) - 1
    )
    return str(uuid.UUID(int=value))


def is_session_id(text: str) -> bool:
    """Return whether Pi would take a text for a session id."""
    return _SESSION_ID.fullmatch(text) is not None


def check_session_id(session_id: str) -> None:
    """Raise InvalidValueError where Pi would not take a session id."""
    if not is_session_id(session_id):
        raise InvalidValueError(
            f"{session_id!r} is no session id: letters and digits, with . _ - only between them"
        )


def file_name(timestamp: str, session_id: str) -> str:
    """Return the name that Pi gives a session's file."""
    return f"{timestamp.replace(':', '-').replace('.', '-')}_{session_id}.jsonl"


def header(session_id: str, timestamp: str, cwd: str, parent_session: str | None) -> JsonObject:
    """Return a header of version 3."""
    optional = {} if parent_session is None else {"parentSession": parent_session}
    return {"type": "session", "version": 3, "id": session_id, "timestamp": timestamp, "cwd": cwd, **optional}


def _given(**fields: object) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def message(content: object) -> JsonObject:
    """Return the fields of a message entry."""
    if not isinstance(content, dict) or not isinstance(content.get("role"), str):
        raise InvalidValueError("a message is an object with a role")
    if content["role"] in ("branchSummary", "compactionSummary"):
        raise InvalidValueError(
            f"a {content['role']} is an entry of its own: use branch_with_summary or append_compaction"
        )
    return {"type": "message", "message": content}


def compaction(
    summary: str,
    first_kept_entry_id: str | None,
    tokens_before: int,
    *,
    details: object = None,
    from_hook: bool | None = None,
    usage: JsonObject | None = None,
    retained_tail: Sequence[JsonObject] | None = None,
    system_message: JsonObject | None = None,
) -> JsonObject:
    """Return the fields of a compaction; the caller puts the entry's own id where nothing is kept."""
    return {
        "type": "compaction",
        "summary": summary,
        **_given(firstKeptEntryId=first_kept_entry_id),
        "tokensBefore": tokens_before,
        **_given(
            details=details,
            usage=usage,
            fromHook=from_hook,
            retainedTail=None if retained_tail is None else list(retained_tail),
            systemMessage=system_message,
        ),
    }


def branch_summary(
    from_id: str,
    summary: str,
    *,
    details: object = None,
    usage: JsonObject | None = None,
    from_hook: bool | None = None,
) -> JsonObject:
    """Return the fields of a branch summary."""
    return {
        "type": "branch_summary",
        "fromId": from_id,
        "summary": summary,
        **_given(details=details, usage=usage, fromHook=from_hook),
    }


def custom(custom_type: str, data: object = None) -> JsonObject:
    """Return the fields of an extension's own entry; the model does not see it."""
    return {"type": "custom", "customType": custom_type, **_given(data=data)}


def custom_message(
    custom_type: str, content: str | Sequence[JsonObject], *, display: bool, details: object = None
) -> JsonObject:
    """Return the fields of an extension's message; the model sees it, Pi shows it if `display`."""
    return {
        "type": "custom_message",
        "customType": custom_type,
        "content": content if isinstance(content, str) else list(content),
        "display": display,
        **_given(details=details),
    }


def session_info(name: str) -> JsonObject:
    """Return the fields of a session's name; blank clears it."""
    return {"type": "session_info", "name": javascript.trim(re.sub(r"[\r\n]+", " ", name))}


def label(target_id: str, text: str | None) -> JsonObject:
    """Return the fields of a label; None or "" clears it."""
    return {"type": "label", "targetId": target_id, **_given(label=text)}


def model_change(provider: str, model_id: str) -> JsonObject:
    """Return the fields of a change of model."""
    return {"type": "model_change", "provider": provider, "modelId": model_id}


def thinking_level_change(level: str) -> JsonObject:
    """Return the fields of a change of thinking level."""
    return {"type": "thinking_level_change", "thinkingLevel": level}


def usage(kind: str, provider: str, model: str, spent: JsonObject, note: str | None = None) -> JsonObject:
    """Return the fields of a usage record."""
    optional = {"note": note} if note else {}
    return {"type": "usage", "kind": kind, "provider": provider, "model": model, "usage": spent, **optional}


def context_edit(target: JsonObject, replacement: object) -> JsonObject:
    """Return the fields of a context edit of `target`, an entry's object.

    Raises InvalidValueError where the target gives the model nothing that can be edited, or the replacement
    is neither None nor an object with `content`.
    """
    role = _editable_role(target)
    if replacement is not None:
        content = replacement.get("content") if isinstance(replacement, dict) else None
        if not isinstance(content, str | list):
            raise InvalidValueError("a replacement is None, or an object with content: a string or blocks")
        if isinstance(content, str) and role in ("assistant", "toolResult"):
            replacement = {"content": [{"type": "text", "text": content}]}
    return {"type": "context_edit", "targetId": target["id"], "replacement": replacement}


def _editable_role(target: JsonObject) -> str:
    if target.get("type") == "custom_message":
        return "custom"
    inner = target.get("message")
    role = inner.get("role") if isinstance(inner, dict) else None
    if target.get("type") != "message" or role not in ("user", "assistant", "toolResult"):
        raise InvalidValueError(f"entry {target.get('id')} gives the model no content that can be edited")
    return str(role)


def entry(fields: JsonObject, entry_id: str, parent_id: str | None, timestamp: str) -> JsonObject:
    """Return a whole entry. As in Pi, extensions' payloads stand before the id, others after it."""
    base = {"id": entry_id, "parentId": parent_id, "timestamp": timestamp}
    if fields["type"] in ("custom", "custom_message"):
        return {**fields, **base}
    return {"type": fields["type"], **base, **fields}


def current_system_message(messages: Iterable[JsonObject]) -> JsonObject | None:
    """Return the one system message that all of them amount to, or None where there is none."""
    texts: list[str] = []
    sections: JsonObject = {}
    tools: dict[object, JsonObject] = {}
    timestamp: object = None
    for system in messages:
        if system.get("role") != "system":
            continue
        timestamp = system.get("timestamp") if timestamp is None else timestamp
        text = _system_text(system.get("content"))
        texts += [text] if text else []
        for name, section in _object(system.get("sections")).items():
            if section is None:
                sections.pop(name, None)
            else:
                sections[name] = section
        for tool in _objects(system.get("toolsRemoved")):
            tools.pop(_name(tool), None)
        for tool in _objects(system.get("toolsAdded")):
            tools[_name(tool)] = tool
    if timestamp is None and not tools:
        return None
    return {
        "role": "system",
        "content": "\n\n".join(texts),
        **({"sections": sections} if sections else {}),
        **({"toolsAdded": list(tools.values())} if tools else {}),
        "timestamp": 0 if timestamp is None else timestamp,
    }


def _system_text(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = [block.get("text") for block in _objects(content) if block.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _name(tool: JsonObject) -> str | None:
    name = tool.get("name")
    return name if isinstance(name, str) else None
