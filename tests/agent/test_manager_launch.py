"""Sessions that pitree wrote go on in the agent from the leaf that pitree set, with what it predicted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pitree import SessionManager

from .build import call, text, usage
from .compare import CONTEXT_PARTS, TREE_PARTS, assert_same, pi_view, pitree_view
from .fake_model import FakeModel, run_pi
from .install import AgentPaths
from .oracle import Oracle
from .test_launch import Sent, predicted, received

Write = Callable[[SessionManager], object]


def user(words: object) -> dict[str, Any]:
    return {"role": "user", "content": words, "timestamp": 5}


def assistant(*blocks: dict[str, Any], **more: object) -> dict[str, Any]:
    made = {"role": "assistant", "content": list(blocks), "api": "openai-completions", "provider": "local"}
    return {**made, "model": "parrot", "usage": usage(), "stopReason": "stop", "timestamp": 6, **more}


def result(words: str) -> dict[str, Any]:
    made = {"role": "toolResult", "toolCallId": "call-1", "toolName": "read", "isError": False}
    return {**made, "content": [text(words)], "timestamp": 7}


def talk(session: SessionManager) -> list[str]:
    """Ask twice, with a tool in between."""
    return [
        session.append_message(user("What is in a?")),
        session.append_message(assistant(text("Let me look."), call("read", path="a"), stopReason="toolUse")),
        session.append_message(result("an apple")),
        session.append_message(assistant(text("An apple."))),
        session.append_message(user("And in b?")),
        session.append_message(assistant(text("A banana."))),
    ]


def a_move(session: SessionManager) -> None:
    session.branch(talk(session)[3])
    session.append_custom_entry("pitree.leaf", {"from": "there"})


def a_move_before_the_first(session: SessionManager) -> None:
    talk(session)
    session.reset_leaf()
    session.append_custom_entry("pitree.leaf")


def a_move_with_a_summary(session: SessionManager) -> None:
    session.branch_with_summary(talk(session)[3], "We spoke of bananas.", {"readFiles": ["b"]})


def labels_and_names(session: SessionManager) -> None:
    made = talk(session)
    session.append_label_change(made[3], "apple")
    session.append_session_info("Fruit")
    session.branch(made[3])
    session.append_label_change(made[5], None)


def a_compaction(session: SessionManager) -> None:
    session.append_message({"role": "system", "content": "Answer briefly.", "timestamp": 1})
    session.append_compaction("Fruit was spoken of.", talk(session)[4], 1200)
    session.append_message(user("And in c?"))
    session.append_message(assistant(text("A cherry.")))


def a_compaction_that_keeps_nothing(session: SessionManager) -> None:
    talk(session)
    session.append_compaction("Fruit was spoken of.", None, 1200)


def edits(session: SessionManager) -> None:
    made = talk(session)
    hint = session.append_custom_message_entry("hint", "Prefer apples.", display=False)
    session.append_context_edit(made[3], {"content": "An apricot."})
    session.append_context_edit(made[4], None)
    session.append_context_edit(hint, {"content": [text("Prefer apricots.")]})


def a_branched_session(session: SessionManager) -> None:
    made = talk(session)
    label = session.append_label_change(made[0], "first")
    session.append_message(user("after the label"))
    session.append_compaction("short", label, 5)
    session.append_message(assistant(text("after the compaction")))
    session.create_branched_session(session.get_leaf_id() or "")


def odd_characters(session: SessionManager) -> None:
    session.append_message(user("日本 😀 \u2028 \x00 end"))
    session.append_message(assistant(text('"quotes" \\ and \x7f')))


@pytest.mark.parametrize(
    "write",
    [
        a_move,
        a_move_before_the_first,
        a_move_with_a_summary,
        labels_and_names,
        a_compaction,
        a_compaction_that_keeps_nothing,
        edits,
        a_branched_session,
        odd_characters,
    ],
    ids=lambda write: write.__name__,
)
def test_pi_goes_on(
    write: Write, agent: AgentPaths, oracle: Oracle, fake_model: FakeModel, tmp_path: Path
) -> None:
    with SessionManager.create(tmp_path, tmp_path / "sessions") as session:
        write(session)
        check(session, agent, oracle, fake_model, tmp_path)


def test_pi_goes_on_with_a_fork(
    agent: AgentPaths, oracle: Oracle, fake_model: FakeModel, tmp_path: Path
) -> None:
    with SessionManager.create("/somewhere/else", tmp_path / "sessions") as session:
        a_move_with_a_summary(session)
        path = session.get_session_file()
    assert path is not None
    with SessionManager.fork_from(path, tmp_path, tmp_path / "sessions") as fork:
        check(fork, agent, oracle, fake_model, tmp_path)


def check(
    session: SessionManager, agent: AgentPaths, oracle: Oracle, fake_model: FakeModel, cwd: Path
) -> None:
    path, leaf, count = session.get_session_file(), session.get_leaf_id(), len(session.get_entries())
    assert path is not None
    before = session.build_session_context().messages
    options = ["-p", "--session", str(path), "--no-tools", "--no-extensions", "--no-skills"]

    assert run_pi(agent, [*options, "next"], cwd, fake_model.agent_dir).strip() == "pong"

    (request,) = fake_model.requests
    instructions, *sent = request["messages"]
    assert instructions["role"] == "system"
    expected = [*(message for stored in before for message in predicted(stored)), Sent("user", ("next",))]
    got = [received(message) for message in sent]
    assert len(expected) == len(got), got
    for wanted, message in zip(expected, got, strict=True):
        assert wanted.is_like(message), f"{wanted} was expected, {message} was sent"
    # This object takes up what Pi wrote as it writes itself, and then can go on from there.
    own = session.append_custom_entry("from here")
    entries = session.get_entries()
    theirs = entries[count:-1]
    assert theirs[0]["parentId"] == leaf
    assert [entry["parentId"] for entry in theirs[1:]] == [entry["id"] for entry in theirs[:-1]]
    assert (entries[-1]["id"], entries[-1]["parentId"]) == (own, leaf)
    session.branch(theirs[-1]["id"])
    assert [message["role"] for message in session.build_session_context().messages[-2:]] == [
        "user",
        "assistant",
    ]
    session.append_session_info("both")
    assert_same(pi_view(oracle.session(path)), pitree_view(path), (*TREE_PARTS, *CONTEXT_PARTS))
