"""Where a command works: which store, and in which folder."""

import os
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pitree.catalog.locations import Store, find_store


class Place(NamedTuple):
    """Where a command works: the store, and the folder that counts as "this folder"."""

    store: Store
    cwd: Path


def place_of(args: Namespace, stack: ExitStack) -> Place:
    """Return where `args` point; a demo store lives as long as `stack`."""
    if args.demo:
        from pitree import demo

        made = stack.enter_context(demo.temporary())
        return Place(Store(made.agent_dir / "sessions", flat=False, source="--demo"), made.cwd)
    cwd = Path(os.path.abspath(args.cwd)) if args.cwd else Path.cwd()  # noqa: PTH100 - links stay, as in Pi
    return Place(find_store(cwd, args.session_dir, os.environ), cwd)


def read_only(parser: ArgumentParser) -> None:
    """Tell a parser of the option that keeps everything as it is."""
    parser.add_argument("--read-only", action=BooleanOptionalAction, help="refuse to change anything")
