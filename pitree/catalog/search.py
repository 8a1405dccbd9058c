"""Finding sessions by what a person types, with Pi's rules and Pi's order.

Words stand in the name, the id, the messages or the working directory, or have their letters in this order
in name or directory; `"a phrase"` stands as it is but for blanks; `re:PATTERN` is a regular expression. All
of it without regard to case. A find in the name comes before one in the text, that before scattered letters.
"""

import time
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from pitree.catalog.fuzzy import fuzzy_score
from pitree.catalog.rows import Searchable, SessionRow
from pitree.sessions.query import Query, Term, on_one_line

Order = Literal["relevance", "recent"]

_TEXT: Final = 1_000_000.0
_FUZZY: Final = 2_000_000.0
_ROW_SECONDS: Final = 1.0
_BUDGET_SECONDS: Final = 10.0


def search(
    rows: Iterable[SessionRow],
    query: Query,
    order: Order = "relevance",
    *,
    stop: Callable[[], bool] | None = None,
    budget: float = _BUDGET_SECONDS,
) -> list[SessionRow]:
    """Return the rows that match, the best first, or ("recent") in the order in which they came.

    Equally good ones are ordered by activity, the newest first. A query with an error finds nothing, and a
    regular expression that takes more than `budget` seconds altogether, or a second in one session, becomes
    one. When `stop` says so the search ends and what it returns is of no use.
    """
    if query.error is not None:
        return []
    if query.pattern is None and not query.terms:
        return list(rows)
    deadline = time.monotonic() + budget
    found: list[tuple[float, float, SessionRow]] = []
    for row in rows:
        if stop is not None and stop():
            break
        if query.pattern is None:
            score = _terms_score(row, query.terms)
        else:
            try:
                score = _pattern_score(row, query.pattern, deadline)
            except TimeoutError:
                query.error = "the regular expression takes too long"
                return []
        if score is not None:
            found.append((score, -row.modified, row))
    if order == "relevance":
        found.sort(key=lambda match: match[:2])
    return [match[2] for match in found]


def _pattern_score(row: SessionRow, pattern: Any, deadline: float) -> float | None:  # noqa: ANN401 - late import
    for score, text in ((0.0, row.name), (_TEXT, row.id), (_TEXT, row.text), (_TEXT, row.cwd)):
        if text is None:
            continue
        seconds = min(_ROW_SECONDS, deadline - time.monotonic())
        if seconds <= 0:
            raise TimeoutError
        if pattern.search(text, timeout=seconds, concurrent=True):
            return score
    return None


def _terms_score(row: SessionRow, terms: tuple[Term, ...]) -> float | None:
    fields = row.searchable
    if fields is None:
        fields = row.searchable = Searchable(
            (row.name or "").lower(), row.id.lower(), row.cwd.lower(), row.text.lower()
        )
    total = 0.0
    for term in terms:
        score = _phrase_score(fields, term.text) if term.is_phrase else _word_score(fields, term.text)
        if score is None:
            return None
        total += score
    return total


def _word_score(fields: Searchable, word: str) -> float | None:
    if word in fields.name:
        return fuzzy_score(word, fields.name)
    if word in fields.id or word in fields.text or word in fields.cwd:
        return _TEXT
    scores = [score for text in (fields.name, fields.cwd) if (score := fuzzy_score(word, text)) is not None]
    return _FUZZY + min(scores) if scores else None


def _phrase_score(fields: Searchable, phrase: str) -> float | None:
    name = on_one_line(fields.name)
    if phrase in name:
        return fuzzy_score(phrase, name)
    if phrase in fields.id or phrase in fields.text or phrase in on_one_line(fields.cwd):
        return _TEXT
    if fields.one_line_text is None:
        if not all(word in fields.text for word in phrase.split(" ")):
            return None
        fields.one_line_text = on_one_line(fields.text)
    return _TEXT if phrase in fields.one_line_text else None
