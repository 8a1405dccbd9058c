"""How fast the list of sessions is, beside the real Pi: same machine, same store, same run, in turns.

    python tests/performance/lists.py [--runs N] [--sessions N] [--messages N] [--store DIR] [...]

Needs what `benchmark.py` needs. Without `--store` one is made in the benchmarks' cache folder: 2,000 sessions
of 80 messages; `--sessions 20000 --messages 70` takes several gigabytes. It is only read.

known: rows, all         from starting the process until rows are on the screen, and until the position says
                         all of them: the store was read before
unknown: rows, all       the same where nothing is known of it. For Pi: `pi -r`, and Tab for all folders
list                     `pitree list --all`, nothing known, and again; for Pi what its `listAll` takes in a
                         process that is up already
a letter                 the letters of a few words, one at a time, until what was found is on the screen
memory                   the most the process has held (VmHWM)
read                     bytes that it and its helpers have read until all was there, in MB
bare                     a Textual program that shows one word: what cannot be helped
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.install import AgentPaths

    from performance.programs import Times

ROOT: Final = Path(__file__).parents[2]
WORDS: Final = ("err", "merge", "when", "snapshot", "zebra", "retry queue")

_PIS_PATIENCE_SECONDS: Final = 180.0
_QUIET_SECONDS: Final = 0.1

# The status line's, not what the title says of the reading.
POSITION: Final = r"(?<!reading )(?<!\d)\d+/"

_LIST_ALL: Final = """
const { SessionManager } = await import(process.argv[1]);
const start = performance.now();
const found = await SessionManager.listAll();
console.log(JSON.stringify([found.length, performance.now() - start]));
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    # so that it can be run as a file and with -m alike
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from performance.benchmark import machine, say, table
    from performance.sessions import made_store

    parser = argparse.ArgumentParser(description="Measure the list of sessions beside the real Pi.")
    parser.add_argument("--runs", type=int, default=3, help="how often each thing is measured (default: 3)")
    parser.add_argument("--sessions", type=int, default=2000, help="how many to make (default: 2000)")
    parser.add_argument(
        "--messages", type=int, default=80, help="how long they are, the median (default: 80)"
    )
    parser.add_argument("--store", type=Path, help="an agent directory to measure on instead")
    parser.add_argument("--without-pi", action="store_true", help="measure pitree alone")
    args = parser.parse_args(arguments)
    store = args.store or made_store(args.sessions, args.messages)
    count = sum(1 for _ in store.glob("sessions/*/*.jsonl"))
    machine()
    say(f"{count} sessions in {store}")
    bare, pitree, pi = measured_in_turns(store, args.runs, with_pi=not args.without_pi)
    table(bare, {"pitree": pitree} | ({"Pi": pi} if pi.by_name else {}))
    letters = sorted(pitree.by_name["a letter"])
    middle, slowest = statistics.median(letters), letters[-1]
    say(f"a letter: median {middle:.0f} ms, slowest {slowest:.0f} ms, {len(letters)} letters")
    machine()


def measured_in_turns(store: Path, runs: int, *, with_pi: bool) -> "tuple[Times, Times, Times]":
    """Return the figures of the bare program, of pitree and of Pi (none where it is not to be had)."""
    from agent.install import AgentUnavailable, ensure_agent

    from performance.benchmark import say
    from performance.programs import Times, start_bare
    from performance.screen import NotSeenError

    count = sum(1 for _ in store.glob("sessions/*/*.jsonl"))
    agent = None
    if with_pi:
        try:
            agent = ensure_agent()
        except AgentUnavailable as unavailable:
            say(f"Pi is not measured: {unavailable.reason}")
    bare, pitree, pi = Times(), Times(), Times()
    for run in range(-1, runs):
        # the first time of each only warms the caches of the system, of Python and of Node
        warming = run < 0
        start_bare(Times() if warming else bare)
        try:
            measure_pitree(store, count, Times() if warming else pitree)
        except NotSeenError as error:
            say(f"pitree gave up once: {' '.join(str(error).split())[:300]}")
        if agent is not None:
            measure_pi(agent, store, count, Times() if warming else pi)
    return bare, pitree, pi


def environ_for(store: Path, scratch: Path) -> dict[str, str]:
    """Return an environment with that store, and a home without anything."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PI_", "PITREE_", "XDG_"))
    }
    settings = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
    return {
        **kept,
        **settings,
        "HOME": str(scratch),
        "PI_CODING_AGENT_DIR": str(store),
        "PYTHONPATH": str(ROOT),
    }


def measure_pitree(store: Path, count: int, times: "Times") -> None:
    """Measure pitree with an empty cache, then with what that left."""
    from performance.programs import PITREE, note_costs
    from performance.screen import Screen

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        environ = environ_for(store, scratch)
        command = [*PITREE, "--all"]
        for state in ("unknown", "known"):
            with Screen(command, cwd=scratch, environ=environ) as screen:
                times.add(f"{state}: rows", screen.wait(rf"{POSITION}[1-9]\d*\b", screen.started)[0])
                times.add(f"{state}: all", screen.wait(rf"{POSITION}{count}\b", screen.started)[0])
                note_costs(screen, times, f", {state}")
                screen.rest(1.5)
                if state == "known":
                    for word in WORDS:
                        for end in range(1, len(word) + 1):
                            sent = screen.send(word[end - 1])
                            found = rf"search: {word[:end]}(?![a-z])"
                            times.add("a letter", screen.wait(found, sent)[0])
                            screen.rest(0.12)  # fast typing
                        sent = screen.send("escape")
                        screen.wait(rf"{POSITION}{count}\b", sent)
                        screen.rest(0.3)
                    note_costs(screen, times, ", at the end")
    with tempfile.TemporaryDirectory() as name:
        for state in ("unknown", "known"):
            began = time.perf_counter()
            subprocess.run(
                [*PITREE, "list", "--all"],
                cwd=name,
                env=environ_for(store, Path(name)),
                stdout=subprocess.DEVNULL,
                check=True,
            )
            times.add(f"list, {state}", (time.perf_counter() - began) * 1e3)


def measure_pi(agent: "AgentPaths", store: Path, count: int, times: "Times") -> None:
    """Measure Pi's own list, on the screen and as a function."""
    from performance.programs import note_costs
    from performance.screen import NotSeenError, Screen

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        environ = environ_for(store, scratch) | {"PATH": agent.path_variable}
        try:
            with Screen([str(agent.pi), "-r"], cwd=scratch, environ=environ) as screen:
                screen.wait("Resume Session", screen.started)
                screen.send("\t")
                all_there = screen.wait(rf"\(\d+/{count}\)", screen.started, patience=_PIS_PATIENCE_SECONDS)[
                    0
                ]
                times.add("unknown: all", all_there)
                times.add("known: all", all_there)  # it knows nothing
                note_costs(screen, times, ", unknown")
                for word in WORDS:
                    for letter in word:
                        screen.settle(_QUIET_SECONDS)
                        times.add("a letter", screen.frame(screen.send(letter)))
                    for _ in word:
                        screen.settle(_QUIET_SECONDS)
                        screen.frame(screen.send("\x7f"))
                note_costs(screen, times, ", at the end")
        except NotSeenError as error:
            from performance.benchmark import say

            say(f"Pi's list did not come: {' '.join(str(error).split())[:300]}")
        package = agent.root / "node_modules" / "@earendil-works" / "pi-coding-agent"
        module = package / "dist" / "core" / "session-manager.js"
        done = subprocess.run(
            [str(agent.node), "--input-type=module", "-e", _LIST_ALL, module.as_uri()],
            env=environ,
            capture_output=True,
            check=True,
        )
        times.add("list, unknown", json.loads(done.stdout)[1])


if __name__ == "__main__":
    main()
