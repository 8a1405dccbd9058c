"""Where in a session a search matches: the messages, and a piece of each to show."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pitree.catalog.tally import Span
from pitree.sessions.query import Query, Term, on_one_line
from pitree.sessions.text import one_line

if TYPE_CHECKING:  # it brings SQLite, which the screen does without at first
    from pitree.catalog.cache import Cache

_BEFORE: Final = 12
_LENGTH: Final = 200
_PATTERN_SECONDS: Final = 0.2


class Hit(NamedTuple):
    """A message in which a search matches: its line begins at `offset`, `entry_id` is "" where it has no id.

    `snippet` is one safe line around the first match, `matched` what matched there, as it stands in it.
    """

    offset: int
    entry_id: str
    role: str
    snippet: str
    matched: str


def best_hit(cache: "Cache", key: int, query: Query) -> Hit | None:
    """Return the message in which most of a query matches, the first of those; None where none does.

    Raises CacheLostError.
    """
    best: tuple[int, Span, str] | None = None
    wanted = 1 if query.pattern is not None else len(query.terms)
    for span, text in _messages(cache, key):
        count = matching(text, query)
        if count > (best[0] if best is not None else 0):
            best = (count, span, text)
            if count == wanted:
                break
    return None if best is None else hit_in(best[1], best[2], query)


def all_hits(cache: "Cache", key: int, query: Query) -> list[Hit]:
    """Return the messages in which the whole query matches, or where there are none, something of it.

    Raises CacheLostError.
    """
    counted = [(matching(text, query), span, text) for span, text in _messages(cache, key)]
    most = 1 if query.pattern is not None else len(query.terms)
    least = most if any(count == most for count, _, _ in counted) else 1
    return [hit_in(span, text, query) for count, span, text in counted if count >= least]


def _messages(cache: "Cache", key: int) -> Iterator[tuple[Span, str]]:
    for part in cache.parts(key):
        start = 0
        for span in part.spans:
            yield span, part.text[start : start + span.length]
            start += span.length + 1


def matching(text: str, query: Query) -> int:
    """Return how many parts of the query match in a text."""
    if query.pattern is not None:
        return int(_search(query.pattern, text) is not None)
    lowered = text.lower()
    return sum(_holds(lowered, term) for term in query.terms)


def _holds(lowered: str, term: Term) -> bool:
    if not term.is_phrase:
        return term.text in lowered
    return all(word in lowered for word in term.text.split(" ")) and term.text in on_one_line(lowered)


def _search(pattern: Any, text: str) -> Any:  # noqa: ANN401 - the package `regex` comes late
    try:
        return pattern.search(text, timeout=_PATTERN_SECONDS, concurrent=True)
    except TimeoutError:
        return None


def hit_in(span: Span, text: str, query: Query) -> Hit:
    """Return what to show of a message whose text is `text`."""
    start, end = _place(text, query)
    begin = max(0, start - _BEFORE)
    if begin:  # not in the middle of a word
        begin = text.find(" ", begin, start) + 1 or begin
    snippet = one_line(text[begin : begin + _LENGTH])
    return Hit(
        span.offset,
        span.entry_id,
        span.role,
        f"…{snippet}" if begin else snippet,
        one_line(text[start : min(end, start + _LENGTH)]),
    )


def _place(text: str, query: Query) -> tuple[int, int]:
    """Return where the first match begins and ends."""
    if query.pattern is not None:
        match = _search(query.pattern, text)
        return match.span() if match is not None else (0, 0)
    found = []
    for term in query.terms:
        words = r"\s+".join(re.escape(word) for word in term.text.split(" "))
        match = re.search(words, text, re.IGNORECASE)
        if match is not None:
            found.append(match.span())
    return min(found, default=(0, 0))
