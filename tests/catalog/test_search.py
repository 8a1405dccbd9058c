import threading
import time
from collections.abc import Iterator

import pytest

from pitree.catalog import search as search_module
from pitree.catalog.cache import Cache
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.search import Search
from pitree.sessions.query import Term, parse_query

from .recorded_searches import FOUND, SESSIONS
from .store import kept, known


@pytest.fixture
def cache() -> Iterator[Cache]:
    made = Cache(None)
    yield made
    made.close()


@pytest.fixture
def rows(cache: Cache) -> list[SessionRow]:
    made = [
        known(id=session_id, name=name, cwd=cwd, text=text, modified=1000.0 * -place)
        for place, (session_id, name, cwd, text) in enumerate(SESSIONS)
    ]
    return kept(cache, made)


def ids(rows: list[SessionRow]) -> list[str]:
    return [row.id for row in rows]


@pytest.mark.parametrize("query", FOUND)
def test_what_pi_finds_is_found_in_that_order(query: str, cache: Cache, rows: list[SessionRow]) -> None:
    recorded = FOUND[query]
    parsed = parse_query(query)

    assert (parsed.error is None) == (recorded is not None)
    by_relevance, by_time = recorded or ([], [])
    assert ids(Search(cache).find(rows, parsed)) == by_relevance
    assert ids(Search(cache).find(rows, parsed, "recent")) == by_time


@pytest.mark.parametrize("query", FOUND)
def test_typing_letter_by_letter_finds_the_same(query: str, cache: Cache, rows: list[SessionRow]) -> None:
    searching = Search(cache)
    for end in [*range(1, len(query) + 1), *range(len(query) - 1, 0, -1)]:
        typed = query[:end]
        again = searching.find(rows, parse_query(typed))
        assert ids(again) == ids(Search(cache).find(rows, parse_query(typed)))


def test_other_rows_and_other_texts_are_searched_anew(cache: Cache, rows: list[SessionRow]) -> None:
    searching = Search(cache)
    assert ids(searching.find(rows, parse_query("hangs"))) == ["a1f0"]
    assert ids(searching.find(rows[1:], parse_query("hangs"))) == []
    more = kept(cache, [known(id="new", text="it hangs again")])
    assert ids(searching.find(more, parse_query("hangs a"))) == ["new"]


def test_a_screenful_comes_first_and_in_its_order(cache: Cache) -> None:
    rows = newest_first(
        kept(
            cache,
            [
                known(
                    id=f"{place:04}",
                    name="a wordy name" if place % 100 == 50 else None,
                    text="word" if place % 3 else "w-o-r-d",
                    modified=float(place),
                )
                for place in range(2000)
            ],
        )
    )
    first: list[list[str]] = []

    found = ids(Search(cache).find(rows, parse_query("word"), on_first=lambda some: first.append(ids(some))))

    assert len(found) == sum(place % 3 > 0 or place % 100 == 50 for place in range(2000))
    [shown] = first
    assert 60 <= len(shown) < 1000
    assert shown == found[: len(shown)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        (" A  b ", [("a", False), ("b", False)]),
        ('x"Y  z"w', [("x", False), ("y z", True), ("w", False)]),
        ('""a" "', [("a", False)]),
        ('a "b c', [("a", False), ('"b', False), ("c", False)]),
        ("a\u00a0b\ufeffc\u2028d", [("a", False), ("b", False), ("c", False), ("d", False)]),
        ("a\x1cb\x85c", [("a\x1cb\x85c", False)]),
        ('"\ufeffa\x1cb\ufeff\n c"', [("a\x1cb c", True)]),
    ],
)
def test_a_query_is_cut_into_words_and_phrases(text: str, terms: list[tuple[str, bool]]) -> None:
    parsed = parse_query(text)

    assert [(term.text, term.is_phrase) for term in parsed.terms] == terms
    assert (parsed.pattern, parsed.error) == (None, None)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("re:", "the regular expression is empty"),
        ("re:(", "regular expression: a group is not closed"),
        ("re:" + "(" * 5000 + ")" * 5000, "regular expression: not supported"),
        ("re:a{99999999}", "regular expression: too many repetitions"),
    ],
)
def test_an_error_says_what_is_wrong_and_finds_nothing(
    query: str, error: str, cache: Cache, rows: list[SessionRow]
) -> None:
    parsed = parse_query(query)

    assert parsed.error is not None
    assert parsed.error.startswith(error)
    assert Search(cache).find(rows, parsed) == []


def test_equally_good_ones_come_newest_first(cache: Cache) -> None:
    times = (("a", 1.0), ("b", 3.0), ("c", 2.0))
    rows = kept(cache, [known(id=name, text="word", modified=time) for name, time in times])
    search = Search(cache).find

    assert ids(search(rows, parse_query("word"))) == ["b", "c", "a"]
    assert ids(search(rows, parse_query("re:word"))) == ["b", "c", "a"]
    assert ids(search(rows, parse_query("word"), "recent")) == ["a", "b", "c"]


ENDLESS = "re:(?:a|a|b)+(?:a|a)+!?c$"


def endless_row() -> SessionRow:
    return known(id="0", text="a" * 5000 + "!")


def test_a_pattern_that_never_ends_is_given_up(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_ROW_SECONDS", 0.05)
    parsed = parse_query(ENDLESS)
    rows = kept(cache, [known(text="aac"), endless_row(), known(text="aac")])
    search = Search(cache).find

    assert search(rows, parsed) == []
    assert parsed.error == "the regular expression takes too long"
    assert search(rows[:1], parse_query(ENDLESS))


def test_all_rows_together_have_a_budget(cache: Cache) -> None:
    rows = kept(cache, [known(text="x"), known(text="x"), known(text="x")])
    parsed = parse_query("re:x")

    assert Search(cache).find(rows, parsed, budget=0.0) == []
    assert parsed.error == "the regular expression takes too long"


def test_others_work_while_a_pattern_is_matched(cache: Cache) -> None:
    parsed = parse_query(ENDLESS)
    rows = kept(cache, [endless_row()])
    thread = threading.Thread(target=lambda: Search(cache).find(rows, parsed, budget=0.9))
    longest, last = 0.0, time.monotonic()
    thread.start()
    while thread.is_alive():
        now = time.monotonic()
        longest, last = max(longest, now - last), now

    assert parsed.error == "the regular expression takes too long"
    assert longest < 0.5


@pytest.mark.parametrize("query", ["x", "re:x"])
def test_a_search_can_be_stopped(query: str, cache: Cache) -> None:
    rows = kept(cache, [known(id=str(place), text="x") for place in range(1000)])
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    assert len(Search(cache).find(rows, parse_query(query), stop=stop)) < 1000
    assert len(asked) == 3


def test_terms_compare_by_value() -> None:
    assert parse_query("Fix").terms == (Term("fix", is_phrase=False),)
