"""From the screen into the real Pi, in a real terminal."""

import os
from pathlib import Path

from e2e.terminal import PITREE, terminal

from pitree import demo
from pitree.catalog.locations import folder_name
from pitree.sessions.file import SessionFile

from .build import Session
from .fake_model import FakeModel
from .install import AgentPaths
from .test_launch import received


def test_resuming_ends_in_pi_on_that_session(agent: AgentPaths, tmp_path: Path) -> None:
    home = tmp_path / "ada"
    made = demo.make(home / ".pi" / "agent", home=home)
    environ = {
        "HOME": str(home),
        "PATH": f"{agent.bin}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.type("sunday")
        screen.wait("search: sunday")
        screen.wait("It is on the wall")
        screen.keys("Enter")
        # Pi draws the end of the conversation, and no pane of ours is left
        screen.wait(lambda text: "Sessions" not in text and "next time it" in text)


def environment(agent: AgentPaths, home: Path, agent_dir: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{agent.bin}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PI_CODING_AGENT_DIR": str(agent_dir),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }


def talk(folder: Path, agent_dir: Path) -> Path:
    """Ask twice and answer twice, with the model on this machine."""
    made = Session(cwd=str(folder))
    more = {"provider": "local", "model": "parrot", "api": "openai-completions"}
    made.user("What is in a?")
    made.assistant("An apple.", **more)
    made.user("And in b?")
    made.assistant("A banana.", **more)
    store = agent_dir / "sessions" / folder_name(str(folder))
    store.mkdir(parents=True)
    return made.write(store / "session.jsonl")


def test_asking_again_sends_the_edited_message(
    agent: AgentPaths, fake_model: FakeModel, tmp_path: Path
) -> None:
    """Enter on a message, its text in an editor, and what is sent begins the new branch in the real Pi."""
    folder = tmp_path / "work"
    folder.mkdir()
    path = talk(folder, fake_model.agent_dir)
    before = path.read_bytes()
    environ = environment(agent, tmp_path, fake_model.agent_dir)
    with terminal([*PITREE, str(path)], cwd=folder, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("C-Up")
        screen.wait("3/4")
        screen.keys("Enter")
        screen.wait("Context then:  2 messages")
        screen.keys("Enter")
        screen.wait("Ctrl+S moves the leaf")
        screen.type(" And in c?")
        screen.wait("And in b? And in c?")
        screen.keys("C-s")
        screen.wait("pong")
        screen.wait(lambda text: "Sessions" not in text)
    (request,) = fake_model.requests
    sent = [received(message) for message in request["messages"] if message["role"] != "system"]
    assert [one.texts for one in sent] == [("What is in a?",), ("An apple.",), ("And in b? And in c?",)]
    assert path.read_bytes().startswith(before)
    with SessionFile.load(path) as session:
        roles = [entry.role or entry.type for entry in session.tree.path(session.tree.leaf_id)]
    assert [role for role in roles if role in {"user", "assistant", "custom"}] == [
        "user",
        "assistant",
        "custom",
        "user",
        "assistant",
    ]


def test_a_summary_by_the_model(agent: AgentPaths, fake_model: FakeModel, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    path = talk(folder, fake_model.agent_dir)
    environ = environment(agent, tmp_path, fake_model.agent_dir)
    with terminal([*PITREE, str(path)], cwd=folder, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("Home", "Down")
        screen.wait("2/4")
        screen.keys("Enter")
        screen.wait("Context then:  2 messages")
        screen.keys("m")
        screen.wait("mind most")
        screen.type("bananas")
        screen.keys("Enter")
        screen.wait("Ctrl+S moves the leaf and writes this")
        screen.wait("pong")
        screen.type(" of bananas")
        screen.keys("C-s")
        screen.wait("moved with a summary")
        screen.wait("branch summary: pong of bananas")
        screen.keys("C-z")
        screen.wait("undone: moved")
        screen.keys("C-q")
    (request,) = fake_model.requests
    (asked,) = received(request["messages"][-1]).texts
    assert "User: And in b?\n\nAssistant: A banana." in asked
    assert "bananas" in asked
    with SessionFile.load(path) as session:
        summary = session.body(session.entries[-2])
        assert (summary["summary"], summary["usage"]["totalTokens"]) == ("pong of bananas", 11)
        assert session.entries[-1].parent_id == "00000004"
