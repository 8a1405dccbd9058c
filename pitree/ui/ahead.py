"""What the first picture of the list needs, read in a thread while the screen's framework is being loaded.

Loading it takes most of a start. A thread and not a call, since a disk can be slow: what is not there when
the first picture is drawn comes later, as it would without.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pitree.catalog.arrange import Scope
from pitree.catalog.known import cache_file, newest_known
from pitree.catalog.locations import Store, session_folders
from pitree.catalog.rows import SessionRow
from pitree.catalog.starting import start_reader
from pitree.sessions.machine import processors
from pitree.ui.state import ViewStore

if TYPE_CHECKING:
    import subprocess

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
    """The newest sessions that the cache knows, in the scope in which the list was left.

    `rows`, and `exists` (which of their directories are there), are empty until they are read. Where there is
    no cache, a process that will read sessions is started instead: to be up takes it about as long as us.
    """

    def __init__(
        self, store: Store, cwd: Path, cache_dir: Path, kept: ViewStore, *, scope: Scope | None
    ) -> None:
        """Begin to read; `scope` is the one to begin with, None as it was left."""
        self.rows: list[SessionRow] = []
        self.exists: dict[str, bool] = {}
        self._store = store
        self._cwd = cwd
        self._cache = cache_file(cache_dir)
        self._kept = kept
        self._scope = scope
        self._reader: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._read, name="first rows", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if not self._cache.exists():
            if processors() > 1:
                self._reader = start_reader(self._cache)
            return
        view = self._kept.load()
        cwd = str(self._cwd) if (self._scope or view.scope) == "folder" else None
        rows = newest_known(self._cache, session_folders(self._store, cwd, nested=view.nested))
        self.exists = {folder: is_folder(folder) for folder in {row.cwd for row in rows if row.cwd}}
        self.rows = rows

    def wait(self) -> None:
        """Wait until what there is has been read."""
        self._thread.join()

    def take_reader(self) -> subprocess.Popen[bytes] | None:
        """Return the process that was started, to be ended by who takes it; None without, or taken before."""
        reader, self._reader = self._reader, None
        return reader
