"""Ten sessions of believable work, to try pitree on.

They belong to one person, Ada, whose home is `/home/ada`: a newsletter on e-ink paper, a sync daemon, her
notes, and a spike whose folder is long gone. The files in `store/` are laid out like Pi's agent directory and
are used only through a copy: see `make` and `temporary`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

STORE = Path(__file__).parent / "store"
ADA = PurePosixPath("/home/ada")
START = ADA / "code/paperboy"
GONE = ADA / "scratch/epub-spike"


@dataclass(frozen=True)
class Demo:
    """A copy of the demo store.

    `agent_dir` takes the place of `~/.pi/agent`, `cwd` is the folder to start in, `home` is Ada's home.
    """

    agent_dir: Path
    cwd: Path
    home: Path


def make(target: Path, *, home: Path | None = None, rewrite: bool = True) -> Demo:
    """Copy the store into the agent directory `target`.

    Ada's folders are made under `home` (`target/home` if not given), all but the one that is meant to be
    missing, and the copied sessions are moved there: the names of their folders and, in their header lines,
    `cwd` and `parentSession`. Every other byte stays. With `rewrite=False` nothing changes and no folder is
    made, so that `cwd` and `home` are Ada's own and probably do not exist. Either way a file's mtime is the
    time of its last entry.

    Raises FileExistsError where `target` already has sessions, and OSError where it cannot be written.
    """
    # Pi compares working directories as text, and a process sees its own without symbolic links.
    target = target.resolve()
    copied = target / "sessions"
    copied.mkdir(parents=True)
    if not rewrite:
        for file in _files():
            _put(copied / file.parent.name / file.name, file.read_bytes())
        return Demo(target, Path(START), Path(ADA))
    home = (home or target / "home").resolve()
    headers = {file: _header(file.read_bytes()) for file in _files()}
    folders = {file.parent.name: _folder(_moved(header["cwd"], home)) for file, header in headers.items()}
    for file, header in headers.items():
        if PurePosixPath(header["cwd"]) != GONE:
            _moved(header["cwd"], home).mkdir(parents=True, exist_ok=True)
        header["cwd"] = str(_moved(header["cwd"], home))
        if "parentSession" in header:
            parent = PurePosixPath(header["parentSession"])
            header["parentSession"] = str(copied / folders[parent.parent.name] / parent.name)
        _, rest = file.read_bytes().split(b"\n", 1)
        first = json.dumps(header, separators=(",", ":")).encode()
        _put(copied / folders[file.parent.name] / file.name, first + b"\n" + rest)
    return Demo(target, _moved(str(START), home), home)


@contextmanager
def temporary() -> Iterator[Demo]:
    """Lend a copy in a temporary directory and remove it afterwards, with all that was done to it."""
    # A program that was started in one of the folders may still write there: leftovers are no reason to fail.
    with tempfile.TemporaryDirectory(prefix="pitree-demo-", ignore_cleanup_errors=True) as place:
        home = Path(place) / ADA.name
        yield make(home / ".pi" / "agent", home=home)


def _files() -> list[Path]:
    return sorted(STORE.glob("sessions/*/*.jsonl"))


def _header(content: bytes) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(content.split(b"\n", 1)[0])
    return header


def _moved(cwd: str, home: Path) -> Path:
    return home / PurePosixPath(cwd).relative_to(ADA)


def _folder(cwd: Path) -> str:
    """Name the session folder of a working directory as Pi does."""
    return "--" + re.sub(r"[/\\:]", "-", re.sub(r"^[/\\]", "", str(cwd))) + "--"


def _put(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    moment = _last_moment(content)
    os.utime(file, (moment, moment))


def _last_moment(content: bytes) -> float:
    """Unix seconds of the last line that is whole: one of the sessions ends in the middle of a line."""
    for line in reversed(content.split(b"\n")):
        try:
            return datetime.fromisoformat(json.loads(line)["timestamp"]).timestamp()
        except ValueError:
            continue
    raise ValueError("a session without a single whole line")
