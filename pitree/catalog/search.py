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
from functools import partial
from typing import Any, Final, Literal

from pitree.catalog.cache import Cache
from pitree.catalog.fuzzy import fuzzy_score
from pitree.catalog.rows import SessionRow
from pitree.sessions.query import Query, Term, on_one_line

Order = Literal["relevance", "recent"]
Rows = list[SessionRow]

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
        self._fields: tuple[Sequence[SessionRow], list[_Fields]] | None = None
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
        matching = [_Matching(term, fields) for term in terms]
        if order == "relevance":  # what is in a name comes first, so it has to be known first
            named = [place for place in places if any(each.in_name(place) for each in matching)]
            among = set(named)
            places = [*named, *(place for place in places if place not in among)]
        else:
            named = []
        found: list[tuple[float, float, int]] = []
        told = on_first is None
        for start in range(0, len(places), _AT_ONCE):
            if stop():
                return []
            chunk = places[start : start + _AT_ONCE]
            found += self._scores(rows, matching, chunk)
            if not told and len(found) >= _SCREENFUL and _AT_ONCE + start >= len(named):
                told = True
                if start + _AT_ONCE < len(places) and on_first is not None:
                    on_first(_ranked(rows, found, order, at_most=len(terms) * _TEXT))
        self._remember(terms, sorted(place for _, _, place in found))
        return _ranked(rows, found, order)

    def _fields_of(self, rows: Sequence[SessionRow]) -> "list[_Fields]":
        if self._fields is None or self._fields[0] is not rows or self._changes != self._cache.changes:
            self._results.clear()
            self._changes = self._cache.changes
            self._fields = (rows, [_Fields(row) for row in rows])
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
    ) -> list[tuple[float, float, int]]:
        """Return score, age and place of those that match."""
        unsure = [place for place in places if any(each.needs_text(place) for each in matching)]
        words: dict[int, list[bytes]] = {}
        if unsure:
            for key, piece in self._cache.words([rows[place].key for place in unsure]):
                words.setdefault(key, []).append(piece)
        found = []
        for place in places:
            total = 0.0
            key = rows[place].key
            for each in matching:
                score = each.score(place, words.get(key, []), partial(self._cache.text, key))
                if score is None:
                    break
                total += score
            else:
                found.append((total, -rows[place].modified, place))
        return found

    # ---- patterns

    def _find_pattern(
        self, rows: Sequence[SessionRow], query: Query, order: Order, stop: Callable[[], bool], budget: float
    ) -> Rows:
        deadline = time.monotonic() + budget
        found: list[tuple[float, float, int]] = []
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
    """What a search compares with, in lower case, but for the text."""

    __slots__ = ("cwd", "id", "name")

    def __init__(self, row: SessionRow) -> None:
        self.name = (row.name or "").lower()
        self.id = row.id.lower()
        self.cwd = row.cwd.lower()


class _Matching:
    """How one term matches the rows of a list."""

    def __init__(self, term: Term, fields: list[_Fields]) -> None:
        self._term = term.text
        self._is_phrase = term.is_phrase
        self._fields = fields
        self._encoded = [word.encode("utf-8", "surrogatepass") for word in term.text.split(" ")]
        self._cut_otherwise = not _NO_WORD.isdisjoint(term.text)
        self._in_cwd: dict[str, bool] = {}
        self._fuzzy_in_cwd: dict[str, float | None] = {}

    def in_name(self, place: int) -> bool:
        """Whether it stands in the name."""
        name = self._fields[place].name
        if self._is_phrase:
            return bool(name) and self._term in on_one_line(name)
        return self._term in name

    def _elsewhere(self, place: int) -> bool:
        """Whether it stands in the id or the working directory."""
        fields = self._fields[place]
        cwd = fields.cwd
        found = self._in_cwd.get(cwd)
        if found is None:
            found = self._in_cwd[cwd] = self._term in (on_one_line(cwd) if self._is_phrase else cwd)
        return found or self._term in fields.id

    def needs_text(self, place: int) -> bool:
        """Whether only the text can tell."""
        return not (self._elsewhere(place) or self.in_name(place))

    def score(self, place: int, words: list[bytes], text: Callable[[], str]) -> float | None:
        """Return the score of a row, lower is better, or None; `words` are those of its text."""
        if self.in_name(place):
            name = self._fields[place].name
            return fuzzy_score(self._term, on_one_line(name) if self._is_phrase else name)
        if self._elsewhere(place) or self._in_text(words, text):
            return _TEXT
        return None if self._is_phrase else self._fuzzy(place)

    def _in_text(self, words: list[bytes], text: Callable[[], str]) -> bool:
        if not words:
            return False
        if self._cut_otherwise:  # then the words of the text are not cut where those of the query are
            whole = text().lower()
            return self._term in (on_one_line(whole) if self._is_phrase else whole)
        for word in self._encoded:
            if not any(word in piece for piece in words):
                return False
        return not self._is_phrase or self._term in on_one_line(text().lower())

    def _fuzzy(self, place: int) -> float | None:
        fields = self._fields[place]
        cwd = fields.cwd
        if cwd not in self._fuzzy_in_cwd:
            self._fuzzy_in_cwd[cwd] = fuzzy_score(self._term, cwd)
        scores = [self._fuzzy_in_cwd[cwd], fuzzy_score(self._term, fields.name) if fields.name else None]
        return min((_FUZZY + score for score in scores if score is not None), default=None)


def _goes_on(before: tuple[Term, ...], now: tuple[Term, ...]) -> bool:
    """Whether whatever matches `now` also matches `before`: the person typed on."""
    return len(before) <= len(now) and all(
        old.text in new.text and old.is_phrase == new.is_phrase for old, new in zip(before, now, strict=False)
    )


def _ranked(
    rows: Sequence[SessionRow],
    found: list[tuple[float, float, int]],
    order: Order,
    *,
    at_most: float | None = None,
) -> Rows:
    found = sorted(found) if order == "relevance" else sorted(found, key=lambda match: match[2])
    return [rows[place] for score, _, place in found if at_most is None or score <= at_most]
