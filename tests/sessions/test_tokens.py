"""How big a context is; the figures are those that Pi gives for the same messages."""

from pathlib import Path

import pytest
from agent.build import Session, call, text, usage
from hypothesis import given

from pitree.sessions.context import SessionContext, build_session_context, entry_messages
from pitree.sessions.entries import JsonObject
from pitree.sessions.file import SessionFile
from pitree.sessions.tokens import (
    ContextTokens,
    body_usages,
    context_tokens,
    estimate_tokens,
    usage_cost,
    usage_tokens,
)

from .lines import hostile_lines

IMAGE = {"type": "image", "data": "x" * 99, "mimeType": "image/png"}

# (checked with the real agent)
ESTIMATES: list[tuple[JsonObject, int]] = [
    ({"role": "user", "content": "abcd"}, 1),
    ({"role": "user", "content": "abcde"}, 2),
    ({"role": "user", "content": "日本語テキスト"}, 2),
    ({"role": "user", "content": "😀😀😀😀😀"}, 3),  # two units each
    ({"role": "user", "content": [text("abc"), IMAGE]}, 1201),
    (
        {
            "role": "assistant",
            "content": [
                text("abcd"),
                {"type": "thinking", "thinking": "hmmmm"},
                call("read", "1", path="/日本/é.txt", n=1),
            ],
        },
        10,
    ),
    ({"role": "assistant", "content": [call("x", "1", a='\x01\n"\u2028\ud83d😀')]}, 7),
    ({"role": "assistant", "content": [{"type": "toolCall", "name": "x", "arguments": None}]}, 2),
    ({"role": "toolResult", "content": [text("1234567")]}, 2),
    ({"role": "bashExecution", "command": "ls", "output": "12345"}, 2),
    ({"role": "branchSummary", "summary": "1"}, 1),
    ({"role": "compactionSummary", "summary": "12345"}, 2),
    ({"role": "system", "content": "abc", "sections": {"a": "12345", "b": None}, "toolsAdded": ["é"]}, 4),
    ({"role": "custom", "content": "abcdefghi"}, 3),
    ({"role": "custom", "content": []}, 0),
    ({"role": "bashExecution", "command": None, "output": 5}, 0),
    ({"role": "user", "content": [{"type": "text"}, {"type": "thinking"}, None]}, 0),
    ({"role": "branchSummary"}, 0),
    ({}, 0),
]


@pytest.mark.parametrize(("message", "tokens"), ESTIMATES, ids=lambda value: repr(value)[:50])
def test_estimates(message: JsonObject, tokens: int) -> None:
    assert estimate_tokens(message) == tokens


def context_of(made: Session, folder: Path) -> SessionContext:
    with SessionFile.load(made.write(folder / "session.jsonl")) as session:
        return build_session_context(session, session.tree.leaf_id)


def test_the_last_counted_reply_and_an_estimate_for_the_rest(tmp_path: Path) -> None:
    made = Session()
    made.user("x" * 4000)
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(1000, 1000)
    made.assistant("counted", usage={**usage(), "totalTokens": 5000})
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(5000, 0)
    made.user("y" * 40)
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(5010, 10)
    # replies that failed, or that nobody counted, were not sent or say nothing
    made.assistant("no", usage={**usage(), "totalTokens": 1}, stopReason="error")
    made.assistant("no", usage={**usage(), "totalTokens": 1}, stopReason="aborted")
    made.assistant("zero", usage={"totalTokens": 0, "input": 0})
    made.assistant("none", usage=None)
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(5014, 14)


def test_what_was_counted_before_a_compaction_does_not_serve(tmp_path: Path) -> None:
    made = Session()
    made.user("x" * 4000)
    kept = made.assistant("counted", usage={**usage(), "totalTokens": 5000})
    made.compaction(kept, summary="12345678")
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(4, 4)
    made.assistant("counted again", usage={**usage(), "totalTokens": 300})
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(300, 0)


def test_what_was_counted_before_an_edit_does_not_serve(tmp_path: Path) -> None:
    made = Session()
    asked = made.user("x" * 4000)
    made.assistant("counted", usage={**usage(), "totalTokens": 5000})
    made.edit(asked, None)
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(2, 2)
    made.assistant("counted again", usage={**usage(), "totalTokens": 300})
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(300, 0)


def test_a_reply_that_comes_first_counts_as_well(tmp_path: Path) -> None:
    made = Session()
    made.assistant("counted", usage={**usage(), "totalTokens": 5000})
    assert context_tokens(context_of(made, tmp_path)) == ContextTokens(5000, 0)


def test_nothing_takes_nothing(tmp_path: Path) -> None:
    assert context_tokens(context_of(Session(), tmp_path)) == ContextTokens(0, 0)


USAGES: list[tuple[object, int]] = [
    (usage(), 17),
    ({"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}, 10),
    ({"totalTokens": 0, "input": 5}, 5),
    ({"totalTokens": -5}, 0),
    ({"totalTokens": "7", "input": True, "output": None, "cacheRead": [], "cacheWrite": 1e300}, 0),
    ({"totalTokens": 10**400}, 0),
    ({"totalTokens": 1.9}, 1),
    ({}, 0),
    (None, 0),
    ([], 0),
    ("17", 0),
]


@pytest.mark.parametrize(("record", "tokens"), USAGES, ids=lambda value: repr(value)[:40])
def test_usage_records(record: object, tokens: int) -> None:
    assert usage_tokens(record) == tokens


@pytest.mark.parametrize(
    ("record", "cost"),
    [
        (usage(), 0.003),
        ({"cost": {}}, 0),
        ({"cost": 5}, 0),
        ({"cost": {"total": "5"}}, 0),
        (None, 0),
        ([], 0),
    ],
    ids=repr,
)
def test_costs(record: object, cost: float) -> None:
    assert usage_cost(record) == cost


def test_where_usage_is_recorded() -> None:
    for kind in ("usage", "compaction", "branch_summary"):
        assert list(body_usages({"type": kind, "usage": 1})) == [1]
    for role in ("assistant", "toolResult"):
        assert list(body_usages({"type": "message", "message": {"role": role, "usage": 2}})) == [2]


def test_where_usage_does_not_count() -> None:
    assert list(body_usages({"type": "custom", "usage": 1})) == []
    assert list(body_usages({"type": "message", "usage": 1, "message": {"role": "user", "usage": 2}})) == []
    assert list(body_usages({"type": ["usage"], "usage": 1, "message": {"role": {}, "usage": 2}})) == []
    assert list(body_usages({"message": "odd"})) == []
    # said before, and counted there
    kept = {"role": "assistant", "usage": usage()}
    assert list(body_usages({"type": "compaction", "retainedTail": [kept]})) == [None]


@given(hostile_lines())
def test_anything_has_a_size(line: JsonObject) -> None:
    for message in entry_messages(line):
        assert estimate_tokens(message) >= 0
    for record in body_usages(line):
        assert usage_tokens(record) >= 0
        assert usage_cost(record) >= 0
