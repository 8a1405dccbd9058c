"""Where Pi keeps its sessions, by Pi's own rules: directories, settings, folders, files.

Everything is taken from the arguments (`environ`, `cwd`), never from the running process, so that the same
question has the same answer whoever asks.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import parse_value

_AGENT_DIR: Final = "PI_CODING_AGENT_DIR"
_SESSION_DIR: Final = "PI_CODING_AGENT_SESSION_DIR"
_SETTINGS: Final = "settings.json"
_BOM: Final = b"\xef\xbb\xbf"
_MAX_SETTINGS_BYTES: Final = 16 << 20
_SEPARATOR: Final = re.compile(r"[/\\:]")


class FoundFile(NamedTuple):
    """A file that may be a session, as the file system has it: `size` in bytes, `mtime_ns` since 1970."""

    path: Path
    size: int
    mtime_ns: int
    inode: int


class Problem(NamedTuple):
    """A file or folder that could not be read, and why; it costs only itself."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Store:
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

    A relative one counts from `cwd` (without it: from the process's working directory).
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

    return Path(pwd.getpwuid(os.getuid()).pw_dir)


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


def session_paths(
    store: Store, cwd: str | None = None, *, problems: list[Problem] | None = None
) -> list[FoundFile]:
    """Return the files that may be sessions, the most recently changed first.

    With `cwd`: those of its folder. A flat root has no folders, so there the rows have to be picked with
    `Store.holds_for` once they are read. Pi looks exactly one level deep, and follows links. What cannot be
    read is left out, and told to `problems`; a root that does not exist is an empty one.
    """
    troubles: list[Problem] = [] if problems is None else problems
    if store.flat:
        folders = [store.root]
    elif cwd is not None:
        folders = [store.root / folder_name(cwd)]
    else:
        folders = [folder.path for folder in _scan(store.root, troubles) if folder.is_folder]
    listed = [file for folder in folders for file in _scan(folder, troubles, ".jsonl")]
    found = [file.found for file in listed if file.found is not None]
    found.sort(key=lambda file: (file.mtime_ns, file.path.name), reverse=True)
    return found


class _Listed(NamedTuple):
    path: Path
    is_folder: bool
    found: FoundFile | None


def _scan(folder: Path, problems: list[Problem], suffix: str = "") -> list[_Listed]:
    """Return what is in a folder under names with that ending: folders and regular files, links followed."""
    listed: list[_Listed] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.endswith(suffix):
                    continue
                path = folder / entry.name
                try:
                    facts = entry.stat()
                except OSError as error:
                    problems.append(Problem(path, error.strerror or str(error)))
                    continue
                if stat.S_ISDIR(facts.st_mode):
                    listed.append(_Listed(path, is_folder=True, found=None))
                elif stat.S_ISREG(facts.st_mode):
                    file = FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)
                    listed.append(_Listed(path, is_folder=False, found=file))
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(Problem(folder, error.strerror or str(error)))
    return listed
