"""All entries of a tree in the order drawn: the branch with the leaf first, then the others.

Made for one leaf, in time linear in the number of entries and without recursion; what is appended below the
leaf is put in without making everything anew.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from pitree.sessions.entries import Entry
from pitree.sessions.filters import FILTERS
from pitree.sessions.tree import NO_PARENT, Tree

# What a filter needs to know of an entry, as one byte: a kind, and whether it is labelled.
_NEVER, _USER, _TOOL, _SETTING, _OTHER, _UNDECIDED = range(6)
_LABELLED: Final = 8
_SETTINGS: Final = {
    "label",
    "context_edit",
    "custom",
    "model_change",
    "thinking_level_change",
    "session_info",
}
_SHOWN: Final[dict[str, frozenset[int]]] = {
    "default": frozenset({_USER, _TOOL, _OTHER}),
    "no-tools": frozenset({_USER, _OTHER}),
    "user-only": frozenset({_USER}),
    "labeled-only": frozenset(),
    "all": frozenset({_USER, _TOOL, _SETTING, _OTHER}),
}


def _table(name: str) -> bytes:
    shown = bytearray(256)
    for kind in (_USER, _TOOL, _SETTING, _OTHER):
        shown[kind] = kind in _SHOWN[name]
        shown[kind | _LABELLED] = kind in _SHOWN[name] or name == "labeled-only"
    return bytes(shown)


_TABLES: Final = {name: _table(name) for name in FILTERS}


# Types and roles come from files: a hostile one has as many as entries.
_KEPT_KINDS: Final = 1024


class _Kinds(dict[tuple[str, str], int]):
    """The kind of an entry by its type and role; of a reply, None of whose text is known, `_UNDECIDED`."""

    def __missing__(self, key: tuple[str, str]) -> int:
        kind, role = key
        if kind == "message":
            known = {"user": _USER, "toolResult": _TOOL, "assistant": _UNDECIDED}.get(role, _OTHER)
        elif kind == "usage":
            known = _NEVER
        else:
            known = _SETTING if kind in _SETTINGS else _OTHER
        if len(self) < _KEPT_KINDS:
            self[key] = known
        return known


class Layout:
    """All entries of a tree in the order drawn, for one leaf; the filters choose from it.

    `order[i]` is the position (in `tree.entries`) of the i-th entry drawn, `parents[i]` the index of its
    parent in this order or NO_PARENT, `ends[i]` the index after its last descendant.
    """

    def __init__(self, tree: Tree, leaf_id: str | None) -> None:
        self.tree = tree
        self.leaf_id = leaf_id
        self._relinked = tree.relinked
        path = tree.path_positions(leaf_id)
        self.path = frozenset(path)
        """Positions from the root to the leaf."""
        self.places = [0] * len(tree)
        """For each position in `tree.entries` its index in `order`."""
        self.order, self.parents = self._walk()
        self.ends = self._subtree_ends()
        self.kinds = self._kinds()

    @cached_property
    def numbers(self) -> list[int]:
        """NO_PARENT and all indexes of this order, for columns that would make the same numbers anew."""
        return list(range(NO_PARENT, len(self.order)))

    def grown(self, entries: Sequence[Entry]) -> "Layout":
        """Return the layout of the tree after it took up `entries`, as `Layout` would make it.

        Where they go on from the leaf one below the other, as an agent writes them, that is three times as
        fast as making it anew.
        """
        tree, first = self.tree, len(self.order)
        added = range(first, first + len(entries))
        leaf = NO_PARENT if self.leaf_id is None else tree.position(self.leaf_id)
        if (
            tree.relinked != self._relinked
            or leaf is None
            or leaf == NO_PARENT
            or tree.leaf_id != entries[-1].id
            or len(tree) != added.stop
            or [tree.parents[position] for position in added] != [leaf, *added[:-1]]
            or self.ends[self.places[leaf]] != self.places[leaf] + 1
            or any(entry.type == "label" or tree.label(entry.id) is not None for entry in entries)
        ):
            return Layout(tree, tree.leaf_id)
        return self._with_chain(added, leaf)

    def _with_chain(self, added: range, leaf: int) -> "Layout":
        """Return this with entries put in below the leaf, where everything after them moves on."""
        count, place = len(added), self.places[leaf] + 1
        made = Layout.__new__(Layout)
        made.tree = self.tree
        made.leaf_id = self.tree.leaf_id
        made._relinked = self._relinked  # noqa: SLF001 - it is one of these
        made.path = self.path.union(added)
        made.order = [*self.order[:place], *added, *self.order[place:]]
        made.places = [index if index < place else index + count for index in self.places]
        made.places += range(place, place + count)
        made.parents = self.parents[:place]
        made.parents += range(place - 1, place + count - 1)
        made.parents += [parent if parent < place else parent + count for parent in self.parents[place:]]
        # what is drawn above the leaf is its path and nothing else
        made.ends = [end + count for end in self.ends]
        made.ends[place:place] = [place + count] * count
        kinds = _kinds_of(self.tree, made.leaf_id, [leaf, *added])
        if kinds[0] != _NEVER:
            kinds[0] |= self.kinds[place - 1] & _LABELLED
        made.kinds = self.kinds[: place - 1] + bytes(kinds) + self.kinds[place:]
        return made

    def _active_first(self, positions: Sequence[int]) -> Sequence[int]:
        if len(positions) > 1:
            active = next((position for position in positions if position in self.path), None)
            if active is not None and positions[0] != active:
                return [active, *(position for position in positions if position != active)]
        return positions

    def _walk(self) -> tuple[list[int], list[int]]:
        children = self.tree.child_lists
        places = self.places
        order: list[int] = []
        parents: list[int] = []
        stack = [(root, NO_PARENT) for root in reversed(self._active_first(self.tree.roots))]
        while stack:
            position, parent = stack.pop()
            while True:
                parents.append(parent)
                places[position] = parent = len(order)
                order.append(position)
                below = children[position]
                if below is None or len(below) != 1:
                    break
                position = below[0]
            if below:
                stack += [(child, parent) for child in reversed(self._active_first(below))]
        return order, parents

    def _subtree_ends(self) -> list[int]:
        parents = self.parents
        ends = list(range(1, len(parents) + 1))
        for index in range(len(ends) - 1, 0, -1):
            parent, end = parents[index], ends[index]
            if parent != NO_PARENT and end > ends[parent]:
                ends[parent] = end
        return ends

    def _kinds(self) -> bytes:
        by_position = _kinds_of(self.tree, self.leaf_id, range(len(self.tree)))
        kinds = bytearray(map(by_position.__getitem__, self.order))
        for entry_id in self.tree.labels:
            position = self.tree.position(entry_id)
            if position is not None and kinds[self.places[position]] != _NEVER:
                kinds[self.places[position]] |= _LABELLED
        return bytes(kinds)

    def mask(self, filter_name: str) -> bytearray:
        """Return a byte for each entry drawn: 1 where the filter shows it."""
        return bytearray(self.kinds.translate(_TABLES[filter_name]))

    def taken_over(self, marks: bytes, older: "Layout") -> bytes | None:
        """Return the `marks` that an older layout has for its entries in this order; 0 for new entries.

        A byte for each entry. None where that cannot be: the layouts are of different trees, or entries stand
        at other positions now.
        """
        if older.tree is not self.tree or older._relinked != self._relinked:  # noqa: SLF001 - one of these
            return None
        by_position = bytearray(len(self.order))
        for position, mark in zip(older.order, marks, strict=True):
            by_position[position] = mark
        return bytes(map(by_position.__getitem__, self.order))

    def stretch(self, position: int) -> range:
        """Return the indexes between an entry and the end of the straight line that it begins.

        The end is the last entry before a fork, or the one without children.
        """
        children = self.tree.children
        index = self.places[position]
        last = index
        while len(children(self.order[last])) == 1:
            last += 1  # in the order drawn an only child comes right after its parent
        return range(index + 1, max(index + 1, last))

    def count_in(self, filter_name: str, indexes: range) -> int:
        """Return how many of the entries at `indexes` the filter shows."""
        return self.kinds[indexes.start : indexes.stop].translate(_TABLES[filter_name]).count(1)

    def count_below(self, filter_name: str, position: int) -> int:
        """Return how many entries below the one at `position` the filter shows."""
        index = self.places[position]
        return self.count_in(filter_name, range(index + 1, self.ends[index]))


def _kinds_of(tree: Tree, leaf_id: str | None, positions: Sequence[int]) -> bytearray:
    """Return the kinds of the entries at some positions, without regard to labels."""
    known = _Kinds()
    entries = tree.entries
    kinds = bytearray(
        [
            kind
            if (kind := known[entry.type, entry.role]) != _UNDECIDED
            else _OTHER
            if entry.has_text or entry.ended_badly
            else _NEVER
            for entry in map(entries.__getitem__, positions)
        ]
    )
    leaf = None if leaf_id is None else tree.position(leaf_id)
    if leaf is not None and entries[leaf].role == "assistant":
        kinds[positions.index(leaf)] = _OTHER  # the place where one is must be seen
    return kinds


def both(one: bytes | bytearray, other: bytes) -> bytes:
    """Return 1 where two masks of the same length have it; one operation, not one for every byte."""
    if len(one) != len(other):
        raise ValueError(f"masks of {len(one)} and {len(other)} entries")
    found = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return found.to_bytes(len(one), "little")
