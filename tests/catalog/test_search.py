import threading
import time

import pytest

from pitree.catalog import search as search_module
from pitree.catalog.rows import SessionRow
from pitree.catalog.search import search
from pitree.sessions.query import Term, parse_query

from .recorded_searches import FOUND, SESSIONS
from .store import known


@pytest.fixture
def rows() -> list[SessionRow]:
    return [
        known(id=session_id, name=name, cwd=cwd, text=text, modified=1000.0 * -place)
        for place, (session_id, name, cwd, text) in enumerate(SESSIONS)
    ]


def ids(rows: list[SessionRow]) -> list[str]:
    return [row.id for row in rows]


@pytest.mark.parametrize("query", FOUND)
def test_what_pi_finds_is_found_in_that_order(query: str, rows: list[SessionRow]) -> None:
    recorded = FOUND[query]
    parsed = parse_query(query)

    assert (parsed.error is None) == (recorded is not None)
    by_relevance, by_time = recorded or ([], [])
    assert ids(search(rows, parsed)) == by_relevance
    assert ids(search(rows, parsed, "recent")) == by_time


@pytest.mark.parametrize("first", FOUND)
def test_an_earlier_search_leaves_no_trace(first: str, rows: list[SessionRow]) -> None:
    """What a row remembers for the next search is right for every search."""
    search(rows, parse_query(first))

    for query in ('"limit  of the"', "TIMEOUT", "re:limit\\s+of"):
        recorded = FOUND[query]
        assert recorded is not None
        assert ids(search(rows, parse_query(query))) == recorded[0]


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
    query: str, error: str, rows: list[SessionRow]
) -> None:
    parsed = parse_query(query)

    assert parsed.error is not None
    assert parsed.error.startswith(error)
    assert search(rows, parsed) == []


def test_equally_good_ones_come_newest_first() -> None:
    rows = [known(id=name, text="word", modified=time) for name, time in (("a", 1.0), ("b", 3.0), ("c", 2.0))]

    assert ids(search(rows, parse_query("word"))) == ["b", "c", "a"]
    assert ids(search(rows, parse_query("re:word"))) == ["b", "c", "a"]
    assert ids(search(rows, parse_query("word"), "recent")) == ["a", "b", "c"]


def test_messages_are_put_into_lower_case_once() -> None:
    row = known(text="SOME Text")

    search([row], parse_query("s"))
    remembered = row.searchable
    search([row], parse_query("so"))

    assert remembered is not None
    assert remembered.text == "some text"
    assert row.searchable is remembered


ENDLESS = "re:(?:a|a|b)+(?:a|a)+!?c$"


def endless_row() -> SessionRow:
    return known(id="0", text="a" * 5000 + "!")


def test_a_pattern_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "_ROW_SECONDS", 0.05)
    parsed = parse_query(ENDLESS)

    assert search([known(text="aac"), endless_row(), known(text="aac")], parsed) == []
    assert parsed.error == "the regular expression takes too long"
    assert search([known(text="aac")], parse_query(ENDLESS))


def test_all_rows_together_have_a_budget() -> None:
    rows = [known(text="x")] * 3
    parsed = parse_query("re:x")

    assert search(rows, parsed, budget=0.0) == []
    assert parsed.error == "the regular expression takes too long"


def test_others_work_while_a_pattern_is_matched() -> None:
    parsed = parse_query(ENDLESS)
    thread = threading.Thread(target=lambda: search([endless_row()], parsed, budget=0.9))
    longest, last = 0.0, time.monotonic()
    thread.start()
    while thread.is_alive():
        now = time.monotonic()
        longest, last = max(longest, now - last), now

    assert parsed.error == "the regular expression takes too long"
    assert longest < 0.5


def test_a_search_can_be_stopped() -> None:
    rows = [known(id=str(place), text="x") for place in range(10)]
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    assert len(search(rows, parse_query("x"), stop=stop)) == 3


def test_terms_compare_by_value() -> None:
    assert parse_query("Fix").terms == (Term("fix", is_phrase=False),)
