"""How soon an appended line is on the screen, and what following for long costs.

    python tests/performance/live.py [--lines N] [--soak MINUTES] [--soak-lines N]

pitree runs in a pseudo-terminal of 120x40 on a copy of a session of 1 MB and of 232 MB, its tree open and
the highlight on the leaf. Each figure is from before the write of a line until the last byte of the first
whole frame that shows its text; lines come at random moments, alone. Then a burst: 1,000 lines in one second,
with keys pressed meanwhile. `--soak` appends for minutes and prints memory and processor time as it goes, and
what a minute costs in which nothing happens. Nothing fails because it is slow.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

ROOT = Path(__file__).parents[2]

if TYPE_CHECKING:
    from performance.screen import Screen

MOMENT: Final = "2026-03-01T10:00:00.000Z"
_SMALL_BYTES: Final = 1_000_000
_BURST_LINES: Final = 1000
_BURST_SECONDS: Final = 1.0
_BURST_PIECES: Final = 50


class Writer:
    """Appends messages to a session, each below the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            file.seek(-min(path.stat().st_size, 1 << 20), os.SEEK_END)
            self._parent = json.loads(file.read().splitlines()[-1])["id"]
        self._number = 0

    def append(self, count: int = 1) -> str:
        """Append so many lines in one write; returns the text of the last one."""
        made = []
        for _ in range(count):
            self._number += 1
            entry = {"type": "message", "id": f"live{self._number:06}", "parentId": self._parent}
            message = {"role": "user", "content": f"mark{self._number:06}."}
            made.append(json.dumps({**entry, "timestamp": MOMENT, "message": message}) + "\n")
            self._parent = entry["id"]
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, "".join(made).encode())
        finally:
            os.close(fd)
        return f"mark{self._number:06}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what came of it."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    from performance.benchmark import machine, say
    from performance.sessions import made_sessions

    parser = argparse.ArgumentParser(description="Measure following a session.")
    parser.add_argument("--lines", type=int, default=100, help="lines appended alone (default: 100)")
    parser.add_argument(
        "--soak", type=float, default=0.0, metavar="MINUTES", help="follow for so long besides"
    )
    parser.add_argument("--soak-lines", type=int, default=50_000, help="lines appended meanwhile")
    args = parser.parse_args(arguments)
    machine()
    big = dict(made_sessions())["big"]
    for size in (_SMALL_BYTES, big.stat().st_size):
        with opened(big, size) as (screen, writer):
            took = [alone(screen, writer) for _ in range(args.lines)]
            say(f"{size / 1e6:.0f} MB, a line until it is shown: {spread(took)}")
            say(f"{size / 1e6:.0f} MB, burst: {burst(screen, writer)}")
    if args.soak:
        with opened(big, _SMALL_BYTES) as (screen, writer):
            for line in soak(screen, writer, args.soak * 60, args.soak_lines):
                say(line)
    machine()


def spread(milliseconds: list[float]) -> str:
    """Return median, 95th percentile and maximum in words."""
    p95 = statistics.quantiles(milliseconds, n=20)[-1]
    return (
        f"median {statistics.median(milliseconds):.0f}, p95 {p95:.0f}, max {max(milliseconds):.0f} ms"
        f" ({len(milliseconds)} times)"
    )


@contextmanager
def opened(source: Path, size: int) -> "Iterator[tuple[Screen, Writer]]":
    """Open a copy of the first `size` bytes of a session, with the highlight on its leaf."""
    from performance.programs import PITREE, clean_environ
    from performance.screen import Screen

    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        path = scratch / "session.jsonl"
        if size >= source.stat().st_size:
            shutil.copyfile(source, path)
        else:
            with source.open("rb") as whole:
                path.write_bytes(whole.read(size).rpartition(b"\n")[0] + b"\n")
        with Screen([*PITREE, str(path)], cwd=scratch, environ=clean_environ(scratch)) as screen:
            screen.wait(r"\b\d+/\d+  default", screen.started)
            screen.settle(0.6)
            yield screen, Writer(path)


def alone(screen: "Screen", writer: Writer) -> float:
    """Append one line at a random moment; returns the milliseconds until it is on the screen."""
    screen.rest(random.uniform(0.3, 0.7))
    began = screen.mark()
    return screen.wait(writer.append(), began)[0]


def burst(screen: "Screen", writer: Writer) -> str:
    """Append many lines within a second and press keys; returns in words what came of it."""
    screen.settle(0.5)
    keys = []
    began = time.perf_counter()
    last = ""
    for piece in range(_BURST_PIECES):
        last = writer.append(_BURST_LINES // _BURST_PIECES)
        sent = screen.send("up" if piece % 2 else "down")
        keys.append(screen.frame(sent))
        screen.rest(max(0.0, began + (piece + 1) * _BURST_SECONDS / _BURST_PIECES - time.perf_counter()))
    written = screen.mark()
    sent = screen.send("end")
    shown = screen.wait(rf"{last}|\d+/\d+  default", written)[0]
    screen.settle(0.5)
    return f"keys meanwhile {spread(keys)}; after its last line {shown:.0f} ms until a key told the new end"


def soak(screen: "Screen", writer: Writer, seconds: float, lines: int) -> Iterator[str]:
    """Append lines for so long; yields a line of figures every tenth of it, and of a quiet minute."""
    from performance.screen import Cost

    cost, began, written = Cost.of(screen.pid), time.perf_counter(), 0
    yield f"soak: {lines} lines in {seconds / 60:.0f} min; at first {cost.megabytes:.0f} MB"
    for tenth in range(1, 11):
        while (now := time.perf_counter() - began) < seconds * tenth / 10:
            due = int(lines * min(1.0, now / seconds)) - written
            if due:
                writer.append(due)
                written += due
            screen.rest(0.1)
            screen.forget()
        before, cost = cost, Cost.of(screen.pid)
        share = (cost.seconds - before.seconds) / (seconds / 10)
        yield f"  {written} lines: {cost.megabytes:.0f} MB, {share:.1%} of a core"
    screen.settle(0.6)
    before = Cost.of(screen.pid)
    screen.rest(60)
    cost = Cost.of(screen.pid)
    yield f"  a quiet minute: {cost.megabytes:.0f} MB, {(cost.seconds - before.seconds) / 60:.2%} of a core"


if __name__ == "__main__":
    main()
