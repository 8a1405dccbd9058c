"""The parts of the one table: a store, a very large one, sessions of some lengths, following, functions."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from agent.install import AgentPaths

from .benchmark import one, say
from .figures import Figure
from .inside import figures, floor, rows_by_filter
from .lists import measured_in_turns
from .live import alone, opened
from .programs import FILTER_KEYS, Pi, Pitree, Program, Times, note_costs, start_bare
from .screen import NotSeenError
from .sessions import made_sessions, made_store

LENGTHS: Final = (1_000, 10_000, 100_000)
"""Of sessions, in entries. Targets are set for the longest, and for stores that are not the short ones."""
_NAMES: Final = ("pitree", "Pi")


@dataclass(frozen=True, slots=True)
class How:
    """How something is measured: how often, on small things, and beside Pi or without."""

    runs: int
    short: bool
    agent: AgentPaths | None


def _of(times: Times, name: str) -> list[float]:
    return times.by_name.get(name, [])


def _both(what: str, name: str, ours: Times, theirs: Times, target: float | None = None) -> Figure:
    unit = "MB" if name.startswith(("memory", "read")) else "ms"
    headline = name == "start: the whole tree"
    return Figure(what, _of(ours, name), _of(theirs, name), target=target, unit=unit, headline=headline)


# ---- stores


def store(how: How) -> Iterator[Figure]:
    """Yield what the list of sessions takes."""
    count = 300 if how.short else 2000
    aims = _Aims() if how.short else _Aims(known=1.35, unseen=1.6, complete=0.35)
    yield from _of_store(made_store(count, 80), count, how, aims)


def large(how: How) -> Iterator[Figure]:
    """Yield what ten times as many sessions take; a minute of them is made the first time."""
    count = 1000 if how.short else 20_000
    once = How(1, how.short, how.agent)
    aims = _Aims() if how.short else _Aims(known=1.6)
    yield from _of_store(made_store(count, 20), count, once, aims)


@dataclass(frozen=True, slots=True)
class _Aims:
    """The most that a store may take: of a bare start until rows are there, and of Pi until all of it is."""

    known: float | None = None
    unseen: float | None = None
    complete: float | None = None


def _of_store(folder: Path, count: int, how: How, aims: _Aims) -> Iterator[Figure]:
    size = sum(path.stat().st_size for path in folder.glob("sessions/*/*.jsonl")) / 1e6
    bare, pitree, pi = measured_in_turns(folder, how.runs, with_pi=how.agent is not None)
    start = _of(bare, "start")
    of = f"{count:,} sessions"
    yield Figure("a Textual program with one word on the screen: bare", start, headline=True)
    for name, state, target in (("known", "known", aims.known), ("unknown", "never seen", aims.unseen)):
        what = f"start, {of} {state}: first rows"
        yield Figure(what, _of(pitree, f"{name}: rows"), bare=start, target=target, measure="x bare")
        aim = aims.complete if name == "unknown" else None
        yield _both(f"start, {of} {state}: complete", f"{name}: all", pitree, pi, aim)
    yield _both(
        f"list of {of} never seen, as a command (Pi: its function alone)",
        "list, unknown",
        pitree,
        pi,
        aims.complete,
    )
    yield _both(f"list of {of} known, as a command", "list, known", pitree, pi)
    letters, theirs = _of(pitree, "a letter"), _of(pi, "a letter")
    yield Figure(f"a letter of a search in {of}", letters, theirs, target=50, measure="ms")
    yield Figure("memory, bare", _of(bare, "memory"), unit="MB")
    for state in ("unknown", "known", "at the end"):
        yield _both(f"memory, {of}: {state}", f"memory, {state}", pitree, pi)
    for state in ("unknown", "known"):
        yield _both(f"bytes read, {of} ({size:,.0f} MB): {state}", f"read, {state}", pitree, pi)
    yield Figure("bytes read, bare", _of(bare, "read"), unit="MB")


# ---- a session


def sessions(how: How) -> Iterator[Figure]:
    """Yield how long trees of some lengths take to open, and the longest of them in use."""
    lengths = LENGTHS[:2] if how.short else LENGTHS
    for length in lengths:
        with beginning(length) as file:
            size = file.stat().st_size / 1e6
            totals = rows_by_filter(file)
            in_use = length == lengths[-1]
            bare, pitree, pi = _opened_in_turns(file, totals, how, in_use=in_use)
        of, aim = f"{length:,} entries, {size:,.0f} MB", 0.35 if length == LENGTHS[-1] else None
        leaf, start = _of(pitree, "start: the leaf's rows"), _of(bare, "start")
        yield Figure(
            f"start, {of}: rows around the leaf", leaf, bare=start, target=aim and 1.5, measure="x bare"
        )
        yield _both(f"start, {of}: the whole tree", "start: the whole tree", pitree, pi, aim)
        yield _both(f"memory, {of}: open", "memory, tree open", pitree, pi, aim and 0.5)
        yield _both(f"bytes read, {of}: open", "read, tree open", pitree, pi)
        if in_use:
            yield from _in_use(totals["default"], of, pitree, pi, aim)


def _opened_in_turns(
    file: Path, totals: dict[str, int], how: How, *, in_use: bool
) -> tuple[Times, Times, Times]:
    bare, times = Times(), {name: Times() for name in _NAMES}
    programs: list[Program] = [Pitree()]
    if how.agent is not None:
        programs.append(Pi(how.agent))
    size = file.stat().st_size
    for run in range(-1, how.runs):
        # the first time of each only warms the caches of the system, of Python and of Node
        warming = run < 0
        start_bare(Times() if warming else bare)
        for program in programs:
            into = Times() if warming else times[program.name]
            if in_use and not warming:
                one(program, file, totals, into, short=how.short)
            else:
                try:
                    with program.opened(file, totals["default"], into):
                        pass
                except NotSeenError as error:
                    say(f"{program.name} gave up once: {' '.join(str(error).split())[:300]}")
            os.truncate(file, size)  # Pi may append to it
    return bare, times["pitree"], times["Pi"]


def _in_use(rows: int, of: str, pitree: Times, pi: Times, aim: float | None) -> Iterator[Figure]:
    """Yield what keys, filters and searches take in a long session."""
    among = f"in {rows:,} rows"
    keys, theirs = _of(pitree, "a key"), _of(pi, "a key")
    yield Figure(f"a key until the highlight has moved, {among}", keys, theirs, target=16, measure="ms")
    for name, what in (
        ("a key, with its position", "a key until the status line says the position"),
        ("a held key, with its position", "a key of those held, until the status line says the position"),
    ):
        yield _both(f"{what}, {among}", name, pitree, pi)
    for name in FILTER_KEYS:
        yield _both(f"filter {name}, {among}", f"filter {name}", pitree, pi, aim)
    yield _both(f"a letter of a search, {among}", "search: a letter", pitree, pi, aim)
    yield _both(f"the very first letter of a search, {among}", "search: the very first letter", pitree, pi)
    yield _both(f"a search is left, {among}", "search: leave it", pitree, pi)
    yield _both(f"memory, {of}: at the end of all this", "memory, at the end", pitree, pi)
    yield _both(f"bytes read, {of}: at the end of all this", "read, at the end", pitree, pi)


@contextmanager
def beginning(entries: int) -> Iterator[Path]:
    """Make a throw-away copy of the first entries of the big session."""
    big = dict(made_sessions())["big"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl")
        with big.open("rb") as whole, path.open("wb") as cut:
            cut.writelines(islice(whole, 1 + entries))
        yield path


# ---- following


def following(how: How) -> Iterator[Figure]:
    """Yield how soon an appended line is on the screen, by the size of the file."""
    big = dict(made_sessions())["big"]
    sizes = (1_000_000, 20_000_000) if how.short else (1_000_000, 20_000_000, big.stat().st_size)
    lines = 10 if how.short else 50
    for size in sizes:
        costs = Times()
        with opened(big, size) as (screen, writer):
            before = screen.read_megabytes()
            took = [alone(screen, writer) for _ in range(lines)]
            note_costs(screen, costs)
        of = f"{size / 1e6:,.0f} MB"
        yield Figure(f"a line is appended to {of}: on the screen", took, target=150, measure="ms")
        yield Figure(f"memory, following {of}", _of(costs, "memory"), unit="MB")
        if before is not None:
            read = [(after - before) * 1e3 / lines for after in _of(costs, "read")]
            yield Figure(f"bytes read for a line appended to {of}", read, unit="kB")


# ---- what explains it


def functions(how: How) -> Iterator[Figure]:
    """Yield what the functions under the screen take in this process, and the floor below them."""
    length = LENGTHS[1 if how.short else 2]
    with beginning(length) as file:
        of = f"{length:,} entries, {file.stat().st_size / 1e6:,.0f} MB"
        for measured in (floor(file, how.runs), figures(file, how.runs)):
            for name, values in measured.items():
                yield Figure(f"{name}, {of}", values)


PARTS: Final[dict[str, Callable[[How], Iterator[Figure]]]] = {
    "store": store,
    "large": large,
    "sessions": sessions,
    "following": following,
    "functions": functions,
}
