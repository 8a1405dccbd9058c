"""Writing to session files: what is refused, what is migrated, and that failed writes change nothing."""

import fcntl
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from agent.build import Session, encode

from pitree import SessionManager
from pitree.sessions import writing
from pitree.sessions.errors import (
    EntryNotFoundError,
    InvalidValueError,
    NotASessionError,
    ReadOnlyError,
    SessionError,
    WriteError,
)
from pitree.sessions.file import SessionFile

from . import damaged
from .damaged import HI, OK, Make

LONG_AGO = 1_000_000_000
Append = Callable[[SessionManager], object]

APPENDS: dict[str, Append] = {
    "message": lambda session: session.append_message({"role": "user", "content": "more"}),
    "thinking level": lambda session: session.append_thinking_level_change("high"),
    "model": lambda session: session.append_model_change("p", "m"),
    "compaction": lambda session: session.append_compaction("short", None, 5),
    "custom": lambda session: session.append_custom_entry("c"),
    "name": lambda session: session.append_session_info("name"),
    "custom message": lambda session: session.append_custom_message_entry("c", "hi", display=True),
    "label": lambda session: session.append_label_change(HI, "here"),
    "edit": lambda session: session.append_context_edit(HI, None),
    "usage": lambda session: session.append_usage("k", "p", "m", {}),
    "summary": lambda session: session.branch_with_summary(HI, "left"),
}


def put(folder: Path, content: bytes) -> Path:
    path = folder / "session.jsonl"
    path.write_bytes(content)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def facts(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Give name, time and content of all files."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.iterdir())}


def memory(session: SessionManager) -> list[Any]:
    """Give all that a session holds."""
    tree = session.tree
    return [
        session.get_header(),
        session.get_session_file(),
        session.get_leaf_id(),
        session.get_entries(),
        tree.parents,
        tree.leaf_id,
        tree.labels,
        tree.name,
        session.build_session_context().messages,
    ]


@contextmanager
def nothing_changes(session: SessionManager, folder: Path) -> Iterator[None]:
    before = memory(session), facts(folder)
    yield
    assert memory(session) == before[0]
    assert {name: fact[1] for name, fact in facts(folder).items()} == {
        name: fact[1] for name, fact in before[1].items()
    }


# ---- what is refused


def version_of_letters() -> bytes:
    return damaged.talk(version="four").encoded()


@pytest.mark.parametrize("name", APPENDS)
@pytest.mark.parametrize(
    "make",
    [damaged.of_a_later_version, damaged.title_before_header, version_of_letters],
    ids=lambda m: m.__name__,
)
def test_what_is_only_to_be_looked_at(make: Make, name: str, tmp_path: Path) -> None:
    path = put(tmp_path, make())
    before = facts(tmp_path)
    with SessionManager.open(path) as session:
        kept = memory(session)
        with pytest.raises(ReadOnlyError, match=str(path)):
            APPENDS[name](session)
        with pytest.raises(ReadOnlyError, match=str(path)):
            session.create_branched_session(OK)
        assert memory(session) == kept
    refused = NotASessionError if make is damaged.title_before_header else ReadOnlyError
    with pytest.raises(refused, match=f"{path} is not forked: "):
        SessionManager.fork_from(path, tmp_path)
    assert facts(tmp_path) == before


@pytest.mark.parametrize(
    "make",
    [make for make in damaged.NO_SESSIONS if make is not damaged.empty],
    ids=lambda make: make.__name__,
)
def test_what_is_no_session(make: Make, tmp_path: Path) -> None:
    path = put(tmp_path, make())
    before = facts(tmp_path)
    for attempt in (SessionManager.open, lambda path: SessionManager.fork_from(path, tmp_path)):
        with pytest.raises(NotASessionError, match=str(path)):
            attempt(path)
    with SessionManager.in_memory() as session:
        kept = memory(session)
        with pytest.raises(NotASessionError):
            session.set_session_file(path)
        assert memory(session) == kept
    assert facts(tmp_path) == before


def test_a_folder_is_no_session(tmp_path: Path) -> None:
    with pytest.raises(NotASessionError, match="not a regular file"):
        SessionManager.open(tmp_path)


def test_looking_at_an_empty_file_leaves_it_empty(tmp_path: Path) -> None:
    path = put(tmp_path, b"")
    path.chmod(0o640)
    before = facts(tmp_path), path.stat().st_ino
    with SessionManager.open(path, cwd_override="/home/ada") as session:
        session.append_session_info("named")
        assert (facts(tmp_path), path.stat().st_ino) == before
        session.append_message({"role": "user", "content": "hi"})
    assert (path.stat().st_ino, path.stat().st_mode & 0o777) == (before[1], 0o640)
    with SessionManager.open(path) as again:
        assert (again.get_cwd(), again.get_session_name()) == ("/home/ada", "named")
        assert [entry["type"] for entry in again.get_entries()] == ["session_info", "message"]


WRONG: list[Append] = [
    lambda session: session.append_custom_entry("c", {1: 2}),
    lambda session: session.append_custom_entry("c", float("nan")),
    lambda session: session.append_custom_entry("c", {"set"}),
    lambda session: session.append_message({"role": "user", "content": [b"bytes"]}),
    lambda session: session.append_message({"content": "no role"}),
    lambda session: session.append_message({"role": "branchSummary", "summary": "x"}),
    lambda session: session.append_message({"role": "compactionSummary", "summary": "x"}),
    lambda session: session.append_compaction("x", None, 5, details=object()),
    lambda session: session.append_context_edit(HI, {"content": 5}),
    lambda session: session.append_context_edit(HI, {"content": [float("inf")]}),
    lambda session: session.branch_with_summary(HI, "x", details={"a": {1, 2}}),
    lambda session: session.new_session(session_id="-"),
]


@pytest.mark.parametrize("place", range(len(WRONG)))
def test_what_a_session_cannot_hold(place: int, tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with (
        SessionManager.open(path) as session,
        nothing_changes(session, tmp_path),
        pytest.raises(InvalidValueError),
    ):
        WRONG[place](session)
    assert path.stat().st_mtime == LONG_AGO
    with SessionManager.in_memory() as session:
        session.append_message({"role": "user", "content": "first"})
        with nothing_changes(session, tmp_path), pytest.raises((InvalidValueError, EntryNotFoundError)):
            WRONG[place](session)


# ---- old versions


def version_2() -> bytes:
    made = damaged.talk(version=2, metadata={"kept": [1.0, "\ud83d"]})
    made.message("hookMessage", customType="c", content="old", display=True, extra=10**30)
    made.entry("custom", id=HI, customType="a repeated id")
    return made.encoded()


@pytest.mark.parametrize(("make", "kept"), [(damaged.version_1, ".v1"), (version_2, ".v2")])
def test_the_first_write_migrates(make: Make, kept: str, tmp_path: Path) -> None:
    old = make()
    path = put(tmp_path, old)
    path.chmod(0o640)
    with SessionManager.open(path) as session:
        before = memory(session)
        assert facts(tmp_path) == {path.name: (LONG_AGO * 10**9, old)}, "looking alone does not"
        with pytest.raises(EntryNotFoundError):
            session.append_label_change("nowhere", "x")
        with pytest.raises(InvalidValueError):
            session.append_custom_entry("c", {"set"})
        assert facts(tmp_path) == {path.name: (LONG_AGO * 10**9, old)}, "a failed write does neither"
        count, leaf = len(session.get_entries()), session.get_leaf_id()
        added = session.append_session_info("migrated")
        now = memory(session)
        assert now[0] == {**before[0], "version": 3}
        assert now[3][:count] == before[3]
        assert (now[3][count]["parentId"], now[3][count]["id"]) == (leaf, added)
        assert now[8] == before[8]
    assert {name: fact[1] for name, fact in facts(tmp_path).items() if name != path.name} == {
        path.name + kept: old
    }
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in facts(tmp_path)] == [0o640, 0o640]
    with SessionFile.load(path) as written:
        assert written.version == 3
        lines = old.splitlines()
        assert len(path.read_bytes().splitlines()) == len(lines) + 1, "no line is lost"
        assert not written.read_only
        assert [written.body(entry) for entry in written.entries] == now[3]


def test_an_older_copy_is_not_written_over(tmp_path: Path) -> None:
    for number in range(3):
        path = put(tmp_path, damaged.version_1() + b" " * number)
        with SessionManager.open(path) as session:
            session.append_session_info("migrated")
    kept = {name: fact[1] for name, fact in facts(tmp_path).items() if name != "session.jsonl"}
    assert kept == {
        "session.jsonl.v1": damaged.version_1(),
        "session.jsonl.v1.2": damaged.version_1() + b" ",
        "session.jsonl.v1.3": damaged.version_1() + b"  ",
    }


def test_a_link_stays_one(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.version_1())
    link = tmp_path / "other" / "link.jsonl"
    link.parent.mkdir()
    link.symlink_to(path)
    with SessionManager.open(link) as session:
        session.append_session_info("migrated")
        assert session.get_session_file() == link
    assert link.is_symlink()
    assert sorted(made.name for made in tmp_path.iterdir()) == ["other", "session.jsonl", "session.jsonl.v1"]
    assert json.loads(path.read_bytes().splitlines()[-1])["name"] == "migrated"


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    path = put(tmp_path, damaged.version_1())
    with SessionManager.open(path) as session:
        session.append_session_info("migrated")
        kept = path.with_name("session.jsonl.v1")
        assert (kept.read_bytes(), kept.stat().st_mtime) == (damaged.version_1(), LONG_AGO)
        made = session.create_branched_session("00000001")
        assert made is not None
        assert made.exists()
        with pytest.raises(WriteError, match="exists already"):
            writing.create_file(path, [])
    put(tmp_path, damaged.version_1() + b" ")
    with SessionManager.open(path) as session:
        session.append_session_info("migrated again")
    assert (kept.read_bytes(), kept.stat().st_mtime) == (damaged.version_1(), LONG_AGO)
    assert path.with_name("session.jsonl.v1.2").read_bytes() == damaged.version_1() + b" "
    assert not list(tmp_path.glob(".*"))


def test_a_migration_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.version_1())
    with SessionManager.open(path) as session:
        for name in ("os.fsync", "pathlib.Path.replace"):
            with monkeypatch.context() as patched, nothing_changes(session, tmp_path):

                def fail(*_: object) -> None:
                    raise OSError(28, "No space left on device")

                patched.setattr(name, fail)
                with pytest.raises(WriteError, match=f"{path} could not be migrated: No space left"):
                    session.append_session_info("x")
        assert path.stat().st_mtime == LONG_AGO
        session.append_session_info("now")
    assert sorted(facts(tmp_path)) == ["session.jsonl", "session.jsonl.v1"]


def test_what_is_written_while_migrating_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without a lock appends between reading and replacing: then the migration is given up."""
    path = put(tmp_path, damaged.version_1())
    late = b'{"type":"message","timestamp":"x","message":{"role":"user","content":"late"}}\n'
    real = writing._write_beside

    def slow(*given: Any) -> Path:  # noqa: ANN401 - whatever the real one takes
        made = real(*given)
        with path.open("ab") as growing:
            growing.write(late)
        monkeypatch.setattr(writing, "_write_beside", real)
        return made

    monkeypatch.setattr(writing, "_write_beside", slow)
    with SessionManager.open(path) as session:
        with pytest.raises(WriteError, match="another program is writing to it"):
            session.append_session_info("x")
        session.append_session_info("now")
        assert session.get_entries()[2]["message"]["content"] == "late"


# ---- writes that fail


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse what goes beyond `size`, as a full disk does: after a part of it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", APPENDS)
@pytest.mark.parametrize("more", [0, 1, 40])
@pytest.mark.parametrize("tail", [b"", b'{"torn'])
def test_a_full_disk(name: str, more: int, tail: bytes, tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain() + tail)
    with SessionManager.open(path) as session:
        session.branch(HI)
        with (
            nothing_changes(session, tmp_path),
            files_of_at_most(path.stat().st_size + more),
            pytest.raises(WriteError, match=f"{path} could not be appended to: .*; it is as it was"),
        ):
            APPENDS[name](session)
        APPENDS[name](session)
        assert len(session.get_entries()) == 3


def test_a_full_disk_at_the_first_write(tmp_path: Path) -> None:
    for size in (0, 1, 300):
        folder = tmp_path / f"{size}"
        folder.mkdir()
        with SessionManager.create("/home/ada", folder) as session:
            session.append_session_info("waits")
            with nothing_changes(session, folder), files_of_at_most(size), pytest.raises(WriteError):
                session.append_message({"role": "user", "content": "x" * 300})
            session.append_message({"role": "user", "content": "hi"})
            assert [entry["type"] for entry in session.get_entries()] == ["session_info", "message"]
            (made,) = folder.iterdir()
            assert made == session.get_session_file()
            with nothing_changes(session, folder), files_of_at_most(size), pytest.raises(WriteError):
                session.create_branched_session(session.get_entries()[1]["id"])
            with nothing_changes(session, folder), files_of_at_most(size), pytest.raises(WriteError):
                SessionManager.fork_from(made, "/home/ada", folder)


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", tmp_path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system here")
    try:
        path = put(tmp_path, damaged.plain())
        with SessionManager.open(path) as session:
            with nothing_changes(session, tmp_path), pytest.raises(WriteError, match="as it was"):
                session.append_custom_entry("c", "x" * 40_000)
            session.append_custom_entry("c", "small")
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_first_write_that_cannot_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry counts, since it is in the file; and the next one goes there, too."""
    with SessionManager.create("/home/ada", tmp_path) as session:
        with monkeypatch.context() as patched:

            def fail(*_: object) -> None:
                raise OSError(24, "Too many open files")

            patched.setattr(SessionFile, "load", fail)
            with pytest.raises(WriteError, match="cannot be read again: Too many open files"):
                session.append_message({"role": "user", "content": "first"})
            with pytest.raises(WriteError, match="cannot be read again"):
                session.append_message({"role": "user", "content": "not taken"})
            assert len(session.get_entries()) == 1
        session.append_message({"role": "user", "content": "second"})
        path = session.get_session_file()
    assert path is not None
    stored = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    assert [entry["message"]["content"] for entry in stored] == ["first", "second"]
    assert stored[1]["parentId"] == stored[0]["id"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with SessionManager.create("/home/ada", tmp_path / "file" / "sessions") as session:
        with (
            nothing_changes(session, tmp_path),
            pytest.raises(WriteError, match="could not be made: Not a dir"),
        ):
            session.append_message({"role": "user", "content": "hi"})
        (tmp_path / "file").unlink()
        session.append_message({"role": "user", "content": "hi"})
        assert session.get_session_file() in list((tmp_path / "file" / "sessions").iterdir())


def test_a_file_that_is_there_already_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with SessionManager.open(path) as session:
        session.append_session_info("name")
        path.write_bytes(damaged.plain())
        with nothing_changes(session, tmp_path), pytest.raises(WriteError, match="exists"):
            session.append_message({"role": "user", "content": "hi"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    path.chmod(0o400)
    with (
        SessionManager.open(path) as session,
        nothing_changes(session, tmp_path),
        pytest.raises(WriteError, match="Permission denied"),
    ):
        session.append_session_info("x")


def test_a_read_only_file_system(tmp_path: Path) -> None:
    for make in (damaged.plain, damaged.version_1):
        put(tmp_path, make())
        bound = ["mount", "--bind", str(tmp_path), str(tmp_path)]
        if subprocess.run(bound, capture_output=True, check=False).returncode:
            pytest.skip("may not mount a file system here")
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", tmp_path], check=True)
            with (
                SessionManager.open(tmp_path / "session.jsonl") as session,
                nothing_changes(session, tmp_path),
            ):
                with pytest.raises(WriteError, match="Read-only file system"):
                    session.append_session_info("x")
                with pytest.raises(WriteError, match="Read-only file system"):
                    session.create_branched_session(session.get_entries()[0]["id"])
        finally:
            subprocess.run(["umount", "--lazy", tmp_path], check=True)


# ---- files that others change


def gone(path: Path) -> None:
    path.unlink()


def of_another_session(path: Path) -> None:
    path.write_bytes(damaged.talk(id="another").encoded())


def of_no_session(path: Path) -> None:
    path.write_bytes(b"something else\n")


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def of_a_later_version(path: Path) -> None:
    path.write_bytes(damaged.talk(version=4).encoded())


@pytest.mark.parametrize(
    "change",
    [gone, of_another_session, of_no_session, emptied, of_a_later_version],
    ids=lambda made: made.__name__,
)
@pytest.mark.parametrize("moved", [False, True])
def test_files_that_are_no_longer_the_session(
    change: Callable[[Path], None], moved: bool, tmp_path: Path
) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionManager.open(path) as session:
        if moved:  # even before the first entry, where every file would have a place for it
            session.reset_leaf()
        leaf = session.get_leaf_id()
        change(path)
        before = facts(tmp_path)
        for _ in range(2):
            with pytest.raises(SessionError, match=str(path)):
                session.append_session_info("x")
        assert facts(tmp_path) == before
        assert session.get_leaf_id() == leaf
        assert [entry.id for entry in session.tree.entries] == [HI, OK]


def test_a_file_that_was_replaced_by_itself_and_more(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    more = Session(id="x").encoded()
    with SessionManager.open(path) as session:
        made = damaged.talk()
        other = made.user("meanwhile")
        beside = tmp_path / "beside"
        beside.write_bytes(made.encoded())
        beside.replace(path)
        added = session.append_session_info("still here")
        assert [entry["id"] for entry in session.get_entries()] == [HI, OK, other, added]
        assert session.get_entries()[-1]["parentId"] == OK, "the leaf is this object's own"
    assert more not in path.read_bytes()


def test_a_file_that_was_replaced_by_an_old_version_of_itself(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    with SessionManager.open(path) as session:
        path.write_bytes(damaged.talk(version=2).encoded())
        session.append_session_info("migrated")
    assert sorted(facts(tmp_path)) == ["session.jsonl", "session.jsonl.v2"]


@pytest.mark.parametrize("cut", [1, 40, None])
def test_a_file_that_was_cut(cut: int | None, tmp_path: Path) -> None:
    """The leaf is gone from it: nothing is hung on an entry that is not there."""
    path = put(tmp_path, damaged.plain())
    with SessionManager.open(path) as session:
        second = session.tree.entries[1].offset
        os.truncate(path, second + (cut or 0))
        before = path.read_bytes()
        with pytest.raises(EntryNotFoundError, match=f"the leaf {OK} is no longer in {path}"):
            session.append_session_info("x")
        assert path.read_bytes() == before
        session.branch(HI)
        added = session.append_session_info("from what is left")
        assert [entry["id"] for entry in session.get_entries()] == [HI, added]
    assert path.read_bytes().startswith(before + (b"\n" if cut else b"") + b'{"type":"session_info"')


def test_a_file_that_is_rewritten_while_appending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.plain())
    real = writing.append_lines

    def rewritten(fd: int, path: Path, lines: list[bytes]) -> None:
        real(fd, path, lines)
        path.write_bytes(damaged.plain())

    with SessionManager.open(path) as session:
        monkeypatch.setattr(writing, "append_lines", rewritten)
        with pytest.raises(WriteError, match=r"was rewritten while an entry was appended; entry \w+ is lost"):
            session.append_session_info("x")
        assert session.get_leaf_id() == OK


def test_a_lock_is_of_the_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for the lock of a file that was replaced must not write to the one kept aside."""
    path = put(tmp_path, damaged.plain())
    kept = tmp_path / "kept"
    flock = fcntl.flock

    def replaced_while_waiting(fd: int, operation: int) -> None:
        if not kept.exists():
            path.rename(kept)
            path.write_bytes(damaged.plain())
        flock(fd, operation)

    monkeypatch.setattr("fcntl.flock", replaced_while_waiting)
    with SessionManager.open(path) as session:
        added = session.append_session_info("x")
        assert session.get_entry(added) is not None
    assert kept.read_bytes() == damaged.plain()


# ---- last lines


@pytest.mark.parametrize(
    "tail",
    [
        b'{"type":"custom","id":"x","parentId":"00000002","timestamp":"t"}',
        b'{"type":"message","id":"torn',
        b" ",
        b"\r",
    ],
)
def test_a_missing_newline_is_closed_in_the_same_write(
    tail: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = damaged.plain() + tail
    path = put(tmp_path, content)
    written: list[bytes] = []
    write = os.write

    def counting(fd: int, data: bytes) -> int:
        written.append(data)
        return write(fd, data)

    with SessionManager.open(path) as session:
        leaf = session.get_leaf_id()
        with monkeypatch.context() as patched:
            patched.setattr("os.write", counting)
            added = session.append_session_info("x")
        entry = session.get_entry(added)
        assert entry is not None
        assert entry["parentId"] == leaf
    assert written == [b"\n" + encode([entry])]
    assert path.read_bytes() == content + written[0]


def test_a_line_that_grows_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = damaged.plain()
    path = put(tmp_path, content[:-40])

    def write_on(_: float) -> None:
        with path.open("ab") as other:
            other.write(content[path.stat().st_size :][:30])

    with SessionManager.open(path) as session:
        monkeypatch.setattr("time.sleep", write_on)
        session.append_session_info("x")
        assert len(session.get_entries()) == 3
    assert path.read_bytes().startswith(content + b'{"type":"session_info"')


def test_two_programs_at_once(tmp_path: Path) -> None:
    path = put(tmp_path, damaged.plain())
    script = (
        "import sys\n"
        "from pitree import SessionManager\n"
        "with SessionManager.open(sys.argv[1]) as session:\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    for number in range(300):\n"
        "        text = sys.argv[2] * (1 + number * 37 % 9000)\n"
        "        print(session.append_message({'role': 'user', 'content': text}))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, path, letter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environ,
        )
        for letter in "ab"
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    told = [writer.communicate()[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    ids = [line["id"] for line in lines[1:]]
    assert len(ids) == len(set(ids)) == 602
    assert {*told[0], *told[1], HI, OK} == set(ids)
    for acknowledged in told:
        assert len(acknowledged) == 300
        chain = {line["id"]: line["parentId"] for line in lines[1:]}
        assert [chain[entry_id] for entry_id in acknowledged] == [OK, *acknowledged[:-1]]
    with SessionFile.load(path) as session:
        assert session.damage == []


# ---- others, at the worst moment


def before_lock(monkeypatch: pytest.MonkeyPatch, number: int, change: Callable[[], None]) -> None:
    """Let something happen while the `number`-th lock from now on is waited for."""
    flock = fcntl.flock
    waited = iter(range(1, 100))

    def wait(fd: int, operation: int) -> None:
        if next(waited) == number:
            change()
        flock(fd, operation)

    monkeypatch.setattr("fcntl.flock", wait)


def test_another_of_us_migrates_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.version_1())

    def migrate() -> None:
        with SessionManager.open(path) as other:
            other.append_session_info("theirs")

    with SessionManager.open(path) as session:
        before_lock(monkeypatch, 1, migrate)
        session.append_custom_entry("ours")
        assert [entry["type"] for entry in session.get_entries()[-2:]] == ["session_info", "custom"]
        assert session.get_session_name() == "theirs"
    assert sorted(facts(tmp_path)) == ["session.jsonl", "session.jsonl.v1"]


def test_a_file_that_becomes_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.plain())
    old = damaged.talk(version=2).encoded()
    with SessionManager.open(path) as session:
        before_lock(monkeypatch, 1, lambda: _replace(path, old))
        with pytest.raises(WriteError, match="older version"):
            session.append_session_info("x")
    assert path.read_bytes() == old


def test_an_empty_file_that_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, b"")
    with SessionManager.open(path) as session:
        before_lock(monkeypatch, 1, lambda: _fill(path))
        with pytest.raises(WriteError, match="no longer empty"):
            session.append_message({"role": "user", "content": "hi"})
    assert path.read_bytes() == damaged.plain()


def _fill(path: Path) -> None:
    path.write_bytes(damaged.plain())


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(content)
    beside.replace(path)


@pytest.mark.parametrize("name", ["replace_file", "append_lines"])
def test_changes_are_made_under_the_lock(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, damaged.version_1())
    real = getattr(writing, name)
    held: list[bool] = []

    def looking(*given: Any) -> Any:  # noqa: ANN401 - whatever the real one takes and gives
        with path.open("ab") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.append(False)
            except BlockingIOError:
                held.append(True)
        return real(*given)

    monkeypatch.setattr(writing, name, looking)
    with SessionManager.open(path) as session:
        session.append_session_info("x")
    assert held == [True]
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # and it is let go


def test_a_torn_line_that_others_have_written_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing can be taken away again, and the message says so; their line can still be read."""
    path = put(tmp_path, damaged.plain())
    other = {
        "type": "custom",
        "customType": "c",
        "id": "other",
        "parentId": OK,
        "timestamp": "2026-01-02T03:04:05.000Z",
    }
    write = os.write

    def half(fd: int, data: bytes) -> int:
        written = write(fd, data[: len(data) // 2])
        with path.open("ab") as theirs:
            theirs.write(encode([other]))
        return written

    with SessionManager.open(path) as session:
        with monkeypatch.context() as patched:
            patched.setattr("os.write", half)
            with pytest.raises(
                WriteError, match=r"only \d+ of \d+ bytes could be written; a torn line is left"
            ):
                session.append_session_info("x")
        session.append_session_info("y")
        assert [entry["id"] for entry in session.get_entries()][:3] == [HI, OK, "other"]
