"""Pi's keys and its `keybindings.json`, as Pi itself reads them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

from pitree.agent.keybindings import FORMER_IDS, WantedKeys, read_keybindings
from pitree.ui.alt_keys import teach_alt_keys
from pitree.ui.keys import USUAL_KEYS, KeyTable
from pitree.ui.own_keys import own_keys, textual_names

from .oracle import Oracle

SHARED = {key.id: key for section in USUAL_KEYS for key in section if key.id.startswith(("app.", "tui."))}

# Pi's lists are left with Ctrl+C, pitree with it altogether.
DEVIATIONS = {"tui.select.cancel": {"ctrl+c"}}


def pis(oracle: Oracle, path: Path) -> dict[str, list[str]]:
    return cast("dict[str, list[str]]", oracle.ask({"op": "keybindings", "path": str(path)}))


def in_textual(keys: list[str]) -> set[str]:
    return {name for key in keys for name in textual_names(key) or ("no key",)}


def test_where_pi_has_a_key_it_is_the_same_here(oracle: Oracle, tmp_path: Path) -> None:
    theirs = pis(oracle, tmp_path / "none.json")
    assert len(SHARED) >= 20
    for action_id, key in SHARED.items():
        missing = in_textual(theirs[action_id]) ^ set(key.names)
        assert missing == DEVIATIONS.get(action_id, set()), action_id


def ours(path: Path, table: KeyTable | None = None) -> dict[str, set[str]]:
    table = table or own_keys(read_keybindings(path, "keybindings.json").wanted).table
    return {key.id: set(key.names) for section in table for key in section if key.id in SHARED}


FILES: dict[str, Any] = {
    "new ids": {"app.tree.filter.all": "ctrl+e", "app.session.rename": ["f2", "shift+ctrl+r"]},
    "former ids": {"selectUp": ["up", "ctrl+k"], "treeEditLabel": "shift+b", "toggleSessionSort": "f6"},
    "both": {"renameSession": "f2", "app.session.rename": "f3"},
    "no keys": {"app.session.delete": []},
    "odd values": {
        "app.session.rename": 5,
        "app.session.delete": ["f8", 5],
        "app.tree.foldOrUp": "ctl+left",
        "app.tree.unfoldOrDown": ["f7", "nonsense"],
        "app.session.togglePath": "ctrl+ctrl+p",
        "app.message.copy": "ctrl+shift+alt+super+c",
        "$schema": "https://example.invalid/",
        "somebody.elses": "f9",
    },
    "symbols": {"tui.select.pageUp": ["ctrl+-", "alt+/"], "tui.select.pageDown": ["ctrl++", "#"]},
    "no object": [1, 2],
    "null": None,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_pi_reads_it(oracle: Oracle, tmp_path: Path, name: str) -> None:
    path = tmp_path / "keybindings.json"
    path.write_text(json.dumps(FILES[name]))
    theirs = pis(oracle, path)
    assert FILES[name] is None or path.exists()
    changed = {
        action_id
        for action_id in SHARED
        if set(theirs[action_id]) != set(pis(oracle, tmp_path / "none.json")[action_id])
    }
    usual = ours(path, USUAL_KEYS)
    for action_id, keys in ours(path).items():
        expected = in_textual(theirs[action_id]) if action_id in changed else usual[action_id]
        taken = {name for other in changed - {action_id} for name in in_textual(theirs[other])}
        assert keys == (expected if action_id in changed else expected - taken), action_id


def test_a_file_that_is_none(oracle: Oracle, tmp_path: Path) -> None:
    path = tmp_path / "keybindings.json"
    for content in (b"{", b'{"app.session.rename": "f2"}\xff', b"", b"// {}\n{}"):
        path.write_bytes(content)
        assert set(pis(oracle, path)["app.session.rename"]) <= {"ctrl+r", "f2"}
        read = read_keybindings(path, "keybindings.json")
        assert not read.wanted
        assert len(read.problems) == 1
    path.write_bytes(b'\xef\xbb\xbf{"app.session.rename": "f2"}')
    assert pis(oracle, path)["app.session.rename"] == ["f2"]
    assert ours(path)["app.session.rename"] == {"f2"}


def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "keybindings.json"
    os.mkfifo(pipe)
    said = read_keybindings(pipe, "keys").problems
    assert said == ("keys: not a regular file, so it was not read",)


def test_former_ids_are_those_that_pi_knows(oracle: Oracle, tmp_path: Path) -> None:
    path = tmp_path / "keybindings.json"
    path.write_text(json.dumps(dict.fromkeys(FORMER_IDS, "f11")))
    theirs = pis(oracle, path)
    assert all(theirs[action_id] == ["f11"] for action_id in FORMER_IDS.values())
    assert set(FORMER_IDS.values()) <= set(SHARED)


# What terminals send without a keyboard protocol, and with one, for keys that somebody may choose.
PRESSED = [
    ("\x12", "ctrl+r"),
    ("\x1b[114;5u", "ctrl+r"),
    ("L", "shift+l"),
    ("\x1b[108;2u", "shift+l"),
    ("\x1b[111;6u", "ctrl+shift+o"),
    ("\x1b[111;6u", "shift+ctrl+o"),
    ("\x1bx", "alt+x"),
    ("\x1b[120;3u", "alt+x"),
    ("\x1bf", "alt+f"),
    ("\x1b1", "alt+1"),
    ("\x1b/", "alt+/"),
    ("\x1b[47;3u", "alt+/"),
    ("\x1b\x10", "ctrl+alt+p"),
    ("\x1b[112;7u", "alt+ctrl+p"),
    ("\x1b[112;4u", "alt+shift+p"),
    ("\x1b\x7f", "alt+backspace"),
    ("\x1b\r", "alt+enter"),
    ("\x1b[13;3u", "alt+enter"),
    ("\x1b[13;2u", "shift+enter"),
    ("\x1b[127;5u", "ctrl+backspace"),
    ("\x1f", "ctrl+-"),
    ("\x1b[45;5u", "ctrl+-"),
    ("\x1d", "ctrl+]"),
    ("\x1b[93;5u", "ctrl+]"),
    ("\x00", "ctrl+space"),
    ("\x1b[32;5u", "ctrl+space"),
    ("\x1b[107;9u", "super+k"),
    ("\x1b[1;2P", "shift+f1"),
    ("\x1bOP", "f1"),
    ("\x1b[15~", "f5"),
    ("\x1b[5~", "pageUp"),
    ("\x1b[6;5~", "ctrl+pageDown"),
    ("\x1b[3~", "delete"),
    ("\x1b[1;6A", "ctrl+shift+up"),
    ("\x1b[1;3B", "alt+down"),
    ("\x1b[H", "home"),
    ("\x1b[27u", "escape"),
    ("\t", "tab"),
    ("\x1b[Z", "shift+tab"),
    ("#", "#"),
    ("?", "?"),
]


@pytest.fixture
def textual_as_before() -> Iterator[None]:
    """Leave Textual's table of sequences as it was."""
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)
    before = dict(table)
    yield
    table.clear()
    table.update(before)


@pytest.mark.usefixtures("textual_as_before")
def test_a_key_is_what_pi_takes_for_it(oracle: Oracle) -> None:
    keys = sorted({key for _, key in PRESSED})
    theirs = cast(
        "list[list[str]]",
        oracle.ask({"op": "pressed", "sequences": [sequence for sequence, _ in PRESSED], "keys": keys}),
    )
    wanted = [WantedKeys("app.session.rename", (key,), "test") for key in keys]
    for wish in wanted:
        teach_alt_keys(own_keys([wish]).table)
    for (sequence, key), taken_for in zip(PRESSED, theirs, strict=True):
        assert key in taken_for, f"Pi takes {sequence!r} for {taken_for}"
        found = XTermParser(debug=False).feed(sequence)
        (pressed,) = (event for event in found if isinstance(event, events.Key))
        assert pressed.key in (textual_names(key) or ()), f"{sequence!r} is {pressed.key} for Textual"
