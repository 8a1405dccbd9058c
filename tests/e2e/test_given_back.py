"""However pitree ends, the terminal is as it was before: to its settings, and to the last mode."""

import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pitree import demo
from pitree.demo import Demo

from .terminal import PITREE, Terminal, terminal

_ROOT = Path(__file__).parents[2]
_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_KEYS = re.compile(rb"\x1b\[([<>])[0-9]*u")
# What holds before a full-screen program starts; all other modes are off.
_ON_BEFORE = {b"25", b"7"}

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system has no /proc")


@pytest.fixture
def made(tmp_path: Path) -> Demo:
    home = tmp_path / "ada"
    return demo.make(home / ".pi" / "agent", home=home)


@pytest.fixture
def environ(made: Demo, tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "bin"
    # takes the terminal as Pi does, and leaves it so when it is killed
    _script(
        programs / "pi",
        r"stty raw -echo; printf '\033[?1049h\033[?1000h\033[?2004h\033[>7u\033[?25lPI WAITS'; read x",
    )
    _script(programs / "less", "echo $1 > $HOME/copy; echo PAGER WAITS; read x")
    return {
        "HOME": str(made.home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(_ROOT),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_CODING_AGENT_DIR": str(made.agent_dir),
    }


def _script(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def child_of(pid: int) -> int:
    """Return the one child process, as soon as there is one."""
    deadline = time.monotonic() + 20
    while not (children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(children[0])


def pitree_in(screen: Terminal) -> int:
    return child_of(int(screen.run("display-message", "-p", "-t", "main", "#{pane_pid}")))


def left_on(raw: bytes) -> set[bytes]:
    """Return the modes that differ from those before, of all that a terminal was told."""
    on = set(_ON_BEFORE)
    for numbers, letter in _MODE.findall(raw):
        for number in numbers.split(b";"):
            (on.add if letter == b"h" else on.discard)(b"1049" if number == b"47" else number)
    return on ^ _ON_BEFORE


def check(screen: Terminal, raw: Path) -> str:
    """Wait for the shell, check that the terminal is its own again, and return the screen."""
    text = screen.wait(lambda text: text.rstrip().endswith("shell$"))
    flags = "#{alternate_on}#{mouse_any_flag}#{cursor_flag}#{wrap_flag}#{keypad_cursor_flag}"
    assert screen.run("display-message", "-p", "-t", "main", flags).strip() == "00110"
    tty = screen.run("display-message", "-p", "-t", "main", "#{pane_tty}").strip()
    settings = subprocess.run(
        ["stty", "-a", "-F", tty], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"echo", "icanon", "isig", "iexten", "icrnl", "ixon", "opost"} <= {
        word.strip(";") for word in settings
    }
    told = raw.read_bytes()
    assert left_on(told) == set()
    pushed = _KEYS.findall(told)
    assert pushed.count(b">") <= pushed.count(b"<") or told.rfind(b"\x1b[=0u") > told.rfind(b"\x1b[>7u")
    return text


def to_end(number: signal.Signals) -> Callable[[Terminal], None]:
    return lambda screen: os.kill(pitree_in(screen), number)


def stopped_and_back(screen: Terminal) -> None:
    """Stop it as a shell's Ctrl+Z does elsewhere, look at the shell, go on, and quit."""
    for _ in range(6):
        screen.keys("Down", "Down", "Up")  # so that there is something to be written
        os.kill(pitree_in(screen), signal.SIGTSTP)
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
        screen.type("clear; stty -a")
        screen.keys("Enter")
        assert " icanon" in screen.wait("extproc")
        screen.type("fg")
        screen.keys("Enter")
        screen.wait("◆")
    screen.keys("C-q")


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda screen: screen.keys("C-q"), 0),
        (lambda screen: screen.keys("C-c"), 0),
        (to_end(signal.SIGTERM), 143),
        (to_end(signal.SIGHUP), 129),
        (to_end(signal.SIGQUIT), 131),
        (to_end(signal.SIGINT), 0),
        (stopped_and_back, 0),
    ],
    ids=["quit", "ctrl+c", "term", "hup", "quit-signal", "int", "stop"],
)
def test_after_every_end(
    end: Callable[[Terminal], None], code: int, made: Demo, environ: dict[str, str], tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    with terminal(PITREE, cwd=made.cwd, environ=environ, record=raw) as screen:
        screen.wait("◆")
        end(screen)
        check(screen, raw)
        screen.type("echo code $?")
        screen.keys("Enter")
        screen.wait(f"\ncode {code}\n")


def test_after_a_crash(made: Demo, environ: dict[str, str], tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    script = tmp_path / "broken.py"
    script.write_text(
        "import sys\n"
        "from pitree.ui.browser import Browser\n"
        "def broken(self):\n"
        "    secret = 'what was ' + 'said'\n"
        "    raise ValueError('\\x1b]0;owned\\x07')\n"
        "Browser.action_help = broken\n"
        "from pitree.__main__ import main\n"
        "sys.exit(main())\n"
    )
    log = made.home / ".local" / "state" / "pitree" / "crash.log"
    with terminal([sys.executable, str(script)], cwd=made.cwd, environ=environ, record=raw) as screen:
        screen.wait("◆")
        screen.keys("F1")
        text = check(screen, raw).replace("\n", "")
        assert (
            "pitree: ended by an error in itself (ValueError); no session was changed by that; "
            f"the log is {log}" in text
        )
        assert "Traceback" not in text
        assert b"owned" not in raw.read_bytes()
        screen.type("echo code $?")
        screen.keys("Enter")
        screen.wait("\ncode 1\n")
    told = log.read_text()
    assert "ValueError: ␛]0;owned␇" in told
    assert "what was said" not in told
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize("killed", ["pi", "pager"])
def test_after_a_program_that_was_killed(
    killed: str, made: Demo, environ: dict[str, str], tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    with terminal(PITREE, cwd=made.cwd, environ=environ, record=raw) as screen:
        screen.wait("◆")
        if killed == "pi":
            screen.keys("C-g")
        else:
            screen.keys("Tab", "Tab")
            screen.wait("Enter pager")
            screen.keys("Enter")
        screen.wait("WAITS")
        os.kill(child_of(pitree_in(screen)), signal.SIGKILL)
        screen.wait("ended with code 137.")
        screen.keys("C-q")
        check(screen, raw)
    if killed == "pager":
        copy = Path((made.home / "copy").read_text().strip())
        assert copy.name == "entry.txt"
        assert not copy.parent.exists()


def test_what_starts_in_its_place_finds_it_as_it_was(
    made: Demo, environ: dict[str, str], tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    _script(tmp_path / "bin" / "pi", "stty -a; echo PI ENDS")
    with terminal(PITREE, cwd=made.cwd, environ=environ, record=raw) as screen:
        screen.wait("◆")
        screen.keys("Enter")
        text = screen.wait("PI ENDS")
        assert " echo " in text
        assert " icanon " in text
        check(screen, raw)
