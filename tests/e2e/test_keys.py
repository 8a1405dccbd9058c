"""A person's own keys and settings in a real terminal, whatever it sends for a key."""

import os
from pathlib import Path

import pytest

from pitree import demo
from pitree.demo import Demo

from .terminal import PITREE, Terminal, terminal


@pytest.fixture
def made(tmp_path: Path) -> Demo:
    home = tmp_path / "ada"
    return demo.make(home / ".pi" / "agent", home=home)


@pytest.fixture
def environ(made: Demo) -> dict[str, str]:
    return {
        "HOME": str(made.home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_CODING_AGENT_DIR": str(made.agent_dir),
    }


def send(screen: Terminal, sequence: str) -> None:
    """Have the program read these bytes, as a terminal writes them."""
    screen.run("send-keys", "-t", "main", "-H", *(f"{byte:02x}" for byte in sequence.encode()))


# The same keys, as terminals send them without a keyboard protocol and with the Kitty one.
LEGACY = {"tab": "\t", "filter": "\x1bf", "label": "\x1bOQ", "user": "\x15", "back": "\x1b", "wrong": "L"}
KITTY = {
    "tab": "\x1b[9u",
    "filter": "\x1b[102;3u",
    "label": "\x1b[1;1Q",
    "user": "\x1b[117;5u",
    "back": "\x1b[27u",
    "wrong": "\x1b[108;2;76u",
}


@pytest.mark.parametrize("sent", [LEGACY, KITTY], ids=["legacy", "kitty"])
def test_own_keys_as_any_terminal_sends_them(
    made: Demo, environ: dict[str, str], sent: dict[str, str]
) -> None:
    (made.agent_dir / "keybindings.json").write_text(
        '{"app.tree.filter.cycleForward": "alt+f", "app.tree.editLabel": "f2"}'
    )
    settings = made.home / ".config" / "pitree" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('theme = "nord"\n[keys]\nhelp = "f8"\n')
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.wait("F8 help")
        send(screen, sent["tab"])
        screen.wait(lambda text: "F2 label" in text and "Alt+F filter" in text)
        send(screen, sent["filter"])
        screen.wait("no-tools")
        send(screen, sent["user"])
        screen.wait("user-only")
        send(screen, sent["wrong"])
        screen.wait("search: L")
        send(screen, sent["back"])
        screen.wait(lambda text: "search: L" not in text)
        send(screen, sent["label"])
        screen.wait("empty clears it")
        send(screen, sent["back"])
        screen.wait(lambda text: "empty clears it" not in text)
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_what_is_wrong_is_said_and_nothing_stops(made: Demo, environ: dict[str, str]) -> None:
    (made.agent_dir / "keybindings.json").write_text("{")
    (made.home / "own.toml").write_text('scope = "al"\n[keys]\nundo = "ctl+z"\n')
    command = [*PITREE, "--config", str(made.home / "own.toml")]
    with terminal(command, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.wait('~/own.toml, line 1: scope is "here" or "repository" or "all", not "al" (2 more: F1)')
        screen.keys("F1")
        screen.wait(lambda text: "did you mean ctrl+z?" in text and "keybindings.json: no JSON" in text)
        screen.keys("Escape", "C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
