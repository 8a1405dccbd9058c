"""Bringing the cache up to date with a store: rows that are known at once, then what is new or has changed.

The order is what a person waits for: the newest rows of the cache, all rows of the cache, then the files that
are not as they were, the newest first. Every file is looked at with `stat`; only changed ones are opened.
"""

import os
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from pitree.catalog.cache import Cache, Kept, Known
from pitree.catalog.errors import CacheLostError
from pitree.catalog.known import FIRST_ROWS
from pitree.catalog.locations import FoundFile, Problem, Store, files_in, session_folders
from pitree.catalog.readers import Answer, Wanted, how_many, read_elsewhere
from pitree.catalog.rows import SessionRow
from pitree.catalog.scan import OnRows, ScanStoppedError, Stop, read_session, work_through

_TRIES: Final = 3


class Update(msgspec.Struct):
    """What an update came to: where there are files now, as in `SessionRow.location`, and what went wrong."""

    locations: set[str] = msgspec.field(default_factory=set)
    problems: list[Problem] = msgspec.field(default_factory=list)


def update(
    store: Store,
    cache: Cache,
    *,
    cwd: str | None = None,
    nested: bool = False,
    also: Iterable[Path] = (),
    on_rows: OnRows,
    stop: Stop = lambda: False,
    reader: "subprocess.Popen[bytes] | None" = None,
) -> Update:
    """Look through a store, or with `cwd` through its folder of it, and hand out the rows there are.

    `on_rows` is called as `scan_store` calls it, first with rows from the cache; a row for a location
    takes the place of an earlier one. Rows that vanished are those not among `locations` at the end.
    `also` names files that are wanted besides. `reader` is a process for that which the
    caller has started, and ends. Where the cache is lost on the way, all
    is read again.
    """
    tries = _TRIES
    while True:
        tries -= 1
        done = Update()
        try:
            folders = session_folders(store, cwd, nested=nested, problems=done.problems)
            sync = _Sync(cache, folders, on_rows, stop, done, reader=reader)
            sync.run(also)
            if cwd is None and not done.problems and store.root.is_dir() and not stop():
                sync.forget_folders(os.fspath(store.root))
        except CacheLostError:
            if not tries:
                raise
        else:
            return done


def update_folders(
    folders: list[str],
    cache: Cache,
    *,
    also: Iterable[Path] = (),
    on_rows: OnRows,
    stop: Stop = lambda: False,
) -> Update:
    """Look through some folders of a store again, and hand out their rows as `update` does.

    Raises CacheLostError; the next look will build the cache anew.
    """
    done = Update()
    _Sync(cache, folders, on_rows, stop, done).run(also)
    return done


class _Place(NamedTuple):
    """Where a file really is."""

    folder: str
    name: str


class _Sync:
    """One pass over the files of some folders."""

    def __init__(
        self,
        cache: Cache,
        folders: list[str],
        on_rows: OnRows,
        stop: Stop,
        done: Update,
        *,
        reader: "subprocess.Popen[bytes] | None" = None,
    ) -> None:
        self._reader = reader
        self._cache = cache
        self._real = {folder: os.path.realpath(folder) for folder in folders}
        self._on_rows = on_rows
        self._stop = stop
        self._done = done
        self._known: dict[str, dict[str, Known]] = {}
        """What the cache holds, by the real path of the folder and the name in it."""

    def run(self, also: Iterable[Path]) -> None:
        """Do everything, in the order that people wait for; one after the other where several threads do."""
        with self._cache.updating:
            self._run(also)

    def _run(self, also: Iterable[Path]) -> None:
        self._show_known()
        files = files_in(self._real, problems=self._done.problems)
        listed = {(file.folder, file.file) for file in files}
        asked_for = [file for file in _found(also) if (file.folder, file.file) not in listed]
        self._done.locations = {f"{file.folder}/{file.file}" for file in (*asked_for, *files)}
        if not self._stop():
            self._read_changed([*asked_for, *files])
        if not self._stop():
            self._forget_missing(files)

    def _known_in(self, folder: str) -> dict[str, Known]:
        known = self._known.get(folder)
        if known is None:
            known = self._known[folder] = self._cache.known(folder)
        return known

    def _show_known(self) -> None:
        """Hand out what the cache holds, the newest first."""
        own = {where: folder for folder, where in reversed(self._real.items())}
        newest = self._cache.newest(list(own), FIRST_ROWS)
        if newest:
            self._on_rows([row.found_at(own[row.folder], row.file) for row in newest], 0, 0)
        rows = [
            known.row.found_at(folder, name)
            for folder, where in self._real.items()
            for name, known in self._known_in(where).items()
            if known.row is not None
        ]
        if len(rows) > len(newest):
            self._on_rows(rows, 0, 0)

    def _read_changed(self, files: list[FoundFile]) -> None:
        """Read the files that are not as the cache knows them, each once under however many names."""
        changed: dict[_Place, list[FoundFile]] = {}
        unshown: list[SessionRow] = []
        for file in files:
            place = self._real_place(file)
            known = self._known_in(place.folder).get(place.name)
            if known is None or not known.is_of(file):
                changed.setdefault(place, []).append(file)
            elif known.row is not None and (file.linked or file.folder not in self._real):
                unshown.append(known.row.found_at(file.folder, file.file))
        if unshown:
            self._on_rows(unshown, 0, 0)
        places = {names[0]: place for place, names in changed.items()}
        before, total = 0, len(places)

        def read(file: FoundFile) -> Kept:
            place = places[file]
            base = self._cache.base(self._known_in(place.folder).get(place.name), file)
            scanned = read_session(file, base, stop=self._stop)
            return Kept(place.folder, place.name, file, scanned, base)

        def show(keys: list[int], done: int) -> None:
            rows = [
                row.found_at(file.folder, file.file)
                for row in self._cache.rows(keys)
                for file in changed[_Place(row.folder, row.file)]
            ]
            for row in rows:
                row.shorten()
            self._on_rows(rows, before + done, total)

        def keep(batch: list[Kept], done: int, _total: int) -> None:
            show(self._cache.keep_surely(batch), done)

        left = self._read_elsewhere(places, read, show)
        before = total - len(left)
        work_through(left, read, on_results=keep, stop=self._stop, problems=self._done.problems)

    def _read_elsewhere(
        self,
        places: dict[FoundFile, _Place],
        read: Callable[[FoundFile], Kept],
        show: Callable[[list[int], int], None],
    ) -> list[FoundFile]:
        """Have other processes read files, if there is much to read; return those that nobody has read."""
        wanted = [Wanted(place.folder, place.name, file) for file, place in places.items()]
        count = how_many(wanted, started=self._reader is not None)
        if not count or self._cache.file is None:
            return [*places]
        done = 0

        def one(mine: Wanted) -> None:
            nonlocal done
            done += 1
            try:
                show(self._cache.keep_surely([read(mine.found)]), done)
            except OSError as error:
                self._done.problems.append(Problem(mine.found.path, error.strerror or str(error)))

        def some(answer: Answer) -> None:
            nonlocal done
            done += answer.files
            self._done.problems += answer.problems
            show(answer.keys, done)

        try:
            left = read_elsewhere(
                self._cache.file,
                wanted,
                count,
                meanwhile=one,
                on_answer=some,
                stop=self._stop,
                started=self._take_reader(),
            )
        except ScanStoppedError:
            return []
        return [each.found for each in left]

    def _take_reader(self) -> "subprocess.Popen[bytes] | None":
        """Return the reader that was started before, once."""
        reader, self._reader = self._reader, None
        return reader

    def _real_place(self, file: FoundFile) -> _Place:
        """Return the real folder and the name in it, with few questions to the file system."""
        if file.linked:
            return _Place(*os.path.split(os.path.realpath(os.path.join(file.folder, file.file))))  # noqa: PTH118
        where = self._real.get(file.folder)
        return _Place(os.path.realpath(file.folder) if where is None else where, file.file)

    def _forget_missing(self, files: list[FoundFile]) -> None:
        """Drop from the cache what is no longer in folders that could be read."""
        unread = {str(problem.path) for problem in self._done.problems}
        present: dict[str, set[str]] = {}
        for file in files:
            present.setdefault(file.folder, set()).add(file.file)
        for folder, where in self._real.items():
            missing = self._known_in(where).keys() - present.get(folder, set())
            missing = {name for name in missing if os.path.join(folder, name) not in unread}  # noqa: PTH118
            if missing and folder not in unread:
                self._cache.forget(where, missing)

    def forget_folders(self, root: str) -> None:
        """Drop from the cache the folders of a store that are gone."""
        for folder in set(self._cache.folders_below(os.path.realpath(root))) - set(self._real.values()):
            if not os.path.isdir(folder):  # noqa: PTH112
                self._cache.forget(folder, self._known_in(folder))


def _found(paths: Iterable[Path]) -> list[FoundFile]:
    found = []
    for path in paths:
        with suppress(OSError):  # opening it will say why
            found.append(FoundFile.at(path))
    return found
