"""What was read of sessions, kept for the next time: rows and texts in an SQLite file that processes share.

Everything in it can be read again from the sessions, so whatever is wrong with it leads to a new one: a
damaged or older file, a folder that cannot be written to, a full disk. Text lives here and not in memory.
"""

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import msgspec
from msgspec.structs import replace

from pitree.catalog.errors import CacheLostError
from pitree.catalog.known import EDITION, JSON_MARK, cache_file, newest_rows, parse_json, read_row, read_rows
from pitree.catalog.locations import FoundFile
from pitree.catalog.rows import SessionRow
from pitree.catalog.scan import Mark, Scanned, Text, read_session
from pitree.catalog.tally import Span

_BUSY_SECONDS: Final = 5.0
# A part grows up to this before a new one is begun, so that a session that grows for days has few of them.
_PART_BYTES: Final = 1 << 16
_IDS_AT_ONCE: Final = 250

_Read = TypeVar("_Read")

_TABLES: Final = """
CREATE TABLE files (
    key INTEGER PRIMARY KEY,
    folder BLOB NOT NULL,
    name BLOB NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    modified REAL,
    row BLOB,
    UNIQUE (folder, name)
);
CREATE INDEX files_by_time ON files (modified);
CREATE TABLE marks (key INTEGER PRIMARY KEY, first BLOB NOT NULL, mark BLOB NOT NULL);
CREATE TABLE parts (
    part INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    last INTEGER NOT NULL,
    words BLOB NOT NULL,
    text BLOB NOT NULL,
    spans BLOB NOT NULL
);
CREATE INDEX parts_by_key ON parts (key);
"""


class Known(NamedTuple):
    """What the cache holds of a file: it stands for those bytes, and has a row unless they are no session."""

    key: int
    inode: int
    size: int
    mtime_ns: int
    row: SessionRow | None

    def is_of(self, found: FoundFile) -> bool:
        """Whether the file is still what was read."""
        return (self.inode, self.size, self.mtime_ns) == (found.inode, found.size, found.mtime_ns)


class Kept(NamedTuple):
    """What is to be kept of a file: `folder` and `name` are its real path, `scanned` is None for no session.

    `base` is the mark from which the reading went on, if it did.
    """

    folder: str
    name: str
    found: FoundFile
    scanned: Scanned | None
    base: Mark | None = None


class Part(NamedTuple):
    """A stretch of a session's text, and the messages in it."""

    text: str
    spans: list[Span]


class Cache:
    """The rows and texts of sessions. Threads may share one; so may processes its file.

    With `folder` None it is a file of this process alone, gone when it ends. So it is where the folder
    cannot be used; `trouble` then says why. Every method raises CacheLostError when what was kept is gone:
    there is an empty cache in its place by then, and everything has to be read again.
    """

    def __init__(self, folder: Path | None, *, file: Path | None = None) -> None:
        """Open the cache in a folder, or in a `file` that another process has told of."""
        self._file = file if folder is None else cache_file(folder)
        self._lock = threading.RLock()
        self._closed = False
        self.trouble: str | None = None
        self.changes = 0
        """Grows whenever texts change."""
        self.updating = threading.Lock()
        """Held while files are looked at and read, so that no two threads read the same ones."""
        self._connection = self._open()

    @property
    def file(self) -> Path | None:
        """The file that other processes can share; None where this one is alone."""
        return self._file

    # ---- the file

    def _open(self) -> sqlite3.Connection:
        if self._file is not None:
            try:
                return _connected(self._file)
            except (sqlite3.Error, OSError) as error:
                if _is_damage(error):
                    with contextlib.suppress(sqlite3.Error, OSError):
                        _remove(self._file)
                        return _connected(self._file)
                self._give_up_file(error)
        return _private()

    def _give_up_file(self, error: Exception) -> None:
        self.trouble = f"{self._file} cannot be used: {error}"
        self._file = None

    def close(self) -> None:
        """Let go of the file. Nothing is kept or found from now on."""
        with self._lock:
            self._closed = True
            self._connection.close()

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread at a time; replace the file when it fails."""
        with self._lock:
            if self._closed:
                raise CacheLostError("the cache is closed")
            try:
                yield self._connection
            except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError, IndexError) as error:
                self._replace(error)
                raise CacheLostError(f"the cache was lost: {error}") from error

    def _replace(self, error: Exception) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        self.changes += 1
        if self._file is not None:
            if isinstance(error, sqlite3.OperationalError) and not _is_damage(error):
                self._give_up_file(error)  # locked for too long, or the disk is full: the file is somebody's
            else:
                with contextlib.suppress(OSError):
                    _remove(self._file)
        self._connection = self._open()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._used() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    # ---- rows

    def newest(self, folders: Sequence[str], limit: int) -> list[SessionRow]:
        """Return the newest rows of these folders (real paths), in no time however many there are."""
        with self._used() as connection:
            return newest_rows(connection, folders, limit)

    def known(self, folder: str) -> dict[str, Known]:
        """Return what there is of a folder (its real path), by the name of the file."""
        with self._used() as connection:
            found = connection.execute(
                "SELECT key, name, inode, size, mtime, row FROM files WHERE folder = ?", [os.fsencode(folder)]
            ).fetchall()
            known = {}
            for key, raw_name, inode, size, mtime, data in found:
                name = os.fsdecode(raw_name)
                row = None if data is None else read_row(key, folder, name, data)
                known[name] = Known(key, inode, size, mtime, row)
            return known

    def known_file(self, folder: str, name: str) -> Known | None:
        """Return what there is of one file, by its real path; without its row."""
        with self._used() as connection:
            found = connection.execute(
                "SELECT key, inode, size, mtime FROM files WHERE folder = ? AND name = ?",
                [os.fsencode(folder), os.fsencode(name)],
            ).fetchone()
            if found is None:
                return None
            key, inode, size, mtime_ns = found
            return Known(key, inode, size, mtime_ns, None)

    def rows(self, keys: Sequence[int]) -> list[SessionRow]:
        """Return the rows with these keys, at the real places of their files."""
        return self._by_keys(
            "SELECT key, folder, name, row FROM files WHERE row NOT NULL AND", keys, read_rows
        )

    def _by_keys(
        self, question: str, keys: Sequence[int], read: Callable[[Iterable[Any]], list[_Read]]
    ) -> list[_Read]:
        """Return what `read` makes of the answers to a question for these keys, asked for some at a time.

        It is read while the connection is in use, so that what cannot be read counts as damage of the file.
        """
        answers: list[_Read] = []
        for ids in _chunks(keys):
            with self._used() as connection:
                places = ",".join("?" * len(ids))
                answers += read(connection.execute(f"{question} key IN ({places})", ids))
        return answers

    def base(self, known: Known | None, found: FoundFile) -> Mark | None:
        """Return the mark from which a file can be read on: where it is the file that is known, and grew."""
        grew = known is not None and known.inode == found.inode and known.size < found.size
        return self.mark(known.key) if known is not None and grew else None

    def mark(self, key: int) -> Mark | None:
        """Return how far a file was read, and what was found until there."""
        with self._used() as connection:
            found = connection.execute("SELECT first, mark FROM marks WHERE key = ?", [key]).fetchone()
            if found is None:
                return None
            mark = _unpacked_mark(found[1])
            mark.tally.first = _text(found[0])
            return mark

    def first_messages(self, rows: Iterable[SessionRow]) -> dict[int, str]:
        """Return the whole first messages of rows that are `shortened`, by their keys."""
        keys = [row.key for row in rows if row.shortened]
        question = "SELECT key, first FROM marks WHERE"
        return dict(
            self._by_keys(question, keys, lambda found: [(key, _text(first)) for key, first in found])
        )

    def labels(self, rows: Iterable[SessionRow]) -> dict[int, list[str]]:
        """Return the labels in sessions that have some, by the keys of their rows."""
        keys = [row.key for row in rows if row.labels]

        def read(found: Iterable[tuple[int, bytes]]) -> list[tuple[int, list[str]]]:
            return [(key, list(_unpacked_mark(mark).tally.labels.values())) for key, mark in found]

        return dict(self._by_keys("SELECT key, mark FROM marks WHERE", keys, read))

    # ---- writing

    def keep(self, batch: Sequence[Kept]) -> list[int]:
        """Keep what files were found to hold; return the keys of their rows.

        A reading that went on from a mark is kept only where nobody else has read on from there meanwhile;
        else its key is 0, and the file has to be read anew.
        """
        packed = [_Packed.of(kept) for kept in batch]  # here: while one writes, all others wait
        with self._writing() as connection:
            keys = [_keep(connection, kept, ready) for kept, ready in zip(batch, packed, strict=True)]
        self.changes += 1
        return keys

    def keep_surely(self, batch: Sequence[Kept]) -> list[int]:
        """Keep what files hold, reading those anew that another process has read on from the same mark."""
        keys = self.keep(batch)
        for place, kept in enumerate(batch):
            if not keys[place]:
                again = kept._replace(scanned=read_session(kept.found), base=None)
                keys[place] = self.keep([again])[0]
        return keys

    def forget(self, folder: str, names: Iterable[str]) -> None:
        """Drop files that are no longer there."""
        with self._writing() as connection:
            for name in names:
                found = connection.execute(
                    "SELECT key FROM files WHERE folder = ? AND name = ?",
                    [os.fsencode(folder), os.fsencode(name)],
                ).fetchone()
                if found is not None:
                    connection.execute("DELETE FROM files WHERE key = ?", found)
                    connection.execute("DELETE FROM marks WHERE key = ?", found)
                    connection.execute("DELETE FROM parts WHERE key = ?", found)

    def folders_below(self, root: str) -> list[str]:
        """Return the folders of which something is known, `root` (a real path) and what is below it."""
        raw = os.fsencode(root)
        with self._used() as connection:
            found = connection.execute("SELECT DISTINCT folder FROM files").fetchall()
        return [os.fsdecode(folder) for (folder,) in found if folder == raw or folder.startswith(raw + b"/")]

    # ---- texts

    def words(self, keys: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return the different words of sessions, in lower case and UTF-8, in one or more pieces each."""
        with self._used() as connection:
            places = ",".join("?" * len(keys))
            return connection.execute(
                f"SELECT key, words FROM parts WHERE key IN ({places})",  # noqa: S608
                keys,
            ).fetchall()

    def parts(self, key: int) -> list[Part]:
        """Return the text of a session, in its order."""
        with self._used() as connection:
            found = connection.execute(
                "SELECT text, spans FROM parts WHERE key = ? ORDER BY last, part", [key]
            ).fetchall()
            return [Part(_text(text), _decode_spans(spans)) for text, spans in found]

    def text(self, key: int) -> str:
        """Return all the text of a session, joined by blanks."""
        with self._used() as connection:
            found = connection.execute("SELECT text FROM parts WHERE key = ? ORDER BY last, part", [key])
            return " ".join([_text(text) for (text,) in found])


def _connected(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    _touch_private(file)
    connection = sqlite3.connect(file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # losing the last moments before a power cut costs reading those files again
        connection.execute("PRAGMA synchronous = NORMAL")
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _touch_private(file: Path) -> None:
    """Make the file for nobody else to read: conversations are in it."""
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))


def _private() -> sqlite3.Connection:
    """Return a database in a nameless file, or in memory as long as it is small."""
    connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    _prepare(connection)
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA user_version").fetchone()[0] == EDITION:
        for table in ("files", "marks", "parts"):
            connection.execute(f"SELECT 1 FROM {table} LIMIT 0")  # noqa: S608 - is it there?
        return
    connection.execute("BEGIN IMMEDIATE")
    # somebody else may have been first
    if connection.execute("PRAGMA user_version").fetchone()[0] != EDITION:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {EDITION}")
    connection.execute("COMMIT")


def _is_damage(error: Exception) -> bool:
    """Whether the file itself is bad, and not only out of reach for now."""
    if isinstance(error, sqlite3.OperationalError):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA)  # such as tables that are not there
    return isinstance(error, sqlite3.DatabaseError)


def _remove(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


class _Packed(NamedTuple):
    """What goes into the columns for a file: `words` are those of its text, `last_words` of its last line."""

    row: bytes
    first: bytes
    mark: bytes
    words: bytes
    last_words: bytes

    @classmethod
    def of(cls, kept: Kept) -> Self | None:
        """Pack what was found in a file; None where it holds no session."""
        scanned = kept.scanned
        if scanned is None:
            return None
        tally = scanned.mark.tally
        first, tally.first = tally.first, ""
        try:
            mark = _packed(scanned.mark)
        finally:
            tally.first = first
        return cls(
            _packed_row(scanned.row),
            _bytes(first),
            mark,
            _words(scanned.text.text),
            _words(scanned.last.text),
        )


def _keep(connection: sqlite3.Connection, kept: Kept, packed: _Packed | None) -> int:
    found, scanned = kept.found, kept.scanned
    place = [os.fsencode(kept.folder), os.fsencode(kept.name)]
    there = connection.execute("SELECT key FROM files WHERE folder = ? AND name = ?", place).fetchone()
    key: int | None = there[0] if there is not None else None
    goes_on = scanned is not None and scanned.goes_on
    if goes_on and not (key is not None and kept.base and _still_ends_at(connection, key, kept.base)):
        return 0
    row = None if scanned is None else scanned.row
    facts = [found.inode, found.size, found.mtime_ns, row and row.modified, packed and packed.row]
    if key is None:
        key = connection.execute(
            "INSERT INTO files (folder, name, inode, size, mtime, modified, row) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [*place, *facts],
        ).lastrowid
    else:
        connection.execute(
            "UPDATE files SET inode = ?, size = ?, mtime = ?, modified = ?, row = ? WHERE key = ?",
            [*facts, key],
        )
        connection.execute("DELETE FROM parts WHERE key = ? AND last >= ?", [key, int(goes_on)])
        connection.execute("DELETE FROM marks WHERE key = ?", [key])
    assert key is not None  # noqa: S101 - what an insertion returns
    if scanned is not None and packed is not None:
        connection.execute("INSERT INTO marks VALUES (?, ?, ?)", [key, packed.first, packed.mark])
        _add_part(connection, key, scanned.text, packed.words, is_last=False)
        _add_part(connection, key, scanned.last, packed.last_words, is_last=True)
    return key


def _still_ends_at(connection: sqlite3.Connection, key: int, base: Mark) -> bool:
    found = connection.execute("SELECT mark FROM marks WHERE key = ?", [key]).fetchone()
    if found is None:
        return False
    there = _unpacked_mark(found[0])
    return (there.tally.offset, there.inode, there.ends) == (base.tally.offset, base.inode, base.ends)


def _add_part(connection: sqlite3.Connection, key: int, added: Text, words: bytes, *, is_last: bool) -> None:
    """Put text behind what there is of a session; a short part is made longer before another is begun."""
    if not added.spans:
        return
    text, spans = added.text, added.spans
    before = None
    if not is_last:
        before = connection.execute(
            "SELECT part, text, spans FROM parts WHERE key = ? ORDER BY part DESC LIMIT 1", [key]
        ).fetchone()
    if before is not None and len(before[1]) < _PART_BYTES:
        text = f"{_text(before[1])} {text}"
        words = _words(text)
        spans = [*_decode_spans(before[2]), *spans]
        connection.execute("DELETE FROM parts WHERE part = ?", [before[0]])
    connection.execute(
        "INSERT INTO parts (key, last, words, text, spans) VALUES (?, ?, ?, ?, ?)",
        [key, is_last, words, _bytes(text), _packed(spans)],
    )


# ---- what is in the columns

_decode_mark = msgspec.msgpack.Decoder(Mark).decode
_decode_spans_usual = msgspec.msgpack.Decoder(list[Span]).decode
_encode = msgspec.msgpack.encode


def _packed(value: Any) -> bytes:  # noqa: ANN401 - what the tables hold
    """Return a value as MessagePack; as JSON where it has a text that is no Unicode, half a pair."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps([msgspec.to_builtins(value)]).encode()


def _packed_row(row: SessionRow) -> bytes:
    """Return a row without its place, which has columns of its own, and without long texts."""
    packed = replace(row, folder="", file="", text="")
    packed.shorten()
    return _packed(packed)


def _unpacked_mark(data: bytes) -> Mark:
    if data[0] == JSON_MARK:
        return msgspec.convert(parse_json(data), Mark)
    return _decode_mark(data)


def _decode_spans(data: bytes) -> list[Span]:
    if data[0] == JSON_MARK:  # ids that are no Unicode
        return [Span(*span) for span in parse_json(data)]
    return _decode_spans_usual(data)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _words(text: str) -> bytes:
    return _bytes(" ".join(dict.fromkeys(text.lower().split())))


def _chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), _IDS_AT_ONCE):
        yield keys[start : start + _IDS_AT_ONCE]
