"""Lines of session files: one of every entry type and role, and random ones with anything in any place."""

import json
from copy import deepcopy
from typing import Any

from agent.build import call, milliseconds, moment, text, usage
from hypothesis import strategies as st

from pitree.sessions.entries import Entry, JsonObject, decode_entry
from pitree.sessions.jsonl import Line

from .values import plain_values, texts

_BASE: JsonObject = {"id": "aaaaaaaa", "parentId": "bbbbbbbb", "timestamp": moment(1)}
_STAMP = milliseconds(1)
_IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def _message(role: str, /, **fields: object) -> JsonObject:
    return {"type": "message", **_BASE, "message": {"role": role, **fields, "timestamp": _STAMP}}


def _entry(kind: str, /, **fields: object) -> JsonObject:
    return {"type": kind, **_BASE, **fields}


MESSAGES: list[JsonObject] = [
    _message("user", content="hello"),
    _message("user", content=[text("see"), _IMAGE]),
    _message(
        "assistant",
        content=[
            {"type": "thinking", "thinking": "hm"},
            text("ok"),
            call("read", path="/a", offset=3, limit=9),
        ],
        provider="p",
        model="m",
        api="x",
        usage=usage(),
        stopReason="toolUse",
    ),
    _message("assistant", content=[call("bash", command="ls")], stopReason="error", errorMessage="no"),
    _message("assistant", content="a string"),
    _message("toolResult", toolCallId="call-1", toolName="read", content=[text("done")], isError=False),
    _message("bashExecution", command="ls", output="a\nb", exitCode=1, cancelled=False, truncated=False),
    _message("custom", customType="c", content="note", display=True, details={"n": 1}),
    _message("hookMessage", customType="c", content="old note", display=True),
    _message("branchSummary", summary="left", fromId="bbbbbbbb"),
    _message("compactionSummary", summary="short", tokensBefore=3),
    _message("system", content="be brief", sections={"tone": "dry", "old": None}, toolsAdded=["read"]),
    _message("of_a_later_version", content="?"),
]

OTHERS: list[JsonObject] = [
    _entry("model_change", provider="p", modelId="m"),
    _entry("thinking_level_change", thinkingLevel="low"),
    _entry("compaction", summary="short", firstKeptEntryId="bbbbbbbb", tokensBefore=12_345),
    _entry("compaction", summary="short", tokensBefore=1, retainedTail=[{"role": "user", "content": "kept"}]),
    _entry(
        "branch_summary", fromId="root", summary="left", details={"readFiles": [], "modifiedFiles": ["a"]}
    ),
    _entry("custom", customType="state", data={"id": "cccccccc", "type": "message", "message": {"role": 1}}),
    _entry("custom_message", customType="c", content="note", display=False, details=None),
    _entry("label", targetId="bbbbbbbb", label="here"),
    _entry("label", targetId="bbbbbbbb"),
    _entry("session_info", name="a name"),
    _entry("context_edit", targetId="bbbbbbbb", replacement={"content": "instead"}),
    _entry("context_edit", targetId="bbbbbbbb", replacement=None),
    _entry("usage", kind="summary", provider="p", model="m", usage=usage(), note="n"),
    _entry("active_tools_change", activeToolNames=["read", "bash"]),
    _entry("leaf", targetId="bbbbbbbb"),
    _entry("of_a_later_version", payload=[{}], name="n", targetId="bbbbbbbb"),
]

EVERY_LINE: list[JsonObject] = [*MESSAGES, *OTHERS]


def named(line: JsonObject) -> str:
    """Give a line a name for the names of tests."""
    role = line["message"]["role"] if isinstance(line.get("message"), dict) else ""
    return f"{line['type']}-{role}".rstrip("-")


def line_of(value: object) -> Line:
    """Encode one line as JavaScript does where it has to, at some place in a file."""
    return Line(7, 700, json.dumps(value).encode("ascii"))


def entry_of(value: JsonObject) -> Entry:
    """Decode an object that is an entry."""
    entry = decode_entry(line_of(value))
    assert isinstance(entry, Entry)
    return entry


_FIELDS = sorted({key for line in EVERY_LINE for key in line})
_MESSAGE_FIELDS = sorted({key for line in MESSAGES for key in line["message"]})
_BLOCK_FIELDS = ["type", "text", "thinking", "id", "name", "arguments", "data", "mimeType"]
_REMOVED = object()
_likely = st.sampled_from(
    [
        "message",
        "session",
        "label",
        "user",
        "assistant",
        "toolResult",
        "toolCall",
        "text",
        "stop",
        "error",
        "read",
    ]
)


def _set(place: Any, key: object, value: object) -> None:  # noqa: ANN401 - wherever the path leads
    if value is _REMOVED:
        if isinstance(place, dict):
            place.pop(key, None)
        else:
            del place[key]
    else:
        place[key] = value


@st.composite
def hostile_lines(draw: st.DrawFn) -> JsonObject:
    """Take a well-formed entry and put any JSON value, or nothing, in the place of one to three fields."""
    line = deepcopy(draw(st.sampled_from(EVERY_LINE)))
    anything = plain_values | _likely | st.just(_REMOVED) | st.sampled_from(EVERY_LINE).map(deepcopy) | texts
    for _ in range(draw(st.integers(1, 3))):
        value = draw(anything)
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        depth = draw(st.integers(0, 3))
        if depth and isinstance(content, list) and content:
            place = draw(st.integers(0, len(content) - 1))
            if depth == 1 or not isinstance(content[place], dict):
                _set(content, place, value)
            else:
                _set(content[place], draw(st.sampled_from(_BLOCK_FIELDS)), value)
        elif depth and isinstance(message, dict):
            _set(message, draw(st.sampled_from(_MESSAGE_FIELDS)), value)
        else:
            _set(line, draw(st.sampled_from(_FIELDS)), value)
    return line
