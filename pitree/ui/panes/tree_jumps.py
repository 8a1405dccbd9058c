"""Ways through a tree of rows: to the leaf, the parent, the next branch, question, failure, label."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.entries import Entry
    from pitree.sessions.rows import Rows


def parent(rows: Rows, row: int) -> int | None:
    """Return the row above in the tree, or None at a root."""
    from pitree.sessions.tree import NO_PARENT

    above = rows.parents[row]
    return None if above == NO_PARENT else above


def root(rows: Rows, row: int) -> int:
    """Return the root of the row's tree."""
    from pitree.sessions.tree import NO_PARENT

    while rows.parents[row] != NO_PARENT:
        row = rows.segments[rows.parents[row]]
    return row


def sibling_branch(rows: Rows, row: int, step: int) -> int | None:
    """Return the beginning of the next branch of the nearest fork above that has one (`step` 1 or -1)."""
    from pitree.sessions.tree import NO_PARENT

    start = rows.segments[row]
    while True:
        found = _sibling(rows, start, step)
        if found is not None or rows.parents[start] == NO_PARENT:
            return found
        start = rows.segments[rows.parents[start]]


def _sibling(rows: Rows, start: int, step: int) -> int | None:
    if step > 0 and rows.last[start]:
        return None  # all below it would be looked through for nothing, at every level of a deep tree
    above = rows.parents[start]
    row = start + step
    # in the order drawn, all between two siblings is below the first of them
    while 0 <= row < len(rows) and rows.parents[row] >= above:
        if rows.parents[row] == above:
            return row
        row += step
    return None


def following(rows: Rows, row: int, step: int, wanted: Callable[[Entry], bool]) -> int | None:
    """Return the next row (`step` 1, or -1 for the one before) whose entry is wanted; goes round once."""
    count = len(rows)
    for distance in range(1, count):
        place = (row + step * distance) % count
        if wanted(rows.entry(place)):
            return place
    return None


def is_question(entry: Entry) -> bool:
    """Whether an entry is a user's message."""
    return entry.role == "user"


def is_failure(entry: Entry) -> bool:
    """Whether an entry is a reply that ended in an error or was aborted."""
    from pitree.sessions.context import FAILED

    return entry.role == "assistant" and entry.stop_reason in FAILED


def branch_starts_off_path(rows: Rows) -> Iterable[str]:
    """Yield the ids of the entries that begin a branch away from the leaf's path: what to fold."""
    for row in range(len(rows)):
        if rows.foldable(row) and not rows[row].on_path:
            yield rows.entry(row).id
