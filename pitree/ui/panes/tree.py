"""The Tree pane: the entries of one session, filtered, folded, searched, with a highlight."""

import textwrap
from collections.abc import Iterator
from typing import ClassVar, Final

from textual import events, work
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip
from textual.worker import get_current_worker

from pitree.sessions.describe import Description, describe
from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.find import EntryTexts
from pitree.sessions.rows import DEFAULT_FILTER, FILTERS, Layout, Rows, layout_rows
from pitree.sessions.text import one_line
from pitree.ui.keys import TREE_KEYS, bindings
from pitree.ui.lineview import RowList
from pitree.ui.rows import entry_head, entry_text, strip_of

# A line this long is decoded in a worker, so that no row holds up the screen (orjson: about 1 ms a megabyte,
# four for the slower way).
_LARGE_LINE: Final = 1 << 20
_KEPT_DESCRIPTIONS: Final = 4096


class TreePane(RowList):
    """The entry tree of one session."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TREE_KEYS)

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--muted",
        "row--warning",
        "row--error",
        "tree--guide",
        "tree--path",
        "tree--leaf",
        "tree--leaf-badge",
        "tree--label",
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

    class Changed(Message):
        """Filter, search or content changed: what the status line says of the tree is old."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.session: SessionFile | None = None
        self.filter = DEFAULT_FILTER
        self.query_text = ""
        self.folded: set[str] = set()
        self.rows: Rows | None = None
        self.searching = False
        """Whether texts are still being read for the search."""
        self._layout_of_all: Layout | None = None
        self._texts: EntryTexts | None = None
        self._descriptions: LRUCache[str, Description] = LRUCache(_KEPT_DESCRIPTIONS)
        self._awaited: set[str] = set()
        self._pan = 0
        self._wanted: str | None = None
        self._problem: list[str] = []

    # ---- content

    def show(self, session: SessionFile | None, *, keep: bool = False, problem: str | None = None) -> None:
        """Show a session with the highlight on its leaf, or the problem that kept it from being read.

        With `keep` it is another reading of the same file: highlight, folds, filter and search stay.
        """
        self._problem = textwrap.wrap(one_line(problem, 2000), 60) if problem else []
        followed = not keep or self.highlighted is None or self.highlighted.id == self._leaf_id
        self._wanted = None if followed else self._wanted
        self.session = session
        self._descriptions.clear()
        self._awaited.clear()
        self._texts = None
        if not keep:
            self.folded.clear()
            self.query_text = ""
        self._layout_of_all = None if session is None else Layout(session.tree, session.tree.leaf_id)
        if session is not None and followed:
            self._wanted = session.tree.leaf_id
        self._rebuild(center=not keep)
        if self.query_text:
            self._search()

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
        place = f"{self.cursor + 1}/{shown}" if shown else "0/0"
        parts = [place, self.filter]
        if total > shown:
            parts.append(f"{total - shown} hidden")
        if self.query_text:
            parts.append(f"search: {one_line(self.query_text, 60)}" + (" …" if self.searching else ""))
        return "  ".join(parts)

    def _rebuild(self, *, center: bool = False) -> None:
        """Work out the rows anew and keep the highlight on its entry, or the nearest one above it."""
        layout = self._layout_of_all
        if layout is None:
            self.rows = None
            self.placeholder = self._problem
            self.set_rows(0, 0)
            self.post_message(self.EntryHighlighted(None, None))
            self.post_message(self.Changed())
            return
        matches = None
        if self.query_text.strip():
            matches = (
                bytes(len(layout.order))
                if self._texts is None
                else self._texts.matches(layout, self.query_text)
            )
        self.rows = layout_rows(layout, self.filter, folded=self.folded, matches=matches)
        row = self.rows.row_of(self._wanted)
        if row is None:
            row = self._nearest(layout) if self._wanted is not None else len(self.rows) - 1
        # _wanted stays: a hidden entry is highlighted again as soon as a filter shows it
        self._pan = self._pan_for(max(0, min(row, len(self.rows) - 1)))
        if not len(self.rows):
            self.placeholder = [self._why_empty(layout)]
        self.set_rows(len(self.rows), row, center=center)
        self.post_message(self.EntryHighlighted(self.session, self.highlighted))
        self.post_message(self.Changed())

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

    def watch_cursor(self, old: int, new: int) -> None:
        """Move the highlight; pan sideways when its text would be out of sight."""
        pan = self._pan_for(new)
        if pan != self._pan:
            self._pan = pan
            self.redraw()
        super().watch_cursor(old, new)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        """Say which entry that is."""
        event.stop()
        entry = self.highlighted
        if entry is not None:
            self._wanted = entry.id
        self.post_message(self.EntryHighlighted(self.session, entry))

    def on_resize(self) -> None:
        """Pan for the new width."""
        self._pan = self._pan_for(self.cursor)
        super().on_resize()

    # ---- drawing

    def _pan_for(self, index: int) -> int:
        """Return how many cells the rows move left so that a good part of row `index` is readable."""
        width = self.scrollable_content_region.width
        if self.rows is None or not 0 <= index < len(self.rows) or width <= 0:
            return 0
        start = 2 * self.rows.depths[index] + 2
        if start <= width - min(24, max(8, width // 2)):
            return 0
        return start - min(8, width // 4)

    def row_strip(self, index: int, width: int) -> Strip:
        """Draw one entry."""
        rows, session = self.rows, self.session
        if rows is None or session is None:
            return Strip([])
        entry = rows.entry(index)
        folded = entry.id in self.folded
        spans = entry_head(rows, index, folded=folded)
        spans += entry_text(
            self._describe(entry),
            label=session.tree.label(entry.id),
            is_leaf=index == rows.leaf_row,
            notes=bool(session.tree.notes(entry)),
            hidden=self._hidden_below(entry) if folded else 0,
        )
        strip = strip_of(spans, self.style)
        return strip.crop(self._pan, self._pan + width)

    def _hidden_below(self, entry: Entry) -> int:
        layout = self._layout_of_all
        position = None if layout is None else layout.tree.position(entry.id)
        return 0 if layout is None or position is None else layout.count_below(self.filter, position)

    def _describe(self, entry: Entry) -> Description:
        description = self._descriptions.get(entry.id)
        if description is None and self.session is not None:
            if entry.length > _LARGE_LINE:
                if entry.id not in self._awaited:
                    self._awaited.add(entry.id)
                    self._describe_large(self.session, entry)
                return Description("other", entry.role or entry.type, "…")
            description = self._descriptions[entry.id] = _described(self.session, entry)
        return description or Description("other", "", "")

    @work(thread=True, group="large-lines", exit_on_error=False)
    def _describe_large(self, session: SessionFile, entry: Entry) -> None:
        description = _described(session, entry)
        self.app.call_from_thread(self._take_description, session, entry, description)

    def _take_description(self, session: SessionFile, entry: Entry, description: Description) -> None:
        if session is self.session:
            self._descriptions[entry.id] = description
            self.redraw()

    # ---- filters, folds, search

    def set_filter(self, name: str) -> None:
        """Show what a filter shows."""
        self.filter = name
        self._rebuild()

    def action_filter(self, name: str) -> None:
        """Switch a filter on, or back to the default."""
        self.set_filter(DEFAULT_FILTER if self.filter == name else name)

    def action_cycle_filter(self, step: int) -> None:
        """Go to the next or previous filter."""
        self.set_filter(FILTERS[(FILTERS.index(self.filter) + step) % len(FILTERS)])

    def action_fold(self) -> None:
        """Fold the highlighted branch; where there is nothing to fold, go to the start of the stretch."""
        rows, entry = self.rows, self.highlighted
        if rows is None or entry is None:
            return
        if rows.foldable(self.cursor) and entry.id not in self.folded:
            self.folded.add(entry.id)
            self._rebuild()
            return
        start = rows.segments[self.cursor]
        if start == self.cursor and rows.parents[start] >= 0:
            start = rows.segments[rows.parents[start]]
        self.cursor = start

    def action_unfold(self) -> None:
        """Unfold the highlighted branch; where nothing is folded, go down to the next fork."""
        rows, entry = self.rows, self.highlighted
        if rows is None or entry is None:
            return
        if entry.id in self.folded:
            self.folded.discard(entry.id)
            self._rebuild()
            return
        row = self.cursor
        while rows.counts[row] == 1:
            row += 1  # in the order drawn a first child comes right after its parent
        self.cursor = row + 1 if rows.counts[row] else row

    def action_clear_search(self) -> None:
        """Leave the search; the highlight stays on its entry."""
        self.set_query("")

    @property
    def can_back_out(self) -> bool:
        """Whether there is a search to leave."""
        return bool(self.query_text)

    def set_query(self, query: str) -> None:
        """Search for words."""
        if query == self.query_text:
            return
        self.query_text = query
        if query.strip() and self._texts is None:
            self._search()
        self._rebuild()

    def on_key(self, event: events.Key) -> None:
        """Type into the search."""
        if event.key == "backspace" and self.query_text:
            event.stop()
            self.set_query(self.query_text[:-1])
        elif event.is_printable and event.character and event.character not in _BOUND_CHARACTERS:
            if event.character == " " and not self.query_text:
                return
            event.stop()
            event.prevent_default()
            self.set_query(self.query_text + event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the search."""
        event.stop()
        self.set_query(self.query_text + " ".join(event.text.split()))

    @work(thread=True, exclusive=True, group="entry-texts", exit_on_error=False)
    def _search(self) -> None:
        session = self.session
        if session is None:
            return
        self.searching = True
        worker = get_current_worker()
        texts = EntryTexts(session)
        if texts.read(lambda: worker.is_cancelled):
            self.app.call_from_thread(self._take_texts, session, texts)

    def _take_texts(self, session: SessionFile, texts: EntryTexts) -> None:
        self.searching = False
        if session is self.session:
            self._texts = texts
            self._rebuild()

    def on_click(self, event: events.Click) -> None:
        """Fold by a click on the mark; else highlight."""
        offset = event.get_content_offset(self)
        if offset is not None and self.rows is not None:
            index = int(self.scroll_offset.y) + offset.y
            if index < len(self.rows):
                lead = self.rows.lead(index, folded=self.rows.entry(index).id in self.folded)
                if lead and lead[-1] in "▸▾ " and offset.x + self._pan in {len(lead) - 1, len(lead) - 2}:
                    self.cursor = index
                    if self.rows.foldable(index) or lead[-1] != " ":
                        self._toggle_fold()
                        return
        super().on_click(event)

    def _toggle_fold(self) -> None:
        entry = self.highlighted
        if entry is not None and entry.id in self.folded:
            self.action_unfold()
        elif self.rows is not None and self.rows.foldable(self.cursor):
            self.action_fold()

    def visible_texts(self) -> Iterator[str]:
        """Yield the rows on the screen as plain text, for tests and for copying."""
        top = int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        for index in range(top, min(top + self.page, self.line_count)):
            yield self.row_strip(index, width).text.rstrip()


_BOUND_CHARACTERS = frozenset(
    key.keys.removeprefix("shift+").upper() for key in TREE_KEYS if key.keys.startswith("shift+")
)


def _described(session: SessionFile, entry: Entry) -> Description:
    try:
        return describe(session, entry)
    except (SessionError, OSError) as error:
        return Description(
            "other", one_line(entry.role or entry.type, 40), one_line(f"({error})"), failed=True
        )
