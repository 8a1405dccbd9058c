"""The system's trash: files go there instead of away, and come back where the platform tells how."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from pitree.sessions.errors import SessionError

_INFO_SUFFIX: Final = b".trashinfo"


class TrashError(SessionError):
    """A file could not be put into the trash or taken out of it, and is where it was."""


class Trashed(NamedTuple):
    """A file in the trash: where it was, and where it is (None where the platform does not say)."""

    original: Path
    place: Path | None


def put(path: Path) -> Trashed:
    """Move a file to the trash; of a symbolic link only the link. Raises TrashError."""
    try:
        before = path.lstat()
    except OSError as error:
        raise TrashError(f"{path} is not there: {error.strerror or error}") from error
    if not os.access(path.parent, os.W_OK):  # told beforehand: send2trash would leave its note in the trash
        raise TrashError(f"{path} cannot be put into the trash: its folder cannot be written to")
    try:
        from send2trash import send2trash  # late: few runs of the program delete anything

        send2trash(os.fspath(path))
    except Exception as error:  # each platform's half of the library raises its own
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TrashError(f"{path} cannot be put into the trash: {reason}") from error
    if os.path.lexists(path):
        raise TrashError(f"{path} cannot be put into the trash: it is still there")
    return Trashed(path, _find(path, before))


def restore(trashed: Trashed) -> None:
    """Put a file from the trash back where it was. Raises TrashError; nothing is ever written over."""
    original, place = trashed
    if place is None or not os.path.lexists(place):
        where = "your system's trash" if place is None else str(place)
        raise TrashError(f"{original} cannot be brought back from here; look for it in {where}")
    if os.path.lexists(original):
        raise TrashError(f"{original} cannot be brought back: there is another file of that name")
    try:
        original.parent.mkdir(parents=True, exist_ok=True)
        _bring_back(place, original)
    except OSError as error:
        raise TrashError(f"{original} cannot be brought back: {error.strerror or error}") from error
    info = _info_of(os.fsencode(place))
    with contextlib.suppress(OSError):  # a note about nothing; the system's trash forgets it by itself
        os.unlink(info)  # noqa: PTH108 - bytes


def remove_for_good(path: Path) -> None:
    """Remove a file, of a symbolic link only the link. Raises TrashError."""
    try:
        path.unlink()
    except OSError as error:
        raise TrashError(f"{path} cannot be removed: {error.strerror or error}") from error


def _bring_back(place: Path, original: Path) -> None:
    try:
        os.link(place, original, follow_symlinks=False)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        # another file system, or one without links
        import shutil

        if os.path.lexists(original):
            raise FileExistsError(None, "there is another file of that name") from None
        shutil.move(place, original)
    else:
        place.unlink()


# ---- where freedesktop systems keep it


def _find(original: Path, before: os.stat_result) -> Path | None:
    """Return where send2trash has put a file: it says nothing, but the trash's notes do."""
    if sys.platform in {"darwin", "win32"}:
        return None
    wanted = os.path.join(os.path.realpath(os.fsencode(original.parent)), os.fsencode(original.name))  # noqa: PTH118
    found: list[tuple[bool, float, bytes]] = []
    for folder, base in _trash_folders(os.fsencode(original.parent)):
        for info in _infos(os.path.join(folder, b"info")):  # noqa: PTH118
            if _recorded_path(info, base) != wanted:
                continue
            place = os.path.join(folder, b"files", os.path.basename(info)[: -len(_INFO_SUFFIX)])  # noqa: PTH118, PTH119
            with contextlib.suppress(OSError):
                facts = os.lstat(place)
                if stat.S_IFMT(facts.st_mode) == stat.S_IFMT(before.st_mode):
                    same = (facts.st_ino, facts.st_dev) == (before.st_ino, before.st_dev)
                    found.append((same, os.lstat(info).st_mtime, place))
    return Path(os.fsdecode(max(found)[2])) if found else None


def _trash_folders(beside: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the trash folders that a file can be in, and what relative paths in each are relative to."""
    data = os.environb.get(b"XDG_DATA_HOME") or os.path.expanduser(b"~/.local/share")  # noqa: PTH111
    yield os.path.join(data, b"Trash"), os.path.realpath(data)  # noqa: PTH118
    top = os.path.realpath(beside)
    while not os.path.ismount(top):
        top = os.path.dirname(top)  # noqa: PTH120
    user = str(os.getuid()).encode()
    yield os.path.join(top, b".Trash", user), top  # noqa: PTH118
    yield os.path.join(top, b".Trash-" + user), top  # noqa: PTH118


def _infos(folder: bytes) -> Iterator[bytes]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if entry.name.endswith(_INFO_SUFFIX))
    except OSError:
        return


def _recorded_path(info: bytes, base: bytes) -> bytes | None:
    try:
        with open(info, "rb") as file:  # noqa: PTH123 - bytes
            lines = file.read(1 << 16).split(b"\n")
    except OSError:
        return None
    for line in lines:
        if line.startswith(b"Path="):
            path = os.path.join(base, unquote_to_bytes(line[5:].strip()))  # noqa: PTH118
            parent, name = os.path.split(path)
            return os.path.join(os.path.realpath(parent), name)  # noqa: PTH118
    return None


def _info_of(place: bytes) -> bytes:
    folder, name = os.path.split(place)
    return os.path.join(os.path.dirname(folder), b"info", name + _INFO_SUFFIX)  # noqa: PTH118, PTH120
