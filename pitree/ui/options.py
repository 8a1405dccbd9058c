"""What the screen is started with."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pitree.agent.launch import working_directory
from pitree.catalog.locations import Store
from pitree.sessions.glimpse import Glimpse
from pitree.sessions.helper import Helper


@dataclass(frozen=True, slots=True)
class Options:
    """`file` is the session to open on; `pi` the program that `--pi` names; `clock` gives Unix seconds.

    `state_dir` is where pitree remembers things for the next time, `cache_dir` where it keeps what it read;
    with None it forgets them. With `poll` no file system events are asked for. `glimpse` and `helper` are
    what was begun of reading a long `file` while the screen was still being made.
    """

    store: Store
    cwd: Path
    file: Path | None = None
    everything: bool = False
    pi: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    is_folder: Callable[[str], bool] = lambda path: working_directory(path) is not None
    demo: bool = False
    read_only: bool = False
    state_dir: Path | None = None
    glimpse: Glimpse | None = None
    helper: Helper | None = None
    cache_dir: Path | None = None
    poll: bool = False
