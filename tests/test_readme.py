"""The README tells the truth: its keys are the program's, its commands are there."""

import re
import shlex
from pathlib import Path

from pitree.parsers import ALL_COMMANDS
from pitree.settings import SETTINGS, Settings
from pitree.settings_file import read_file
from pitree.ui.keys import markdown_marks, markdown_table
from pitree.ui.own_keys import own_keys
from pitree.ui.themes import check_theme

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_keys_are_those_of_the_program() -> None:
    shown = README.partition("<!-- keys -->\n")[2].partition("\n<!-- /keys -->")[0]
    assert shown == markdown_table(), "put the output of pitree.ui.keys.markdown_table() there"


def test_the_marks_are_those_of_the_program() -> None:
    assert f"\n\n{markdown_marks()}\n\n" in README, "put the output of pitree.ui.keys.markdown_marks() there"


def test_the_settings_shown_are_right(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(README.partition("```toml\n")[2].partition("```")[0])
    read = read_file(file, "README", Settings(file), named=False, with_keys=True)
    assert not read.problems
    assert set(read.values) == {setting.field for setting in SETTINGS}
    assert not check_theme(None, read)
    assert len(read.keys) >= 3
    assert not own_keys(read.keys).problems


def test_every_command_is_told() -> None:
    for name in ALL_COMMANDS:
        assert f"pitree {name}" in README


def test_the_pictures_exist() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)


def test_the_two_commands_stand_alone() -> None:
    blocks = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert len(blocks) == 2
    for block in blocks:
        assert shlex.split(block)[0] == "python3"
