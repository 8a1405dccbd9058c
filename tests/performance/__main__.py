"""Everything that a person waits for, beside the real Pi, in one run and one table.

    python -m tests.performance [--short] [--runs N] [--json FILE] [--without-pi]

Same machine, same files, the programs in turns; medians, and the 95th percentile where the target says so.
*Bare* is a Textual program that shows one word. What the figures are of is told in `benchmark.py` (a session
on the screen), `lists.py` (a store) and `live.py` (a growing session), which also print more of them, each
alone; `previews.py` measures the preview. `--short` takes about two minutes: one run on smaller things. It
says less about the targets, and enough about what a change did. `--json` writes the figures, to compare two
commits. Nothing fails because it is slow.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from performance.programs import Program, Times

ROOT: Final = Path(__file__).parents[2]
LENGTHS: Final = (1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `target` is the most there may be of `measure`: "x Pi", "x bare" or "ms"."""

    what: str
    ours: float | None
    theirs: float | None = None
    bare: float | None = None
    target: float | None = None
    measure: str = "x Pi"
    unit: str = "ms"

    @property
    def ratio(self) -> float | None:
        """What is held against the target."""
        beside = {"x Pi": self.theirs, "x bare": self.bare, "ms": 1.0}[self.measure]
        return None if self.ours is None or not beside else self.ours / beside

    def row(self) -> str:
        """Return it as a row in Markdown."""

        def shown(value: float | None) -> str:
            return "" if value is None else f"{value:,.{0 if value >= 20 else 1}f} {self.unit}"

        ratio = "" if self.ratio is None or self.measure == "ms" else f"{self.ratio:.2f} {self.measure}"
        target = "" if self.target is None else f"{self.target:g} {self.measure}"
        met = (
            "" if self.target is None or self.ratio is None else "yes" if self.ratio <= self.target else "no"
        )
        cells = (self.what, shown(self.ours), shown(self.theirs), ratio, target, met)
        return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table in Markdown."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from performance.benchmark import machine, say

    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="one run, on smaller things: about two minutes")
    parser.add_argument("--runs", type=int, default=3, help="how often each thing is measured (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--without-pi", action="store_true", help="measure pitree alone")
    args = parser.parse_args(arguments)
    machine()
    say("\n| | pitree | Pi | | at most | met |")
    say("|---|---:|---:|---:|---:|---|")
    figures = []
    for figure in measured(1 if args.short else args.runs, short=args.short, with_pi=not args.without_pi):
        figures.append(figure)
        say(figure.row())
    say("")
    machine()
    if args.json is not None:
        args.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1), encoding="utf-8")


def measured(runs: int, *, short: bool, with_pi: bool) -> Iterator[Figure]:
    """Yield the figures as they come."""
    yield from of_the_store(runs, short=short, with_pi=with_pi)
    if not short:
        yield from of_the_large_store()
    yield from of_opening(runs, LENGTHS[:2] if short else LENGTHS, with_pi=with_pi)
    yield from of_the_tree(runs, LENGTHS[1] if short else LENGTHS[2], with_pi=with_pi)
    yield from of_following(10 if short else 50, short=short)


def of_the_store(runs: int, *, short: bool, with_pi: bool) -> Iterator[Figure]:
    """Yield what the list of sessions takes."""
    from performance.lists import measured_in_turns
    from performance.sessions import made_store

    count = 300 if short else 2000
    bare, pitree, pi = measured_in_turns(made_store(count, 80), runs, with_pi=with_pi)
    start = middle(bare, "start")
    of = f"{count:,} sessions"
    known, rows = middle(pitree, "known: rows"), middle(pitree, "unknown: rows")
    yield Figure("a Textual program with one word on the screen: bare", start)
    yield Figure(f"start, {of} known: rows", known, bare=start, target=1.35, measure="x bare")
    yield Figure(f"start, {of} never seen: first rows", rows, bare=start, target=1.6, measure="x bare")
    for row, what in (
        ("unknown: all", "start, {} never seen: complete"),
        ("list, unknown", "list of {}, as a command"),
    ):
        yield Figure(what.format(of), middle(pitree, row), middle(pi, row), target=0.35)
    letters = pitree.by_name.get("a letter", [])
    yield Figure(f"a letter of a search in {of}, p95", high(letters), target=50, measure="ms")


def of_the_large_store() -> Iterator[Figure]:
    """Yield what ten times as many sessions take; a minute of them is made the first time."""
    from performance.lists import measured_in_turns
    from performance.sessions import made_store

    bare, pitree, _ = measured_in_turns(made_store(20_000, 20), 1, with_pi=False)
    start = middle(bare, "start")
    known = middle(pitree, "known: rows")
    yield Figure("start, 20,000 sessions known: rows", known, bare=start, target=1.6, measure="x bare")
    letters = pitree.by_name.get("a letter", [])
    yield Figure("a letter of a search in 20,000 sessions, p95", high(letters), target=50, measure="ms")
    yield Figure("memory with 20,000 sessions", middle(pitree, "memory, known"), unit="MB")


def programs(*, with_pi: bool) -> "dict[str, Program]":
    """Return what is measured: pitree, and Pi where it is to be had."""
    from agent.install import AgentUnavailable, ensure_agent

    from performance.benchmark import say
    from performance.programs import Pi, Pitree, Program

    found: dict[str, Program] = {"pitree": Pitree()}
    if with_pi:
        try:
            found["Pi"] = Pi(ensure_agent())
        except AgentUnavailable as unavailable:
            say(f"Pi is not measured: {unavailable.reason}")
    return found


def of_opening(runs: int, lengths: Sequence[int], *, with_pi: bool) -> Iterator[Figure]:
    """Yield how long a tree takes from the start of the program, for sessions of some lengths."""
    from performance.benchmark import say
    from performance.inside import rows_by_filter
    from performance.programs import Times, start_bare
    from performance.screen import NotSeenError

    for length in lengths:
        bare = Times()
        times = {name: Times() for name in ("pitree", "Pi")}
        with beginning(length) as file:
            size, total = file.stat().st_size, rows_by_filter(file)["default"]
            for run in range(-1, runs):
                start_bare(Times() if run < 0 else bare)
                for name, program in programs(with_pi=with_pi).items():
                    try:
                        with program.opened(file, total, Times() if run < 0 else times[name]):
                            pass
                    except NotSeenError as error:
                        say(f"{name} gave up once: {' '.join(str(error).split())[:300]}")
                    os.truncate(file, size)  # Pi may append to it
        of = f"{length:,} entries, {size / 1e6:,.0f} MB"
        leaf = middle(times["pitree"], "start: the leaf's rows")
        yield Figure(
            f"start, {of}: rows around the leaf",
            leaf,
            bare=middle(bare, "start"),
            target=1.5,
            measure="x bare",
        )
        ours, theirs = (middle(times[name], "start: the whole tree") for name in ("pitree", "Pi"))
        yield Figure(f"start, {of}: the whole tree", ours, theirs, target=0.35)


def of_the_tree(runs: int, length: int, *, with_pi: bool) -> Iterator[Figure]:
    """Yield what keys, filters and searches take in a long session."""
    from performance.benchmark import one
    from performance.inside import rows_by_filter
    from performance.programs import FILTER_KEYS, Times

    times = {name: Times() for name in ("pitree", "Pi")}
    with beginning(length) as file:
        size, totals = file.stat().st_size, rows_by_filter(file)
        for _ in range(runs):
            for name, program in programs(with_pi=with_pi).items():
                one(program, file, totals, times[name])
                os.truncate(file, size)
    pitree, pi = times["pitree"], times["Pi"]
    of = f"in {totals['default']:,} rows"
    yield Figure(f"a key until the highlight has moved {of}", middle(pitree, "a key"), middle(pi, "a key"))
    ours, theirs = (high(one.by_name.get("a key", [])) for one in (pitree, pi))
    yield Figure(f"a key until the highlight has moved {of}, p95", ours, theirs, target=16, measure="ms")
    for name in FILTER_KEYS:
        row = f"filter {name}"
        yield Figure(f"filter {name} {of}", middle(pitree, row), middle(pi, row), target=0.35)
    row = "search: a letter"
    yield Figure(f"a letter of a search {of}", middle(pitree, row), middle(pi, row), target=0.35)
    row = "memory, tree open"
    yield Figure(
        f"memory, {length:,} entries open", middle(pitree, row), middle(pi, row), target=0.5, unit="MB"
    )


def of_following(lines: int, *, short: bool) -> Iterator[Figure]:
    """Yield how soon an appended line is on the screen."""
    from performance.live import alone, opened
    from performance.sessions import made_sessions

    big = dict(made_sessions())["big"]
    sizes = (1_000_000, 20_000_000) if short else (1_000_000, 20_000_000, big.stat().st_size)
    for size in sizes:
        with opened(big, size) as (screen, writer):
            took = [alone(screen, writer) for _ in range(lines)]
        of = f"a line is appended to {size / 1e6:,.0f} MB: on the screen"
        yield Figure(of, statistics.median(took))
        yield Figure(f"{of}, p95", high(took), target=150, measure="ms")


@contextmanager
def beginning(entries: int) -> Iterator[Path]:
    """Make a throw-away copy of the first entries of the big session."""
    from performance.sessions import made_sessions

    big = dict(made_sessions())["big"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "session.jsonl")
        with big.open("rb") as whole, path.open("wb") as cut:
            cut.writelines(islice(whole, 1 + entries))
        yield path


def middle(times: "Times", name: str) -> float | None:
    """Return the median of what was measured, or None where it was not."""
    values = times.by_name.get(name)
    return statistics.median(values) if values else None


def high(values: list[float]) -> float | None:
    """Return the 95th percentile, or None of nothing."""
    from performance.benchmark import p95

    return p95(values) if values else None


if __name__ == "__main__":
    main()
