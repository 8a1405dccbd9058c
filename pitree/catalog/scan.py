"""From files to rows: reading a session just far enough for the lists, and further when it has grown."""

import hashlib
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from pitree.catalog.header import OPEN_FLAGS, HeaderSearch
from pitree.catalog.locations import FoundFile, Problem
from pitree.catalog.rows import SessionRow
from pitree.catalog.tally import Span, Tally

CHUNK_BYTES: Final = 1 << 20
_SMALL_CHUNK: Final = 1 << 14
# Decoding holds the interpreter lock, so a second thread only keeps files coming: 15 % less time where they
# are not in memory, none where they are.
_WORKERS: Final = 2
_BATCH_SECONDS: Final = 0.05
_BATCH_FILES: Final = 100
# So much of the beginning and of the end is compared to tell a file that grew from one that was rewritten.
_COMPARED_BYTES: Final = 512

Stop = Callable[[], bool]
"""Asked at every chunk; True ends the work."""

OnRows = Callable[[list[SessionRow], int, int], None]
"""Takes new rows, the number of files done so far, and the number of files there are."""

_Result = TypeVar("_Result")


class ScanStoppedError(Exception):
    """The caller's `stop` said so in the middle of a file."""


class Mark(msgspec.Struct, frozen=True):
    """How far a file was read: `tally` without texts, which ends with the last newline, and a check of it.

    `inode` tells the file; `ends` is a digest of the first and the last bytes before `tally.offset`.
    """

    tally: Tally
    inode: int
    ends: bytes


class Text(msgspec.Struct, frozen=True):
    """Text that was read, joined by blanks, and the messages that it consists of."""

    text: str
    spans: list[Span]


class Scanned(msgspec.Struct, frozen=True):
    """What one reading of a file gave.

    `row` has no text. `text` is that of whole lines, `last` that of a last line without a newline, which the
    next reading takes again. `mark` is where that one begins; `goes_on` says whether this one began at a
    mark, so that `text` comes behind what was there.
    """

    row: SessionRow
    text: Text
    last: Text
    mark: Mark
    goes_on: bool


def _never() -> bool:
    return False


def scan_file(found: FoundFile, *, stop: Stop = _never) -> SessionRow | None:
    """Return the row of one file with all its text, or None where it holds no Pi session.

    Raises OSError when it cannot be read, ScanStoppedError when `stop` says so.
    """
    scanned = read_session(found, stop=stop)
    if scanned is None:
        return None
    row = scanned.row
    row.text = " ".join(part.text for part in (scanned.text, scanned.last) if part.spans)
    return row


def read_session(found: FoundFile, mark: Mark | None = None, *, stop: Stop = _never) -> Scanned | None:
    """Read one file, from `mark` on where it only grew since; None where it holds no Pi session.

    What was read before is not read again, but for an unfinished last line, and for the first and the last
    bytes, which tell whether it is still what was read. The result is the same as without a mark.
    Raises OSError when the file cannot be read, ScanStoppedError when `stop` says so.
    """
    fd = os.open(found.path, OPEN_FLAGS)
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            return None
        goes_on = mark is not None and _only_grew(fd, facts, mark)
        tally = mark.tally.fork() if mark is not None and goes_on else Tally()
        search = None if goes_on else HeaderSearch()
        rest = b""
        for lines, rest in _lines(fd, tally.offset, facts.st_size, stop):  # noqa: B007 - the last one counts
            if search is not None and not search.over:
                lines = _take_header(search, tally, lines)  # noqa: PLW2901
                if search.refused:
                    return None
            tally.take(lines)
        text = _taken(tally)
        before = tally.fork()
        if rest:
            if search is not None and not search.over:
                _take_header(search, tally, [rest])
            else:
                tally.take([rest], unfinished=True)
        if search is not None and search.header is None:
            return None
        mark = Mark(before, facts.st_ino, _ends(fd, before.offset))
        return Scanned(tally.row(found), text, _taken(tally), mark, goes_on)
    finally:
        os.close(fd)


def _take_header(search: HeaderSearch, tally: Tally, lines: list[bytes]) -> list[bytes]:
    """Look for the header and return the lines that follow it."""
    taken = 0
    while taken < len(lines) and not search.over:
        search.take(lines[taken])
        tally.offset += len(lines[taken]) + 1
        taken += 1
    if search.header is not None:
        tally.begin(search.header, search.damage)
    return lines[taken:]


def _taken(tally: Tally) -> Text:
    made = Text(" ".join(tally.texts), tally.spans)
    tally.texts, tally.spans = [], []
    return made


def _only_grew(fd: int, facts: os.stat_result, mark: Mark) -> bool:
    offset = mark.tally.offset
    if not mark.tally.objects:  # not even the header's line was finished
        return False
    return facts.st_ino == mark.inode and facts.st_size >= offset and _ends(fd, offset) == mark.ends


def _ends(fd: int, offset: int) -> bytes:
    length = min(offset, _COMPARED_BYTES)
    digest = hashlib.blake2b(os.pread(fd, length, 0), digest_size=16)
    digest.update(os.pread(fd, length, offset - length))
    return digest.digest()


def _lines(fd: int, offset: int, size: int, stop: Stop) -> Iterator[tuple[list[bytes], bytes]]:
    """Yield the lines from `offset` on, chunk by chunk, and what there is after the last newline so far.

    Takes time linear in the file however long a line is.
    """
    pieces: list[bytes] = []
    wanted = min(CHUNK_BYTES, max(size - offset, _SMALL_CHUNK) + 1)
    while chunk := os.pread(fd, wanted, offset):
        if stop():
            raise ScanStoppedError
        offset += len(chunk)
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            pieces.append(chunk)
            continue
        if pieces:
            pieces.append(lines[0])
            lines[0] = b"".join(pieces)
        rest = lines.pop()
        pieces = [rest] if rest else []
        yield lines, b""
    if pieces:
        yield [], b"".join(pieces)


def scan_store(
    files: Iterable[FoundFile],
    *,
    on_rows: OnRows,
    workers: int = _WORKERS,
    stop: Stop = _never,
    problems: list[Problem] | None = None,
) -> None:
    """Read all `files` and hand out their rows, with all their texts; see `work_through`."""
    work_through(
        files,
        lambda file: scan_file(file, stop=stop),
        on_results=on_rows,
        workers=workers,
        stop=stop,
        problems=problems,
    )


def work_through(
    files: Iterable[FoundFile],
    read: Callable[[FoundFile], _Result | None],
    *,
    on_results: Callable[[list[_Result], int, int], None],
    workers: int = _WORKERS,
    stop: Stop = _never,
    problems: list[Problem] | None = None,
) -> None:
    """Do `read` for all `files` in their order (`session_paths` gives the newest first), results in batches.

    `on_results` is called in the calling thread: with the first result at once, then about every 50 ms or
    100 files, and last with all files done, unless `stop` ended the work. Files for which there is nothing
    count as done without a result; those that cannot be read are told to `problems`.
    """
    ordered = list(files)
    troubles: list[Problem] = [] if problems is None else problems
    batch: list[_Result] = []
    any_result = False
    told_at = time.monotonic()
    done = told = 0
    try:
        for result in _results(ordered, read, workers, stop, troubles):
            done += 1
            if result is not None:
                batch.append(result)
            now = time.monotonic()
            if (
                (batch and not any_result)
                or now - told_at >= _BATCH_SECONDS
                or done - told >= _BATCH_FILES
                or done == len(ordered)
            ):
                any_result = any_result or bool(batch)
                on_results(batch, done, len(ordered))
                batch, told_at, told = [], now, done
    except ScanStoppedError:
        return
    if not ordered:
        on_results([], 0, 0)


def _results(
    files: list[FoundFile],
    read: Callable[[FoundFile], _Result | None],
    workers: int,
    stop: Stop,
    problems: list[Problem],
) -> Iterator[_Result | None]:
    def attempt(file: FoundFile) -> _Result | None:
        if stop():
            raise ScanStoppedError
        try:
            return read(file)
        except OSError as error:
            problems.append(Problem(file.path, error.strerror or str(error)))
            return None

    if workers <= 1:
        yield from map(attempt, files)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # with logging, which readers do without

    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[_Result | None]] = deque()
        try:
            for file in files:
                waiting.append(pool.submit(attempt, file))
                if len(waiting) > workers * 2:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
