"""Finding entries by words."""

from pathlib import Path

import pytest
from agent.build import Session, call, text

from pitree.sessions.file import SessionFile
from pitree.sessions.find import EntryTexts
from pitree.sessions.layout import Layout
from pitree.sessions.query import Query, parse_query

from . import damaged
from .damaged import Make

IMAGE = {"type": "image", "data": "findme" * 1000, "mimeType": "image/png"}


def built() -> Session:
    made = Session()
    made.user("Fix the LOGIN page")
    made.calls(
        text("Let me look"), call("read", "1", path="/src/Login.tsx"), call("bash", "2", command="npm test")
    )
    made.result("export function", "1")
    made.result("42 passed", "2")
    made.user([text("and the "), IMAGE, text("Straße")])
    made.entry("model_change", provider="maker", modelId="m-1")
    made.summary("tried Redux", "00000001")
    made.message("bashExecution", command="git status", output="clean")
    made.label("00000005", "Checkpoint A")
    made.name("Login work")
    made.entry("custom_message", customType="hint", content="remember the tests", display=True)
    return made


def found(made: Session, folder: Path, query: str) -> list[int]:
    with SessionFile.load(made.write(folder / "session.jsonl")) as session:
        return search(session, query)


def search(session: SessionFile, query: str) -> list[int]:
    words = EntryTexts(session)
    assert words.read()
    layout = Layout(session.tree, session.tree.leaf_id)
    matches = words.matches(layout, parse_query(query))
    assert len(matches) == len(layout.order)
    return sorted(
        session.entries[position].line - 1
        for position, match in zip(layout.order, matches, strict=True)
        if match
    )


QUERIES: dict[str, list[int]] = {
    "": [*range(1, 12)],
    "   ": [*range(1, 12)],
    "login": [1, 2, 3, 10],
    "LOGIN": [1, 2, 3, 10],
    "login page": [1],
    "page login": [1],
    "page\tLOGIN ": [1],
    "page nowhere": [],
    "user": [1, 5],
    "toolresult": [3, 4],
    "npm": [2, 4],
    "passed": [4],
    "straße": [5],
    "findme": [],  # nobody looks for the letters of an image
    "checkpoint": [5, 9],
    "checkpoint straße": [5],
    "maker/m-1": [6],
    "model change": [6],
    "redux": [7],
    "branch summary": [7],
    "git status": [8],
    "hint tests": [11],
    "remember": [11],
    "session info": [10],
}


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_what_words_find(query: str, tmp_path: Path) -> None:
    assert found(built(), tmp_path, query) == QUERIES[query]


def test_only_the_beginning_of_long_texts_is_looked_at(tmp_path: Path) -> None:
    made = Session()
    made.user("early " + "x" * 1000 + " late")
    made.assistant([text("early " + "x" * 1000 + " late"), text("second")])
    assert found(made, tmp_path, "early") == [1, 2]
    assert found(made, tmp_path, "second") == [2]
    assert found(made, tmp_path, "late") == []


def test_reading_can_be_stopped_and_goes_on(tmp_path: Path) -> None:
    made = Session()
    for number in range(1200):
        made.user(f"number{number}")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        words = EntryTexts(session)
        layout = Layout(session.tree, None)
        assert not words.read(stop=lambda: True)
        assert sum(words.matches(layout, Query())) == 0
        asked = iter([False, False, True])
        assert not words.read(stop=lambda: next(asked))
        assert sum(words.matches(layout, Query())) == 2
        assert words.read()
        assert sum(words.matches(layout, parse_query("number119"))) == 11


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = built()
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        words = EntryTexts(session)
        words.read()

        def refuse(*_: object) -> bytes:
            raise AssertionError("read again")

        monkeypatch.setattr(session, "raw", refuse)
        assert words.read()


ODD: dict[str, object] = {
    "a surrogate": "word \ud83d",
    "odd blocks": [5, None, text("word"), {"type": "text", "text": 5}],
    "a block type": [{"type": 5, "text": "no"}, text("word")],
}


@pytest.mark.parametrize("content", ODD)
def test_odd_contents_are_found_as_well(content: str, tmp_path: Path) -> None:
    made = Session()
    made.user(ODD[content])
    assert found(made, tmp_path, "user word") == [1]


def test_old_messages_of_extensions(tmp_path: Path) -> None:
    made = Session(version=2)
    made.message("hookMessage", customType="c", content="from a hook", display=True)
    assert found(made, tmp_path, "hook custom") == [1]


@pytest.mark.parametrize("make", damaged.SESSIONS, ids=lambda make: make.__name__)
def test_every_file_can_be_searched(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(make())
    with SessionFile.load(path) as session:
        assert len(search(session, "")) == len(session.entries)
        assert search(session, "no such word anywhere") == []


def test_a_file_that_is_gone_is_searched_by_what_is_known(tmp_path: Path) -> None:
    with SessionFile.load(built().write(tmp_path / "session.jsonl")) as session:
        session.path.write_bytes(b"")
        assert search(session, "login") == []
        assert search(session, "user") == [1, 5]


def test_a_phrase_stands_as_it_is_but_for_blanks(tmp_path: Path) -> None:
    made = Session()
    made.user("let me\n   look at the login page")
    made.user("look, let me at it")
    assert found(made, tmp_path, '"let me look"') == [1]
    assert found(made, tmp_path, 'login "let me"') == [1]


def test_a_pattern(tmp_path: Path) -> None:
    assert found(built(), tmp_path, "re:log.n (page|work)") == [1, 10]


def test_a_pattern_without_end_is_stopped_and_said(tmp_path: Path) -> None:
    made = Session()
    made.user("a" * 190 + "!")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        texts = EntryTexts(session)
        assert texts.read()
        query = parse_query("re:(a|aa)+$")
        assert sum(texts.matches(Layout(session.tree, None), query, seconds=0.1)) == 0
        assert query.error is not None
        assert "too long" in query.error


def test_typing_on_gives_what_a_fresh_search_gives(tmp_path: Path) -> None:
    with SessionFile.load(built().write(tmp_path / "session.jsonl")) as session:
        typed = EntryTexts(session)
        assert typed.read()
        layout = Layout(session.tree, session.tree.leaf_id)
        texts = ["l", "lo", "lo t", "lo te", '"lo', 'lo "te', 'lo "te"', 'lo "test"', "x", "lo", "n", "na"]
        for text_so_far in texts:
            query = parse_query(text_so_far)
            fresh = EntryTexts(session)
            assert fresh.read()
            assert typed.matches(layout, query) == fresh.matches(layout, query), text_so_far
