"""Everything that changes sessions, done so that it can be undone: what the commands and the screen call."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from pitree import trash
from pitree.catalog.header import read_header
from pitree.catalog.locations import Store, folder_name, session_paths
from pitree.journal import Deed, Journal
from pitree.sessions import drafts, writing
from pitree.sessions.appending import Appender, Move, clean_label, clean_name
from pitree.sessions.branched import branched_entries
from pitree.sessions.errors import (
    ChangedError,
    EntryNotFoundError,
    InvalidValueError,
    NotASessionError,
    ReadOnlyError,
    SessionError,
)
from pitree.sessions.file import SessionFile
from pitree.sessions.storage import check_whole, encode_entry


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: `text` says it in one line. `path` is the session's file, a fork's the new one.

    `entry_id` is the entry written; None where nothing had to be, or a file was moved. `problem` is what went
    wrong on the side: it cannot be undone, or an old file could not be put into the trash.
    """

    text: str
    path: Path
    entry_id: str | None = None
    deed: Deed | None = None
    problem: str | None = None


class Fork(NamedTuple):
    """A session that was forked from another one, which it would lose."""

    path: Path
    id: str


class Changes:
    """What changes sessions of a store. Nothing here blocks for long but for very long sessions.

    What cannot be done raises a SessionError and has changed nothing; with `read_only` everything raises
    ReadOnlyError.
    """

    def __init__(self, store: Store, journal: Journal, *, read_only: bool = False) -> None:
        self.store = store
        self.journal = journal
        self.read_only = read_only

    def check_allowed(self) -> None:
        """Raise ReadOnlyError where nothing may be changed."""
        if self.read_only:
            raise ReadOnlyError("pitree was started with --read-only, so it changes nothing")

    # ---- appending

    def move(
        self, path: Path, move: Move, *, migrate: bool = False, known: SessionFile | None = None
    ) -> Done:
        """Move the leaf. Raises ChangedError where the file has changed since the move was planned.

        Here and below, `known` is the session where it has been read already, see `Appender`.
        """
        self.check_allowed()
        with _open(path, migrate=migrate, known=known) as session:
            left = move.state.leaf_id
            entry_id = session.move(move)
            if entry_id is None:
                return Done("the conversation goes on from there already", path)
            where = "before the first entry" if move.target_id is None else f"to {move.target_id}"
            what = "moved" if move.summary is None else "moved with a summary"
            return self._done(
                f"{what} {where}",
                session,
                Deed("move", str(path), before=left, after=move.target_id, entry_id=entry_id),
            )

    def label(
        self,
        path: Path,
        target_id: str,
        text: str,
        was: str | None,
        *,
        migrate: bool = False,
        known: SessionFile | None = None,
    ) -> Done:
        """Label an entry, whose label was `was` when that was decided on; blank clears it."""
        self.check_allowed()
        with _open(path, migrate=migrate, known=known) as session:
            entry_id = session.label(target_id, text, was)
            now = clean_label(text)
            if entry_id is None:
                return Done("the label is the same as before", path)
            return self._done(
                f"label cleared at {target_id}" if now is None else f"labelled {target_id}: {now}",
                session,
                Deed("label", str(path), before=was, after=now, entry_id=entry_id, target_id=target_id),
            )

    def name(
        self,
        path: Path,
        text: str,
        was: str | None,
        *,
        migrate: bool = False,
        known: SessionFile | None = None,
    ) -> Done:
        """Name a session, whose name was `was` when that was decided on; blank clears it."""
        self.check_allowed()
        with _open(path, migrate=migrate, known=known) as session:
            entry_id = session.name(text, was)
            now = clean_name(text)
            if entry_id is None:
                return Done("the name is the same as before", path)
            return self._done(
                "name cleared" if now is None else f"named: {now}",
                session,
                Deed("name", str(path), before=was, after=now, entry_id=entry_id),
            )

    def _done(self, text: str, session: Appender, deed: Deed) -> Done:
        problems = []
        if session.kept is not None:
            text += f"; the file of the old version is kept as {self._put_away(session.kept)}"
        noted, problem = self._note(deed, str(session.header["id"]))
        problems += [problem] if problem else []
        return Done(text, session.path, deed.entry_id, noted, "; ".join(problems) or None)

    @staticmethod
    def _put_away(kept: Path) -> str:
        """Put the file of the old version into the trash; where that cannot be done it stays beside."""
        try:
            trash.put(kept)
        except trash.TrashError:
            return str(kept)
        return f"{kept.name} in the trash"

    def _note(self, deed: Deed, session_id: str) -> tuple[Deed | None, str | None]:
        try:
            return self.journal.note(replace(deed, session_id=session_id)), None
        except OSError as error:
            return (
                None,
                f"this cannot be undone from here, since it cannot be noted: {error.strerror or error}",
            )

    # ---- forking

    def fork(self, path: Path, leaf_id: str | None = None, cwd: Path | None = None) -> Done:
        """Make a new session of the branch from the root to `leaf_id`, by default to the leaf.

        Its folder is `cwd`, by default the session's own; the session itself stays as it is.
        """
        self.check_allowed()
        with _load(path) as file:
            if file.read_only:
                kind = NotASessionError if file.refused_by_pi else ReadOnlyError
                raise kind(f"{path} is not forked: {file.read_only}")
            tree = file.tree
            leaf_id = tree.leaf_id if leaf_id is None else leaf_id
            entries = tree.path(leaf_id)
            if leaf_id is not None and not entries:
                raise EntryNotFoundError(f"no entry of {path} has the id {leaf_id!r}")
            if not any(entry.role in ("user", "assistant") for entry in entries):
                raise InvalidValueError(
                    f"{path} is not forked: nothing was said up to there; choose a later entry"
                )
            for entry in entries:
                check_whole(entry)
            folder = file.cwd if cwd is None else os.path.abspath(cwd)  # noqa: PTH100 - links stay, as in Pi
            header = drafts.header(
                drafts.new_session_id(),
                drafts.now(),
                folder,
                os.path.abspath(path),  # noqa: PTH100
            )
            bodies = (file.body(entry) for entry in entries)
            made = branched_entries(bodies, tree.labels, tree.label_times)
            lines = [encode_entry(header), *map(encode_entry, made)]
        target = self._folder_of(path, cwd) / drafts.file_name(header["timestamp"], header["id"])
        writing.create_file(target, lines)
        size = target.stat().st_size
        deed = Deed("fork", str(target), before=str(path), after=leaf_id, size=size)
        noted, problem = self._note(deed, header["id"])
        return Done(f"forked into {target}", target, None, noted, problem)

    def _folder_of(self, path: Path, cwd: Path | None) -> Path:
        if cwd is None:
            return path.parent
        return self.store.root if self.store.flat else self.store.root / folder_name(os.fspath(cwd))

    # ---- deleting

    def check_deletable(self, path: Path) -> str:
        """Return the session's id. Raises where a file is no session, or none of the store's."""
        self.check_allowed()
        root = os.path.realpath(self.store.root)
        parent = os.path.realpath(path.parent)
        if path.suffix != ".jsonl" or os.path.commonpath((root, parent)) != root:
            raise InvalidValueError(
                f"{path} is not deleted: it is no session file inside {self.store.root}, "
                "and pitree deletes nothing else"
            )
        try:
            header = read_header(path)
        except OSError as error:
            if not path.is_symlink():
                raise NotASessionError(f"{path} is not deleted: {error.strerror or error}") from error
            return ""  # a link that leads nowhere
        if header is None:
            raise NotASessionError(f"{path} is not deleted: it is no Pi session")
        return str(header["id"])

    def delete(self, path: Path, title: str = "") -> Done:
        """Put a session into the trash; of a symbolic link only the link. Raises TrashError besides."""
        session_id = self.check_deletable(path)
        trashed = trash.put(path)
        place = None if trashed.place is None else str(trashed.place)
        deed = Deed("delete", str(path), place=place, title=title)
        noted, problem = self._note(deed, session_id)
        return Done(f"put into the trash: {path}", path, None, noted, problem)

    def delete_for_good(self, path: Path) -> Done:
        """Remove a session that cannot be put into the trash; this cannot be undone."""
        self.check_deletable(path)
        trash.remove_for_good(path)
        return Done(f"removed for good: {path}", path)

    def forks_of(self, paths: Iterable[Path]) -> dict[Path, list[Fork]]:
        """Return the sessions forked from each of these, which are not among them; reads only headers."""
        wanted = {os.path.realpath(path): path for path in paths}
        found: dict[Path, list[Fork]] = {path: [] for path in wanted.values()}
        for file in session_paths(self.store):
            if os.path.realpath(file.path) in wanted:
                continue
            try:
                header = read_header(file.path)
            except OSError:
                continue
            parent = None if header is None else header.get("parentSession")
            if header is not None and isinstance(parent, str) and "\0" not in parent:
                origin = wanted.get(os.path.realpath(parent))
                if origin is not None:
                    found[origin].append(Fork(file.path, header["id"]))
        return found

    # ---- undoing

    def undoable(self) -> Sequence[Deed]:
        """Return what can be undone, newest first."""
        return self.journal.deeds()

    def undo(self, deed: Deed) -> Done:
        """Take one deed back: by appending, or with the trash.

        Raises ChangedError where what it made has been built on.
        """
        self.check_allowed()
        path = Path(deed.path)
        entry_id: str | None = None
        if deed.kind in ("move", "label", "name"):
            with _open(path) as session:
                if session.header["id"] != deed.session_id:
                    raise ChangedError(f"{path} holds another session now")
                if deed.kind == "move":
                    entry_id = session.move_back(deed.entry_id or "", deed.before)
                elif deed.kind == "label":
                    entry_id = session.label(deed.target_id or "", deed.before or "", deed.after)
                else:
                    entry_id = session.name(deed.before or "", deed.after)
        elif deed.kind == "fork":
            self._undo_fork(path, deed)
        elif deed.kind == "delete":
            trash.restore(trash.Trashed(path, None if deed.place is None else Path(deed.place)))
        else:
            raise SessionError(f"nothing is known of undoing {deed.kind!r}")
        undone = Deed(deed.kind, deed.path, undoes=deed.id, entry_id=entry_id)
        noted, problem = self._note(undone, deed.session_id)
        return Done(f"undone: {describe_deed(deed)}", path, entry_id, noted, problem)

    def _undo_fork(self, path: Path, deed: Deed) -> None:
        if self.check_deletable(path) != deed.session_id or path.stat().st_size != deed.size:
            raise ChangedError(f"{path} has been written to since it was forked; delete it by hand")
        trash.put(path)


def describe_deed(deed: Deed) -> str:
    """Return what a deed did, in one line; not safe to print yet."""
    file = Path(deed.path).name
    if deed.kind == "move":
        what = f"moved {_at(deed.before)} → {_at(deed.after)}"
    elif deed.kind == "label":
        what = f"label {shown_value(deed.before)} → {shown_value(deed.after)} on {deed.target_id}"
    elif deed.kind == "name":
        what = f"name {shown_value(deed.before)} → {shown_value(deed.after)}"
    elif deed.kind == "fork":
        what = "forked"
    else:
        what = f"deleted {deed.title}".rstrip()
    return f"{what} ({file})"


def _at(entry_id: str | None) -> str:
    return "before the first entry" if entry_id is None else entry_id


def shown_value(text: str | None) -> str:
    """Return a label or a name as it is told of, also that there is none; not safe to print yet."""
    return "(none)" if text is None else f"“{text}”"


def _open(path: Path, *, migrate: bool = False, known: SessionFile | None = None) -> Appender:
    try:
        return Appender(path, migrate=migrate, known=known)
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror or error}") from error


def _load(path: Path) -> SessionFile:
    try:
        return SessionFile.load(path)
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror or error}") from error
