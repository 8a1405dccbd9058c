"""Changes are written only where what they were decided on still holds."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pitree.sessions import writing
from pitree.sessions.appending import MOVE_TYPE, Appender, Move, Summary
from pitree.sessions.branching import FileLists
from pitree.sessions.errors import (
    ChangedError,
    EntryNotFoundError,
    MigrationNeededError,
    NotASessionError,
    ReadOnlyError,
    SessionError,
    WriteError,
)
from pitree.sessions.file import SessionFile
from pitree.sessions.moves import State

from . import damaged
from .damaged import HI, OK
from .test_writing import files_of_at_most


def put(folder: Path, content: bytes) -> Path:
    path = folder / "session.jsonl"
    path.write_bytes(content)
    return path


def last(path: Path) -> dict[str, object]:
    entry = json.loads(path.read_bytes().splitlines()[-1])
    assert isinstance(entry, dict)
    del entry["id"], entry["timestamp"]
    return entry


def state(path: Path) -> State:
    with SessionFile.load(path) as session:
        return State.of(session.tree)


def test_a_move(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        added = session.move(Move(HI, state(path)))
        assert session.tree.leaf_id == added
        assert session.move(Move(added, State.of(session.tree))) is None, "it is there already"
    assert last(path) == {
        "type": "custom",
        "customType": "pitree.leaf",
        "data": {"from": OK, "to": HI},
        "parentId": HI,
    }
    assert MOVE_TYPE == "pitree.leaf"


def test_a_move_before_the_first_entry(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        session.move(Move(None, state(path)))
    assert last(path)["parentId"] is None


def test_a_move_with_a_summary(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    summary = Summary("was nothing", FileLists(("a",), ("b",)), {"totalTokens": 5})
    with Appender(path) as session:
        session.move(Move(HI, state(path), summary))
    assert last(path) == {
        "type": "branch_summary",
        "parentId": HI,
        "fromId": OK,
        "summary": "was nothing",
        "details": {"readFiles": ["a"], "modifiedFiles": ["b"]},
        "usage": {"totalTokens": 5},
    }


def test_labels_and_names_hang_at_the_end(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        session.label(HI, "  two\nlines ", None)
        assert last(path) == {"type": "label", "parentId": OK, "targetId": HI, "label": "two lines"}
        assert session.label(HI, "two lines", "two lines") is None
        session.label(HI, " ", "two lines")
        assert "label" not in last(path)
        session.name(" a\nname ", None)
        assert last(path)["name"] == "a name"
        assert session.name("a name", "a name") is None
        session.name("", "a name")
        assert session.tree.name is None


def grown(path: Path) -> None:
    made = damaged.talk()
    made.user("meanwhile")
    path.write_bytes(made.encoded())


def relabelled(path: Path) -> None:
    made = damaged.talk()
    made.label(HI, "theirs")
    made.name("theirs")
    path.write_bytes(made.encoded())


CHANGES: dict[str, tuple[Callable[[Path], None], Callable[[Appender, State], object], str]] = {
    "move": (grown, lambda session, then: session.move(Move(HI, then)), "an entry was appended"),
    "label": (relabelled, lambda session, _: session.label(HI, "ours", None), "label was changed .*'theirs'"),
    "name": (relabelled, lambda session, _: session.name("ours", None), "name was changed .*'theirs'"),
    "clearing": (relabelled, lambda session, _: session.name("", "old"), "name was changed"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("opened_before", [True, False])
def test_what_has_changed_meanwhile_is_said(name: str, opened_before: bool, tmp_path: Path) -> None:
    change, write, told = CHANGES[name]
    path = put(tmp_path, damaged.plain())
    then = state(path)
    if not opened_before:
        change(path)
    with Appender(path) as session:
        change(path)
        before = path.read_bytes()
        with pytest.raises(ChangedError, match=told):
            write(session, then)
        assert path.read_bytes() == before


def test_a_label_does_not_mind_other_entries(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        grown(path)
        session.label(HI, "ours", None)
        assert session.tree.label(HI) == "ours"
        assert session.tree.path(session.tree.leaf_id)[-2].line == 4, "at the end as it is now"


def test_an_entry_that_is_gone(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        with pytest.raises(EntryNotFoundError, match="'gone'"):
            session.label("gone", "x", None)
        with pytest.raises(EntryNotFoundError, match="'gone'"):
            session.move(Move("gone", State.of(session.tree)))
    assert path.read_bytes() == damaged.plain()


def test_a_move_is_taken_back_while_nothing_was_built_on_it(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        moved = session.move(Move(HI, state(path)))
        assert moved is not None
        session.label(HI, "noted", None)
        session.name("named", None)
        session.move_back(moved, OK)
        assert last(path)["parentId"] == OK
        with pytest.raises(ChangedError, match="gone on since"):
            session.move_back(moved, OK)
        assert [entry.id for entry in session.tree.path(session.tree.leaf_id)][:2] == [HI, OK]


def test_a_move_that_was_built_on_stays(tmp_path: Path) -> None:
    made = damaged.talk()
    moved = made.entry("custom", HI, customType=MOVE_TYPE)
    made.user("on from here")
    path = put(tmp_path, made.encoded())
    with Appender(path) as session, pytest.raises(ChangedError, match="gone on since"):
        session.move_back(moved, OK)
    assert path.read_bytes() == made.encoded()


@pytest.mark.parametrize("version", [1, 2])
def test_old_versions_are_migrated_only_when_asked_for(version: int, tmp_path: Path) -> None:
    old = damaged.version_1() if version == 1 else damaged.talk(version=2).encoded()
    path = put(tmp_path, old)
    with Appender(path) as session:
        with pytest.raises(MigrationNeededError, match=f"is of version {version}"):
            session.name("x", None)
        assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == old
    with Appender(path, migrate=True) as session:
        session.label(session.tree.entries[0].id, "first", None)
        assert session.kept == path.with_name(f"session.jsonl.v{version}")
        assert session.kept.read_bytes() == old
        assert session.tree.label(session.tree.entries[0].id) == "first"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (damaged.of_a_later_version, ReadOnlyError),
        (damaged.title_before_header, ReadOnlyError),
        (damaged.empty, NotASessionError),
    ],
    ids=lambda made: getattr(made, "__name__", ""),
)
def test_what_must_not_be_written_to(make: damaged.Make, error: type[SessionError], tmp_path: Path) -> None:
    path = put(tmp_path, make())
    with pytest.raises(error, match=str(path)), Appender(path, migrate=True) as session:
        session.name("x", None)
    assert path.read_bytes() == make()


def test_a_file_that_vanished(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with Appender(path) as session:
        path.unlink()
        with pytest.raises(SessionError, match=f"{path} cannot be"):
            session.name("x", None)
    assert list(tmp_path.iterdir()) == []


# ---- sessions that have been read already


def test_what_is_known_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.plain() + b'{"torn')
    with SessionFile.load(path) as known:
        before = State.of(known.tree)
        with monkeypatch.context() as patched:

            def fail(*_: object) -> None:
                raise AssertionError("the file is read again")

            patched.setattr(SessionFile, "load", fail)
            with Appender(path, known=known) as session:
                added = session.label(HI, "noted", None)
        assert State.of(known.tree) == before, "what was read stays as it is"
        assert [entry.id for entry in known.refresh().entries] == [added]
        assert known.tree.label(HI) == "noted"
    assert path.read_bytes().startswith(damaged.plain() + b'{"torn\n{"type":"label"')


def read_and_not_taken(path: Path, known: SessionFile) -> None:
    grown(path)
    known.read_growth()


def replaced(path: Path, _known: SessionFile) -> None:
    made = damaged.talk()
    made.user("meanwhile")
    beside = path.with_name("beside")
    beside.write_bytes(made.encoded())
    beside.replace(path)


def changed_in_place(path: Path, _known: SessionFile) -> None:
    path.write_bytes(damaged.plain().replace(b'"hi"', b'"HI"'))


def closed(_path: Path, known: SessionFile) -> None:
    known.close()


@pytest.mark.parametrize(
    "change",
    [lambda path, _: grown(path), read_and_not_taken, replaced, changed_in_place, closed],
    ids=["grown", "read", "replaced", "in place", "closed"],
)
def test_what_is_known_and_no_longer_so_is_read_again(
    change: Callable[[Path, SessionFile], None], tmp_path: Path
) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as known:
        then = State.of(known.tree)
        change(path, known)
        last_before = json.loads(path.read_bytes().splitlines()[-1])["id"]
        with Appender(path, known=known) as session:
            session.label(HI, "noted", None)
            assert last(path)["parentId"] == last_before
            with pytest.raises(ChangedError):
                session.move(Move(HI, then))


def test_what_is_known_and_old_is_migrated_as_ever(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.version_1())
    with SessionFile.load(path) as known, Appender(path, migrate=True, known=known) as session:
        session.name("x", None)
        assert session.kept is not None


def test_a_file_that_is_rewritten_while_appending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.plain())
    real = writing.append_lines

    def rewritten(fd: int, path: Path, lines: list[bytes]) -> None:
        real(fd, path, lines)
        path.write_bytes(damaged.plain())

    monkeypatch.setattr(writing, "append_lines", rewritten)
    with (
        SessionFile.load(path) as known,
        Appender(path, known=known) as session,
        pytest.raises(WriteError, match="was rewritten while"),
    ):
        session.name("x", None)


@pytest.mark.parametrize("more", [0, 1, 60])
@pytest.mark.parametrize("knows", [False, True])
def test_a_full_disk(more: int, knows: bool, tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionFile.load(path) as known, Appender(path, known=known if knows else None) as session:
        with (
            files_of_at_most(path.stat().st_size + more),
            pytest.raises(WriteError, match=f"{path} could not be appended to: .*; it is as it was"),
        ):
            session.label(HI, "x" * 100, None)
        assert path.read_bytes() == damaged.plain()
        session.label(HI, "x" * 100, None)
    assert last(path)["label"] == "x" * 100
