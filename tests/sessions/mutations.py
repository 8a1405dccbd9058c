"""Session files made worse, as crashes, programs and people do it; and what has to hold of a checkup."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pitree.sessions.checkup import damage, examine
from pitree.sessions.context import build_session_context
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import NotASessionError
from pitree.sessions.examined import BOM
from pitree.sessions.file import SessionFile
from pitree.sessions.findings import KINDS
from pitree.sessions.repair import KEPT_TYPE, REJECTED_SUFFIX, Repaired, repair

ODD: list[Any] = [None, True, 0, 5, -2.5, "", "nope", "\ud83d", [], {}, ["x"], {"id": "x"}, "line:3"]
FIELDS = (
    "id",
    "parentId",
    "type",
    "timestamp",
    "message",
    "targetId",
    "label",
    "name",
    "firstKeptEntryId",
    "replacement",
    "version",
    "cwd",
    "fromId",
    "retainedTail",
    "summary",
)
TYPES = ("message", "label", "leaf", "compaction", "context_edit", "session", "session_info", "custom", "x")
# What a repaired copy may have otherwise than the damaged file.
MENDED = ("id", "parentId", "timestamp", "label", "name", "targetId", "firstKeptEntryId", "replacement")

Lines = list[bytes]


def _byte(lines: Lines, at: int, rng: random.Random) -> None:
    line = bytearray(lines[at])
    if line:
        line[rng.randrange(len(line))] = rng.choice(
            (0, 0x22, 0x5C, 0x7B, 0x7D, 0x80, 0xFF, rng.randrange(256))
        )
    lines[at] = bytes(line)


def _cut(lines: Lines, at: int, rng: random.Random) -> None:
    lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]


def _fuse(lines: Lines, at: int, rng: random.Random) -> None:
    following = lines.pop(at + 1) if at + 1 < len(lines) else lines[at]
    lines[at] = lines[at][: rng.choice((len(lines[at]), rng.randrange(len(lines[at]) + 1)))] + following


def _insert(lines: Lines, at: int, rng: random.Random) -> None:
    some = (
        b"",
        b" \t",
        b"\0" * 7,
        b"null",
        b"5",
        b"[1]",
        b'"x"',
        b"{",
        b'{"type":"title"}',
        b'{"a":NaN}',
        b"{}",
    )
    lines.insert(at, rng.choice(some))


def _repeat(lines: Lines, at: int, rng: random.Random) -> None:
    lines.insert(rng.randrange(len(lines) + 1), lines[at])


def _drop(lines: Lines, at: int, rng: random.Random) -> None:
    del rng
    del lines[at]


def _move(lines: Lines, at: int, rng: random.Random) -> None:
    lines.insert(rng.randrange(len(lines)), lines.pop(at))


def _mark(lines: Lines, at: int, rng: random.Random) -> None:
    lines[at] = rng.choice((BOM, b"\0\0\0", b"  ", b"\xff")) + lines[at]


def _field(lines: Lines, at: int, rng: random.Random) -> None:
    """Give a field another value: an odd one, or the id of any entry; or take it away."""
    try:
        value = json.loads(lines[at])
    except ValueError:
        return
    if not isinstance(value, dict):
        return
    name = rng.choice((*FIELDS, "id", "parentId", *value))
    change = rng.randrange(10)
    if change == 0:
        value.pop(name, None)
    elif change < 4:
        value[name] = rng.choice(ODD)
    elif name == "type":
        value[name] = rng.choice(TYPES)
    else:
        value[name] = _any_id(lines, rng)
    lines[at] = json.dumps(value).encode()


def _any_id(lines: Lines, rng: random.Random) -> object:
    try:
        value = json.loads(rng.choice(lines))
    except ValueError:
        return "nope"
    return value.get("id", "nope") if isinstance(value, dict) else "nope"


CHANGES: tuple[Callable[[Lines, int, random.Random], None], ...] = (
    _byte,
    _cut,
    _fuse,
    _insert,
    _repeat,
    _drop,
    _move,
    _mark,
    _field,
    _field,
    _field,
)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Make one to six changes to a file."""
    lines = data.split(b"\n")
    for _ in range(rng.randrange(1, 7)):
        if not lines:
            break
        rng.choice(CHANGES)(lines, rng.randrange(len(lines)), rng)
    return b"\n".join(lines)


# ---- what has to hold


def check(data: bytes, folder: Path) -> list[str]:
    """See that a checkup ends, and a repaired copy is what it promises to be; gives the kinds found."""
    path, out, again = (folder / f"{name}.jsonl" for name in ("damaged", "copy", "again"))
    made = (out, again, *(Path(f"{copy}{REJECTED_SUFFIX}") for copy in (out, again)))
    for file in made:
        file.unlink(missing_ok=True)
    path.write_bytes(data)
    found = examine(path)
    assert all(finding.kind in KINDS and finding.detail for finding in found)
    assert all(0 <= finding.offset <= len(data) and finding.line >= 1 for finding in found)
    kinds = [finding.kind for finding in found]
    _all_that_is_known_is_told(path, {finding.line for finding in found})
    try:
        done = repair(path, out)
    except NotASessionError:
        assert kinds == ["no-session"]
        assert not any(file.exists() for file in made)
        return kinds
    assert "no-session" not in kinds
    assert path.read_bytes() == data
    assert done.found == found
    assert not done.left, done.left
    assert damage(examine(out)) == []
    copied = out.read_bytes()
    if not damage(found):
        assert copied == data
        assert not done.deeds
    else:
        assert done.deeds
    _nothing_is_lost(data, copied, made[2].read_bytes() if made[2].exists() else b"", done)
    _entries_are_there(path, out)
    _context_is_the_same(path, out)
    repair(out, again)
    assert again.read_bytes() == copied
    assert not made[3].exists()
    return kinds


def _all_that_is_known_is_told(path: Path, lines: set[int]) -> None:
    """Every line that the tree and the preview mark is found.

    But for the last of those with the same id, which counts, and for roles, which are told once for all.
    """
    try:
        session = SessionFile.load(_closed(path))
    except NotASessionError:
        return
    with session:
        for known in session.damage:
            reasons = known.reason.split("; ")
            if not all(reason.startswith(("id repeated", "role is ", "also on ")) for reason in reasons):
                assert known.line in lines, known


def _nothing_is_lost(data: bytes, copied: bytes, rejected: bytes, done: Repaired) -> None:
    """Every line is in the copy as it was, or beside it, and then it is said why."""
    here, beside = set(copied.split(b"\n")), set(rejected.split(b"\n"))
    said = {deed.line for deed in done.deeds}
    migrated = any("all entries get ids" in deed.detail for deed in done.deeds)
    for number, line in enumerate(data.split(b"\n"), 1):
        assert line in here | beside, line
        assert line in here or migrated or number in said, line


def _entries_are_there(path: Path, out: Path) -> None:
    """Every object that any parser reads from a line of its own is an entry of the copy, or inside one."""
    there = set()
    for value in _objects(out):
        there.add(_essence(value))
        if value.get("customType") == KEPT_TYPE and isinstance(value.get("data"), dict):
            there.add(_essence(value["data"]))
    headers = False
    for value in _objects(path):
        if value.get("type") == "session":
            headers = True
        elif headers or value.get("id") is not None:
            old = {"role": "custom"} if _role(value) == "hookMessage" else {}
            migrated = {**value, "message": {**value["message"], **old}} if old else value
            assert {_essence(value), _essence(migrated)} & there, value


def _role(value: JsonObject) -> object:
    message = value.get("message")
    return message.get("role") if isinstance(message, dict) else None


def _essence(value: JsonObject) -> str:
    dropped = (*MENDED, "firstKeptEntryIndex")
    return json.dumps({key: field for key, field in value.items() if key not in dropped}, sort_keys=True)


def _objects(path: Path) -> list[JsonObject]:
    found = []
    for line in path.read_bytes().removeprefix(BOM).split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _refuse(name: str) -> None:
    raise ValueError(name)


def _context_is_the_same(path: Path, out: Path) -> None:
    if path.read_bytes().startswith(BOM):
        return  # whatever is on the first line is there only in the copy
    try:
        damaged = SessionFile.load(_closed(path))
    except NotASessionError:
        return
    with damaged, SessionFile.load(out) as copy:
        before = build_session_context(damaged, damaged.tree.leaf_id)
        after = build_session_context(copy, copy.tree.leaf_id)
        assert _timeless(after.messages) == _timeless(before.messages)
        assert repr(after.model) == repr(before.model)
        assert repr(after.thinking_level) == repr(before.thinking_level)
        assert sorted(copy.tree.labels.values()) == sorted(damaged.tree.labels.values())
        assert copy.tree.name == damaged.tree.name


def _closed(path: Path) -> Path:
    """Give a file as Pi leaves it when it has opened it: with a newline at the end."""
    data = path.read_bytes()
    closed = path.with_name("closed.jsonl")
    closed.write_bytes(data if data.endswith(b"\n") else data + b"\n")
    return closed


def _timeless(messages: list[JsonObject]) -> list[str]:
    """Leave out the timestamps: one that the file does not state is stated in the copy."""
    return [repr({**message, "timestamp": None}) for message in messages]
