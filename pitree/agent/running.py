"""Whether a Pi is at work on a session right now, as far as this machine tells."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")
_RECENT_SECONDS: Final = 60.0
_PACKAGE: Final = b"pi-coding-agent"


def being_written(
    session_cwd: str,
    last_activity_ms: float | None,
    *,
    clock: Callable[[], float] = time.time,
    processes: Path = _PROCESSES,
) -> str | None:
    """Return in words why an agent seems to be writing to a session, or None.

    `last_activity_ms` is when it last did, see `pitree.sessions.activity`. Pi takes no lock and says nowhere
    which session it has open, so this is a guess: it wrote within the last minute, or a Pi that was there
    when the session was last written runs in its folder.
    """
    if last_activity_ms is None:
        return None
    age = clock() - last_activity_ms / 1000
    if 0 <= age < _RECENT_SECONDS:
        return "the agent wrote to it within the last minute"
    if session_cwd and any(
        started < last_activity_ms / 1000 for started in _running_in(session_cwd, processes)
    ):
        return "a Pi that runs in its folder seems to have it open"
    return None


def _running_in(cwd: str, processes: Path) -> Iterator[float]:
    """Yield the start times (Unix seconds) of the Pi processes that run in a folder."""
    try:
        folders = [entry for entry in os.scandir(processes) if entry.name.isdigit()]
    except OSError:
        return  # not Linux: nothing is known
    for folder in folders:
        try:
            if os.readlink(f"{folder.path}/cwd") == cwd and _is_pi(Path(folder.path)):  # noqa: PTH115
                yield folder.stat().st_mtime
        except OSError:
            continue  # ended meanwhile, or somebody else's


def _is_pi(process: Path) -> bool:
    words = (process / "cmdline").read_bytes().rstrip(b"\0 ").split(b"\0")
    return os.path.basename(words[0]) == b"pi" or any(_PACKAGE in word for word in words[:2])  # noqa: PTH119
