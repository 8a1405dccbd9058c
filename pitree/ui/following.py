"""Following what runs: the session on the screen as it grows, and the store as sessions come and go.

Events say that something may have changed; what did is found by looking. Since events do not always come,
the open file is looked at every second as well, and the store now and then.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import work
from textual.message import Message

from pitree.sessions.errors import SessionError
from pitree.ui.reading import Reading

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.rows import SessionRow
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile

STANDING: Final = "following"
"""The group of the workers that go on as long as the program."""

# Between two looks at a growing session: at least this, and this many times what the last one took, so that
# keys always find room.
_REST_SECONDS: Final = 0.03
_REST_TIMES: Final = 2
# A file that is being rewritten is no session for a moment.
_GRACE_SECONDS: Final = 0.15
_GRACES: Final = 3
# The same for the store, of which only the ages and counts of a list depend.
_STORE_REST_SECONDS: Final = 0.3
_STORE_REST_TIMES: Final = 20
# How often the store is looked at where events come, and where they do not.
_SLOW_LOOK_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 1.5
_LOOK_TIMES: Final = 100


class Following(Reading):
    """The part of the browser that follows."""

    session: SessionFile | None
    session_path: Path | None
    unreadable: Path | None = None
    """The session that is wanted, but could not be read."""

    class Changed(Message):
        """Files may have changed; none named means: any."""

        def __init__(self, paths: frozenset[Path]) -> None:
            super().__init__()
            self.paths = paths

    class StoreChanged(Message):
        """Sessions in some folders are other ones now: `rows` are new or changed, `gone` no longer there."""

        def __init__(self, rows: list[SessionRow], exists: dict[str, bool], gone: set[str]) -> None:
            super().__init__()
            self.rows = rows
            self.exists = exists
            self.gone = gone

    class Unwatched(Message):
        """Events cannot be had, and why (`reason`); or again."""

        def __init__(self, reason: str | None) -> None:
            super().__init__()
            self.reason = reason

    def __init__(self) -> None:
        super().__init__()
        self._wake = asyncio.Event()
        self._stop_watching = threading.Event()
        self._stop_watching_session = threading.Event()
        self._watched: Path | None = None
        self._events_come = False
        self._folders: set[str] | None = set()
        """The folders to look at; None for all."""
        self._store_wake = asyncio.Event()

    # ---- what the browser does with it

    def session_grew(self, entries: list[Entry]) -> None:
        """Show what was appended to the session; without entries it was damage, or is not finished."""
        raise NotImplementedError

    def session_is_gone(self) -> None:
        """Say that the session's file is no longer there."""
        raise NotImplementedError

    def ticked(self) -> None:
        """Show what changes by time alone."""
        raise NotImplementedError

    def listed(self) -> dict[str, SessionRow]:
        """Return the sessions there are in the list, by location; to be called from any thread."""
        raise NotImplementedError

    def listed_folders(self) -> list[str]:
        """Return the folders whose sessions are listed; reads the disk."""
        raise NotImplementedError

    def look_at_session(self) -> None:
        """Look whether the session's file has changed."""
        self._wake.set()

    # ---- beginning and ending

    def start_following(self) -> None:
        """Begin to follow; to be called once the screen is there."""
        from pitree.catalog.watch import TICK_SECONDS

        self.set_interval(TICK_SECONDS, self._tick)
        self._follow_session()
        self._follow_store()
        if not self.options.poll:
            self._events_come = True
            self._watch(self.options.store.root, self._stop_watching, recursive=True)

    def on_unmount(self) -> None:
        """Let no watching go on for nobody."""
        self._stop_watching.set()
        self._stop_watching_session.set()

    @work(thread=True, group=STANDING, exit_on_error=False)
    def _watch(self, folder: Path, stop: threading.Event, *, recursive: bool) -> None:
        from pitree.catalog.watch import watch_folder

        def changed(paths: frozenset[Path]) -> None:
            self.post_message(self.Changed(paths))

        def problem(reason: str | None) -> None:
            self._events_come = reason is None
            self.post_message(self.Unwatched(reason))

        watch_folder(
            folder,
            changed,
            stop=stop,
            recursive=recursive,
            problem=problem,
        )

    def _watch_session(self, path: Path) -> None:
        """Watch the folder of a session that is outside of the store."""
        folder = path.parent
        if self.options.poll or folder == self._watched:
            return
        self._stop_watching_session.set()
        self._stop_watching_session = threading.Event()
        self._watched = folder
        root = self.options.store.root
        if folder != root and root not in folder.parents:
            self._watch(folder, self._stop_watching_session, recursive=False)

    def _tick(self) -> None:
        self._wake.set()
        self.ticked()

    def on_following_changed(self, event: Changed) -> None:
        """Look at what may have changed."""
        event.stop()
        if not event.paths or self.session_path in event.paths:
            self._wake.set()
        if not event.paths:
            self._folders = None
        elif self._folders is not None:
            # of a folder that came or went its own name is told
            self._folders |= {str(path.parent if path.suffix == ".jsonl" else path) for path in event.paths}
        self._store_wake.set()

    # ---- the session

    @work(group=STANDING, exit_on_error=False)
    async def _follow_session(self) -> None:
        """Look at the session's file whenever there is a reason to."""
        failed: tuple[Path, object] | None = None
        while True:
            await self._wake.wait()
            self._wake.clear()
            began = time.monotonic()
            session, path = self.session, self.session_path
            if path is not None:
                self._watch_session(path)
            if self.is_loading:
                self._wake.set()  # afterwards: who begins anew at every look comes to no end
            elif session is not None and session.complete and session.path == path:
                failed = None
                await self._follow(session)
            elif path is not None and path == self.unreadable:
                # as soon as it is another one, it may be a session
                now = (path, await asyncio.to_thread(_facts, path))
                if failed != now:
                    failed = now
                    self.load_session(path, at_once=True)
            await asyncio.sleep(max(_REST_SECONDS, _REST_TIMES * (time.monotonic() - began)))

    async def _follow(self, session: SessionFile) -> None:
        size = session.size
        try:
            growth = await asyncio.to_thread(session.read_growth)
        except (SessionError, OSError):
            return  # it was closed, or will be found to be gone at the next look
        if session is not self.session:
            return
        if growth.replaced:
            await self._follow_to_another(session)
            return
        if session.size == size:
            return
        self.session_grew(session.take_growth())

    async def _follow_to_another(self, session: SessionFile) -> None:
        """Load what has taken the place of the session's file, as soon as it is a session."""
        path = session.path
        for _ in range(_GRACES):
            if await asyncio.to_thread(_is_session, path):
                break
            await asyncio.sleep(_GRACE_SECONDS)
        if session is not self.session:
            return
        if await asyncio.to_thread(_facts, path) is None:
            self.session_is_gone()
        else:
            self.load_session(path, at_once=True)

    # ---- the store

    @work(group=STANDING, exit_on_error=False)
    async def _follow_store(self) -> None:
        """Look at the store whenever there is a reason to, and now and then without."""
        took = 0.0
        while True:
            seldom = _SLOW_LOOK_SECONDS if self._events_come else _LOOK_SECONDS
            try:
                await asyncio.wait_for(self._store_wake.wait(), max(seldom, _LOOK_TIMES * took))
            except TimeoutError:
                self._folders = None
            await asyncio.sleep(max(_STORE_REST_SECONDS, _STORE_REST_TIMES * took))
            self._store_wake.clear()
            folders, self._folders = self._folders, set()
            began = time.monotonic()
            await asyncio.to_thread(self._look_at, folders)
            took = time.monotonic() - began

    def _look_at(self, wanted: set[str] | None) -> None:
        """Find what changed in some folders, or in all."""
        from pitree.catalog.errors import CacheLostError
        from pitree.catalog.sync import update_folders  # brings SQLite, which can wait for the first picture

        there = self.listed_folders()
        folders = [folder for folder in there if wanted is None or folder in wanted]
        before = self.listed()
        pinned = self.options.file
        also = [pinned] if pinned is not None and str(pinned.parent) not in there else []
        now: dict[str, SessionRow] = {}

        def found(rows: list[SessionRow], _done: int, _total: int) -> None:
            now.update((row.location, row) for row in rows)

        try:
            done = update_folders(
                folders, self.finder.cache, also=also, on_rows=found, stop=self._stop_watching.is_set
            )
        except (CacheLostError, OSError):
            return  # the next look will be better
        vanished = {row.folder for row in before.values()} - set(there)
        looked_at = {*folders, *(folder for folder in vanished if not Path(folder).is_dir())}
        unread = {os.fspath(problem.path) for problem in done.problems}
        gone = {
            location
            for location, row in before.items()
            if location not in done.locations
            and row.folder in looked_at
            and not unread & {location, row.folder}
        }
        # (the cache may still know a file that is gone by now)
        rows = [
            row
            for location, row in now.items()
            if location in done.locations and _is_news(row, before.get(location))
        ]
        if (rows or gone) and not self._stop_watching.is_set():
            exists = {row.cwd: self.options.is_folder(row.cwd) for row in rows if row.cwd}
            self.post_message(self.StoreChanged(rows, exists, gone))


def _is_news(row: SessionRow, before: SessionRow | None) -> bool:
    return before is None or (row.size, row.mtime_ns) != (before.size, before.mtime_ns)


def _facts(path: Path) -> object:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _is_session(path: Path) -> bool:
    from pitree.catalog.header import read_header

    try:
        return read_header(path) is not None
    except OSError:
        return False
