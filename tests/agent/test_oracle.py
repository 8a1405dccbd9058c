"""The oracle itself: it answers, says what Pi says, and comes back after a file that Pi cannot bear."""

from pathlib import Path

import pytest

from pitree.sessions.file import SessionFile
from pitree.sessions.rows import visible_rows

from .build import Session
from .oracle import OWN_LEAF, Oracle, OracleError, OracleHangs

HANG_SECONDS = 10.0


def test_what_pi_refuses(oracle: Oracle, folder: Path) -> None:
    path = folder / "no-session.jsonl"
    path.write_bytes(b'{"type":"title"}\n')
    with pytest.raises(OracleError, match="not a valid pi session"):
        oracle.session(path)


def test_the_file_itself_is_not_opened(oracle: Oracle, folder: Path) -> None:
    made = Session(version=2)
    made.message("hookMessage", content="migrated, in the copy")
    path = folder / "old.jsonl"
    path.write_bytes(made.encoded().rstrip(b"\n"))
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert oracle.session(path)["header"]["version"] == 3
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_known_answers(oracle: Oracle, folder: Path) -> None:
    """Hold on to some right values: a comparison of two empty answers would prove nothing."""
    made = Session()
    root = made.user("root")
    made.assistant("left")
    made.label(root, "here")
    made.assistant("right", root)
    made.user("below right")
    answer = oracle.session(made.write(folder / "session.jsonl"))
    assert answer["labels"] == {root: "here"}
    assert answer["leaf"] == "00000005"
    assert answer["trees"]["default"] == [
        ["00000001", 0],
        ["00000004", 1],
        ["00000005", 2],
        ["00000002", 1],
    ]
    assert answer["trees"]["labeled-only"] == [["00000001", 0]]
    assert [message["role"] for message in answer["context"]["messages"]] == ["user", "assistant", "user"]
    moved = oracle.session(folder / "session.jsonl", None)
    assert (moved["leaf"], moved["branch"], moved["context"]["messages"]) == (None, [], [])


def test_roots_are_drawn_at_the_left(oracle: Oracle, folder: Path) -> None:
    made = Session()
    made.user("one")
    made.user("two", None)
    answer = oracle.session(made.write(folder / "session.jsonl"), OWN_LEAF)
    assert answer["trees"]["all"] == [["00000002", 0], ["00000001", 0]]


def test_search_finds_by_name_and_by_text(oracle: Oracle, tmp_path: Path) -> None:
    for words, session_id in (("apples", "id-1"), ("pears", "id-2")):
        made = Session(id=session_id)
        made.user(words)
        made.name(f"about {words}")
        made.write(tmp_path / f"{session_id}.jsonl")
    assert oracle.search(tmp_path, "pears") == ["id-2"]
    assert sorted(oracle.search(tmp_path, "re:a(pple|bout)", "recent")) == ["id-1", "id-2"]


def test_ids_that_pi_cannot_bear(oracle: Oracle, folder: Path) -> None:
    """Pi walks in circles where an entry is its own parent; pitree shows it once, and the oracle recovers."""
    made = Session()
    made.user("before")
    made.entry("message", "0000000a", id="0000000a", message={"role": "user", "content": "my own parent"})
    path = made.write(folder / "circle.jsonl")
    with pytest.raises(OracleHangs):
        oracle.session(path, timeout=HANG_SECONDS)
    with SessionFile.load(path) as session:
        assert sorted(row.entry.id for row in visible_rows(session.tree, "all")) == ["00000001", "0000000a"]
        assert any(damage.line == 3 for damage in session.damage)
    assert oracle.session(Session().write(folder / "empty.jsonl"))["entryIds"] == []
