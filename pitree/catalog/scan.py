"""From files to rows: reading a session just far enough for the lists.

A row costs one pass over the file: a typed decoder checks every line as JSON but builds only the few values
that a row needs, and no tree. Pi leaves a session out of its lists for one odd value in it; here the value
counts as absent.
"""

import math
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import msgspec

from pitree.catalog.header import BLANKS, OPEN_FLAGS, HeaderSearch
from pitree.catalog.locations import FoundFile, Problem
from pitree.catalog.rows import NO_MESSAGES, SessionRow
from pitree.sessions import javascript
from pitree.sessions.context import blocks_of
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import encode_value, parse_value

CHUNK_BYTES: Final = 1 << 20
_SMALL_CHUNK: Final = 1 << 14
# Decoding holds the interpreter lock, so a second thread only keeps files coming: 15 % less time where they
# are not in memory, none where they are.
_WORKERS: Final = 2
_BATCH_SECONDS: Final = 0.05
_BATCH_FILES: Final = 100
# Where the role of a message stands, if its line is written as Pi writes it.
_ROLE_WITHIN: Final = 400
_MAX_MS: Final = 8.64e15

Stop = Callable[[], bool]
"""Asked at every chunk; True ends the work."""

OnRows = Callable[[list[SessionRow], int, int], None]
"""Takes new rows, the number of files done so far, and the number of files there are."""


class ScanStoppedError(Exception):
    """The caller's `stop` said so in the middle of a file."""


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


_Content = str | list[_Block] | msgspec.UnsetType | None


class _Talk(msgspec.Struct, gc=False):
    role: str = ""
    content: _Content = msgspec.UNSET
    timestamp: float | None = None


class _Other(msgspec.Struct, gc=False):
    role: str = ""


class _TalkLine(msgspec.Struct, gc=False):
    type: str
    timestamp: str | None = None
    message: _Talk | None = None
    name: str | None = None


class _OtherLine(msgspec.Struct, gc=False):
    type: str
    message: _Other | None = None
    name: str | None = None


_decode_talk = msgspec.json.Decoder(_TalkLine).decode
_decode_other = msgspec.json.Decoder(_OtherLine).decode
_UNUSUAL: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def _never() -> bool:
    return False


def scan_file(found: FoundFile, *, stop: Stop = _never) -> SessionRow | None:
    """Return the row of one file, or None where it holds no Pi session.

    Raises OSError when it cannot be read, ScanStoppedError when `stop` says so.
    """
    reading = _Reading()
    fd = os.open(found.path, OPEN_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        for lines in _lines(fd, found.size, stop):
            if not reading.take(lines):
                return None
    finally:
        os.close(fd)
    return reading.row(found)


def _lines(fd: int, size: int, stop: Stop) -> Iterator[list[bytes]]:
    """Yield the lines of each chunk, in time linear in the file however long a line is."""
    pieces: list[bytes] = []
    wanted = min(CHUNK_BYTES, max(size, _SMALL_CHUNK) + 1)
    while chunk := os.read(fd, wanted):
        if stop():
            raise ScanStoppedError
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            pieces.append(chunk)
            continue
        if pieces:
            pieces.append(lines[0])
            lines[0] = b"".join(pieces)
        rest = lines.pop()
        pieces = [rest] if rest else []
        yield lines
    if pieces:
        yield [b"".join(pieces)]


class _Reading:
    """What was gathered so far from the lines of one file."""

    def __init__(self) -> None:
        self._search = HeaderSearch()
        self._name: str | None = None
        self._messages = 0
        self._active = 0.0
        self._first = ""
        self._texts: list[str] = []
        self._damage = 0

    def take(self, lines: list[bytes]) -> bool:
        """Take up further lines; False when they show that the file is no session."""
        if not self._search.over:
            start = 0
            while start < len(lines) and not self._search.over:
                self._search.take(lines[start])
                start += 1
            lines = lines[start:]
        if self._search.refused:
            return False
        for data in lines:
            if not data:
                continue
            try:
                if data.find(b'"toolResult"', 0, _ROLE_WITHIN) >= 0:
                    other = _decode_other(data)
                    message = other.message
                    if other.type == "message" and message is not None and message.role == "toolResult":
                        self._messages += 1
                        continue
                line = _decode_talk(data)
            except _UNUSUAL:
                self._take_unusual(data)
                continue
            if line.type == "message":
                self._messages += 1
                if line.message is not None:
                    talk = line.message
                    if talk.role == "user" or talk.role == "assistant":  # noqa: PLR1714 - the hot path
                        self._take_talk(talk.role, talk.content, talk.timestamp, line.timestamp)
            elif line.type == "session_info":
                self._name = javascript.trim(line.name or "") or None
            elif line.type == "session":
                self._damage += 1
        return True

    def _take_talk(
        self,
        role: str,
        content: _Content,
        moment: float | None,
        timestamp: object,
    ) -> None:
        if content is msgspec.UNSET:
            return
        active = javascript.time_ms(timestamp) if moment is None else moment
        if active is not None and self._active < active <= _MAX_MS:
            self._active = active
        if isinstance(content, str):
            text = content
        elif content is None:
            return
        else:
            text = " ".join([block.text or "" for block in content if block.type == "text"])
        if text:
            self._texts.append(text)
            if not self._first and role == "user":
                self._first = text

    def _take_unusual(self, data: bytes) -> None:
        """Take a line that the typed decoder refused: odd types, odd characters, or no JSON at all."""
        try:
            value = parse_value(data)
        except LineError:
            self._damage += bool(data.strip(BLANKS))
            return
        if not isinstance(value, dict) or value.get("type") == "session":
            self._damage += 1
        elif value.get("type") == "session_info":
            name = value.get("name")
            self._name = (javascript.trim(name) or None) if isinstance(name, str) else None
        elif value.get("type") == "message":
            self._messages += 1
            message = value.get("message")
            if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
                self._take_unusual_talk(message, value)

    def _take_unusual_talk(self, message: JsonObject, entry: JsonObject) -> None:
        content: _Content = msgspec.UNSET
        if "content" in message:
            content = [
                _Block(str(block.get("type")), _joined(block.get("text")))
                for block in blocks_of(message["content"])
            ]
        moment = message.get("timestamp")
        usable = isinstance(moment, int | float) and not isinstance(moment, bool)
        self._take_talk(
            message["role"],
            content,
            float(moment) if usable and moment is not None and abs(moment) <= _MAX_MS else None,
            None if usable else entry.get("timestamp"),
        )

    def row(self, found: FoundFile) -> SessionRow | None:
        """Return what the lines gave, or None if there was no header among them."""
        header = self._search.header
        if header is None:
            return None
        stamp = header.get("timestamp")
        created = javascript.time_ms(stamp) if "timestamp" in header else None
        if self._active:
            modified = float(int(self._active))
        elif created is not None and isinstance(stamp, str):
            modified = created
        else:
            modified = math.floor(found.mtime_ns / 1e6 + 0.5)
        cwd, parent = header.get("cwd"), header.get("parentSession")
        return SessionRow(
            path=found.path,
            id=header["id"],
            cwd=cwd if isinstance(cwd, str) else "",
            name=self._name,
            created=created,
            modified=modified,
            message_count=self._messages,
            first_message=self._first or NO_MESSAGES,
            parent_session=parent if isinstance(parent, str) else None,
            size=found.size,
            mtime_ns=found.mtime_ns,
            damage=self._search.damage + self._damage,
            text=" ".join(self._texts),
        )


def _joined(value: object) -> str:
    """Return what a text block contributes whose text is no string, as JavaScript's `join` writes it."""
    if value is None or isinstance(value, list | dict):
        return ""
    return value if isinstance(value, str) else encode_value(value).decode()


def scan_store(
    files: Iterable[FoundFile],
    *,
    on_rows: OnRows,
    workers: int = _WORKERS,
    stop: Stop = _never,
    problems: list[Problem] | None = None,
) -> None:
    """Read all `files` in their order (`session_paths` gives the newest first) and hand out rows in batches.

    `on_rows` is called in the calling thread: with the first row at once, then about every 50 ms or 100
    files, and last with all files done, unless `stop` ended the work. Files that hold no session count as
    done without a row; those that cannot be read are told to `problems`.
    """
    ordered = list(files)
    troubles: list[Problem] = [] if problems is None else problems
    batch: list[SessionRow] = []
    any_row = False
    told_at = time.monotonic()
    done = told = 0
    try:
        for row in _rows(ordered, workers, stop, troubles):
            done += 1
            if row is not None:
                batch.append(row)
            now = time.monotonic()
            if (
                (batch and not any_row)
                or now - told_at >= _BATCH_SECONDS
                or done - told >= _BATCH_FILES
                or done == len(ordered)
            ):
                any_row = any_row or bool(batch)
                on_rows(batch, done, len(ordered))
                batch, told_at, told = [], now, done
    except ScanStoppedError:
        return
    if not ordered:
        on_rows([], 0, 0)


def _rows(
    files: list[FoundFile], workers: int, stop: Stop, problems: list[Problem]
) -> Iterator[SessionRow | None]:
    def read(file: FoundFile) -> SessionRow | None:
        if stop():
            raise ScanStoppedError
        try:
            return scan_file(file, stop=stop)
        except OSError as error:
            problems.append(Problem(file.path, error.strerror or str(error)))
            return None

    if workers <= 1:
        yield from map(read, files)
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[SessionRow | None]] = deque()
        try:
            for file in files:
                waiting.append(pool.submit(read, file))
                if len(waiting) > workers * 2:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
