"""What was done to sessions from here, so that it can be undone: kept in a folder of pitree's own."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import encode_value, parse_value

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_KEPT: Final = 500
_MAX_BYTES: Final = 1 << 20


class Deed(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One change. `kind` is move, label, name, fork or delete; `path` the session's file.

    `before` and `after` are the leaf, the label or the name before and after it. `entry_id` is the entry that
    was written, `target_id` what was labelled. `place` is where a deleted file is in the trash, `size` a
    fork's size in bytes. `at` is ISO 8601; `undoes` is the id of the deed that this one took back.
    """

    kind: str
    path: str
    id: str = ""
    at: str = ""
    session_id: str = ""
    before: str | None = None
    after: str | None = None
    entry_id: str | None = None
    target_id: str | None = None
    place: str | None = None
    size: int = 0
    title: str = ""
    undoes: str | None = None


class Journal:
    """The deeds, oldest first. With `folder` None they are forgotten with this object."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / "journal.jsonl"
        self._deeds: list[Deed] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever done; costs one look at the file system."""
        if self._file is None:
            return not self._deeds
        try:
            return self._file.stat().st_size == 0
        except OSError:
            return True

    def note(self, deed: Deed) -> Deed:
        """Take up a deed, and return it with id and time. Raises OSError when it cannot be kept."""
        noted = msgspec.structs.replace(
            deed, id=uuid.uuid4().hex, at=datetime.now(UTC).isoformat(timespec="milliseconds")
        )
        if self._file is None:
            self._deeds.append(noted)
            return noted
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self._file) as fd:
            if os.fstat(fd).st_size > _MAX_BYTES:
                self._shorten(fd)
            start = b"" if _ends_well(fd) else b"\n"
            os.write(fd, start + _encoded(noted))
        return noted

    def deeds(self) -> list[Deed]:
        """Return what was done and not taken back, newest first.

        Lines that cannot be read are passed over.
        """
        undone: set[str] = set()
        standing = []
        for deed in reversed(self._read()):
            if deed.undoes is not None:
                undone.add(deed.undoes)
            elif deed.id not in undone:
                standing.append(deed)
        return standing

    def _read(self) -> list[Deed]:
        if self._file is None:
            return self._deeds
        try:
            lines = self._file.read_bytes().split(b"\n")
        except OSError:
            return []
        return list(_decoded(lines))

    @staticmethod
    def _shorten(fd: int) -> None:
        lines = os.pread(fd, os.fstat(fd).st_size, 0).split(b"\n")
        kept = [_encoded(deed) for deed in list(_decoded(lines))[-_KEPT:]]
        os.ftruncate(fd, 0)
        os.write(fd, b"".join(kept))


def _encoded(deed: Deed) -> bytes:
    # not msgspec's own JSON: names and paths can hold halves of characters
    return encode_value(msgspec.to_builtins(deed)) + b"\n"


def _decoded(lines: list[bytes]) -> Iterator[Deed]:
    for line in lines:
        with contextlib.suppress(msgspec.ValidationError, LineError):
            yield msgspec.convert(parse_value(line), Deed)


def _ends_well(fd: int) -> bool:
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    fd = os.open(path, flags, 0o600)
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)
