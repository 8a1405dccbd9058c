"""The programs that are measured: how each is started, and what its screen says when it has answered."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agent.install import AgentPaths

from .bare import WORD
from .screen import Screen

ROOT: Final = Path(__file__).parents[2]
FILTER_KEYS: Final = {"user-only": "ctrl+u", "no-tools": "ctrl+t", "all": "ctrl+a", "default": "ctrl+d"}
WORDS: Final = ("err", "merge", "when")
# Long enough for what a program does after its answer (pitree fills its preview), so that each key is alone.
_QUIET_SECONDS: Final = 0.08
_HELD_SECONDS: Final = 1 / 30
_HELD_KEYS: Final = 60

PITREE: Final = (sys.executable, "-c", "import sys; from pitree.__main__ import main; sys.exit(main())")
"""As the installed script starts it; `-m pitree` takes a few milliseconds more."""


@dataclass
class Times:
    """Milliseconds by what took them, one figure a time; and peak memory in MB."""

    by_name: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.by_name.setdefault(name, []).append(value)


def clean_environ(scratch: Path) -> dict[str, str]:
    """Return an environment without anybody's settings, with a home of its own."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PI_", "PITREE_", "XDG_"))
    }
    return kept | {
        "HOME": str(scratch),
        "PYTHONPATH": str(ROOT),
        "PI_CODING_AGENT_DIR": str(scratch / "agent"),
    }


def start_bare(times: Times) -> None:
    """Start a Textual program that shows one word."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str(Path(__file__).with_name("bare.py"))]
        with Screen(command, cwd=Path(scratch), environ=clean_environ(Path(scratch))) as screen:
            times.add("start", screen.wait(WORD, screen.started)[0])
            screen.settle(_QUIET_SECONDS)
            note_costs(screen, times)


def note_costs(screen: Screen, times: Times, when: str = "") -> None:
    """Note what a program has held and read so far, where the system tells."""
    for name, value in (("memory", screen.peak_megabytes()), ("read", screen.read_megabytes())):
        if value is not None:
            times.add(f"{name}{when}", value)


class Program:
    """A program that shows the tree of a session."""

    name: str
    keys: tuple[str, ...]
    """What is pressed to move, in this order."""
    few_keys: tuple[str, ...]
    """The same in short."""

    def position(self, total: int) -> str:
        """Return the pattern of the position, 12/340, in a tree of `total` rows."""
        raise NotImplementedError

    def filtered(self, total: int) -> str:
        """Return the pattern of the position after another filter was chosen."""
        return rf"\b\d+/{total}\b"

    def found(self, query: str) -> str:
        """Return the pattern of what stands there when the rows found by a search do."""
        raise NotImplementedError

    def start(self, file: Path, scratch: Path) -> Screen:
        raise NotImplementedError

    def open_tree(self, screen: Screen, total: int, times: Times) -> None:
        """Wait for the whole tree, from the start of the program."""
        raise NotImplementedError

    @contextmanager
    def opened(self, file: Path, total: int, times: Times) -> Iterator[Screen]:
        """Run the program until its tree is on the screen."""
        with tempfile.TemporaryDirectory() as scratch, self.start(file, Path(scratch)) as screen:
            self.open_tree(screen, total, times)
            note_costs(screen, times, ", tree open")
            screen.settle(0.5)
            yield screen

    def measure(self, file: Path, totals: Mapping[str, int], times: Times, *, short: bool = False) -> None:
        """Open a session and do all that is measured; `totals` is how many rows each filter shows."""
        total = totals["default"]
        with self.opened(file, total, times) as screen:
            self._press(screen, total, times, self.few_keys if short else self.keys)
            self._hold(screen, total, times, _HELD_KEYS // 4 if short else _HELD_KEYS)
            for name, key in FILTER_KEYS.items():
                sent = screen.send(key)
                times.add(f"filter {name}", screen.wait(self.filtered(totals[name]), sent)[0])
                screen.settle(_QUIET_SECONDS)
            self._search(screen, total, times)
            note_costs(screen, times, ", at the end")

    def _press(self, screen: Screen, total: int, times: Times, keys: Sequence[str]) -> None:
        shown = None
        for key in keys:
            sent = screen.send(key)
            moved = screen.frame(sent)
            told, place = screen.wait(self.position(total), sent, but=shown)
            if shown is not None:
                times.add("a key", moved)
                times.add(f"a key, {key}", moved)
                times.add("a key, with its position", told)
            shown = place[0]
            screen.settle(_QUIET_SECONDS)

    def _hold(self, screen: Screen, total: int, times: Times, count: int) -> None:
        shown = None
        for _ in range(count):
            sent = screen.send("up")
            took, place = screen.wait(self.position(total), sent, but=shown)
            if shown is not None:
                times.add("a held key, with its position", took)
            shown = place[0]
            rest = _HELD_SECONDS - took / 1e3
            if rest > 0:
                screen.rest(rest)

    def _search(self, screen: Screen, total: int, times: Times) -> None:
        for number, word in enumerate(WORDS):
            for end in range(1, len(word) + 1):
                sent = screen.send(word[end - 1])
                took, _ = screen.wait(self.found(word[:end]), sent)
                first = not number and end == 1
                times.add("search: the very first letter" if first else "search: a letter", took)
                screen.settle(_QUIET_SECONDS)
            sent = screen.send("escape")
            times.add("search: leave it", screen.wait(self.position(total), sent)[0])
            screen.settle(_QUIET_SECONDS)


class Pitree(Program):
    """pitree on a session file: the tree, and the preview beside it."""

    name = "pitree"
    keys = ("home", *["down"] * 60, *["pagedown"] * 31, *["end", "home"] * 5)
    few_keys = ("home", *["down"] * 15, *["pagedown"] * 8, "end", "home")

    def position(self, total: int) -> str:
        return rf"\b\d+/{total}  "

    def found(self, query: str) -> str:
        return rf"search: {query}  matches only"

    def start(self, file: Path, scratch: Path) -> Screen:
        return Screen([*PITREE, str(file)], cwd=scratch, environ=clean_environ(scratch))

    def open_tree(self, screen: Screen, total: int, times: Times) -> None:
        times.add("start: the leaf's rows", screen.wait(r" leaf ", screen.started)[0])
        times.add("start: the whole tree", screen.wait(self.position(total), screen.started)[0])


class Pi(Program):
    """The agent itself: `pi --session`, then `/tree`."""

    name = "Pi"
    keys = ("up", *["down"] * 60, *["right"] * 40)  # it has no keys for the first and the last row
    few_keys = ("up", *["down"] * 15, *["right"] * 10)

    def __init__(self, agent: AgentPaths) -> None:
        self._agent = agent

    def position(self, total: int) -> str:
        # The leaf that it appends can be a row more, and the former one, no longer the leaf, a row less.
        return rf"\(\d+/(?:{total - 1}|{total}|{total + 1})\)"

    def filtered(self, total: int) -> str:
        # opened without a model it notes that as a setting
        return rf"\b\d+/(?:{total - 1}|{total}|{total + 1})\b"

    def found(self, query: str) -> str:
        return rf"search: {query}(?![a-z])"

    def start(self, file: Path, scratch: Path) -> Screen:
        settings = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
        environ = clean_environ(scratch) | settings | {"PATH": self._agent.path_variable}
        command = [str(self._agent.pi), "--session", str(file)]
        return Screen(command, cwd=scratch, environ=environ)

    def open_tree(self, screen: Screen, total: int, times: Times) -> None:
        # As fast as somebody could be who types the moment it listens: what comes between the first sight of
        # the prompt and the end of its start is sometimes lost. That end it marks with a line of its own.
        times.add("start: the prompt", screen.wait("─{40}", screen.started)[0])
        screen.wait("No models available", screen.started)
        screen.wait("/tree", screen.send("/tree"))
        screen.send("enter")
        times.add("start: the whole tree", screen.wait(self.position(total), screen.started)[0])
