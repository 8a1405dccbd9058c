"""What the lines of a session file make, one after the other: its header, its entries, its damage.

Nothing here reads or links: `pitree.sessions.file` feeds it. Each line that cannot be used is damage and
costs only itself.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pitree.sessions import migrate
from pitree.sessions.entries import CURRENT_VERSION, Damage, Entry, JsonObject, decode_entry
from pitree.sessions.errors import LineError, NotASessionError
from pitree.sessions.jsonl import Line, LineCutter
from pitree.sessions.salvage import swallowed
from pitree.sessions.structure import shallow
from pitree.sessions.text import one_line

# What may stand before the header of a file that is shown all the same (Pi itself refuses it).
_MAX_LINES_BEFORE_HEADER: Final = 20
BLANKS: Final = b" \t\r\n\v\f"
"""A line of these alone is no damage."""

# A line of so many bytes that is not finished is not decoded again whenever a piece of it comes.
_LONG_TAIL: Final = 1 << 20

TOO_DEEP: Final = "nested too deeply; the depths are left out"
"""A note of entries whose objects can only be had in part, so that they cannot be written anew."""


class Intake:
    """What was taken from the beginning of a file so far.

    `read_only` says why the file must not be written to, or is None.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: JsonObject = {}
        self.version: float = CURRENT_VERSION
        self.size = 0
        """Bytes read so far."""
        self.read_only: str | None = None
        self.refused_by_pi = False
        """Whether Pi does not open the file, though it can be looked at here."""
        self._damage: list[Damage] = []
        self._cutter = LineCutter()
        self._before_header: list[Line] = []
        self._objects = 0
        self._previous_id: str | None = None
        self._tail_is_whole = False
        self._tail_damage = 0

    def _take(self, lines: list[Line], *, unfinished: bool = False) -> list[Entry]:
        entries: list[Entry] = []
        for line in lines:
            if not line.data:
                continue  # millions of them would each cost an exception
            try:
                entry = decode_entry(line)
            except LineError as error:
                self._take_unusable(line, error, entries, unfinished=unfinished)
                continue
            if isinstance(entry, dict):
                self._take_header(entry, line)
            elif self.header and self.version >= CURRENT_VERSION:  # nearly all are: spares a call
                self._objects += 1
                entries.append(entry)
            else:
                self._take_entries((entry,), line, entries)
        return entries

    def _take_unusable(self, line: Line, error: LineError, entries: list[Entry], *, unfinished: bool) -> None:
        deep = _deep_entry(line)
        if deep is not None:
            self._take_entries((deep,), line, entries)
        elif line.data.strip(BLANKS):
            reason = f"unfinished last line ({error})" if unfinished else str(error)
            self._damage.append(Damage(line.number, line.offset, reason))
            if not unfinished:
                self._take_entries(swallowed(line), line, entries)

    def _take_entries(self, found: Iterable[Entry], line: Line, entries: list[Entry]) -> None:
        for entry in found:
            if not self.header:
                self._take_before_header(entry, line)
                continue
            self._objects += 1
            if self.version < CURRENT_VERSION:
                migrate.migrate_skeleton(entry, self.version, self._objects - 1, self._previous_id)
                self._previous_id = entry.id
            entries.append(entry)

    def _take_header(self, header: JsonObject, line: Line) -> None:
        if self.header:
            self._objects += 1
            self._damage.append(
                Damage(line.number, line.offset, "another session header; the first one counts")
            )
            return
        if not isinstance(header.get("id"), str):
            raise NotASessionError(
                f"{self.path} is no Pi session: the header on line {line.number} has no id"
            )
        self.header = header
        self._objects = 1
        self.version = migrate.version_of(header)
        if math.isinf(self.version):
            self.read_only = f"its version {one_line(str(header['version']), 40)!r} is not known"
        elif self.version > CURRENT_VERSION:
            self.read_only = f"its version {self.version:g} is newer than {CURRENT_VERSION}, the newest known"
        self.refused_by_pi = bool(self._before_header)
        for stray in self._before_header:
            self.read_only = (
                f"line {stray.number} stands before the header, so Pi does not take it for a session"
            )
            self._damage.append(Damage(stray.number, stray.offset, "stands before the session header"))

    def _take_before_header(self, entry: Entry, line: Line) -> None:
        """Bear with stray objects before the header, but not with a conversation that has none."""
        self._before_header.append(line)
        conversation = entry.type == "message" or "id is missing" not in entry.notes
        if conversation or len(self._before_header) > _MAX_LINES_BEFORE_HEADER:
            raise NotASessionError(self._why_no_session())

    def _why_no_session(self) -> str:
        first = self._damage[0] if self._damage else None
        unreadable = f"line {first.line} cannot be read ({first.reason})" if first is not None else ""
        if self._before_header:
            where = f"line {self._before_header[0].number} is not a session header"
            where += f", and {unreadable}" if unreadable else ""
        elif unreadable:
            where = unreadable
        else:
            where = "it is empty" if not self.size else "it has no lines with content"
        return f"{self.path} is no Pi session: {where}"

    def _take_tail(self) -> list[Entry]:
        """Take the unfinished last line if it is a whole object; else it is damage, or not finished yet."""
        tail = self._cutter.tail
        if len(tail.data) > _LONG_TAIL and tail.data[-64:].rstrip(BLANKS)[-1:] not in {b"}", b""}:
            self._damage.append(Damage(tail.number, tail.offset, "unfinished last line"))
            self._tail_is_whole, self._tail_damage = False, 1
            return []
        before = len(self._damage)
        objects = self._objects
        entries = self._take([tail], unfinished=True) if tail.data else []
        self._tail_is_whole = self._objects > objects
        self._tail_damage = 0 if self._tail_is_whole else len(self._damage) - before
        return entries


def _deep_entry(line: Line) -> Entry | None:
    """Return the entry on a line that is JSON, but nested too deeply to be read as a whole."""
    data = shallow(line.data)
    if data is None:
        return None
    try:
        entry = decode_entry(line._replace(data=data))
    except LineError:
        return None
    if not isinstance(entry, Entry):
        return None
    entry.length = len(line.data)
    entry.notes = (*entry.notes, TOO_DEEP)
    return entry
