"""Whether a Pi is at work on a session: told by what it wrote, and by what runs in the session's folder."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pitree.agent.running import being_written

LATER = 3600.0


@pytest.mark.parametrize(
    ("age", "told"), [(0.0, True), (59.0, True), (61.0, False), (-5.0, False), (None, False)]
)
def test_within_the_last_minute(age: float | None, told: bool, tmp_path: Path) -> None:
    moment = None if age is None else (1_000_000 - age) * 1000
    reason = being_written("/nowhere", moment, clock=lambda: 1_000_000.0, processes=tmp_path)
    assert (reason is not None) is told


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="there is no /proc here")
def test_a_process_in_the_folder_of_the_session(tmp_path: Path) -> None:
    """A real process, under the name that Pi gives itself."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = "import sys, time; print('ready', flush=True); time.sleep(60)"
    command = ["pi", "-c", script]
    with subprocess.Popen(
        command, executable=sys.executable, cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            written = time.time() * 1000 + 1000

            def later() -> float:
                return time.time() + LATER

            assert being_written(str(tmp_path), written, clock=later) is not None
            assert being_written(str(elsewhere), written, clock=later) is None
            assert being_written("", written, clock=later) is None
            long_before = (time.time() - LATER) * 1000
            assert being_written(str(tmp_path), long_before, clock=later) is None, "it was not there then"
        finally:
            process.kill()
    assert being_written(str(tmp_path), written, clock=later) is None


def test_a_machine_that_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "12").mkdir()
    (tmp_path / "13").write_text("")
    assert being_written("/code", 5.0, clock=lambda: LATER, processes=tmp_path) is None
    assert being_written("/code", 5.0, clock=lambda: LATER, processes=tmp_path / "no") is None
