"""A terminal that is closed takes the program with it."""

import contextlib
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

_PATIENCE_SECONDS = 30.0


@pytest.mark.parametrize("how", ["closed", "told"])
def test_nothing_stays_behind(how: str, tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            environ = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
            environ["TERM"] = "xterm-256color"
            os.execve(sys.executable, [sys.executable, "-m", "pitree", "--demo"], environ)  # noqa: S606
        finally:
            os._exit(127)
    shown = b""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while b"Photos that" not in shown:
        assert time.monotonic() < deadline
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 1 << 16)
    if how == "closed":
        os.close(terminal)
    else:
        os.kill(pid, signal.SIGTERM)
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if how == "told" and select.select([terminal], [], [], 0.05)[0]:
            with contextlib.suppress(OSError):  # it is gone
                os.read(terminal, 1 << 16)
        else:
            time.sleep(0.05)
        assert time.monotonic() < deadline, "it goes on"
