"""Where the time goes: a profile of what a person waits for, as text, one file each.

py-spy looks at the process from outside, at all of its threads and at its helpers, from the very first import
on (`pip install -e '.[profile]'`). What it attaches to while it runs (the letters) may need more rights than
what it starts: where it is not allowed to, it says so.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from .benchmark import say
from .inside import rows_by_filter
from .lists import POSITION, environ_for
from .lists import WORDS as STORE_WORDS
from .parts import LENGTHS, beginning
from .programs import PITREE, WORDS, Pitree, Times, clean_environ
from .screen import NotSeenError, Screen
from .sessions import made_store

_RATE: Final = 200
_SHOWN_SHARE: Final = 0.02
_SHOWN_FUNCTIONS: Final = 30
_LINE_NUMBER: Final = re.compile(r":\d+\)$")
_ROUNDS: Final = 3
_QUIET_SECONDS: Final = 0.15
_PATIENCE_SECONDS: Final = 120.0


def profile(folder: Path, *, short: bool) -> None:
    """Write the profiles into a folder, which is made where it is not there yet."""
    spy = Path(sys.executable).with_name("py-spy")
    found = str(spy) if spy.exists() else shutil.which("py-spy")
    if found is None:
        say("py-spy is not installed: python -m pip install -e '.[profile]'")
        return
    folder.mkdir(parents=True, exist_ok=True)
    store = made_store(300 if short else 2000, 80)
    with beginning(LENGTHS[1 if short else 2]) as session:
        for name, record in (
            ("list-unknown", lambda raw: _list(found, store, raw, known=False)),
            ("start", lambda raw: _list(found, store, raw, known=True)),
            ("open", lambda raw: _open(found, session, raw)),
            ("letter-in-tree", lambda raw: _letters_in_tree(found, session, raw)),
            ("letter-in-store", lambda raw: _letters_in_store(found, store, raw)),
        ):
            _one(name, folder / f"{name}.txt", record)


def _one(name: str, file: Path, record: Callable[[Path], str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch, "raw")
        try:
            what = record(raw)
            samples = read_stacks(raw.read_text(encoding="utf-8").splitlines())
        except (OSError, NotSeenError) as error:
            say(f"{name} was not profiled: {' '.join(str(error).split())[:400]}")
            return
    file.write_text("\n".join(report(what, samples)) + "\n", encoding="utf-8")
    say(f"{what}: {file}")


# ---- what is done meanwhile


def _started(spy: str, raw: Path, command: Sequence[str]) -> list[str]:
    """Return the command that starts another one and looks at it and at its helpers."""
    options = ("--rate", str(_RATE), "--threads", "--subprocesses", "--format", "raw", "--output", str(raw))
    return [spy, "record", *options, "--", *command]


def _list(spy: str, store: Path, raw: Path, *, known: bool) -> str:
    with tempfile.TemporaryDirectory() as name:
        scratch, command = Path(name), [*PITREE, "--all"]
        environ = environ_for(store, scratch)
        count = sum(1 for _ in store.glob("sessions/*/*.jsonl"))
        if known:
            with Screen(command, cwd=scratch, environ=environ) as screen:
                screen.wait(rf"{POSITION}{count}\b", screen.started)
                screen.settle(0.5)
        with Screen(_started(spy, raw, command), cwd=scratch, environ=environ) as screen:
            screen.wait(rf"{POSITION}{count}\b", screen.started, patience=_PATIENCE_SECONDS)
            screen.send("ctrl+q")
            screen.finish()
    return (
        f"the list of {count:,} sessions, {'known' if known else 'never seen'}, from the start to all of it"
    )


def _open(spy: str, session: Path, raw: Path) -> str:
    total = rows_by_filter(session)["default"]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        command = _started(spy, raw, [*PITREE, str(session)])
        with Screen(command, cwd=scratch, environ=clean_environ(scratch)) as screen:
            screen.wait(Pitree().position(total), screen.started, patience=_PATIENCE_SECONDS)
            screen.send("ctrl+q")
            screen.finish()
    return f"a session of {total:,} rows, from the start to its tree"


def _letters_in_tree(spy: str, session: Path, raw: Path) -> str:
    total = rows_by_filter(session)["default"]
    program = Pitree()
    with program.opened(session, total, Times()) as screen, _Attached(spy, screen.pid, raw):
        for word in WORDS * _ROUNDS:
            for end in range(1, len(word) + 1):
                screen.wait(program.found(word[:end]), screen.send(word[end - 1]))
            screen.wait(program.position(total), screen.send("escape"))
            screen.settle(_QUIET_SECONDS)  # a letter right behind Escape is one with Alt
    return f"letters of a search in {total:,} rows"


def _letters_in_store(spy: str, store: Path, raw: Path) -> str:
    count = sum(1 for _ in store.glob("sessions/*/*.jsonl"))
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        environ = environ_for(store, scratch)
        with Screen([*PITREE, "--all"], cwd=scratch, environ=environ) as screen:
            screen.wait(rf"{POSITION}{count}\b", screen.started)
            screen.settle(1.0)
            with _Attached(spy, screen.pid, raw):
                for word in STORE_WORDS * _ROUNDS:
                    for end in range(1, len(word) + 1):
                        screen.wait(rf"search: {word[:end]}(?![a-z])", screen.send(word[end - 1]))
                    screen.wait(rf"{POSITION}{count}\b", screen.send("escape"))
                    screen.settle(_QUIET_SECONDS)
    return f"letters of a search in {count:,} sessions"


class _Attached:
    """py-spy looking at a process that runs, for as long as this is open."""

    def __init__(self, spy: str, pid: int, raw: Path) -> None:
        # not blocking: to be stopped 200 times a second is no way to answer keys
        options = ("--rate", str(_RATE), "--threads", "--nonblocking", "--format", "raw")
        command = [
            spy,
            "record",
            *options,
            "--output",
            str(raw),
            "--duration",
            "unlimited",
            "--pid",
            str(pid),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self) -> None:
        out = self._process.stdout
        said = []
        for line in out or ():
            said.append(line)
            if "Sampling" in line:
                return
        self._process.wait()
        raise OSError(" ".join(said))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()
        if isinstance(error, NotSeenError):  # what was seen until then counts
            say(f"profiled only until an answer did not come: {' '.join(str(error).split())[:100]}")
            return True
        return False


# ---- what is told of it

Stacks = list[tuple[tuple[str, ...], int]]
"""Who called whom, from the outermost on, and in how many samples."""


def read_stacks(lines: Iterable[str]) -> Stacks:
    """Return the stacks of py-spy's raw format: frames apart by `;`, then a blank and a count."""
    stacks: Stacks = []
    for line in lines:
        frames, _, count = line.rpartition(" ")
        stacks.append((tuple(_function(frame) for frame in frames.split(";")), int(count)))
    return stacks


def _function(frame: str) -> str:
    """Return a frame without its line number: a function is one thing, whichever of its lines it was at."""
    return _LINE_NUMBER.sub(")", frame)


def report(what: str, stacks: Stacks) -> Iterator[str]:
    """Yield the lines of a report: the functions that took most, then who called whom."""
    total = sum(count for _, count in stacks) or 1
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    below: Counter[tuple[str, ...]] = Counter()
    for frames, count in stacks:
        own[frames[-1]] += count
        for frame in set(frames):
            whole[frame] += count
        for depth in range(1, len(frames) + 1):
            below[frames[:depth]] += count
    yield f"{what}: {total:,} samples, {_RATE} a second, of every thread that was at work"
    for title, counted in (("by itself", own), ("with what it called", whole)):
        yield f"\n{title}:"
        for function, count in counted.most_common(_SHOWN_FUNCTIONS):
            yield f"{count / total:6.1%}  {function}"
    yield f"\nwho called whom, from {_SHOWN_SHARE:.0%} on, without those that only pass on:"
    ends = {frames for frames, _ in stacks}
    shown: list[tuple[str, ...]] = []
    for frames in sorted(below):
        count = below[frames]
        if count < total * _SHOWN_SHARE:
            continue
        inner = [below[other] for other in _children(frames, below)]
        if len(frames) > 1 and inner and max(inner) > 0.95 * count and frames not in ends:
            continue
        while shown and frames[: len(shown[-1])] != shown[-1]:
            shown.pop()
        yield f"{count / total:6.1%}  {'  ' * len(shown)}{frames[-1]}"
        shown.append(frames)


def _children(frames: tuple[str, ...], below: Counter[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    size = len(frames)
    return (other for other in below if len(other) == size + 1 and other[:size] == frames)
