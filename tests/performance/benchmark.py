"""How fast pitree is, measured beside the real Pi: same machine, same file, same run, in turns.

    python tests/performance/benchmark.py [--runs N] [--only screens|functions] [--without-pi] [--shapes]

It needs pitree's development installation and, for Pi's figures, what the tests in `tests/agent` need (npm;
without it those columns are left out, and the reason is said). The first run makes 280 MB of sessions in
`~/.cache/pitree-tests` (`$PITREE_BENCHMARK_DIR`). Nothing fails because it is slow; run it on a machine that
does nothing else, and read the load that it prints.

Both programs run in a pseudo-terminal of 120x40 that answers what terminals are asked. A time ends with the
last byte of the first whole frame that shows the answer:

start: the leaf's rows   from starting the process until rows around the leaf are there
start: the prompt        until Pi has something to type into
start: the whole tree    until the position says all rows: `812/78669`. For Pi `/tree` and Enter are sent as
                         soon as it takes them: when it has said that there are no models
a key                    Down, PageDown, End, Home (Pi: Down, PageDown), each alone on a screen at rest, until
                         the first whole frame: the highlight is where it belongs
  with its position      until the position says so, too (Pi draws both in one frame)
a held key               Up, 30 a second, until the position says so
p95                      the 95th percentile of all such keys of all runs
filter                   Ctrl+U, T, A, D until the position says how many rows that filter shows
search                   the letters of a few words, one at a time, until the rows found are there. The very
                         first one waits for pitree to read the texts; later ones are those people type
memory                   the most the process has held (VmHWM), and again after all of the above
read                     bytes of files, pipes and keys that it and its helpers have read, in MB
bare                     a Textual program that shows one word: what cannot be helped

The functions are measured in this process: medians in milliseconds, for the big session and for three shapes
that punish what is not linear (a chain of 100,000, a fan of 100,000, 10,000 forks in each other).
"""

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from performance.programs import Program, Times


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print tables in Markdown."""
    # so that it can be run as a file and with -m alike
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from performance.inside import figures
    from performance.sessions import made_sessions

    parser = argparse.ArgumentParser(description="Measure pitree beside the real Pi.")
    parser.add_argument("--runs", type=int, default=5, help="how often each thing is measured (default: 5)")
    parser.add_argument("--only", choices=("screens", "functions"), help="only one of the two tables")
    parser.add_argument("--without-pi", action="store_true", help="measure pitree alone")
    parser.add_argument("--shapes", action="store_true", help="the screen on chain, fan and forks, too")
    args = parser.parse_args(arguments)
    sessions = dict(made_sessions())
    machine()
    if args.only != "functions":
        screens(sessions["big"], args.runs, with_pi=not args.without_pi)
    if args.shapes:
        for name in ("chain", "fan", "forks"):
            say(f"\nThe screen, {name}:")
            screens(sessions[name], args.runs, with_pi=False)
    if args.only != "screens":
        functions({name: figures(path, args.runs) for name, path in sessions.items()})
    machine()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def machine() -> None:
    """Say where this runs, and how busy it is."""
    load = ", ".join(f"{figure:.1f}" for figure in os.getloadavg())
    say(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load}")


def screens(file: Path, runs: int, *, with_pi: bool) -> None:
    """Measure what a person sees, the programs in turns, and print it."""
    from agent.install import AgentUnavailable, ensure_agent

    from performance.inside import rows_by_filter
    from performance.programs import Pi, Pitree, Program, Times, start_bare

    programs: list[Program] = [Pitree()]
    if with_pi:
        try:
            programs.append(Pi(ensure_agent()))
        except AgentUnavailable as unavailable:
            say(f"Pi is not measured: {unavailable.reason}")
    bare = Times()
    measured = {program.name: Times() for program in programs}
    totals = rows_by_filter(file)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copyfile(file, Path(scratch) / "session.jsonl"))  # Pi may append to it
        size = copy.stat().st_size
        for run in range(-1, runs):
            for program in programs:
                # the first time of each only warms the caches of the system, of Python and of Node
                warm_up = run < 0
                start_bare(Times() if warm_up else bare)
                one(program, copy, totals, Times() if warm_up else measured[program.name])
                os.truncate(copy, size)
    table(bare, measured)


def one(
    program: "Program", file: Path, totals: dict[str, int], times: "Times", *, short: bool = False
) -> None:
    """Measure one program once; what does not come up within its patience is said and left out."""
    from performance.screen import NotSeenError

    try:
        program.measure(file, totals, times, short=short)
    except NotSeenError as error:
        say(f"{program.name} gave up once: {' '.join(str(error).split())[:300]}")


def table(bare: "Times", measured: dict[str, "Times"]) -> None:
    """Print the figures of the screens beside each other, and their ratio."""
    from performance.figures import p95

    start = statistics.median(bare.by_name["start"])
    names = list(measured)
    say("\n| on the screen | " + " | ".join([*names, "ratio"]) + " |")
    say("|---|" + "---:|" * (len(names) + 1))
    say(f"| a bare Textual program, started | {start:.0f} ms |" + " |" * len(names))
    for row in dict.fromkeys(row for times in measured.values() for row in times.by_name):
        for label, figure in (("", statistics.median), (", p95", p95)):
            if label and not row.startswith(("a key", "a held", "search: a letter", "a letter")):
                continue
            values = [times.by_name.get(row) for times in measured.values()]
            figures = [figure(value) if value else None for value in values]
            unit = "MB" if row.startswith(("memory", "read")) else "ms"
            shown = ["" if one is None else f"{one:.{0 if one >= 100 else 1}f} {unit}" for one in figures]
            ratio = f"{figures[0] / figures[1]:.2f}" if len(figures) > 1 and figures[0] and figures[1] else ""
            if row.startswith(("start", "known", "unknown")) and figures[0]:
                ratio += f" ({figures[0] / start:.1f} x bare)"
            say(f"| {row}{label} | " + " | ".join([*shown, ratio]) + " |")


def functions(by_shape: dict[str, dict[str, list[float]]]) -> None:
    """Print what the functions took."""
    say("\n| in this process, ms | " + " | ".join(by_shape) + " |")
    say("|---|" + "---:|" * len(by_shape))
    for row in by_shape["big"]:
        medians = (statistics.median(figures[row]) for figures in by_shape.values())
        say(f"| {row} | " + " | ".join(f"{median:.1f}" for median in medians) + " |")


if __name__ == "__main__":
    main()
