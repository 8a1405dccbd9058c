"""The worst moments, made real: the program is killed between any two steps, and others write at once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from agent.build import Session
from commandline import Run, Store, forked, talk
from sessions import damaged

from pitree.sessions.file import SessionFile

ROOT = Path(__file__).parents[1]

# Runs a command of pitree, and kills itself without a word before its N-th step that changes a disk.
KILLED = """
import os, signal, sys
number = int(sys.argv.pop(1))
steps = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.truncate", "shutil.move", "os.chmod"}
def watch(event, arguments):
    global number
    changes = event in steps
    if event == "open" and isinstance(arguments[2], int):
        changes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        changes = changes and not str(arguments[0]).endswith(".pyc")
    if changes:
        step()
def step():
    global number
    number -= 1
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
def stepping(call):
    def stepped(*given, **named):
        step()
        return call(*given, **named)
    return stepped
import pitree.writing_commands, pitree.cli, send2trash
os.write, os.fsync, os.ftruncate = stepping(os.write), stepping(os.fsync), stepping(os.ftruncate)
sys.addaudithook(watch)
sys.exit(pitree.cli.main(sys.argv[1:]))
"""


def killed_before(number: int, arguments: list[str], home: Path) -> bool:
    """Run a command and say whether it was killed; it ends well otherwise."""
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_DATA_HOME": str(home / "data"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", KILLED, str(number), *arguments]
    done = subprocess.run(command, env=environ, cwd=home, capture_output=True, timeout=60, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()
    return done.returncode != 0


def old_version() -> bytes:
    return damaged.version_1()


def torn() -> bytes:
    return forked(Path("/home/ada")).encoded() + b'{"torn'


COMMANDS = {
    "move": (torn, ["move", "FILE", "00000004", "--summary", "left", "--label", "here"]),
    "name": (torn, ["name", "FILE", "Tea"]),
    "migration": (old_version, ["name", "FILE", "Tea", "--migrate"]),
    "fork": (torn, ["fork", "FILE"]),
    "rm": (torn, ["rm", "FILE", "--yes"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_between_any_two_steps(name: str, tmp_path: Path) -> None:
    """Whenever it happens, every line that was there is there: in place, beside it, or in the trash."""
    make, arguments = COMMANDS[name]
    content = make()
    kills = 0
    while True:
        home = tmp_path / f"{kills}"
        folder = home / ".pi/agent/sessions/--home-ada--"
        folder.mkdir(parents=True)
        path = folder / "session.jsonl"
        path.write_bytes(content)
        was_killed = killed_before(kills, [str(path) if word == "FILE" else word for word in arguments], home)
        seen = [path] if path.exists() else []
        seen += [*folder.glob("*.jsonl.v1"), *(home / "data").rglob("session.jsonl*")]
        assert any(file.read_bytes().startswith(content) for file in seen), f"lost at step {kills}"
        for file in folder.glob("*.jsonl"):  # what Pi would list
            with SessionFile.load(file) as session:
                allowed = 1 if content.endswith(b"torn") and file == path else 0
                assert len(session.damage) == allowed, (kills, file, session.damage)
                ids = [entry.id for entry in session.entries]
                assert all(entry.parent_id in {None, *ids} for entry in session.entries)
        if not was_killed:
            break
        kills += 1
        shutil.rmtree(home)
    assert kills > 2, "the steps were not seen"


# ---- others at once

WRITER = """
import pathlib, sys
from pitree.catalog.locations import Store
from pitree.changes import Changes
from pitree.journal import Journal
path = pathlib.Path(sys.argv[1])
changes = Changes(Store(path.parent, flat=True, source="test"), Journal(None))
print("ready", flush=True)
sys.stdin.readline()
was = None
for number in range(int(sys.argv[3])):
    text = f"{sys.argv[2]} {number} " + "x" * (number * 37 % 9000)
    done = changes.label(path, sys.argv[2], text, was)
    was = text.strip()
    print(done.entry_id, flush=True)
"""


def test_two_of_us_at_once(tmp_path: Path) -> None:
    """Together with the agent: see `agent/test_changes.py`."""
    path = damaged_free(tmp_path)
    told = run_together(
        path, [[sys.executable, "-c", WRITER, str(path), f"0000000{n}", "100"] for n in (1, 2)]
    )
    check_whole(path, told, 2)


def damaged_free(folder: Path) -> Path:
    made = Session(cwd=str(folder))
    made.user("hi")
    made.assistant("ok")
    return made.write(folder / "session.jsonl")


def run_together(path: Path, commands: list[list[str]]) -> list[list[str]]:
    """Start the programs, let them go at the same moment, and give what each said it wrote."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=path.parent)
        for command in commands
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    told = [writer.communicate(timeout=120)[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    return told


def check_whole(path: Path, told: list[list[str]], before: int) -> None:
    """See that every line is whole, everything acknowledged is there, ids are unique and parents exist."""
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    ids = [line["id"] for line in lines[1:]]
    assert len(ids) == len(set(ids)) == before + sum(map(len, told))
    assert {one for every in told for one in every} <= set(ids)
    assert all(line["parentId"] in {None, *ids} for line in lines[1:])
    with SessionFile.load(path) as session:
        assert session.damage == []


# ---- a store that must not change


def test_a_read_only_store_stays_as_it_is(pitree: Run, store: Store, work: Path) -> None:
    """Of a file system that refuses writes: every command says so, and every byte and time stays."""
    path = store.add(talk(work))
    old = path.with_name("old.jsonl")
    old.write_bytes(damaged.version_1())
    root = store.root
    if subprocess.run(["mount", "--bind", root, root], capture_output=True, check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
        before = {file: (file.read_bytes(), file.stat()) for file in root.rglob("*.jsonl*")}
        folders = {file: file.stat() for file in (root, *root.iterdir())}
        for command in (
            ("move", path, "00000001"),
            ("label", path, "00000001", "x"),
            ("name", path, "x"),
            ("name", old, "x", "--migrate"),
            ("fork", path),
            ("rm", path, "--yes"),
            ("rm", path, "--yes", "--for-good"),
        ):
            told = pitree(*command)
            assert told.code == 1, command
            assert "Read-only" in told.err or "cannot be written to" in told.err
            assert len(told.err.splitlines()) <= 2
        assert {file: (file.read_bytes(), file.stat()) for file in root.rglob("*.jsonl*")} == before
        assert {file: file.stat() for file in (root, *root.iterdir())} == folders
    finally:
        subprocess.run(["umount", "--lazy", root], check=True)
