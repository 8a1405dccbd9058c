"""Pi's `keybindings.json`: which keys a person gave to Pi's actions.

The file is an object from an action's id to a key or a list of keys. What Pi's own reader passes over is
passed over here as well, and said: Pi itself says nothing.
"""

import errno
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import parse_value
from pitree.sessions.text import one_line

_MAX_BYTES: Final = 1 << 14
_BOM: Final = b"\xef\xbb\xbf"

FORMER_IDS: Final[Mapping[str, str]] = {
    "cursorLeft": "tui.editor.cursorLeft",
    "cursorRight": "tui.editor.cursorRight",
    "selectUp": "tui.select.up",
    "selectDown": "tui.select.down",
    "selectPageUp": "tui.select.pageUp",
    "selectPageDown": "tui.select.pageDown",
    "selectConfirm": "tui.select.confirm",
    "selectCancel": "tui.select.cancel",
    "toggleSessionNamedFilter": "app.session.toggleNamedFilter",
    "toggleSessionPath": "app.session.togglePath",
    "toggleSessionSort": "app.session.toggleSort",
    "renameSession": "app.session.rename",
    "deleteSession": "app.session.delete",
    "treeFoldOrUp": "app.tree.foldOrUp",
    "treeUnfoldOrDown": "app.tree.unfoldOrDown",
    "treeEditLabel": "app.tree.editLabel",
    "treeToggleLabelTimestamp": "app.tree.toggleLabelTimestamp",
}
"""What Pi called those of its actions that lists have, before they had the ids of today."""


class WantedKeys(NamedTuple):
    """Somebody wants the action `id` on the keys `names`, as they wrote them; none: on no key.

    `where` says which file and line, safe to print; `pi` whether that is Pi's own.
    """

    id: str
    names: tuple[str, ...]
    where: str
    pi: bool = False


class Keybindings(NamedTuple):
    """What the file says, and what is wrong with it (safe to print)."""

    wanted: tuple[WantedKeys, ...] = ()
    problems: tuple[str, ...] = ()


def key_names(value: object) -> tuple[str, ...] | None:
    """Return the keys that a setting names: one, or a list of them; None where it is neither."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(dict.fromkeys(value))
    return None


def place_in(file: str, text: str, pattern: str) -> str:
    """Return `file` and the line on which `pattern` is first found in `text`, if it is."""
    found = re.search(pattern, text, re.MULTILINE)
    return f"{file}, line {text.count(chr(10), 0, found.start()) + 1}" if found else file


def read_small(path: Path, *, any_kind: bool = False) -> bytes | None:
    """Return what is in a file that people write, or None if it is over 16 kB.

    Raises OSError where it cannot be read; also for what is no regular file, unless `any_kind`: a pipe would
    keep the start waiting for ever, and a device may have no end.
    """
    mode = path.stat().st_mode
    if not (any_kind or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # folders are refused below
        raise OSError(errno.EINVAL, "not a regular file, so it was not read")
    with path.open("rb") as file:
        data = file.read(_MAX_BYTES + 1)
    return None if len(data) > _MAX_BYTES else data


def read_keybindings(path: Path, shown: str) -> Keybindings:
    """Read the file at `path`, which messages call `shown` (safe). What is wrong costs itself only."""
    try:
        data = read_small(path)
    except OSError as error:
        return Keybindings(problems=(f"{shown}: {error.strerror or error}",))
    if data is None:
        return Keybindings(problems=(f"{shown}: over 16 kB, so it was not read",))
    raw = data.removeprefix(_BOM)
    try:
        value = parse_value(raw)
        text = raw.decode()
    except (LineError, ValueError) as error:
        return Keybindings(
            problems=(f"{shown}: no JSON ({one_line(str(error), 200)}), so it does not count",)
        )
    if not isinstance(value, dict):
        return Keybindings(problems=(f"{shown}: not an object from actions to keys, so it does not count",))
    wanted, problems = [], []
    for written, keys in value.items():
        action_id = FORMER_IDS.get(written, written)
        if written == "$schema" or (action_id != written and action_id in value):
            continue
        where = place_in(shown, text, rf'"{re.escape(written)}"\s*:')
        names = key_names(keys)
        if names is None:
            told = one_line(written, 60)
            problems.append(f"{where}: {told} takes a key or a list of keys, so this does not count")
        else:
            wanted.append(WantedKeys(action_id, names, where, pi=True))
    return Keybindings(tuple(wanted), tuple(problems))
