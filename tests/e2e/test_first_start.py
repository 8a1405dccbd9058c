"""The first minute on a machine that is not what one would wish for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import Run, process

from pitree.catalog.errors import NoHomeError
from pitree.catalog.locations import agent_dir
from pitree.output import is_utf8

from .terminal import PITREE, terminal

_ROOT = Path(__file__).parents[2]


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(_ROOT),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
    }


def test_nothing_at_all(work: Path, environ: dict[str, str]) -> None:
    with terminal([*PITREE, "--all"], cwd=work, environ=environ, size=(240, 40)) as screen:
        text = screen.wait("No Pi sessions yet.")
        assert "/.pi/agent/sessions" in text
        assert "pitree --demo" in text
        if shutil.which("pi", path=environ["PATH"]) is None:
            assert "npm install -g @earendil-works/pi-coding-agent" in text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"TERM": "dumb"}, "TERM says that this one is dumb; `pitree list`"),
        (
            {"PYTHONIOENCODING": "latin-1"},
            "this terminal's character set is iso8859-1; in one that knows UTF-8",
        ),
    ],
    ids=["dumb", "latin-1"],
)
def test_terminals_that_would_be_littered(
    changed: dict[str, str], said: str, work: Path, environ: dict[str, str]
) -> None:
    with terminal([*PITREE, "--demo"], cwd=work, environ=environ | changed) as screen:
        text = screen.wait(lambda text: text.rstrip().endswith("shell$") and "pitree: " in text)
        assert said in text.replace("\n", "")


@pytest.mark.parametrize(
    "changed",
    [
        {"NO_COLOR": "1"},
        {"TERM": "unheard-of"},
        {"LC_ALL": "C"},
        {"PYTHONIOENCODING": "ascii"},
        {"XDG_STATE_HOME": "/dev/null/state", "XDG_CACHE_HOME": "/dev/null/cache", "HOME": "/dev/null"},
    ],
    ids=["no-colour", "unknown", "posix", "ascii", "nowhere-to-write"],
)
def test_terminals_that_show_it(changed: dict[str, str], work: Path, environ: dict[str, str]) -> None:
    with terminal([*PITREE, "--demo"], cwd=work, environ=environ | changed) as screen:
        text = screen.wait("◆")
        assert "╭─ Sessions" in text
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_where_nothing_can_be_kept(work: Path, environ: dict[str, str], home: Path) -> None:
    shutil.copytree(_ROOT / "pitree" / "demo" / "store", home / ".pi" / "agent", dirs_exist_ok=True)
    changed = {"XDG_STATE_HOME": "/dev/null/state", "XDG_CACHE_HOME": "/dev/null/cache"}
    with terminal([*PITREE, "--all"], cwd=work, environ=environ | changed) as screen:
        screen.wait("◆")
        screen.keys("Tab", "M-o")
        screen.wait("cannot be ")  # kept, with the reason
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_a_terminal_that_is_too_small(work: Path, environ: dict[str, str]) -> None:
    with terminal([*PITREE, "--demo"], cwd=work, environ=environ, size=(20, 5)) as screen:
        screen.wait("Too small: 20x5.")
        screen.resize(60, 20)
        screen.wait(lambda text: "Too small" not in text and "1/10" in text)
        screen.resize(20, 20)
        screen.wait("Too small: 20x20.")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_printing_where_there_is_no_utf8(work: Path) -> None:
    assert work.is_dir()
    for name, shown in (("ascii", b"?????????"), ("latin-1", b"?????????"), ("utf-8", "日本語".encode())):
        printed = subprocess.run(
            [*PITREE, "list", "--demo", "--all"],
            env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONIOENCODING": name},
            capture_output=True,
            check=True,
        )
        assert shown in printed.stdout
        assert printed.stderr == b""
    done = process("--help", env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONIOENCODING": "ascii"})
    assert done.code == 0


@pytest.mark.parametrize("name", ["utf-8", "UTF-8", "utf8", "UTF_8"])
def test_names_of_utf8(name: str) -> None:
    assert is_utf8(name)
    assert not is_utf8("latin-1")


def test_a_user_without_a_home(
    pitree: Run, monkeypatch: pytest.MonkeyPatch
) -> None:  # as in a container that runs under any number
    def nobody(_number: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.delenv("HOME")
    with pytest.raises(NoHomeError, match=r"set HOME to the folder in which .pi is"):
        agent_dir({})
    assert "HOME is not set" in pitree("list").error


def test_help_of_every_command_prints_in_ascii(work: Path) -> None:
    assert work.is_dir()
    script = (
        "import sys\nfrom pitree.cli import main\nfrom pitree.parsers import ALL_COMMANDS\n"
        "for name in ALL_COMMANDS:\n"
        "    try: main([name, '--help'])\n"
        "    except SystemExit as ended: assert ended.code == 0\n"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
