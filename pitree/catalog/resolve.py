"""From what a person names a session by to its file: a path, an id, the beginning of an id."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pitree.catalog.errors import SessionNotFoundError
from pitree.catalog.header import read_header
from pitree.catalog.locations import FoundFile, Store, session_paths
from pitree.sessions.text import display

_SHOWN: Final = 5


def resolve_session(argument: str, store: Store, cwd: Path) -> Path:
    r"""Return the absolute path of the session that `argument` names.

    A path is anything with a `/` or `\`, anything that ends in `.jsonl`, and the name of a file in `cwd`;
    everything else is an id of the store or the beginning of exactly one. Only headers are read.

    Raises SessionNotFoundError when there is no such file or id, or more than one.
    """
    path = Path(os.path.abspath(os.path.join(cwd, os.path.expanduser(argument))))  # noqa: PTH100, PTH111, PTH118
    looks_like_path = "/" in argument or "\\" in argument or argument.endswith(".jsonl")
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (OSError, ValueError):
        kind = None
    if kind == stat.S_IFREG:
        return path
    if looks_like_path:
        reason = "does not exist" if kind is None else "is not a file"
        raise SessionNotFoundError(
            f"{display(str(path))} {reason}; give the path of a session file or the beginning of an id"
        )
    return _by_id(argument, store)


def _by_id(argument: str, store: Store) -> Path:
    place = f"{display(str(store.root))} ({store.source})"
    if not argument.strip():
        raise SessionNotFoundError("no session was named; give a path, or the beginning of a session's id")
    files = session_paths(store)
    exact: list[tuple[str, FoundFile]] = []
    found: list[tuple[str, FoundFile]] = []
    for session_id, file in _ids(files):
        if session_id == argument:
            exact.append((session_id, file))
        elif session_id.startswith(argument):
            found.append((session_id, file))
    matches = exact or found
    if not matches:
        raise SessionNotFoundError(
            f"no session id begins with {display(argument)!r} among {len(files)} files in {place}; "
            "`pitree list --all` shows what there is"
        )
    first = matches[0][1].path
    if all(_same_file(first, file.path) for _, file in matches[1:]):  # reached through links
        return first
    listed = [f"{display(session_id)} ({display(str(file.path))})" for session_id, file in matches[:_SHOWN]]
    if len(matches) > _SHOWN:
        listed.append(f"{len(matches) - _SHOWN} more")
    advice = "give a path instead" if exact else "give more of the id, or a path"
    named = "the id is" if exact else "the id begins with"
    raise SessionNotFoundError(
        f"{len(matches)} sessions in {place}: {named} {display(argument)!r}; {advice}: " + ", ".join(listed)
    )


def _ids(files: Iterable[FoundFile]) -> Iterator[tuple[str, FoundFile]]:
    for file in files:
        try:
            header = read_header(file.path)
        except OSError:
            continue
        if header is not None:
            yield header["id"], file


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
