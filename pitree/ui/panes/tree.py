"""The Tree pane: what a person does with the tree of a session."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, work
from textual.binding import BindingType
from textual.message import Message
from textual.worker import get_current_worker

from pitree.sessions.filters import DEFAULT_FILTER, FILTERS
from pitree.ui.keys import TREE_KEYS, bindings, typing_keys
from pitree.ui.panes import tree_jumps
from pitree.ui.panes.tree_view import TreeView
from pitree.ui.state import Folds
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile
    from pitree.sessions.find import EntryTexts
    from pitree.sessions.query import Query
    from pitree.ui.panes.tree_view import Asked

_READING_TEXTS: Final = "entry-texts"
_REST_SECONDS: Final = 0.3


class TreePane(TreeView):
    """The entry tree of one session, with its keys."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TREE_KEYS)

    not_typed = typing_keys(TREE_KEYS)

    class CopyWanted(Message):
        """An entry's text is to be copied."""

        def __init__(self, session: SessionFile, entry: Entry) -> None:
            super().__init__()
            self.session = session
            self.entry = entry

    # ---- filters and folds

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
        if rows.foldable(self.cursor) and entry.id not in self.folds.branches:
            self._fold_branches(self.folds.branches | {entry.id})
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
        if entry.id in self.folds.branches:
            self._fold_branches(self.folds.branches - {entry.id})
            return
        row = self.cursor
        while rows.counts[row] == 1:
            row += 1  # in the order drawn a first child comes right after its parent
        self.cursor = row + 1 if rows.counts[row] else row

    # ---- search

    def action_clear_search(self) -> None:
        """Leave the search and go back to where it began."""
        wanted = self._before_search
        self.set_query("")
        if wanted is not None:
            self.select(wanted)

    def action_activate(self) -> None:
        """Enter: in a search, keep the place and leave the search; else act on the entry."""
        if self.query_text:
            entry = self.highlighted
            self.set_query("")
            if entry is not None:
                self.select(entry.id)
        else:
            super().action_activate()

    def set_query(self, query: str) -> None:
        """Search for words; a blank query leaves the search."""
        from pitree.sessions.query import parse_query

        if query == self.query_text:
            return
        if not self.query_text and self.highlighted is not None:
            self._before_search = self.highlighted.id
        self.query_text = query
        self._query = parse_query(query)
        if query.strip() and (self._texts is None or self._texts_are_behind):
            self.read_texts()
        self._rebuild()
        if not query:
            self._before_search = None
        elif not self.narrowed and not self.matches(self.cursor):
            self.action_next_match(1)

    def action_search_mode(self) -> None:
        """Hide what does not match, or only mark what does."""
        self.narrowed = not self.narrowed
        self._rebuild()

    def action_next_match(self, step: int) -> None:
        """Go to the next (`step` 1) or previous match."""
        if self.matching:
            before = bisect_left(self.matching, self.cursor)
            place = before - 1 if step < 0 else before + self.matches(self.cursor)
            self.cursor = self.matching[place % len(self.matching)]

    def read_texts(self) -> None:
        """Read the texts that are missing, away from the screen; what comes meanwhile is read after that."""
        from pitree.sessions.find import EntryTexts

        if self.session is not None and not self.searching:
            self.searching = True
            self._texts_are_behind = False
            self._read_texts(self.session, self._texts or EntryTexts(self.session))

    def stop_reading_texts(self) -> None:
        """Give up reading texts, so that a search of another session reads its own."""
        self.searching = False
        self.workers.cancel_group(self, _READING_TEXTS)

    @work(thread=True, exclusive=True, group=_READING_TEXTS, exit_on_error=False, description=UNDESCRIBED)
    def _read_texts(self, session: SessionFile, texts: EntryTexts) -> None:
        worker = get_current_worker()
        if texts.read(lambda: worker.is_cancelled):
            layout = self._layout_of_all
            if layout is not None and layout.tree is session.tree:
                texts.get_ready(layout)
            self.app.call_from_thread(self._take_texts, session, texts)

    def _take_texts(self, session: SessionFile, texts: EntryTexts) -> None:
        if session is self.session:
            self.searching = False
            self._texts = texts
            self._times_read += 1
            if self.query_text:
                if self._texts_are_behind:
                    self.read_texts()
                self._rebuild()

    def on_focus(self) -> None:
        """Get ready for a search."""
        self.read_ahead()

    def read_ahead(self) -> None:
        """Read the texts soon, so that the first letter finds them; but not before the first picture."""
        if self.has_focus:
            self.set_timer(_REST_SECONDS, self._read_ahead_now)

    def _read_ahead_now(self) -> None:
        session = self.session
        wanted = self._texts is None and not self.searching and session is not None and session.complete
        if wanted and self.has_focus:
            self.read_texts()

    def run_pattern(self, asked: Asked) -> None:
        """Look for a pattern, away from the screen."""
        if self._texts is not None and self._query is not None:
            self._run_pattern(self._texts, self._query, asked)

    @work(thread=True, exclusive=True, group="entry-pattern", exit_on_error=False, description=UNDESCRIBED)
    def _run_pattern(self, texts: EntryTexts, query: Query, asked: Asked) -> None:
        found = texts.matches(asked[1], query)
        self.app.call_from_thread(self._take_pattern, asked, found)

    def _take_pattern(self, asked: Asked, found: bytes) -> None:
        self._pattern_matches = (asked, found)
        if asked[:2] == (self.query_text, self._layout_of_all):
            self._rebuild()

    # ---- jumps

    def _jump_to(self, row: int | None) -> None:
        if row is None:
            self.app.bell()
        else:
            self.cursor = row

    def action_leaf(self) -> None:
        """Go to the leaf, or as near to it as the filter shows."""
        if self._leaf_id is not None:
            self.select(self._leaf_id)

    def action_toggle_following(self) -> None:
        """Go with the leaf as the session grows, or stay."""
        self.following = not self.following
        if self.following:
            self.action_leaf()
        self.tell(self.Changed())

    def action_root(self) -> None:
        """Go to the root above the highlight."""
        if self.rows:
            self._jump_to(tree_jumps.root(self.rows, self.cursor))

    def action_parent(self) -> None:
        """Go to the entry above in the tree."""
        if self.rows:
            self._jump_to(tree_jumps.parent(self.rows, self.cursor))

    def action_sibling(self, step: int) -> None:
        """Go to the next (`step` 1) or previous branch of the same fork."""
        if self.rows:
            self._jump_to(tree_jumps.sibling_branch(self.rows, self.cursor, step))

    def action_question(self, step: int) -> None:
        """Go to the next or previous message of the user."""
        if self.rows:
            self._jump_to(tree_jumps.following(self.rows, self.cursor, step, tree_jumps.is_question))

    def action_failure(self) -> None:
        """Go to the next reply that failed or was aborted."""
        if self.rows:
            self._jump_to(tree_jumps.following(self.rows, self.cursor, 1, tree_jumps.is_failure))

    def action_next_label(self) -> None:
        """Go to the next labelled entry."""
        if self.rows and self.session is not None:
            labels = self.session.tree.labels
            found = tree_jumps.following(self.rows, self.cursor, 1, lambda entry: entry.id in labels)
            self._jump_to(found)

    def action_labels(self) -> None:
        """Choose from the labels where to go."""
        from pitree.ui.dialogs.labels import Labels

        labels = [] if self.session is None else list(self.session.tree.labels.items())
        if not labels:
            self.app.bell()
            return

        def chosen(entry_id: str | None) -> None:
            if entry_id is not None:
                self.select(entry_id)

        self.app.push_screen(Labels(labels), chosen)

    def action_fold_others(self) -> None:
        """Fold every branch but the leaf's; where all of them are, unfold everything."""
        from pitree.sessions.rows import layout_rows

        layout = self._layout_of_all
        if layout is None:
            return
        others = set(tree_jumps.branch_starts_off_path(layout_rows(layout, self.filter)))
        folded = self.folds.branches
        self._fold_branches(frozenset() if others <= folded else folded | others)

    def _fold_branches(self, branches: frozenset[str]) -> None:
        self.fold(Folds(branches, self.folds.stretches))

    def action_fold_stretch(self) -> None:
        """Fold the straight stretch that the highlight is on, all but its ends; or unfold it."""
        rows, layout = self.rows, self._layout_of_all
        if not rows or layout is None:
            return
        start = rows.entry(rows.segments[self.cursor])
        position = layout.tree.position(start.id)
        if start.id in self.folds.stretches:
            self.fold(Folds(self.folds.branches, self.folds.stretches - {start.id}))
        elif position is not None and layout.count_in(self.filter, layout.stretch(position)):
            self.fold(Folds(self.folds.branches, self.folds.stretches | {start.id}))
        else:
            self.app.bell()

    def action_toggle_label_times(self) -> None:
        """Show when each label was set."""
        self.label_times = not self.label_times
        self.redraw()

    def action_copy(self) -> None:
        """Copy the entry's text."""
        if self.session is not None and self.highlighted is not None:
            self.post_message(self.CopyWanted(self.session, self.highlighted))

    def on_click(self, event: events.Click) -> None:
        """Fold by a click on the mark; what else a click does, `RowList` does after this."""
        offset = event.get_content_offset(self)
        if offset is not None and self.rows is not None:
            index = int(self.scroll_offset.y) + offset.y
            if index < len(self.rows):
                lead = self.rows.lead(index, folded=self.rows.entry(index).id in self.folds.branches)
                if lead and lead[-1] in "▸▾ " and offset.x + self._pan in {len(lead) - 1, len(lead) - 2}:
                    self.cursor = index
                    if self.rows.foldable(index) or lead[-1] != " ":
                        self._toggle_fold()
                        event.prevent_default()

    def _toggle_fold(self) -> None:
        entry = self.highlighted
        if entry is not None and entry.id in self.folds.branches:
            self.action_unfold()
        elif self.rows is not None and self.rows.foldable(self.cursor):
            self.action_fold()
