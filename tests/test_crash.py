"""What is said and kept when pitree itself breaks."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import ROOT

from pitree import crash


def broken() -> BaseException:
    said, nothing = "what somebody " + "said", dict[int, str]()
    try:
        return ValueError(nothing[len(said)])
    except LookupError as error:
        error.add_note("\x1b[2J")
        return error


def test_one_line_and_a_private_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "state"
    for _ in range(2):
        assert crash.tell(broken(), {}, folder) == 1
    said = (
        "pitree: ended by an error in itself (KeyError); no session was changed by that; "
        f"the log is {folder}/crash.log\n"
    )
    assert capsys.readouterr() == ("", said * 2)
    log = folder / "crash.log"
    told = log.read_text()
    assert told.count("KeyError: 18\n␛[2J\n") == 2
    assert "what somebody said" not in told
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_debugging_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crash.tell(broken(), {"PITREE_DEBUG": "1"}, tmp_path)
    said = capsys.readouterr().err
    assert "in broken\n" in said
    assert "\x1b" not in said


def test_the_log_stays_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "crash.log"
    log.write_bytes(b"x" * 300_000)
    crash.tell(ValueError("y" * 1_000_000), {}, tmp_path)
    assert log.stat().st_size < 70_000
    assert capsys.readouterr().err.count("\n") == 1


def test_a_log_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("mine")
    (tmp_path / "crash.log").symlink_to(elsewhere)
    for folder in (tmp_path, tmp_path / "precious" / "below"):
        assert crash.tell(broken(), {}, folder) == 1
        said = capsys.readouterr().err
        assert "no log could be written (" in said
        assert "PITREE_DEBUG=1 prints what was in it" in said
    assert elsewhere.read_text() == "mine"


def test_a_command_that_breaks(home: Path, work: Path) -> None:
    script = (
        "import sys\n"
        "import pitree.commands\n"
        "def broken(args, place): raise ValueError('\\x9b2J')\n"
        "pitree.commands.COMMANDS['list'] = broken\n"
        "sys.argv = ['pitree', 'list']\n"
        "from pitree.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"HOME": str(home), "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(home / "state")},
        cwd=work,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.decode().startswith("pitree: ended by an error in itself (ValueError); ")
    assert done.stderr.count(b"\n") == 1
    assert "ValueError: \ufffd2J" in (home / "state" / "pitree" / "crash.log").read_text()


def test_ctrl_c_while_a_class_is_made_is_no_crash(home: Path) -> None:
    script = (
        "import sys\n"
        "import pitree.cli\n"
        "def loading():\n"
        "    try: raise KeyboardInterrupt\n"
        "    except KeyboardInterrupt as error: raise RuntimeError('Error calling __set_name__') from error\n"
        "pitree.cli.main = loading\n"
        "from pitree.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, b"")
