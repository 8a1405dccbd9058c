"""A real terminal: pitree in tmux, keys in, screens out."""

import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE_SECONDS = 30.0
PITREE = [sys.executable, "-m", "pitree"]


class Terminal:
    """One tmux session of its own server, so that nobody's configuration or other sessions matter."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def run(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def keys(self, *keys: str) -> None:
        self.run("send-keys", "-t", "main", *keys)

    def type(self, text: str) -> None:
        self.run("send-keys", "-t", "main", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        self.run("resize-window", "-t", "main", "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        return self.run("capture-pane", "-p", "-t", "main")

    def wait(self, wanted: str | Callable[[str], bool]) -> str:
        """Return the screen as soon as it shows what is wanted."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            screen = self.screen()
            if wanted in screen if isinstance(wanted, str) else wanted(screen):
                return screen
            if time.monotonic() > deadline:
                raise AssertionError(f"not on the screen: {wanted}\n{screen}")
            time.sleep(0.02)


@contextmanager
def terminal(
    command: list[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    size: tuple[int, int] = (140, 40),
    record: Path | None = None,
) -> Iterator[Terminal]:
    """Run a command in a terminal, in a shell that stays when the command ends.

    All that it writes is put into the file `record`, as it is.
    """
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    # short, whatever the temporary directory is: a socket's path may have a hundred bytes
    socket = Path("/tmp") / f"pt-{uuid.uuid4().hex[:12]}"  # noqa: S108
    screen = Terminal(socket)
    words = ["env", "-u", "COLUMNS", "-u", "LINES", "-u", "XDG_CONFIG_HOME", "PS1=shell$ "]
    words += [f"{name}={value}" for name, value in environ.items()]
    columns, rows = size
    try:
        screen.run(
            *("new-session", "-d", "-s", "main", "-x", str(columns), "-y", str(rows), "-c", str(cwd)),
            shlex.join([*words, "sh"]),
        )
        screen.run("set-option", "-g", "status", "off")
        screen.resize(columns, rows)  # some versions begin with 80 columns all the same
        screen.wait("shell$")
        if record is not None:
            record.touch()
            screen.run("pipe-pane", "-O", "-t", "main", f"cat >> {shlex.quote(str(record))}")
        screen.type(shlex.join(command))
        screen.keys("Enter")
        yield screen
    finally:
        subprocess.run(["tmux", "-S", str(socket), "kill-server"], check=False, capture_output=True)
        socket.unlink(missing_ok=True)
