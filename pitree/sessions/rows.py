"""Which entries of a tree are drawn, in what order, how deep: the rows of Pi's `/tree`.

The branch with the leaf comes first, single children stay flat, a fork and the generation after it go one
level in. A filter hides entries; what hangs on a hidden entry attaches to the nearest visible one above.
All of it is linear in the number of entries and never recurses.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from operator import gt, not_
from types import EllipsisType
from typing import Final, NamedTuple, overload

from pitree.sessions.entries import Entry
from pitree.sessions.filters import DEFAULT_FILTER
from pitree.sessions.layout import Layout, both
from pitree.sessions.tree import NO_PARENT, Tree

NOTES: Final = ("label", "session_info", "custom")
"""The types of entries that say nothing to the model: a leaf below them is where the last other one is."""


class Row(NamedTuple):
    """One row of the tree: `depth` is the level drawn, 0 for roots."""

    entry: Entry
    depth: int
    on_path: bool
    label: str | None


@dataclass(slots=True)
class Rows(Sequence[Row]):
    """The visible rows, as columns: a row is made when it is asked for.

    `drawn[row]` is the row's index in the layout; `parents[row]` the row of its nearest visible ancestor or
    NO_PARENT; `segments[row]` the row that begins its straight stretch; `counts[row]` its visible children.
    """

    layout: Layout
    filter: str
    drawn: list[int]
    depths: list[int]
    parents: list[int]
    segments: list[int]
    counts: list[int]
    last: bytearray
    """1 where no later sibling follows."""
    forked: bytearray
    """1 where the row is one of several siblings (or roots)."""
    shown: bytearray
    """1 for each index of the layout that has a row."""
    leaf_row: int | None = None
    """The row of the leaf or, where that is hidden, of its nearest visible ancestor."""

    def __post_init__(self) -> None:
        """Find the leaf."""
        self.leaf_row = self.row_of(self.layout.leaf_id)

    def __len__(self) -> int:
        return len(self.drawn)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        position = self.layout.order[self.drawn[index]]
        entry = self.layout.tree.entries[position]
        return Row(entry, self.depths[index], position in self.layout.path, self.layout.tree.label(entry.id))

    def __iter__(self) -> Iterator[Row]:
        return map(self.__getitem__, range(len(self)))

    def entry(self, index: int) -> Entry:
        """Return the entry of a row."""
        return self.layout.tree.entries[self.layout.order[self.drawn[index]]]

    def row_of(self, entry_id: str | None) -> int | None:
        """Return the row of an entry or, where it is hidden, of its nearest visible ancestor; else None."""
        position = None if entry_id is None else self.layout.tree.position(entry_id)
        if position is None or position >= len(self.layout.places):
            return None  # the latter: it came after the layout was made
        index = self.layout.places[position]
        while index != NO_PARENT and not self.shown[index]:
            index = self.layout.parents[index]
        return None if index == NO_PARENT else bisect_left(self.drawn, index)

    def foldable(self, row: int) -> bool:
        """Whether a row begins a branch (or is a root) and has something below it."""
        return bool(self.counts[row]) and (self.parents[row] == NO_PARENT or bool(self.forked[row]))

    def one_of_several_roots(self, row: int) -> bool:
        """Whether the row is a root of the tree, and not the only one."""
        position = self.layout.order[self.drawn[row]]
        return self.layout.tree.parents[position] == NO_PARENT and len(self.layout.tree.roots) > 1

    def connected(self, row: int) -> bool:
        """Whether a fork line leads to the row."""
        return bool(self.forked[row]) and self.parents[row] != NO_PARENT

    def levels(self, row: int, start: int = 0) -> list[bool]:
        """Return for each level left of the row whether a line of an outer fork runs through it there.

        From level `start` on, and in time of what is returned, however deep the row is.
        """
        shown = [False] * (self.depths[row] - start)
        outer = self.segments[self.parents[row] if self.connected(row) else row]
        while self.connected(outer) and self.depths[outer] > start:
            shown[self.depths[outer] - 1 - start] = not self.last[outer]
            outer = self.segments[self.parents[outer]]
        return shown

    def leaf_mark(self, row: int) -> str:
        """Return the mark before a row's text: `◆` leaf, `◇` the leaf is hidden below, `•` on the path."""
        position = self.layout.order[self.drawn[row]]
        if row == self.leaf_row:
            return "◆" if self._only_notes_below(position) else "◇"
        return "•" if position in self.layout.path else " "

    def _only_notes_below(self, position: int) -> bool:
        """Return whether nothing was said between an entry and the leaf: labels, names, moves of the leaf."""
        tree = self.layout.tree
        below = None if self.layout.leaf_id is None else tree.position(self.layout.leaf_id)
        while below is not None and below not in (position, NO_PARENT):
            if tree.entries[below].type not in NOTES:
                return False
            below = tree.parents[below]
        return below == position

    def lead(self, row: int, *, folded: bool = False, start: int = 0) -> str:
        """Return the lines drawn left of a row, two columns a level, with a mark where it folds.

        `start` is the first level that is wanted, at most the row's depth.
        """
        columns = ["│ " if through else "  " for through in self.levels(row, start)]
        mark = "▸" if folded else "▾" if self.foldable(row) else "─"
        if self.connected(row):
            if not columns:
                return ""
            columns[-1] = ("└" if self.last[row] else "├") + mark
        elif folded:
            columns.append("▸ ")
        return "".join(columns)


def visible_rows(
    tree: Tree, filter_name: str = DEFAULT_FILTER, leaf_id: str | EllipsisType | None = ...
) -> Rows:
    """Return the rows that a filter shows, as if the leaf were `leaf_id` (by default the tree's own)."""
    layout = Layout(tree, tree.leaf_id if leaf_id is ... else leaf_id)
    return layout_rows(layout, filter_name)


def layout_rows(
    layout: Layout,
    filter_name: str = DEFAULT_FILTER,
    *,
    folded: Collection[str] = (),
    stretches: Collection[str] = (),
    matches: bytes | None = None,
) -> Rows:
    """Return the rows of a layout.

    `folded` are ids whose descendants are hidden, `stretches` ids that hide only what follows in a straight
    line, up to where it ends or forks; `matches` has a byte for each entry in the layout's order, 0 where a
    search hides it.
    """
    mask = layout.mask(filter_name)
    if matches is not None:
        mask = bytearray(both(mask, matches))
    if folded:
        _hide_below(layout, folded, mask)
    for entry_id in stretches:
        position = layout.tree.position(entry_id)
        if position is not None:
            hidden = layout.stretch(position)
            mask[hidden.start : hidden.stop] = bytes(len(hidden))
    return _structure(layout, filter_name, mask)


def _hide_below(layout: Layout, folded: Collection[str], mask: bytearray) -> None:
    """Hide what is below some entries; a branch in a hidden branch costs nothing."""
    positions = (layout.tree.position(entry_id) for entry_id in folded)
    end = 0
    for index in sorted(layout.places[position] for position in positions if position is not None):
        if index >= end:
            end = layout.ends[index]
            mask[index + 1 : end] = bytes(end - index - 1)


def _structure(layout: Layout, filter_name: str, mask: bytearray) -> Rows:
    """Work out the columns, in time of the rows shown: Python takes a step for a fork, C for a row.

    Nearly every row is the only child of the one before it. What is not begins another branch; the first
    child of its parent is the row right after that, and so begins one as well.
    """
    numbers, ends = layout.numbers, layout.ends
    drawn = list(compress(islice(numbers, 1, None), mask))
    count = len(drawn)
    below = list(map(gt, map(ends.__getitem__, drawn), islice(drawn, 1, None)))
    """Of each row but the last, whether the next one is among its descendants."""
    parents = numbers[:count]
    counts: list[int] = [*below, False] if count else []
    forked, last = bytearray(count), bytearray(b"\x01") * count
    latest_child: dict[int, int] = {}
    shown_above: dict[int, int] = {}
    for row in compress(range(1, count), map(not_, below)):
        above = layout.parents[drawn[row]]
        hidden: list[int] = []
        while above != NO_PARENT and not mask[above]:
            hidden.append(above)
            above = shown_above.get(above, layout.parents[above])
        shown_above.update(dict.fromkeys(hidden, above))  # so that nobody climbs the same way again
        parent = NO_PARENT
        if above != NO_PARENT:
            parent = bisect_left(drawn, above)
            counts[parent] += 1
        parents[row] = parent
        sibling = latest_child.get(parent, parent + 1)
        latest_child[parent] = row
        last[sibling] = 0
        forked[sibling] = forked[row] = 1
    depths: list[int] = []
    segments: list[int] = []
    starts = list(compress(range(1, count), forked[1:])) if count else []
    for start, end in pairwise([*([0] if count else []), *starts, count]):
        parent = parents[start]
        depth = 0 if parent == NO_PARENT else depths[parent] + 1
        depths.append(depth)
        # the first generation after a fork goes one in
        depths += [depth + forked[start]] * (end - start - 1)
        segments += [start] * (end - start)
    return Rows(layout, filter_name, drawn, depths, parents, segments, counts, last, forked, mask)
