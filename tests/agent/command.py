"""Running pitree as a person or a script does: as a process, with JSON on its standard output."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND_SECONDS = 60.0


def pitree_json(*arguments: str | Path, home: Path) -> object:
    """Run `python -m pitree ARGUMENTS --json` and give the document it prints; fails the test when it fails.

    `home` takes whatever a program might keep for its user.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PI_", "PITREE_", "XDG_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "pitree", *arguments, "--json"],
        cwd=ROOT,
        env=kept | {"HOME": str(home), "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    shown = done.stderr.decode("utf-8", errors="replace")
    assert done.returncode == 0, f"pitree {arguments} ended with {done.returncode}: {shown}"
    document: object = json.loads(done.stdout)
    return document
