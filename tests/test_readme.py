"""The README tells the truth: its keys are the program's, its commands are there."""

import re
import shlex
from pathlib import Path

from pitree import commands, writing_commands
from pitree.ui.keys import markdown_marks, markdown_table

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_keys_are_those_of_the_program() -> None:
    shown = README.partition("<!-- keys -->\n")[2].partition("\n<!-- /keys -->")[0]
    assert shown == markdown_table(), "put the output of pitree.ui.keys.markdown_table() there"


def test_the_marks_are_those_of_the_program() -> None:
    assert f"\n\n{markdown_marks()}\n\n" in README, "put the output of pitree.ui.keys.markdown_marks() there"


def test_every_command_is_told() -> None:
    for name in (*commands.COMMANDS, *writing_commands.CHANGING, "doctor"):
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
