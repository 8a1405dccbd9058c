"""A session file read with an eye on what is wrong with it; also one that Pi refuses for its beginning."""

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, Self

from pitree.sessions import drafts, migrate
from pitree.sessions.describe import KNOWN_TYPES
from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject, decode_entry
from pitree.sessions.errors import LineError, NotASessionError
from pitree.sessions.file import Progress, SessionFile
from pitree.sessions.intake import BLANKS
from pitree.sessions.jsonl import CHUNK_BYTES, Line, LineCutter, parse_beginning

BOM: Final = b"\xef\xbb\xbf"
_NUL: Final = b"\0"
_HEADER: Final = b'"session"'


class BadLine(NamedTuple):
    """A line of which nothing, or not all, can be used."""

    kind: str
    number: int
    offset: int
    reason: str


class HeaderProblem(NamedTuple):
    """Why Pi finds no header: the kind of finding that it is, and in words."""

    kind: str
    words: str


class Place(NamedTuple):
    """Where a line is: its number from 1, its offset in bytes."""

    line: int
    offset: int


class Examined(SessionFile):
    """One file with all that was noticed while it was read.

    `header_at` is where the header stands, None where there is none. Where Pi finds none, `header` is made up
    or comes from another place than the first, and `header_problem` says why. `strays` and `extra_headers`
    are the lines of objects that have no place in a session, `not_utf8` those with bytes that are not UTF-8.

    An unfinished last line is read as if it were finished: as it will be, once somebody appends to the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.has_bom = False
        self.header_at: Place | None = None
        self.header_problem: HeaderProblem | None = None
        self.bad_lines: list[BadLine] = []
        self.extra_headers: list[Place] = []
        self.not_utf8: dict[int, int] = {}

    @classmethod
    def of(cls, path: Path, progress: Progress | None = None) -> Self:
        """Read the file at `path`. Close it afterwards, or use it as a context manager.

        Raises NotASessionError where nothing in it is of a session, and what `SessionFile.load` raises.
        """
        try:
            return cls.load(path, progress)
        except NotASessionError as refused:
            found = cls(path)
            try:
                found._open()
                found._adopt_header(refused)
                found._read(progress, None)
            except BaseException:
                found.close()
                raise
            return found

    @property
    def strays(self) -> list[Place]:
        """The lines of objects that stand before the header."""
        return [Place(line.number, line.offset) for line in self._before_header]

    @property
    def tail(self) -> Line:
        """What follows the last newline."""
        return self._cutter.tail

    @property
    def tail_is_torn(self) -> bool:
        """Whether what follows the last newline is no whole line."""
        return not self._tail_is_whole and bool(self.tail.data.strip(BLANKS))

    def lines(self) -> Iterator[Line]:
        """Yield the lines of what was read, as they are in the file now, with what follows the last newline.

        A byte order mark is part of the first line.
        """
        return _cut(self._fd, 0, self.size)

    # ---- what is noticed on the way

    def _chunks(self, progress: Progress | None, end: float = math.inf) -> Iterator[bytes]:
        if not self.size and os.pread(self._fd, len(BOM), 0) == BOM:
            self.has_bom = True
            self.size = self._cutter.offset = len(BOM)
        yield from super()._chunks(progress, end)

    def _take(self, lines: list[Line], *, unfinished: bool = False) -> list[Entry]:
        for number, offset, data in lines:
            if not data.isascii():
                try:
                    data.decode()
                except UnicodeDecodeError:
                    self.not_utf8[number] = offset
        return super()._take(lines, unfinished=unfinished)

    def _take_unusable(self, line: Line, error: LineError, entries: list[Entry], *, unfinished: bool) -> None:
        known, before = len(self._damage), len(entries)
        super()._take_unusable(line, error, entries, unfinished=False)
        if len(self._damage) == known:
            return  # blank, or only nested too deeply
        if len(entries) > before:
            kind = "fused-line"
        elif _NUL in line.data:
            kind = "nul-bytes"
        elif unfinished:
            kind = "torn-tail"
        else:
            kind = "not-an-object" if str(error).startswith("not an object") else "malformed-line"
        self.bad_lines.append(BadLine(kind, line.number, line.offset, str(error)))

    def _take_header(self, header: JsonObject, line: Line) -> None:
        place = Place(line.number, line.offset)
        if self.header_at == place:
            return  # adopted before anything was read
        if self.header:
            self.extra_headers.append(place)
        super()._take_header(header, line)
        if self.header is header:
            self.header_at = place

    # ---- where Pi finds no header

    def _adopt_header(self, refused: NotASessionError) -> None:
        """Take the first header that there is, wherever it stands, or make one up for entries without one."""
        start = len(BOM) if os.pread(self._fd, len(BOM), 0) == BOM else 0
        header, place = _find_header(_cut(self._fd, start, math.inf))
        if header is None:
            first = _first_entry(_cut(self._fd, start, math.inf))
            if first is None:
                raise refused
            header = {"type": "session", "version": CURRENT_VERSION}
            if "id is missing" in first.notes:
                del header["version"]
            header |= {"id": _id_for(self.path), "timestamp": first.timestamp or drafts.now()}
            problem = HeaderProblem("no-header", "there is no session header")
        elif isinstance(header.get("id"), str):
            problem = HeaderProblem("before-header", "the session header is not the first object of the file")
        else:
            header = {**header, "id": _id_for(self.path)}
            problem = HeaderProblem("bad-header", "the session header has no id")
        self.header, self.header_at, self.header_problem = header, place, problem
        self.version = migrate.version_of(header)
        self.read_only, self.refused_by_pi = problem.words, True
        self._objects = 1


def _cut(fd: int, start: int, end: float) -> Iterator[Line]:
    """Yield the lines of an open file from `start` to `end`, and what follows the last newline."""
    cutter = LineCutter()
    place = cutter.offset = start
    while chunk := os.pread(fd, int(min(CHUNK_BYTES, end - place)), place):
        place += len(chunk)
        yield from cutter.feed(chunk)
    if cutter.tail.data:
        yield cutter.tail


def _find_header(lines: Iterator[Line]) -> tuple[JsonObject | None, Place | None]:
    for line in lines:
        if _HEADER not in line.data:
            continue
        found: Entry | JsonObject | None
        try:
            found = decode_entry(line)
        except LineError:
            found = _beginning_of(line.data)
        if isinstance(found, dict):
            return found, Place(line.number, line.offset)
    return None, None


def _beginning_of(data: bytes) -> JsonObject | None:
    """Return the header with which a fused line begins, or None."""
    try:
        value = parse_beginning(data)
    except LineError:
        return None
    return value if isinstance(value, dict) and value.get("type") == "session" else None


def _first_entry(lines: Iterator[Line]) -> Entry | None:
    for line in lines:
        try:
            entry = decode_entry(line)
        except LineError:
            continue
        if isinstance(entry, Entry) and entry.type in KNOWN_TYPES:
            return entry
    return None


def _id_for(path: Path) -> str:
    """Return the session id that the file's name states, or a new one."""
    stated = path.stem.rpartition("_")[2]
    return stated if drafts.is_session_id(stated) and "_" in path.stem else drafts.new_session_id()
