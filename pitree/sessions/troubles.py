"""What is wrong with the entries of a session and the links between them, each with what would mend it.

What mends an entry changes nothing of what pitree shows of the damaged one: the tree cuts what cannot be
linked, and what points at nothing has no effect.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from pitree.sessions.context import entry_messages
from pitree.sessions.entries import Entry
from pitree.sessions.examined import Examined
from pitree.sessions.text import one_line
from pitree.sessions.tree import NO_PARENT, Tree


class Mend(Enum):
    """What mends a field where no value does."""

    NEW_ID = "a new id"
    OWN_ID = "the entry's own id"
    TIMESTAMP = "the time that Pi would order by, or that of the entry before"
    GONE = "the field is left out"
    AS_CUSTOM = "the entry is kept inside a `custom` entry, which is a link in the chain and nothing else"
    SET_ASIDE = "the line is left out, since another one says the same"


class Trouble(NamedTuple):
    """One damage to an entry. `mend` is for the field of that name, or for the entry as a whole."""

    entry: Entry
    kind: str
    detail: str
    field: str
    mend: Mend | str | dict[str, object] | None


_ID: Final = re.compile(rb'"id": ?"([0-9A-Za-z-]{1,40})"')
_ID_WITHIN: Final = 400

_TARGETED: Final = {"label": "a label on", "context_edit": "a context edit of", "leaf": "a leaf at"}
# What a note on a line says is wrong, and what mends it; other notes are remarks.
_FIELDS: Final[dict[str, tuple[str, Mend | None]]] = {
    "id": ("Pi cannot tell it from others without", Mend.NEW_ID),
    "parentId": ("it is a root", None),
    "type": ("it can only be kept inside a custom entry", Mend.AS_CUSTOM),
    "message": ("Pi dies on it; it can only be kept inside a custom entry", Mend.AS_CUSTOM),
    "timestamp": ("in the copy it is one that orders the entry as it is shown", Mend.TIMESTAMP),
    "label": ("it clears the label", Mend.GONE),
    "name": ("it clears the name", Mend.GONE),
}


def entry_troubles(session: Examined) -> Iterator[Trouble]:
    """Yield the damage to entries, not in any order. Reads the bodies of compactions and context edits.

    Raises what `session.body` raises.
    """
    tree = session.tree
    yield from _repeated(session)
    yield from _links(session)
    within = Ancestry(tree)
    edits = Counter(entry.target_id for entry in tree.entries if entry.type == "context_edit")
    for entry in (*tree.entries, *tree.superseded):
        if entry.notes:
            yield from _fields(entry)
        if entry.type in _TARGETED:
            yield from _target(tree, entry)
        if entry.type == "context_edit":
            yield from _replacement(session, entry, edits[entry.target_id])
        elif entry.type == "compaction":
            yield from _boundary(session, entry, within)


def _repeated(session: Examined) -> Iterator[Trouble]:
    tree = session.tree
    for entry in tree.superseded:
        last = tree.get(entry.id)
        line = f"line {last.line}" if last is not None else "a later line"
        name = one_line(entry.id, 40)
        if last is not None and session.raw(entry).rstrip() == session.raw(last).rstrip():
            detail = f"id {name} is repeated: {line} is the same to the byte, so this one adds nothing"
            yield Trouble(entry, "repeated-id", detail, "", Mend.SET_ASIDE)
        else:
            detail = f"id {name} is repeated: {line} counts for it; this one is seen only under a new id"
            yield Trouble(entry, "repeated-id", detail, "id", Mend.NEW_ID)
            if entry.parent_id is not None and (entry.parent_id not in tree or entry.parent_id == entry.id):
                yield _cut(tree, entry)


def _links(session: Examined) -> Iterator[Trouble]:
    tree = session.tree
    lost: dict[str, int] | None = None
    for position, parent in enumerate(tree.parents):
        entry = tree.entries[position]
        if parent == NO_PARENT and entry.parent_id is not None:
            if lost is None:
                lost = _ids_of_bad_lines(session)
            yield _cut(tree, entry, lost.get(entry.parent_id))


def _ids_of_bad_lines(session: Examined) -> dict[str, int]:
    """Return the ids that stand at the beginning of lines that cannot be read, with the lines' numbers."""
    found: dict[str, int] = {}
    for line in session.bad_lines:
        match = _ID.search(session.line_at(line.offset, _ID_WITHIN))
        if match is not None:
            found[match[1].decode()] = line.number
    return found


def _cut(tree: Tree, entry: Entry, lost_on: int | None = None) -> Trouble:
    if entry.parent_id == entry.id:
        kind, why = "self-parent", "the entry is its own parent"
    elif entry.parent_id not in tree:
        kind, why = "missing-parent", f"parent {one_line(str(entry.parent_id), 40)} is not in the file"
        if lost_on is not None:
            why += f" (line {lost_on} was that entry, and cannot be read)"
    else:
        kind, why = "cycle", f"parent {one_line(str(entry.parent_id), 40)} is below this entry"
    return Trouble(entry, kind, f"{why}; the conversation begins anew here, as at a root", "parentId", None)


def _fields(entry: Entry) -> Iterator[Trouble]:
    for note in entry.notes:
        field, _, _ = note.partition(" ")
        if field in _FIELDS and " is " in note:
            meaning, mend = _FIELDS[field]
            yield Trouble(entry, "bad-field", f"{note}; {meaning}", field, mend)
        elif field == "targetId":
            mend = None if entry.type == "leaf" else Mend.AS_CUSTOM
            yield Trouble(entry, "bad-field", f"{note}; it points at nothing", field, mend)


def _target(tree: Tree, entry: Entry) -> Iterator[Trouble]:
    if entry.target_id is None:
        if entry.type == "leaf" or any(note.startswith("targetId ") for note in entry.notes):
            return  # before the first entry, or told already
        what = "nothing"
    elif entry.target_id in tree:
        return
    else:
        what = f"{one_line(entry.target_id, 40)}, which is not in the file"
    detail = f"{_TARGETED[entry.type]} {what}; it has no effect"
    yield Trouble(entry, "dangling-target", detail, "", Mend.AS_CUSTOM)


def _replacement(session: Examined, entry: Entry, edits: int) -> Iterator[Trouble]:
    body = session.body(entry)
    replacement = body.get("replacement")
    if "replacement" not in body:
        detail = "replacement is missing, so nothing is replaced; Pi dies on it where it counts"
        target = session.tree.get(entry.target_id)
        given = [] if target is None or edits < 2 else entry_messages(session.body(target))
        if given:  # an earlier edit does not count because of this one, which has to stay one
            yield Trouble(entry, "bad-field", detail, "replacement", {"content": given[0].get("content")})
        else:
            yield Trouble(entry, "bad-field", detail, "", Mend.AS_CUSTOM)
    elif replacement is not None and not isinstance(replacement, dict):
        detail = "replacement is neither null nor an object; the target is left without content"
        yield Trouble(entry, "bad-field", detail, "replacement", {})


def _boundary(session: Examined, entry: Entry, within: "Ancestry") -> Iterator[Trouble]:
    boundary = session.body(entry).get("firstKeptEntryId")
    if boundary is None:
        return
    if not isinstance(boundary, str):
        detail = "firstKeptEntryId is no string, so nothing is kept from before the compaction"
        yield Trouble(entry, "bad-field", detail, "firstKeptEntryId", Mend.OWN_ID)
    elif boundary != entry.id and not within.is_above(boundary, entry):
        place = "not before it on its path" if boundary in session.tree else "not in the file"
        detail = (
            f"keeps from entry {one_line(boundary, 40)} on, which is {place}; "
            "so nothing is kept from before the compaction"
        )
        yield Trouble(entry, "dangling-boundary", detail, "firstKeptEntryId", Mend.OWN_ID)


class Ancestry:
    """Which entries are above which, each asked in the same time however deep the tree is."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._entered: list[int] = []
        self._left: list[int] = []

    def is_above(self, ancestor_id: str, entry: Entry) -> bool:
        """Return whether the entry with that id is on the path to `entry`, and not `entry` itself."""
        tree = self._tree
        ancestor = tree.position(ancestor_id)
        position = tree.position(entry.id) if tree.get(entry.id) is entry else None
        above = None if entry.parent_id is None else tree.position(entry.parent_id)
        if position is not None:
            above = tree.parents[position]
        elif entry.parent_id == entry.id:
            above = None  # a repeated one: that link is cut
        if ancestor is None or above is None or above == NO_PARENT:
            return False
        if not self._entered:
            self._walk()
        return self._entered[ancestor] <= self._entered[above] < self._left[ancestor]

    def _walk(self) -> None:
        """Give all entries numbers, those below an entry the ones that follow its own, and note the last."""
        children = self._tree.child_lists
        self._entered = [0] * len(children)
        self._left = [0] * len(children)
        clock = 0
        waiting = list(self._tree.roots)
        while waiting:
            position = waiting.pop()
            if position < 0:
                self._left[~position] = clock
                continue
            self._entered[position] = clock
            clock += 1
            waiting.append(~position)
            waiting.extend(children[position] or ())
