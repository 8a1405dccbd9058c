"""Reading with helpers gives what reading without them gives, whatever becomes of the helpers."""

import json
import signal
from pathlib import Path

import pytest
from agent.strategies import sessions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.helper import Helper

from . import damaged
from .test_following import noise, seen


def helped(path: Path, block_bytes: int, *, processes: int = 0) -> Helper | None:
    return Helper.start_for(path, processes=processes, worth_it=0, block_bytes=block_bytes)


def long_session(path: Path, count: int = 3000) -> Path:
    """Write a session of a few blocks, in which some lines are longer than a block and some are damaged."""
    lines = [json.dumps({"type": "session", "version": 3, "id": "s", "cwd": "/p"})]
    for number in range(count):
        text = "x" * (5000 if number % 700 == 0 else number % 90)
        message = {"role": "user", "content": text}
        entry = {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": f"{number - 1:08x}" if number else None,
        }
        lines.append(json.dumps({**entry, "timestamp": "2026-01-01T00:00:00.000Z", "message": message}))
        if number % 1000 == 500:
            lines.append("broken")
    path.write_text("\n".join(lines) + "\n")
    return path


def same(path: Path, helper: Helper) -> None:
    with SessionFile.load(path, helper=helper) as with_help, SessionFile.load(path) as alone:
        assert seen(with_help) == seen(alone)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_blocks_put_together_are_the_whole(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = data.draw(sessions())
    made.header["version"] = data.draw(st.sampled_from([3, 3, 3, 2]))
    for line in data.draw(st.lists(noise, max_size=3)):
        made.lines.insert(data.draw(st.integers(0, len(made.lines))), line)
    made.tail = data.draw(noise)
    path = tmp_path_factory.mktemp("blocks") / "s.jsonl"
    path.write_bytes(made.encoded(ascii_only=False))
    helper = helped(path, data.draw(st.integers(20, 600)))
    if helper is None:
        assert made.header["version"] == 2 or not made.lines
        return
    same(path, helper)


@pytest.mark.parametrize("processes", [1, 3])
def test_processes_help(processes: int, tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000, processes=processes)
    assert helper is not None
    helper.wait_for(helper.count)  # all of it there: nothing done here hides what they do wrong
    same(path, helper)


def test_a_helper_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000, processes=1)
    assert helper is not None
    helper.wait_for(1)
    for process in helper.processes:
        process.send_signal(signal.SIGKILL)
    same(path, helper)


def test_a_file_that_was_replaced_is_read_without_help(tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000)
    assert helper is not None
    long_session(tmp_path / "other.jsonl", 30).replace(path)
    same(path, helper)


def test_a_file_that_was_cut_meanwhile(tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000)
    assert helper is not None
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.truncate(len(content) // 2)
    same(path, helper)


def test_what_was_appended_meanwhile_is_read(tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000)
    assert helper is not None
    with path.open("ab") as file:
        file.write(b'{"type":"custom","id":"new","parentId":null,"timestamp":"x"}\n')
    same(path, helper)


def test_a_reading_that_is_stopped_leaves_nobody_behind(tmp_path: Path) -> None:
    path = long_session(tmp_path / "s.jsonl")
    helper = helped(path, 4000, processes=2)
    assert helper is not None
    with pytest.raises(StoppedError):
        SessionFile.load(path, lambda _done, _total: False, helper)
    assert [process.returncode for process in helper.processes] == [0, 0]


def test_where_help_would_gain_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(damaged.plain())
    assert Helper.start_for(path) is None
    assert Helper.start_for(tmp_path / "missing") is None
    assert Helper.start_for(tmp_path) is None
