"""Pi's SessionManager in Python: sessions made, opened, forked, continued and listed where Pi keeps them.

>>> from pitree import SessionManager
>>> session = SessionManager.in_memory("/home/ada/code")
>>> asked = session.append_message({"role": "user", "content": "Which tide is it?", "timestamp": 0})
>>> session.get_leaf_id() == asked
True
>>> [message["content"] for message in session.build_session_context().messages]
['Which tide is it?']
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

from pitree.catalog.header import read_header
from pitree.catalog.locations import FoundFile, Store, default_store, folder_name, session_paths
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.scan import scan_store
from pitree.sessions import drafts, writing
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import NotASessionError, ReadOnlyError
from pitree.sessions.file import SessionFile
from pitree.sessions.recorder import SessionRecorder
from pitree.sessions.storage import Draft, Stored, encode_entry, lines_of

Rows = list[SessionRow]

OnProgress = Callable[[int, int, Rows], None]
"""Takes the number of files read, the number there are, and the sessions found so far, newest first."""


class SessionManager(SessionRecorder):
    """One session, with the ways to come by it.

    What can be asked of it and done with it is told by `SessionReader` and `SessionRecorder`. Use it as a
    context manager, or call `close`. Directories may be given relative and with `~`; without a session
    directory, sessions are in Pi's default root (`$PI_CODING_AGENT_DIR/sessions`, `~/.pi/agent/sessions`), in
    the folder of their working directory.
    """

    @classmethod
    def create(
        cls,
        cwd: str | Path,
        session_dir: str | Path | None = None,
        *,
        session_id: str | None = None,
        parent_session: str | None = None,
    ) -> Self:
        """Return a new session for `cwd`; its file appears with the first user or assistant message.

        The file goes to `session_dir`, by default to the folder of `cwd` in Pi's default root. Raises
        InvalidValueError for a session id that Pi would not take.

        >>> session = SessionManager.create("/home/ada/code", "sessions")
        >>> _ = session.append_session_info("tides")
        >>> session.get_session_file().exists()
        False
        >>> _ = session.append_message({"role": "user", "content": "Which tide is it?", "timestamp": 0})
        >>> session.get_session_file().exists()
        True
        """
        manager = cls(_absolute(cwd), _directory(cwd, session_dir), persist=True)
        manager.new_session(session_id=session_id, parent_session=parent_session)
        return manager

    @classmethod
    def open(
        cls, path: str | Path, session_dir: str | Path | None = None, cwd_override: str | Path | None = None
    ) -> Self:
        """Return the session in the file at `path`; where there is none yet, a new one that will go there.

        New sessions made from it go to `session_dir`, by default to the file's own directory. The working
        directory is the header's unless `cwd_override` names another. The leaf is the file's last entry.
        Opening writes nothing, not even to a file that is empty or of an old version.

        Raises NotASessionError, OSError.

        >>> made = SessionManager.create("/home/ada/code", "sessions")
        >>> asked = made.append_message({"role": "user", "content": "Which tide is it?", "timestamp": 0})
        >>> with SessionManager.open(made.get_session_file()) as session:
        ...     session.get_cwd(), session.get_leaf_id() == asked
        ('/home/ada/code', True)
        """
        path = Path(_absolute(path))
        cwd = os.getcwd() if cwd_override is None else _absolute(cwd_override)  # noqa: PTH109
        manager = cls(cwd, path.parent if session_dir is None else Path(_absolute(session_dir)), persist=True)
        manager.set_session_file(path)
        recorded = manager.get_header().get("cwd")
        if cwd_override is None and isinstance(recorded, str):
            manager._cwd = _absolute(recorded)
        return manager

    @classmethod
    def continue_recent(cls, cwd: str | Path, session_dir: str | Path | None = None) -> Self:
        """Return the session of `cwd` whose file changed last, or a new one where there is none.

        What Pi does not open is passed over, though `list` shows it.

        Raises NotASessionError, OSError where that file can be listed and not opened.
        """
        manager = cls(_absolute(cwd), _directory(cwd, session_dir), persist=True)
        for found in _files(cwd, session_dir):
            try:
                header = read_header(found.path)
            except OSError:
                continue
            if header is not None and _belongs(header.get("cwd"), cwd, session_dir):
                file = SessionFile.load(found.path)
                if not file.refused_by_pi:
                    manager._take(Stored(file))
                    return manager
                file.close()
        manager.new_session()
        return manager

    @classmethod
    def in_memory(
        cls,
        cwd: str | Path | None = None,
        *,
        session_id: str | None = None,
        entries: Iterable[JsonObject] = (),
    ) -> Self:
        """Return a session that is never written, with `entries` (objects of version 3) in it.

        A header among them is the session's, else one is made with `session_id`.

        >>> entry = {"type": "custom", "id": "a1", "parentId": None, "timestamp": "2026-01-02T03:04:05.000Z"}
        >>> SessionManager.in_memory(entries=[entry]).get_leaf_id()
        'a1'
        """
        manager = cls(_absolute(cwd or "."), None, persist=False)
        manager.new_session(session_id=session_id)
        kept = list(entries)
        if kept:
            headers = [entry for entry in kept if isinstance(_header_id(entry), str)]
            others = [entry for entry in kept if entry.get("type") != "session"]
            manager._take(Draft(headers[0] if headers else manager.get_header(), None, others))
        return manager

    @classmethod
    def fork_from(
        cls,
        source_path: str | Path,
        target_cwd: str | Path,
        session_dir: str | Path | None = None,
        *,
        session_id: str | None = None,
    ) -> Self:
        """Return a new session for `target_cwd` with the whole history of another one, which stays as it is.

        Raises NotASessionError where Pi would not open it, ReadOnlyError for a version above 3, WriteError,
        OSError.

        >>> made = SessionManager.create("/home/ada/code", "sessions")
        >>> asked = made.append_message({"role": "user", "content": "Which tide is it?", "timestamp": 0})
        >>> fork = SessionManager.fork_from(made.get_session_file(), "/home/ada/other", "sessions")
        >>> fork.get_leaf_id() == asked, fork.get_header()["parentSession"] == str(made.get_session_file())
        (True, True)
        """
        if session_id is not None:
            drafts.check_session_id(session_id)
        source = Path(_absolute(source_path))
        target = _absolute(target_cwd)
        timestamp = drafts.now()
        header = drafts.header(session_id or drafts.new_session_id(), timestamp, target, str(source))
        with SessionFile.load(source) as file:
            if file.refused_by_pi:
                raise NotASessionError(f"{source} is not forked: {file.read_only}")
            if file.read_only:
                raise ReadOnlyError(f"{source} is not forked: {file.read_only}")
            lines = [encode_entry(header), *lines_of(file)]
        directory = _directory(target_cwd, session_dir)
        path = directory / drafts.file_name(timestamp, header["id"])
        writing.create_file(path, lines)
        manager = cls(target, directory, persist=True)
        manager.set_session_file(path)
        return manager

    @staticmethod
    def list(
        cwd: str | Path, session_dir: str | Path | None = None, on_progress: OnProgress | None = None
    ) -> Rows:
        """Return the sessions of `cwd`, newest first; files that are no sessions are left out.

        >>> made = SessionManager.create("/home/ada/tides", "sessions")
        >>> _ = made.append_message({"role": "user", "content": "Which tide is it?", "timestamp": 0})
        >>> [(row.first_message, row.path == made.get_session_file())
        ...  for row in SessionManager.list("/home/ada/tides", "sessions")]
        [('Which tide is it?', True)]
        """
        return _scan(_files(cwd, session_dir), lambda row: _belongs(row.cwd, cwd, session_dir), on_progress)

    @staticmethod
    def list_all(session_dir: str | Path | None = None, on_progress: OnProgress | None = None) -> Rows:
        """Return the sessions of all working directories, or all in the flat root `session_dir`."""
        store = _default_store() if session_dir is None else _flat(session_dir)
        return _scan(session_paths(store), lambda _row: True, on_progress)


def _header_id(entry: JsonObject) -> object:
    return entry.get("id") if entry.get("type") == "session" else None


def _absolute(path: str | Path) -> str:
    """Return an absolute path as Pi does: links stay links, `~` is the home, `~name` a folder's name."""
    path = os.fspath(path)
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # noqa: PTH111
    return os.path.abspath(path)  # noqa: PTH100


def _default_store() -> Store:
    """Return Pi's default root: like Pi's own class, this one does not read the settings."""
    return default_store(os.environ)


def _flat(session_dir: str | Path) -> Store:
    return Store(Path(_absolute(session_dir)), flat=True, source="session_dir")


def _directory(cwd: str | Path, session_dir: str | Path | None) -> Path:
    if session_dir is not None:
        return Path(_absolute(session_dir))
    return _default_store().root / folder_name(_absolute(cwd))


def _files(cwd: str | Path, session_dir: str | Path | None) -> Sequence[FoundFile]:
    if session_dir is not None:
        return session_paths(_flat(session_dir))
    return session_paths(_default_store(), _absolute(cwd))


def _belongs(recorded: object, cwd: str | Path, session_dir: str | Path | None) -> bool:
    """Return whether a session is one of `cwd`: only a directory given by hand mixes several."""
    if session_dir is None or _directory(cwd, None) == Path(_absolute(session_dir)):
        return True
    return isinstance(recorded, str) and _flat(session_dir).holds_for(recorded, Path(_absolute(cwd)))


def _scan(
    files: Sequence[FoundFile], belongs: Callable[[SessionRow], bool], on_progress: OnProgress | None
) -> Rows:
    rows: list[SessionRow] = []

    def found(new: Rows, done: int, total: int) -> None:
        rows.extend(row for row in new if belongs(row))
        if on_progress is not None:
            on_progress(done, total, newest_first(rows))

    scan_store(files, on_rows=found)
    return newest_first(rows)
