"""The Sessions pane: the sessions of a store, newest first, with a highlight that stays on its session."""

import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import humanize
from textual import work
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from pitree.catalog.cache import Cache
from pitree.catalog.errors import CacheLostError
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.search import Search
from pitree.sessions.query import parse_query
from pitree.sessions.text import one_line
from pitree.ui.keys import SESSIONS_KEYS, bindings
from pitree.ui.lineview import RowList
from pitree.ui.panes.searched import SearchedList
from pitree.ui.rows import Span, justified

_LIVE_SECONDS = 60.0
_WIDE = 64


_UNITS = {"second": "s", "minute": "min", "hour": "h", "day": "d", "month": "mo", "year": "y"}


def age(seconds: float) -> str:
    """Return how long ago that was, in the largest unit that fits: `25 min`, `3 d`."""
    words = humanize.naturaldelta(timedelta(seconds=max(0.0, min(seconds, 1e10)))).split(",")[0].split()
    if len(words) < 2:
        return "now"
    number = "1" if words[0] in {"a", "an"} else words[0]
    return f"{number} {_UNITS.get(words[1].rstrip('s'), words[1])}"


class SessionsPane(SearchedList):
    """The list of sessions."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SESSIONS_KEYS)

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--muted",
        "row--warning",
        "row--error",
        "sessions--name",
        "sessions--folder",
        "sessions--live",
    }

    class SessionHighlighted(Message):
        """The highlight rests on another session, or on none; `by_person` where somebody moved it there."""

        def __init__(self, row: SessionRow | None, *, by_person: bool) -> None:
            super().__init__()
            self.row = row
            self.by_person = by_person

    class ScopeChanged(Message):
        """This folder or everything: the other one is wanted now."""

    class Changed(Message):
        """Content, search or order changed."""

    class Found(Message):
        """From the worker: the sessions that match a query, best first, or what is wrong with it."""

        def __init__(
            self, query_text: str, rows: list[SessionRow], problem: str | None, *, first: bool
        ) -> None:
            super().__init__()
            self.query_text = query_text
            self.rows = rows
            self.problem = problem
            self.first = first

    def __init__(
        self,
        *,
        in_folder: Callable[[SessionRow], bool],
        everything: bool,
        open_cache: Callable[[], Cache],
        clock: Callable[[], float] = time.time,
        id: str | None = None,  # noqa: A002 - Textual's name
    ) -> None:
        super().__init__(id=id)
        self._in_folder = in_folder
        self.everything = everything
        self.named_only = False
        self.show_paths = False
        self.problem: str | None = None
        """What is wrong with the search, in words."""
        self.empty_page: list[str] = []
        """What to say when the store has no session at all."""
        self._clock = clock
        self._open_cache = open_cache
        self._all: dict[str, SessionRow] = {}
        self._shown: list[SessionRow] = []
        self._matching: list[str] | None = None
        """What the search found, best first; None without a search."""
        self._searching = False
        self._enter_waits = False
        self._wanted: Path | None = None
        self._folders: dict[str, bool] = {}

    # ---- content

    def add_rows(self, rows: Iterable[SessionRow], folders: dict[str, bool]) -> None:
        """Take up sessions, replacing those with the same path; `folders` says which directories exist."""
        for row in rows:
            self._all[row.location] = row
        self._folders.update(folders)
        self._refresh_all()

    def drop_missing(self, present: set[str]) -> None:
        """Forget the sessions that are no longer in the store."""
        for path in self._all.keys() - present:
            del self._all[path]
        self._refresh_all()

    def change_rows(self, rows: Iterable[SessionRow], folders: dict[str, bool], gone: Iterable[str]) -> None:
        """Take up sessions that came or changed, and forget those at the `gone` locations."""
        for location in gone:
            self._all.pop(location, None)
        self.add_rows(rows, folders)

    @property
    def rows_by_location(self) -> dict[str, SessionRow]:
        """A copy of all there are; may be asked for in any thread."""
        return self._all.copy()

    def tick(self, now: float) -> None:
        """Draw the live marks anew where time alone changes them."""
        top = int(self.scroll_offset.y)
        for index in range(top, min(top + self.page, len(self._shown))):
            if now - self._shown[index].mtime_ns / 1e9 < _LIVE_SECONDS + 5:
                self.refresh_lines_at(index)

    def want(self, path: Path) -> None:
        """Highlight that session as soon as it is there."""
        self._wanted = path
        self._rebuild()

    @property
    def shown_rows(self) -> list[SessionRow]:
        """The sessions in the list, from top to bottom."""
        return self._shown

    @property
    def highlighted(self) -> SessionRow | None:
        """The session under the highlight."""
        return self._shown[self.cursor] if 0 <= self.cursor < len(self._shown) else None

    def folder_is_missing(self, row: SessionRow) -> bool:
        """Whether a session's working directory is gone."""
        return not self._folders.get(row.cwd, True)

    @property
    def status(self) -> str:
        """Position and what narrows the list, in words."""
        shown = len(self._shown)
        parts = [f"{self.cursor + 1 if shown else 0}/{shown}"]
        if self.named_only:
            parts.append("named only")
        if self.query_text:
            parts.append(f"search: {one_line(self.query_text, 60)}")
        if self.problem:
            parts.append(self.problem)
        return "  ".join(parts)

    def _rebuild(self, *, first: bool = False) -> None:
        """Work out the rows anew and keep the highlight on its session, or put it on the `first` one."""
        rows = [row for row in self._all.values() if self.everything or self._in_folder(row)]
        if self.named_only:
            rows = [row for row in rows if row.name]
        if self._matching is None:
            rows = newest_first(rows)
        else:
            by_path = {row.location: row for row in rows}
            rows = [by_path[path] for path in self._matching if path in by_path]
        before = self.highlighted
        self._shown = rows
        if first:
            self._wanted = None
        wanted = None if first else self._wanted or (before.path if before else None)
        removed = before is not None and before.location not in self._all
        otherwise = self.cursor if removed and not first else 0  # what came after it stands there now
        place = next((index for index, row in enumerate(rows) if row.path == wanted), otherwise)
        self._set_placeholder()
        old = (before.path, before.size, before.mtime_ns) if before else None
        self.set_rows(len(rows), place)
        now = self.highlighted
        if (now.path, now.size, now.mtime_ns) != old if now else old is not None:
            self._announce()
        self.post_message(self.Changed())

    def _set_placeholder(self) -> None:
        if self.query_text or self.named_only:
            self.placeholder = ["No session matches.", "", "Esc leaves the search."]
        elif self._all and not self.everything:
            self.placeholder = ["No sessions in this folder.", "", "Ctrl+O shows all folders."]
        else:
            self.placeholder = self.empty_page

    def _announce(self, *, by_person: bool = False) -> None:
        self.post_message(self.SessionHighlighted(self.highlighted, by_person=by_person))

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Remember which session that is, and say so."""
        event.stop()
        row = self.highlighted
        self._wanted = row.path if row is not None else self._wanted
        self._announce(by_person=True)
        self.post_message(self.Changed())

    # ---- drawing

    def row_strip(self, index: int, width: int) -> Strip:
        """Draw one session."""
        row = self._shown[index]
        now = self._clock()
        left: list[Span] = []
        if now - row.mtime_ns / 1e9 < _LIVE_SECONDS:
            left.append(Span("● ", "sessions--live"))
        if row.damage:
            left.append(Span("⚠ ", "row--warning"))
        if self.folder_is_missing(row):
            left.append(Span("⊘ ", "row--error"))
        if row.parent_session:
            left.append(Span("↳ ", "row--muted"))
        if self.show_paths:
            left.append(Span(one_line(str(row.path), 1000)))
        else:
            left.append(Span(row.title, "sessions--name" if row.name else ""))
        right: list[Span] = []
        if self.everything and width >= _WIDE:
            right.append(Span("  " + one_line(Path(row.cwd).name or row.cwd, 20), "sessions--folder"))
        right.append(Span(f"  {row.message_count:>4}  {age(now - row.modified / 1000):>6}", "row--muted"))
        return justified(left, right, width, self.style)

    # ---- keys

    def action_toggle_scope(self) -> None:
        """Show this folder, or everything."""
        self.everything = not self.everything
        self.post_message(self.ScopeChanged())
        self._rebuild()

    def action_toggle_named(self) -> None:
        """Show only sessions with a name, or all."""
        self.named_only = not self.named_only
        self._rebuild()

    def action_toggle_path(self) -> None:
        """Show the files' paths instead of names."""
        self.show_paths = not self.show_paths
        self.redraw()

    def action_clear_search(self) -> None:
        """Leave the search; the highlight stays on its session."""
        self.set_query("")

    def set_query(self, query: str) -> None:
        """Search for words, `"phrases"` or `re:PATTERN`."""
        if query != self.query_text:
            self.query_text = query
            if query.strip():
                self._searching = True
                self._search(query, first=True)  # what matches best is what Enter would take
            else:
                self._matching = self.problem = None
                self._searching = self._enter_waits = False
                self._rebuild()
            self.post_message(self.Changed())

    def action_activate(self) -> None:
        """Act on the highlighted session; while a search is under way, on what it will find."""
        self._enter_waits = self._searching
        if not self._searching:
            super().action_activate()

    def _refresh_all(self) -> None:
        self._rebuild()
        if self.query_text.strip():
            self._search(self.query_text, first=False)

    @work(thread=True, exclusive=True, group="session-search", exit_on_error=False)
    def _search(self, query_text: str, *, first: bool) -> None:
        """Search away from the screen: years of conversations, or a pattern that takes its time."""
        worker = get_current_worker()
        query = parse_query(query_text)
        try:
            rows = Search(self._open_cache()).find(
                newest_first(self._all.values()), query, stop=lambda: worker.is_cancelled
            )
        except CacheLostError:
            return
        if not worker.is_cancelled:
            self.post_message(self.Found(query_text, rows, query.error, first=first))

    def on_sessions_pane_found(self, event: Found) -> None:
        """Show what was found, if it is still what is wanted; until then the former result stays."""
        event.stop()
        if event.query_text != self.query_text:
            return
        self._matching = [row.location for row in event.rows]
        self.problem = event.problem
        self._searching = False
        self._rebuild(first=event.first)
        if self._enter_waits:
            self.action_activate()
