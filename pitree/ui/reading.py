"""Reading for the screen: the store and the highlighted session, in workers that stop when nobody waits."""

import asyncio
import threading
from pathlib import Path
from typing import Final

from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from pitree.catalog.locations import FoundFile, Problem, session_paths
from pitree.catalog.rows import SessionRow
from pitree.catalog.scan import scan_store
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.glimpse import Glimpse
from pitree.sessions.helper import Helper
from pitree.ui.options import Options

_DEBOUNCE_SECONDS: Final = 0.03
_LARGE_FILE: Final = 1 << 24
_PERCENT_STEP: Final = 20


class Reading(Screen[None]):
    """The part of the browser that reads files."""

    options: Options

    _stop_loading = threading.Event()
    _begun = False
    """Whether what was read before the screen was there has been used."""

    class SessionLoaded(Message):
        """A session was read, or could not be."""

        def __init__(self, path: Path, session: SessionFile | None, problem: str | None) -> None:
            super().__init__()
            self.path = path
            self.session = session
            self.problem = problem

    class StoreRead(Message):
        """Sessions were found; `done` of `total` files are read."""

        def __init__(self, rows: list[SessionRow], folders: dict[str, bool], done: int, total: int) -> None:
            super().__init__()
            self.rows = rows
            self.folders = folders
            self.done = done
            self.total = total

    class StoreComplete(Message):
        """Every file of the store was looked at."""

        def __init__(self, paths: set[Path], problems: list[Problem]) -> None:
            super().__init__()
            self.paths = paths
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

    @work(thread=True, exclusive=True, group="store", exit_on_error=False)
    def read_store(self, *, everything: bool, pinned: Path | None) -> None:
        """Look through the store, or this folder of it; `pinned` is a file to read besides.

        Posts `StoreRead` for what was found so far, and `StoreComplete` at the end.
        """
        worker = get_current_worker()
        store, cwd, is_folder = self.options.store, self.options.cwd, self.options.is_folder
        problems: list[Problem] = []
        files = session_paths(store, None if everything else str(cwd), problems=problems)
        if pinned is not None and all(file.path != pinned for file in files):
            files = [*_found(pinned), *files]
        known: dict[str, bool] = {}

        def found(rows: list[SessionRow], done: int, total: int) -> None:
            folders = {row.cwd: is_folder(row.cwd) for row in rows if row.cwd and row.cwd not in known}
            known.update(folders)
            self.post_message(self.StoreRead(rows, folders, done, total))

        scan_store(files, stop=lambda: worker.is_cancelled, on_rows=found, problems=problems)
        if not worker.is_cancelled:
            self.post_message(self.StoreComplete({file.path for file in files}, problems))

    @work(exclusive=True, group="session", exit_on_error=False)
    async def load_session(self, path: Path, *, at_once: bool = False) -> None:
        """Read a session, instead of the one that is being read; posts `SessionLoaded`.

        Of a long one the end comes first, as a `Glimpse`.
        """
        self._stop_loading.set()
        stop = self._stop_loading = threading.Event()
        if not at_once:  # holding a key down must not read every session it passes
            await asyncio.sleep(_DEBOUNCE_SECONDS)

        told = 0

        def progress(done: int, total: int) -> bool:
            nonlocal told
            percent = 100 * done // total
            if total > _LARGE_FILE and percent >= told + _PERCENT_STEP:
                told = percent  # each figure is a frame to draw, and takes its time from the reading
                self.post_message(self.Progress(percent))
            return not stop.is_set()

        def load() -> tuple[SessionFile | None, str | None]:
            try:
                return SessionFile.load(path, progress, helper or Helper.start_for(path)), None
            except StoppedError:
                return None, None
            except SessionError as error:
                return None, str(error)
            except OSError as error:
                return None, f"{path} cannot be read: {error.strerror or error}"

        helper = self._take_helper(path)
        if self.options.glimpse is None or helper is None:
            glimpse = await asyncio.to_thread(_glimpse, path)
            if glimpse is not None and not stop.is_set():
                self.post_message(self.SessionLoaded(path, glimpse, None))
        session, problem = await asyncio.to_thread(load)
        if not stop.is_set():
            self.post_message(self.SessionLoaded(path, session, problem))

    def _take_helper(self, path: Path) -> Helper | None:
        """Return the helper that is at work on this file, the first time."""
        if path != self.options.file or self._begun:
            return None
        self._begun = True
        return self.options.helper


def _glimpse(path: Path) -> SessionFile | None:
    try:
        return Glimpse.of(path)
    except OSError:
        return None  # reading the whole file will say why


def _found(path: Path) -> list[FoundFile]:
    try:
        facts = path.stat()
    except OSError:
        return []
    return [FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)]
