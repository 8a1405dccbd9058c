"""Everything that a person waits for, beside the real Pi, in one run and one table.

    python -m tests.performance [--short] [--runs N] [--only PART]... [--json FILE] [--without-pi]
    python -m tests.performance --profile FOLDER
    python -m tests.performance compare BEFORE.json AFTER.json
    python -m tests.performance readme FILE.json [--into README.md]

Same machine, same files, the programs in turns, the first turn only to warm up; medians and 95th percentiles.
*Bare* is a Textual program that shows one word. What the figures are of is told in `benchmark.py` (a session
on the screen), `lists.py` (a store) and `live.py` (a growing session), which also print more of them, each
alone; `previews.py` measures the preview. `--short` takes about two minutes: one run on smaller things. It
says less about the targets, and enough about what a change did. With `--json` each part is written as soon as
it is there, beside the parts that the file holds already, so that a run can be done in pieces. `compare` puts
two such files beside each other, `readme` makes the table of the README. Nothing fails because it is slow.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.install import AgentPaths

    from performance.figures import Run
    from performance.parts import How

ROOT: Final = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table in Markdown."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from performance.figures import NoFiguresError

    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["compare"]:
            compare(given[1:])
        elif given[:1] == ["readme"]:
            readme(given[1:])
        else:
            measure(given)
    except NoFiguresError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def measure(arguments: Sequence[str]) -> None:
    """Do a run, or a part of one."""
    from performance.figures import HEAD, load, save
    from performance.parts import PARTS, How

    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="one run, on smaller things: about two minutes")
    parser.add_argument("--runs", type=int, help="how often each thing is measured (default: 3, in short 1)")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there, part by part")
    parser.add_argument("--without-pi", action="store_true", help="measure pitree alone")
    parser.add_argument("--profile", type=Path, metavar="FOLDER", help="write profiles there instead")
    args = parser.parse_args(arguments)
    if args.profile is not None:
        from performance.profiles import profile

        profile(args.profile, short=args.short)
        return
    # `large` in short would say what `store` says
    names = args.only or [name for name in PARTS if not (args.short and name == "large")]
    kept: dict[str, Run] = {}
    if args.json is not None and args.json.exists():
        kept = load(args.json)
    agent = None if args.without_pi else _agent()
    how = How(max(1, args.runs or (1 if args.short else 3)), args.short, agent)
    for name in names:
        kept[name] = _part(name, how, head=HEAD)
        if args.json is not None:
            save(args.json, kept)


def _agent() -> "AgentPaths | None":
    from agent.install import AgentUnavailable, ensure_agent

    from performance.benchmark import say

    try:
        return ensure_agent()
    except AgentUnavailable as unavailable:
        say(f"Pi is not measured: {unavailable.reason}")
        return None


def _part(name: str, how: "How", *, head: str) -> "Run":
    from performance import machine
    from performance.benchmark import say
    from performance.parts import PARTS

    run: Run = {
        "commit": machine.commit(),
        "began": machine.now(),
        "machine": machine.facts(how.agent),
        "runs": how.runs,
        "short": how.short,
        "load before": machine.load(),
        "figures": [],
    }
    say(f"\n{name}, {'short' if how.short else f'{how.runs} runs'}, at {run['commit']}: {_told(run)}")
    say(f"\n{head}")
    for figure in PARTS[name](how):
        run["figures"].append(figure)
        say(figure.row())
    run["load after"] = machine.load()
    missed = sum(figure.met == "not met" for figure in run["figures"])
    say(f"\nload afterwards {_loads(run['load after'])}; targets not met: {missed}")
    return run


def _told(run: "Run") -> str:
    facts = ", ".join(f"{name} {value}" for name, value in run["machine"].items())
    return f"{facts}, load before {_loads(run['load before'])}"


def _loads(figures: Sequence[float]) -> str:
    return "/".join(f"{figure:.1f}" for figure in figures)


def compare(arguments: Sequence[str]) -> None:
    """Print the figures of two files beside each other."""
    from performance.benchmark import say
    from performance.figures import COMPARED_HEAD, compared, load

    parser = argparse.ArgumentParser(
        prog="python -m tests.performance compare",
        description="Put two files of figures beside each other: medians and 95th percentiles, the change of"
        " the medians, what Pi and a bare program changed by meanwhile (the machine), and whether the ranges"
        " overlap (noise) or not (less, more).",
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    args = parser.parse_args(arguments)
    files = [load(args.before), load(args.after)]
    for parts in files:
        for name, run in parts.items():
            say(f"{name} at {run['commit']}, {run['began']}: {_told(run)}")
        say("")
    commits = ["/".join(dict.fromkeys(run["commit"] for run in parts.values())) for parts in files]
    say(COMPARED_HEAD.format(*commits))
    for row in compared(*files):
        say(row)


def readme(arguments: Sequence[str]) -> None:
    """Print the table of the README, or put it there."""
    from performance.benchmark import say
    from performance.figures import NoFiguresError, load

    parser = argparse.ArgumentParser(
        prog="python -m tests.performance readme",
        description="Print the README's table from a file of figures: what has a target, and how it grows.",
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--into", type=Path, metavar="README", help="put it between the marks in there")
    args = parser.parse_args(arguments)
    table = "\n".join(_short_table(load(args.file)))
    if args.into is None:
        say(table)
        return
    before, begin, rest = args.into.read_text(encoding="utf-8").partition("<!-- figures -->\n")
    _, end, after = rest.partition("\n<!-- /figures -->")
    if not end:
        raise NoFiguresError(f"{args.into} has no <!-- figures --> and <!-- /figures --> to put them between")
    args.into.write_text(f"{before}{begin}{table}{end}{after}", encoding="utf-8")


def _short_table(parts: "dict[str, Run]") -> Iterator[str]:
    from performance.figures import HEAD

    runs = {
        f"{name}: {'short' if run['short'] else run['runs']}, load {_loads(run['load before'][:1])} before"
        f" and {_loads(run['load after'][:1])} after"
        for name, run in parts.items()
    }
    facts = dict.fromkeys(
        f"{', '.join(f'{name} {value}' for name, value in run['machine'].items())}, at {run['commit']}"
        for run in parts.values()
    )
    yield f"{'; '.join(facts)}. Runs, {'; '.join(sorted(runs))}."
    yield ""
    yield HEAD
    seen: set[str] = set()
    for run in parts.values():
        for figure in run["figures"]:
            if (figure.target is not None or figure.headline) and figure.what not in seen:
                seen.add(figure.what)
                yield figure.row()


if __name__ == "__main__":
    sys.exit(main())
