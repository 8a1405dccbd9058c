"""A repaired copy of a damaged session file: what Pi opens, with every entry that can be read.

The copy shows the model what pitree shows of the damaged file. Lines that need no mending are the same to the
byte. Those that are not, or that cannot be kept at all, are kept in a file beside the copy, as they were.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from pitree.sessions import drafts, writing
from pitree.sessions.checkup import damage, findings
from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject
from pitree.sessions.errors import InvalidValueError, WriteError
from pitree.sessions.examined import BOM, Examined, HeaderProblem
from pitree.sessions.findings import Finding
from pitree.sessions.intake import BLANKS, TOO_DEEP
from pitree.sessions.jsonl import Line
from pitree.sessions.storage import encode_entry
from pitree.sessions.text import one_line
from pitree.sessions.troubles import Mend, Trouble, entry_troubles

KEPT_TYPE: Final = "pitree.damaged"
"""The `customType` of entries in whose `data` an object is kept that can be no entry of its own."""

REJECTED_SUFFIX: Final = ".rejected"
_EPOCH: Final = "1970-01-01T00:00:00.000Z"
_REPLACED: Final = "invalid-utf8: what is not UTF-8 is U+FFFD, as Pi reads it"
_MIGRATED: Final = "all entries get ids, as Pi gives them when it opens a file of version 1"
_NO_BOM: Final = "byte-order-mark: it is left out"
_POINTING: Final = {
    "label": "targetId",
    "context_edit": "targetId",
    "leaf": "targetId",
    "compaction": "firstKeptEntryId",
}


class Deed(NamedTuple):
    """What became of one line: `line` counts from 1 and `offset` is in bytes, both in the damaged file."""

    line: int
    offset: int
    detail: str


class Repaired(NamedTuple):
    """A copy that was made: `found` is what was wrong, `entries` is how many are in the copy.

    `rejected` is the file of the lines that the copy does not have as they were, None where there are none;
    `left` is the damage that the copy still has: none. `grown` says that the file is no longer the one that
    was read, so that the copy lacks what came meanwhile.
    """

    out: Path
    rejected: Path | None
    found: list[Finding]
    deeds: list[Deed]
    entries: int
    left: list[Finding]
    grown: bool


class _Output(NamedTuple):
    """What becomes of one line: the lines in its place, and what to say where it does not stay as it is."""

    line: Line
    data: list[bytes]
    said: list[str]


def repair(path: Path, out: Path) -> Repaired:
    """Write a repaired copy of the file at `path` to `out`, and beside it the lines that it has otherwise.

    The damaged file stays as it is. A file without damage is copied to the byte. Raises NotASessionError for
    what holds nothing of a session; WriteError where `out` or the file beside it is there already, or cannot
    be written, and then neither is there; SessionError or OSError where the file cannot be read.
    """
    rejected = out.with_name(out.name + REJECTED_SUFFIX)
    for wanted in (out, rejected):
        if os.path.lexists(wanted):
            raise WriteError(f"{wanted} is there already, and nothing is written over; give another name")
    with Examined.of(path) as session:
        like = path.stat()
        found = findings(session)
        mending = _Mending(session, is_damaged=bool(damage(found)))
        deeds: list[Deed] = []
        set_aside: set[int] = set()
        for made in mending.outputs():
            deeds += [Deed(made.line.number, made.line.offset, said) for said in made.said]
            if made.data != [made.line.data] and made.line.data:
                set_aside.add(made.line.number)
        writing.create_copy(out, (data for made in mending.outputs() for data in made.data), like)
        written = [out]
        try:
            if set_aside:
                lines = (line.data for line in session.lines() if line.number in set_aside)
                writing.create_copy(rejected, lines, like)
                written.append(rejected)
            with Examined.of(out) as copy:
                left = damage(findings(copy))
                entries = len(copy.entries)
        except BaseException:
            for file in written:  # and nothing that came meanwhile from elsewhere
                file.unlink(missing_ok=True)
            raise
        return Repaired(
            out, rejected if set_aside else None, found, deeds, entries, left, grown=not _is_still(session)
        )


def _is_still(session: Examined) -> bool:
    with suppress(OSError), session.path.open("rb") as file:
        return session.is_up_to_date(file.fileno())
    return False


class _Mending:
    """How each line of a damaged file is in the copy."""

    def __init__(self, session: Examined, *, is_damaged: bool) -> None:
        self._session = session
        self._is_damaged = is_damaged
        # Whatever is changed in version 1 shifts the places that its entries know each other by.
        self._migrates = is_damaged and session.version < 2
        self._troubles: dict[int, list[Trouble]] = {}
        for trouble in entry_troubles(session):
            self._troubles.setdefault(trouble.entry.offset, []).append(trouble)
        self._new_ids: dict[int, str] = {}
        self._renamed: dict[str, str] = {}
        self._give_ids()
        self._bad = {line.number: line for line in session.bad_lines}
        self._extra_headers = {place.line for place in session.extra_headers}
        self._strays = {place.line for place in session.strays}
        self._entries: dict[int, list[Entry]] = {}
        for entry in sorted([*session.entries, *session.tree.superseded], key=lambda entry: entry.offset):
            self._entries.setdefault(entry.line, []).append(entry)

    def _give_ids(self) -> None:
        taken: set[str] = set()
        for offset, troubles in self._troubles.items():
            for trouble in troubles:
                if trouble.mend is Mend.NEW_ID:
                    new = drafts.new_id(self._session.tree)
                    while new in taken:
                        new = drafts.new_id(self._session.tree)
                    taken.add(new)
                    self._new_ids[offset] = new
                    if trouble.kind != "repeated-id":
                        self._renamed[trouble.entry.id] = new

    def outputs(self) -> Iterator[_Output]:
        """Yield what becomes of each line, in the file's order, reading it anew."""
        session = self._session
        header_line = None if session.header_at is None else session.header_at.line
        if session.header_problem is not None:
            yield self._made_header(session.header_problem, header_line)
        created = session.header.get("timestamp")
        stamp = created if isinstance(created, str) and created else _EPOCH
        for line in session.lines():
            if not self._is_damaged:
                yield _Output(line, [line.data], [])
                continue
            found = self._entries.get(line.number)
            if line.number == header_line and session.header_problem is None:
                yield self._header(line)
            elif found:
                yield self._mended(line, found, stamp)
                stamp = next((entry.timestamp for entry in reversed(found) if entry.timestamp), stamp)
            elif not line.data.removeprefix(BOM).strip(BLANKS):
                yield self._blank(line)
            else:
                yield _Output(line, [], [self._why_not_kept(line, header_line)])

    def _blank(self, line: Line) -> _Output:
        data = line.data.removeprefix(BOM)
        said = [_NO_BOM] if data != line.data else []
        return self._ended(_Output(line, [data], said))

    # ---- the header

    def _made_header(self, problem: HeaderProblem, header_line: int | None) -> _Output:
        session = self._session
        said = [f"{problem.kind}: {problem.words}; one is written on the first line, of session {session.id}"]
        if self._migrates:
            said.append(_MIGRATED)
        data = encode_entry(self._whole_header())
        return _Output(Line(header_line or 1, 0, b""), [data], said)

    def _whole_header(self) -> JsonObject:
        header = dict(self._session.header)
        if self._migrates or math.isinf(self._session.version):
            header["version"] = CURRENT_VERSION
        return header

    def _header(self, line: Line) -> _Output:
        session = self._session
        said = []
        if session.has_bom and line.number == 1:
            said.append(_NO_BOM)
        data = line.data.removeprefix(BOM)
        header = self._whole_header()
        if header != session.header:
            version = one_line(str(session.header.get("version", 1)), 40)
            said.append(f"the header states version {CURRENT_VERSION} in the place of {version}")
            if self._migrates:
                said.append(_MIGRATED)
            data = encode_entry(header)
        elif line.number in session.not_utf8:
            said.append(_REPLACED)
            data = _as_utf8(data)
        return self._ended(_Output(line, [data], said))

    # ---- entries

    def _mended(self, line: Line, found: list[Entry], stamp: str) -> _Output:
        session = self._session
        bad = self._bad.get(line.number)
        data: list[bytes] = []
        said: list[str] = []
        if bad is not None:
            what = "1 entry is" if len(found) == 1 else f"{len(found)} entries are"
            said.append(f"{what} kept, each on a line of its own; the bytes before cannot be read")
        for entry in found:
            troubles = self._troubles.get(entry.offset, [])
            if any(trouble.mend is Mend.SET_ASIDE for trouble in troubles):
                said += [f"left out: {trouble.detail}" for trouble in troubles]
                continue
            changes = self._following(entry)
            said += [f"its {field} is a new id, as there: {new}" for field, new in changes.items()]
            changes |= self._changes(entry, troubles, stamp)
            said += [f"{trouble.kind}: {_done(trouble, changes)}" for trouble in troubles]
            if changes or self._migrates or any(trouble.mend is Mend.AS_CUSTOM for trouble in troubles):
                data.append(self._written(entry, troubles, changes, said))
                continue
            kept = line.data.removeprefix(BOM) if bad is None else session.raw(entry)
            data.append(_as_utf8(kept) if line.number in session.not_utf8 else kept)
        if line.number in session.not_utf8:
            said.append(_REPLACED)
        if line.number == 1 and session.has_bom:
            said.append(_NO_BOM)
        return self._ended(_Output(line, data, said))

    def _changes(self, entry: Entry, troubles: list[Trouble], stamp: str) -> JsonObject:
        """Return the fields that an entry has otherwise in the copy; `Mend.GONE` for those that it lacks."""
        changes: JsonObject = {}
        for trouble in troubles:
            if trouble.mend is Mend.NEW_ID:
                changes["id"] = self._new_ids[entry.offset]
            elif trouble.mend is Mend.OWN_ID:
                changes[trouble.field] = self._new_ids.get(entry.offset, entry.id)
            elif trouble.mend is Mend.TIMESTAMP:
                changes[trouble.field] = entry.timestamp or stamp
            elif trouble.field and trouble.mend is not Mend.AS_CUSTOM:
                changes[trouble.field] = trouble.mend
        return changes

    def _following(self, entry: Entry) -> JsonObject:
        """Return the fields that name an entry whose id is another one in the copy."""
        if not self._renamed and entry.offset not in self._new_ids:
            return {}
        changes: JsonObject = {}
        if entry.parent_id in self._renamed:
            changes["parentId"] = self._renamed[entry.parent_id]
        field = _POINTING.get(entry.type)
        named = None if field is None else self._session.body(entry).get(field)
        if field is not None and isinstance(named, str):
            own = entry.type == "compaction" and named == entry.id  # which means to keep none
            new = self._new_ids.get(entry.offset) if own else self._renamed.get(named)
            if new is not None:
                changes[field] = new
        return changes

    def _written(self, entry: Entry, troubles: list[Trouble], changes: JsonObject, said: list[str]) -> bytes:
        """Return the line of an entry that is not as it was; what is lost by that is added to `said`."""
        body = self._session.body(entry)
        if TOO_DEEP in entry.notes:
            said.append("deep-nesting: what is nested too deeply is null")
        links = {"id": entry.id, "parentId": entry.parent_id, "timestamp": entry.timestamp}
        links |= {field: value for field, value in changes.items() if field in links}
        if any(trouble.mend is Mend.AS_CUSTOM for trouble in troubles):
            whole = {**drafts.custom(KEPT_TYPE, body), **links}
        else:
            whole = {field: value for field, value in {**body, **changes}.items() if value is not Mend.GONE}
        try:
            return encode_entry(whole)
        except InvalidValueError as error:
            said.append(f"{error}, so only a custom entry is in its place")
            return encode_entry({**drafts.custom(KEPT_TYPE), **links})

    # ---- what is not kept

    def _why_not_kept(self, line: Line, header_line: int | None) -> str:
        bad = self._bad.get(line.number)
        if line.number == header_line:
            return "the header is written on the first line"
        if bad is not None:
            return f"left out: {bad.kind}, {bad.reason}"
        if line.number in self._extra_headers:
            return "left out: another session header; the first one counts"
        if line.number in self._strays:
            return "left out: an object before the session header"
        return "left out: nothing on it can be used"

    def _ended(self, made: _Output) -> _Output:
        """Tell where a last line gets its newline; the line itself is as it was."""
        tail = self._session.tail
        if tail.data and made.line.number == tail.number:
            return made._replace(said=[*made.said, "no-final-newline: the line is ended"])
        return made


def _as_utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


def _done(trouble: Trouble, changes: JsonObject) -> str:
    """Return what was found in an entry, and what the copy has instead."""
    if trouble.mend is Mend.AS_CUSTOM:
        return f"{trouble.detail}; the copy has it in the data of a custom entry, {KEPT_TYPE}"
    if trouble.mend is Mend.GONE:
        return f"{trouble.detail}; the copy has no {trouble.field}"
    value = changes.get(trouble.field)
    shown = "null" if value is None else one_line(str(value), 40)
    return f"{trouble.detail}; the copy has {trouble.field} {shown}"
