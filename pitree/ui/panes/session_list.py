"""The list of sessions: which are shown, in which order, with a highlight that stays on its session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec
from msgspec.structs import replace
from textual import work
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from pitree.catalog.arrange import Keeps, Line, Scope, View, arrange
from pitree.catalog.rows import SessionRow
from pitree.sessions.text import one_line
from pitree.ui.lineview import RowList
from pitree.ui.panes.searched import SearchedList
from pitree.ui.panes.session_line import Look, age, is_live, session_strip
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # it brings SQLite, which can wait until the first picture is there
    from pitree.catalog.finder import Finder
    from pitree.catalog.hits import Hit

# More rows than these are put in order away from the screen.
_AT_ONCE: Final = 2000
_SEEN_SECONDS: Final = 5.0
_ORDER_WORDS: Final = {
    "threaded": "families",
    "recent": "newest",
    "relevance": "best match",
    "size": "largest",
    "cost": "most expensive",
}


class Sources(msgspec.Struct, frozen=True):
    """Where the pane has everything from: `scopes` says which sessions are in which."""

    scopes: dict[Scope, Keeps]
    open_finder: Callable[[], Finder]
    keep_view: Callable[[View], None] = lambda _view: None
    clock: Callable[[], float] = time.time
    view: View = msgspec.field(default_factory=View)


class SessionList(SearchedList):
    """The sessions of a store; a subclass says what a search found."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--muted",
        "row--warning",
        "row--error",
        "sessions--name",
        "sessions--folder",
        "sessions--live",
        "sessions--marked",
        "sessions--heading",
        "tree--guide",
        "tree--match",
    }

    _searching = False
    _enter_waits = False

    class SessionHighlighted(Message, namespace="sessions_pane"):
        """The highlight rests on another session, or on none; `by_person` where somebody moved it there."""

        def __init__(self, row: SessionRow | None, *, by_person: bool) -> None:
            super().__init__()
            self.row = row
            self.by_person = by_person

    class ScopeChanged(Message, namespace="sessions_pane"):
        """Other sessions are wanted now."""

    class Changed(Message, namespace="sessions_pane"):
        """Content, search or order changed."""

    class Arranged(Message, namespace="sessions_pane"):
        """From a worker: the lines of the list, for what a search has found."""

        def __init__(self, lines: list[Line], found: list[str] | None, *, first: bool) -> None:
            super().__init__()
            self.lines = lines
            self.found = found
            self.first = first

    def __init__(self, sources: Sources, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._sources = sources
        self.view = sources.view
        """How the list is wanted."""
        if self.view.scope not in sources.scopes:
            self.view = replace(self.view, scope="folder")
        self.problem: str | None = None
        """What is wrong with the search, in words."""
        self.empty_page: list[str] = []
        """What to say when the store has no session at all."""
        self._all: dict[str, SessionRow] = {}
        self._lines: list[Line] = []
        self._told_by_time: list[tuple[bool, str]] = []
        self._count = 0
        self._matching: list[str] | None = None
        """What the search found, best first; None without a search."""
        self._arranging = False
        self._arrange_again: bool | None = None
        self._wanted: str | None = None
        self._folders: dict[str, bool] = {}
        self._marked: set[str] = set()

    # ---- for the subclass

    def _content_changed(self, changed: Iterable[str], *, at_once: bool = False) -> None:
        """Take notice that sessions at some places are others now, or gone; show it soon, or `at_once`."""
        raise NotImplementedError

    def _hit_of(self, row: SessionRow) -> Hit | None:
        """Return where the search matches in a session, as far as that is known."""
        raise NotImplementedError

    def _words(self) -> list[str]:
        """Return what is searched for, in lower case."""
        raise NotImplementedError

    # ---- content

    def add_rows(self, rows: Iterable[SessionRow], folders: dict[str, bool]) -> None:
        """Take up sessions, replacing those at the same place; `folders` says which directories exist."""
        new = {row.location: row for row in rows}
        self._all |= new
        self._folders.update(folders)
        self._content_changed(new)

    def drop_missing(self, present: set[str]) -> None:
        """Forget the sessions that are no longer in the store."""
        gone = self._all.keys() - present
        for location in gone:
            del self._all[location]
        self._marked -= gone
        self._content_changed(gone, at_once=True)

    def change_rows(self, rows: Iterable[SessionRow], folders: dict[str, bool], gone: Iterable[str]) -> None:
        """Take up sessions that came or changed, and forget those at the `gone` locations."""
        for location in gone:
            self._all.pop(location, None)
            self._marked.discard(location)
        self.add_rows(rows, folders)

    @property
    def rows_by_location(self) -> dict[str, SessionRow]:
        """A copy of all there are; may be asked for in any thread."""
        return self._all.copy()

    def tick(self, now: float) -> None:
        """Draw anew what is on the screen if time alone has changed it: live marks and ages."""
        top = int(self.scroll_offset.y)
        rows = [line.row for line in self._lines[top : top + self.page]]
        told = [(is_live(row, now), age(now - row.modified / 1000)) for row in rows if row is not None]
        if told != self._told_by_time:
            self._told_by_time = told
            self.redraw()

    def want(self, path: Path) -> None:
        """Highlight that session as soon as it is there."""
        self._wanted = str(path)
        self._rebuild()

    @property
    def everything(self) -> bool:
        """Whether more than this folder's sessions are wanted."""
        return self.view.scope != "folder"

    @property
    def highlighted(self) -> SessionRow | None:
        """The session under the highlight."""
        return self._lines[self.cursor].row if 0 <= self.cursor < len(self._lines) else None

    @property
    def shown_rows(self) -> list[SessionRow]:
        """The sessions in the list, from top to bottom."""
        return [line.row for line in self._lines if line.row is not None]

    @property
    def marked(self) -> list[SessionRow]:
        """The sessions with a mark, those that are listed in their order and then the others."""
        listed = [row for row in self.shown_rows if row.location in self._marked]
        shown = {row.location for row in listed}
        return listed + [self._all[place] for place in sorted(self._marked - shown) if place in self._all]

    def folder_is_missing(self, row: SessionRow) -> bool:
        """Whether a session's working directory is gone."""
        return not self._folders.get(row.cwd, True)

    @property
    def status(self) -> str:
        """Position and what narrows the list, in words."""
        position = self.cursor + 1
        if self._count < len(self._lines):  # headings are no sessions
            position = sum(line.row is not None for line in self._lines[:position])
        parts = [f"{position if self._count else 0}/{self._count}"]
        view = self.view
        if view.order not in ("threaded", "relevance" if self.query_text else "threaded"):
            parts.append(_ORDER_WORDS[view.order])
        if view.group != "none":
            parts.append(f"by {view.group}")
        if view.named_only:
            parts.append("named only")
        if view.nested:
            parts.append("deeper folders, too")
        if self._marked:
            parts.append(f"{len(self._marked)} marked")
        if self.query_text:
            doing = "searching" if self._searching else "search"
            parts.append(f"{doing}{' with tools' if view.in_tools else ''}: {one_line(self.query_text, 60)}")
        if self.problem:
            parts.append(self.problem)
        return "  ".join(parts)

    # ---- the lines

    def _rebuild(self, *, first: bool = False) -> None:
        """Work out the lines anew and keep the highlight on its session, or put it on the `first` one."""
        if len(self._all if self._matching is None else self._matching) <= _AT_ONCE:
            self._show(self._arranged(self._matching), first=first)
        elif self._arranging:
            self._arrange_again = first or bool(self._arrange_again)
        else:
            self._arranging = True
            self._arrange_elsewhere(self._matching, first=first)

    def _arranged(self, found: list[str] | None) -> list[Line]:
        keeps = self._sources.scopes[self.view.scope]
        rows = self._all.copy()
        wanted = rows.values() if found is None else (rows[place] for place in found if place in rows)
        listed = [row for row in wanted if keeps(row)]
        return arrange(listed, self.view, found=found is not None, now=self._sources.clock())

    @work(thread=True, group="session-order", exit_on_error=False, description=UNDESCRIBED)
    def _arrange_elsewhere(self, found: list[str] | None, *, first: bool) -> None:
        try:
            self.post_message(self.Arranged(self._arranged(found), found, first=first))
        except BaseException:
            self._arranging = False
            raise

    def on_sessions_pane_arranged(self, event: Arranged) -> None:
        """Show the lines, and work them out once more if something has changed meanwhile."""
        event.stop()
        self._arranging = False
        again, self._arrange_again = self._arrange_again, None
        shown = event.found is self._matching  # else they are those of an earlier search
        if shown:
            self._show(event.lines, first=event.first)
        if again is not None:
            self._rebuild(first=again or (event.first and not shown))

    def _show(self, lines: list[Line], *, first: bool) -> None:
        before = self.highlighted
        self._lines = lines
        self._count = sum(line.row is not None for line in lines)
        if first:
            self._wanted = None
        wanted = None if first else self._wanted or (before.location if before else None)
        removed = before is not None and before.location not in self._all
        if removed and before is not None and before.location == self._wanted:
            self._wanted = None  # else the list would begin at its top again with the next change
        place = next(
            (at for at, line in enumerate(lines) if line.row is not None and line.row.location == wanted),
            self.cursor if removed and not first else 0,  # what came after it stands there now
        )
        self._set_placeholder()
        old = (before.location, before.size, before.mtime_ns) if before else None
        self.set_rows(len(lines), place)
        now = self.highlighted
        if (now.location, now.size, now.mtime_ns) != old if now else old is not None:
            self._announce()
        self.tell(self.Changed())
        if self._enter_waits and not self._searching and not self._arranging:
            self.action_activate()

    def _set_placeholder(self) -> None:
        if self.query_text or self.view.named_only:
            from pitree.catalog.narrow import misread

            self.placeholder = [
                "No session matches.",
                *misread(self.query_text),
                "",
                f"{self.keys.way('tui.select.cancel')} leaves the search.",
            ]
        elif self.view.scope != "everything":
            where = "in this folder" if self.view.scope == "folder" else "in this repository"
            wider = "all folders"
            if self.view.scope == "folder" and "repository" in self._sources.scopes:
                wider = "this repository's, then all folders"
            self.placeholder = [f"No sessions {where}.", "", f"{self.keys.way('scope')} shows {wider}."]
            if not self._all:  # of others nothing is known yet: this may be the first start
                self.placeholder += ["", *self.empty_page[1:]]
        else:
            self.placeholder = self.empty_page

    def _announce(self, *, by_person: bool = False) -> None:
        self.tell(self.SessionHighlighted(self.highlighted, by_person=by_person))

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Remember which session that is, and say so."""
        event.stop()
        row = self.highlighted
        self._wanted = row.location if row is not None else self._wanted
        self._announce(by_person=True)
        self.tell(self.Changed())

    def validate_cursor(self, cursor: int) -> int:
        """Keep the highlight on a session: a heading is gone past."""
        cursor = super().validate_cursor(cursor)
        if cursor < len(self._lines) and self._lines[cursor].row is None:
            return cursor + 1 if cursor >= self.cursor or cursor == 0 else cursor - 1
        return cursor

    def keep_in_sight(self) -> None:
        """Scroll as little as needed to show the highlighted session, and the heading right above it."""
        above = self.cursor - 1
        if 0 <= above < len(self._lines) and self._lines[above].row is None and self.page > 1:
            self.scroll_to_region(Region(0, above, 1, 2), animate=False, force=True, immediate=True)
        else:
            super().keep_in_sight()

    def action_line_up(self) -> None:
        """Move the highlight up; from the first session to the last."""
        at_first = self.cursor == 1 and self._lines[0].row is None
        self.cursor = self.line_count - 1 if at_first or not self.cursor else self.cursor - 1

    # ---- drawing

    def line_key(self, index: int) -> object:
        """Add the time, in steps in which it can be seen."""
        return super().line_key(index), int(self._sources.clock() // _SEEN_SECONDS)

    def row_strip(self, index: int, width: int) -> Strip:
        """Draw one line."""
        line = self._lines[index]
        searched = bool(self.query_text.strip()) and self._matching is not None
        hit = None
        if searched and line.row is not None:
            hit = self._hit_of(line.row)
        look = Look(
            self._sources.clock(),
            self.view.show_paths,
            self.everything and self.view.group != "folder",
            self.folder_is_missing,
            self._words() if searched else (),
        )
        is_marked = line.row is not None and line.row.location in self._marked
        return session_strip(line, width, look, self.style, hit=hit, is_marked=is_marked)
