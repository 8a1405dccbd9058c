"""Parents, children, roots, leaf, labels, name: whatever the links in the file are."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pitree.sessions.entries import Entry
from pitree.sessions.filters import FILTERS
from pitree.sessions.layout import Layout
from pitree.sessions.rows import layout_rows
from pitree.sessions.tree import NO_PARENT, Tree

from .values import thorough

HOUR = datetime(2026, 1, 2, 3, tzinfo=UTC)


def stamp(minute: int) -> str:
    return HOUR.replace(minute=minute).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def entry(
    line: int,
    entry_id: str,
    parent: str | None,
    kind: str = "message",
    *,
    time: str | None = None,
    target: str | None = None,
    text: str | None = None,
) -> Entry:
    made = Entry(entry_id, parent, kind, stamp(0) if time is None else time, line, line * 100, 99)
    if kind == "message":
        made.role = "user"
    made.target_id, made.text = target, text
    return made


def linked(*links: tuple[str, str | None]) -> Tree:
    """Make a tree of (id, parent) pairs, one a line."""
    return Tree(entry(line, *link) for line, link in enumerate(links, 1))


def ids(tree: Tree, positions: Iterable[int]) -> list[str]:
    return [tree.entries[position].id for position in positions]


def shape(tree: Tree) -> dict[str, list[str]]:
    """Give the children of every entry, and the roots under ""."""
    children = {found.id: ids(tree, tree.children(place)) for place, found in enumerate(tree.entries)}
    return {"": ids(tree, tree.roots), **children}


def notes(tree: Tree) -> dict[str, list[str]]:
    return {found.id: tree.notes(found) for found in tree.entries if tree.notes(found)}


# Links as they should be


def test_a_fork() -> None:
    tree = linked(("a", None), ("b", "a"), ("c", "a"), ("d", "c"))
    assert shape(tree) == {"": ["a"], "a": ["b", "c"], "b": [], "c": ["d"], "d": []}
    assert tree.parents == [NO_PARENT, 0, 0, 2]
    assert [found.id for found in tree.path("d")] == ["a", "c", "d"]
    assert tree.path_positions("d") == [0, 2, 3]
    assert tree.leaf_id == "d"
    assert notes(tree) == {}
    assert len(tree) == 4
    assert "c" in tree
    assert "x" not in tree
    assert tree.get("c") is tree.entries[2]
    assert tree.position("c") == 2


def test_nothing() -> None:
    tree = Tree()
    assert (len(tree), tree.leaf_id, tree.name, tree.labels, list(tree.roots)) == (0, None, None, {}, [])
    assert tree.path(None) == tree.path("x") == []
    assert (tree.get(None), tree.get("x"), tree.position("x")) == (None, None, None)


def test_children_are_ordered_by_time_and_roots_by_the_file() -> None:
    tree = Tree(
        [
            entry(1, "r", None, time=stamp(9)),
            entry(2, "b", "r", time=stamp(5)),
            entry(3, "s", None, time=stamp(1)),
            entry(4, "c", "r", time="2026-01-02T05:03:30+02:00"),
            entry(5, "d", "r", time=stamp(5)),
            entry(6, "a", "r", time=stamp(2)),
        ]
    )
    assert shape(tree)["r"] == ["a", "c", "b", "d"]
    assert shape(tree)[""] == ["r", "s"]


def test_children_without_a_time_stay_where_the_file_has_them() -> None:
    tree = Tree(
        [
            entry(1, "r", None),
            *(entry(line, f"{line}", "r", time=time) for line, time in enumerate(("x", "", "y"), 2)),
        ]
    )
    assert shape(tree)["r"] == ["2", "3", "4"]


def test_children_of_whom_some_have_no_time() -> None:
    # The real agent's order: to it, a time that is none is neither before nor after another.
    times = [stamp(30), "later", stamp(30), stamp(20), stamp(10), stamp(50), stamp(10)]
    children = [entry(line, f"{line}", "r", time=time) for line, time in enumerate(times, 2)]
    tree = Tree([entry(1, "r", None), *children])
    assert shape(tree)["r"] == ["2", "3", "6", "8", "5", "4", "7"]


def test_a_child_may_come_before_its_parent() -> None:
    tree = linked(("c", "b"), ("b", "a"), ("d", "b"), ("a", None))
    assert shape(tree) == {"": ["a"], "a": ["b"], "b": ["c", "d"], "c": [], "d": []}
    assert notes(tree) == {}
    assert tree.leaf_id == "a"


# Links as they should not be


def test_a_missing_parent_makes_a_root() -> None:
    tree = linked(("a", None), ("b", "nowhere"), ("c", "b"))
    assert shape(tree) == {"": ["a", "b"], "a": [], "b": ["c"], "c": []}
    assert notes(tree) == {"b": ["parent nowhere is missing"]}


def test_an_entry_that_is_its_own_parent_is_a_root() -> None:
    tree = linked(("a", "a"), ("b", "a"))
    assert shape(tree) == {"": ["a"], "a": ["b"], "b": []}
    assert notes(tree) == {"a": ["is its own parent"]}


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_cycle_is_cut_at_its_first_line(first: int) -> None:
    links = [("a", "c"), ("b", "a"), ("c", "b")]
    links = links[first:] + links[:first]
    tree = linked(*links, ("d", "b"))
    top, second, third = (name for name, _ in links)
    assert ids(tree, tree.roots) == [top]
    assert [found.id for found in tree.path(third)] == [top, second, third]
    assert notes(tree) == {top: ["is part of a cycle of 3 parents, cut here"]}
    assert "d" in shape(tree)["b"]


def test_a_cycle_with_a_tail_and_another_cycle() -> None:
    tree = linked(("t", "x"), ("x", "y"), ("y", "x"), ("p", "q"), ("q", "p"), ("u", "t"))
    assert shape(tree) == {"": ["x", "p"], "t": ["u"], "x": ["t", "y"], "y": [], "p": ["q"], "q": [], "u": []}
    assert [len(found) for found in notes(tree).values()] == [1, 1]


def test_the_last_line_of_a_repeated_id_counts() -> None:
    tree = linked(("a", None), ("b", "a"), ("a", None), ("b", "a"), ("c", "b"), ("b", "nowhere"))
    assert [found.line for found in tree.entries] == [3, 5, 6]
    assert [found.line for found in tree.superseded] == [1, 2, 4]
    assert shape(tree) == {"": ["a", "b"], "a": [], "c": [], "b": ["c"]}
    assert notes(tree) == {
        "a": ["id repeated; also on line 1"],
        "b": ["id repeated; also on line 2, 4", "parent nowhere is missing"],
    }


def test_a_repeated_id_can_heal_and_break() -> None:
    tree = linked(("a", "b"), ("b", "a"))
    assert notes(tree)
    tree.extend([entry(3, "a", None)])
    assert shape(tree) == {"": ["a"], "b": [], "a": ["b"]}
    assert notes(tree) == {"a": ["id repeated; also on line 1"]}
    tree.extend([entry(4, "b", "b")])
    assert shape(tree) == {"": ["a", "b"], "a": [], "b": []}


# Leaf, labels, name


def test_the_last_line_is_the_leaf_whatever_its_type() -> None:
    tree = linked(("a", None), ("b", "a"))
    tree.extend([entry(3, "n", "a", "session_info", text="renamed elsewhere")])
    assert tree.leaf_id == "n"
    assert [found.id for found in tree.path(tree.leaf_id)] == ["a", "n"]


def test_an_older_leaf_entry_moves_the_leaf() -> None:
    tree = linked(("a", None), ("b", "a"))
    tree.extend([entry(3, "l", "b", "leaf", target="a")])
    leaves = [tree.leaf_id]
    for line in (
        entry(4, "m", "b", "leaf"),
        entry(5, "k", "b", "leaf", target="nowhere"),
        entry(6, "c", "b"),
    ):
        tree.extend([line])
        leaves.append(tree.leaf_id)
    assert leaves == ["a", None, "k", "c"]


def labelled(*labels: tuple[str, str | None]) -> Tree:
    tree = linked(("a", None), ("b", "a"))
    tree.extend(
        entry(line, f"l{line}", "b", "label", target=target, text=label, time=stamp(line))
        for line, (target, label) in enumerate(labels, 3)
    )
    return tree


def test_the_last_label_of_an_entry_counts() -> None:
    tree = labelled(
        ("a", "one"), ("b", "other"), ("a", "two"), ("b", None), ("a", "three"), ("a", "two"), ("b", "")
    )
    assert tree.labels == {"a": "two"}
    assert tree.label_times == {"a": stamp(8)}
    assert (tree.label("a"), tree.label("b")) == ("two", None)


def test_a_label_of_nothing_is_kept_apart() -> None:
    tree = labelled(("ghost", "boo"), ("a", "real"))
    assert tree.labels == {"a": "real"}
    assert tree.stray_labels == {"ghost": "boo"}
    assert notes(tree) == {"l3": ["labels ghost, which does not exist"]}
    assert [found.id for found in tree.noted] == ["l3"]
    tree.extend([entry(9, "ghost", "b")])
    assert tree.labels == {"ghost": "boo", "a": "real"}
    assert tree.stray_labels == {}
    assert tree.noted == []


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["one", "two"], "two"),
        (["one", ""], None),
        (["one", " \n\ufeff"], None),
        (["one", None], None),
        (["  \u3000kept\x1c "], "kept\x1c"),
        ([], None),
    ],
    ids=repr,
)
def test_the_last_name_counts(names: list[str | None], name: str | None) -> None:
    tree = linked(("a", None))
    tree.extend(entry(line, f"n{line}", "a", "session_info", text=text) for line, text in enumerate(names, 2))
    assert tree.name == name


# Any links

_IDS = [*"abcdef", *(f"{number}" for number in range(10))]
_TIMES = [stamp(minute) for minute in (0, 1, 2, 2, 3)] + ["", "no date", "2026-01-02"]


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Draw up to 16 entries with few ids, so that everything that links can do wrong comes up."""
    made = []
    for line in range(1, 1 + draw(st.integers(0, 16))):
        kind = draw(
            st.sampled_from(["message", "message", "message", "label", "session_info", "custom", "leaf"])
        )
        entry_id, parent, target = (draw(st.sampled_from(_IDS)) for _ in range(3))
        text = draw(st.sampled_from([None, "", "x", " y "])) if kind in {"label", "session_info"} else None
        target_id = target if kind in {"label", "leaf"} and draw(st.booleans()) else None
        made.append(
            entry(
                line,
                entry_id,
                parent if draw(st.integers(0, 4)) else None,
                kind,
                time=draw(st.sampled_from(_TIMES)),
                target=target_id,
                text=text,
            )
        )
    return made


def expected_parents(lines: Sequence[Entry]) -> dict[str, str | None]:
    """Work out every entry's parent the slow and obvious way."""
    last = {line.id: line for line in lines}
    kept = [line for line in lines if last[line.id] is line]
    parents = {line.id: line.parent_id if line.parent_id in last else None for line in kept}
    for line in kept:  # the first line of a cycle is reached before the others
        above = parents[line.id]
        seen = set()
        while above is not None and above not in seen:
            seen.add(above)
            above = parents[above]
        if line.id in seen:
            parents[line.id] = None
    return parents


@thorough
@given(entries())
def test_every_entry_has_its_place_whatever_the_links(lines: list[Entry]) -> None:
    tree = Tree(lines)
    wanted = expected_parents(lines)
    found = {
        line.id: None if parent == NO_PARENT else tree.entries[parent].id
        for line, parent in zip(tree.entries, tree.parents, strict=True)
    }
    assert found == wanted
    assert list(found) == list(wanted)  # in file order
    drawn = shape(tree)
    assert sorted(name for children in drawn.values() for name in children) == sorted(wanted)
    for parent, children in drawn.items():
        assert {wanted[child] or "" for child in children} <= {parent}
    for line in tree.entries:
        cut = line.parent_id is not None and wanted[line.id] is None
        assert cut == any("parent" in note for note in tree.notes(line))
        path = [above.id for above in tree.path(line.id)]
        assert path[-1] == line.id
        assert [wanted[name] for name in path] == [None, *path[:-1]]
    assert len(tree.superseded) == len(lines) - len(wanted)


@thorough
@given(entries(), st.sampled_from([None, *_IDS]))
def test_every_entry_is_drawn_once_below_its_parent(lines: list[Entry], leaf: str | None) -> None:
    tree = Tree(lines)
    layout = Layout(tree, leaf)
    assert sorted(layout.order) == list(range(len(tree)))
    above: list[int] = []  # the indexes whose subtrees are open
    for index, position in enumerate(layout.order):
        while above and layout.ends[above[-1]] <= index:
            above.pop()
        assert layout.places[position] == index
        assert layout.parents[index] == (above[-1] if above else NO_PARENT)
        parent = layout.parents[index]
        assert tree.parents[position] == (NO_PARENT if parent == NO_PARENT else layout.order[parent])
        above.append(index)
    if leaf in tree:  # the branch with the leaf comes first
        path = tree.path_positions(leaf)
        assert [layout.places[position] for position in path] == list(range(len(path)))
    for name in FILTERS:
        rows = layout_rows(layout, name)
        assert rows.drawn == sorted(set(rows.drawn))


def state(tree: Tree) -> dict[str, object]:
    """Give all that can be asked of a tree."""
    return {
        "entries": tree.entries,
        "superseded": tree.superseded,
        "parents": tree.parents,
        "shape": shape(tree),
        "leaf": tree.leaf_id,
        "labels": tree.labels,
        "stray": tree.stray_labels,
        "times": tree.label_times,
        "name": tree.name,
        "notes": notes(tree),
        "noted": tree.noted,
        "positions": [tree.position(line.id) for line in tree.entries],
    }


@thorough
@given(lines=entries(), cuts=st.lists(st.integers(0, 16), max_size=6), look=st.booleans())
@example(lines=[], cuts=[0, 0], look=True)
def test_a_tree_that_grew_is_the_tree_of_all(lines: list[Entry], cuts: list[int], look: bool) -> None:
    grown = Tree()
    places = [0, *sorted(min(cut, len(lines)) for cut in cuts), len(lines)]
    for start, end in pairwise(places):
        relinked, before = grown.relinked, list(grown.entries)
        grown.extend(lines[start:end])
        if grown.relinked == relinked:
            assert grown.entries[: len(before)] == before, "what stands where is known still"
        if look:  # what was asked on the way, and sorted for it, changes nothing
            assert state(grown) == state(Tree(lines[:end]))
    assert state(grown) == state(Tree(lines))


@given(entries())
def test_noted_are_those_with_notes(lines: list[Entry]) -> None:
    tree = Tree(lines)
    assert tree.noted == [line for line in tree.entries if tree.notes(line)]


# Many

MANY = 100_000


def _chain(number: int) -> int:
    return number - 1


def _fan(_number: int) -> int:
    return 0


def _comb(number: int) -> int:
    return number - 1 - (number % 2 == 0)


def _backwards(number: int) -> int:
    return number + 1


@pytest.mark.parametrize("parent", [_chain, _fan, _comb, _backwards], ids=lambda made: made.__name__[1:])
def test_a_hundred_thousand_entries_of_any_shape(parent: Callable[[int], int]) -> None:
    names = [f"{number:08x}" for number in range(MANY)]
    lines = [
        entry(
            number + 1,
            names[number],
            names[parent(number)] if 0 <= parent(number) < MANY and number else None,
        )
        for number in range(MANY)
    ]
    if parent is _backwards:
        lines[0] = entry(1, names[0], names[1])
    tree = Tree(lines)
    rows = layout_rows(Layout(tree, tree.leaf_id))
    assert len(rows) == MANY
    assert notes(tree) == {}
    depth = {_chain: 0, _fan: 1, _comb: MANY // 2, _backwards: 0}[parent]
    assert max(rows.depths) == pytest.approx(depth, abs=1)


def test_a_cycle_of_a_hundred_thousand() -> None:
    names = [f"{number:08x}" for number in range(MANY)]
    tree = Tree(entry(number + 1, names[number], names[number - 1]) for number in range(MANY))
    assert ids(tree, tree.roots) == [names[0]]
    assert len(tree.path(names[-1])) == MANY
    assert len(layout_rows(Layout(tree, tree.leaf_id))) == MANY


def facts(layout: Layout) -> dict[str, object]:
    names = ("leaf_id", "path", "places", "order", "parents", "ends", "kinds")
    return {name: getattr(layout, name) for name in names}


@thorough
@given(
    lines=entries(),
    roles=st.lists(st.sampled_from(["user", "assistant"]), min_size=24, max_size=24),
    data=st.data(),
)
def test_a_layout_that_grew_is_the_layout_of_all(
    lines: list[Entry], roles: list[str], data: st.DataObject
) -> None:
    """Also where nearly every step goes on from the leaf, which is the way that is not made anew."""
    leaf = lines[-1].id if lines else None
    for number in range(data.draw(st.integers(0, 8))):
        parent = leaf if data.draw(st.integers(0, 5)) else data.draw(st.sampled_from(_IDS))
        target = data.draw(st.sampled_from([None, None, *_IDS[:2], f"new{number + 1}", f"new{number + 1}"]))
        kind = "message" if target is None else "label"
        lines.append(entry(100 + number, f"new{number}", parent, kind, target=target, text=target))
        leaf = f"new{number}"
    for made, role in zip(lines, roles, strict=False):
        if made.type == "message":
            made.role = role  # replies without text are hidden, unless they are the leaf or have a label
    tree = Tree()
    layout = Layout(tree, tree.leaf_id)
    place = 0
    while place < len(lines):
        end = min(len(lines), place + data.draw(st.integers(1, 3)))
        tree.extend(lines[place:end])
        layout = layout.grown(lines[place:end])
        assert facts(layout) == facts(Layout(tree, tree.leaf_id))
        place = end
