"""What the rows of entries say, read from the file as it is needed, and a little before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from textual import work
from textual.cache import LRUCache
from textual.timer import Timer
from textual.worker import get_current_worker

from pitree.ui.panes.searched import SearchedList
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.describe import Description
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile

# A line this long is decoded in a worker, so that no row holds up the screen (orjson: about 1 ms a megabyte,
# four for the slower way).
_LARGE_LINE: Final = 1 << 20
_KEPT: Final = 4096
_REST_SECONDS: Final = 0.03


class DescribedList(SearchedList):
    """A list whose rows are entries of a session."""

    session: SessionFile | None = None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._descriptions: LRUCache[str, Description] = LRUCache(_KEPT)
        self._awaited: set[str] = set()
        self._rest: Timer | None = None

    def entries_at(self, rows: range) -> list[Entry]:
        """Return the entries of some rows."""
        raise NotImplementedError

    def forget_descriptions(self, entries: Iterable[Entry] | None = None) -> None:
        """Forget what rows say: of some entries, or of all."""
        if entries is None:
            self._descriptions.clear()
            self._awaited.clear()
        for entry in entries or ():
            self._descriptions.discard(entry.id)

    def describe(self, entry: Entry) -> Description:
        """Return what the row of an entry says; of a large one first that it will come."""
        from pitree.sessions.describe import Description

        description = self._descriptions.get(entry.id)
        if description is None and self.session is not None:
            if entry.length > _LARGE_LINE:
                if entry.id not in self._awaited:
                    self._awaited.add(entry.id)
                    self._describe_large(self.session, entry)
                return Description("other", entry.role or entry.type, "…")
            description = self._descriptions[entry.id] = _described(self.session, entry)
        return description or Description("other", "", "")

    @work(thread=True, group="large-lines", exit_on_error=False, description=UNDESCRIBED)
    def _describe_large(self, session: SessionFile, entry: Entry) -> None:
        found = {entry: _described(session, entry)}
        self.app.call_from_thread(self._take_descriptions, session, found)
        self.app.call_from_thread(self.redraw)

    def describe_ahead(self) -> None:
        """Have ready what the next key may show, as soon as the highlight rests for a moment."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST_SECONDS, self._describe_pages)

    def _describe_pages(self) -> None:
        """Describe the pages before and after, the first and the last one, in a thread."""
        top, page, count = int(self.scroll_offset.y), self.page, self.line_count
        pages = (
            range(max(0, top - page), min(count, top + 2 * page)),
            range(min(page, count)),
            range(max(0, count - page), count),
        )
        missing = [
            entry
            for rows in pages
            for entry in self.entries_at(rows)
            if entry.id not in self._descriptions and entry.length <= _LARGE_LINE
        ]
        if missing and self.session is not None:
            self._describe_all(self.session, missing)

    @work(thread=True, exclusive=True, group="describe-ahead", exit_on_error=False, description=UNDESCRIBED)
    def _describe_all(self, session: SessionFile, entries: list[Entry]) -> None:
        worker = get_current_worker()
        found: dict[Entry, Description] = {}
        for entry in entries:
            if worker.is_cancelled:
                return
            found[entry] = _described(session, entry)
        self.app.call_from_thread(self._take_descriptions, session, found)

    def _take_descriptions(self, session: SessionFile, found: dict[Entry, Description]) -> None:
        for entry, description in found.items():
            self._awaited.discard(entry.id)  # it may be wanted again: not all are kept
            if session is self.session and session.tree.get(entry.id) is entry:
                self._descriptions[entry.id] = description


def _described(session: SessionFile, entry: Entry) -> Description:
    from pitree.sessions.describe import describe_or_say

    return describe_or_say(session, entry, entry.role or entry.type)
