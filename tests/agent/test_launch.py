"""What the agent really sends to the model when it goes on with a session is what pitree's context says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pitree.sessions.context import build_session_context
from pitree.sessions.file import SessionFile

from .build import Session, call, text
from .cases import Make
from .cases_context import IMAGE, all_roles, compactions_in_a_row, edits_around_compactions, models_and_levels
from .cases_tree import every_entry_type
from .compare import CONTEXT_PARTS, TREE_PARTS, assert_same, pi_view, pitree_view
from .fake_model import FakeModel, run_pi
from .install import AgentPaths
from .oracle import Oracle

Calls = tuple[str, ...]


@dataclass(frozen=True)
class Sent:
    """One message of a request: its role, its text blocks, the ids of its calls, and how many images."""

    role: str
    texts: tuple[str, ...]
    calls: Calls = ()
    images: int = 0
    inside: tuple[str, ...] = ()
    """Where Pi puts words of its own around them: what the one text must contain instead."""

    def is_like(self, other: "Sent") -> bool:
        """Tell whether `other`, from a request, is the message expected here."""
        if not self.inside:
            return self == other
        if (self.role, 1, self.calls, self.images) != (
            other.role,
            len(other.texts),
            other.calls,
            other.images,
        ):
            return False
        return all(part in other.texts[0] for part in self.inside)


def a_day_of_work() -> Session:
    made = Session()
    made.message("system", content="Answer briefly.")
    start = made.user("What fails?")
    made.calls(
        text("Let me run it."), call("bash", "call-1", command="pytest"), call("read", "call-2", path="a")
    )
    made.result("1 failed", "call-1")
    made.result([text("def a():"), text("    pass")], "call-2")
    dead_end = made.assistant("It is the clock.")
    made.summary("The clock is not to blame.", dead_end, start)
    made.message("bashExecution", command="git log", output="abc123 fix", exitCode=2, cancelled=False)
    made.message("bashExecution", command="secret", output="hidden", excludeFromContext=True)
    made.user([text("Look at this"), IMAGE])
    made.entry("custom_message", customType="hint", content="Prefer small steps.", display=False)
    made.assistant("I see a picture.")
    return made


def a_move_that_lasts() -> Session:
    made = Session()
    made.user("one")
    target = made.assistant("first answer")
    made.user("two")
    made.assistant("second answer")
    made.entry("custom", target, customType="pitree.leaf", data={"from": "00000004"})
    return made


def a_new_start_before_the_first_entry() -> Session:
    made = Session()
    made.user("one")
    made.assistant("first answer")
    made.entry("custom", None, customType="pitree.leaf", data={})
    return made


@pytest.mark.parametrize(
    "make",
    [
        a_day_of_work,
        a_move_that_lasts,
        a_new_start_before_the_first_entry,
        all_roles,
        compactions_in_a_row,
        edits_around_compactions,
        every_entry_type,
        models_and_levels,
    ],
    ids=lambda make: make.__name__,
)
def test_the_request_is_what_the_context_says(
    make: Make, agent: AgentPaths, oracle: Oracle, fake_model: FakeModel, tmp_path: Path
) -> None:
    made = make()
    made.header["cwd"] = str(tmp_path)
    path = made.write(tmp_path / "session.jsonl")
    with SessionFile.load(path) as session:
        before = build_session_context(session, session.tree.leaf_id).messages
    options = ["-p", "--session", str(path), "--no-tools", "--no-extensions", "--no-skills"]

    assert run_pi(agent, [*options, "next"], tmp_path, fake_model.agent_dir).strip() == "pong"

    (request,) = fake_model.requests
    instructions, *sent = request["messages"]
    expected = [*(message for stored in before for message in predicted(stored)), Sent("user", ("next",))]
    got = [received(message) for message in sent]
    assert len(expected) == len(got), got
    for wanted, message in zip(expected, got, strict=True):
        assert wanted.is_like(message), f"{wanted} was expected, {message} was sent"
    # Pi gathers all system messages in one at the front.
    assert instructions["role"] == "system"
    for stored in before:
        assert stored["role"] != "system" or stored["content"] in instructions["content"]
    # The file as Pi itself has continued it.
    now = pitree_view(path)
    assert [message["role"] for message in now.messages[-2:]] == ["user", "assistant"]
    assert now.messages[-1]["content"] == [text("pong")]
    assert_same(pi_view(oracle.session(path)), now, (*TREE_PARTS, *CONTEXT_PARTS))


def predicted(message: dict[str, Any]) -> list[Sent]:
    """Turn a message of the context into what a provider gets for it."""
    role = message["role"]
    content: Any = message.get("content")
    match role:
        case "user" | "custom":
            return [Sent("user", texts_of(content), images=images_in(content))]
        case "assistant":
            calls = tuple(block["id"] for block in content if block["type"] == "toolCall")
            return [Sent("assistant", ("".join(texts_of(content)),), calls)]
        case "toolResult":
            # Pi joins the blocks, and shows images in a user message of its own.
            got = [Sent("tool", ("\n".join(texts_of(content)),), (message["toolCallId"],))]
            images = images_in(content)
            return [*got, Sent("user", (), images=images, inside=("",))] if images else got
        case "bashExecution":
            if message.get("excludeFromContext"):
                return []
            return [Sent("user", (), inside=(message["command"], message["output"]))]
        case "branchSummary" | "compactionSummary":
            return [Sent("user", (), inside=(message["summary"],))]
        case _:
            return []


def received(message: dict[str, Any]) -> Sent:
    """Read a message of a chat request."""
    content = message["content"]
    calls = [made["id"] for made in message.get("tool_calls", [])]
    if "tool_call_id" in message:
        calls.append(message["tool_call_id"])
    return Sent(message["role"], texts_of(content), tuple(calls), images_in(content))


def texts_of(content: object) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,)
    return (
        tuple(block["text"] for block in content if block["type"] == "text")
        if isinstance(content, list)
        else ()
    )


def images_in(content: object) -> int:
    blocks = content if isinstance(content, list) else []
    return sum(block["type"] in {"image", "image_url"} for block in blocks)
