"""What the first picture of the list needs, read in a thread while the screen's framework is being loaded.

Loading it takes most of a start. A thread and not a call, since a disk can be slow: what is not there when
the first picture is drawn comes later, as it would without.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pitree.catalog.arrange import Scope
from pitree.catalog.known import cache_file, newest_known
from pitree.catalog.locations import Store, session_folders
from pitree.catalog.rows import SessionRow
from pitree.catalog.starting import end_reader, start_reader
from pitree.sessions.machine import processors
from pitree.ui.state import ViewStore

if TYPE_CHECKING:  # what reads is loaded where something is not known yet
    from pitree.catalog.cache import Cache
    from pitree.catalog.errors import CacheLostError
    from pitree.catalog.scan import OnRows, Stop
    from pitree.catalog.sync import Update

_LOOK_SECONDS: Final = 0.05
# Nobody waits longer for a disk to say whether there is a cache.
_PATIENCE_SECONDS: Final = 2.0

SCOPES: Final[Mapping[object, Scope | None]] = {
    "here": "folder",
    "repository": "repository",
    "all": "everything",
    None: None,
}
"""What the scopes are called on the command line and in the settings."""


def is_folder(path: str) -> bool:
    """Return whether a session's directory is there to work in."""
    from pitree.agent.launch import working_directory

    return working_directory(path) is not None


class FirstRows:
    """The newest sessions, in the scope in which the list was left: those that the cache knows.

    Where it knows none, the reading of the store begins here and now, and `go_on_reading` takes it over.
    `rows`, and `exists` (which of their directories are there), are empty until there are some.
    """

    def __init__(
        self, store: Store, cwd: Path, cache_dir: Path, kept: ViewStore, *, scope: Scope | None
    ) -> None:
        """Begin to read; `scope` is the one to begin with, None as it was left."""
        self.rows: list[SessionRow] = []
        self.exists: dict[str, bool] = {}
        self._store = store
        self._cwd = cwd
        self._cache_dir = cache_dir
        self._kept = kept
        self._scope = scope
        self._cache: Cache | None = None
        self._found: queue.SimpleQueue[tuple[list[SessionRow], int, int] | None] = queue.SimpleQueue()
        """What was read of the store, until it is taken over; None at the end."""
        self._decided = threading.Event()
        """Set as soon as `_wanted` says what is being read: (everything, nested), or None for nothing."""
        self._wanted: tuple[bool, bool] | None = None
        self._stopped = threading.Event()
        self._done: Update | CacheLostError | None = None
        self._thread = threading.Thread(target=self._read, name="first rows", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            view = self._kept.load()
            everything = (self._scope or view.scope) != "folder"
            cwd = None if everything else str(self._cwd)
            folders = session_folders(self._store, cwd, nested=view.nested)
            self._show(newest_known(cache_file(self._cache_dir), folders))
            if not self.rows and not self._stopped.is_set():
                self._wanted = everything, view.nested
                self._decided.set()
                self._begin_to_read(cwd, nested=view.nested)
        finally:
            self._decided.set()
            self._found.put(None)

    def _show(self, rows: list[SessionRow]) -> None:
        self.exists = {folder: is_folder(folder) for folder in {row.cwd for row in rows if row.cwd}}
        self.rows = rows

    def _begin_to_read(self, cwd: str | None, *, nested: bool) -> None:
        # before all else: it takes a while to be up
        file = cache_file(self._cache_dir)
        reader = start_reader(file) if processors() > 1 and not file.exists() else None
        from pitree.catalog.cache import Cache
        from pitree.catalog.errors import CacheLostError
        from pitree.catalog.sync import update

        def found(rows: list[SessionRow], done: int, total: int) -> None:
            if not self.rows:
                self._show(rows)
            self._found.put((rows, done, total))

        self._cache = Cache(self._cache_dir)
        try:
            self._done = update(
                self._store,
                self._cache,
                cwd=cwd,
                nested=nested,
                on_rows=found,
                stop=self._stopped.is_set,
                spare_us=True,
                reader=reader,
            )
        except CacheLostError as error:
            self._done = error
        finally:
            if reader is not None:
                end_reader(reader)

    def wait(self) -> None:
        """Wait until all is read that is being read; for tests."""
        self._thread.join()

    def take_cache(self) -> Cache | None:
        """Return the cache that the reading goes into, for the screen to use and to close; None without."""
        cache, self._cache = self._cache, None
        return cache

    def go_on_reading(self, *, everything: bool, nested: bool, on_rows: OnRows, stop: Stop) -> Update | None:
        """Hand out what is being read of the store; None where that was not begun, or of something else.

        Works once, and takes its time. Raises CacheLostError.
        """
        self._decided.wait(_PATIENCE_SECONDS)
        wanted, self._wanted = self._wanted, None
        if wanted != (everything, nested):
            self._stopped.set()  # nor may it begin after this
            return None
        while not stop():
            with contextlib.suppress(queue.Empty):
                batch = self._found.get(timeout=_LOOK_SECONDS)
                if batch is None:
                    break
                on_rows(*batch)
        else:
            self._stopped.set()
        self._thread.join()
        if isinstance(self._done, Exception):
            raise self._done
        return self._done

    def close(self) -> None:
        """Let nothing go on for nobody."""
        self._stopped.set()
        cache = self.take_cache()
        if cache is not None:
            cache.close()
