"""The half of Pi's SessionManager that reads: the entries of a session, its tree, the context at the leaf.

What is on disk is read from there; a session without a conversation lives in memory. The leaf is this
object's own: it begins where the file's is, and moves only with what is done here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pitree.sessions.context import SessionContext, build_context_entries, build_session_context
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import EntryNotFoundError
from pitree.sessions.storage import Draft, Stored
from pitree.sessions.tree import Tree


@dataclass(slots=True, eq=False)
class TreeNode:
    """An entry with its children, as `get_tree` gives them: ordered by time.

    `label` and `label_timestamp` (when it was set, ISO 8601) are None for an entry without a label.
    """

    entry: JsonObject
    children: list["TreeNode"] = field(default_factory=list, repr=False)
    label: str | None = None
    label_timestamp: str | None = None

    def walk(self) -> Iterator["TreeNode"]:
        """Yield this node and all below it, parents before children; no depth is too deep."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


class SessionReader:
    """What can be asked of one session.

    Entries are given as objects (dicts) as they are stored, in version 3 whatever the file's version is: new
    ones at every call, so that changing one changes nothing here. Those of a file are read when they are
    asked for. That raises SessionError where the file was cut, written over or closed meanwhile, and OSError
    where it cannot be read.
    """

    _storage: Draft | Stored
    _leaf_id: str | None

    def close(self) -> None:
        """Let go of the file; entries that are on disk can no longer be read."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the session

    def get_session_id(self) -> str:
        """Return the session's id."""
        return str(self.get_header()["id"])

    def get_session_file(self) -> Path | None:
        """Return the session's file, which may not be there yet; None in memory."""
        return self._storage.path

    def get_session_name(self) -> str | None:
        """Return the session's name, None where it has none."""
        return self.tree.name

    def get_header(self) -> JsonObject:
        """Return the header, as stored."""
        return dict(self._storage.header)

    # ---- its entries

    @property
    def tree(self) -> Tree:
        """The entries and their links; `tree.leaf_id` is the file's leaf, `get_leaf_id` this object's."""
        return self._storage.tree

    def body(self, entry: Entry) -> JsonObject:
        """Return the whole object of an entry of `tree`."""
        return self._storage.body(entry)

    def get_entries(self) -> list[JsonObject]:
        """Return all entries in file order, without the header."""
        return [self.body(entry) for entry in self.tree.entries]

    def get_entry(self, entry_id: str) -> JsonObject | None:
        """Return an entry, or None."""
        entry = self.tree.get(entry_id)
        return None if entry is None else self.body(entry)

    def get_leaf_id(self) -> str | None:
        """Return where the next entry will hang; None is before the first one."""
        return self._leaf_id

    def get_leaf_entry(self) -> JsonObject | None:
        """Return the entry at the leaf, or None."""
        return None if self._leaf_id is None else self.get_entry(self._leaf_id)

    def get_branch(self, from_id: str | None = None) -> list[JsonObject]:
        """Return the entries from the root to `from_id`, by default to the leaf; none for an unknown id."""
        return [self.body(entry) for entry in self.tree.path(self._leaf_id if from_id is None else from_id)]

    def get_children(self, parent_id: str | None) -> list[JsonObject]:
        """Return the entries that name `parent_id` as their parent, in file order; None gives the roots."""
        return [self.body(entry) for entry in self.tree.entries if entry.parent_id == parent_id]

    def get_label(self, entry_id: str) -> str | None:
        """Return an entry's label, or None."""
        return self.tree.label(entry_id)

    def get_tree(self) -> list[TreeNode]:
        """Return the whole tree, root by root; an entry whose parent is missing is a root.

        >>> from pitree import SessionManager
        >>> session = SessionManager.in_memory()
        >>> first = session.append_custom_entry("first")
        >>> _ = session.append_custom_entry("second")
        >>> session.branch(first)
        >>> _ = session.append_custom_entry("third")
        >>> (root,) = session.get_tree()
        >>> [node.entry["customType"] for node in root.children]
        ['second', 'third']
        """
        tree = self.tree
        nodes = [
            TreeNode(self.body(entry), [], tree.label(entry.id), tree.label_times.get(entry.id))
            for entry in tree.entries
        ]
        for position, node in enumerate(nodes):
            node.children = [nodes[child] for child in tree.children(position)]
        return [nodes[root] for root in tree.roots]

    # ---- what the model sees

    def build_context_entries(self) -> list[JsonObject]:
        """Return the entries that make the context at the leaf, the ruling compaction first."""
        return [self.body(entry) for entry in build_context_entries(self, self._leaf_id)]

    def build_session_context(self) -> SessionContext:
        """Return what the model would see at the leaf: `messages`, `thinking_level`, `model`, and whence."""
        return build_session_context(self, self._leaf_id)

    # ---- moving

    def branch(self, entry_id: str) -> None:
        """Move the leaf: the next entry hangs on `entry_id`. Lasts only once something is appended there.

        Raises EntryNotFoundError.
        """
        self._require(entry_id)
        self._leaf_id = entry_id

    def reset_leaf(self) -> None:
        """Move the leaf before the first entry: the next one is another root."""
        self._leaf_id = None

    def _require(self, entry_id: str) -> Entry:
        entry = self.tree.get(entry_id)
        if entry is None:
            raise EntryNotFoundError(
                f"no entry of {self._storage.path or 'this session'} has the id {entry_id!r}"
            )
        return entry
