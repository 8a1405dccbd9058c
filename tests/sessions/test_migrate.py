"""Versions 1 and 2, read as version 3 and left as they are on disk."""

from pathlib import Path

import pytest
from agent.build import Session, encode, moment, text

from pitree.sessions.context import build_session_context
from pitree.sessions.entries import JsonObject
from pitree.sessions.file import SessionFile

HEADER: JsonObject = {"type": "session", "id": "old", "timestamp": moment(0), "cwd": "/home/ada/code"}


def said(words: str, **fields: object) -> JsonObject:
    return {
        "type": "message",
        "timestamp": moment(1),
        "message": {"role": "user", "content": words},
        **fields,
    }


def compacted(index: object) -> JsonObject:
    stored = {"summary": "short", "firstKeptEntryIndex": index, "tokensBefore": 9}
    return {"type": "compaction", "timestamp": moment(2), **stored}


def load(folder: Path, *lines: JsonObject | bytes, tail: bytes = b"") -> SessionFile:
    path = folder / "old.jsonl"
    path.write_bytes(encode([HEADER, *lines]) + tail)
    return SessionFile.load(path)


def ids(session: SessionFile) -> list[str]:
    return [entry.id for entry in session.entries]


def contents(session: SessionFile) -> list[object]:
    messages = build_session_context(session, session.tree.leaf_id).messages
    return [message.get("content", message.get("summary")) for message in messages]


def test_a_plain_list_becomes_a_chain(tmp_path: Path) -> None:
    with load(tmp_path, said("one"), said("two"), {"type": "custom", "timestamp": "x"}) as session:
        assert session.version == 1
        assert session.read_only is None
        assert [(entry.id, entry.parent_id) for entry in session.entries] == [
            ("00000001", None),
            ("00000002", "00000001"),
            ("00000003", "00000002"),
        ]
        assert session.damage == []
        assert session.body(session.entries[1]) == {**said("two"), "id": "00000002", "parentId": "00000001"}


def test_ids_are_the_same_at_every_reading_also_of_a_file_that_grew(tmp_path: Path) -> None:
    lines: list[JsonObject | bytes] = [said("one"), b"", b"torn {", said("two"), HEADER, said("three")]
    with load(tmp_path, *lines) as session:
        first = ids(session)
    with load(tmp_path, *lines) as session:
        assert ids(session) == first == ["00000001", "00000002", "00000004"]
    # the second header counts: Pi's indexes count every object
    whole = encode([said("four")])
    for size in range(len(whole) + 1):
        with load(tmp_path, *lines, tail=whole[:size]) as session:
            assert ids(session) in (first, [*first, "00000005"])
    with load(tmp_path, *lines, said("four"), said("five")) as session:
        assert ids(session) == [*first, "00000005", "00000006"]


def test_ids_that_a_version_1_file_has_all_the_same_do_not_count(tmp_path: Path) -> None:
    with load(
        tmp_path, said("one", id="x", parentId="y"), said("two", id=5, parentId=[]), said("three", id="x")
    ) as old:
        assert ids(old) == ["00000001", "00000002", "00000003"]
        assert [entry.parent_id for entry in old.entries] == [None, "00000001", "00000002"]
        assert old.damage == []


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (1, ["zero", "one", "two"]),
        (2, ["one", "two"]),
        (3, ["two"]),
        (4, []),  # its own
        (99, []),
        (0, []),  # the header's
        (-1, []),
        ("2", []),
        (None, []),
        (True, []),
    ],
)
def test_the_index_of_the_first_kept_entry_becomes_its_id(
    index: object, kept: list[str], tmp_path: Path
) -> None:
    with load(tmp_path, said("zero"), said("one"), said("two"), compacted(index), said("after")) as session:
        assert contents(session) == ["short", *kept, "after"]
        body = session.body(session.entries[3])
        assert body.get("firstKeptEntryId") == (f"{index:08x}" if kept or index in {4, 99} else None)
        if isinstance(index, int) and not isinstance(index, bool):
            assert "firstKeptEntryIndex" not in body


def test_indexes_count_objects_not_lines(tmp_path: Path) -> None:
    with load(
        tmp_path, b"", b"bad", said("gone"), b"5", said("kept"), compacted(2), said("after")
    ) as session:
        assert contents(session) == ["short", "kept", "after"]


@pytest.mark.parametrize("version", [None, 1, 2])
def test_the_old_role_of_extensions_is_custom_now(version: int | None, tmp_path: Path) -> None:
    made = Session(version=version)
    made.message("hookMessage", customType="c", content="note", display=True)
    made.edit("00000001", "edited")
    with SessionFile.load(made.write(tmp_path / "old.jsonl")) as session:
        assert session.entries[0].role == "custom"
        assert session.body(session.entries[0])["message"]["role"] == "custom"
        assert contents(session) == ["edited"]


def test_in_version_3_it_is_a_role_like_any_other(tmp_path: Path) -> None:
    made = Session()
    made.message("hookMessage", content="note")
    with SessionFile.load(made.write(tmp_path / "new.jsonl")) as session:
        assert session.entries[0].role == "hookMessage"
        assert session.body(session.entries[0])["message"]["role"] == "hookMessage"


def test_version_2_keeps_its_ids(tmp_path: Path) -> None:
    made = Session(version=2)
    root = made.user("root")
    made.assistant([text("left")])
    made.user("right", root)
    with SessionFile.load(made.write(tmp_path / "old.jsonl")) as session:
        assert ids(session) == ["00000001", "00000002", "00000003"]
        assert session.body(session.entries[2]) == made.lines[2]


def test_reading_an_old_file_leaves_it_as_it_is(tmp_path: Path) -> None:
    with load(tmp_path, said("one"), compacted(1), said("two")) as session:
        before, facts = session.path.read_bytes(), session.path.stat()
        contents(session)
        for entry in session.entries:
            session.body(entry)
    after = session.path.stat()
    assert session.path.read_bytes() == before
    assert (after.st_mtime_ns, after.st_ino, after.st_size) == (
        facts.st_mtime_ns,
        facts.st_ino,
        facts.st_size,
    )
    assert list(tmp_path.iterdir()) == [session.path]
