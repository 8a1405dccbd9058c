"""The changes that people make to a session, each one entry at the end of its file, checked as it is written.

What was decided on in a dialog was decided on what the dialog showed. So every change carries that, and is
written only if it still holds under the lock: ChangedError says what does not.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from pitree.sessions import drafts, javascript, writing
from pitree.sessions.branching import FileLists
from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject
from pitree.sessions.errors import ChangedError, EntryNotFoundError, MigrationNeededError, WriteError
from pitree.sessions.file import SessionFile
from pitree.sessions.moves import State
from pitree.sessions.storage import Make, Stored, encode_entry
from pitree.sessions.tree import Tree

MOVE_TYPE: Final = "pitree.leaf"
"""The `customType` of the entry that moves the leaf: a link in the chain, and nothing to the model."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A branch summary to be written; `usage` is what a model took for it."""

    text: str
    files: FileLists
    usage: JsonObject | None = None


class Move(NamedTuple):
    """A move to `target_id` (None: before the first entry), decided on in `state`."""

    target_id: str | None
    state: State
    summary: Summary | None = None


class Appender:
    """One session file that is appended to. Use it as a context manager.

    What appends returns the new entry's id, or None where that would change nothing. It raises what
    `SessionRecorder` raises for it, besides ChangedError, and MigrationNeededError for versions 1 and 2
    unless `migrate` is given.

    `known` is the session as it has been read already: where it is up to date as the entry is written, the
    file is not read again, which takes a second for the longest ones. It stays as it is.
    """

    def __init__(self, path: Path, *, migrate: bool = False, known: SessionFile | None = None) -> None:
        self.path = path
        self._known = known if known is not None and known.version == CURRENT_VERSION else None
        self._stored: Stored | None = None
        self._migrate = migrate
        if self._known is None:
            self._load()

    def _load(self) -> Stored:
        self._known = None
        if self._stored is None:
            self._stored = Stored(SessionFile.load(self.path))
        return self._stored

    @property
    def _session(self) -> SessionFile | Stored:
        return self._known or self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stored is not None:
            self._stored.close()

    @property
    def tree(self) -> Tree:
        """The entries; what was just written is among them unless the session is the one known before."""
        return self._session.tree

    @property
    def header(self) -> JsonObject:
        """The header, as stored."""
        return self._session.header

    @property
    def kept(self) -> Path | None:
        """Where the file of an older version is, after it was migrated here."""
        return None if self._stored is None else self._stored.kept

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's object."""
        return self._session.body(entry)

    def move(self, move: Move) -> str | None:
        """Move the leaf, with a summary of what is left or with an entry that the model does not see."""

        def make(tree: Tree) -> JsonObject:
            now = State.of(tree)
            if now != move.state:
                raise ChangedError(_what_grew(self.path, move.state, now))
            self._check_target(tree, move.target_id)
            if move.summary is None:
                fields = drafts.custom(MOVE_TYPE, {"from": now.leaf_id, "to": move.target_id})
            else:
                summary = move.summary
                fields = drafts.branch_summary(
                    now.leaf_id or "root",
                    summary.text,
                    details=summary.files.details(),
                    usage=summary.usage,
                )
            return drafts.entry(fields, drafts.new_id(tree), move.target_id, drafts.now())

        if move.target_id == self.tree.leaf_id and move.summary is None:
            return None
        return self._append(make)

    def move_back(self, move_id: str, target_id: str | None) -> str:
        """Take the move that wrote `move_id` back: the leaf goes to `target_id`, where it was before.

        Raises ChangedError where the conversation has gone on since.
        """

        def make(tree: Tree) -> JsonObject:
            path = tree.path(tree.leaf_id)
            place = next((place for place, entry in enumerate(path) if entry.id == move_id), None)
            if place is None or not all(_is_bookkeeping(self.body(entry)) for entry in path[place + 1 :]):
                raise ChangedError(
                    f"the conversation in {self.path} has gone on since that move; "
                    "move to where you want to go on instead"
                )
            self._check_target(tree, target_id)
            fields = drafts.custom(MOVE_TYPE, {"from": tree.leaf_id, "to": target_id})
            return drafts.entry(fields, drafts.new_id(tree), target_id, drafts.now())

        return self._append(make)

    def label(self, target_id: str, text: str, was: str | None) -> str | None:
        """Set an entry's label, which was `was` so far (None: none); blank clears it."""
        wanted = clean_label(text)

        def make(tree: Tree) -> JsonObject:
            self._check_target(tree, target_id)
            if tree.label(target_id) != was:
                raise ChangedError(_what_is("label", tree.label(target_id)))
            return self._at_the_end(tree, drafts.label(target_id, wanted))

        return None if wanted == was else self._append(make)

    def name(self, text: str, was: str | None) -> str | None:
        """Set the session's name, which was `was` so far (None: none); blank clears it."""
        fields = drafts.session_info(text)

        def make(tree: Tree) -> JsonObject:
            if tree.name != was:
                raise ChangedError(_what_is("name", tree.name))
            return self._at_the_end(tree, fields)

        return None if clean_name(text) == was else self._append(make)

    @staticmethod
    def _at_the_end(tree: Tree, fields: JsonObject) -> JsonObject:
        # below the leaf: the branch that is gone on with stays the same
        return drafts.entry(fields, drafts.new_id(tree), tree.leaf_id, drafts.now())

    def _check_target(self, tree: Tree, target_id: str | None) -> None:
        if target_id is not None and target_id not in tree:
            raise EntryNotFoundError(f"no entry of {self.path} has the id {target_id!r}")

    def _append(self, make: Make) -> str:
        if self._known is not None:
            entry_id = self._append_known(self._known, make)
            if entry_id is not None:
                return entry_id
        stored = self._load()
        if stored.version < CURRENT_VERSION and not self._migrate:
            raise MigrationNeededError(
                f"{self.path} is of version {stored.version:g}, and has to be migrated to version "
                f"{CURRENT_VERSION} before it is written to"
            )
        return stored.append(make)

    def _append_known(self, known: SessionFile, make: Make) -> str | None:
        """Append to what is known; None where that is not all there is."""
        if known.read_only:
            return None
        try:
            with writing.locked(self.path) as fd:
                if not known.is_up_to_date(fd):
                    return None
                entry = make(known.tree)
                line = encode_entry(entry)
                writing.append_lines(fd, self.path, [line])
                if not _holds(fd, known.size, line):
                    raise WriteError(f"{self.path} was rewritten while an entry was appended to it")
        except OSError as error:
            raise WriteError(f"{self.path} cannot be appended to: {error.strerror or error}") from error
        return str(entry["id"])


def _holds(fd: int, offset: int, line: bytes) -> bool:
    """Return whether a line stands in a file at or behind some place: others may have been faster."""
    read = os.pread(fd, os.fstat(fd).st_size - offset, offset)
    return line in read.split(b"\n")


def _is_bookkeeping(body: JsonObject) -> bool:
    """Return whether an entry says nothing to anybody: a label, a name, a move."""
    return body.get("type") in ("label", "session_info") or body.get("customType") == MOVE_TYPE


def clean_label(text: str) -> str | None:
    """Return a label as it is written: on one line, without blanks around it; None where that is nothing."""
    return javascript.trim(" ".join(text.split())) or None


def clean_name(text: str) -> str | None:
    """Return a name as it is written; None where that is nothing."""
    return drafts.session_info(text)["name"] or None


def _what_grew(path: Path, then: State, now: State) -> str:
    more = now.lines - then.lines
    if more > 0:
        entries = "an entry was" if more == 1 else f"{more} entries were"
        return f"{path} has changed meanwhile: {entries} appended; look again before you move"
    return f"{path} has changed meanwhile; look again before you move"


def _what_is(what: str, value: str | None) -> str:
    now = "there is none" if value is None else f"it is {value!r}"
    return f"the {what} was changed meanwhile by another program: now {now}"
