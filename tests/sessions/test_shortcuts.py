"""What is quick on large trees gives the same as the plain way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions import javascript
from pitree.sessions.entries import Entry
from pitree.sessions.filters import FILTERS
from pitree.sessions.layout import Layout
from pitree.sessions.rows import Rows, layout_rows
from pitree.sessions.tree import Tree

from .values import thorough

STAMPS = (
    "2026-01-02T03:04:05.000Z",
    "2026-01-02T03:04:05.001Z",
    "2025-12-31T23:59:59.999Z",
    "2024-02-29T00:00:00.000Z",  # a day that not every year has
    "2024-02-28T24:00:00.000Z",  # the same moment
    "2025-04-31T00:00:00.000Z",  # no day at all
    "2026-01-02T04:04:05.000+01:00",
    "0000-01-01T00:00:00.000Z",
    "٢٠٢٦-01-02T03:04:05.000Z",
    "",
)


def fan(stamps: list[str]) -> Tree:
    made = [Entry("root", None, "message", STAMPS[0], 1, 0, 9)]
    made += [
        Entry(f"e{place}", "root", "message", stamp, place, place, 9) for place, stamp in enumerate(stamps, 2)
    ]
    return Tree(made)


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize("other", STAMPS)
def test_two_children_are_ordered_by_the_moments_they_name(stamp: str, other: str) -> None:
    first, second = javascript.time_ms(stamp), javascript.time_ms(other)
    swapped = first is not None and second is not None and first > second
    assert fan([stamp, other]).children(0) == ([2, 1] if swapped else [1, 2])


@given(st.lists(st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='milliseconds')}Z")))
@thorough
def test_children_are_ordered_by_the_moments_they_name(stamps: list[str]) -> None:
    tree = fan(stamps)
    moments = [javascript.time_ms(tree.entries[child].timestamp) or 0 for child in tree.children(0)]
    assert moments == sorted(moments)
    assert [list(children or ()) for children in tree.child_lists] == [
        list(tree.children(position)) for position in range(len(tree))
    ]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    parents = draw(st.lists(st.integers(0, 30), max_size=30))
    entries = [Entry("0", None, "message", "", 1, 0, 9, role="user")]
    for place, parent in enumerate(parents, 1):
        role = draw(st.sampled_from(["user", "assistant", "toolResult"]))
        entries.append(
            Entry(str(place), str(min(parent, place - 1)), "message", "", place, place, 9, role=role)
        )
    return Tree(entries)


def rows_of(tree: Tree, name: str) -> Rows:
    return layout_rows(Layout(tree, tree.leaf_id), name)


@given(trees(), st.sampled_from(FILTERS))
@thorough
def test_a_part_of_the_lines_is_the_end_of_all(tree: Tree, name: str) -> None:
    rows = rows_of(tree, name)
    for row in range(len(rows)):
        for folded in (False, True):
            for start in range(rows.depths[row] + 1):
                whole = rows.lead(row, folded=folded)
                assert rows.lead(row, folded=folded, start=start) == whole[2 * start :]
                assert rows.levels(row, start) == rows.levels(row)[start:]


@given(trees(), st.sets(st.integers(0, 30).map(str)))
@thorough
def test_folds_in_folds_hide_what_is_below_any(tree: Tree, folded: set[str]) -> None:
    rows = layout_rows(Layout(tree, tree.leaf_id), "all", folded=folded)
    shown = {row.entry.id for row in rows}
    assert shown == {
        entry.id
        for entry in tree.entries
        if not any(above.id in folded for above in tree.path(entry.parent_id)) and entry.role != "assistant"
    } | ({tree.leaf_id} if _leaf_shows(tree, folded) else set())


def _leaf_shows(tree: Tree, folded: set[str]) -> bool:
    leaf = tree.entries[-1]
    return not any(above.id in folded for above in tree.path(leaf.parent_id))


def test_a_search_of_another_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="masks of 1 and 2"):
        layout_rows(Layout(fan([]), None), matches=b"\x01\x01")
