"""Narrowing words, where a search matches, and what tools said."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from pitree.catalog.cache import Cache
from pitree.catalog.finder import Finder
from pitree.catalog.hits import Hit
from pitree.catalog.locations import Store
from pitree.catalog.narrow import Narrowing, narrowed, split_query
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.sync import update
from pitree.sessions.file import SessionFile

from .store import entry, header, known, message, write


@pytest.fixture
def cache() -> Iterator[Cache]:
    made = Cache(None)
    yield made
    made.close()


# ---- narrowing words


@pytest.mark.parametrize(
    ("typed", "words", "rest"),
    [
        ("", [], ""),
        ("plain words", [], "plain words"),
        ("fix before:2026-01 login", [("before", "2026-01")], "fix  login"),
        ("after:2026 cwd:Web", [("after", "2026"), ("cwd", "web")], ""),
        ('name:"two Words" x', [("name", "two words")], " x"),
        ("model:opus has:branches", [("model", "opus"), ("has", "branches")], ""),
        (
            "before:soon has:wings label: http://x nocwd:x",
            [],
            "before:soon has:wings label: http://x nocwd:x",
        ),
        ('"cwd:x" "a cwd:y b"', [], '"cwd:x" "a cwd:y b"'),
        ("re:cwd:x", [], "re:cwd:x"),
        ("cwd:x re:a cwd:y", [("cwd", "x")], "re:a cwd:y"),
        ("label:x before:2026-13", [("label", "x")], " before:2026-13"),
    ],
)
def test_narrowing_words_are_told_from_text(typed: str, words: list[tuple[str, str]], rest: str) -> None:
    assert split_query(typed) == (tuple(Narrowing(*word) for word in words), rest)


def at(*when: int) -> float:
    return datetime(*when).astimezone().timestamp() * 1000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "ids"),
    [
        ("before:2026-02", ["a"]),
        ("after:2026-02", ["b", "c"]),
        ("before:2026-2-2", ["a", "b"]),
        ("after:2027", []),
        ("cwd:WEB", ["a"]),
        ("name:fix", ["b"]),
        ("model:opus", ["b", "c"]),
        ("has:branches", ["a"]),
        ("has:name", ["b"]),
        ("has:labels", []),
        ("has:damage", ["c"]),
        ("has:parent", ["c"]),
        ("has:cost", ["a"]),
        ("cwd:/ has:cost before:2027", ["a"]),
    ],
)
def test_narrowing(word: str, ids: list[str], cache: Cache) -> None:
    rows = [
        known(id="a", cwd="/Web", modified=at(2026, 1, 31, 23), branches=1, cost=0.1),
        known(id="b", name="Fix it", modified=at(2026, 2, 1), models=("claude-OPUS-4",)),
        known(id="c", modified=at(2026, 3, 1), models=("gpt", "opus"), damage=1, parent_session="/p"),
    ]

    assert [row.id for row in narrowed(rows, split_query(word)[0], cache)] == ids


# ---- where it matches

TALK = [
    header("one", cwd="/web"),
    message("user", "Please fix\nthe  Login page", id="e1"),
    message("assistant", [{"type": "text", "text": "x" * 3000 + " the login works, the fix is in"}], id="e2"),
    message(
        "assistant",
        [{"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "grep -n 'needle' a.py"}}],
        id="e3",
    ),
    message(
        "toolResult",
        [{"type": "text", "text": "a.py:7: \x1b[31mneedle\x1b[0m in\nhay"}],
        toolCallId="c1",
        id="e4",
    ),
    entry(
        "message", id="e5", message={"role": "bashExecution", "command": "make haystack", "output": "done"}
    ),
    message("user", "thanks", id=5),
]


@pytest.fixture
def rows(tmp_path: Path, cache: Cache) -> list[SessionRow]:
    root = tmp_path / "store"
    write(root / "one.jsonl", *TALK)
    write(
        root / "two.jsonl",
        header("two"),
        message("user", "nothing", id="e1"),
        entry("label", targetId="e1", label="Important", id="l"),
    )
    found: list[SessionRow] = []
    update(Store(root, flat=True, source=""), cache, on_rows=lambda new, _done, _total: found.extend(new))
    return newest_first(found)


@pytest.fixture
def searched(cache: Cache, rows: list[SessionRow]) -> tuple[Cache, list[SessionRow]]:
    return cache, rows


def hit(cache: Cache, rows: list[SessionRow], typed: str, *, in_tools: bool = False) -> Hit | None:
    [row] = [row for row in rows if row.id == "one"]
    return Finder(cache).hit(row, typed, in_tools=in_tools)


@pytest.mark.parametrize(
    ("typed", "entry_id", "snippet", "matched"),
    [
        ("login", "e1", "…fix the Login page", "Login"),
        ('"the login"', "e1", "Please fix the Login page", "the Login"),
        ("login works", "e2", "…the login works, the fix is in", "login"),
        ("works", "e2", "…the login works, the fix is in", "works"),
        ("re:l.gin w", "e2", "…the login works, the fix is in", "login w"),
        ("has:cost thanks", "", "thanks", "thanks"),
    ],
)
def test_a_search_says_where(
    typed: str, entry_id: str, snippet: str, matched: str, searched: tuple[Cache, list[SessionRow]]
) -> None:
    cache, rows = searched
    found = hit(cache, rows, typed)

    assert found is not None
    assert (found.entry_id, found.snippet, found.matched) == (entry_id, snippet, matched)
    [row] = [row for row in rows if row.id == "one"]
    with SessionFile.load(row.path) as session:
        assert [entry.id for entry in session.entries if entry.offset == found.offset] == [
            entry_id or "line:7"
        ]


@pytest.mark.parametrize("typed", ["", "web", "re:(", "needle", "has:cost"])
def test_not_every_match_is_in_a_message(typed: str, cache: Cache, rows: list[SessionRow]) -> None:
    assert hit(cache, rows, typed) is None


def test_all_places(cache: Cache, rows: list[SessionRow]) -> None:
    [row] = [row for row in rows if row.id == "one"]
    finder = Finder(cache)

    assert [hit.entry_id for hit in finder.hits(row, "fix login")] == ["e1", "e2"]
    assert [hit.entry_id for hit in finder.hits(row, "fix thanks")] == ["e1", "e2", ""]
    assert [hit.role for hit in finder.hits(row, "needle", in_tools=True)] == ["assistant", "toolResult"]
    assert finder.hits(row, "web") == []


@pytest.mark.parametrize(
    ("typed", "entry_id", "snippet"),
    [
        ("needle", "e3", "…grep -n 'needle' a.py"),
        ("needle hay", "e4", "…␛[31mneedle␛[0m in hay"),
        ("re:make \\w+", "e5", "make haystack done"),
        ('"in hay"', "e4", "…in hay"),
        ("'needle'", "e3", "…grep -n 'needle' a.py"),
    ],
)
def test_what_tools_said_is_found_if_it_is_wanted(
    typed: str, entry_id: str, snippet: str, cache: Cache, rows: list[SessionRow]
) -> None:
    finder = Finder(cache)

    assert finder.find(rows, typed).rows == []
    assert [row.id for row in finder.find(rows, typed, in_tools=True).rows] == ["one"]
    found = hit(cache, rows, typed, in_tools=True)
    assert found is not None
    assert (found.entry_id, found.snippet) == (entry_id, snippet)


def test_what_was_said_comes_before_what_tools_said(cache: Cache, rows: list[SessionRow]) -> None:
    first: list[list[str]] = []

    found = Finder(cache).find(
        rows, "h", in_tools=True, on_first=lambda some: first.append([row.id for row in some])
    )

    assert [row.id for row in found.rows] == ["two", "one"] or [row.id for row in found.rows] == [
        "one",
        "two",
    ]
    assert first == [[row.id for row in found.rows]]


def test_narrowing_and_words_together(cache: Cache, rows: list[SessionRow]) -> None:
    finder = Finder(cache)

    assert [row.id for row in finder.find(rows, "cwd:web login", edition=1).rows] == ["one"]
    assert [row.id for row in finder.find(rows, "cwd:nowhere login", edition=1).rows] == []
    assert [row.id for row in finder.find(rows, "label:import", edition=1).rows] == ["two"]
    assert finder.find(rows, "cwd:web re:(", edition=1).problem is not None


def test_a_line_that_is_no_json_is_no_tool(tmp_path: Path, cache: Cache) -> None:
    path = write(tmp_path / "s.jsonl", header(), b'{"toolResult": needle', json.dumps(["toolCall"]).encode())
    row = known(path=path)

    assert Finder(cache).hit(row, "needle", in_tools=True) is None
