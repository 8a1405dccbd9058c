"""Finding sessions by what a person types, with Pi's rules and Pi's order.

Words stand in the name, the id, the messages or the working directory, or have their letters in this order
in name or directory; `"a phrase"` stands as it is but for blanks; `re:PATTERN` is a regular expression. All
of it without regard to case. A find in the name comes before one in the text, that before scattered letters.
"""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from pitree.catalog.fuzzy import fuzzy_score
from pitree.catalog.jsregex import PatternError, translate
from pitree.catalog.rows import Searchable, SessionRow
from pitree.sessions.javascript import WHITESPACE, trim

Order = Literal["relevance", "recent"]

_TEXT: Final = 1_000_000.0
_FUZZY: Final = 2_000_000.0
_BLANK_RUN: Final = re.compile(f"[{WHITESPACE}]+")
# What only one of JavaScript and Python takes for a blank.
_DISPUTED: Final = "\x1c\x1d\x1e\x1f\x85\ufeff"
_ROW_SECONDS: Final = 1.0
_BUDGET_SECONDS: Final = 10.0


class Term(NamedTuple):
    """One of the things that all have to be found; `text` is in lower case."""

    text: str
    is_phrase: bool


@dataclass(slots=True)
class Query:
    """What to look for: `terms`, or a compiled `pattern` of the package `regex`.

    `error` says why nothing is found, in words for the person who typed it, or is None. A search that takes
    too long puts its complaint there.
    """

    terms: tuple[Term, ...] = ()
    pattern: Any = None
    error: str | None = None


def parse_query(text: str) -> Query:
    """Return the query that was typed; a blank one finds everything."""
    typed = trim(text)
    if typed.startswith("re:"):
        return _pattern_query(trim(typed[3:]))
    if typed.count('"') % 2:  # a quotation that is still open is none
        return Query(terms=tuple(_words(typed)))
    terms: list[Term] = []
    for place, part in enumerate(typed.split('"')):
        if place % 2:
            phrase = _on_one_line(part.lower())
            terms += [Term(phrase, is_phrase=True)] if phrase else []
        else:
            terms += _words(part)
    return Query(terms=tuple(terms))


def _words(text: str) -> Iterable[Term]:
    return (Term(word.lower(), is_phrase=False) for word in _BLANK_RUN.split(text) if word)


def _on_one_line(text: str) -> str:
    if any(character in text for character in _DISPUTED):
        return trim(_BLANK_RUN.sub(" ", text))
    return " ".join(text.split())  # a third of the time


def _pattern_query(pattern: str) -> Query:
    if not pattern:
        return Query(error="the regular expression is empty")
    import regex  # late: most searches are words

    try:
        return Query(pattern=regex.compile(translate(pattern), regex.IGNORECASE))
    except PatternError as error:
        return Query(error=f"regular expression: {error}")
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        return Query(error=f"regular expression: not supported ({error})")


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
    name = _on_one_line(fields.name)
    if phrase in name:
        return fuzzy_score(phrase, name)
    if phrase in fields.id or phrase in fields.text or phrase in _on_one_line(fields.cwd):
        return _TEXT
    if fields.one_line_text is None:
        if not all(word in fields.text for word in phrase.split(" ")):
            return None
        fields.one_line_text = _on_one_line(fields.text)
    return _TEXT if phrase in fields.one_line_text else None
