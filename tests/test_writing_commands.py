"""The commands that change sessions: what they write, what they refuse, and that they can be undone."""

import json
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from agent.build import SESSION_ID, Session, call
from commandline import Run, Store, forked, talk
from sessions import damaged

from pitree.catalog.locations import folder_name
from pitree.sessions import drafts
from pitree.sessions.file import SessionFile


@pytest.fixture(autouse=True)
def _own_state_and_trash(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.delenv("EDITOR", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "send2trash"]:
        monkeypatch.delitem(sys.modules, name)  # it reads where the trash is when it is loaded


def added(path: Path, before: bytes) -> list[dict[str, Any]]:
    """Give the entries that were appended, after seeing that nothing else changed."""
    now = path.read_bytes()
    assert now.startswith(before)
    return [json.loads(line) for line in now[len(before) :].splitlines()]


# ---- move


def test_move(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    told = pitree("move", path, "00000004")
    assert (told.code, told.err) == (0, "")
    (entry,) = added(path, before)
    assert (entry["customType"], entry["parentId"]) == ("pitree.leaf", "00000004")
    assert entry["data"] == {"from": "00000009", "to": "00000004"}
    assert told.out.splitlines() == [
        "Continue after this reply.",
        "1 entry is left behind. Context: 5 messages, ~22 tokens → 4 messages, 17 tokens",
        "moved to 00000004",
    ]


def test_move_as_json(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    tried = pitree("move", path, "00000005", "--before", "--dry-run", "--json").document
    assert path.read_bytes() == before
    document = pitree("move", SESSION_ID[:12], "00000005", "--before", "--json").document
    (entry,) = added(path, before)
    assert document == tried | {"written": [entry["id"]]}
    assert tried == {
        "path": str(path),
        "from": "00000009",
        "to": "00000004",
        "sentence": "Ask this again differently.",
        "leftBehind": ["00000007", "00000008", "00000009"],
        "now": {"messages": 5, "tokens": 22, "estimated": 5},
        "then": {"messages": 4, "tokens": 17, "estimated": 0},
        "openEnd": [],
        "soundEntry": None,
        "prompt": "Now the tests",
        "written": [],
    }


def test_move_before_the_first_entry(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    before = path.read_bytes()
    assert pitree("move", path, "00000001", "--before").code == 0
    (entry,) = added(path, before)
    assert entry["parentId"] is None


def test_move_to_where_the_leaf_is(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    before = path.read_bytes()
    assert "goes on from here already" in pitree("move", path, "00000002").out
    assert path.read_bytes() == before
    assert "nothing is left behind" in pitree("move", path, "00000002", "--outline").error


def test_move_with_a_summary_and_a_label(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    pitree("move", path, "00000001", "--summary", "Redux it was.", "--label", "back")
    summary, label = added(path, before)
    assert (summary["type"], summary["summary"]) == ("branch_summary", "Redux it was.")
    assert (summary["parentId"], summary["fromId"]) == ("00000001", "00000009")
    assert summary["details"] == {"readFiles": ["/src/login.ts"], "modifiedFiles": []}
    assert (label["targetId"], label["label"], label["parentId"]) == (summary["id"], "back", summary["id"])


def test_instructions_are_not_passed_over(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    done = pitree("move", path, "00000001", "--outline", "--instructions", "be brief")
    assert done.code == 1
    assert "--summarize" in done.error
    assert path.read_bytes() == before


def test_move_with_an_outline(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    pitree("move", path, "00000001", "--outline")
    (summary,) = added(path, before)
    assert "- Try Redux instead" in summary["summary"]
    assert "Files read:\n- /src/login.ts" in summary["summary"]


def test_move_says_an_open_end(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    told = pitree("move", path, "00000002")
    assert told.code == 0
    assert told.err == (
        "pitree: the call of read in 00000002 has no result there; "
        "the nearest place without such a call is at 00000003\n"
    )


def test_a_running_agent_would_not_see_a_move(pitree: Run, store: Store, work: Path) -> None:
    made = talk(work)
    made.user("just now", timestamp=0)
    made.lines[-1]["timestamp"] = drafts.now()  # type: ignore[index]
    path = store.add(made)
    before = path.read_bytes()
    for command in (("move", path, "00000001"), ("rm", path, "--yes")):
        assert "the agent wrote to it within the last minute" in pitree(*command).error
        assert path.read_bytes() == before
    assert pitree("label", path, "00000001", "x").code == 0, "labels and names count all the same"
    told = pitree("move", path, "00000001", "--anyway")
    assert told.code == 0
    assert "does not see this until it is started again" in told.err


def test_a_model_that_is_not_there(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    before = path.read_bytes()
    told = pitree("move", path, "00000001", "--summarize", "--pi", "/nowhere/pi")
    assert told.error.endswith("--outline and --summary do without a model")
    told = pitree("move", path, "00000001", "--summarize", "--pi", "false")
    assert told.error == "the model gave no summary: Pi ended with code 1"
    told = pitree("move", path, "00000001", "--summarize", "--pi", "sleep 60 #", "--timeout", "0.2")
    assert told.error.startswith("the model gave no summary")
    assert path.read_bytes() == before


# ---- label, name


def test_label_and_name(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    before = path.read_bytes()
    assert pitree("label", path, "00000001", " start ").out == "labelled 00000001: start\n"
    assert pitree("label", path, "00000001", "start").out == "the label is the same as before\n"
    assert pitree("label", path, "00000001").out == "label cleared at 00000001\n"
    assert pitree("name", path).out == ""
    assert pitree("name", path, "Tea").out == "named: Tea\n"
    assert pitree("name", path).out == "Tea\n"
    assert pitree("name", path, "--json").document == {"path": str(path), "name": "Tea"}
    assert pitree("name", path, "--clear").out == "name cleared\n"
    assert "--clear takes no name" in pitree("name", path, "x", "--clear").error
    entries = added(path, before)
    assert [entry["type"] for entry in entries] == ["label", "label", "session_info", "session_info"]
    assert [entry["parentId"] for entry in entries] == ["00000002", *(entry["id"] for entry in entries[:-1])]
    assert "no entry of" in pitree("label", path, "nowhere", "x").error


def test_what_a_terminal_would_obey_is_not_printed(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    assert "\x1b" not in pitree("name", path, "\x1b[31mred").out
    assert "\x1b" not in pitree("undo", "--list").out
    with SessionFile.load(path) as session:
        assert session.tree.name == "\x1b[31mred"


@pytest.mark.parametrize("command", [("name", "x"), ("label", "00000001", "x"), ("move", "00000001")])
def test_old_versions_are_migrated_only_when_asked_for(
    command: tuple[str, ...], pitree: Run, store: Store, work: Path, home: Path
) -> None:
    path = store.add(Session(cwd=str(work)))
    path.write_bytes(damaged.version_1())
    name, *rest = command
    assert "--migrate" in pitree(name, path, *rest).error
    assert path.read_bytes() == damaged.version_1()
    told = pitree(name, path, *rest, "--migrate")
    assert (told.code, told.err) == (0, "")
    assert f"{path.name}.v1 in the trash" in told.out
    with SessionFile.load(path) as session:
        assert session.version == 3
    assert list(path.parent.iterdir()) == [path]
    assert (home / "data/Trash/files" / f"{path.name}.v1").read_bytes() == damaged.version_1()


# ---- fork


def test_fork(pitree: Run, store: Store, work: Path) -> None:
    made = forked(work)
    path = store.add(made)
    before = path.read_bytes()
    at_leaf = Path(pitree("fork", path).out.rstrip("\n"))
    assert at_leaf.parent == path.parent
    other = work.parent / "elsewhere"
    other.mkdir()
    elsewhere = Path(pitree("fork", path, "--leaf", "00000004", "--cwd", other).out.rstrip("\n"))
    assert elsewhere.parent == store.root / folder_name(str(other))
    assert path.read_bytes() == before
    with SessionFile.load(at_leaf) as fork:
        assert (fork.cwd, fork.header["parentSession"]) == (str(work), str(path))
        assert [entry.id for entry in fork.entries][:5] == [f"{number:08x}" for number in (1, 2, 3, 4, 7)]
        assert (fork.tree.labels, fork.tree.name) == ({"00000001": "start"}, "Login work")
    with SessionFile.load(elsewhere) as fork:
        assert (fork.cwd, fork.tree.labels) == (str(other), {"00000001": "start"})
        assert [entry.type for entry in fork.entries] == ["message"] * 4 + ["label"]


def test_fork_of_nothing(pitree: Run, store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    made.name("only a name")
    made.user("hi")
    path = store.add(made)
    assert "nothing was said up to there" in pitree("fork", path, "--leaf", "00000001").error
    assert "is not a folder" in pitree("fork", path, "--cwd", work / "nowhere").error
    path.write_bytes(damaged.of_a_later_version())
    assert "is not forked" in pitree("fork", path).error
    assert list(path.parent.iterdir()) == [path]


# ---- rm


def test_rm(pitree: Run, store: Store, work: Path) -> None:
    kept, *gone = (store.add(talk(work, f"id-{number}")) for number in range(3))
    refused = pitree("rm", *gone)
    assert refused.code == 1
    assert "id-1: 2 messages, " in refused.err
    assert refused.err.endswith("pitree: nothing is deleted without being asked for; --yes does not ask\n")
    assert all(path.exists() for path in gone)
    told = pitree("rm", *gone, "id-2", "--yes")
    assert told.out.splitlines() == [f"put into the trash: {path}" for path in gone]
    assert kept.exists()
    assert not any(path.exists() for path in gone)


def test_rm_tells_the_forks(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    pitree("fork", path)
    assert "; 1 forked from it will be on its own" in pitree("rm", path).err


def test_rm_only_what_is_a_session_of_the_store(pitree: Run, store: Store, work: Path) -> None:
    inside = store.add(talk(work))
    outside = talk(work).write(work / "session.jsonl")
    (inside.parent / "notes.txt").write_text("mine")
    (inside.parent / "notes.jsonl").write_text("mine")
    link = inside.with_name("link.jsonl")
    link.symlink_to(outside)
    loose = inside.with_name("loose.jsonl")
    loose.symlink_to(work / "nowhere")
    for path in (outside, inside.parent / "notes.txt", inside.parent / "notes.jsonl", inside.parent):
        told = pitree("rm", path, "--yes")
        assert told.code == 1
        assert told.err
        assert path.exists()
    assert pitree("rm", link, "--yes").code == 0
    assert outside.exists()
    assert not link.is_symlink()
    assert pitree("rm", loose, "--yes", "--for-good").code == 0
    assert not loose.is_symlink()
    assert pitree("rm", inside, outside, "--yes").code == 1
    assert inside.exists(), "all or nothing"


def test_rm_without_a_trash(pitree: Run, store: Store, work: Path, home: Path) -> None:
    path = store.add(talk(work))
    (home / "data").write_text("in the way")
    told = pitree("rm", path, "--yes")
    assert told.code == 1
    assert "cannot be put into the trash" in told.err
    assert "--for-good" in told.err
    assert path.exists()
    told = pitree("rm", path, "--yes", "--for-good")
    assert told.out == f"removed for good: {path}\n"
    assert not path.exists()
    assert "there is nothing to undo" in pitree("undo").error


# ---- undo


def test_undo_takes_back_one_after_the_other(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    original = path.read_bytes()
    with SessionFile.load(path) as session:
        labels, name, branch = session.tree.labels, session.tree.name, session.tree.path("00000009")
        branch_ids = [entry.id for entry in branch]
    pitree("move", path, "00000004", "--label", "here")
    pitree("label", path, "00000001", "other")
    pitree("name", path, "--clear")
    fork = Path(pitree("fork", path).out.rstrip("\n"))
    pitree("rm", path, "--yes")
    listed = [deed["kind"] for deed in pitree("undo", "--list", "--json").document]
    assert listed == ["delete", "fork", "name", "label", "label", "move"]
    for _ in listed:
        told = pitree("undo")
        assert (told.code, told.err) == (0, "")
        assert told.out.startswith("undone: ")
    assert not fork.exists()
    assert path.read_bytes().startswith(original), "undoing appends"
    with SessionFile.load(path) as session:
        assert (session.tree.labels, session.tree.name) == (labels, name)
        now = [entry.id for entry in session.tree.path(session.tree.leaf_id)]
        assert now[:-1] == branch_ids
    assert pitree("undo").error == "there is nothing to undo"


def test_undo_lists_times_of_the_clock_here(
    pitree: Run, store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pitree("name", store.add(talk(work)), "a name")
    [deed] = pitree("undo", "--list", "--json").document
    monkeypatch.setenv("TZ", "XXX-05:30")
    time.tzset()
    try:
        listed = pitree("undo", "--list").out
    finally:
        monkeypatch.undo()
        time.tzset()
    there = datetime.fromisoformat(deed["at"]) + timedelta(hours=5, minutes=30)
    assert listed.startswith(f"{there:%Y-%m-%d %H:%M}  name")


def test_undo_does_not_take_back_what_was_built_on(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    fork = Path(pitree("fork", path).out.rstrip("\n"))
    with fork.open("ab") as file:
        file.write(b"\n")
    assert "has been written to since" in pitree("undo").error
    assert fork.exists()


def test_undo_of_another_session_in_its_place(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    pitree("name", path, "Tea")
    path.write_bytes(talk(work, "another").encoded())
    assert "another session" in pitree("undo").error


def test_what_cannot_be_noted_is_done_and_said(pitree: Run, store: Store, work: Path, home: Path) -> None:
    path = store.add(talk(work))
    (home / "state").write_text("in the way")
    told = pitree("name", path, "Tea")
    assert (told.code, told.out) == (0, "named: Tea\n")
    assert "cannot be undone from here" in told.err


# ---- what is refused


EVERY: list[tuple[str, ...]] = [
    ("move", "FILE", "00000001"),
    ("label", "FILE", "00000001", "x"),
    ("name", "FILE", "x"),
    ("fork", "FILE"),
    ("rm", "FILE", "--yes"),
    ("undo",),
]


@pytest.mark.parametrize("command", EVERY)
def test_read_only_refuses_and_says_so(
    command: tuple[str, ...], pitree: Run, store: Store, work: Path
) -> None:
    path = store.add(talk(work))
    pitree("name", path, "to undo")
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    told = pitree(*(path if word == "FILE" else word for word in command), "--read-only")
    assert told.error == "pitree was started with --read-only, so it changes nothing"
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize("command", EVERY)
def test_a_file_that_is_not_there(command: tuple[str, ...], pitree: Run, store: Store) -> None:
    told = pitree(*(store.root / "no.jsonl" if word == "FILE" else word for word in command))
    assert told.error
    assert not store.root.exists()


def test_calls_of_tools_are_not_files_of_a_summary(pitree: Run, store: Store, work: Path) -> None:
    made = talk(work)
    made.calls(call("write", path="/a"), call("bash", path="/b"))
    path = store.add(made)
    before = path.read_bytes()
    pitree("move", path, "00000002", "--summary", "x")
    (summary,) = added(path, before)
    assert summary["details"] == {"readFiles": [], "modifiedFiles": ["/a"]}
