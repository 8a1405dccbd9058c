"""Changing session files: appending to one, making a new one, putting a migrated one in place of the old.

An append is one write of whole lines under a lock against other pitree processes. (Pi takes no lock, but it,
too, appends whole lines in one write each, which the system keeps apart.) When a write fails half-way, what
it left is taken away again.
"""

import contextlib
import itertools
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pitree.sessions.errors import WriteError

try:
    import fcntl
except ImportError:  # not on Windows; there, two pitree processes can only be kept apart by the system
    fcntl = None  # type: ignore[assignment]


# A last line that has not grown for so long is not going to be finished any more.
_STILL_SECONDS: Final = 0.005


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Lend an appending file descriptor of `path` that no other pitree process has at that time.

    Raises WriteError when the file cannot be opened for writing.
    """
    fd = _open_locked(path)
    try:
        yield fd
    finally:
        os.close(fd)  # and with it the lock


def _open_locked(path: Path) -> int:
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            raise WriteError(f"{path} cannot be written to: {error.strerror or error}") from error
        try:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # some network file systems have no locks
                    fcntl.flock(fd, fcntl.LOCK_EX)
            # whoever had the lock before may have put another file there: then that is the one to lock
            if os.path.samestat(os.fstat(fd), path.stat()):
                return fd
        except FileNotFoundError as error:
            os.close(fd)
            raise WriteError(f"{path} cannot be written to: {error.strerror}") from error
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def append_lines(fd: int, path: Path, lines: Sequence[bytes]) -> None:
    """Append whole lines in one write, closing an unfinished last line in the same one.

    `fd` comes from `locked`. Raises WriteError, with the file as it was.
    """
    size, is_finished = _end(fd)
    data = (b"" if is_finished else b"\n") + b"".join(line + b"\n" for line in lines)
    written = 0
    reason = ""
    try:
        written = os.write(fd, data)
    except OSError as error:
        reason = error.strerror or str(error)
    if written == len(data):
        return
    reason = reason or f"only {written} of {len(data)} bytes could be written"
    left = "it is as it was"
    if written:
        if os.fstat(fd).st_size == size + written:
            os.ftruncate(fd, size)
        else:
            left = "a torn line is left, since another program has written after it"
    raise WriteError(f"{path} could not be appended to: {reason}; {left}")


def _end(fd: int) -> tuple[int, bool]:
    """Return a file's size and whether its last line is finished.

    While another program appends, its line can be seen to grow. What grows is waited for; where the program
    is interrupted for longer than that, a blank line comes behind its line, which harms nobody.
    """
    size = os.fstat(fd).st_size
    while size and os.pread(fd, 1, size - 1) != b"\n":
        time.sleep(_STILL_SECONDS)
        before, size = size, os.fstat(fd).st_size
        if size == before:
            return size, False
    return size, True


def create_file(path: Path, lines: Iterable[bytes]) -> None:
    """Make a file that is not there yet or is empty, with its directory; it appears whole or not at all.

    Raises WriteError when it exists already or cannot be written.
    """
    try:
        if path.is_file() and path.stat().st_size == 0:
            _fill(path, lines)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_beside(path, lines)
    except OSError as error:
        raise WriteError(f"{path} could not be made: {error.strerror or error}") from error


def create_copy(path: Path, lines: Iterable[bytes], like: os.stat_result) -> None:
    """Make a file that is not there, not even empty, with mode and owner of another one.

    It appears whole or not at all, and is private until then. Raises WriteError when anything has that name
    already, or it cannot be written; and what `lines` raises.
    """
    try:
        _make_beside(path, lines, like)
    except OSError as error:
        raise WriteError(f"{path} could not be made: {error.strerror or error}") from error


def _make_beside(path: Path, lines: Iterable[bytes], like: os.stat_result | None = None) -> None:
    """Write a file under another name and give it this one, if nothing has it."""
    temporary = _write_beside(path, lines, like)
    try:
        _put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _fill(path: Path, lines: Iterable[bytes]) -> None:
    """Write to a file that is there, but empty: it keeps its mode, its owner, and the links to it."""
    with locked(path) as fd:
        if os.fstat(fd).st_size:
            raise FileExistsError(None, "the file is no longer empty")
        append_lines(fd, path, list(lines))


def _put_in_place(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)  # unlike a rename, it never replaces a file that came meanwhile
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(None, "the file exists already") from None
        temporary.rename(path)


def replace_file(path: Path, lines: Iterable[bytes], size: int, suffix: str) -> Path:
    """Put new content in the place of a file in one step; return the name under which the old one stays.

    That is the file's own name with `suffix`, and a number where that is taken. `size` is the file's size as
    far as the new content stands for it. Raises WriteError, with the file as it was.
    """
    path = path.resolve()  # not the link that leads to it
    try:
        facts = path.stat()
        temporary = _write_beside(path, lines, facts)
        try:
            if path.stat().st_size != size:
                raise OSError(None, "another program is writing to it")
            kept = _keep(path, suffix)
            try:
                temporary.replace(path)
            except BaseException:
                kept.unlink()
                raise
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise WriteError(f"{path} could not be migrated: {reason}; it is as it was") from error
    return kept


def _keep(path: Path, suffix: str) -> Path:
    """Give a file a second name, one that nothing has yet."""
    for number in itertools.count(1):
        kept = path.with_name(f"{path.name}{suffix}" if number == 1 else f"{path.name}{suffix}.{number}")
        try:
            os.link(path, kept)
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            if kept.exists():
                continue
            shutil.copy2(path, kept)
        return kept
    raise AssertionError("there are always further numbers")  # pragma: no cover


def _write_beside(path: Path, lines: Iterable[bytes], like: os.stat_result | None = None) -> Path:
    """Write lines to a new file in the same directory, down to the disk; its name is no session's.

    It gets mode and owner of `like`, the owner where that is allowed; nobody else reads it until then.
    """
    temporary = path.with_name(f".{path.name[:50]}.{uuid.uuid4().hex}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    fd = os.open(temporary, flags, 0o666 if like is None else 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(line + b"\n" for line in lines)
            file.flush()
            if like is not None:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
