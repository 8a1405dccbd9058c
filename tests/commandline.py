"""Running pitree as scripts and people do, on stores made for it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agent.build import SESSION_ID, START, Session, call

from pitree.catalog.locations import folder_name

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 60.0


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:  # noqa: ANN401 - any JSON value
        """The one JSON document on standard output, after an untroubled run."""
        assert (self.code, self.err) == (0, "")
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of an error, after nothing else was printed."""
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("pitree: ")
        return line.removeprefix("pitree: ")


Run = Callable[..., Done]


def process(*arguments: str | Path, **changed: Any) -> Done:  # noqa: ANN401 - what `run` takes
    """Run `python -m pitree` in the working directory with nothing on its standard input."""
    given: dict[str, Any] = {
        "env": {**os.environ, "PYTHONPATH": str(ROOT)},
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "timeout": PATIENCE_SECONDS,
        **changed,
    }
    done = subprocess.run([sys.executable, "-m", "pitree", *arguments], check=False, **given)
    return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


class Store:
    """The default store of the home, and the sessions in it."""

    def __init__(self, home: Path) -> None:
        self.root = home / ".pi" / "agent" / "sessions"
        self._count = 0

    def add(self, made: Session, *, cwd: Path | None = None, minutes: int = 0) -> Path:
        """Write a session into the folder of its working directory, or that of another one."""
        self._count += 1
        folder = self.root / folder_name(str(made.header["cwd"] if cwd is None else cwd))
        folder.mkdir(parents=True, exist_ok=True)
        path = made.write(folder / f"2026-01-02T03-04-0{self._count}-000Z_{made.header['id']}.jsonl")
        seconds = START.timestamp() + 60 * minutes
        os.utime(path, (seconds, seconds))
        return path


def talk(work: Path, session_id: str = SESSION_ID, first: str = "hi", **header: object) -> Session:
    made = Session(cwd=str(work), id=session_id, **header)
    made.user(first)
    made.assistant("ok")
    return made


def forked(work: Path) -> Session:
    """Make a session with a fork, a label, a name and tool calls."""
    made = Session(cwd=str(work))
    asked = made.user("Fix the login page")
    made.calls(call("read", "1", path="/src/login.ts", offset=10, limit=31))
    made.result("export function login", "1")
    fixed = made.assistant("Done.")
    made.user("Now the tests", fixed)
    made.assistant("They pass.")
    made.user("Try Redux instead", fixed)
    made.label(asked, "start")
    made.name("Login work")
    return made
