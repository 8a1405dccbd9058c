"""Where Pi keeps its sessions, by Pi's own rules: directories, settings, folders, files.

Everything is taken from the arguments (`environ`, `cwd`), never from the running process, so that the same
question has the same answer whoever asks.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from urllib.parse import unquote

import msgspec

from pitree.catalog.errors import NoHomeError
from pitree.sessions.errors import LineError

_AGENT_DIR: Final = "PI_CODING_AGENT_DIR"
_SESSION_DIR: Final = "PI_CODING_AGENT_SESSION_DIR"
_SETTINGS: Final = "settings.json"
_BOM: Final = b"\xef\xbb\xbf"
_MAX_SETTINGS_BYTES: Final = 16 << 20
_SEPARATOR: Final = re.compile(r"[/\\:]")


class FoundFile(NamedTuple):
    """A file that may be a session, as the file system has it: `size` in bytes, `mtime_ns` since 1970.

    `folder` and `file` are strings, since making a Path for each of 20,000 takes longer than finding them.
    `linked` says that the name is a symbolic link.
    """

    folder: str
    file: str
    size: int
    mtime_ns: int
    inode: int
    linked: bool = False

    @property
    def path(self) -> Path:
        """The path, as it was found."""
        return Path(self.folder, self.file)

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return what the file system says of the file at `path`. Raises OSError."""
        facts = path.stat()
        folder, file = os.path.split(path)
        return cls(folder, file, facts.st_size, facts.st_mtime_ns, facts.st_ino, path.is_symlink())


class Problem(NamedTuple):
    """A file or folder that could not be read, and why; it costs only itself."""

    path: Path
    reason: str


class Store(msgspec.Struct, frozen=True):
    """A session root.

    A `flat` root holds the files of all working directories side by side; otherwise each working directory
    has a folder of its own. `source` says in words where the root was named.
    """

    root: Path
    flat: bool
    source: str

    def holds_for(self, header_cwd: str, cwd: Path) -> bool:
        """Return whether a session listed for `cwd` belongs there, by the `cwd` that its header states.

        Pi asks this of a flat root only: in the default layout the folder decides.
        """
        return not self.flat or (header_cwd != "" and _resolve(header_cwd) == _resolve(os.fspath(cwd)))


def agent_dir(environ: Mapping[str, str], cwd: Path | None = None) -> Path:
    """Return the directory of Pi's own files: `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`.

    A relative one counts from `cwd` (without it: from the process's working directory). Raises NoHomeError
    where there is no home.
    """
    named = environ.get(_AGENT_DIR)
    path = _expand(named, environ) if named else _home(environ) / ".pi" / "agent"
    return Path(_resolve(os.fspath(path), cwd))


def find_store(cwd: Path, session_dir: str | None, environ: Mapping[str, str]) -> Store:
    """Return the session root that Pi would use in `cwd` when started with `--session-dir session_dir`.

    A settings file that cannot be read or holds something odd counts as absent. The root need not exist.
    """
    agent = agent_dir(environ, cwd)
    named = [
        ("--session-dir", session_dir),
        (f"${_SESSION_DIR}", environ.get(_SESSION_DIR)),
        _session_dir_setting(cwd, agent),
    ]
    for source, directory in named:
        if directory:
            root = _resolve(os.fspath(_expand(directory, environ)), cwd)
            return Store(Path(root), flat=True, source=source)
    return default_store(environ, cwd)


def default_store(environ: Mapping[str, str], cwd: Path | None = None) -> Store:
    """Return the root that Pi uses where nothing names another: a folder for each working directory."""
    return Store(agent_dir(environ, cwd) / "sessions", flat=False, source="default")


def _session_dir_setting(cwd: Path, agent: Path) -> tuple[str, str | None]:
    """Return what the settings say and which file says it.

    The project's settings rule over the person's own, also with null or "", which name the default root.
    """
    for source, path in ((f".pi/{_SETTINGS}", cwd / ".pi" / _SETTINGS), (_SETTINGS, agent / _SETTINGS)):
        settings = _read_settings(path)
        if "sessionDir" in settings:
            value = settings["sessionDir"]
            if isinstance(value, str):
                return source, value
            if value is None:
                return source, None
    return _SETTINGS, None


def _read_settings(path: Path) -> dict[str, Any]:
    from pitree.sessions.jsonl import parse_value

    try:
        if not path.is_file() or path.stat().st_size > _MAX_SETTINGS_BYTES:
            return {}
        settings = parse_value(path.read_bytes().removeprefix(_BOM))
    except (OSError, ValueError, LineError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _home(environ: Mapping[str, str]) -> Path:
    home = environ.get("HOME")
    if home:
        return Path(home)
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # as in containers that run under any number
        raise NoHomeError(
            f"HOME is not set, and user {os.getuid()} has no home; set HOME to the folder in which .pi is"
        ) from None


def _expand(path: str, environ: Mapping[str, str]) -> Path:
    """Return a path as people write it to Pi: `~`, `~/...` and `file://` URLs; `~name` is no home there."""
    if path == "~" or path.startswith("~/"):
        return _home(environ) / path[2:]
    if path.startswith("file://"):
        return Path(unquote(re.sub(r"^file://(localhost)?", "", path), errors="surrogateescape"))
    return Path(path)


def _resolve(path: str, base: Path | None = None) -> str:
    """Return the absolute path without `.` and `..`, by its letters alone: links are not followed."""
    absolute = os.path.abspath(path if base is None else os.path.join(base, path))  # noqa: PTH100, PTH118
    return f"/{absolute.lstrip('/')}" if absolute.startswith("//") else absolute


def folder_name(cwd: str) -> str:
    """Return the name of the folder that holds the sessions of `cwd` in the default layout.

    Different directories can share it (`/a/b` and `/a-b`).
    """
    letters = _SEPARATOR.sub("-", _resolve(cwd).removeprefix("/"))
    return f"--{letters}--"


def session_folders(
    store: Store, cwd: str | None = None, *, nested: bool = False, problems: list[Problem] | None = None
) -> list[str]:
    """Return the folders in which sessions are looked for: all of a store, or with `cwd` the one for it.

    Pi looks exactly one level deep, and follows links. With `nested` deeper ones follow theirs, as programs
    make them that run agents below agents; each is given once, also where links lead in circles. What
    cannot be read is left out, and told to `problems`; a root that does not exist is an empty one.
    """
    troubles: list[Problem] = [] if problems is None else problems
    root = os.fspath(store.root)
    if store.flat:
        folders = [root]
    elif cwd is not None:
        folders = [os.path.join(root, folder_name(cwd))]  # noqa: PTH118 - a string is wanted
    else:
        folders = [os.path.join(root, name) for name in _scan(root, troubles).folders]  # noqa: PTH118
    return _with_nested(folders, troubles) if nested else folders


def _with_nested(folders: list[str], problems: list[Problem]) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    waiting = folders[::-1]
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real not in seen:
            seen.add(real)
            found.append(folder)
            below = _scan(folder, problems).folders
            waiting += [os.path.join(folder, name) for name in reversed(below)]  # noqa: PTH118
    return found


def session_paths(
    store: Store, cwd: str | None = None, *, nested: bool = False, problems: list[Problem] | None = None
) -> list[FoundFile]:
    """Return the files that may be sessions, the most recently changed first.

    With `cwd`: those of its folder. A flat root has no folders, so there the rows have to be picked with
    `Store.holds_for` once they are read. For `nested` and `problems` see `session_folders`.
    """
    troubles: list[Problem] = [] if problems is None else problems
    return files_in(session_folders(store, cwd, nested=nested, problems=troubles), problems=troubles)


def files_in(folders: Iterable[str], *, problems: list[Problem] | None = None) -> list[FoundFile]:
    """Return the files of these folders that may be sessions, the most recently changed first."""
    troubles: list[Problem] = [] if problems is None else problems
    found = [file for folder in folders for file in _scan(folder, troubles, ".jsonl").files]
    found.sort(key=attrgetter("mtime_ns", "file"), reverse=True)
    return found


class _Listed(NamedTuple):
    folders: list[str]
    files: list[FoundFile]


def _scan(folder: str, problems: list[Problem], suffix: str = "") -> _Listed:
    """Return what is in a folder under names with that ending: folders and regular files, links followed."""
    listed = _Listed([], [])
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(suffix):
                    continue
                try:
                    facts = entry.stat()
                except OSError as error:
                    problems.append(Problem(Path(folder, name), error.strerror or str(error)))
                    continue
                if stat.S_ISDIR(facts.st_mode):
                    listed.folders.append(name)
                elif stat.S_ISREG(facts.st_mode):
                    size, mtime_ns, inode = facts.st_size, facts.st_mtime_ns, facts.st_ino
                    listed.files.append(FoundFile(folder, name, size, mtime_ns, inode, entry.is_symlink()))
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(Problem(Path(folder), error.strerror or str(error)))
    return listed
