"""The person's pager and editor, private copies for them, and pictures for the system's viewer."""

import os
import stat
from pathlib import Path

import pytest

from pitree.agent.launch import AgentNotFoundError
from pitree.agent.viewers import (
    PrivateCopies,
    Reader,
    image_suffix,
    open_in_viewer,
    reading_program,
)


def program(folder: Path, name: str, script: str = "exit 0") -> None:
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o755)


@pytest.mark.parametrize(
    ("reader", "variables", "words"),
    [
        ("pager", {}, ("less",)),
        ("pager", {"PAGER": " "}, ("less",)),
        ("pager", {"PAGER": "most -s 'a b'"}, ("most", "-s", "a b")),
        ("editor", {}, ("vi",)),
        ("editor", {"EDITOR": "most"}, ("most",)),
        ("editor", {"EDITOR": "less", "VISUAL": "most"}, ("most",)),
        ("editor", {"PAGER": "most"}, ("vi",)),
    ],
)
def test_which_program(
    reader: Reader, variables: dict[str, str], words: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("less", "more", "vi", "most"):
        program(tmp_path / "bin", name)
    assert reading_program(reader, {"PATH": str(tmp_path / "bin"), **variables}) == words


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, r"there is no pager; name one in \$PAGER"),
        ({"PAGER": "gone\x1b -x"}, r"gone␛ cannot be run \(from \$PAGER\)"),
        ({"PAGER": "'open"}, r"\$PAGER cannot be read as a command: No closing quotation"),
    ],
)
def test_no_program(variables: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(AgentNotFoundError, match=said):
        reading_program("pager", {"PATH": str(tmp_path), **variables})


def test_copies_are_private_and_go_away() -> None:
    with PrivateCopies() as copies:
        one, other = copies.write("entry.txt", b"one"), copies.write("entry.txt", b"other")
        assert (one.read_bytes(), other.read_bytes()) == (b"one", b"other")
        assert stat.S_IMODE(one.stat().st_mode) == 0o400
        assert stat.S_IMODE(one.parent.stat().st_mode) == 0o700
        copies.remove(one)
        assert not one.parent.exists()
        assert other.exists()
        copies.remove(one)
    assert not other.parent.exists()


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"\x89PNG\r\n\x1a\nrest", ".png"),
        (b"\xff\xd8\xff\xe0", ".jpg"),
        (b"GIF89a..", ".gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", ".webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<html>", None),
        (b"[Desktop Entry]", None),
        (b"", None),
    ],
)
def test_only_pictures_have_a_suffix(data: bytes, suffix: str | None) -> None:
    assert image_suffix(data) == suffix


def test_the_viewer(tmp_path: Path) -> None:
    environ = {"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin", "SEEN": str(tmp_path / "seen")}
    program(tmp_path / "bin", "xdg-open", 'echo "$1" > "$SEEN"')
    assert open_in_viewer(tmp_path / "a.png", environ) is None
    assert (tmp_path / "seen").read_text() == f"{tmp_path / 'a.png'}\n"
    program(tmp_path / "bin", "xdg-open", "exit 3")
    assert open_in_viewer(tmp_path / "a.png", environ) == "xdg-open ended with code 3"
    program(tmp_path / "bin", "xdg-open", 'echo $$ > "$SEEN"; exec sleep 60')
    assert open_in_viewer(tmp_path / "a.png", environ) is None  # it stays, and so does the picture
    pid = int((tmp_path / "seen").read_text())
    assert os.getpgid(pid) != os.getpgid(0)  # our Ctrl+C is not for it
    os.kill(pid, 9)
    (tmp_path / "bin" / "xdg-open").write_text("#!/no/such/thing\n")
    assert "could not be started" in str(open_in_viewer(tmp_path / "a.png", environ))
    assert "no viewer is here" in str(open_in_viewer(tmp_path / "a.png", {"PATH": str(tmp_path)}))
