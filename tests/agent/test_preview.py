"""What the preview lists of a context is what the agent sends to the model, message by message."""

from pathlib import Path

import pytest

from pitree.sessions.file import SessionFile
from pitree.sessions.ledger import Ledger
from pitree.ui.documents.context import context_documents
from pitree.ui.documents.context_messages import ContextMessage, is_sent

from .build import Session, call, text
from .cases import Make
from .cases_context import IMAGE, compactions_in_a_row, edits_around_compactions
from .cases_tree import every_entry_type
from .fake_model import FakeModel, run_pi
from .install import AgentPaths
from .test_launch import Sent, a_day_of_work, predicted, received


def what_is_not_sent() -> Session:
    made = Session()
    made.user("Look at it")
    made.calls(text("I will."), call("read", "call-1", path="a.png"))
    made.result([text("a picture"), IMAGE], "call-1")
    made.assistant("I was int", stopReason="aborted", errorMessage="stopped")
    made.assistant("", stopReason="error", errorMessage="overloaded")
    made.message("bashExecution", command="secret", output="hidden", excludeFromContext=True)
    made.message("bashExecution", command="ls", output="a.png", exitCode=0)
    left = made.assistant("A cat.")
    made.summary("It was about a cat.", left, made.ids()[0])
    made.summary("", left)
    made.entry("custom", customType="note", data=1)
    made.entry("custom_message", customType="hint", content=[text("Be brief."), IMAGE], display=True)
    edited = made.user("a long question")
    made.edit(edited, "short")
    return made


@pytest.mark.parametrize(
    "make",
    [a_day_of_work, compactions_in_a_row, edits_around_compactions, every_entry_type, what_is_not_sent],
    ids=lambda make: make.__name__,
)
def test_the_list_is_what_is_sent(
    make: Make, agent: AgentPaths, fake_model: FakeModel, tmp_path: Path
) -> None:
    made = make()
    made.header["cwd"] = str(tmp_path)
    path = made.write(tmp_path / "session.jsonl")
    with SessionFile.load(path) as session:
        *_, document = context_documents(session, session.tree.leaf_id, Ledger(session))
        listed = [section for section in document.sections if isinstance(section, ContextMessage)]
        messages = [section.message() for section in listed]
        headings = [section.lines()[1].shown for section in listed]
    assert [section.number for section in listed] == list(range(1, len(listed) + 1))
    options = ["-p", "--session", str(path), "--no-tools", "--no-extensions", "--no-skills"]

    assert run_pi(agent, [*options, "next"], tmp_path, fake_model.agent_dir).strip() == "pong"

    (request,) = fake_model.requests
    instructions, *sent = request["messages"]
    said_sent = [one for one, heading in zip(messages, headings, strict=True) if "not sent" not in heading]
    assert said_sent == [one for one in messages if is_sent(one)]
    expected = [*(sending for one in said_sent for sending in predicted(one)), Sent("user", ("next",))]
    got = [received(message) for message in sent]
    assert len(expected) == len(got), got
    for wanted, message in zip(expected, got, strict=True):
        assert wanted.is_like(message), f"{wanted} was expected, {message} was sent"
    for one in said_sent:  # Pi gathers these in one at the front
        assert one["role"] != "system" or one["content"] in instructions["content"]
