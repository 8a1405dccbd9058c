"""What the model sees: small cases whose answers can be read off, and damage."""

from pathlib import Path
from typing import Any

import pytest
from agent.build import Session, call, milliseconds, text
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.context import (
    SessionContext,
    blocks_of,
    build_context_entries,
    build_session_context,
    entry_messages,
)
from pitree.sessions.entries import JsonObject
from pitree.sessions.file import SessionFile

from . import damaged
from .damaged import HI, OK, Make
from .lines import hostile_lines


def context_of(content: bytes, folder: Path, leaf: str | None = "own") -> SessionContext:
    path = folder / "session.jsonl"
    path.write_bytes(content)
    with SessionFile.load(path) as session:
        at = session.tree.leaf_id if leaf == "own" else leaf
        context = build_session_context(session, at)
        assert build_context_entries(session, at) == context.entries
        assert len(context.messages) == len(context.sources)
        return context


def texts(context: SessionContext) -> list[str]:
    """Give what the messages say, in one line each."""
    said = []
    for message in context.messages:
        content = message.get("content", message.get("summary"))
        said.append(" ".join(str(block.get("text") or block.get("name")) for block in blocks_of(content)))
    return said


RIGHT: dict[Make, list[str]] = {
    damaged.plain: ["hi", "ok"],
    damaged.repeated_ids: ["hi", "ok"],
    damaged.self_parent: ["hi", "ok"],
    damaged.cycle_of_three: ["two", "three"],
    damaged.orphan: ["orphan", "after the orphan"],
    damaged.two_roots: ["hi again", "second"],
    damaged.no_final_newline: ["hi", "ok"],
    damaged.torn_tail: ["hi", "ok"],
    damaged.title_before_header: ["hi", "ok"],
    damaged.only_header: [],
    damaged.blank_and_bad_lines_before_header: ["hi", "ok"],
    damaged.carriage_returns: ["hi", "ok"],
    damaged.raw_separators: ["before\u2028after", "x\u2029y\x85z"],
    damaged.stale_leaf: ["q1"],
    damaged.call_without_arguments: ["hi", "bash"],
    damaged.name_cleared: ["hi", "ok"],
    damaged.labels_cleared: ["hi", "ok"],
    damaged.retain_none: ["SUM", "after"],
    damaged.context_edits: ["short", "next"],
    damaged.empty_branch_summary: ["hi", "after"],
    damaged.of_a_later_version: ["hi", "ok"],
    damaged.version_1: ["v1 hello", "v1 reply"],
    damaged.bad_lines: ["hi", "ok", "after"],
}


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_what_is_right(make: Make, tmp_path: Path) -> None:
    assert texts(context_of(make(), tmp_path)) == RIGHT[make]


def test_before_the_edits_is_the_original(tmp_path: Path) -> None:
    content = damaged.context_edits()
    assert texts(context_of(content, tmp_path, OK)) == ["secret", "ok"]
    assert texts(context_of(content, tmp_path, "00000003")) == ["ok"]
    assert texts(context_of(content, tmp_path, "00000004")) == ["ok", "next"]


@pytest.mark.parametrize("leaf", [None, "nowhere", ""])
def test_before_the_first_entry_there_is_nothing(leaf: str | None, tmp_path: Path) -> None:
    context = context_of(damaged.plain(), tmp_path, leaf)
    assert context == SessionContext()
    assert (context.thinking_level, context.model, context.gap, context.open_calls) == ("off", None, None, [])


GAPS: dict[Make, str | None] = {
    damaged.plain: None,
    damaged.two_roots: None,
    damaged.self_parent: f"stops at {HI}: is its own parent",
    damaged.orphan: "stops at 00000003: parent zzzz is missing",
    damaged.cycle_of_three: "stops at 00000003: is part of a cycle of 3 parents, cut here",
}


@pytest.mark.parametrize("make", GAPS, ids=lambda make: make.__name__)
def test_where_the_path_breaks_off_is_said(make: Make, tmp_path: Path) -> None:
    assert context_of(make(), tmp_path).gap == GAPS[make]


# Compactions


def compacted(**fields: object) -> tuple[Session, dict[str, str]]:
    """Make system, gone, kept, a system message among the kept, answer, the compaction, after."""
    made = Session()
    ids = {
        "system": made.message("system", content="be brief"),
        "gone": made.user("gone"),
        "kept": made.user("kept"),
    }
    ids["late system"] = made.message("system", content="be briefer")
    ids["answer"] = made.assistant("answer")
    stored: JsonObject = {"summary": "short", "firstKeptEntryId": ids["kept"], "tokensBefore": 1234}
    ids["compaction"] = made.entry("compaction", **{**stored, **fields})
    ids["after"] = made.user("after")
    return made, ids


def test_a_compaction_comes_first_then_what_it_kept_then_the_rest(tmp_path: Path) -> None:
    made, ids = compacted()
    context = context_of(made.encoded(), tmp_path)
    assert texts(context) == ["short", "kept", "answer", "after"]
    assert [entry.id for entry in context.entries] == [
        ids[name] for name in ("compaction", "kept", "answer", "after")
    ]
    assert context.messages[0] == {
        "role": "compactionSummary",
        "summary": "short",
        "tokensBefore": 1234,
        "timestamp": milliseconds(6),
    }
    assert texts(context_of(made.encoded(), tmp_path, ids["answer"])) == [
        "be brief",
        "gone",
        "kept",
        "be briefer",
        "answer",
    ]


def test_a_compaction_brings_its_system_message(tmp_path: Path) -> None:
    system = {"role": "system", "content": "be short", "timestamp": 5}
    made, ids = compacted(systemMessage=system)
    context = context_of(made.encoded(), tmp_path)
    assert texts(context) == ["be short", "short", "kept", "answer", "after"]
    assert context.messages[0] == system
    assert [entry.id for entry in context.sources[:2]] == [ids["compaction"]] * 2


@pytest.mark.parametrize("kept", ["nowhere", "00000006", "00000007", None, 5])
def test_a_compaction_that_keeps_from_elsewhere_keeps_none(kept: object, tmp_path: Path) -> None:
    made, _ = compacted(firstKeptEntryId=kept)
    assert texts(context_of(made.encoded(), tmp_path)) == ["short", "after"]


def test_a_retained_tail_stands_for_everything_before(tmp_path: Path) -> None:
    tail: list[object] = [{"role": "user", "content": "retained"}, "no message", None]
    made, _ = compacted(retainedTail=tail)
    assert texts(context_of(made.encoded(), tmp_path)) == ["short", "retained", "after"]
    made, _ = compacted(retainedTail=[])
    assert texts(context_of(made.encoded(), tmp_path)) == ["short", "after"]
    made, _ = compacted(retainedTail={"no": "list"})
    assert texts(context_of(made.encoded(), tmp_path)) == ["short", "kept", "answer", "after"]


def test_the_latest_compaction_rules_and_an_older_one_gives_nothing(tmp_path: Path) -> None:
    made, ids = compacted()
    made.compaction(ids["answer"], summary="shorter", systemMessage=None)
    made.user("last")
    context = context_of(made.encoded(), tmp_path)
    assert texts(context) == ["shorter", "answer", "after", "last"]
    assert [entry.type for entry in context.entries] == [
        "compaction",
        "message",
        "compaction",
        "message",
        "message",
    ]


# Edits


def test_an_edit_of_text_is_a_block_where_blocks_belong(tmp_path: Path) -> None:
    made = Session()
    targets = [
        made.user("user"),
        made.calls(call("read"), text("assistant")),
        made.result("result"),
        made.message("custom", content="custom", customType="c"),
        made.entry("custom_message", content="entry", customType="c", display=False),
        made.message("bashExecution", command="ls", output="x"),
        made.message("system", content="system"),
        made.summary("summary", HI),
    ]
    for target in targets:
        made.edit(target, "edited")
    context = context_of(made.encoded(), tmp_path)
    blocks = [text("edited")]
    assert [message.get("content") for message in context.messages] == [
        "edited",
        blocks,
        blocks,
        "edited",
        "edited",
        None,
        "system",
        None,
    ]
    assert context.messages[1]["stopReason"] == "toolUse"


def test_the_last_edit_counts_and_null_leaves_out(tmp_path: Path) -> None:
    made = Session()
    asked, said = made.user("asked"), made.assistant("said")
    made.edit(asked, None)
    made.edit(said, "first")
    made.edit(asked, "back")
    made.edit(said, None)
    assert texts(context_of(made.encoded(), tmp_path)) == ["back"]


def test_an_edit_counts_on_its_own_branch_only(tmp_path: Path) -> None:
    made = Session()
    asked = made.user("asked")
    said = made.assistant("said")
    made.edit(asked, "edited")
    beside = made.user("beside", said)
    assert texts(context_of(made.encoded(), tmp_path, beside)) == ["asked", "said", "beside"]


# Settings, messages


def test_model_and_level_are_those_of_the_whole_path(tmp_path: Path) -> None:
    made = Session()
    made.entry("thinking_level_change", thinkingLevel="high")
    first = made.entry("model_change", provider="one", modelId="m-1")
    said = made.assistant("said", provider="two", model="m-2")
    made.compaction("self")
    leaf = made.user("after")
    for at, model in ((first, ("one", "m-1")), (said, ("two", "m-2")), (leaf, ("two", "m-2"))):
        context = context_of(made.encoded(), tmp_path, at)
        assert context.model == {"provider": model[0], "modelId": model[1]}
        assert context.thinking_level == "high"


def test_the_last_of_several_settings_counts(tmp_path: Path) -> None:
    made = Session()
    for level, model in (("low", "m-1"), ("high", "m-2"), (["odd"], None)):
        made.entry("thinking_level_change", thinkingLevel=level)
        made.entry("model_change", provider="p", modelId=model)
    context = context_of(made.encoded(), tmp_path)
    assert (context.thinking_level, context.model) == (["odd"], {"provider": "p", "modelId": None})
    context = context_of(made.encoded(), tmp_path, "00000004")
    assert (context.thinking_level, context.model) == ("high", {"provider": "p", "modelId": "m-2"})


def test_an_edit_without_a_replacement_changes_nothing(tmp_path: Path) -> None:
    made = Session()
    asked = made.user("asked")
    made.entry("context_edit", targetId=asked)
    assert texts(context_of(made.encoded(), tmp_path)) == ["asked"]


def test_messages_are_the_stored_objects(tmp_path: Path) -> None:
    made = Session()
    stored: JsonObject = {
        "extra": [{"deep": None}],
        "content": [text("x"), 5],
        "big": 2**70,
        "lone": "\ud83d",
    }
    made.message("user", **stored)
    made.message("of_a_later_version", **stored)
    context = context_of(made.encoded(), tmp_path)
    assert context.messages == [line["message"] for line in made.lines if isinstance(line, dict)]


NOTHING: dict[str, object] = {"user": [], "assistant": [], "toolResult": [], "system": "", "custom": None}


@pytest.mark.parametrize("role", NOTHING)
@pytest.mark.parametrize("fields", [{}, {"content": None}], ids=["missing", "null"])
def test_no_content_counts_as_empty(role: str, fields: dict[str, None]) -> None:
    body: JsonObject = {"type": "message", "message": {"role": role, **fields}}
    assert [message.get("content") for message in entry_messages(body)] == [NOTHING[role]]


GIVES_NOTHING: list[JsonObject] = [
    {"type": "custom", "data": {"role": "user", "content": "x"}},
    {"type": "label", "label": "x"},
    {"type": "session_info", "name": "x"},
    {"type": "usage"},
    {"type": "leaf"},
    {"type": "of_a_later_version", "message": {"role": "user", "content": "x"}},
    {"type": "message"},
    {"type": "message", "message": "text"},
    {"type": "branch_summary"},
    {"type": "branch_summary", "summary": None},
    {"type": "branch_summary", "summary": ""},
    {},
]


@pytest.mark.parametrize("body", GIVES_NOTHING, ids=repr)
def test_what_gives_no_message(body: JsonObject) -> None:
    assert entry_messages(body) == []


def test_entries_that_give_messages_of_their_own() -> None:
    moment = {"timestamp": "2026-01-02T03:04:05.678Z"}
    at = {"timestamp": 1767323045678}
    assert entry_messages({"type": "branch_summary", "fromId": "x", "summary": "left", **moment}) == [
        {"role": "branchSummary", "summary": "left", "fromId": "x", **at}
    ]
    custom = {"customType": "c", "content": "note", "display": False, "details": {"n": 1}}
    assert entry_messages({"type": "custom_message", **custom, **moment}) == [
        {"role": "custom", **custom, **at}
    ]
    assert entry_messages({"type": "custom_message", **moment}) == [{"role": "custom", "content": [], **at}]


# Open ends


def opened(session: Session, folder: Path) -> list[tuple[str, str, str]]:
    found = context_of(session.encoded(), folder).open_calls
    return [(call.entry_id, call.call_id, call.name) for call in found]


def test_calls_without_results_are_open(tmp_path: Path) -> None:
    made = Session()
    made.user("go")
    calls = made.calls(call("read", "1"), call("bash", "2"), call("ls", "3"))
    assert opened(made, tmp_path) == [(calls, "1", "read"), (calls, "2", "bash"), (calls, "3", "ls")]
    made.result("done", "2")
    assert opened(made, tmp_path) == [(calls, "1", "read"), (calls, "3", "ls")]
    made.result("done", "3")
    made.result("done", "1")
    assert opened(made, tmp_path) == []


def test_a_result_on_another_branch_closes_nothing(tmp_path: Path) -> None:
    made = Session()
    calls = made.calls(call("read", "1"))
    made.result("done", "1")
    made.user("beside", calls)
    assert opened(made, tmp_path) == [(calls, "1", "read")]


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_calls_of_a_reply_that_failed_are_not_open(reason: str, tmp_path: Path) -> None:
    made = Session()
    made.calls(call("read", "1"), stopReason=reason)
    assert opened(made, tmp_path) == []


# Anything


@given(st.lists(hostile_lines(), max_size=6))
def test_hostile_bodies_make_a_context_all_the_same(lines: list[JsonObject]) -> None:
    for line in lines:
        for message in entry_messages(line):
            assert isinstance(message, dict)


@pytest.mark.parametrize("make", damaged.SESSIONS, ids=lambda make: make.__name__)
def test_every_entry_of_every_file_has_a_context(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(make())
    with SessionFile.load(path) as session:
        for entry in session.entries:
            context: Any = build_session_context(session, entry.id)
            assert entry in session.tree.path(entry.id)
            assert isinstance(context.open_calls, list)
