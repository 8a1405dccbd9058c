"""From the screen into the real Pi, in a real terminal."""

import os
from pathlib import Path

from e2e.terminal import PITREE, terminal

from pitree import demo

from .install import AgentPaths


def test_resuming_ends_in_pi_on_that_session(agent: AgentPaths, tmp_path: Path) -> None:
    home = tmp_path / "ada"
    made = demo.make(home / ".pi" / "agent", home=home)
    environ = {
        "HOME": str(home),
        "PATH": f"{agent.bin}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
    }
    with terminal(PITREE, cwd=made.cwd, environ=environ) as screen:
        screen.wait("◆")
        screen.type("sunday")
        screen.wait("search: sunday")
        screen.wait("It is on the wall")
        screen.keys("Enter")
        # Pi draws the end of the conversation, and no pane of ours is left
        screen.wait(lambda text: "Sessions" not in text and "next time it" in text)
