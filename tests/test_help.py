"""`--help` stands alone, and its examples can be run."""

import re
import shlex
from collections.abc import Iterator

import pytest
from commandline import Run

from pitree.help_texts import epilog
from pitree.parsers import ALL_COMMANDS, command_of, screen_arguments


def examples() -> Iterator[str]:
    for name in ("", *ALL_COMMANDS):
        told = epilog(f"pitree {name}".strip())
        found = re.findall(r"^  (pitree.*?)(?:   +.*)?$", told, re.MULTILINE)
        assert found, f"{name} has no examples"
        yield from found


@pytest.mark.parametrize("example", list(examples()))
def test_an_example_is_a_right_call(example: str) -> None:
    words = shlex.split(re.split(r" [|>] ", example)[0])[1:]
    if words and words[0] in ALL_COMMANDS:
        command_of(words[0])[0].parse_intermixed_args(words[1:])
    else:
        screen_arguments(words)


@pytest.mark.parametrize("name", ["", *ALL_COMMANDS])
def test_help_is_whole(pitree: Run, name: str) -> None:
    done = pitree(*name.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert "examples:" in done.out
    assert max(map(len, done.out.splitlines())) <= 120
    assert "%(" not in done.out


def test_the_whole_names_every_command(pitree: Run) -> None:
    told = pitree("--help").out
    assert all(f"\n  pitree {name}" in told for name in ALL_COMMANDS)
    assert "exit codes:" in told
    assert "PI_CODING_AGENT_DIR" in told
    assert "config.toml" in told
