"""A checkup of one session file: everything that is wrong with it, or worth knowing before it is used.

What the reading itself noticed is told here in one list, with what only a look at the whole shows.
"""

import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pitree.sessions.activity import newest_elsewhere
from pitree.sessions.context import build_context_parts, calls_of, open_parts, result_of
from pitree.sessions.describe import KNOWN_TYPES
from pitree.sessions.entries import CURRENT_VERSION, Entry
from pitree.sessions.errors import LineError, NotASessionError, SessionError
from pitree.sessions.examined import BadLine, Examined
from pitree.sessions.file import Progress
from pitree.sessions.findings import Finding
from pitree.sessions.intake import TOO_DEEP
from pitree.sessions.jsonl import parse_value
from pitree.sessions.text import one_line
from pitree.sessions.troubles import entry_troubles

_ROLES: Final = frozenset(
    {
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
        "custom",
        "branchSummary",
        "compactionSummary",
        "system",
    }
)
_OLD_ROLE: Final = "hookMessage"
_LOOKED_AT: Final = 20

_BAD_LINES: Final = {
    "fused-line": "{0}; the whole entries at its end are shown, Pi sees none of them",
    "nul-bytes": "{0}; it holds NUL bytes, as a crash of the system leaves them; nothing on it can be read",
    "torn-tail": "{0}; the writer ended in the middle of it, so what it said is lost",
    "not-an-object": "{0}; Pi can stumble over it",
    "malformed-line": "{0}; Pi skips it",
}

IsLive = Callable[[Examined], bool]
"""Says whether an agent seems to be writing to a session just now."""


def examine(
    path: Path, progress: Progress | None = None, is_live: IsLive = lambda _session: False
) -> list[Finding]:
    """Return everything that is found in the file at `path`, in the file's order; nothing is written.

    What cannot be read, or is no session at all, is a finding like any other. Raises StoppedError when
    `progress` says so.
    """
    try:
        session = Examined.of(path, progress)
    except NotASessionError as error:
        return [Finding("no-session", 1, 0, str(error))]
    except OSError as error:
        return [unreadable(path, error)]
    with session:
        try:
            return findings(session, live=session.tail_is_torn and is_live(session))
        except SessionError as error:
            return [Finding("unreadable", 1, 0, f"{error}, while it was looked at; look again")]
        except OSError as error:
            return [unreadable(path, error)]


def unreadable(path: Path, error: OSError) -> Finding:
    """Return the finding for a file that the system does not give away."""
    return Finding("unreadable", 1, 0, f"{path} cannot be read: {error.strerror or error}")


def findings(session: Examined, *, live: bool = False) -> list[Finding]:
    """Return everything that is found in a session that was read. Raises what `session.body` raises."""
    found = [
        *_header(session),
        *(_bad_line(line, live=live) for line in session.bad_lines),
        *_lines(session, live=live),
        *(
            Finding(trouble.kind, trouble.entry.line, trouble.entry.offset, trouble.detail, trouble.entry.id)
            for trouble in entry_troubles(session)
        ),
        *_remarks(session),
    ]
    return sorted(found, key=lambda finding: (finding.offset, finding.line))


def damage(found: list[Finding]) -> list[Finding]:
    """Return those of some findings that are damage."""
    return [finding for finding in found if finding.severity == "damage"]


# ---- lines


def _header(session: Examined) -> Iterator[Finding]:
    if session.has_bom:
        yield Finding("byte-order-mark", 1, 0, "the file begins with a byte order mark, so Pi refuses it")
    line, offset = session.header_at or (1, 0)
    if session.header_problem is not None:
        kind, words = session.header_problem
        yield Finding(kind, line, offset, f"{words}; Pi refuses the file")
    version = session.header.get("version")
    if session.version > CURRENT_VERSION:
        stated = one_line(str(version), 40)
        if math.isinf(session.version):
            yield Finding("bad-header", line, offset, f"version {stated!r} is no number, so it is not known")
        else:
            known = f"{CURRENT_VERSION} is the newest that is known here, so it is shown but not written to"
            yield Finding("newer-version", line, offset, f"version {stated}: {known}")
    for place in session.strays:
        yield Finding("before-header", *place, "an object before the session header; Pi refuses the file")
    for place in session.extra_headers:
        yield Finding("extra-header", *place, "another session header; the first one counts")


def _bad_line(line: BadLine, *, live: bool) -> Finding:
    if live and line.kind == "torn-tail":
        return Finding("unfinished-line", line.number, line.offset, "an agent seems to be writing this line")
    return Finding(line.kind, line.number, line.offset, _BAD_LINES[line.kind].format(line.reason))


def _lines(session: Examined, *, live: bool) -> Iterator[Finding]:
    bad = {line.number for line in session.bad_lines}
    for number, offset in session.not_utf8.items():
        if number not in bad:
            detail = "bytes that are not UTF-8, read as U+FFFD; what they were meant to be is lost"
            yield Finding("invalid-utf8", number, offset, detail)
    tail = session.tail
    if session.tail_is_torn:
        if tail.number not in bad:  # a long one is not looked at while it may grow
            yield _bad_line(BadLine("torn-tail", tail.number, tail.offset, "unfinished last line"), live=live)
    elif tail.data:
        detail = "the last line has no newline; a program that appends without one would spoil both lines"
        yield Finding("no-final-newline", tail.number, tail.offset, detail)


# ---- what no copy can mend


def _remarks(session: Examined) -> Iterator[Finding]:
    yield from _places(session)
    yield from _kinds_of_entries(session)
    yield from _sources(session)
    yield from _calls(session)
    newest = session.tree.get(newest_elsewhere(session))
    last = session.tree.get(session.tree.leaf_id)
    if newest is not None and last is not None:
        detail = (
            f"the conversation goes on from entry {one_line(last.id, 40)}, while the newest message is on "
            "another branch; `pitree move` goes there"
        )
        yield Finding("stale-leaf", newest.line, newest.offset, detail, newest.id)


def _places(session: Examined) -> Iterator[Finding]:
    place = session.header_at or (1, 0)
    if not session.cwd:
        yield Finding(
            "missing-folder", *place, "the header states no folder; Pi resumes it where it is started"
        )
    elif not _is_there(session.cwd, os.path.isdir):
        folder = one_line(session.cwd, 200)
        detail = f"the session's folder {folder} is not there; `pitree resume --here` goes on without it"
        yield Finding("missing-folder", *place, detail)
    parent = session.header.get("parentSession")
    if isinstance(parent, str) and parent and not _is_there(parent, os.path.exists):
        detail = f"it was forked from {one_line(parent, 200)}, which is not there; it stands alone"
        yield Finding("missing-session", *place, detail)


def _is_there(path: str, look: Callable[[str], bool]) -> bool:
    try:
        return look(path)
    except ValueError:  # a NUL in it, or half a character
        return False


def _kinds_of_entries(session: Examined) -> Iterator[Finding]:
    """Yield what is told once for all entries of a kind, at the first of them."""
    types: dict[str, list[Entry]] = {}
    roles: dict[str, list[Entry]] = {}
    old: list[Entry] = []
    for entry in session.entries:
        if entry.type not in KNOWN_TYPES and not _is_noted(entry, "type"):
            types.setdefault(entry.type, []).append(entry)
        elif entry.role == _OLD_ROLE:
            old.append(entry)
        elif entry.type == "message" and entry.role not in _ROLES and not _is_noted(entry, "message"):
            roles.setdefault(entry.role, []).append(entry)
        if TOO_DEEP in entry.notes:
            yield _at(entry, "deep-nesting", TOO_DEEP)
    for name, found in types.items():
        what = (
            f"{_count(found, 'entry is', 'entries are')} of type {one_line(name, 40)!r}, which is not known"
        )
        yield _at(found[0], "unknown-type", f"{what}: shown, and a link in the chain")
    for name, found in roles.items():
        what = f"of role {one_line(name, 40)!r}, which is not known" if name else "without a role"
        yield _at(found[0], "unknown-role", f"{_count(found, 'message is', 'messages are')} {what}")
    if old:
        what = f"{_count(old, 'message has', 'messages have')} a role of version 2, {_OLD_ROLE}"
        yield _at(old[0], "mixed-versions", f"{what}; the header states {session.version:g}")
    if session.version < 2:
        for entry in session.entries[:_LOOKED_AT]:
            if _own_id(session, entry) is not None:
                what = (
                    f"the header states version {session.version:g}, which has no ids, but entries have some"
                )
                yield _at(entry, "mixed-versions", f"{what}; Pi takes the file for one chain")
                break


def _own_id(session: Examined, entry: Entry) -> str | None:
    """Return the id that an entry's line states, also where its version has none; None for none."""
    try:
        value = parse_value(session.raw(entry))
    except LineError:
        return None
    stated = value.get("id") if isinstance(value, dict) else None
    return stated if isinstance(stated, str) else None


def _is_noted(entry: Entry, field: str) -> bool:
    return any(note.startswith(f"{field} ") for note in entry.notes)


def _count(found: list[Entry], one: str, many: str) -> str:
    return f"1 {one}" if len(found) == 1 else f"{len(found):,} {many}"


def _at(entry: Entry, kind: str, detail: str) -> Finding:
    return Finding(kind, entry.line, entry.offset, detail, entry.id)


def _sources(session: Examined) -> Iterator[Finding]:
    if isinstance(session.header.get("parentSession"), str):
        return  # a fork has one branch only, and the summaries of those that it left behind
    for entry in session.entries:
        if entry.type == "branch_summary":
            source = session.body(entry).get("fromId")
            if isinstance(source, str) and source != "root" and source not in session.tree:
                what = (
                    f"a summary of the branch that ended at {one_line(source, 40)}, which is not in the file"
                )
                yield _at(entry, "missing-source", what)


def _calls(session: Examined) -> Iterator[Finding]:
    made = build_context_parts(session, session.tree.leaf_id)
    last = next((part for part in reversed(made.parts) if result_of(part) is None), None)
    for part, call_id in open_parts(made):
        if part is not last:  # else it is where the conversation ended, or is just now
            detail = f"tool call {one_line(call_id, 60)} has no result, though the conversation went on"
            yield _at(part.entry, "open-call", detail)
    called: set[str] = set()
    for part in made.parts:
        called.update(calls_of(part) or part.entry.calls * (part.entry.role == "assistant"))
        answered = result_of(part)
        if answered is not None and answered not in called:
            detail = f"a result of tool call {one_line(answered, 60)}, which is not in the context before it"
            yield _at(part.entry, "result-without-call", detail)
