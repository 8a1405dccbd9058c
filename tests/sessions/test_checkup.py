"""What a checkup finds: every kind, by line and byte, in files made for it; and nothing in sound ones."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent.build import Session, call, encode
from agent.cases_lines import WITHOUT_IDS

from pitree.sessions.checkup import damage, examine
from pitree.sessions.findings import KINDS, Finding

from . import damaged
from .damaged import HI, OK, talk

Change = Callable[[Session], object]


def found_in(data: bytes, folder: Path, **given: Any) -> list[Finding]:  # noqa: ANN401 - what `examine` takes
    path = folder / "session.jsonl"
    path.write_bytes(data)
    return [finding for finding in examine(path, **given) if finding.kind != "missing-folder"]


def told(data: bytes, folder: Path) -> list[tuple[str, int, int]]:
    return [(finding.kind, finding.line, finding.offset) for finding in found_in(data, folder)]


def at(data: bytes, line: int) -> int:
    """Give where a line begins, from its number."""
    return sum(len(each) + 1 for each in data.split(b"\n")[: line - 1])


# What is right of the files that went wrong for somebody: the kinds with their lines.
RIGHT: dict[str, list[tuple[str, int]]] = {
    "plain": [],
    "repeated_ids": [("repeated-id", 2), ("repeated-id", 3)],
    "self_parent": [("self-parent", 2)],
    "cycle_of_three": [("cycle", 4)],
    "orphan": [("missing-parent", 4)],
    "two_roots": [],
    "no_final_newline": [("no-final-newline", 3)],
    "torn_tail": [("torn-tail", 4)],
    "title_before_header": [("before-header", 1)],
    "only_header": [],
    "blank_and_bad_lines_before_header": [("malformed-line", 2)],
    "carriage_returns": [],
    "raw_separators": [],
    "stale_leaf": [("stale-leaf", 5)],
    "call_without_arguments": [],
    "name_cleared": [],
    "labels_cleared": [("dangling-target", 8)],
    "retain_none": [],
    "context_edits": [],
    "empty_branch_summary": [],
    "of_a_later_version": [("newer-version", 1), ("unknown-type", 3)],
    "version_1": [],
    "parent_session_missing": [("missing-session", 1)],
    "two_headers": [("extra-header", 4)],
    "bad_lines": [
        ("nul-bytes", 6),
        ("not-an-object", 7),
        ("not-an-object", 8),
        ("not-an-object", 9),
        ("not-an-object", 10),
        ("malformed-line", 11),
        ("malformed-line", 12),
        ("malformed-line", 13),
    ],
    "byte_order_mark": [("byte-order-mark", 1)],
    "empty": [("no-session", 1)],
    "only_blanks": [("no-session", 1)],
    "no_header": [("no-header", 1)],
    "header_without_id": [("bad-header", 1)],
}


@pytest.mark.parametrize("name", RIGHT)
def test_files_that_went_wrong(name: str, tmp_path: Path) -> None:
    data = getattr(damaged, name)()
    assert told(data, tmp_path) == [(kind, line, at(data, line)) for kind, line in RIGHT[name]]


def made(change: Change) -> bytes:
    session = talk()
    change(session)
    return session.encoded()


def fused(session: Session) -> None:
    torn = encode([{"type": "custom", "id": "0000000a", "parentId": OK}]).rstrip(b"}\n")
    session.user("swallowed")
    session.lines[-1] = torn + encode([session.lines[-1]]).rstrip(b"\n")


def answered_late(session: Session) -> None:
    session.calls(call("read", "c1"), call("bash", "c2"))
    session.result("done", "c1")
    session.user("what of the other one?")


def compacted(boundary: object) -> Change:
    return lambda session: session.entry("compaction", summary="s", firstKeptEntryId=boundary, tokensBefore=1)


CHANGES: list[tuple[str, int, Change]] = [
    ("fused-line", 4, fused),
    ("nul-bytes", 4, lambda session: session.raw(b"\0\0" + encode([{"type": "custom"}]).strip() + b"\0")),
    ("invalid-utf8", 4, lambda session: session.raw(
        b'{"type":"custom","id":"a","parentId":"00000002","timestamp":"2026-01-02T03:04:09.000Z","data":"\xff"}'
    )),
    ("missing-parent", 4, lambda session: session.user("x", "nowhere")),
    ("dangling-target", 4, lambda session: session.label("nowhere", "x")),
    ("dangling-target", 4, lambda session: session.entry("label", label="on nothing")),
    ("dangling-target", 4, lambda session: session.edit("nowhere", None)),
    ("dangling-target", 4, lambda session: session.entry("leaf", targetId="nowhere")),
    ("dangling-boundary", 4, compacted("nowhere")),
    ("dangling-boundary", 5, lambda session: (session.user("x", None), compacted(HI)(session))),
    ("bad-field", 4, compacted(5)),
    ("bad-field", 4, lambda session: session.entry("custom", id=5)),
    ("bad-field", 4, lambda session: session.entry("custom", id=None)),
    ("bad-field", 4, lambda session: session.entry("custom", timestamp=1_767_000_000_000)),
    ("bad-field", 4, lambda session: session.entry("custom", type=None)),
    ("bad-field", 4, lambda session: session.entry("message")),
    ("bad-field", 4, lambda session: session.entry("message", message="hi")),
    ("bad-field", 4, lambda session: session.entry("label", targetId=HI, label=5)),
    ("bad-field", 4, lambda session: session.name({})),
    ("bad-field", 4, lambda session: session.entry("context_edit", targetId=HI)),
    ("bad-field", 4, lambda session: session.entry("context_edit", targetId=HI, replacement="x")),
    ("bad-field", 4, lambda session: session.entry("leaf", targetId=5)),
    ("open-call", 4, answered_late),
    ("result-without-call", 4, lambda session: session.result("done", "never called")),
    ("missing-source", 4, lambda session: session.summary("left", "nowhere")),
    ("unknown-role", 4, lambda session: session.message("oracle", content="?")),
    ("unknown-role", 4, lambda session: session.entry("message", message={"content": "?"})),
    ("unknown-type", 4, lambda session: session.entry("dream")),
    ("mixed-versions", 4, lambda session: session.message("hookMessage", content="old")),
    ("deep-nesting", 4, lambda session: session.raw(
        b'{"type":"custom","id":"d","parentId":"00000002","timestamp":"2026-01-02T03:04:09.000Z","data":'
        + b"[" * 9000 + b"]" * 9000 + b"}"
    )),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "line", "change"), CHANGES)
def test_one_thing_wrong(kind: str, line: int, change: Change, tmp_path: Path) -> None:
    data = made(change)
    assert told(data, tmp_path) == [(kind, line, at(data, line))]


def test_headers_with_something_wrong(tmp_path: Path) -> None:
    assert told(talk(version="three").encoded(), tmp_path) == [("bad-header", 1, 0)]
    late = damaged.no_header() + damaged.only_header()
    assert told(late, tmp_path) == [("before-header", 3, at(late, 3))]
    mixed = talk(version=1).encoded()
    assert told(mixed, tmp_path) == [("mixed-versions", 2, at(mixed, 2))]
    assert [told(make().encoded(), tmp_path) for make in WITHOUT_IDS[:1]] == [[]]


def test_a_parent_that_is_no_id_leaves_the_conversation_behind(tmp_path: Path) -> None:
    data = made(lambda session: session.entry("custom", parentId=[]))
    assert told(data, tmp_path) == [("stale-leaf", 3, at(data, 3)), ("bad-field", 4, at(data, 4))]


def test_every_kind_is_found_somewhere() -> None:
    found = {kind for kind, _, _ in CHANGES} | {kind for right in RIGHT.values() for kind, _ in right}
    elsewhere = {"unreadable", "unfinished-line", "missing-folder"}
    assert found | elsewhere == set(KINDS)


def test_the_end_of_a_running_conversation_is_no_finding(tmp_path: Path) -> None:
    session = talk()
    session.calls(call("read", "c1"), call("bash", "c2"))
    session.result("done", "c2")
    assert told(session.encoded(), tmp_path) == []


def test_a_fork_tells_of_branches_that_it_does_not_have(tmp_path: Path) -> None:
    session = talk(parentSession=str(tmp_path))
    session.summary("left behind in the session it comes from", "elsewhere")
    assert told(session.encoded(), tmp_path) == []


def test_a_line_that_is_being_written(tmp_path: Path) -> None:
    (finding,) = found_in(damaged.torn_tail(), tmp_path, is_live=lambda _session: True)
    assert (finding.kind, finding.line, finding.severity) == ("unfinished-line", 4, "remark")
    assert found_in(damaged.plain(), tmp_path, is_live=lambda _session: True) == []


def test_a_folder_that_is_there_and_one_that_is_not(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    for cwd, kinds in ((str(tmp_path), []), ("/nowhere/a\0b", ["missing-folder"]), (5, ["missing-folder"])):
        talk(cwd=cwd).write(path)
        assert [finding.kind for finding in examine(path)] == kinds
        assert damage(examine(path)) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_must_not_be_read(tmp_path: Path) -> None:
    path = talk().write(tmp_path / "session.jsonl")
    path.chmod(0)
    (finding,) = examine(path)
    assert (finding.kind, finding.severity) == ("unreadable", "damage")


def test_what_is_not_there_or_no_file(tmp_path: Path) -> None:
    assert [finding.kind for finding in examine(tmp_path / "nothing")] == ["unreadable"]
    fifo = tmp_path / "fifo.jsonl"
    os.mkfifo(fifo)
    assert [finding.kind for finding in examine(fifo)] == ["no-session"]


def test_details_say_what_and_ids_say_where(tmp_path: Path) -> None:
    (finding,) = found_in(damaged.orphan(), tmp_path)
    assert (finding.entry_id, finding.severity) == ("00000003", "damage")
    assert finding.detail == (
        "parent zzzz is not in the file; the conversation begins anew here, as at a root"
    )


def test_a_parent_on_a_line_that_cannot_be_read(tmp_path: Path) -> None:
    session = talk()
    lost = session.user("lost")
    session.lines[-1] = encode([session.lines[-1]])[:90]
    session.user("after", lost)
    found = found_in(session.encoded(), tmp_path)
    assert [finding.kind for finding in found] == ["malformed-line", "missing-parent"]
    assert "(line 4 was that entry, and cannot be read)" in found[1].detail


def test_many_of_everything(tmp_path: Path) -> None:
    """Compactions in a long chain, each with a boundary, take no time that grows with the depth."""
    session = Session()
    session.user("root")
    for number in range(20_000):
        session.compaction("00000001" if number % 2 else f"{number + 50:08x}")
    found = found_in(session.encoded(), tmp_path)
    assert {finding.kind for finding in found} == {"dangling-boundary"}
    assert len(found) == 10_000
