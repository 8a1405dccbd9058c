"""The settings file: what counts, what is wrong with it, and what the command line makes of it."""

import os
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commandline import Run, Store, talk
from hypothesis import given
from hypothesis import strategies as st

from pitree.settings import SETTINGS, Settings, config_file, fill_in, read_settings
from pitree.ui.keys import USUAL_KEYS
from pitree.ui.own_keys import own_keys
from pitree.ui.starting import own_options
from pitree.ui.themes import UnknownThemeError

NOTHING: dict[str, Any] = {setting.field: None for setting in SETTINGS} | {"config": None, "no_config": False}


@pytest.fixture
def file(home: Path) -> Path:
    made = home / ".config" / "pitree" / "config.toml"
    made.parent.mkdir(parents=True)
    return made


def read(**said: object) -> Settings:
    return read_settings(Namespace(**(NOTHING | said)), os.environ, Path("/"))


def options(environ: dict[str, str] | None = None, **said: object) -> dict[str, Any]:
    args = Namespace(**(NOTHING | said))
    made = own_options(args, read_settings(args, os.environ, Path("/")), environ or {})
    return made | {"pi": args.pi, "poll": args.poll, "read_only": args.read_only}


def test_without_a_file_everything_is_as_usual(home: Path) -> None:
    assert read() == Settings(home / ".config/pitree/config.toml")
    assert options() == {
        "keys": USUAL_KEYS,
        "theme": None,
        "theme_is_set": False,
        "scope": None,
        "returning": False,
        "following": True,
        "problems": (),
        "pi": None,
        "poll": False,
        "read_only": False,
    }


WHOLE = """\
theme = "nord"
pi = "mine --fast"
resume = "return"
scope = "repository"
follow = false
poll = true
read-only = true
[keys]
undo = "f9"
app.session.rename = "f2"
"tui.select.up" = ["up", "alt+k"]
"""


def test_every_setting_counts(file: Path) -> None:
    file.write_text(WHOLE)
    made = options()
    keys = made.pop("keys")
    assert made == {
        "theme": "nord",
        "theme_is_set": True,
        "scope": "repository",
        "returning": True,
        "following": False,
        "problems": (),
        "pi": "mine --fast",
        "poll": True,
        "read_only": True,
    }
    assert keys.shown("undo") == "F9"
    assert keys.shown("app.session.rename") == "F2"
    assert {key.id: key.keys for key in keys.lists}["tui.select.up"] == "up,alt+k"
    assert "come back" in {key.id: key.help for key in keys.sessions}["tui.select.confirm"]


def test_the_command_line_counts_for_more(file: Path) -> None:
    file.write_text(WHOLE)
    said: dict[str, Any] = {
        "theme": "dracula",
        "pi": "pi",
        "resume": "replace",
        "scope": "all",
        "follow": True,
        "poll": False,
    }
    made = options(**said, read_only=False)
    assert made["theme"] == "dracula"
    assert made["pi"] == "pi"
    assert made["scope"] == "everything"
    assert made["following"]
    assert not made["returning"]
    assert not made["poll"]
    assert not made["read_only"]


def test_so_does_the_environment_for_pi(file: Path) -> None:
    file.write_text(WHOLE)
    assert options({"PITREE_PI": "other"})["pi"] is None


def test_another_file_or_none(file: Path, tmp_path: Path) -> None:
    file.write_text(WHOLE)
    (tmp_path / "other.toml").write_text('theme = "dracula"')
    assert options(config=str(tmp_path / "other.toml"))["theme"] == "dracula"
    assert options(no_config=True)["theme"] is None
    (problem,) = options(config=str(tmp_path / "nowhere.toml"))["problems"]
    assert problem.endswith("nowhere.toml: No such file or directory")


def test_the_folder_of_the_settings(home: Path) -> None:
    assert config_file({"XDG_CONFIG_HOME": "/elsewhere"}) == Path("/elsewhere/pitree/config.toml")
    assert config_file({"XDG_CONFIG_HOME": "relative"}) == home / ".config/pitree/config.toml"


F = "~/.config/pitree/config.toml"

WRONG: dict[str, tuple[str, list[str]]] = {
    "no TOML": (
        'theme = "nord"\npoll = yes\n',
        [f"{F}: no TOML: Invalid value (at line 2, column 8); nothing in it counts"],
    ),
    "a wrong type": ("\npoll = 1\n", [f"{F}, line 2: poll is true or false, not 1; it counts as false"]),
    "a wrong choice": (
        'scope = "everywhere"',
        [f'{F}, line 1: scope is "here" or "repository" or "all", not "everywhere"'],
    ),
    "an empty text": ('pi = " "', [f'{F}, line 1: pi is a text, not " "']),
    "an unknown name": ('thme = "nord"', [f"{F}, line 1: there is no setting thme; did you mean theme?"]),
    "an underscore": (
        "read_only = true",
        [f"{F}, line 1: there is no setting read_only; did you mean read-only?"],
    ),
    "nothing like any": (
        "# x\nzzz = 1",
        [f"{F}, line 2: there is no setting zzz; `pitree config --example` shows them all"],
    ),
    "an unknown theme": (
        'poll = true\ntheme = "norrd"',
        [f"{F}, line 2: norrd is no theme; did you mean nord?; it counts as not said"],
    ),
    "keys that are none": (
        "keys = 5",
        [f"{F}, line 1: keys is a table: [keys], and a line for each action below it"],
    ),
    "a key of a wrong type": (
        "[keys]\nundo = 5",
        [f'{F}, line 2: undo takes a key such as "ctrl+x", or a list of keys'],
    ),
    "an unknown action": (
        '[keys]\nundoo = "f9"',
        [f"{F}, line 2: there is no action undoo; did you mean undo?"],
    ),
    "an unknown key": (
        '[keys]\nundo = "ctlr+z"',
        [f"{F}, line 2: ctlr+z is no key; did you mean ctrl+z? (undo keeps the keys it has)"],
    ),
    "a conflict": (
        '[keys]\nroot = "f9"\nparent = "f9"',
        [f"{F}, line 3: F9 is for parent and for root in Tree; it does root"],
    ),
    "an escape sequence": (
        '"\\u001b[2J" = 1',
        [f"{F}: there is no setting ␛[2J; `pitree config --example` shows them all"],
    ),
    "not UTF-8": ("theme = \udcff", [f"{F}: not UTF-8 (byte 8), so it does not count"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_and_the_rest_holds(file: Path, name: str) -> None:
    text, problems = WRONG[name]
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    made = options()
    assert list(made["problems"]) == problems
    whole = name not in {"no TOML", "not UTF-8"}
    if whole:
        file.write_text('resume = "return"\n' + text)
        assert options()["returning"]


def test_a_folder_in_its_place_is_said(home: Path) -> None:
    (home / ".config" / "pitree" / "config.toml").mkdir(parents=True)
    assert options()["problems"] == (f"{F}: Is a directory",)


def test_tables_within_each_other_without_end(file: Path) -> None:
    file.write_text("[keys]\na = " + "{b = " * 3000 + "1" + "}" * 3000)
    assert len(options()["problems"]) == 1
    file.write_text(f"[keys.{'.'.join(['a'] * 2000)}]\nb = 1")
    assert len(options()["problems"]) == 1


def test_nobody_waits_for_a_pipe_that_was_not_named(file: Path) -> None:
    os.mkfifo(file)
    assert read().problems == ("~/.config/pitree/config.toml: not a regular file, so it was not read",)


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_text, 'theme = "nord"')
        assert read(config=pipe).values == {"theme": "nord"}


def test_what_has_no_end_is_not_read_to_it() -> None:
    assert read(config="/dev/zero").problems == ("/dev/zero: over 16 kB, so it was not read",)


def test_a_number_of_thousands_of_digits(file: Path) -> None:
    file.write_text(f"x = {'1' * 5000}")
    (problem,) = read().problems
    assert problem.startswith("~/.config/pitree/config.toml: no TOML: ")


def test_neither_does_a_large_file(file: Path) -> None:
    file.write_text("\n".join(f"a{number} = 1" for number in range(1500)))
    assert len(options()["problems"]) == 1500
    file.write_text("# x\n" * 20_000)
    assert options()["problems"] == (f"{F}: over 16 kB, so it was not read",)


@given(st.text(max_size=60) | st.lists(st.sampled_from(WHOLE.splitlines()), max_size=6).map("\n".join))
def test_no_file_stops_anybody(text: str) -> None:
    from pitree.settings_file import read_file

    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"pitree-settings-{os.getpid()}.toml"  # noqa: S108
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_in = read_file(path, "config.toml", Settings(path), named=False, with_keys=True)
    finally:
        path.unlink()
    merged = own_keys(read_in.keys)
    args = Namespace(**NOTHING)
    fill_in(args, read_in, {})
    assert args.resume in {"replace", "return"}
    assert all(problem.isprintable() for problem in (*read_in.problems, *merged.problems))
    assert any(key.keys for key in merged.table.everywhere if key.id == "quit")


@pytest.mark.usefixtures("home")
def test_an_unknown_theme_on_the_command_line_is_an_error() -> None:
    with pytest.raises(UnknownThemeError, match="--theme norrd is no theme; did you mean nord"):
        options(theme="norrd")


# ---- commands


def test_settings_count_for_commands_too(file: Path, pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    file.write_text("read-only = true\npoll = 5")
    done = pitree("name", str(path), "Tea")
    assert done.code == 1
    first, second = done.err.splitlines()
    assert first == f"pitree: {F}, line 2: poll is true or false, not 5; it counts as false"
    assert "read-only" in second
    assert pitree("name", str(path), "Tea", "--no-read-only").code == 0
    assert pitree("name", str(path), "Tea", "--no-config").code == 0
    assert pitree("list").err == "", "what needs no settings says nothing of them"


def test_the_program_to_resume_with(file: Path, pitree: Run, store: Store, work: Path) -> None:
    store.add(talk(work))
    file.write_text('pi = "/nowhere/mine"')
    assert "/nowhere/mine cannot be run (from --pi or the settings)" in pitree("resume").error
