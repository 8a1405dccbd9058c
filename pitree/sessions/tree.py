"""The tree of a session: parents, children, leaf, labels, name. Grows entry by entry.

Entries are known by their position (0 for the first) in `entries`, where every id stands once; parents and
children are lists of positions. Whatever the links in the file are, each entry is shown exactly once: a
parent that is missing, the entry itself, or part of a cycle makes the entry an extra root with a note.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cmp_to_key
from typing import Final

from pitree.sessions import javascript
from pitree.sessions.entries import Entry

NO_PARENT: Final = -1

# Times as Pi writes them, which are in order where their letters are; of the days those that every month has,
# or that the month of that name has in every year. (Whatever else stands there costs ten times as much.)
_ORDERED_STAMP: Final = re.compile(
    r"(?!0000)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)


class Tree:
    """The entries of one session, linked."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self.parents: list[int] = []
        """For each position the parent's position, or NO_PARENT."""
        self.superseded: list[Entry] = []
        """Earlier lines of repeated ids, in file order; the last line of an id is the one that counts."""
        self.label_times: dict[str, str] = {}
        """Timestamp of the label entry that set each label, by target id."""
        self.relinked = 0
        """Grows whenever all links were made anew, after which entries can stand at other positions."""
        self._positions: dict[str, int] = {}
        # An only child stands in a tuple: the garbage collector forgets those, where 100,000 lists would make
        # it stop the program for 50 ms every second or so of moving about.
        self._children: list[list[int] | tuple[int] | None] = []
        self._roots: list[int] = []
        self._unsorted: set[int] = set()
        self._awaited: set[str] = set()
        self._labels: dict[str, str] = {}
        self._link_notes: dict[str, list[str]] = {}
        self._noted: list[Entry] | None = None
        """The entries whose lines have notes, or may label what does not exist; None: not looked for yet."""
        self._name: str | None = None
        self._last: Entry | None = None
        self.extend(entries)

    # ---- growing

    def extend(self, entries: Iterable[Entry]) -> None:
        """Take up further entries, in file order."""
        added = list(entries)
        if not added:
            return
        self._last = added[-1]
        for entry in added:
            if entry.type == "label" or entry.type == "session_info":  # noqa: PLR1714 - every entry comes by
                self._note_bookkeeping(entry)
        if not self.entries:
            self._relink(added)
            return
        for place, entry in enumerate(added):
            if entry.id in self._positions or entry.id in self._awaited:
                self._relink([*self._in_file_order(), *added[place:]])
                return
            self._append(entry)

    def _note_bookkeeping(self, entry: Entry) -> None:
        if entry.type == "label" and entry.target_id is not None:
            if entry.text:
                self._labels[entry.target_id] = entry.text
                self.label_times[entry.target_id] = entry.timestamp
            else:
                self._labels.pop(entry.target_id, None)
                self.label_times.pop(entry.target_id, None)
        elif entry.type == "session_info":
            self._name = javascript.trim(entry.text or "") or None

    def _in_file_order(self) -> list[Entry]:
        if not self.superseded:
            return self.entries
        return sorted([*self.entries, *self.superseded], key=lambda entry: entry.offset)

    def _append(self, entry: Entry) -> None:
        """Link one entry whose id is new and that nobody waits for."""
        position = len(self.entries)
        self.entries.append(entry)
        if self._noted is not None and (entry.notes or entry.type == "label"):
            self._noted.append(entry)
        self._positions[entry.id] = position
        self._children.append(None)
        parent = NO_PARENT
        if entry.parent_id is not None:
            parent = self._positions.get(entry.parent_id, NO_PARENT)
            if parent == position:
                self._note(entry, "is its own parent")
                parent = NO_PARENT
            elif parent == NO_PARENT:
                self._note(entry, f"parent {entry.parent_id} is missing")
                self._awaited.add(entry.parent_id)
        self.parents.append(parent)
        self._adopt(position, parent)

    def _adopt(self, position: int, parent: int) -> None:
        if parent == NO_PARENT:
            self._roots.append(position)
            return
        siblings = self._children[parent]
        if siblings is None:
            self._children[parent] = (position,)
            return
        if isinstance(siblings, tuple):
            self._children[parent] = [*siblings, position]
        else:
            siblings.append(position)
        self._unsorted.add(parent)

    def _relink(self, entries: list[Entry]) -> None:
        """Build all links anew, in time linear in the number of entries."""
        self.relinked += 1
        self._link_notes = {}
        self._noted = None
        self.superseded = []
        positions = dict(zip([entry.id for entry in entries], range(len(entries)), strict=True))
        if len(positions) < len(entries):
            entries = self._last_of_each_id(entries, positions)
            positions = {entry.id: position for position, entry in enumerate(entries)}
        self.entries = entries
        self._positions = positions
        self.parents = parents = self._sound_parents()
        children: list[list[int] | tuple[int] | None] = [None] * len(entries)
        self._children = children
        self._roots = []
        self._unsorted = set()
        for position, parent in enumerate(parents):
            if parent != NO_PARENT and children[parent] is None:  # mostly so: spares a call
                children[parent] = (position,)
            else:
                self._adopt(position, parent)

    def _last_of_each_id(self, entries: list[Entry], last: dict[str, int]) -> list[Entry]:
        """Return the entries that count, and note the lines of those that do not."""
        lines: dict[str, list[str]] = {}
        kept = []
        for place, entry in enumerate(entries):
            if last[entry.id] == place:
                kept.append(entry)
            else:
                self.superseded.append(entry)
                lines.setdefault(entry.id, []).append(str(entry.line))
        for entry_id, places in lines.items():
            self._note(entries[last[entry_id]], f"id repeated; also on line {', '.join(places)}")
        return kept

    def _sound_parents(self) -> list[int]:
        """Return each entry's parent with missing ones, self-parents and cycles cut."""
        entries, find = self.entries, self._positions.get
        parents = [
            NO_PARENT if entry.parent_id is None else find(entry.parent_id, NO_PARENT) for entry in entries
        ]
        forward = False
        self._awaited = set()
        for position, parent in enumerate(parents):
            if parent == NO_PARENT:
                missing = entries[position].parent_id
                if missing is not None:
                    self._note(entries[position], f"parent {missing} is missing")
                    self._awaited.add(missing)
            elif parent == position:
                self._note(entries[position], "is its own parent")
                parents[position] = NO_PARENT
            elif parent > position:
                forward = True
        if forward:  # only a link to a later line can close a cycle
            self._cut_cycles(parents)
        return parents

    def _cut_cycles(self, parents: list[int]) -> None:
        settled = bytearray(len(parents))
        for start in range(len(parents)):
            walk: list[int] = []
            position = start
            while position != NO_PARENT and not settled[position]:
                settled[position] = 1
                walk.append(position)
                position = parents[position]
            if position != NO_PARENT and settled[position] == 1:
                cycle = walk[walk.index(position) :]
                first = min(cycle)
                self._note(self.entries[first], f"is part of a cycle of {len(cycle)} parents, cut here")
                parents[first] = NO_PARENT
            for position in walk:
                settled[position] = 2

    def _note(self, entry: Entry, note: str) -> None:
        self._link_notes.setdefault(entry.id, []).append(note)

    # ---- asking

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._positions

    def get(self, entry_id: str | None) -> Entry | None:
        """Return the entry with that id, or None."""
        position = None if entry_id is None else self._positions.get(entry_id)
        return None if position is None else self.entries[position]

    def position(self, entry_id: str) -> int | None:
        """Return the place of that id in `entries`, or None."""
        return self._positions.get(entry_id)

    @property
    def leaf_id(self) -> str | None:
        """Where the conversation goes on: the file's last entry, or what an older `leaf` entry points at."""
        last = self._last
        if last is None:
            return None
        if last.type == "leaf":
            if last.target_id is None:
                return None
            if last.target_id in self._positions:
                return last.target_id
        return last.id

    @property
    def name(self) -> str | None:
        """The session's name, or None where it has none or the last one was cleared."""
        return self._name

    @property
    def labels(self) -> dict[str, str]:
        """Label by entry id, for the entries that exist; the last label of a target counts."""
        labels = list(self._labels.items())  # at once: a thread may ask while another one takes up a label
        return {target: label for target, label in labels if target in self._positions}

    @property
    def stray_labels(self) -> dict[str, str]:
        """Labels whose target does not exist, by target id."""
        return {target: label for target, label in self._labels.items() if target not in self._positions}

    def label(self, entry_id: str) -> str | None:
        """Return the label of an entry, or None."""
        return self._labels.get(entry_id)

    def notes(self, entry: Entry) -> list[str]:
        """Return what is wrong with an entry or its place in the tree, in words; mostly nothing."""
        notes = [*entry.notes, *self._link_notes.get(entry.id, ())]
        if self._labels_nothing(entry):
            notes.append(f"labels {entry.target_id}, which does not exist")
        return notes

    @property
    def noted(self) -> list[Entry]:
        """The entries that have notes, in file order."""
        if self._noted is None:
            self._noted = [entry for entry in self.entries if entry.notes or entry.type == "label"]
        linked = map(self.get, self._link_notes)
        found = {
            entry.id: entry
            for entry in (*self._noted, *linked)
            if entry is not None and (entry.type != "label" or self.notes(entry))
        }
        return sorted(found.values(), key=lambda entry: entry.offset)

    def _labels_nothing(self, entry: Entry) -> bool:
        target = entry.target_id if entry.type == "label" else None
        return target is not None and target not in self._positions

    @property
    def roots(self) -> Sequence[int]:
        """The positions of the entries without a parent, in file order."""
        return self._roots

    def children(self, position: int) -> Sequence[int]:
        """Return the positions of an entry's children: by timestamp, file order where it cannot decide."""
        children = self._children[position]
        if children is None:
            return ()
        if position in self._unsorted:
            self._unsorted.discard(position)
            children = self._children[position] = self._by_time(sorted(children))
        return children

    @property
    def child_lists(self) -> Sequence[Sequence[int] | None]:
        """What `children` gives, for each position; None where there are none."""
        for position in list(self._unsorted):
            self.children(position)
        return self._children

    def _by_time(self, children: list[int]) -> list[int]:
        stamps = [self.entries[child].timestamp for child in children]
        if all(map(_ORDERED_STAMP.fullmatch, stamps)):
            return sorted(children, key=dict(zip(children, stamps, strict=True)).__getitem__)
        times = [javascript.time_ms(self.entries[child].timestamp) for child in children]
        known = [time for time in times if time is not None]
        moments = dict(zip(children, times, strict=True))
        if len(known) == len(times):
            return sorted(children, key=lambda child: moments[child] or 0.0)

        def compare(one: int, other: int) -> int:
            # JavaScript's sort takes a comparison with NaN as "equal"; both sorts are merge sorts of a kind
            first, second = moments[one], moments[other]
            return 0 if first is None or second is None else (first > second) - (first < second)

        return sorted(children, key=cmp_to_key(compare))

    def path(self, leaf_id: str | None) -> list[Entry]:
        """Return the entries from the root to `leaf_id`; none for None or an unknown id."""
        return [self.entries[position] for position in self.path_positions(leaf_id)]

    def path_positions(self, leaf_id: str | None) -> list[int]:
        """Return the positions from the root to `leaf_id`; none for None or an unknown id."""
        position = NO_PARENT if leaf_id is None else self._positions.get(leaf_id, NO_PARENT)
        path = []
        while position != NO_PARENT:
            path.append(position)
            position = self.parents[position]
        path.reverse()
        return path
