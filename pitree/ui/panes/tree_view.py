"""The entries of one session as rows: filtered, folded, narrowed by a search, with a highlight."""

from __future__ import annotations

import gc
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual.message import Message
from textual.strip import Strip

from pitree.sessions.filters import DEFAULT_FILTER
from pitree.sessions.text import one_line
from pitree.ui.lineview import RowList
from pitree.ui.panes.described import DescribedList
from pitree.ui.rows import entry_head, entry_text, marked, strip_of
from pitree.ui.state import Folds, FoldStore

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile
    from pitree.sessions.find import EntryTexts
    from pitree.sessions.layout import Layout
    from pitree.sessions.query import Query
    from pitree.sessions.rows import Rows

    Asked = tuple[str, Layout, int]
    """What a pattern was looked for in: the query, the layout, and how often texts had been read."""

_MANY_ENTRIES: Final = 10_000


class TreeView(DescribedList):
    """The entry tree of one session."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--muted",
        "row--warning",
        "row--error",
        "tree--guide",
        "tree--path",
        "tree--leaf",
        "tree--leaf-badge",
        "tree--label",
        "tree--match",
        "tree--user",
        "tree--assistant",
        "tree--tool",
        "tree--shell",
        "tree--summary",
        "tree--summary-text",
        "tree--note",
        "tree--setting",
        "tree--other",
    }

    class EntryHighlighted(Message):
        """The highlight rests on another entry, or on none."""

        def __init__(self, session: SessionFile | None, entry: Entry | None) -> None:
            super().__init__()
            self.session = session
            self.entry = entry

    class Unkept(Message):
        """What should be remembered cannot be; `reason` is safe to print."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class Changed(Message):
        """Filter, search or content changed: what the status line says of the tree is old."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.filter = DEFAULT_FILTER
        self.fold_store = FoldStore(None)
        self.folds = Folds()
        self.rows: Rows | None = None
        self.searching = False
        """Whether texts are being read for the search."""
        self.following = True
        """Whether a highlight on the leaf goes with the leaf as the session grows."""
        self.unseen = 0
        """How many entries came while the highlight was elsewhere."""
        self._spared = False
        self._texts_are_behind = False
        self._layout_of_all: Layout | None = None
        self._texts: EntryTexts | None = None
        self._pan = 0
        self._wanted: str | None = None
        self._problem: list[str] = []
        self._before_search: str | None = None
        self.narrowed = True
        """Whether a search hides what does not match; else it only marks what does."""
        self.label_times = False
        self._matches: bytes | None = None
        self.matching: Sequence[int] = ()
        """The rows that the search looks for, in order; once for each search, not for each key."""
        self._query: Query | None = None
        """What is searched for, where something was."""
        self._pattern_matches: tuple[Asked, bytes] | None = None
        self._times_read = 0
        """How often texts were read: what a pattern found before misses what came with them."""

    # ---- content

    def show(
        self,
        session: SessionFile | None,
        layout: Layout | None,
        *,
        keep: bool = False,
        problem: str | None = None,
    ) -> None:
        """Show a session, laid out, with the highlight on its leaf; or what kept it from being read.

        With `keep` it is another reading of the same file: highlight, folds, filter and search stay.
        """
        self._problem = textwrap.wrap(one_line(problem, 2000), 60) if problem else []
        # what was wanted outlives a moment in which there is nothing to highlight
        shown = self._wanted if self.highlighted is None else self.highlighted.id
        on_leaf = shown in {None, self._leaf_id}
        followed = not keep or (self.following and on_leaf)
        before = self.rows if keep and self.session is not None and not self.session.complete else None
        self._wanted = None if followed else self._wanted
        another = session is not self.session
        self.session = session
        self.forget_descriptions()
        self._texts = None
        self.unseen = 0
        self.stop_reading_texts()
        if not keep:
            self.folds = Folds() if session is None else self.fold_store.load(session.path)
            self.query_text = ""
            self._query = None
        self._layout_of_all = layout
        if session is not None and followed:
            self._wanted = session.tree.leaf_id
        self._rebuild(center=not keep, in_column_of=before)
        if self.query_text:
            self.read_texts()
        else:
            self.read_ahead()
        if another:
            self._spare_from_collecting(session)

    def _spare_from_collecting(self, session: SessionFile | None) -> None:
        """Have the garbage collector leave a large session alone, as long as it is shown.

        It would go through millions of places again and again, 50 to 100 ms each time: keys would be seen to
        stick. But the workers that dealt with a session are cycles that hold it, and would for ever.
        """
        large = session is not None and len(session.entries) > _MANY_ENTRIES
        if self._spared:
            gc.unfreeze()
            if large:
                gc.collect()
        if large:
            gc.freeze()
        self._spared = large

    def grow(self, entries: Sequence[Entry]) -> None:
        """Take up `entries` that were appended to the session, whose tree has them by now.

        The highlight goes with the leaf if it was there; else nothing moves under it.
        """
        from pitree.sessions.rows import NOTES

        follows = self.following and (self.rows is None or not len(self.rows) or self._is_on_leaf)
        former = self._leaf_id
        if self._layout_of_all is not None:
            self._layout_of_all = self._layout_of_all.grown(entries)
        self.forget_descriptions(entries)
        if follows:
            self._wanted = self._leaf_id
        else:
            self.unseen += sum(entry.type not in NOTES for entry in entries)  # labels and names are no news
        self._texts_are_behind = True
        if self.query_text:
            if self.following and self._before_search == former:
                self._before_search = self._leaf_id  # leaving the search goes back to the leaf
            self.read_texts()
        self._rebuild()

    @property
    def _is_on_leaf(self) -> bool:
        return self.rows is not None and self.rows.leaf_row == self.cursor

    def read_texts(self) -> None:
        """Begin to read the texts that a search needs."""

    def read_ahead(self) -> None:
        """Read the texts before somebody types, where somebody might."""

    def stop_reading_texts(self) -> None:
        """Give up reading texts: they are of a session that is no longer shown."""

    @property
    def _leaf_id(self) -> str | None:
        return None if self._layout_of_all is None else self._layout_of_all.leaf_id

    @property
    def highlighted(self) -> Entry | None:
        """The entry under the highlight."""
        if self.rows is None or not 0 <= self.cursor < len(self.rows):
            return None
        return self.rows.entry(self.cursor)

    @property
    def status(self) -> str:
        """Position, filter and search in words, for the status line."""
        if self.session is None or self.rows is None:
            return ""
        shown, total = len(self.rows), len(self.session.entries)
        if not self.session.complete:
            return f"…/…  {self.filter}"
        place = f"{self.cursor + 1}/{shown}" if shown else "0/0"
        parts = [place, self.filter]
        if total > shown:
            parts.append(f"{total - shown} hidden")
        if self.unseen:
            parts.append(f"{self.unseen} new: {self.keys.way('leaf')}")
        if not self.following:
            parts.append("not following")
        if self.query_text:
            parts.append(f"search: {one_line(self.query_text, 60)}  {self._search_status()}")
        return "  ".join(parts)

    def _search_status(self) -> str:
        if self._query is not None and self._query.error is not None:
            return one_line(self._query.error, 200)
        if self._matches is None or self.rows is None:
            return "…"
        if self.narrowed:
            return "matches only"
        place = bisect_left(self.matching, self.cursor) + 1 if self.matches(self.cursor) else "-"
        return f"{place} of {len(self.matching)}, {self.keys.way('next-match')} next"

    def matches(self, row: int) -> bool:
        """Whether a row is one that the search looks for."""
        if self._matches is None or self.rows is None:
            return False
        return bool(self._matches[self.rows.drawn[row]])

    def _rebuild(self, *, center: bool = False, in_column_of: Rows | None = None) -> None:
        """Work out the rows anew and keep the highlight on its entry, or the nearest one above it.

        With `in_column_of` the leaf stays in the column that it has there: of a session whose end was shown
        first, only the whole tells how deep it is.
        """
        from pitree.sessions.rows import layout_rows

        layout = self._layout_of_all
        if layout is None:
            self.rows = None
            self.placeholder = self._problem
            self.set_rows(0, 0)
            self.tell(self.EntryHighlighted(None, None))
            self.tell(self.Changed())
            return
        searching = bool(self.query_text.strip())
        self._matches = self._find(layout) if searching else None
        hiding = self._matches if self.narrowed else None
        # what is folded away is searched, too
        folds = Folds() if searching else self.folds
        self.rows = layout_rows(
            layout, self.filter, folded=folds.branches, stretches=folds.stretches, matches=hiding
        )
        if in_column_of and in_column_of.leaf_row is not None and self.rows.leaf_row is not None:
            deeper = self.rows.depths[self.rows.leaf_row] - in_column_of.depths[in_column_of.leaf_row]
            self._pan += 2 * max(0, deeper)
        self.matching = self._matching_rows(self.rows)
        row = self.rows.row_of(self._wanted)
        if row is None:
            row = self._nearest(layout) if self._wanted is not None else len(self.rows) - 1
        # _wanted stays: a hidden entry is highlighted again as soon as a filter shows it
        self._pan = self._pan_for(max(0, min(row, len(self.rows) - 1)))
        if not len(self.rows):
            self.placeholder = [self._why_empty(layout)]
        self.set_rows(len(self.rows), row, center=center)
        self._notice_leaf()
        self.describe_ahead()
        self.tell(self.EntryHighlighted(self.session, self.highlighted))
        self.tell(self.Changed())

    def _matching_rows(self, rows: Rows) -> Sequence[int]:
        found = self._matches
        if found is None:
            return ()
        if self.narrowed:
            return range(len(rows))  # nothing else is shown
        return [row for row, drawn in enumerate(rows.drawn) if found[drawn]]

    def _find(self, layout: Layout) -> bytes | None:
        """Return which entries match the search, or None while that is being worked out."""
        if self._texts is None or self._query is None:
            return None
        if self._query.pattern is None:
            return self._texts.matches(layout, self._query)
        asked = (self.query_text, layout, self._times_read)
        if self._pattern_matches is None or self._pattern_matches[0] != asked:
            self.run_pattern(asked)  # which can take its time
            return self._former_matches(layout)
        return self._pattern_matches[1]

    def _former_matches(self, layout: Layout) -> bytes | None:
        """Return what a pattern matched before the session grew; None where it was not asked."""
        if self._pattern_matches is None:
            return None
        (query_text, older, _), found = self._pattern_matches
        return layout.taken_over(found, older) if query_text == self.query_text else None

    def run_pattern(self, asked: Asked) -> None:
        """Begin to look for a pattern."""

    def _why_empty(self, layout: Layout) -> str:
        if not layout.order:
            return "This session has no entries yet."
        return "No entry matches." if self.query_text else "Nothing to show with this filter."

    def _nearest(self, layout: Layout) -> int:
        """Return the row nearest to a wanted entry that has no visible ancestor: the next one drawn."""
        position = None if self._wanted is None else layout.tree.position(self._wanted)
        if position is None or self.rows is None:
            return 0
        place = layout.places[position]
        return next((row for row, drawn in enumerate(self.rows.drawn) if drawn >= place), len(self.rows) - 1)

    def select(self, entry_id: str) -> None:
        """Highlight an entry, or what is visible of its branch."""
        self._wanted = entry_id
        if self.rows is not None:
            row = self.rows.row_of(entry_id)
            if row is not None:
                self.cursor = row

    def _notice_leaf(self) -> None:
        """Take what came while the highlight was elsewhere for seen once it is on the leaf."""
        if self.unseen and self._is_on_leaf:
            self.unseen = 0

    def watch_cursor(self, old: int, new: int) -> None:
        """Move the highlight; pan sideways when its text would be out of sight."""
        entry = self.highlighted
        if entry is not None:
            self._wanted = entry.id  # here, not when it is told: rows can be made anew before that
        self._notice_leaf()
        self.describe_ahead()
        pan = self._pan_for(new)
        if pan != self._pan:
            self._pan = pan
            self.redraw()
        super().watch_cursor(old, new)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Say which entry that is."""
        event.stop()
        self.tell(self.EntryHighlighted(self.session, self.highlighted))

    def on_resize(self) -> None:
        """Pan for the new width."""
        self._pan = self._pan_for(self.cursor)

    # ---- drawing

    def entries_at(self, rows: range) -> list[Entry]:
        """Return the entries of some rows."""
        return [] if self.rows is None else [self.rows.entry(row) for row in rows]

    def _pan_for(self, index: int) -> int:
        """Return how many cells the rows move left so that a good part of row `index` is readable.

        As long as it is, they stay where they are.
        """
        width = self.scrollable_content_region.width
        if self.rows is None or not 0 <= index < len(self.rows) or width <= 0:
            return 0
        start = 2 * self.rows.depths[index] + 2
        room = width - min(24, max(8, width // 2))
        if 0 < self._pan <= start - 2 and start - self._pan <= room:
            return self._pan
        return 0 if start <= room else start - min(8, width // 4)

    def row_strip(self, index: int, width: int) -> Strip:
        """Draw one entry."""
        rows, session = self.rows, self.session
        if rows is None or session is None:
            return Strip([])
        entry = rows.entry(index)
        folded = entry.id in self.folds.branches and not self.query_text
        # thousands of levels left of the screen are not drawn to be cut off
        unseen = min(self._pan // 2, rows.depths[index])
        spans = entry_head(rows, index, folded=folded, start=unseen)
        spans += entry_text(
            self.describe(entry),
            label=session.tree.label(entry.id),
            is_leaf=index == rows.leaf_row and rows.leaf_mark(index) == "◆",
            notes=bool(session.tree.notes(entry)),
            hidden=0 if self.query_text else self._hidden_by(entry),
            label_time=self._label_time(entry) if self.label_times else "",
            is_root=rows.one_of_several_roots(index),
        )
        if self.matches(index) and self._query is not None:
            spans = marked(spans, [term.text for term in self._query.terms], "tree--match")
        strip = strip_of(spans, self.style)
        left = self._pan - 2 * unseen
        return strip.crop(left, left + width)

    def _label_time(self, entry: Entry) -> str:
        from pitree.ui.documents.values import moment

        stamp = None if self.session is None else self.session.tree.label_times.get(entry.id)
        return moment(stamp) if stamp else ""

    def _hidden_by(self, entry: Entry) -> int:
        """Return how many rows a fold at this entry hides."""
        layout = self._layout_of_all
        position = None if layout is None else layout.tree.position(entry.id)
        if layout is None or position is None:
            return 0
        if entry.id in self.folds.branches:
            return layout.count_below(self.filter, position)
        if entry.id in self.folds.stretches:
            return layout.count_in(self.filter, layout.stretch(position))
        return 0

    def fold(self, folds: Folds) -> None:
        """Fold this and nothing else, and remember it for the next time."""
        self.folds = folds
        if self.session is not None:
            try:
                self.fold_store.save(self.session.path, folds)
            except OSError as error:
                self.post_message(self.Unkept(one_line(f"the folds cannot be kept: {error}", 300)))
        self._rebuild()

    # ---- filters

    def set_filter(self, name: str) -> None:
        """Show what a filter shows."""
        self.filter = name
        self._rebuild()

    def visible_texts(self) -> Iterator[str]:
        """Yield the rows on the screen as plain text, for tests and for copying."""
        top = int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        for index in range(top, min(top + self.page, self.line_count)):
            yield self.row_strip(index, width).text.rstrip()
