"""Completions: what shells make of the scripts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import Run, Store, talk

from pitree.parsers import ALL_COMMANDS

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 120.0

# The way of Bash itself: the words so far and the place in them go in, what can stand there comes out.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$(complete -p pitree | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Print the scripts, and have a `pitree` that they find."""
    folder = tmp_path_factory.mktemp("completions")
    made = {}
    for shell in ("bash", "zsh", "fish"):
        made[shell] = folder / f"pitree.{shell}"
        done = subprocess.run(
            [sys.executable, "-m", "pitree", "completion", shell],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert not done.stderr
        made[shell].write_bytes(done.stdout)
    program = folder / "pitree"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m pitree "$@"\n')
    program.chmod(0o755)
    return made


def asked(shell: str, scripts: dict[str, Path], *arguments: str, cwd: Path) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [shell, *arguments],
        env={**os.environ, "PATH": f"{scripts[shell].parent}:{os.environ['PATH']}"},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.split("\n") if line]


def in_bash(scripts: dict[str, Path], cwd: Path, *words: str) -> list[str]:
    return asked("bash", scripts, "-c", BASH, "-", str(scripts["bash"]), "pitree", *words, cwd=cwd)


def in_fish(scripts: dict[str, Path], cwd: Path, line: str) -> list[str]:
    command = f"source {scripts['fish']}; complete -C {json.dumps(line)}"
    return [one.partition("\t")[0] for one in asked("fish", scripts, "-c", command, cwd=cwd)]


def test_bash_completes_commands_options_and_choices(scripts: dict[str, Path], work: Path) -> None:
    assert in_bash(scripts, work, "") == list(ALL_COMMANDS)
    assert in_bash(scripts, work, "li") == ["list"]
    assert in_bash(scripts, work, "--sco") == ["--scope"]
    assert in_bash(scripts, work, "--scope", "") == ["here", "repository", "all"]
    assert in_bash(scripts, work, "--theme", "nor") == ["nord"]
    assert in_bash(scripts, work, "tree", "--filter", "n") == ["no-tools"]
    assert in_bash(scripts, work, "completion", "") == ["bash", "zsh", "fish"]


def test_bash_completes_files_and_sessions(scripts: dict[str, Path], store: Store, work: Path) -> None:
    store.add(talk(work, "019ceb8b-1111-7000-8000-000000000001"))
    store.add(talk(work, "0f$(touch gone)-x"))
    (work / "01-notes.jsonl").touch()
    assert in_bash(scripts, work, "tree", "01") == ["01-notes.jsonl", "019ceb8b-1111"]
    assert in_bash(scripts, work, "tree", "0f") == []
    assert not (work / "gone").exists()


def test_fish_completes(scripts: dict[str, Path], store: Store, work: Path) -> None:
    store.add(talk(work, "019ceb8b-1111-7000-8000-000000000001"))
    assert in_fish(scripts, work, "pitree li") == ["list"]
    assert in_fish(scripts, work, "pitree tree --filter n") == ["no-tools"]
    assert in_fish(scripts, work, "pitree tree 019") == ["019ceb8b-1111"]


def test_zsh_takes_the_script(scripts: dict[str, Path], work: Path) -> None:
    asked("zsh", scripts, "-n", str(scripts["zsh"]), cwd=work)
    command = f'autoload -U compinit; compinit -D; eval "$(cat {scripts["zsh"]})"; echo $_comps[pitree]'
    assert asked("zsh", scripts, "-f", "-c", command, cwd=work) == ["_shtab_pitree"]


def test_another_shell_is_a_wrong_call(pitree: Run) -> None:
    done = pitree("completion", "csh")
    assert done.code == 2
    assert "bash" in done.error
