"""After each kind of change the agent goes on from the right place, and sends exactly what was predicted."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pitree.agent.summary import SummaryError, SummaryStoppedError, ask_model, summary_command, summary_prompt
from pitree.catalog.locations import Store
from pitree.changes import Changes
from pitree.journal import Journal
from pitree.sessions.appending import Move, Summary
from pitree.sessions.branching import abandoned_span, file_lists
from pitree.sessions.context import build_session_context
from pitree.sessions.entries import JsonObject
from pitree.sessions.file import SessionFile
from pitree.sessions.moves import State, plan_move
from pitree.sessions.outline import transcript

from .build import Session, call, text
from .compare import CONTEXT_PARTS, TREE_PARTS, assert_same, pi_view, pitree_view
from .fake_model import FakeModel, run_pi
from .install import AgentPaths
from .oracle import Oracle
from .test_launch import Sent, predicted, received

ROOT = Path(__file__).parents[2]


def talk(cwd: Path) -> Session:
    """Ask twice, with a tool in between."""
    made = Session(cwd=str(cwd))
    more = {"provider": "local", "model": "parrot", "api": "openai-completions"}
    made.user("What is in a?")  # 1
    made.calls(text("Let me look."), call("read", path="a"), **more)  # 2
    made.result("an apple")  # 3
    made.assistant("An apple.", **more)  # 4
    made.user("And in b?")  # 5
    made.calls(text("Let me change it."), call("edit", "call-2", path="b"), **more)  # 6
    made.result("a banana", "call-2")  # 7
    made.assistant("A banana.", **more)  # 8
    return made


def moved(path: Path, entry_id: str, *, before: bool = False, summary: str | None = None) -> Move:
    with SessionFile.load(path) as session:
        plan = plan_move(session.tree, session.find(entry_id), before=before)
        files = file_lists(session, plan.summary_span)
    return Move(plan.target_id, plan.state, None if summary is None else Summary(summary, files))


Change = Callable[[Changes, Path], Path | None]


def a_move(changes: Changes, path: Path) -> None:
    changes.move(path, moved(path, "00000004"))


def a_move_before_a_question(changes: Changes, path: Path) -> None:
    changes.move(path, moved(path, "00000005", before=True))


def a_move_before_the_first(changes: Changes, path: Path) -> None:
    changes.move(path, moved(path, "00000001", before=True))


def a_move_with_a_summary(changes: Changes, path: Path) -> None:
    changes.move(path, moved(path, "00000004", summary="We spoke of bananas."))


def a_summary_before_the_first(changes: Changes, path: Path) -> None:
    changes.move(path, moved(path, "00000001", before=True, summary="We spoke of fruit."))


def labels_and_a_name(changes: Changes, path: Path) -> None:
    changes.label(path, "00000004", "apple", None)
    changes.name(path, "Fruit", None)
    changes.label(path, "00000004", "", "apple")


def a_label_after_a_move(changes: Changes, path: Path) -> None:
    a_move(changes, path)
    changes.label(path, "00000008", "left", None)


def a_fork(changes: Changes, path: Path) -> Path:
    return changes.fork(path, "00000004").path


def a_duplicate(changes: Changes, path: Path) -> Path:
    changes.label(path, "00000002", "calls", None)
    return changes.fork(path).path


def everything_undone(changes: Changes, path: Path) -> None:
    a_move_with_a_summary(changes, path)
    a_label_after_a_move(changes, path)
    changes.name(path, "Fruit", None)
    while deeds := changes.undoable():
        changes.undo(deeds[0])


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "a move": (a_move, ["What is in a?", "An apple."]),
    "before a question": (a_move_before_a_question, ["What is in a?", "An apple."]),
    "before the first": (a_move_before_the_first, []),
    "a summary": (a_move_with_a_summary, ["What is in a?", "An apple.", "We spoke of bananas."]),
    "a summary before the first": (a_summary_before_the_first, ["We spoke of fruit."]),
    "labels and a name": (labels_and_a_name, ["What is in a?", "An apple.", "And in b?", "A banana."]),
    "a label after a move": (a_label_after_a_move, ["What is in a?", "An apple."]),
    "a fork": (a_fork, ["What is in a?", "An apple."]),
    "a duplicate": (a_duplicate, ["What is in a?", "An apple.", "And in b?", "A banana."]),
    "undone": (everything_undone, ["What is in a?", "An apple.", "And in b?", "A banana."]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_pi_goes_on(
    name: str, agent: AgentPaths, oracle: Oracle, fake_model: FakeModel, tmp_path: Path
) -> None:
    change, wanted = CHANGES[name]
    store = tmp_path / "sessions"
    store.mkdir()
    path = talk(tmp_path).write(store / "session.jsonl")
    original = path.read_bytes()
    changes = Changes(Store(store, flat=True, source="test"), Journal(None))
    path = change(changes, path) or path
    assert (store / "session.jsonl").read_bytes().startswith(original)
    with SessionFile.load(path) as session:
        leaf = session.tree.leaf_id
        before = build_session_context(session, leaf).messages

    options = ["-p", "--session", str(path), "--no-tools", "--no-extensions", "--no-skills"]
    assert run_pi(agent, [*options, "next"], tmp_path, fake_model.agent_dir).strip() == "pong"

    (request,) = fake_model.requests
    _, *sent = request["messages"]
    got = [received(message) for message in sent]
    expected = [*(one for stored in before for one in predicted(stored)), Sent("user", ("next",))]
    assert len(expected) == len(got), got
    assert all(one.is_like(other) for one, other in zip(expected, got, strict=True)), got
    # And, with no help from the context that pitree builds: what was said there, each once.
    spoken = [one.texts[0] for one in got if one.role in {"user", "assistant"} and one.texts and one.texts[0]]
    spoken = [words for words in spoken if words not in {"Let me look.", "Let me change it.", "next"}]
    assert len(spoken) == len(wanted)
    assert all(words in said for words, said in zip(wanted, spoken, strict=True)), spoken
    with SessionFile.load(path) as session:
        asked = next(entry for entry in session.entries if entry.parent_id == leaf and entry.type != "label")
        assert asked.id in [entry.id for entry in session.tree.path(session.tree.leaf_id)]
    assert_same(pi_view(oracle.session(path)), pitree_view(path), (*TREE_PARTS, *CONTEXT_PARTS))


# ---- a summary from the model


def environment(agent: AgentPaths, model: FakeModel) -> dict[str, str]:
    quiet = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    return agent.environment(home=model.agent_dir) | quiet | {"PI_CODING_AGENT_DIR": str(model.agent_dir)}


def branch_model(path: Path) -> tuple[str, JsonObject | None]:
    with SessionFile.load(path) as session:
        span = abandoned_span(session.tree, session.tree.leaf_id, "00000004")
        prompt = summary_prompt(transcript(session, span), "the banana")
        return prompt, build_session_context(session, session.tree.leaf_id).model


def test_a_summary_from_the_model(agent: AgentPaths, fake_model: FakeModel, tmp_path: Path) -> None:
    path = talk(tmp_path).write(tmp_path / "session.jsonl")
    before = path.read_bytes()
    prompt, model = branch_model(path)
    heard: list[int] = []
    environ = environment(agent, fake_model)
    command = summary_command((str(agent.pi),), model)
    answer = ask_model(command, prompt, tmp_path, environ, progress=heard.append)
    assert answer.text == "pong"
    assert answer.usage is not None
    assert answer.usage["totalTokens"] == 11
    assert heard[-1] == len("pong")
    (request,) = fake_model.requests
    assert request["model"] == "parrot"
    assert "tools" not in request
    system, asked = request["messages"]
    assert "summar" in system["content"]
    (words,) = received(asked).texts
    assert (
        "User: And in b?\n\nAssistant: Let me change it.\n(called edit: b)\n\nAssistant: A banana." in words
    )
    assert "a banana" not in words, "results of tools are left out"
    assert "What is in a?" not in words, "what stays is not summarized"
    assert "the banana" in words
    assert path.read_bytes() == before
    assert not (fake_model.agent_dir / "sessions").exists()


def test_a_model_that_pi_does_not_know(agent: AgentPaths, fake_model: FakeModel, tmp_path: Path) -> None:
    command = summary_command((str(agent.pi),), {"provider": "nobody", "modelId": "parrot"})
    with pytest.raises(SummaryError, match=r"the model gave no summary: .*nobody"):
        ask_model(command, "x", tmp_path, environment(agent, fake_model))


def test_a_provider_that_is_away(agent: AgentPaths, tmp_path: Path) -> None:
    with FakeModel(tmp_path / "agent") as model:
        environ = environment(agent, model)
    settings = '{"retry":{"enabled":false},"defaultProvider":"local","defaultModel":"parrot"}'
    (model.agent_dir / "settings.json").write_text(settings)
    command = summary_command((str(agent.pi),), None)
    with pytest.raises(SummaryError, match=r"the model gave no summary: .+"):
        ask_model(command, "x", tmp_path, environ)


SLOW = [sys.executable, "-c", "import os, sys, time; print(os.getpid(), file=sys.stderr); time.sleep(60)"]


def test_a_model_that_takes_too_long(tmp_path: Path) -> None:
    with pytest.raises(SummaryError, match=r"within 0\.3 seconds"):
        ask_model(SLOW, "x" * 1_000_000, tmp_path, os.environ, timeout=0.3)


def test_a_summary_that_is_given_up(tmp_path: Path) -> None:
    """What was started is gone, and what that started."""
    told = tmp_path / "children"
    child = (
        "import pathlib, subprocess\n"
        "one = subprocess.Popen(['sleep', '60'])\n"
        f"pathlib.Path({str(told) + '.new'!r}).write_text(str(one.pid))\n"
        f"pathlib.Path({str(told) + '.new'!r}).rename({str(told)!r})\n"
        "one.wait()\n"
    )
    with pytest.raises(SummaryStoppedError):
        ask_model([sys.executable, "-c", child], "x", tmp_path, os.environ, stop=told.exists)
    found = ["ps", "-o", "stat=", "-p", told.read_text()]
    deadline = time.monotonic() + 30
    while subprocess.run(found, capture_output=True, text=True, check=False).stdout.strip() not in {"", "Z"}:
        assert time.monotonic() < deadline, "what was started goes on"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SummaryError, match="could not be started"):
        ask_model(["/nowhere/pi"], "x", tmp_path, os.environ)


def test_the_command_line_writes_what_the_model_said(
    agent: AgentPaths, fake_model: FakeModel, tmp_path: Path
) -> None:
    path = talk(tmp_path).write(tmp_path / "session.jsonl")
    environ = environment(agent, fake_model) | {
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    command = [sys.executable, "-m", "pitree", "move", str(path), "00000004", "--summarize", "--json"]
    done = subprocess.run(
        command, env=environ, cwd=tmp_path, capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr) == (0, b"")
    with SessionFile.load(path) as session:
        body = session.body(session.entries[-1])
        assert State.of(session.tree).lines == 9
    assert (body["type"], body["fromId"], body["parentId"]) == ("branch_summary", "00000008", "00000004")
    assert body["summary"] == "pong\n\nFiles changed:\n- b"
    assert body["details"] == {"readFiles": [], "modifiedFiles": ["b"]}
    assert body["usage"]["totalTokens"] == 11
