"""What is read and written again is the same JSON value, wherever an entry goes."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from agent.build import Json, Session, encode, moment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree import SessionManager
from pitree.sessions.errors import EntryNotFoundError, InvalidValueError, SessionError
from pitree.sessions.jsonl import encode_value, parse_value
from pitree.sessions.reader import TreeNode

from . import damaged
from .damaged import HI, OK
from .lines import EVERY_LINE
from .values import json_values, same, texts

LONG = Decimal("7" * 5000)


KNOWN = {key for line in EVERY_LINE for key in line}


def user(content: object, **more: object) -> Json:
    return {"role": "user", "content": content, "timestamp": 1, **more}


@st.composite
def stored_sessions(draw: st.DrawFn) -> list[Json]:
    """Make well-linked entries of all types, with any values in unknown fields and in any order of keys."""
    made: list[Json] = []
    for number in range(1, 1 + draw(st.integers(1, 6))):
        entry = dict(draw(st.sampled_from(EVERY_LINE)))
        entry.update(
            draw(st.dictionaries(texts.filter(lambda key: key not in KNOWN), json_values, max_size=3))
        )
        entry.update({"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number > 1 else None})
        made.append(dict(draw(st.permutations(list(entry.items())))))
    return made


def written(entries: list[Json], folder: Path) -> Path:
    path = folder / "session.jsonl"
    header = Session(cwd=str(folder)).header
    path.write_bytes(b"".join(encode_value(line) + b"\n" for line in [header, *entries]))
    return path


def on_disk(path: Path) -> list[Any]:
    return [parse_value(line) for line in path.read_bytes().splitlines()]


def are_same(entries: list[Json], others: list[Json]) -> bool:
    return len(entries) == len(others) and all(map(same, entries, others))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(entries=stored_sessions(), message=json_values)
def test_values_stay_what_they_are(
    entries: list[Json], message: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("values")
    path = written(entries, folder)
    content = path.read_bytes()
    with SessionManager.open(path) as session, SessionManager.in_memory(entries=entries) as in_memory:
        assert are_same(session.get_entries(), entries)
        assert are_same(in_memory.get_entries(), entries)
        for entry in entries:
            for one in (session, in_memory):
                found = one.get_entry(entry["id"])
                assert same(found, entry)
                assert are_same(one.get_branch(entry["id"]), entries[: entries.index(entry) + 1])

        # a new entry
        for one in (session, in_memory):
            one.branch(entries[-1]["id"])
            added = one.get_entry(one.append_message(user(message, more=message)))
            assert added is not None
            assert same(added["message"], user(message, more=message))
        assert path.read_bytes().startswith(content)
        assert same(on_disk(path)[-1], session.get_leaf_entry())

        # another session: to the byte
        with SessionManager.fork_from(path, folder, folder / "forks") as fork:
            forked = fork.get_session_file()
            assert forked is not None
            assert forked.read_bytes().partition(b"\n")[2] == path.read_bytes().partition(b"\n")[2]
            assert fork.get_header()["parentSession"] == str(path)
            assert are_same(fork.get_entries(), session.get_entries())

        # a branch: but for what links the entries
        expected = [entry for entry in session.get_branch() if entry["type"] != "label"]
        leaf = session.get_leaf_id()
        assert leaf is not None
        for one in (session, in_memory):
            one.create_branched_session(one.get_leaf_id() or "")
            branched = [entry for entry in one.get_entries() if entry["type"] != "label"]
            for place, (entry, original) in enumerate(zip(branched, expected, strict=True)):
                parent = branched[place - 1]["id"] if place else None
                assert entry["parentId"] == parent
                if one is session or place < len(expected) - 1:
                    boundary = {"firstKeptEntryId": entry.get("firstKeptEntryId", 0)}
                    boundary = boundary if "firstKeptEntryId" in original else {}
                    assert same(entry, {**original, "parentId": parent, **boundary})


def test_numbers_and_texts_of_all_kinds(tmp_path: Path) -> None:
    values = [
        LONG,
        -LONG,
        2**64,
        -(2**63) - 1,
        0.0,
        -0.0,
        1.0,
        1e300,
        5e-324,
        "\ud83d",
        "\udc00\ud83d",
        "\x00",
        "\u2028",
    ]
    with SessionManager.create(tmp_path, tmp_path) as session:
        session.append_message(user("hi"))
        added = session.append_custom_entry("c", values)
        path = session.get_session_file()
        assert path is not None
        entry = session.get_entry(added)
        assert entry is not None
        assert same(entry["data"], values)
        assert same(on_disk(path)[-1]["data"], values)
        session.branch_with_summary(added, "s", details={"values": values})
        assert same(on_disk(path)[-1]["details"], {"values": values})


@pytest.mark.parametrize("memory", [False, True])
def test_what_is_given_out_is_the_callers(memory: bool, tmp_path: Path) -> None:
    with SessionManager.in_memory() if memory else SessionManager.create(tmp_path, tmp_path) as session:
        message = user(["x"])
        added = session.append_message(message)
        message["content"].append("later")
        for entry in (session.get_entries()[0], session.get_entry(added), session.get_leaf_entry()):
            assert entry is not None
            assert entry["message"]["content"] == ["x"]
            entry["message"].clear()
        session.get_header().clear()
        session.get_tree()[0].entry.clear()
        session.build_session_context().messages[0].clear()
        assert session.get_entries()[0]["message"]["content"] == ["x"]
        assert session.get_header()["type"] == "session"


def test_places_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(damaged.plain())
    calls: list[Callable[[SessionManager], object]] = [
        lambda session: session.branch("nowhere"),
        lambda session: session.branch(""),
        lambda session: session.append_label_change("nowhere", "x"),
        lambda session: session.append_context_edit("nowhere", None),
        lambda session: session.branch_with_summary("nowhere", "x"),
        lambda session: session.create_branched_session("nowhere"),
        lambda session: session.create_branched_session(""),
    ]
    with SessionManager.open(path) as session, SessionManager.in_memory(entries=on_disk(path)) as in_memory:
        for one in (session, in_memory):
            for call in calls:
                with pytest.raises(EntryNotFoundError):
                    call(one)
                assert (one.get_leaf_id(), len(one.get_entries())) == (OK, 2)
            assert one.get_branch("nowhere") == []
            assert one.get_branch("") == []
            assert one.get_entry("nowhere") is None
            assert one.get_label("nowhere") is None
            one.branch(HI)
            with pytest.raises(EntryNotFoundError, match=f"entry {OK} is not on the active branch"):
                one.append_context_edit(OK, None)
    assert path.read_bytes() == damaged.plain()


def test_a_header_is_no_entry() -> None:
    session = SessionManager.in_memory(entries=[Session(id="mine").header, *EVERY_LINE[:1]])
    assert session.get_session_id() == "mine"
    assert len(session.get_entries()) == 1
    session = SessionManager.in_memory(session_id="made", entries=[{"type": "session"}, {**EVERY_LINE[0]}])
    assert session.get_session_id() == "made"


def test_repeated_ids_in_memory() -> None:
    first = {"type": "custom", "id": "a", "parentId": None, "timestamp": moment(1), "n": 1}
    session = SessionManager.in_memory(entries=[first, {**first, "n": 2}])
    assert [entry["n"] for entry in session.get_entries()] == [2]


def test_retained_tail(tmp_path: Path) -> None:
    """A deviation on purpose: Pi's own method cannot write it, and Pi goes by `firstKeptEntryId` alone."""
    with SessionManager.create(tmp_path, tmp_path) as session:
        first = session.append_message(user("gone"))
        tail = [user("kept")]
        session.append_compaction("short", None, 5, retained_tail=tail)
        entry = session.get_leaf_entry()
        assert entry is not None
        assert entry["retainedTail"] == tail
        assert "firstKeptEntryId" not in entry
        assert [message["role"] for message in session.build_session_context().messages] == [
            "compactionSummary",
            "user",
        ]
        session.append_compaction("again", first, 5, retained_tail=[])
        entry = session.get_leaf_entry()
        assert entry is not None
        assert (entry["firstKeptEntryId"], entry["retainedTail"]) == (first, [])


def test_in_memory_never_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "session.jsonl"
    path.write_bytes(damaged.version_1())
    with SessionManager.in_memory() as session:
        assert not session.is_persisted()
        assert session.get_session_dir() is None
        for place in (path, tmp_path / "new.jsonl"):
            session.set_session_file(place)
            session.append_message(user("hi"))
            assert session.create_branched_session(session.get_leaf_id() or "") is None
            assert session.new_session() is None
    assert {made.name for made in tmp_path.iterdir()} == {"session.jsonl"}
    assert path.read_bytes() == damaged.version_1()


@pytest.mark.usefixtures("home")
def test_a_branch_of_an_old_version_is_of_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(damaged.version_1())
    with SessionManager.open(path) as session:
        before = session.get_branch()
        made = session.create_branched_session(session.get_leaf_id() or "")
        assert made is not None
        assert session.get_entries() == before
        assert session.get_header()["version"] == 3
    with SessionManager.fork_from(path, tmp_path) as fork:
        assert fork.get_entries() == before
        assert fork.get_header()["version"] == 3
    assert path.read_bytes() == damaged.version_1()


def test_a_closed_session(tmp_path: Path) -> None:
    session = SessionManager.create(tmp_path, tmp_path)
    session.append_message(user("hi"))
    session.close()
    for call in (
        session.get_entries,
        session.build_session_context,
        lambda: session.append_session_info("x"),
    ):
        with pytest.raises(SessionError, match="is closed"):
            call()


def walked(nodes: list[TreeNode]) -> Iterator[TreeNode]:
    for node in nodes:
        yield from node.walk()


def test_a_tree_of_any_depth(tmp_path: Path) -> None:
    lines = [
        {"type": "custom", "id": f"{n}", "parentId": f"{n - 1}" if n else None, "timestamp": moment(n)}
        for n in range(20_000)
    ]
    path = tmp_path / "session.jsonl"
    path.write_bytes(encode([Session().header, *lines]))
    with SessionManager.open(path) as session:
        tree = session.get_tree()
        assert [node.entry["id"] for node in walked(tree)] == [f"{n}" for n in range(20_000)]
        assert tree != session.get_tree()
        assert len(repr(tree)) < 500
        assert len(session.get_branch()) == 20_000


def test_a_value_within_itself() -> None:
    itself: list[object] = []
    itself.append(itself)
    with SessionManager.in_memory() as session, pytest.raises(InvalidValueError):
        session.append_custom_entry("c", itself)
