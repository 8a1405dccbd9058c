"""Where and of what something was measured."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.install import AgentPaths

ROOT: Final = Path(__file__).parents[2]


def facts(agent: "AgentPaths | None") -> dict[str, str]:
    """Return what the figures depend on besides the code, each in words."""
    told = {
        "processors": f"{os.cpu_count()} x {_processor()}",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "Textual": version("textual"),
    }
    if agent is not None:
        package = agent.root / "node_modules" / "@earendil-works" / "pi-coding-agent" / "package.json"
        told["Pi"] = str(json.loads(package.read_text(encoding="utf-8"))["version"])
        told["Node"] = _said(str(agent.node), "--version").removeprefix("v")
    return told


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def commit() -> str:
    """Return the commit that is measured, with a + where the files are not as it has them."""
    changed = _said("git", "status", "--porcelain", "--untracked-files=no")
    return _said("git", "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def load() -> list[float]:
    """Return how busy the machine was in the last 1, 5 and 15 minutes."""
    return [round(figure, 1) for figure in os.getloadavg()]


def now() -> str:
    """Return the moment."""
    return datetime.now(UTC).isoformat(timespec="seconds")
