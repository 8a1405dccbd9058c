"""The screen on a hostile store, down to the bytes that arrive at the terminal."""

import base64
import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from e2e.terminal import PITREE, Terminal, terminal

from .store import ATTACKS, WHOLE, make
from .stream import Stream, clipboard, cut


class Place(NamedTuple):
    """A store, and where to be in it."""

    cwd: Path
    files: list[Path]
    environ: dict[str, str]


@pytest.fixture
def place(home: Path) -> Callable[[tuple[str, ...]], Place]:
    def made(attacks: tuple[str, ...]) -> Place:
        mine = home / ("hostile" if attacks else "harmless")
        cwd = mine / "work"
        cwd.mkdir(parents=True)
        programs = mine / "bin"
        programs.mkdir()
        # what the copies hold goes to the terminal as it is
        for name, script in (("pi", ""), ("show", 'cat "$1"\nexit 3\n')):
            (programs / name).write_text(f"#!/bin/sh\n{script}")
            (programs / name).chmod(0o755)
        environ = {
            "HOME": str(mine),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "TERM": "tmux-256color",
            "LC_ALL": "C.UTF-8",
            "PAGER": "show",
            "EDITOR": "show",
        }
        return Place(cwd, make(mine / ".pi" / "agent" / "sessions", cwd, attacks), environ)

    return made


def recorded(place: Place, walk: Callable[[Terminal], None], *arguments: str | Path) -> bytes:
    """Walk through pitree, and return all that it wrote to the terminal."""
    raw = place.cwd.parent / "raw"
    command = (
        place.cwd.parent / "run"
    )  # typing a name that holds control characters would mean something else
    command.write_bytes(b"exec " + os.fsencode(shlex.join([*PITREE, *map(str, arguments)])) + b"\n")
    with terminal(
        ["sh", str(command)], cwd=place.cwd, environ=place.environ, size=(150, 45), record=raw
    ) as screen:
        walk(screen)
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
        deadline = time.monotonic() + 10
        while (
            not (told := raw.read_bytes()).rstrip().endswith(b"shell$")
        ):  # it comes through a pipe of its own
            assert time.monotonic() < deadline
            time.sleep(0.02)
    return told.rpartition(b"\x1b[?1004l")[0]


def check(raw: bytes, allowed: set[str]) -> Stream:
    """Check that only what the framework itself says to terminals arrived."""
    stream = cut(raw)
    assert stream.kinds - allowed == set()
    assert stream.forbidden == set()
    for attack in ATTACKS:
        if attack[0] in "\x1b\x90\x9b\x9d":
            assert attack.encode() not in raw, ascii(attack)
    return stream


def look(screen: Terminal, *steps: tuple[str, str]) -> None:
    """Press keys, and wait after each for what it brings; keys in one word come one after another."""
    for keys, wanted in steps:
        if keys:
            screen.keys(*keys.split())
        if wanted:
            screen.wait(wanted)


def leave(screen: Terminal, title: str) -> None:
    """Leave a dialog, and wait until it is gone: what follows at once on an Esc belongs to it."""
    screen.keys("Escape")
    screen.wait(lambda text: title not in text)


def through_a_session(screen: Terminal) -> None:
    """Look at every entry of a session in every way, and at every dialog."""
    screen.wait("◆")
    screen.keys("C-a")
    for number in range(1, 27):
        look(screen, ("Down" if number > 1 else "Home", f" {number}/26  all"))
    for change, seen in (("r", '"type": "context'), ("Right", "[Context]"), ("Right", "[Changes]")):
        # one after another: each has to be answered before the next
        look(screen, ("Tab", "Enter pager"), (change, seen), ("BTab", "Enter go there"))
        look(screen, ("Home", " 1/26 "), ("C-Down", " 18/26 "), ("End", " 26/26 "))
    _dialogs(screen)
    _found(screen)
    _handed_over(screen)


def _dialogs(screen: Terminal) -> None:
    opened = (
        ("M-m", " Labels "),
        ("F1", "─ Keys ─"),
        ("C-k", "Search for commands"),
        ("L", "│ label: lab"),
        ("C-r", "│ name: name"),
        ("Enter", "Context then:"),
        ("M-z", "What pitree changed"),
    )
    screen.keys("Home")
    for key, title in opened:
        if key == "M-z":
            look(screen, ("L", "│ label: lab"), ("x Enter", "labelled"))
        look(screen, (key, title))
        leave(screen, title)
    look(screen, ("C-z", "undone: "), ("C-x", "copied: asked"), ("C-y", "copied: cd "))


def _found(screen: Terminal) -> None:
    look(screen, ("BTab", " Enter resume"))
    screen.type("q")
    look(screen, ("M-c", "search with tools: q"))
    leave(screen, "search with")
    look(screen, ("C-o", "all folders"))
    look(screen, ("M-g C-p C-s", "newest"), ("Home", " 1/4 "), ("Down", " 2/4 "), ("Down", " 3/4 "))
    look(screen, ("C-t C-d", "the trash"))
    leave(screen, "the trash")
    look(screen, ("Home", " 1/4 "), ("Enter", "The session's folder is gone"))
    leave(screen, "folder is gone")
    look(screen, ("Down", " 2/4 "))


def _handed_over(screen: Terminal) -> None:
    look(screen, ("Tab", "Enter go there"), ("Home", " 1/28 "), ("Tab", "Enter pager"))
    for tab in ("[Context]", "[Entry]"):
        look(screen, ("Left", tab), ("Enter", "pager ended with code 3"), ("e", "editor ended with code 3"))
        look(screen, ("Y", "copied: "))


def at_a_file_with_an_odd_name(screen: Terminal) -> None:
    """Look at what is said of a file whose name is hostile, and that there is no Pi."""
    look(screen, ("", "◆"), ("BTab", " Enter resume"), ("Enter", "Pi cannot open "), ("C-y", "copied: "))
    look(screen, ("C-d", "the trash"))
    leave(screen, "the trash")


def without_pi(screen: Terminal) -> None:
    """Look at how a command is told that is not there."""
    look(screen, ("", "◆"), ("C-g", "Pi was not found"), ("c", "copied: "))


def test_nothing_drives_the_terminal(place: Callable[[tuple[str, ...]], Place]) -> None:
    harmless, hostile = place(()), place(ATTACKS)
    allowed = cut(recorded(harmless, through_a_session, harmless.files[0])).kinds
    stream = check(recorded(hostile, through_a_session, hostile.files[0]), allowed)
    assert WHOLE in stream.text
    odd = "no-such-pi\x1b[95;51m\x9b"
    check(recorded(hostile, at_a_file_with_an_odd_name, hostile.files[1], "--pi", odd), allowed)
    check(recorded(hostile, without_pi, hostile.files[0], "--pi", odd), allowed)
    copied = [base64.b64decode(told, validate=True).decode() for told in clipboard(stream)]
    assert len(copied) == 4
    assert "\x1b]8;;" in copied[0]  # the true text, which the terminal does not see
