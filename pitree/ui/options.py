"""What the screen is started with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pitree.catalog.locations import Store
from pitree.ui.ahead import is_folder
from pitree.ui.keys import USUAL_KEYS, KeyTable

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.arrange import Scope
    from pitree.sessions.glimpse import Glimpse
    from pitree.sessions.helper import Helper
    from pitree.ui.ahead import FirstRows


class Options(msgspec.Struct, frozen=True):
    """`file` is the session to open on; `pi` the program that `--pi` names; `clock` gives Unix seconds.

    `state_dir` is where pitree remembers things for the next time, `cache_dir` where it keeps what it read;
    with None it forgets them. With `poll` no file system events are asked for. `glimpse` and `helper` are
    what was begun of reading a long `file` while the screen was still being made, `first_rows` likewise of
    the list.

    `keys` are the person's; `theme_is_set` says that the settings name one. `scope` is the one to begin with
    (None: as it was left), `returning` has pitree come back when a Pi ends, `following` has the highlight go
    with the leaf. `problems` say what is wrong with the settings, each safe to print.
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
    keys: KeyTable = USUAL_KEYS
    theme: str | None = None
    theme_is_set: bool = False
    scope: Scope | None = None
    returning: bool = False
    following: bool = True
    problems: tuple[str, ...] = ()
