from pathlib import Path

import pytest

from pitree.agent import clipboard
from pitree.agent.clipboard import copy_locally


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine without clipboard tools; tests put theirs into this folder."""
    made = tmp_path / "bin"
    made.mkdir()
    monkeypatch.setenv("PATH", f"{made}")
    return made


def tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    path.chmod(0o755)


def keeping(folder: Path, name: str) -> Path:
    """Make a tool that keeps what it was given, after the arguments it was given."""
    kept = folder.parent / f"{name}.kept"
    tool(folder, name, f'printf "%s|" "$@" > "{kept}"; cat >> "{kept}"')
    return kept


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("wl-copy", "|"),
        ("xclip", "-selection|clipboard|"),
        ("xsel", "--clipboard|--input|"),
        ("pbcopy", "|"),
    ],
)
def test_the_tool_that_is_there_gets_the_text(name: str, arguments: str, tools: Path) -> None:
    kept = keeping(tools, name)

    assert copy_locally("cd '/a b' && pi\n日本 \ud83d")
    assert kept.read_bytes() == f"{arguments}cd '/a b' && pi\n日本 ?".encode()


def test_windows_is_told_in_its_own_encoding(tools: Path) -> None:
    kept = keeping(tools, "clip.exe")

    assert copy_locally("日本")
    assert kept.read_bytes() == b"|" + "日本".encode("utf-16-le")


def test_a_tool_that_fails_makes_room_for_the_next(tools: Path) -> None:
    tool(tools, "wl-copy", "exit 1")
    tool(tools, "xclip", "kill -TERM $$")
    (tools / "xsel").write_bytes(b"\x00 no program")
    (tools / "xsel").chmod(0o755)
    kept = keeping(tools, "pbcopy")

    assert copy_locally("text")
    assert kept.read_bytes() == b"|text"


def test_without_a_tool_nothing_is_copied(tools: Path) -> None:
    assert not copy_locally("text")
    tool(tools, "xclip", "exit 1")
    assert not copy_locally("text")


def test_a_tool_that_stays_to_serve_the_text_is_not_waited_for(tools: Path) -> None:
    kept = keeping(tools, "xclip")
    (tools / "xclip").write_text((tools / "xclip").read_text() + "sleep 30 &\n")

    assert copy_locally("text")
    assert kept.read_bytes() == b"-selection|clipboard|text"


def test_a_tool_that_hangs_is_given_up(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "_TIMEOUT_SECONDS", 0.2)
    tool(tools, "wl-copy", "exec sleep 30")
    kept = keeping(tools, "xclip")

    assert copy_locally("text")
    assert kept.exists()


def test_a_tool_that_reads_nothing_is_no_trouble(tools: Path) -> None:
    tool(tools, "wl-copy", "exit 0")

    assert copy_locally("x" * 10_000_000)
