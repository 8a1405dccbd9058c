"""What the screen is started with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pitree.catalog.locations import Store

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.glimpse import Glimpse
    from pitree.sessions.helper import Helper
    from pitree.ui.ahead import FirstRows


def is_folder(path: str) -> bool:
    """Return whether a session's directory is there to work in."""
    from pitree.agent.launch import working_directory

    return working_directory(path) is not None


class Options(msgspec.Struct, frozen=True):
    """`file` is the session to open on; `pi` the program that `--pi` names; `clock` gives Unix seconds.

    `state_dir` is where pitree remembers things for the next time, `cache_dir` where it keeps what it read;
    with None it forgets them. With `poll` no file system events are asked for. `glimpse` and `helper` are
    what was begun of reading a long `file` while the screen was still being made, `first_rows` likewise of
    the list.
    """

    store: Store
    cwd: Path
    file: Path | None = None
    everything: bool = False
    pi: str | None = None
    environ: Mapping[str, str] = msgspec.field(default_factory=dict)
    clock: Callable[[], float] = time.time
    is_folder: Callable[[str], bool] = is_folder
    demo: bool = False
    read_only: bool = False
    state_dir: Path | None = None
    glimpse: Glimpse | None = None
    helper: Helper | None = None
    cache_dir: Path | None = None
    poll: bool = False
    first_rows: FirstRows | None = None
