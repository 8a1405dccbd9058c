"""The whole way in a real terminal: start, search, walk, filter, resume, and back."""

import os
import re
import stat
from pathlib import Path

import pytest

from pitree import demo
from pitree.demo import Demo

from .terminal import PITREE, terminal


@pytest.fixture
def made(tmp_path: Path) -> Demo:
    home = tmp_path / "ada"
    return demo.make(home / ".pi" / "agent", home=home)


@pytest.fixture
def environ(made: Demo, tmp_path: Path) -> dict[str, str]:
    programs = tmp_path / "bin"
    programs.mkdir()
    stand_in = programs / "pi"
    stand_in.write_text(
        "#!/bin/sh\n"
        'echo "PI HERE in $(pwd)"\n'
        'for word in "$@"; do echo "ARG $word"; done\n'
        'echo "PI WAITS"\n'
        "read answer\n"
        'echo "PI ENDS"\n'
    )
    stand_in.chmod(stand_in.stat().st_mode | stat.S_IXUSR)
    root = str(Path(__file__).parents[2])
    return {
        "HOME": str(made.home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": root,
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_CODING_AGENT_DIR": str(made.agent_dir),
    }


def test_from_search_to_pi(made: Demo, environ: dict[str, str]) -> None:
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("Photos that")
        screen.wait("◆")
        screen.type("sunday")
        screen.wait("search: sunday")
        screen.wait(lambda text: "1/1" in text and "Photos that" not in text)
        screen.keys("Tab")
        screen.wait("default")
        screen.keys("C-u")
        screen.wait("user-only")
        screen.keys("C-u", "Up", "Up")
        screen.keys("BTab")
        screen.wait("search: sunday")
        screen.keys("Enter")
        text = screen.wait("PI WAITS")
        assert f"PI HERE in {made.cwd}" in text.replace("\n", "")
        assert "ARG --session" in text
        assert re.search(r"ARG .*019ccc22[^ ]*\.jsonl", text.replace("\n", ""))
        screen.keys("Enter")
        text = screen.wait("PI ENDS")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_to_pi_and_back(made: Demo, environ: dict[str, str]) -> None:
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("C-g")
        screen.wait("PI WAITS")
        screen.keys("C-c")  # in Pi, this is not for us
        screen.wait(lambda text: "Pi ended with code" in text and "◆" in text)
        screen.keys("C-g")
        screen.wait("PI WAITS")
        screen.keys("Enter")
        screen.wait("Back from Pi.")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_a_program_that_cannot_start_gives_the_terminal_back(
    made: Demo, environ: dict[str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken-pi"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with terminal([*PITREE, "--pi", str(broken)], cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("C-g")
        screen.wait("Pi could not be started")
        screen.keys("Tab")  # it still listens
        screen.wait("default")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))


def test_no_pi_gives_the_command(made: Demo, environ: dict[str, str]) -> None:
    command = [*PITREE, "--pi", "no-such-pi"]
    with terminal(command, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("Enter")
        text = screen.wait("Pi was not found")
        assert "no-such-pi --session" in text
        screen.keys("c")
        screen.wait("copied:")


def test_a_folder_that_is_gone_asks(made: Demo, environ: dict[str, str]) -> None:
    with terminal([*PITREE, "--all"], cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.type("epub instead")
        screen.wait("1/1")
        screen.wait("EPUB instead of paper?")
        screen.keys("Enter")
        screen.wait("The session's folder is gone")
        screen.keys("n")
        screen.wait(lambda text: "folder is gone" not in text)
        screen.keys("Enter")
        screen.wait("The session's folder is gone")
        screen.keys("f")
        text = screen.wait("PI WAITS")
        assert "ARG --fork" in text
        assert f"PI HERE in {made.cwd}" in text.replace("\n", "")


def test_sizes_and_resizing(made: Demo, environ: dict[str, str]) -> None:
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        assert {"Sessions", "Tree", "Preview"} <= set(re.findall(r"\w+", screen.screen()))
        screen.resize(100, 30)
        screen.wait(lambda text: "Preview" not in text and "Tree" in text and "Sessions" in text)
        screen.resize(60, 20)
        screen.wait(lambda text: "Tree" not in text and "Sessions" in text)
        screen.resize(20, 5)
        screen.keys("Down", "Tab", "Down", "Tab", "Down", "Tab")
        screen.resize(60, 15)
        screen.wait("Sessions")
        screen.resize(140, 40)
        screen.wait(lambda text: "Preview" in text and "◆" in text)


def test_leaves_every_byte_as_it_was(made: Demo, environ: dict[str, str]) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        files = made.agent_dir.rglob("*")
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files if path.is_file()}

    before = state()
    with terminal([*PITREE, "--all"], cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("Down", "Down", "Down", "Tab", "Up", "C-a", "Tab", "Right", "Down", "Tab")
        screen.wait("Sessions")
        screen.type("paper")
        screen.wait("search: paper")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
    assert state() == before


def test_the_terminal_is_given_back_when_told_to_end(made: Demo, environ: dict[str, str]) -> None:
    with terminal([*PITREE], cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        pid = screen.run("list-panes", "-t", "main", "-F", "#{pane_pid}").strip()
        children = Path(f"/proc/{pid}/task/{pid}/children")
        if not children.exists():
            pytest.skip("this system has no /proc")
        os.kill(int(children.read_text().split()[0]), 15)
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
        assert screen.run("display-message", "-p", "-t", "main", "#{alternate_on}").strip() == "0"
        assert screen.run("display-message", "-p", "-t", "main", "#{mouse_any_flag}").strip() == "0"


def test_the_list_again_as_it_was_left(made: Demo, environ: dict[str, str]) -> None:
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("└─ Four greys")  # the fork below its origin
        screen.keys("C-o", "C-s", "M-g", "C-t")
        text = screen.wait("1 marked")
        assert "newest" in text
        assert "── ~/code/paperboy · 4" in text
        screen.type("has:branches layout")
        screen.wait(lambda text: "search: has:branches layout" in text and "1/1" in text)
        screen.wait("…layout")
        screen.wait("next layout")  # the preview shows the entry that matches
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        text = screen.wait(lambda text: "── ~/code/paperboy · 4" in text and "/10" in text)
        assert "all folders" in text


def test_keys_with_alt(made: Demo, environ: dict[str, str]) -> None:
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("Tab")
        screen.wait("default")
        screen.keys("M-m")
        screen.wait(" Labels ")
        screen.keys("Escape")
        screen.wait(lambda text: " Labels " not in text)
        screen.keys("M-r", "M-j", "M-j")  # faster than an Esc of its own is waited for
        text = screen.wait("label      tones match")
        assert "search:" not in text
