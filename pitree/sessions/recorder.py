"""One session that can be read and appended to, with a leaf of its own: what Pi's SessionManager does.

What is on disk is read from there; a session without a conversation lives in memory until its first user or
assistant message. Every append first takes up what others appended, so that ids stay unique; the leaf is
this object's own and moves only with what is done here.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pitree.sessions import branched, drafts, javascript
from pitree.sessions.context import SessionContext, build_context_entries, build_session_context
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import EntryNotFoundError
from pitree.sessions.file import SessionFile
from pitree.sessions.storage import Draft, Stored
from pitree.sessions.tree import Tree


@dataclass(slots=True)
class TreeNode:
    """An entry with its children, as `get_tree` gives them: ordered by time."""

    entry: JsonObject
    children: list["TreeNode"] = field(default_factory=list)
    label: str | None = None
    label_timestamp: str | None = None


class SessionRecorder:
    """The part of Pi's SessionManager that is about one session.

    `session_dir` is where a new session's file goes; without `persist` nothing is ever written.
    """

    def __init__(self, cwd: str, session_dir: Path | None, *, persist: bool) -> None:
        self._cwd = cwd
        self._dir = session_dir
        self._persist = persist
        self._leaf_id: str | None = None
        self._storage: Draft | Stored = Draft({}, None)

    def close(self) -> None:
        """Let go of the file; entries that are on disk can no longer be read."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- which session

    def new_session(self, *, parent_session: str | None = None, session_id: str | None = None) -> Path | None:
        """Begin another, empty session and return the path that its file will have (None: in memory only).

        Raises InvalidValueError for an id that Pi would not take.
        """
        if session_id is not None:
            drafts.check_session_id(session_id)
        header = drafts.header(session_id or drafts.new_session_id(), drafts.now(), self._cwd, parent_session)
        self._take(Draft(header, self._new_path(header)))
        return self.get_session_file()

    def set_session_file(self, path: Path | str) -> None:
        """Go over to another file; one that does not exist yet, or is empty, becomes a new session.

        Raises NotASessionError, OSError; then nothing has changed.
        """
        path = Path(os.path.abspath(path))  # noqa: PTH100 - links stay links
        if path.exists() and (path.stat().st_size or not path.is_file()):
            self._take(Stored(SessionFile.load(path)))
            return
        self.new_session()
        self._take(Draft(self.get_header(), path))

    def create_branched_session(self, leaf_id: str) -> Path | None:
        """Go over to a new session that holds only the path from the root to `leaf_id`.

        The labels of its entries are made anew. Returns the new session's path (None: in memory only); the
        file is there at once if the path has a conversation. Raises EntryNotFoundError.
        """
        self._require(leaf_id)
        tree = self.tree
        entries = branched.branched_entries(self.get_branch(leaf_id), tree.labels, tree.label_times)
        before = self.get_session_file() if self._persist else None
        header = drafts.header(
            drafts.new_session_id(), drafts.now(), self._cwd, None if before is None else str(before)
        )
        self._take(Draft(header, self._new_path(header), entries).settled())
        return self.get_session_file()

    def _new_path(self, header: JsonObject) -> Path | None:
        if not self._persist or self._dir is None:
            return None
        return self._dir / drafts.file_name(header["timestamp"], header["id"])

    def _take(self, storage: Draft | Stored) -> None:
        self._storage.close()
        self._storage = storage
        self._leaf_id = storage.tree.leaf_id

    def is_persisted(self) -> bool:
        """Whether this session is written to disk at all."""
        return self._persist

    def get_cwd(self) -> str:
        """Return the working directory."""
        return self._cwd

    def get_session_dir(self) -> Path | None:
        """Return the directory for new sessions; None in memory."""
        return self._dir

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
        return self._storage.header

    # ---- reading

    @property
    def tree(self) -> Tree:
        """The entries and their links; `tree.leaf_id` is the file's leaf, `get_leaf_id` this object's."""
        return self._storage.tree

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's whole object, a new one at every call."""
        return self._storage.body(entry)

    def get_entries(self) -> list[JsonObject]:
        """Return all entries in file order."""
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
        """Return the entries from the root to `from_id`, by default to the leaf."""
        return [self.body(entry) for entry in self.tree.path(from_id or self._leaf_id)]

    def get_children(self, parent_id: str | None) -> list[JsonObject]:
        """Return the entries that name `parent_id` as their parent, in file order; None gives the roots."""
        return [self.body(entry) for entry in self.tree.entries if entry.parent_id == parent_id]

    def get_label(self, entry_id: str) -> str | None:
        """Return an entry's label, or None."""
        return self.tree.label(entry_id)

    def get_tree(self) -> list[TreeNode]:
        """Return the whole tree, root by root; an entry whose parent is missing is a root."""
        tree = self.tree
        nodes = [
            TreeNode(self.body(entry), [], tree.label(entry.id), tree.label_times.get(entry.id))
            for entry in tree.entries
        ]
        for position, node in enumerate(nodes):
            node.children = [nodes[child] for child in tree.children(position)]
        return [nodes[root] for root in tree.roots]

    def build_context_entries(self) -> list[JsonObject]:
        """Return the entries that make the context at the leaf, the ruling compaction first."""
        return [self.body(entry) for entry in build_context_entries(self, self._leaf_id)]

    def build_session_context(self) -> SessionContext:
        """Return what the model would see at the leaf."""
        return build_session_context(self, self._leaf_id)

    # ---- moving

    def branch(self, entry_id: str) -> None:
        """Move the leaf: the next entry hangs on `entry_id`. Lasts only once something is appended there."""
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

    # ---- appending; each hangs the entry on the leaf, moves the leaf there and returns the new id

    def append_message(self, message: JsonObject) -> str:
        """Append a message."""
        return self._append(drafts.message(message))

    def append_thinking_level_change(self, thinking_level: str) -> str:
        """Append a change of thinking level."""
        return self._append(drafts.thinking_level_change(thinking_level))

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Append a change of model."""
        return self._append(drafts.model_change(provider, model_id))

    def append_compaction(  # noqa: PLR0917 - Pi's order of arguments
        self,
        summary: str,
        first_kept_entry_id: str | None,
        tokens_before: int,
        details: object = None,
        from_hook: bool | None = None,
        usage: JsonObject | None = None,
        *,
        retained_tail: Sequence[JsonObject] | None = None,
    ) -> str:
        """Append a compaction that keeps the path from `first_kept_entry_id` on; None keeps nothing.

        With `retained_tail`, the messages to keep are stored in the entry itself.
        """
        system = drafts.current_system_message(self.build_session_context().messages)

        def fields(entry_id: str, timestamp: str) -> JsonObject:
            kept = first_kept_entry_id
            if kept is None and retained_tail is None:
                kept = entry_id
            return drafts.compaction(
                summary,
                kept,
                tokens_before,
                details=details,
                from_hook=from_hook,
                usage=usage,
                retained_tail=retained_tail,
                system_message=None if system is None else {**system, "timestamp": _milliseconds(timestamp)},
            )

        return self._append(fields)

    def append_custom_entry(self, custom_type: str, data: object = None) -> str:
        """Append an extension's own entry, which the model does not see."""
        return self._append(drafts.custom(custom_type, data))

    def append_session_info(self, name: str) -> str:
        """Append the session's name; blank clears it."""
        return self._append(drafts.session_info(name))

    def append_custom_message_entry(
        self,
        custom_type: str,
        content: str | Sequence[JsonObject],
        display: bool,
        details: object = None,
    ) -> str:
        """Append an extension's message, which the model sees."""
        return self._append(drafts.custom_message(custom_type, content, display=display, details=details))

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Append a label for an entry; None or "" clears it."""
        self._require(target_id)
        return self._append(drafts.label(target_id, label))

    def append_context_edit(self, target_id: str, replacement: JsonObject | None) -> str:
        """Append an edit of an entry on the branch: None leaves it out of the context.

        Otherwise `replacement` is `{"content": …}`, which takes the place of the entry's content.
        """
        target = self._require(target_id)
        if target not in self.tree.path(self._leaf_id):
            raise EntryNotFoundError(f"entry {target_id} is not on the active branch")
        return self._append(drafts.context_edit(self.body(target), replacement))

    def append_usage(
        self, kind: str, provider: str, model: str, usage: JsonObject, note: str | None = None
    ) -> str:
        """Append a usage record, which counts in totals only."""
        return self._append(drafts.usage(kind, provider, model, usage, note))

    def branch_with_summary(
        self,
        entry_id: str | None,
        summary: str,
        details: object = None,
        from_hook: bool | None = None,
        usage: JsonObject | None = None,
    ) -> str:
        """Move the leaf to `entry_id` (None: before the first) and append a summary of what was left."""
        if entry_id is not None:
            self._require(entry_id)
        fields = drafts.branch_summary(
            self._leaf_id or "root", summary, details=details, usage=usage, from_hook=from_hook
        )
        left = self._leaf_id
        self._leaf_id = entry_id
        try:
            return self._append(fields)
        except BaseException:
            self._leaf_id = left
            raise

    def _append(self, fields: JsonObject | Callable[[str, str], JsonObject]) -> str:
        """Append an entry with these fields, which may depend on its id and timestamp.

        Raises ReadOnlyError, WriteError, InvalidValueError, EntryNotFoundError; then nothing has changed.
        """

        def make(tree: Tree) -> JsonObject:
            if self._leaf_id is not None and self._leaf_id not in tree:
                raise EntryNotFoundError(
                    f"the leaf {self._leaf_id} is no longer in {self._storage.path}, "
                    "which was rewritten meanwhile; move to an entry that is there"
                )
            entry_id, timestamp = drafts.new_id(tree), drafts.now()
            given = fields(entry_id, timestamp) if callable(fields) else fields
            return drafts.entry(given, entry_id, self._leaf_id, timestamp)

        entry_id = self._storage.append(make)
        self._storage = self._storage.settled()
        self._leaf_id = entry_id
        return entry_id


def _milliseconds(timestamp: str) -> int:
    return int(javascript.time_ms(timestamp) or 0)
