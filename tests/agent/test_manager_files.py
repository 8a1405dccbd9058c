"""Where sessions go and how they are come by: the static methods, old versions, and Pi writing beside us."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pitree import SessionManager
from pitree.sessions.errors import InvalidValueError
from pitree.sessions.file import SessionFile

from .build import Session
from .cases import Make, each_case_without_ids
from .cases_lines import version_1_with_compactions
from .cases_tree import every_entry_type
from .compare import CONTEXT_PARTS, TREE_PARTS, assert_same, by_position, pi_view, pitree_view
from .install import AgentPaths
from .oracle import Oracle, OracleError

ROOT = Path(__file__).parents[2]
LONG_AGO = 1_000_000_000


def said(words: str) -> dict[str, Any]:
    return {"role": "user", "content": words, "timestamp": LONG_AGO * 1000}


def start(cwd: Path, words: str, session_dir: Path | None = None) -> Path:
    with SessionManager.create(cwd, session_dir) as session:
        session.append_message(said(words))
        path = session.get_session_file()
        assert path is not None
        return path


# ---- places


def test_places(oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the default root and in a folder given by hand: the same lists, the same one to continue."""
    monkeypatch.setenv("HOME", str(oracle.home))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "/nowhere")  # is for the program, not for the class
    one, other = tmp_path / "one", tmp_path / "one-other"
    flat = tmp_path / "flat"
    made: list[Path] = []
    for place, (cwd, folder) in enumerate(
        [(one, None), (other, None), (one, None), (one, flat), (other, flat)] * 2
    ):
        path = start(cwd, f"{place}", folder)
        os.utime(path, (LONG_AGO + place * 7 % 11, LONG_AGO + place * 7 % 11))
        made.append(path)
    (flat / "zz-newest-but-none.jsonl").write_bytes(b'{"type":"title"}\n')
    (flat / "zz-not-opened.jsonl").write_bytes(b'{"type":"title"}\n' + Session(cwd=str(one)).encoded())
    (flat / "of-no-folder.jsonl").write_bytes(Session(cwd=5).encoded())
    default = Path(str(oracle.home)) / ".pi" / "agent" / "sessions"
    # (Pi's own folder, written into by its list, has no further say: a folder is only looked at)
    for cwd in (one, other, tmp_path / "without sessions"):
        for folder in (None, flat, made[0].parent, tmp_path / "not there"):
            request = {"op": "places", "cwd": str(cwd)} | ({} if folder is None else {"dir": str(folder)})
            theirs = oracle.ask(request)
            assert isinstance(theirs, dict)
            listed = [str(row.path) for row in SessionManager.list(cwd, folder)]
            # (pitree lists what it can show, also where Pi does not open it)
            assert sorted(path for path in listed if "not-opened" not in path) == sorted(theirs["listed"])
            with SessionManager.continue_recent(cwd, folder) as recent:
                assert str(recent.get_session_dir()) == theirs["dir"]
                assert recent.get_cwd() == str(cwd)
                file = recent.get_session_file()
                assert file is not None
                if file.exists():
                    assert str(file) == theirs["recent"]
                else:
                    assert not Path(theirs["recent"]).exists()
                    assert recent.get_entries() == []
    everything = oracle.ask({"op": "everything"})
    assert isinstance(everything, list)
    assert sorted(str(row.path) for row in SessionManager.list_all()) == sorted(everything)
    assert {path.parent.parent for path in made if path.parent != flat} == {default}
    assert len(SessionManager.list_all(flat)) - 1 == len(oracle.listed(flat)) == 5


def test_lists_tell_how_far_they_are(tmp_path: Path) -> None:
    for place in range(5):
        start(tmp_path, f"{place}", tmp_path)
    start(tmp_path / "elsewhere", "other", tmp_path)
    told: list[tuple[int, int, int]] = []
    rows = SessionManager.list(tmp_path, tmp_path, lambda *now: told.append((now[0], now[1], len(now[2]))))
    assert told[-1] == (6, 6, 5)
    assert told == sorted(told)
    assert len(rows) == 5
    assert len(SessionManager.list_all(tmp_path)) == 6


def test_open_takes_the_folder_from_the_header(oracle: Oracle, tmp_path: Path) -> None:
    """Whatever stands there; and what is new goes beside the file, or where one says."""
    made = Session(cwd="/somewhere/../else")
    made.user()
    path = made.write(tmp_path / "session.jsonl")
    odd = Session(cwd=5).write(tmp_path / "odd.jsonl")
    large = Session(metadata="x" * (1 << 20)).write(tmp_path / "large.jsonl")
    for file, more in ((path, []), (odd, []), (large, []), (path, ["/dir"]), (path, ["/dir", "/cwd"])):
        arguments: list[Any] = [str(file), *more]
        request = {
            "op": "script",
            "dir": str(tmp_path),
            "start": {"make": "open", "with": arguments},
            "steps": [],
        }
        theirs = oracle.ask(request)
        assert isinstance(theirs, list)
        with SessionManager.open(file, *more) as session:
            if file is not odd:  # there it is the process's own
                assert session.get_cwd() == theirs[0]["state"]["cwd"]
            assert str(session.get_session_dir()) == (more[0] if more else str(tmp_path))
            assert session.get_session_id() == theirs[0]["state"]["sessionId"]


# ---- old versions


@each_case_without_ids
def test_a_migrated_file_of_version_1(make: Make, oracle: Oracle, tmp_path: Path) -> None:
    path = make().write(tmp_path / "session.jsonl")
    check_migration(path, oracle)


def test_a_migrated_file_of_version_2(oracle: Oracle, tmp_path: Path) -> None:
    made = every_entry_type()
    made.header["version"] = 2
    made.message("hookMessage", customType="c", content="old", display=True)
    check_migration(made.write(tmp_path / "session.jsonl"), oracle)


def check_migration(path: Path, oracle: Oracle) -> None:
    """Pi sees the same before and after, and after that it is pitree's ids that it sees."""
    before, ours = by_position(pi_view(oracle.session(path))), pitree_view(path)
    with SessionManager.open(path) as session:
        session.append_custom_entry("pitree.leaf")
    after = pi_view(oracle.session(path))
    assert after.entries[:-1] == ours.entries
    with SessionFile.load(path) as migrated:
        last = migrated.tree.entries[-1]
        assert last.parent_id == ours.leaf
        assert migrated.version == 3
    # the entry added is one more on the path, and gives the model nothing
    at_old_leaf = by_position(pi_view(oracle.session(path, ours.leaf)))
    assert_same(before, at_old_leaf, ("leaf", "name", "labels", *CONTEXT_PARTS))
    assert after.messages == pi_view(oracle.session(path, ours.leaf)).messages
    assert_same(after, pitree_view(path), (*TREE_PARTS, *CONTEXT_PARTS))


def test_a_fork_of_an_old_version(oracle: Oracle, tmp_path: Path) -> None:
    """Where Pi's own writes entries without ids under a header of version 3, pitree's can be opened."""
    path = version_1_with_compactions().write(tmp_path / "session.jsonl")
    with SessionManager.fork_from(path, tmp_path, tmp_path / "forks") as fork:
        file = fork.get_session_file()
    assert file is not None
    assert_same(pi_view(oracle.session(file)), pitree_view(file), (*TREE_PARTS, *CONTEXT_PARTS))
    assert_same(
        by_position(pi_view(oracle.session(path))),
        by_position(pitree_view(file)),
        ("entries", *CONTEXT_PARTS),
    )


def test_what_is_refused_by_both(oracle: Oracle, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    for session_id in ("", "-a", "a-", "a b", "a/b", "é", "a\n"):
        request = {
            "op": "script",
            "dir": str(tmp_path),
            "start": {
                "make": "forkFrom",
                "with": [str(path), str(tmp_path), str(tmp_path), {"id": session_id}],
            },
            "steps": [],
        }
        Session().write(path)
        with pytest.raises(OracleError, match="Session id"):
            oracle.ask(request)
        with pytest.raises(InvalidValueError, match="is no session id"):
            SessionManager.fork_from(path, tmp_path, tmp_path, session_id=session_id)


# ---- three programs at once


PITREE_WRITES = """
import sys
from pitree import SessionManager
with SessionManager.open(sys.argv[1]) as session:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1000):
        print(session.append_message({"role": "user", "content": sys.argv[2] * (number * 37 % 4000)}))
"""
PI_WRITES = """
import { createInterface } from "node:readline";
const { SessionManager } = await import(process.argv[3]);
const session = SessionManager.open(process.argv[1]);
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) break;
for (let number = 0; number < 1000; number++) {
  const content = process.argv[2].repeat((number * 37) % 4000);
  console.log(session.appendMessage({ role: "user", content, timestamp: 1 }));
}
process.exit(0);
"""


def test_pi_and_two_of_us_at_once(agent: AgentPaths, tmp_path: Path) -> None:
    made = Session()
    root = made.user()
    path = made.write(tmp_path / "session.jsonl")
    module = (
        agent.root / "node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js"
    ).as_uri()
    script = tmp_path / "writer.py"
    script.write_text(PITREE_WRITES)
    environ = agent.environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    commands: list[list[str]] = [
        [sys.executable, str(script), str(path), "a"],
        [sys.executable, str(script), str(path), "b"],
        [str(agent.node), "--input-type=module", "-e", PI_WRITES, str(path), "c", module],
    ]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        for command in commands
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    told = [writer.communicate()[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    # (a line of Pi's that is seen while it grows may be followed by a blank one)
    lines = [line for line in path.read_bytes().split(b"\n") if line]
    parents = {line["id"]: line["parentId"] for line in map(json.loads, lines[1:])}
    assert len(lines) == 3002
    assert len(parents) == 3001
    for acknowledged in told:
        assert [parents[entry_id] for entry_id in acknowledged] == [root, *acknowledged[:-1]]
        assert len(acknowledged) == 1000


def test_a_line_nested_very_deeply(oracle: Oracle, tmp_path: Path) -> None:
    """Both keep it as a link in the chain."""
    made = Session()
    made.user("before")
    deep = made.entry("custom", customType="c", data="DEEP")
    made.user("after")
    path = tmp_path / "session.jsonl"
    path.write_bytes(made.encoded().replace(b'"DEEP"', b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000))
    ours = pitree_view(path)
    assert ours.branch == ["00000001", deep, "00000003"]
    assert_same(pi_view(oracle.session(path)), ours, (*TREE_PARTS, *CONTEXT_PARTS))


def test_the_default_root_is_not_a_matter_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    (agent / "settings.json").write_text('{"sessionDir":"/somewhere/else"}')
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(agent))
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "/elsewhere/still")
    made = SessionManager.create("/home/ada/code")
    assert made.get_session_dir() == agent / "sessions" / "--home-ada-code--"
