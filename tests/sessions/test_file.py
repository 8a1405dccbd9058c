"""Loading files: what each kind of damage costs, odd paths, and files that change under our eyes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from agent.build import Session, encode

from pitree.sessions.context import build_session_context
from pitree.sessions.entries import Damage
from pitree.sessions.errors import EntryNotFoundError, NotASessionError, SessionError
from pitree.sessions.file import SessionFile, StoppedError

from . import damaged
from .damaged import HI, OK, Make

ROOT = Path(__file__).parents[2]


class Seen(NamedTuple):
    """What is to be seen of a file: id to stored parent, in file order; roots; leaf; damage by line."""

    links: dict[str, str | None]
    roots: list[str]
    leaf: str | None
    damage: list[tuple[int, str]] = []  # noqa: RUF012 - never changed
    name: str | None = None
    labels: dict[str, str] = {}  # noqa: RUF012
    read_only: str | None = None


THREE, FOUR, FIVE, SIX, SEVEN = (f"{number:08x}" for number in range(3, 8))
TALK = Seen({HI: None, OK: HI}, [HI], OK)

RIGHT: dict[Make, Seen] = {
    damaged.plain: TALK,
    damaged.repeated_ids: Seen(
        {"A": None, "B": "A", "C": "B", "D": "C"},
        ["A"],
        "D",
        [
            (2, "id A is repeated; a later line counts"),
            (3, "id B is repeated; a later line counts"),
            (4, "id repeated; also on line 2"),
            (5, "id repeated; also on line 3"),
        ],
        name="x",
    ),
    damaged.self_parent: Seen({HI: HI, OK: HI}, [HI], OK, [(2, "is its own parent")]),
    damaged.cycle_of_three: Seen(
        {HI: None, OK: HI, THREE: FIVE, FOUR: THREE, FIVE: FOUR},
        [HI, THREE],
        FIVE,
        [(4, "is part of a cycle of 3 parents, cut here")],
    ),
    damaged.orphan: Seen(
        {HI: None, OK: HI, THREE: "zzzz", FOUR: THREE}, [HI, THREE], FOUR, [(4, "parent zzzz is missing")]
    ),
    damaged.two_roots: Seen({HI: None, OK: HI, THREE: None, FOUR: THREE}, [HI, THREE], FOUR),
    damaged.no_final_newline: TALK,
    damaged.torn_tail: TALK._replace(
        damage=[(4, "unfinished last line (not JSON: Unterminated string starting at character 43)")]
    ),
    damaged.title_before_header: TALK._replace(
        damage=[(1, "stands before the session header")],
        read_only="line 1 stands before the header, so Pi does not take it for a session",
    ),
    damaged.only_header: Seen({}, [], None),
    damaged.blank_and_bad_lines_before_header: TALK._replace(
        damage=[(2, "not JSON: Expecting value at character 1")]
    ),
    damaged.carriage_returns: TALK,
    damaged.raw_separators: TALK,
    damaged.stale_leaf: Seen(
        {HI: None, OK: HI, THREE: OK, FOUR: THREE, FIVE: HI}, [HI], FIVE, name="renamed by another program"
    ),
    damaged.call_without_arguments: TALK,
    damaged.name_cleared: Seen({HI: None, OK: HI, THREE: OK, FOUR: THREE}, [HI], FOUR),
    damaged.labels_cleared: Seen(
        {HI: None, OK: HI, THREE: OK, FOUR: THREE, FIVE: FOUR, SIX: FIVE, SEVEN: SIX},
        [HI],
        SEVEN,
        [(8, "labels nope, which does not exist")],
        labels={HI: "two"},
    ),
    damaged.retain_none: Seen({HI: None, OK: HI, THREE: OK, FOUR: THREE}, [HI], FOUR),
    damaged.context_edits: Seen({HI: None, OK: HI, THREE: OK, FOUR: THREE, FIVE: FOUR}, [HI], FIVE),
    damaged.empty_branch_summary: Seen({HI: None, OK: HI, THREE: HI, FOUR: THREE}, [HI], FOUR),
    damaged.of_a_later_version: Seen(
        {HI: None, OK: HI, THREE: OK},
        [HI],
        THREE,
        read_only="its version 4 is newer than 3, the newest known",
    ),
    damaged.version_1: Seen({HI: None, OK: HI}, [HI], OK),
    damaged.parent_session_missing: TALK,
    damaged.two_headers: TALK._replace(damage=[(4, "another session header; the first one counts")]),
    damaged.bad_lines: Seen(
        {HI: None, OK: HI, THREE: OK},
        [HI],
        THREE,
        [
            (6, "not JSON: Expecting value at character 1"),
            (7, "not an object but null"),
            (8, "not an object but an array"),
            (9, "not an object but a string"),
            (10, "not an object but a number"),
            (11, "not JSON: Expecting property name enclosed in double quotes at character 2"),
            (12, "not JSON: Expecting property name enclosed in double quotes at character 2"),
            (13, "not JSON: NaN is no JSON value"),
        ],
    ),
}


def put(folder: Path, content: bytes) -> Path:
    path = folder / "session.jsonl"
    path.write_bytes(content)
    return path


def look(session: SessionFile) -> Seen:
    return Seen(
        {entry.id: entry.parent_id for entry in session.entries},
        [session.entries[position].id for position in session.tree.roots],
        session.tree.leaf_id,
        [(damage.line, damage.reason) for damage in session.damage],
        session.tree.name,
        session.tree.labels,
        session.read_only,
    )


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_what_is_right(make: Make, tmp_path: Path) -> None:
    content = make()
    with SessionFile.load(put(tmp_path, content)) as session:
        assert look(session) == RIGHT[make]
        assert session.size == len(content)
        lines = content.split(b"\n")
        places = [(damage.line, damage.offset) for damage in session.damage]
        for line, offset in places + [(entry.line, entry.offset) for entry in session.entries]:
            assert offset == sum(len(before) + 1 for before in lines[: line - 1])
        for entry in session.entries:
            assert session.raw(entry) == lines[entry.line - 1]


REFUSED = {
    damaged.byte_order_mark: "line 2 is not a session header, and line 1 cannot be read (not JSON: ",
    damaged.empty: "it is empty",
    damaged.only_blanks: "it has no lines with content",
    damaged.no_header: "line 1 is not a session header",
    damaged.header_without_id: "the header on line 1 has no id",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_what_is_refused_is_told_why(make: Make, tmp_path: Path) -> None:
    path = put(tmp_path, make())
    with pytest.raises(NotASessionError) as refused:
        SessionFile.load(path)
    assert str(refused.value).startswith(f"{path} is no Pi session: {REFUSED[make]}")


REFUSED_TOO = {
    b"garbage": "line 1 cannot be read (unfinished last line (not JSON: Expecting value at character 1))",
    b"\xff\n\x00\n": "line 1 cannot be read (not JSON: Expecting value at character 1)",
    b'{"type":"session"}\n': "the header on line 1 has no id",
    b'{"type":"session","id":5}\n': "the header on line 1 has no id",
    b'{"type":"title"}\n' * 21 + b'{"type":"session","id":"x"}\n': "line 1 is not a session header",
    b'{"type":"title"}\n': "line 1 is not a session header",
}


@pytest.mark.parametrize("content", REFUSED_TOO, ids=lambda content: repr(content[:30]))
def test_what_else_is_refused(content: bytes, tmp_path: Path) -> None:
    path = put(tmp_path, content)
    with pytest.raises(NotASessionError) as refused:
        SessionFile.load(path)
    assert str(refused.value) == f"{path} is no Pi session: {REFUSED_TOO[content]}"


def test_twenty_strangers_before_the_header_are_borne_with(tmp_path: Path) -> None:
    content = b'{"type":"title"}\n' * 20 + damaged.plain()
    with SessionFile.load(put(tmp_path, content)) as session:
        assert [entry.id for entry in session.entries] == [HI, OK]
        assert len(session.damage) == 20
        assert session.read_only


def test_the_header_may_be_all_there_is(tmp_path: Path) -> None:
    with SessionFile.load(put(tmp_path, b'{"type":"session","id":""}')) as session:
        assert (session.id, session.cwd, session.version, session.entries) == ("", "", 1, [])
        assert session.damage == []


VERSIONS: list[tuple[object, float, bool]] = [
    (None, 1, False),
    (1, 1, False),
    (2, 2, False),
    (3, 3, False),
    ("3", 3, False),
    (4, 4, True),
    (3.5, 3.5, True),
    (10**400, float("inf"), True),
    ("four", float("inf"), True),
    ("NaN", float("inf"), True),
    ([], float("inf"), True),
    ({}, float("inf"), True),
]


@pytest.mark.parametrize(("stated", "version", "read_only"), VERSIONS, ids=lambda value: repr(value)[:20])
def test_versions(stated: object, version: float, read_only: bool, tmp_path: Path) -> None:
    path = put(tmp_path, damaged.talk(version=stated).encoded())
    with SessionFile.load(path) as session:
        assert session.version == version
        assert (session.read_only is not None) == read_only
        assert [entry.id for entry in session.entries] == [HI, OK]


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_version_of_very_many_digits(digits: int, tmp_path: Path) -> None:
    content = damaged.plain().replace(b'"version":3', b'"version":' + b"9" * digits)
    with SessionFile.load(put(tmp_path, content)) as session:
        assert session.read_only == f"its version '{'9' * 40}' is not known"


def test_damage_is_told_once(tmp_path: Path) -> None:
    made = damaged.talk()
    made.entry("label", "nowhere", targetId="ghost", label="x")
    made.entry("label", "nowhere", targetId="ghost", label=5)
    made.entry("label", OK, targetId="ghost", label="x")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        ghost = "labels ghost, which does not exist"
        assert [damage.reason for damage in session.damage] == [
            f"parent nowhere is missing; {ghost}",
            f"label is a number; parent nowhere is missing; {ghost}",
            ghost,
        ]


def test_damage_names_the_entry_it_is_about(tmp_path: Path) -> None:
    with SessionFile.load(put(tmp_path, damaged.orphan() + b"{\n")) as session:
        third, bad = session.entries[2], session.damage[1]
        assert session.damage[0] == Damage(4, third.offset, "parent zzzz is missing", THREE)
        assert (bad.line, bad.entry_id) == (6, None)


# The last line


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_line_is_damage_and_costs_no_other(cut: int, tmp_path: Path) -> None:
    with SessionFile.load(put(tmp_path, damaged.plain()[: -1 - cut])) as session:
        assert [entry.id for entry in session.entries] == [HI]
        (damage,) = session.damage
        assert damage.line == 3
        assert damage.reason.startswith("unfinished last line (not JSON: ")


@pytest.mark.parametrize("tail", [b" ", b"\r", b"\t \r"])
def test_blanks_after_the_last_line_are_no_damage(tail: bytes, tmp_path: Path) -> None:
    with SessionFile.load(put(tmp_path, damaged.plain() + tail)) as session:
        assert session.damage == []


def test_a_header_without_a_newline_is_not_unfinished(tmp_path: Path) -> None:
    header = damaged.only_header().rstrip(b"\n")
    with SessionFile.load(put(tmp_path, b'{"type":"title"}\n' + header)) as session:
        assert look(session).damage == [(1, "stands before the session header")]
    with SessionFile.load(put(tmp_path, damaged.plain() + header)) as session:
        assert look(session).damage == [(4, "another session header; the first one counts")]


# Bodies


def test_a_body_is_what_is_stored_and_a_new_one_each_time(tmp_path: Path) -> None:
    made = Session()
    made.user("hi", None, extra={"deep": [None, 1.0, 12345678901234567890123, "\ud83d"]}, timestamp="odd")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        entry = session.entries[0]
        assert session.body(entry) == made.lines[0]
        session.body(entry)["message"].clear()
        assert session.body(entry) == made.lines[0]


def test_bodies_of_odd_lines_can_be_read_too(tmp_path: Path) -> None:
    with SessionFile.load(put(tmp_path, damaged.odd_types())) as session:
        assert len(session.entries) > 150
        for entry in session.entries:
            assert isinstance(session.body(entry), dict)


def test_a_file_that_was_cut_after_reading(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as session:
        first, second = session.entries
        os.truncate(path, second.offset + 10)
        assert session.body(first)["message"]["content"] == "hi"
        with pytest.raises(SessionError, match=f"{path} was cut: line 3 is no longer there"):
            session.body(second)
        os.truncate(path, second.offset)
        with pytest.raises(SessionError, match="was cut"):
            session.raw(second)
        with pytest.raises(SessionError):
            build_session_context(session, OK)


def test_a_file_that_was_written_over(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as session:
        first, second = session.entries
        path.write_bytes(damaged.plain().replace(b'"id":"00000001"', b'"id":"99999999"').replace(b"{", b"["))
        with pytest.raises(SessionError, match=f"line 2 of {path} changed: not JSON"):
            session.body(first)
        path.write_bytes(damaged.plain().replace(b'"id":"00000002"', b'"id":"99999999"'))
        assert session.body(first)["id"] == HI
        with pytest.raises(SessionError, match=f"line 3 of {path} changed$"):
            session.body(second)
        path.write_bytes(b"5" * len(damaged.plain()))
        with pytest.raises(SessionError, match="changed"):
            session.body(second)


def test_a_message_that_vanished_from_its_line(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as session:
        path.write_bytes(damaged.plain().replace(b'"message":{', b'"massage":{'))
        context = build_session_context(session, OK)
        assert context.messages == []


def test_a_file_that_was_replaced_is_read_from_where_it_was(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as session:
        other = tmp_path / "other"
        other.write_bytes(b"nothing of the kind\n")
        other.replace(path)
        assert [session.body(entry)["id"] for entry in session.entries] == [HI, OK]
        path.unlink()
        assert build_session_context(session, OK).messages[0]["content"] == "hi"


def test_a_closed_session_keeps_its_tree_but_reads_no_more(tmp_path: Path) -> None:
    session = SessionFile.load(put(tmp_path, damaged.plain()))
    session.close()
    session.close()
    assert session.tree.leaf_id == OK
    with pytest.raises(SessionError, match="is closed"):
        session.body(session.entries[0])


def test_a_session_that_nobody_closes_ends_quietly(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "import pitree.sessions.file as module\n"
        "kept = module.SessionFile.load(sys.argv[1])\n"
        "sys.alive = [module, sys.modules['__main__']]  # so that the module is emptied before this is gone\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script, path], env=environ, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


# Paths


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SessionFile.load(tmp_path / "nowhere.jsonl")


def test_a_folder_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotASessionError, match="is not a regular file"):
        SessionFile.load(tmp_path)


def test_a_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.jsonl")
    with pytest.raises(NotASessionError, match="is not a regular file"):
        SessionFile.load(tmp_path / "fifo.jsonl")


def test_a_device_is_no_session() -> None:
    with pytest.raises(NotASessionError, match="is not a regular file"):
        SessionFile.load("/dev/zero")


def test_a_link_is_followed_and_a_broken_one_is_missing(tmp_path: Path) -> None:
    target = put(tmp_path, damaged.plain())
    (tmp_path / "link.jsonl").symlink_to(target)
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    with SessionFile.load(tmp_path / "link.jsonl") as session:
        assert len(session.entries) == 2
    for name in ("loop", "broken"):
        with pytest.raises(OSError, match=name):
            SessionFile.load(tmp_path / f"{name}.jsonl")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    path.chmod(0)
    with pytest.raises(PermissionError):
        SessionFile.load(path)


def open_files() -> int:
    listed = Path("/proc/self/fd") if Path("/proc/self/fd").is_dir() else Path("/dev/fd")
    return len(list(listed.iterdir()))


def test_a_failed_load_leaves_no_file_open(tmp_path: Path) -> None:
    before = open_files()
    for make in damaged.NO_SESSIONS:
        with pytest.raises(NotASessionError):
            SessionFile.load(put(tmp_path, make()))
    assert open_files() == before


# Progress


def test_progress_tells_how_far_it_is_and_can_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pitree.sessions.file.CHUNK_BYTES", 100)
    content = damaged.stale_leaf()
    path = put(tmp_path, content)
    told: list[tuple[int, int]] = []

    def go_on(read: int, total: int) -> bool:
        told.append((read, total))
        return True

    with SessionFile.load(path, go_on) as session:
        assert look(session) == RIGHT[damaged.stale_leaf]
    steps = [*range(100, len(content), 100), len(content)]
    assert told == [(step, len(content)) for step in steps]
    with pytest.raises(StoppedError, match="was stopped"):
        SessionFile.load(path, lambda read, _total: read < 300)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
def test_what_is_read_does_not_depend_on_the_chunks(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitree.sessions.file.CHUNK_BYTES", size)
    for make in (damaged.raw_separators, damaged.torn_tail, damaged.bad_lines, damaged.version_1):
        with SessionFile.load(put(tmp_path, make())) as session:
            assert look(session) == RIGHT[make]


# Finding an entry


def test_an_entry_is_found_by_its_id_or_the_beginning_of_it(tmp_path: Path) -> None:
    made = Session()
    for entry_id in ("abc", "abcd", "abx", "q", "line\x1b"):
        made.entry("custom", id=entry_id, customType="c")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        assert session.find("abc").id == "abc"  # a whole id counts before the beginning of another
        assert session.find("abcd").id == "abcd"
        assert session.find("abx").id == "abx"
        assert session.find("l").id == "line\x1b"
        with pytest.raises(EntryNotFoundError, match=r"3 entries of .* have an id that begins with 'ab'"):
            session.find("ab")
        for unknown in ("", "z", "abcde", "\ud83d"):
            with pytest.raises(EntryNotFoundError, match=r"no entry of .* has the id"):
                session.find(unknown)


def test_a_file_of_very_many_damaged_lines(tmp_path: Path) -> None:
    content = encode([Session().header]) + b"{\n\x00\n" * 20_000 + b"\n" * 20_000
    with SessionFile.load(put(tmp_path, content)) as session:
        assert len(session.damage) == 40_000
        assert session.damage[-1].line == 40_001
