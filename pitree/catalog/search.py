"""Finding sessions by what a person types, with Pi's rules and Pi's order.

Words stand in the name, the id, the messages or the working directory, or have their letters in this order
in name or directory; `"a phrase"` stands as it is but for blanks; `re:PATTERN` is a regular expression. All
of it without regard to case. A find in the name comes before one in the text, that before scattered letters.

Texts are in the cache, so only those are looked at that can decide something, the newest first: where a word
is common a screenful is found at once. Whoever types on is searched for among what was found before.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

from pitree.catalog.cache import Cache
from pitree.catalog.fuzzy import fuzzy_score
from pitree.catalog.rows import SessionRow
from pitree.sessions.query import Query, Term, on_one_line

Order = Literal["relevance", "recent"]
Rows = list[SessionRow]
_Match = tuple[float, float, int]
"""Score, age and place of a row that matches."""

_TEXT: Final = 1_000_000.0
_FUZZY: Final = 2_000_000.0
_ROW_SECONDS: Final = 1.0
_BUDGET_SECONDS: Final = 10.0
_AT_ONCE: Final = 250
_SCREENFUL: Final = 60
_KEPT_RESULTS: Final = 12
# The words of a text are cut at these as well as at what JavaScript takes for blanks.
_NO_WORD: Final = frozenset("\x1c\x1d\x1e\x1f\x85")


class Search:
    """Searching a list of sessions again and again, as letters are typed. For one thread at a time."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._fields: tuple[Sequence[SessionRow], _Fields] | None = None
        self._changes = -1
        self._results: OrderedDict[tuple[Term, ...], list[int]] = OrderedDict()
        """The places of what was found among the rows, by what was searched for."""

    def find(
        self,
        rows: Sequence[SessionRow],
        query: Query,
        order: Order = "relevance",
        *,
        stop: Callable[[], bool] = lambda: False,
        on_first: Callable[[Rows], None] | None = None,
        budget: float = _BUDGET_SECONDS,
    ) -> Rows:
        """Return those of `rows` that match, the best first, or ("recent") in the order in which they came.

        Equally good ones are ordered by activity, the newest first; give the rows in that order. A query
        with an error finds nothing, and a regular expression that takes more than `budget` seconds
        altogether, or a second in one session, becomes one. When `stop` says so the search ends and what it
        returns is of no use. `on_first` is given the first matches, as soon as they are a screenful, where
        the rest takes longer. The list `rows` must stay as it is; another list is searched from the start.
        Raises CacheLostError.
        """
        if query.error is not None:
            return []
        if query.pattern is not None:
            return self._find_pattern(rows, query, order, stop, budget)
        if not query.terms:
            return list(rows)
        return self._find_terms(rows, query.terms, order, stop, on_first)

    # ---- words and phrases

    def _find_terms(
        self,
        rows: Sequence[SessionRow],
        terms: tuple[Term, ...],
        order: Order,
        stop: Callable[[], bool],
        on_first: Callable[[Rows], None] | None,
    ) -> Rows:
        fields = self._fields_of(rows)
        places = self._candidates(rows, terms)
        matching = [_Matching(term, fields, places) for term in terms]
        named: set[int] = set()
        if order == "relevance":  # what is in a name comes first, so it has to be known first
            named.update(*(each.in_name for each in matching))
            places = [*sorted(named), *(place for place in places if place not in named)]
        found: list[_Match] = []
        told = on_first is None
        for start in range(0, len(places), _AT_ONCE):
            if stop():
                return []
            end = start + _AT_ONCE
            found += self._scores(rows, matching, places[start:end])
            if not told and len(found) >= _SCREENFUL and len(named) <= end < len(places):
                told = True
                if on_first is not None:
                    on_first(_ranked(rows, found, order, at_most=len(terms) * _TEXT))
        self._remember(terms, sorted(place for _, _, place in found))
        return _ranked(rows, found, order)

    def _fields_of(self, rows: Sequence[SessionRow]) -> "_Fields":
        if self._fields is None or self._fields[0] is not rows or self._changes != self._cache.changes:
            self._results.clear()
            self._changes = self._cache.changes
            self._fields = (rows, _Fields(rows))
        return self._fields[1]

    def _candidates(self, rows: Sequence[SessionRow], terms: tuple[Term, ...]) -> Sequence[int]:
        """Return the places of the rows that can match: where less was searched for, they were found."""
        usable = [result for before, result in self._results.items() if _goes_on(before, terms)]
        return min(usable, key=len, default=range(len(rows)))

    def _remember(self, terms: tuple[Term, ...], places: list[int]) -> None:
        self._results[terms] = places
        self._results.move_to_end(terms)
        while len(self._results) > _KEPT_RESULTS:
            self._results.popitem(last=False)

    def _scores(
        self, rows: Sequence[SessionRow], matching: "list[_Matching]", places: Sequence[int]
    ) -> "list[_Match]":
        """Return score, age and place of those that match."""
        unsure = [place for place in places if not all(place in each.without_text for each in matching)]
        words = self._cache.words([rows[place].key for place in unsure]) if unsure else []
        scores = dict.fromkeys(places, 0.0)
        for each in matching:
            keys = each.keys_with_all_words(words)
            for place in [*scores]:
                key = rows[place].key
                known = place in each.without_text
                score = each.score(place, in_text=not known and key in keys and each.is_in(key, self._cache))
                if score is None:
                    del scores[place]
                else:
                    scores[place] += score
        return [(score, -rows[place].modified, place) for place, score in scores.items()]

    # ---- patterns

    def _find_pattern(
        self, rows: Sequence[SessionRow], query: Query, order: Order, stop: Callable[[], bool], budget: float
    ) -> Rows:
        deadline = time.monotonic() + budget
        found: list[_Match] = []
        for place, row in enumerate(rows):
            if stop():
                break
            try:
                score = self._pattern_score(row, query.pattern, deadline)
            except TimeoutError:
                query.error = "the regular expression takes too long"
                return []
            if score is not None:
                found.append((score, -row.modified, place))
        return _ranked(rows, found, order)

    def _pattern_score(self, row: SessionRow, pattern: Any, deadline: float) -> float | None:  # noqa: ANN401 - late import
        for score, text in self._texts(row):
            seconds = min(_ROW_SECONDS, deadline - time.monotonic())
            if seconds <= 0:
                raise TimeoutError
            if pattern.search(text, timeout=seconds, concurrent=True):
                return score
        return None

    def _texts(self, row: SessionRow) -> Iterator[tuple[float, str]]:
        if row.name is not None:
            yield 0.0, row.name
        yield _TEXT, row.id
        yield _TEXT, self._cache.text(row.key)
        yield _TEXT, row.cwd


class _Fields:
    """What a search compares with, in lower case, but for the text; a list of each."""

    def __init__(self, rows: Sequence[SessionRow]) -> None:
        self.names = [row.name.lower() if row.name else "" for row in rows]
        self.ids = [row.id.lower() for row in rows]
        self.cwds = [row.cwd.lower() for row in rows]


class _Matching:
    """How one term matches: rows at `in_name` by their name, those `without_text` not only by their text."""

    def __init__(self, term: Term, fields: _Fields, places: Sequence[int]) -> None:
        self._term = term.text
        self._is_phrase = term.is_phrase
        self._fields = fields
        self._words = [word.encode("utf-8", "surrogatepass") for word in term.text.split(" ")]
        self._cut_otherwise = not _NO_WORD.isdisjoint(term.text)
        self._fuzzy_in_cwd: dict[str, float | None] = {}
        names, ids, cwds, text = fields.names, fields.ids, fields.cwds, term.text
        if term.is_phrase:
            self.in_name = {place for place in places if names[place] and text in on_one_line(names[place])}
        else:
            self.in_name = {place for place in places if text in names[place]}
        in_cwd = {cwd for cwd in set(cwds) if text in (on_one_line(cwd) if term.is_phrase else cwd)}
        self.without_text = self.in_name.union(
            [place for place in places if cwds[place] in in_cwd or text in ids[place]]
        )

    def keys_with_all_words(self, words: list[tuple[int, bytes]]) -> set[int]:
        """Return the keys of the texts that can hold the term, by the words that they consist of."""
        if self._cut_otherwise:  # the words of a text are not cut where those of the query are
            return {key for key, _ in words}
        first, *others = self._words
        keys = {key for key, piece in words if first in piece}
        for word in others:
            keys &= {key for key, piece in words if word in piece}
        return keys

    def is_in(self, key: int, cache: Cache) -> bool:
        """Return whether the text with these words holds the term: a word for sure."""
        if not (self._is_phrase or self._cut_otherwise):
            return True
        text = cache.text(key).lower()
        return self._term in (on_one_line(text) if self._is_phrase else text)

    def score(self, place: int, *, in_text: bool) -> float | None:
        """Return the score of a row, lower is better, or None."""
        if place in self.in_name:
            name = self._fields.names[place]
            return fuzzy_score(self._term, on_one_line(name) if self._is_phrase else name)
        if in_text or place in self.without_text:
            return _TEXT
        return None if self._is_phrase else self._fuzzy(place)

    def _fuzzy(self, place: int) -> float | None:
        cwd = self._fields.cwds[place]
        if cwd not in self._fuzzy_in_cwd:
            self._fuzzy_in_cwd[cwd] = fuzzy_score(self._term, cwd)
        best = self._fuzzy_in_cwd[cwd]
        name = self._fields.names[place]
        if name:
            in_name = fuzzy_score(self._term, name)
            if in_name is not None and (best is None or in_name < best):
                best = in_name
        return None if best is None else _FUZZY + best


def _goes_on(before: tuple[Term, ...], now: tuple[Term, ...]) -> bool:
    """Whether whatever matches `now` also matches `before`: the person typed on."""
    return len(before) <= len(now) and all(
        old.text in new.text and old.is_phrase == new.is_phrase for old, new in zip(before, now, strict=False)
    )


def _ranked(
    rows: Sequence[SessionRow],
    found: list[_Match],
    order: Order,
    *,
    at_most: float | None = None,
) -> Rows:
    found = sorted(found) if order == "relevance" else sorted(found, key=lambda match: match[2])
    return [rows[place] for score, _, place in found if at_most is None or score <= at_most]
