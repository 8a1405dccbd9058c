"""Changing session files: appending to one, making a new one, putting a migrated one in place of the old.

An append is one write of whole lines under a lock against other pitree processes. (Pi takes no lock, but it,
too, appends whole lines in one write each, which the system keeps apart.) When a write fails half-way, what
it left is taken away again.
"""

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from pitree.sessions.errors import WriteError

try:
    import fcntl
except ImportError:  # not on Windows; there, two pitree processes can only be kept apart by the system
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Lend an appending file descriptor of `path` that no other pitree process has at that time.

    Raises WriteError when the file cannot be opened for writing.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise WriteError(f"{path} cannot be written to: {error.strerror}") from error
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)  # and with it the lock


def append_lines(fd: int, path: Path, lines: Sequence[bytes]) -> None:
    """Append whole lines in one write, closing an unfinished last line in the same one.

    `fd` comes from `locked`. Raises WriteError, with the file as it was.
    """
    size = os.fstat(fd).st_size
    closing = b"" if not size or os.pread(fd, 1, size - 1) == b"\n" else b"\n"
    data = closing + b"".join(line + b"\n" for line in lines)
    written = 0
    reason = ""
    try:
        written = os.write(fd, data)
    except OSError as error:
        reason = error.strerror or str(error)
    if written == len(data):
        return
    if written and os.fstat(fd).st_size == size + written:  # nobody else wrote after us
        os.ftruncate(fd, size)
    reason = reason or f"only {written} of {len(data)} bytes could be written"
    raise WriteError(f"{path} could not be appended to: {reason}; it is as it was")


def create_file(path: Path, lines: Sequence[bytes]) -> None:
    """Make a file that is not there yet, with its directory; it appears whole or not at all.

    Raises WriteError when it exists already or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _write_beside(path, lines)
        try:
            _put_in_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{path} could not be made: {error.strerror or error}") from error


def _put_in_place(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename, it never replaces a file that came meanwhile
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(None, "the file exists already") from None
        temporary.rename(path)


def replace_file(path: Path, lines: Sequence[bytes], *, kept: Path) -> None:
    """Put new content in the place of a file in one step; the old file stays as `kept`.

    Raises WriteError, with the file as it was.
    """
    try:
        mode = path.stat().st_mode & 0o7777
        temporary = _write_beside(path, lines, mode)
        try:
            if not kept.exists():
                os.link(path, kept)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(
            f"{path} could not be migrated: {error.strerror or error}; it is as it was"
        ) from error


def _write_beside(path: Path, lines: Sequence[bytes], mode: int | None = None) -> Path:
    """Write lines to a new file in the same directory, down to the disk; its name is no session's."""
    temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.new")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(line + b"\n" for line in lines)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
