"""Reading for the screen: the store and the highlighted session, in workers that stop when nobody waits."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from pitree.catalog.errors import CacheLostError
from pitree.catalog.rows import SessionRow
from pitree.sessions.errors import SessionError
from pitree.ui.keys import USUAL_KEYS, KeyTable
from pitree.ui.options import Options
from pitree.ui.remarks import remark_on

if TYPE_CHECKING:  # it brings SQLite, which can wait until the first picture is there
    import subprocess

    from pitree.catalog.finder import Finder
    from pitree.catalog.locations import Problem
    from pitree.sessions.file import SessionFile
    from pitree.sessions.helper import Helper
    from pitree.sessions.layout import Layout

_LOADING: Final = "session"
_DEBOUNCE_SECONDS: Final = 0.03
_TOLD_SECONDS: Final = 0.15
_LARGE_FILE: Final = 1 << 24
_PROGRESS_SECONDS: Final = 0.25


class Picture(NamedTuple):
    """What is worked out of a whole session before it is shown; takes a while for long ones."""

    layout: Layout
    remark: str

    @classmethod
    def of(cls, session: SessionFile, keys: KeyTable = USUAL_KEYS) -> Self:
        """Work it out."""
        from pitree.sessions.layout import Layout

        return cls(Layout(session.tree, session.tree.leaf_id), remark_on(session, keys))


class Reading(Screen[None]):
    """The part of the browser that reads files."""

    options: Options

    _stop_loading = threading.Event()
    _begun = False
    """Whether what was read before the screen was there has been used."""
    _finder: Finder | None = None
    _finder_opening = threading.Lock()

    class SessionLoaded(Message):
        """A session was read, or could not be."""

        def __init__(
            self, path: Path, session: SessionFile | None, problem: str | None, picture: Picture | None
        ) -> None:
            super().__init__()
            self.path = path
            self.session = session
            self.problem = problem
            self.picture = picture

    class StoreRead(Message):
        """Sessions were found; `done` of `total` files are read."""

        def __init__(self, rows: list[SessionRow], folders: dict[str, bool], done: int, total: int) -> None:
            super().__init__()
            self.rows = rows
            self.folders = folders
            self.done = done
            self.total = total

    class StoreComplete(Message):
        """Every file of the store was looked at; `locations` says where there are some."""

        def __init__(self, locations: set[str], problems: list[Problem]) -> None:
            super().__init__()
            self.locations = locations
            self.problems = problems

    class Progress(Message):
        """A long session is being read."""

        def __init__(self, percent: int) -> None:
            super().__init__()
            self.percent = percent

        def can_replace(self, message: Message) -> bool:
            """Only the newest figure matters."""
            return isinstance(message, Reading.Progress)

    def on_unmount(self) -> None:
        """Let no reading go on for nobody: the program would wait for it."""
        self._stop_loading.set()
        if self._finder is not None:
            self._finder.cache.close()
        reader = self._take_reader()
        if reader is not None:
            reader.kill()

    def _take_reader(self) -> subprocess.Popen[bytes] | None:
        first = self.options.first_rows
        return None if first is None else first.take_reader()

    @property
    def finder(self) -> Finder:
        """What was read of sessions before; opened when it is first asked for, in whatever thread."""
        with self._finder_opening:
            if self._finder is None:
                from pitree.catalog.cache import Cache
                from pitree.catalog.finder import Finder

                self._finder = Finder(Cache(self.options.cache_dir))
            return self._finder

    @work(thread=True, exclusive=True, group="store", exit_on_error=False)
    def read_store(self, *, everything: bool, nested: bool, pinned: Path | None) -> None:
        """Look through the store, or this folder of it; `pinned` is a file to read besides.

        With `nested` deeper folders are looked into as well.

        Posts `StoreRead` for what was found so far, and `StoreComplete` at the end.
        """
        from pitree.catalog.starting import end_reader
        from pitree.catalog.sync import update

        worker = get_current_worker()
        options = self.options
        known: dict[str, bool] = {}
        waiting: list[SessionRow] = []
        told_at = 0.0

        def found(rows: list[SessionRow], done: int, total: int) -> None:
            nonlocal told_at, waiting
            waiting += rows
            if done < total and time.monotonic() < told_at + _TOLD_SECONDS:
                return  # each telling is a picture to draw, and takes its time from the reading
            folders = {row.cwd for row in waiting if row.cwd and row.cwd not in known}
            exists = {folder: options.is_folder(folder) for folder in folders}
            known.update(exists)
            if not worker.is_cancelled:
                self.post_message(self.StoreRead(waiting, exists, done, total))
            waiting, told_at = [], time.monotonic()

        reader = self._take_reader()
        try:
            done = update(
                options.store,
                self.finder.cache,
                cwd=None if everything else str(options.cwd),
                nested=nested,
                also=[] if pinned is None else [pinned],
                on_rows=found,
                stop=lambda: worker.is_cancelled,
                reader=reader,
            )
        except CacheLostError:
            if not worker.is_cancelled:
                raise
            return
        finally:
            if reader is not None:
                end_reader(reader)
        if not worker.is_cancelled:
            self.post_message(self.StoreComplete(done.locations, done.problems))

    @property
    def is_loading(self) -> bool:
        """Whether a session is being read."""
        return any(worker.group == _LOADING and not worker.is_finished for worker in self.workers)

    @work(exclusive=True, group=_LOADING, exit_on_error=False)
    async def load_session(self, path: Path, *, at_once: bool = False) -> None:
        """Read a session, instead of the one that is being read; posts `SessionLoaded`.

        Of a long one the end comes first, as a `Glimpse`.
        """
        from pitree.sessions.file import SessionFile, StoppedError
        from pitree.sessions.helper import Helper

        self._stop_loading.set()
        stop = self._stop_loading = threading.Event()
        if not at_once:  # holding a key down must not read every session it passes
            await asyncio.sleep(_DEBOUNCE_SECONDS)

        told = time.monotonic()

        def progress(done: int, total: int) -> bool:
            nonlocal told
            if stop.is_set():  # nor may an old figure stand over what is read now
                return False
            now = time.monotonic()
            if total > _LARGE_FILE and now >= told + _PROGRESS_SECONDS:
                told = now  # each figure is a frame to draw, and takes its time from the reading
                self.post_message(self.Progress(100 * done // total))
            return True

        def load() -> tuple[SessionFile | None, str | None, Picture | None]:
            try:
                session = SessionFile.load(path, progress, helper or Helper.start_for(path))
                return session, None, Picture.of(session, self.options.keys)
            except StoppedError:
                return None, None, None
            except SessionError as error:
                return None, str(error), None
            except OSError as error:
                return None, f"{path} cannot be read: {error.strerror or error}", None

        helper = self._take_helper(path)
        if self.options.glimpse is None or helper is None:
            glimpse = await asyncio.to_thread(_glimpse, path)
            if glimpse is not None and not stop.is_set():
                self.post_message(self.SessionLoaded(path, glimpse, None, None))
        session, problem, picture = await asyncio.to_thread(load)
        if not stop.is_set():
            self.post_message(self.SessionLoaded(path, session, problem, picture))

    def _take_helper(self, path: Path) -> Helper | None:
        """Return the helper that is at work on this file, the first time."""
        if path != self.options.file or self._begun:
            return None
        self._begun = True
        return self.options.helper


def _glimpse(path: Path) -> SessionFile | None:
    from pitree.sessions.glimpse import Glimpse

    try:
        return Glimpse.of(path)
    except OSError:
        return None  # reading the whole file will say why
