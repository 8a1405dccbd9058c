"""All of a search: narrowing words, the texts of the cache and, if wanted, what tools said."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from pitree.catalog.cache import Cache
from pitree.catalog.hits import Hit, all_hits, best_hit
from pitree.catalog.narrow import Narrowing, narrowed, split_query
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.scan import ScanStoppedError
from pitree.catalog.search import Order, Search
from pitree.catalog.tools import tool_hits
from pitree.sessions.query import Query, parse_query

OnFirst = Callable[[Sequence[SessionRow]], None]


class Found(NamedTuple):
    """The sessions that a search found, in their order, and what is wrong with it, in words."""

    rows: Sequence[SessionRow]
    problem: str | None = None


class Finder:
    """Searches the same sessions again and again, as letters are typed; threads may share it."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._lock = threading.Lock()
        self._search = Search(cache)
        self._known: tuple[object, tuple[Narrowing, ...], list[SessionRow]] | None = None

    def find(
        self,
        rows: Iterable[SessionRow],
        typed: str,
        order: Order = "relevance",
        *,
        in_tools: bool = False,
        edition: object = None,
        stop: Callable[[], bool] = lambda: False,
        on_first: OnFirst | None = None,
    ) -> Found:
        """Return the sessions among `rows` that match what was typed; see `Search.find`.

        Rows of the same `edition` are the same rows. With `in_tools` those follow that match only in what
        tools were told and answered: for these the files are read. Raises CacheLostError.
        """
        narrowings, rest = split_query(typed)
        query = parse_query(rest)
        with self._lock:  # a search that is no longer wanted ends soon
            known = self._known
            if known is None or edition is None or known[:2] != (edition, narrowings):
                known = (edition, narrowings, narrowed(newest_first(rows), narrowings, self.cache))
                self._known = known
            among = known[2]
            found = (
                self._search.find(among, query, order, stop=stop, on_first=on_first)
                if query.pattern is None
                else []
            )
        if query.pattern is not None:  # takes as long as it likes, and remembers nothing
            found = Search(self.cache).find(among, query, order, stop=stop)
        if in_tools and _looks_for_text(query):
            found += self._in_tools(among, found, query, stop, on_first)
        return Found(found, query.error)

    @staticmethod
    def _in_tools(
        rows: Sequence[SessionRow],
        found: Sequence[SessionRow],
        query: Query,
        stop: Callable[[], bool],
        on_first: OnFirst | None,
    ) -> list[SessionRow]:
        if found and on_first is not None:
            on_first(found)  # reading the files takes its time
        there = {row.location for row in found}
        more: list[SessionRow] = []
        for row in rows:
            if stop():
                break
            if row.location not in there:
                with suppress(OSError, ScanStoppedError):
                    if next(tool_hits(row.location, query, stop=stop), None) is not None:
                        more.append(row)
        return more

    def hit(self, row: SessionRow, typed: str, *, in_tools: bool = False) -> Hit | None:
        """Return where in a session the search matches, None where only its name, id or folder does.

        Raises CacheLostError.
        """
        query = parse_query(split_query(typed)[1])
        if not _looks_for_text(query):
            return None
        hit = best_hit(self.cache, row.key, query)
        if hit is None and in_tools:
            with suppress(OSError):
                hit = next(tool_hits(row.location, query), None)
        return hit

    def hits(self, row: SessionRow, typed: str, *, in_tools: bool = False) -> list[Hit]:
        """Return all places in a session where the search matches, in the order of the file.

        Raises CacheLostError.
        """
        query = parse_query(split_query(typed)[1])
        if not _looks_for_text(query):
            return []
        found = all_hits(self.cache, row.key, query)
        if in_tools:
            with suppress(OSError):
                found += tool_hits(row.location, query)
        return sorted(found, key=lambda hit: hit.offset)


def _looks_for_text(query: Query) -> bool:
    return query.error is None and bool(query.terms or query.pattern is not None)
