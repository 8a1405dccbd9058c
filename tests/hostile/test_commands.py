"""The commands on a hostile store: what they print harms no terminal, and is JSON where that is wanted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandline import Run
from e2e.terminal import PITREE, terminal

from pitree.sessions.file import SessionFile

from .store import make
from .stream import cut

Say = Callable[..., str]


@pytest.fixture
def files(home: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    return make(home / ".pi" / "agent" / "sessions", work)


@pytest.fixture
def say(pitree: Run) -> Say:
    """Run a command, check what it prints to the byte, and return it."""

    def run(*arguments: str | Path, fails: bool = False) -> str:
        done = pitree(*arguments)
        for printed in (done.out, done.err):
            stream = cut(printed.encode())
            assert stream.kinds == set()
            assert stream.forbidden == set()
            assert "Traceback" not in printed
        assert (done.code != 0) == fails, done.err
        if "--json" in arguments and not fails:
            json.loads(done.out)
        return done.out + done.err

    return run


def ids_of(path: Path) -> list[str]:
    with SessionFile.load(path) as session:
        return [f"{entry.id.split()[0]} " for entry in session.entries if entry.id]


def test_reading(say: Say, files: list[Path]) -> None:
    for arguments in (
        ["list", "--all"],
        ["list", "--all", "has:damage"],
        ["search", "--all", "owned"],
        ["search", "--all", "--tools", "owned"],
    ):
        assert "q0" in say(*arguments) + say(*arguments, "--json")
    for path in files:
        for command in (["tree", path, "--filter", "all"], ["context", path], ["name", path]):
            say(*command)
            say(*command, "--json")
        say("tree", path, "--ids")
    for options in ([], ["--json"]):
        say("doctor", *files, *options, fails=True)  # with damage in some of them
        say("version", *options)
        say("config", *options)
    for entry_id in ids_of(files[0]):
        for command in (["show", files[0], entry_id], ["context", files[0], "--leaf", entry_id, "--changes"]):
            say(*command)
            say(*command, "--json")


def test_changing(say: Say, files: list[Path]) -> None:
    path, ids = files[0], ids_of(files[0])
    text = "\x1b]0;owned\x07 \x9b2J \u202e \U000e0041"
    for arguments in (
        ["label", path, ids[5], text],
        ["name", path, text],
        ["move", path, ids[9], "--label", text, "--outline"],
        ["move", path, ids[3], "--summary", text, "--json"],
        ["move", path, ids[4], "--dry-run"],
        ["fork", path],
        ["fork", path, "--json"],
        ["rm", *files[1:], "--yes"],
        ["undo", "--list"],
        ["undo", "--list", "--json"],
        ["undo"],
        ["undo", "--json"],
    ):
        say(*arguments)


def test_mistakes(say: Say, files: list[Path], work: Path) -> None:
    odd = "\x1b[2J\x9b\u202e"
    for arguments in (
        ["tree", f"{odd}.jsonl"],
        ["tree", odd],
        ["tree", "id"],  # several begin with it
        ["show", files[0], odd],
        ["list", f"--{odd}"],
        ["list", "re:(\x1b"],
        ["list", "--session-dir", work / odd],
        ["resume", files[1], "--pi", odd],
        ["resume", files[0], "--pi", odd],
        ["rm", files[1]],
        ["move", files[3], "nothing"],
    ):
        say(*arguments, fails=True)


def test_a_question_in_a_terminal(home: Path, work: Path, files: list[Path]) -> None:
    raw = home / "raw"
    script = home / "run"
    name = str(files[2]).replace("'", "'\\''")
    script.write_bytes(f"{' '.join(PITREE)} rm '".encode() + name.encode("utf-8", "surrogateescape") + b"'\n")
    environ: dict[str, Any] = {
        "HOME": str(home),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "LC_ALL": "C.UTF-8",
    }
    with terminal(["sh", str(script)], cwd=work, environ=environ, record=raw) as screen:
        screen.wait("Into the trash? [y/N]")
        screen.keys("n", "Enter")
        screen.wait("nothing was changed")
    stream = cut(raw.read_bytes().replace(b"\x1b[?2004h", b""))
    assert stream.kinds == set()
    assert stream.forbidden == set()
    assert files[2].exists()
