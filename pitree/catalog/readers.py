"""Processes that read many sessions into the cache, while this one has the screen to draw.

Reading holds the interpreter, so in one process it would delay the keys, and it would use one processor. A
reader takes shares of files on its standard input, a line of JSON each, and answers with the keys of what it
has put into the cache. Where there are no readers, or one ends too early, the files are read here.
"""

import gc
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from pitree.catalog.cache import Cache, Kept
from pitree.catalog.errors import CacheLostError
from pitree.catalog.locations import FoundFile, Problem
from pitree.catalog.scan import Stop, read_session
from pitree.catalog.starting import end_reader, start_reader
from pitree.sessions.machine import processors

WORTH_IT_BYTES: Final = 48 << 20
"""Less is read here before a reader is up."""

_WORTH_ASKING_BYTES: Final = 8 << 20
"""The same where one is up already."""

_MOST_READERS: Final = 4
_SHARE_BYTES: Final = 4 << 20
_SHARE_FILES: Final = 40
_FIRST_FILES: Final = 12
_LOOK_SECONDS: Final = 0.05


class Wanted(NamedTuple):
    """A file to be read: `folder` and `name` are its real path, by which the cache knows it."""

    folder: str
    name: str
    found: FoundFile


class Answer(NamedTuple):
    """What became of a share of files: the keys of the rows, and what could not be read."""

    keys: list[int]
    problems: list[Problem]
    files: int


def how_many(files: Iterable[Wanted], *, started: bool = False) -> int:
    """Return how many readers these files are worth, 0 for none; `started` says that there is one."""
    enough = _WORTH_ASKING_BYTES if started else WORTH_IT_BYTES
    if os.name != "posix" or sum(wanted.found.size for wanted in files) < enough:
        return 0
    spare = processors()
    return min(_MOST_READERS, spare) if spare > 1 else 0


def read_elsewhere(
    cache_file: Path,
    files: Sequence[Wanted],
    count: int,
    *,
    meanwhile: Callable[[Wanted], None],
    on_answer: Callable[[Answer], None],
    stop: Stop,
    started: "subprocess.Popen[bytes] | None" = None,
) -> list[Wanted]:
    """Have `count` readers read files in their order, and return those that none has read.

    Until the first of them answers, files are given to `meanwhile`, one by one, but for large ones: these
    would hold up this process. Both functions are called in this thread. `started` is a reader that was
    started before: it answers soon enough.
    """
    work = _Work(files)
    readers = [] if started is None else [_Reader(started, work)]
    while len(readers) < count and (process := start_reader(cache_file)) is not None:
        readers.append(_Reader(process, work))
    try:
        running = len(readers)
        helps = started is None
        while running and not stop():
            try:
                answer = work.answers.get(timeout=0.0 if helps else _LOOK_SECONDS)
            except queue.Empty:
                if helps and (mine := work.take_small()):
                    meanwhile(mine)
                else:
                    helps = False
                continue
            if answer is None:
                running -= 1
            else:
                helps = False
                on_answer(answer)
    finally:
        for reader in readers:
            reader.end()
    return work.left()


class _Work:
    """The files that are still to be read, for several threads."""

    def __init__(self, files: Iterable[Wanted]) -> None:
        self._lock = threading.Lock()
        self._files = deque(files)
        self._shares = 0
        self.answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        """What the readers answered; None from each at its end."""

    def take_small(self) -> Wanted | None:
        """Return the next file, unless it is a large one or there are no more."""
        with self._lock:
            if self._files and self._files[0].found.size <= _SHARE_BYTES:
                return self._files.popleft()
        return None

    def take(self) -> list[Wanted]:
        """Return the next share of files; nothing when there are no more."""
        share: list[Wanted] = []
        size = 0
        with self._lock:
            most = _SHARE_FILES if self._shares else _FIRST_FILES  # what the first picture shows comes soon
            self._shares += 1
            while self._files and len(share) < most:
                size += self._files[0].found.size
                if share and size > _SHARE_BYTES:
                    break
                share.append(self._files.popleft())
        return share

    def give_back(self, share: list[Wanted]) -> None:
        """Take back what could not be read."""
        with self._lock:
            self._files.extendleft(reversed(share))

    def left(self) -> list[Wanted]:
        """Return what nobody has taken."""
        with self._lock:
            return list(self._files)


class _Reader:
    """One process, and the thread that keeps it at work."""

    def __init__(self, process: "subprocess.Popen[bytes]", work: _Work) -> None:
        self._process = process
        self._work = work
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        source, target = self._process.stdout, self._process.stdin
        assert source is not None  # noqa: S101 - both are pipes
        assert target is not None  # noqa: S101
        try:
            if source.readline() != _READY:
                return
            while share := self._work.take():
                answer = None
                with suppress(OSError, ValueError):
                    target.write(json.dumps(share).encode() + b"\n")
                    target.flush()
                    answer = _answer(json.loads(source.readline()), len(share))
                if answer is None:
                    self._work.give_back(share)
                    return
                self._work.answers.put(answer)
        finally:
            self._work.answers.put(None)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._thread.join()
        end_reader(self._process)


def _answer(value: Any, count: int) -> Answer:  # noqa: ANN401 - any JSON value
    keys, problems = value
    return Answer(keys, [Problem(Path(path), reason) for path, reason in problems], count)


# ---- in the other process

_READY: Final = b"ready\n"


def main() -> int:
    """Read what is asked for on standard input until it ends."""
    gc.disable()  # nothing stays
    cache = Cache(None, file=Path(sys.argv[1]))
    if cache.trouble is not None:
        return 1
    output = sys.stdout.buffer
    output.write(_READY)
    output.flush()
    for line in sys.stdin.buffer:
        try:
            answer = _read(cache, json.loads(line))
        except CacheLostError:
            return 1
        output.write(json.dumps(answer).encode() + b"\n")
        output.flush()
    return 0


def _read(cache: Cache, share: list[Any]) -> tuple[list[int], list[tuple[str, str]]]:
    batch: list[Kept] = []
    problems: list[tuple[str, str]] = []
    for folder, name, facts in share:
        found = FoundFile(*facts)
        base = cache.base(cache.known_file(folder, name), found)
        try:
            batch.append(Kept(folder, name, found, read_session(found, base), base))
        except OSError as error:
            problems.append((os.fspath(found.path), error.strerror or str(error)))
    return cache.keep_surely(batch), problems


if __name__ == "__main__":
    sys.exit(main())
