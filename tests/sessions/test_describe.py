"""An entry in one line: what it says of each type, and that nothing in a body can break it."""

from pathlib import Path

import pytest
from agent.build import Session, call, text
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.describe import Description, call_of, content_line, describe, tool_line
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.text import display

from . import damaged
from .damaged import Make
from .lines import entry_of, hostile_lines
from .test_text import is_safe
from .values import plain_values, texts


class OneLine(SessionFile):
    """A session in memory, with one entry."""

    def __init__(self, body: JsonObject) -> None:
        super().__init__(Path("in memory"))
        self.only = entry_of(body)
        self.tree.extend([self.only])
        self._body = body

    def body(self, entry: Entry) -> JsonObject:
        assert entry is self.only
        return self._body


def line_of(kind: str, /, **fields: object) -> str:
    body: JsonObject = {"type": kind, "id": "a", "parentId": None, "timestamp": "x", **fields}
    session = OneLine(body)
    return str(describe(session, session.only))


def said(role: str, /, **fields: object) -> str:
    return line_of("message", message={"role": role, **fields})


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}

MESSAGES: list[tuple[str, JsonObject, str]] = [
    ("user", {"content": "  two\n words "}, "user: two words"),
    ("user", {"content": [text("see "), IMAGE, text("there")]}, "user: see [image/png] there"),
    ("user", {"content": [{"type": "image"}]}, "user: [image]"),
    ("user", {"content": None}, "user"),
    ("user", {"content": "\x1b[31mred"}, "user: ␛[31mred"),
    ("user", {"content": [5, None, text("x"), {"type": "text", "text": 5}]}, "user: x"),
    ("assistant", {"content": [{"type": "thinking", "thinking": "hm"}, text("ok")]}, "assistant: ok"),
    ("assistant", {"content": "a string"}, "assistant: a string"),
    ("assistant", {"content": []}, "assistant: (no text)"),
    ("assistant", {"content": [], "stopReason": "aborted"}, "✗ assistant: (aborted)"),
    ("assistant", {"content": [text("so far")], "stopReason": "aborted"}, "✗ assistant: so far"),
    (
        "assistant",
        {"content": [], "stopReason": "error", "errorMessage": "too\nbusy"},
        "✗ assistant: too busy",
    ),
    ("assistant", {"content": [], "errorMessage": {"code": 5}}, 'assistant: {"code":5}'),
    (
        "assistant",
        {"content": [call("read", path="/a"), call("bash", command="ls")]},
        "assistant: → read: /a; bash: ls",
    ),
    (
        "assistant",
        {"content": [{"type": "toolCall", "name": "bash", "arguments": None}]},
        "assistant: → bash",
    ),
    ("assistant", {"content": [{"type": "toolCall"}]}, "assistant: → tool"),
    ("toolResult", {"toolCallId": "9", "toolName": "read", "content": [text("data")]}, "read: data"),
    ("toolResult", {"toolName": "read", "content": [text("no")], "isError": True}, "✗ read: no"),
    ("toolResult", {}, "tool"),
    ("bashExecution", {"command": "ls -l", "exitCode": 0}, "!: ls -l"),
    ("bashExecution", {"command": "false", "exitCode": 1, "excludeFromContext": True}, "✗ !!: false"),
    ("bashExecution", {"command": "sleep 9", "cancelled": True}, "✗ !: sleep 9"),
    ("bashExecution", {"command": None}, "!"),
    ("custom", {"content": "note", "customType": "c"}, "custom: note"),
    ("branchSummary", {"summary": "left"}, "branchSummary: left"),
    ("compactionSummary", {"summary": "short"}, "compactionSummary: short"),
    ("system", {"content": "be brief"}, "system: be brief"),
    ("of_a_later\nversion", {"content": "?"}, "of_a_later version: ?"),
    ("", {"content": "?"}, "(no role): ?"),
]

OTHERS: list[tuple[str, JsonObject, str]] = [
    ("compaction", {"summary": "short", "tokensBefore": 12_345}, "compaction: 12k tokens · short"),
    ("compaction", {"summary": "", "tokensBefore": "many"}, "compaction"),
    ("compaction", {"tokensBefore": 10**30}, "compaction"),
    ("branch_summary", {"summary": "left"}, "branch summary: left"),
    ("branch_summary", {"summary": ""}, "branch summary: (empty)"),
    ("custom_message", {"customType": "c", "content": [text("note")]}, "c: note"),
    ("custom_message", {}, "custom"),
    ("custom", {"customType": "state", "data": {}}, "custom: state"),
    ("model_change", {"provider": "p", "modelId": "m"}, "model: p/m"),
    ("model_change", {"modelId": "m"}, "model: m"),
    ("thinking_level_change", {"thinkingLevel": "high"}, "thinking: high"),
    ("session_info", {"name": "a name"}, "name: a name"),
    ("session_info", {}, "name: (cleared)"),
    ("label", {"targetId": "b", "label": "here"}, "label: here on b"),
    ("label", {"targetId": "b"}, "label: (cleared) on b"),
    ("context_edit", {"targetId": "b", "replacement": None}, "context edit: omit b"),
    ("context_edit", {"targetId": "b", "replacement": {"content": "x"}}, "context edit: replace b"),
    ("usage", {"kind": "summary"}, "usage: summary"),
    ("active_tools_change", {"activeToolNames": ["read"]}, 'active tools: ["read"]'),
    ("leaf", {"targetId": "b"}, "leaf: b"),
    ("leaf", {"targetId": None}, "leaf: (before the first entry)"),
    ("of_a_later_version", {"payload": {}}, "of_a_later_version"),
    ("", {}, "(no type)"),
]


@pytest.mark.parametrize(("role", "fields", "line"), MESSAGES, ids=[line for *_, line in MESSAGES])
def test_messages(role: str, fields: JsonObject, line: str) -> None:
    assert said(role, **fields) == line


@pytest.mark.parametrize(("kind", "fields", "line"), OTHERS, ids=[line for *_, line in OTHERS])
def test_other_entries(kind: str, fields: JsonObject, line: str) -> None:
    assert line_of(kind, **fields) == line


TOOLS: list[tuple[str, object, str]] = [
    ("read", {"path": "/a"}, "read: /a"),
    ("read", {"path": "/a", "offset": 10, "limit": 31}, "read: /a:10-40"),
    ("read", {"path": "/a", "limit": 40}, "read: /a:1-40"),
    ("read", {"path": "/a", "offset": 10}, "read: /a:10"),
    ("read", {"path": "/a", "offset": "10", "limit": "5"}, "read: /a:10-14"),
    ("read", {"path": "/a", "offset": -1, "limit": 5}, "read: /a"),
    ("read", {"path": "/a", "offset": 10**400, "limit": {}}, "read: /a"),
    ("read", {"path": "/a", "offset": True}, "read: /a"),
    ("read", {"file_path": "/home/ada/b"}, "read: ~/b"),
    ("read", {"path": "/home/ada"}, "read: ~"),
    ("read", {"path": "/home/adam/b"}, "read: /home/adam/b"),
    ("read", {"path": ["/a"]}, 'read: ["/a"]'),
    ("read", {}, "read"),
    ("write", {"path": "/a", "content": "x" * 999}, "write: /a"),
    ("edit", {"path": "/a", "edits": []}, "edit: /a"),
    ("bash", {"command": "ls\n-l"}, "bash: ls -l"),
    ("bash", None, "bash"),
    ("bash", "ls", "bash"),
    ("grep", {"pattern": "x+", "path": "/a"}, "grep: /x+/ in /a"),
    ("grep", {}, "grep: // in ."),
    ("find", {"pattern": "*.py"}, "find: *.py in ."),
    ("ls", {}, "ls: ."),
    ("ls", {"path": "/a"}, "ls: /a"),
    ("other", {"a": 1, "b": ["\x1b"]}, 'other: {"a":1,"b":["\\u001b"]}'),
    ("other", {}, "other: {}"),
    ("other", None, "other"),
    ("other", "text", 'other: "text"'),
]


@pytest.mark.parametrize(("name", "arguments", "line"), TOOLS, ids=lambda value: repr(value)[:40])
def test_tool_calls(name: str, arguments: object, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada/")
    assert str(tool_line(name, arguments)) == line


def test_without_a_home_paths_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for home in ("", "/"):
        monkeypatch.setenv("HOME", home)
        assert str(tool_line("read", {"path": "/home/ada/b"})) == "read: /home/ada/b"


# Calls and results


def load(made: Session, folder: Path) -> SessionFile:
    return SessionFile.load(made.write(folder / "session.jsonl"))


def test_a_result_is_named_after_its_call(tmp_path: Path) -> None:
    made = Session()
    made.calls(call("read", "1", path="/a", offset=2), call("bash", "2", command="ls"))
    made.result("contents", "1")
    made.result("listing", "2")
    made.message("toolResult", toolCallId="2", toolName="x", content="again", isError=True)
    with load(made, tmp_path) as session:
        lines = [str(describe(session, entry)) for entry in session.entries[1:]]
    assert lines == ["read: /a:2", "bash: ls", "✗ bash: ls"]


def test_the_nearest_call_above_counts(tmp_path: Path) -> None:
    made = Session()
    first = made.calls(call("bash", "1", command="first"))
    made.calls(call("bash", "1", command="second"))
    below = made.result("x", "1")
    beside = made.result("x", "1", first)
    with load(made, tmp_path) as session:
        found = {name: call_of(session, session.find(name)) for name in (below, beside)}
        assert {name: (made or {})["arguments"]["command"] for name, made in found.items()} == {
            below: "second",
            beside: "first",
        }


def test_calls_are_looked_for_nearby_only(tmp_path: Path) -> None:
    # To the root for each result, and 100,000 of them would take minutes.
    made = Session()
    made.calls(call("bash", "1", command="ls"))
    for _ in range(600):
        made.result("x", "1")
    with load(made, tmp_path) as session:
        lines = [str(describe(session, entry)) for entry in session.entries[1:]]
    assert lines == ["bash: ls"] * 499 + ["read: x"] * 101


def test_a_body_that_is_gone_raises(tmp_path: Path) -> None:
    made = Session()
    made.user("x")
    with load(made, tmp_path) as session:
        session.path.write_bytes(b"")
        with pytest.raises(SessionError):
            describe(session, session.entries[0])


# Anything


def check(description: Description) -> None:
    for part in (description.lead, description.text, str(description)):
        assert is_safe(part)
        assert len(part) <= 820
    assert description.lead
    assert description.kind in {"user", "assistant", "tool", "shell", "summary", "note", "setting", "other"}


@given(hostile_lines(), hostile_lines())
def test_hostile_bodies_are_described_all_the_same(line: JsonObject, other: JsonObject) -> None:
    if line.get("type") == "session":
        return
    session = OneLine(line)
    check(describe(session, session.only))
    session._body = other  # the line is another one by now
    check(describe(session, session.only))


@given(texts, plain_values)
def test_hostile_calls_are_described_all_the_same(name: str, value: object) -> None:
    check(tool_line(name, value))
    check(tool_line(value, value))
    for tool in ("read", "write", "edit", "bash", "grep", "find", "ls"):
        check(tool_line(tool, value))
        check(
            tool_line(
                tool, dict.fromkeys(("path", "file_path", "offset", "limit", "command", "pattern"), value)
            )
        )
    assert is_safe(content_line(value))


@pytest.mark.parametrize("make", damaged.SESSIONS, ids=lambda make: make.__name__)
def test_every_entry_of_every_file(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(make())
    with SessionFile.load(path) as session:
        for entry in session.entries:
            check(describe(session, entry))


@given(st.integers(0, 3), st.sampled_from(["text", "thinking", "image", "of_a_later_version"]))
def test_a_line_needs_only_the_beginning(count: int, kind: str) -> None:
    blocks = [text("x" * 1_000_000)] + [{"type": kind, "text": "y" * 1_000_000}] * count
    assert content_line(blocks) == "x" * 400
    assert display(content_line(blocks)) == content_line(blocks)
