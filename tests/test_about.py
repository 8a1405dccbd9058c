"""`pitree config` and `pitree version`: what holds, and what a report of a defect needs."""

import json
import tomllib
from pathlib import Path

import pytest
from commandline import Run

from pitree import __version__
from pitree.about_commands import example, pi_version
from pitree.agent.keybindings import WantedKeys
from pitree.settings import SETTINGS
from pitree.settings_file import _flat
from pitree.ui.keys import USUAL_KEYS
from pitree.ui.own_keys import own_keys


def uncommented() -> str:
    """Return the example with every setting and key said."""
    lines = [line.removeprefix("# ") if " = " in line else line for line in example()]
    return "\n".join(lines)


def test_the_example_says_what_holds_without_it() -> None:
    said = tomllib.loads(uncommented())
    keys = said.pop("keys")
    assert set(said) == {setting.name for setting in SETTINGS}
    for setting in SETTINGS:
        assert setting.accepts(said[setting.name])
        assert setting.usual in {None, said[setting.name]}
    wishes = [
        WantedKeys(action_id, tuple([value] if isinstance(value, str) else value), "example")
        for action_id, value in _flat(keys)
    ]
    assert len(wishes) == len({key.id for section in USUAL_KEYS for key in section})
    table, problems, _ = own_keys(wishes)
    assert not problems
    for before, after in zip(USUAL_KEYS, table, strict=True):
        assert [(key.id, set(key.names)) for key in before] == [(key.id, set(key.names)) for key in after]
    assert tomllib.loads("\n".join(example())) == {"keys": {}}


def test_the_example_is_printed(pitree: Run, work: Path) -> None:
    done = pitree("config", "--example")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == list(example())
    (work / "all.toml").write_text(done.out)
    assert pitree("config", "--config", "all.toml").code == 0


def test_config_tells_what_holds_and_what_is_wrong(pitree: Run, work: Path) -> None:
    (work / "own.toml").write_text(
        'scope = "all"\npoll = 3\n[keys]\nundo = "f9"\nroot = "ctrl+i"\nleaf = "f9f"\n'
    )
    agent = work.parents[1] / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "keybindings.json").write_text('{"app.session.rename": "f2", "app.model.select": "f3"}')
    done = pitree("config", "--config", "own.toml")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "settings: ~/code/paperboy/own.toml"
    assert lines[1] == "Pi's keys: ~/.pi/agent/keybindings.json"
    assert 'scope = "all"' in lines
    assert "poll = false  (as usual)" in lines
    assert "key undo: F9" in lines
    assert "key app.session.rename: F2" in lines
    assert "key leaf: Alt+L" in lines
    assert lines[-1].startswith("note: ~/code/paperboy/own.toml, line 5: Ctrl+I is Tab")
    assert len(done.err.splitlines()) == 2
    told = json.loads(pitree("config", "--config", "own.toml", "--json").out)
    assert told["keys"] == {
        "app.session.rename": ["F2"],
        "undo": ["F9"],
        "root": ["Ctrl+I"],
        "leaf": ["Alt+L"],
    }
    assert told["settings"]["scope"] == "all"
    assert told["settings"]["poll"] is False
    assert len(told["problems"]) == 2


def test_config_without_any(pitree: Run) -> None:
    done = pitree("config")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("settings: ~/.config/pitree/config.toml (not there")
    assert "--no-config" in pitree("config", "--no-config").out


# ---- version


def test_version_is_one_line(pitree: Run) -> None:
    done = pitree("--version")
    assert (done.code, done.out, done.err) == (0, f"pitree {__version__}\n", "")


def test_version_tells_what_matters(pitree: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = work / "node_modules" / "@earendil-works" / "pi-coding-agent"
    (package / "dist").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@earendil-works/pi-coding-agent", "version": "9.8.7"}')
    (package / "dist" / "cli.js").write_text("#!/usr/bin/env false\n")
    (package / "dist" / "cli.js").chmod(0o755)
    (work / "bin").mkdir()
    (work / "bin" / "pi").symlink_to(package / "dist" / "cli.js")
    monkeypatch.setenv("PATH", str(work / "bin"))
    monkeypatch.setenv("TERM", "xterm-\x1b[31mred")
    monkeypatch.setenv("TMUX", "/somewhere/private,1,2")
    told = pitree("version", "--json").document
    assert told["pitree"] == __version__
    assert told["Pi"] == "9.8.7 (~/code/paperboy/bin/pi)"
    assert told["terminal"].startswith("xterm-␛[31mred")
    assert "in tmux" in told["terminal"]
    assert told["store"] == "~/.pi/agent/sessions (default)"
    assert not {"orjson", "textual", "Python", "platform", "settings", "cache", "state"} - set(told)
    text = pitree("version").out
    assert "/somewhere/private" not in text
    assert str(work.parents[1]) not in text, "the home directory stays private"
    assert [line.partition(":")[0] for line in text.splitlines()] == list(told)


def test_a_pi_that_cannot_be_found_or_told(pitree: Run, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(work))
    assert pitree("version", "--json").document["Pi"].startswith("not found: pi cannot be run")
    for content in (b"{", b"[]", b'{"name": "@earendil-works/pi-coding-agent", "version": 5}'):
        (work / "package.json").write_bytes(content)
        assert pi_version(work / "pi") is None
