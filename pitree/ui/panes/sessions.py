"""The Sessions pane: the list of sessions, its keys and its search."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec.structs import replace
from textual import work
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from pitree.catalog.arrange import GROUPS, ORDERS, SCOPES, View
from pitree.catalog.errors import CacheLostError
from pitree.catalog.rows import SessionRow
from pitree.ui.keys import SESSIONS_KEYS, bindings
from pitree.ui.panes.session_list import SessionList, Sources
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.hits import Hit

__all__ = ["SessionsPane", "Sources"]

# Between two pictures of a list that is being read: at least this, or this many times what one took.
_REST_SECONDS: Final = 0.1
_REST_TIMES: Final = 6
_PAUSE_SECONDS: Final = 0.1
_PAUSE_STEPS: Final = 10


class SessionsPane(SessionList):
    """The sessions of a store, searched by typing."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SESSIONS_KEYS)

    class HitChanged(Message):
        """It is known now where the search matches in the highlighted session."""

    class Unkept(Message):
        """How the list is wanted could not be kept for the next time."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class Found(Message):
        """From a worker: the sessions that match, best first, or what is wrong with the search.

        `first` where the highlight goes to the best one; `more` where others follow.
        """

        def __init__(
            self, typed: str, rows: Iterable[SessionRow], problem: str | None, *, first: bool, more: bool
        ) -> None:
            super().__init__()
            self.typed = typed
            self.locations = [row.location for row in rows]
            self.problem = problem
            self.first = first
            self.more = more

    class HitsFound(Message):
        """From a worker: where a search matches in some sessions, by location."""

        def __init__(self, search: object, hits: dict[str, Hit | None]) -> None:
            super().__init__()
            self.search = search
            self.hits = hits

    def __init__(self, sources: Sources, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(sources, id=id)
        self._edition = 0
        """Another number whenever there are other sessions."""
        self._hits: dict[str, Hit | None] = {}
        self._hits_wanted: set[str] = set()
        self._refresh_from = 0.0
        self._refresh_timer: Timer | None = None
        self._search_runs = self._search_again = False

    # ---- keys

    def _change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of a view
        self.view = replace(self.view, **changes)
        try:
            self._sources.keep_view(self.view)
        except OSError as error:
            self.post_message(self.Unkept(f"not kept for the next time: {error.strerror or error}"))
        if changes.keys() & {"scope", "nested"}:
            self.tell(self.ScopeChanged())
        if self.query_text.strip() and changes.keys() & {"order", "in_tools"}:
            self._hits.clear()
            self._begin_search(first=True)
        self.redraw()
        self._rebuild()

    def action_next_scope(self) -> None:
        """Show this folder, this repository, or everything."""
        there = [scope for scope in SCOPES if scope in self._sources.scopes]
        self._change(scope=there[(there.index(self.view.scope) + 1) % len(there)])

    def action_next_order(self) -> None:
        """Put the sessions in another order."""
        self._change(order=ORDERS[(ORDERS.index(self.view.order) + 1) % len(ORDERS)])

    def action_next_group(self) -> None:
        """Group by folder, by day, or not at all."""
        self._change(group=GROUPS[(GROUPS.index(self.view.group) + 1) % len(GROUPS)])

    def action_toggle_named(self) -> None:
        """Show only sessions with a name, or all."""
        self._change(named_only=not self.view.named_only)

    def action_toggle_path(self) -> None:
        """Show the files' paths instead of names."""
        self._change(show_paths=not self.view.show_paths)

    def action_toggle_nested(self) -> None:
        """Show the sessions in deeper folders, too, or only where Pi looks."""
        self._change(nested=not self.view.nested)

    def action_toggle_tools(self) -> None:
        """Search what tools were told and answered, too, or only what was said."""
        self._change(in_tools=not self.view.in_tools)

    def action_toggle_mark(self) -> None:
        """Mark the highlighted session, or take its mark away, and go on to the next."""
        row = self.highlighted
        if row is None:
            return
        self._marked ^= {row.location}
        self.redraw()
        self.tell(self.Changed())
        if self.cursor < self.line_count - 1:
            self.action_line_down()

    def action_mark_all(self) -> None:
        """Mark all sessions that are listed; where they are, take all marks away."""
        listed = {row.location for row in self.shown_rows}
        self._marked = set() if listed <= self._marked else self._marked | listed
        self.redraw()
        self.tell(self.Changed())

    def action_clear_search(self) -> None:
        """Leave the search; the highlight stays on its session."""
        self.set_query("")

    # ---- searching

    def set_query(self, query: str) -> None:
        """Search for words, `"phrases"` or `re:PATTERN`, narrowed by words such as `before:2026-01`."""
        if query != self.query_text:
            self.query_text = query
            self._hits.clear()
            if query.strip():
                self._begin_search(first=True)  # what matches best is what Enter would take
            else:
                self._matching = self.problem = None
                self._searching = self._enter_waits = self._search_runs = self._search_again = False
                self._rebuild()
            self.tell(self.Changed())

    def action_activate(self) -> None:
        """Act on the highlighted session; while a search is under way, on what it will find."""
        self._enter_waits = self._searching or (self._arranging and bool(self.query_text))
        if not self._enter_waits:
            super().action_activate()

    def _content_changed(self, changed: Iterable[str], *, at_once: bool = False) -> None:
        self._edition += 1
        for location in changed:
            self._hits.pop(location, None)
        now = time.monotonic()
        if at_once or now >= self._refresh_from:
            self._refresh_all()
        elif self._refresh_timer is None:
            self._refresh_timer = self.set_timer(self._refresh_from - now, self._refresh_all)

    def _refresh_all(self) -> None:
        """Show what there is now; while a store is read, no more often than leaves room for the reading."""
        if self._refresh_timer is not None:
            self._refresh_timer.stop()
            self._refresh_timer = None
        began = time.monotonic()
        self._rebuild()
        if self.query_text.strip():
            self._begin_search(first=False)
        ended = time.monotonic()
        self._refresh_from = ended + max(_REST_SECONDS, _REST_TIMES * (ended - began))

    def _begin_search(self, *, first: bool) -> None:
        if not self.query_text.strip():
            return  # it was left meanwhile
        if not first and self._search_runs:
            self._search_again = True  # its result is shown before it is searched once more
            return
        self._searching = self._searching or first
        self._search_runs = True
        self._search(list(self._all.values()), self._edition, self.query_text, self.view, first=first)

    @work(thread=True, exclusive=True, group="session-search", exit_on_error=False, description=UNDESCRIBED)
    def _search(self, rows: list[SessionRow], edition: int, typed: str, view: View, *, first: bool) -> None:
        """Search away from the screen: years of conversations, or a pattern that takes its time."""
        worker = get_current_worker()

        def on_first(some: Iterable[SessionRow]) -> None:
            if not worker.is_cancelled:
                self.post_message(self.Found(typed, some, None, first=first, more=True))
            # the rest is for later: now they have to be drawn, and mostly another letter comes
            for _ in range(_PAUSE_STEPS):
                if not worker.is_cancelled:
                    time.sleep(_PAUSE_SECONDS / _PAUSE_STEPS)

        try:
            found = self._sources.open_finder().find(
                rows,
                typed,
                "recent" if view.order == "recent" else "relevance",
                in_tools=view.in_tools,
                edition=edition,
                stop=lambda: worker.is_cancelled,
                on_first=on_first if view.order not in ("size", "cost") and first else None,
            )
        except CacheLostError as error:
            if not worker.is_cancelled:
                self.post_message(
                    self.Found(
                        typed,
                        [],
                        f"{error}; {self.keys.way('reload')} reads everything again",
                        first=first,
                        more=False,
                    )
                )
            return
        if not worker.is_cancelled:
            self.post_message(self.Found(typed, found.rows, found.problem, first=first, more=False))

    def on_sessions_pane_found(self, event: Found) -> None:
        """Show what was found, if it is still what is wanted; until then the former result stays."""
        event.stop()
        if event.typed != self.query_text:
            return
        if not event.more:
            self._search_runs = False
            if self._search_again:
                self._search_again = False
                self.call_later(self._begin_search, first=False)
        goes_on = not self._searching and event.first  # the rest of what is on the screen
        self._matching = event.locations
        self.problem = event.problem
        self._searching = False
        self._rebuild(first=event.first and not goes_on)

    def _words(self) -> list[str]:
        from pitree.catalog.narrow import split_query
        from pitree.sessions.query import parse_query

        return [term.text for term in parse_query(split_query(self.query_text)[1]).terms]

    # ---- where it matches

    @property
    def hit(self) -> Hit | None:
        """Where the search matches in the highlighted session, as far as that is known."""
        row = self.highlighted
        return None if row is None or self._matching is None else self._hits.get(row.location)

    def _hit_of(self, row: SessionRow) -> Hit | None:
        """Return where the search matches in a session; where that is not known it will be looked for."""
        location = row.location
        if location not in self._hits and location not in self._hits_wanted:
            if not self._hits_wanted:
                self.call_later(self._look_for_hits)
            self._hits_wanted.add(location)
        return self._hits.get(location)

    def _look_for_hits(self) -> None:
        rows = [self._all[place] for place in self._hits_wanted if place in self._all]
        self._hits_wanted.clear()
        now = self.highlighted
        rows.sort(key=lambda row: now is None or row.location != now.location)
        self._find_hits(rows, self._searched_for)

    @property
    def _searched_for(self) -> tuple[str, bool]:
        return self.query_text, self.view.in_tools

    @work(thread=True, group="session-hits", exit_on_error=False, description=UNDESCRIBED)
    def _find_hits(self, rows: list[SessionRow], search: tuple[str, bool]) -> None:
        hits: dict[str, Hit | None] = {}
        for row in rows:
            if search != self._searched_for:
                return
            try:
                hits[row.location] = self._sources.open_finder().hit(row, search[0], in_tools=search[1])
            except CacheLostError:
                return
        self.post_message(self.HitsFound(search, hits))

    def on_sessions_pane_hits_found(self, event: HitsFound) -> None:
        """Show where the search matches."""
        event.stop()
        if event.search != self._searched_for:
            return
        self._hits |= event.hits
        self.redraw()
        row = self.highlighted
        if row is not None and row.location in event.hits:
            self.tell(self.HitChanged())
