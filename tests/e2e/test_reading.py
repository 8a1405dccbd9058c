"""What the preview shows, read in other programs, in a real terminal."""

import os
from pathlib import Path

from pitree import demo

from .terminal import PITREE, terminal

STAND_IN = """#!/bin/sh
echo "{name} READS $(wc -l < "$1") LINES, $(head -n 1 "$1")"
ls -l "$1" | cut -c 1-10
echo "$1" > "$SEEN"
read answer
"""


def test_pager_editor_and_viewer(tmp_path: Path) -> None:
    home = tmp_path / "ada"
    made = demo.make(home / ".pi" / "agent", home=home)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("pager", "editor"):
        (programs / name).write_text(STAND_IN.format(name=name.upper()))
        (programs / name).chmod(0o755)
    (programs / "xdg-open").write_text('#!/bin/sh\ncp "$1" "$SEEN"\n')
    (programs / "xdg-open").chmod(0o755)
    seen = tmp_path / "seen"
    environ = {
        "HOME": str(home),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": str(tmp_path),
        "PI_CODING_AGENT_DIR": str(made.agent_dir),
        "PAGER": "pager",
        "EDITOR": "editor",
        "SEEN": str(seen),
    }
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("Tab", "Tab")
        screen.wait("next tab")
        screen.wait("9f2c1e7. On")
        screen.keys("Enter")
        text = screen.wait("PAGER READS")
        assert "LINES, assistant · " in text
        screen.wait("-r--------")
        copy = Path(seen.read_text().strip())
        assert copy.exists()
        screen.keys("Enter")
        screen.wait("next tab")
        screen.keys("r")
        screen.wait('"role": "assistant"')
        screen.keys("e")
        text = screen.wait("EDITOR READS")
        assert "LINES, {" in text
        screen.keys("C-c")  # in the editor, this is not for us
        screen.wait("The editor ended with code 130")
        assert not copy.parent.exists()
        assert not Path(seen.read_text().strip()).parent.exists()
        screen.keys("r")
        screen.wait("9f2c1e7. On")
        screen.keys("BTab")
        screen.wait("Enter go there")
        screen.keys("Home")
        screen.wait("o opens it")
        screen.keys("Tab")
        screen.wait("next tab")
        screen.keys("o")
        screen.wait("The image was opened.")
        assert seen.read_bytes().startswith(b"\x89PNG")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
    assert not list(tmp_path.glob("pitree-*"))
