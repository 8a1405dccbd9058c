"""Where pitree's SessionManager and that of Pi 1.6.0 differ on purpose. Each test shows both sides.

Besides: pitree can write `retainedTail` (see `test_deviations.py` for reading it), its `append_usage` answers
an id as all the others do, and None for an optional argument is always Pi's undefined.
"""

import json
from pathlib import Path

import pytest

from pitree import SessionManager
from pitree.sessions.errors import InvalidValueError, NotASessionError, ReadOnlyError, WriteError

from .build import Json, Session
from .cases_lines import version_1_with_compactions
from .oracle import Oracle
from .scripts import CREATE, entry, step

USER = step("appendMessage", {"role": "user", "content": "hi", "timestamp": 5})


def pi_does(oracle: Oracle, folder: Path, start: Json, *steps: Json) -> list[Json]:
    answers = oracle.ask({"op": "script", "dir": str(folder), "start": start, "steps": list(steps)})
    assert isinstance(answers, list)
    return answers


def opened(path: Path) -> Json:
    return {"make": "open", "with": [str(path)]}


def test_opening_writes_nothing(oracle: Oracle, tmp_path: Path) -> None:
    """Pi gives an empty file a header, closes an unfinished last line and migrates, just by opening."""
    for content in (b"", Session().encoded()[:-1], version_1_with_compactions().encoded()):
        path = tmp_path / "session.jsonl"
        path.write_bytes(content)
        with SessionManager.open(path) as session:
            session.get_tree()
        assert path.read_bytes() == content
        pi_does(oracle, tmp_path, opened(path))
        assert path.read_bytes() != content


def test_messages_with_entries_of_their_own(oracle: Oracle, tmp_path: Path) -> None:
    """Pi's types forbid them; a program without types would write what no reader expects."""
    for role in ("branchSummary", "compactionSummary"):
        message = {"role": role, "summary": "x"}
        assert pi_does(oracle, tmp_path, CREATE, step("appendMessage", message))[-1]["error"] is None
        with (
            SessionManager.in_memory() as session,
            pytest.raises(InvalidValueError, match="entry of its own"),
        ):
            session.append_message(message)


def test_a_folder_that_is_missing(oracle: Oracle, tmp_path: Path) -> None:
    steps = (step("setSessionFile", {"$dir": "missing/a.jsonl"}), USER)
    assert "ENOENT" in pi_does(oracle, tmp_path, CREATE, *steps)[-1]["error"]
    with SessionManager.create(tmp_path, tmp_path) as session:
        session.set_session_file(tmp_path / "missing" / "a.jsonl")
        session.append_message(USER["with"][0])
    assert (tmp_path / "missing" / "a.jsonl").exists()


def test_a_summary_that_could_not_be_written(oracle: Oracle, tmp_path: Path) -> None:
    """Pi's leaf has moved then, though the summary is not there; here all is as it was."""
    made = Session()
    made.user("one")
    made.user("two")
    path = made.write(tmp_path / "a.jsonl")
    steps = [{"remove": str(path)}, step("branchWithSummary", entry(0), "x")]
    *_, failed = pi_does(oracle, tmp_path, opened(path), *steps)
    assert failed["error"]
    assert failed["state"]["leaf"] == "00000001"
    path.rmdir()
    made.write(path)
    with SessionManager.open(path) as session:
        path.unlink()
        path.mkdir()
        with pytest.raises(NotASessionError, match="not a regular file"):
            session.branch_with_summary("00000001", "x")
        assert session.get_leaf_id() == "00000002"


def test_a_file_that_vanished(oracle: Oracle, tmp_path: Path) -> None:
    """Pi makes a new file, without a header: it will never be opened again."""
    path = Session().write(tmp_path / "a.jsonl")
    steps = [{"remove": str(path), "folder": False}, step("appendSessionInfo", "x")]
    *_, done = pi_does(oracle, tmp_path, opened(path), *steps)
    assert done["error"] is None
    assert json.loads(path.read_bytes())["type"] == "session_info"
    Session().write(path)
    with SessionManager.open(path) as session:
        path.unlink()
        with pytest.raises(WriteError, match="No such file"):
            session.append_session_info("x")
    assert not path.exists()


def test_versions_above_3(oracle: Oracle, tmp_path: Path) -> None:
    """Pi writes to them, and forks them under a header of version 3."""
    path = Session(version=4).write(tmp_path / "a.jsonl")
    before = path.read_bytes()
    with SessionManager.open(path) as session, pytest.raises(ReadOnlyError):
        session.append_session_info("x")
    with pytest.raises(ReadOnlyError):
        SessionManager.fork_from(path, tmp_path, tmp_path / "forks")
    assert path.read_bytes() == before
    assert pi_does(oracle, tmp_path, opened(path), step("appendSessionInfo", "x"))[-1]["error"] is None
    assert path.read_bytes() != before
    forking = {"make": "forkFrom", "with": [str(path), str(tmp_path), str(tmp_path)]}
    (fork,) = pi_does(oracle, tmp_path, forking)
    assert fork["state"]["header"]["version"] == 3


def test_forks_of_version_1(oracle: Oracle, tmp_path: Path) -> None:
    """Pi's fork has a header of version 3, and entries without ids under it."""
    path = version_1_with_compactions().write(tmp_path / "a.jsonl")
    (fork,) = pi_does(
        oracle, tmp_path, {"make": "forkFrom", "with": [str(path), str(tmp_path), str(tmp_path)]}
    )
    assert all("id" not in json.loads(line) for line in fork["state"]["stored"].splitlines()[1:])
    with SessionManager.fork_from(path, tmp_path, tmp_path) as ours:
        file = ours.get_session_file()
    assert file is not None
    assert all("id" in json.loads(line) for line in file.read_bytes().splitlines()[1:])
