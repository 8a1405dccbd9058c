"""The half of Pi's SessionManager that writes: sessions begun, branched off and appended to.

A session without a conversation lives in memory until its first user or assistant message. Every append
first takes up what others appended, so that ids stay unique.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pitree.sessions import branched, drafts, javascript
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import EntryNotFoundError
from pitree.sessions.file import SessionFile
from pitree.sessions.reader import SessionReader
from pitree.sessions.storage import Draft, Stored, check_whole
from pitree.sessions.tree import Tree


class SessionRecorder(SessionReader):
    """The part of Pi's SessionManager that is about one session.

    `session_dir` is where a new session's file goes; without `persist` nothing is ever written.

    What appends an entry hangs it on the leaf, moves the leaf there and returns the new entry's id. It raises
    ReadOnlyError for a file that must not be written to (a version above 3, something before the header),
    NotASessionError where something else took the file's place, WriteError when writing fails,
    InvalidValueError for what JSON cannot hold, EntryNotFoundError when the leaf is gone from a file that was
    rewritten: then leaf, entries and file are as they were, but for what others wrote. An optional argument
    that is None is left out of the entry.

    >>> from pitree import SessionManager
    >>> session = SessionManager.in_memory("/home/ada/code")
    >>> asked = session.append_message({"role": "user", "content": "Tea or coffee?", "timestamp": 0})
    >>> coffee = session.append_message({"role": "user", "content": "Coffee.", "timestamp": 1})
    >>> session.branch(asked)
    >>> tea = session.append_message({"role": "user", "content": "Tea.", "timestamp": 2})
    >>> session.append_label_change(tea, "better") == session.get_leaf_id()
    True
    >>> [entry["message"]["content"] for entry in session.get_children(asked)]
    ['Coffee.', 'Tea.']
    >>> session.get_label(tea)
    'better'
    """

    def __init__(self, cwd: str, session_dir: Path | None, *, persist: bool) -> None:
        self._cwd = cwd
        self._dir = session_dir
        self._persist = persist
        self._leaf_id = None
        self._storage = Draft({}, None)

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

        The leaf is then the file's own. A session in memory takes a copy. Raises NotASessionError, OSError;
        then nothing has changed.
        """
        path = Path(os.path.abspath(path))  # noqa: PTH100 - links stay links
        if path.exists() and (path.stat().st_size or not path.is_file()):
            stored = Stored(SessionFile.load(path))
            self._take(stored if self._persist else stored.in_memory())
            return
        header = drafts.header(drafts.new_session_id(), drafts.now(), self._cwd, None)
        self._take(Draft(header, path if self._persist else None))

    def create_branched_session(self, leaf_id: str) -> Path | None:
        """Go over to a new session that holds only the path from the root to `leaf_id`.

        The labels of its entries are made anew. Returns the new session's path (None: in memory only); the
        file is there at once if the path has a conversation. Raises EntryNotFoundError, ReadOnlyError,
        WriteError, and InvalidValueError where an entry is nested too deeply to be written anew; then nothing
        has changed.
        """
        self._storage.check_writable()
        self._require(leaf_id)
        tree = self.tree
        for entry in tree.path(leaf_id):
            check_whole(entry)
        entries = branched.branched_entries(self.get_branch(leaf_id), tree.labels, tree.label_times)
        before = self.get_session_file()
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

    # ---- appending

    def append_message(self, message: JsonObject) -> str:
        """Append a message: an object with a `role`, and what that role has.

        Raises InvalidValueError for an object without a role, and for the roles that have entries of their
        own: `branchSummary` (use `branch_with_summary`) and `compactionSummary` (use `append_compaction`).
        """
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

        With `retained_tail`, the messages to keep are stored in the entry itself; only pitree and the older
        harness that wrote such entries read them, Pi goes by `first_kept_entry_id` alone.

        >>> from pitree import SessionManager
        >>> session = SessionManager.in_memory()
        >>> for words in ("one", "two", "three"):
        ...     last = session.append_message({"role": "user", "content": words, "timestamp": 0})
        >>> _ = session.append_compaction("Counted to two.", last, 1200)
        >>> context = session.build_session_context()
        >>> [message.get("summary") or message["content"] for message in context.messages]
        ['Counted to two.', 'three']
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
        """Append an extension's own entry, which the model does not see; `data` is any JSON value."""
        return self._append(drafts.custom(custom_type, data))

    def append_session_info(self, name: str) -> str:
        """Append the session's name, on one line and without blanks around it; blank clears it."""
        return self._append(drafts.session_info(name))

    def append_custom_message_entry(
        self,
        custom_type: str,
        content: str | Sequence[JsonObject],
        display: bool,
        details: object = None,
    ) -> str:
        """Append an extension's message, which the model sees; `content` is a string or blocks."""
        return self._append(drafts.custom_message(custom_type, content, display=display, details=details))

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Append a label for an entry; None or "" clears it. Raises EntryNotFoundError for no entry's id."""
        self._require(target_id)
        return self._append(drafts.label(target_id, label))

    def append_context_edit(self, target_id: str, replacement: JsonObject | None) -> str:
        """Append an edit of an entry on the branch: None leaves it out of the context.

        Otherwise `replacement` is `{"content": …}`, which takes the place of the entry's content; a string
        becomes a text block where the target's role has only blocks. Raises EntryNotFoundError where the
        target is not on the branch to the leaf, InvalidValueError where it gives the model nothing that can
        be edited, or `replacement` is something else.

        >>> from pitree import SessionManager
        >>> session = SessionManager.in_memory()
        >>> first = session.append_message({"role": "user", "content": "My key is 1234.", "timestamp": 0})
        >>> _ = session.append_context_edit(first, {"content": "My key is ****."})
        >>> session.build_session_context().messages[0]["content"]
        'My key is ****.'
        """
        target = self._require(target_id)
        if target not in self.tree.path(self._leaf_id):
            raise EntryNotFoundError(f"entry {target_id} is not on the active branch")
        return self._append(drafts.context_edit(self.body(target), replacement))

    def append_usage(
        self, kind: str, provider: str, model: str, usage: JsonObject, note: str | None = None
    ) -> str:
        """Append a usage record, which counts in totals only; returns the id (Pi: the entry)."""
        return self._append(drafts.usage(kind, provider, model, usage, note))

    def branch_with_summary(
        self,
        entry_id: str | None,
        summary: str,
        details: object = None,
        from_hook: bool | None = None,
        usage: JsonObject | None = None,
    ) -> str:
        """Move the leaf to `entry_id` (None: before the first) and append a summary of what was left.

        Raises EntryNotFoundError for no entry's id.
        """
        if entry_id is not None:
            self._require(entry_id)
        left = self._leaf_id
        fields = drafts.branch_summary(
            left or "root", summary, details=details, usage=usage, from_hook=from_hook
        )
        self._leaf_id = entry_id
        try:
            return self._append(fields)
        except BaseException:
            self._leaf_id = left
            raise

    def _append(self, fields: JsonObject | Callable[[str, str], JsonObject]) -> str:
        """Append an entry with these fields, which may depend on its id and timestamp."""

        def make(tree: Tree) -> JsonObject:
            if self._leaf_id is not None and self._leaf_id not in tree:
                raise EntryNotFoundError(
                    f"the leaf {self._leaf_id} is no longer in {self._storage.path}, "
                    "which was rewritten meanwhile; move to an entry that is there"
                )
            entry_id, timestamp = drafts.new_id(tree), drafts.now()
            given = fields(entry_id, timestamp) if callable(fields) else fields
            return drafts.entry(given, entry_id, self._leaf_id, timestamp)

        self._storage = self._storage.settled()  # where writing went well and reading it again did not
        entry_id = self._storage.append(make)
        self._leaf_id = entry_id
        self._storage = self._storage.settled()
        return entry_id


def _milliseconds(timestamp: str) -> int:
    return int(javascript.time_ms(timestamp) or 0)
