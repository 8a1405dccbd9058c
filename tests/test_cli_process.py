"""pitree as a process: terminals, pipes, full disks; and becoming Pi."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from agent.build import SESSION_ID, Session
from commandline import PATIENCE_SECONDS, ROOT, Done, Run, Store, process, talk
from sessions import damaged

from pitree import __version__


def test_version_and_help(work: Path) -> None:
    assert work.is_dir()
    assert process("--version") == Done(0, f"pitree {__version__}\n", "")
    shown = process("--help")
    assert (shown.code, shown.err) == (0, "")
    for words in (
        "pitree [FILE|ID]",
        "pitree list",
        "pitree tree FILE",
        "--demo",
        "--version",
    ):
        assert words in shown.out


@pytest.mark.parametrize("command", ["list", "tree", "context", "show", "resume"])
def test_every_command_has_help(pitree: Run, command: str) -> None:
    shown = pitree(command, "--help")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"usage: pitree {command} ")
    assert ("--json" in shown.out) == (command != "resume")


def test_without_a_terminal_the_screen_refuses_politely(store: Store, work: Path) -> None:
    store.add(talk(work))
    for arguments in ([], [SESSION_ID], ["--demo"], ["--all"]):
        refused = process(*arguments)
        assert refused.code == 1
        assert refused.error == (
            "the screen needs a terminal; without one there are `pitree list`, `tree`, `context`, `show`"
        )


def test_a_reader_that_goes_away_is_no_trouble(store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    for number in range(3000):
        made.user(f"number {number} " + "x" * 100)
    path = store.add(made)
    for arguments in (["tree", path], ["tree", path, "--json"], ["context", path], ["list", "--json"]):
        with subprocess.Popen(
            [sys.executable, "-m", "pitree", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.read(1)
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait(PATIENCE_SECONDS) in {0, 1}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_one_line(store: Store, work: Path) -> None:
    store.add(talk(work))
    with Path("/dev/full").open("wb") as full:
        done = process("list", stdout=full)
    assert (done.code, done.err) == (1, "pitree: the system: No space left on device\n")


def test_closed_streams_are_no_reason_for_a_traceback(store: Store, work: Path) -> None:
    path = store.add(talk(work))
    python = f"PYTHONPATH={ROOT} {sys.executable} -m pitree"

    def shell(line: str) -> Done:
        done = subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    closed = shell(f"{python} list >&-")
    assert (closed.code, closed.error) == (1, "standard output is closed, so there is nowhere to print to")
    assert shell(f"{python} <&-").error.startswith("the screen needs a terminal")
    assert shell(f"{python} list --json 2>&-").code == 0
    assert shell(f"{python} tree nowhere 2>&-") == Done(1, "", "")
    assert path.exists()


def test_the_demo_can_be_printed_and_leaves_nothing(
    pitree: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    listed = pitree("list", "--demo", "--all", "--json").document
    assert len(listed) == 10
    assert {row["path"].startswith(str(tmp_path)) for row in listed} == {True}
    assert len(pitree("list", "--demo", "--json").document) < 10
    assert list((tmp_path / "temporary").iterdir()) == []


# resume


@pytest.fixture
def fake_pi(tmp_path: Path) -> Path:
    """Make a program that prints its arguments and its working directory, and ends with code 7."""
    program = tmp_path / "bin" / "pi"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$(pwd)" "$@"\nexit 7\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture
def on_path(fake_pi: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have that program be called `pi`."""
    monkeypatch.setenv("PATH", f"{fake_pi.parent}:/usr/bin:/bin")
    return fake_pi


def resumed(done: Done) -> list[str]:
    """Give the working directory and the arguments that the stand-in saw."""
    assert (done.code, done.err) == (7, "")
    return done.out.removesuffix("|").split("|")


@pytest.mark.usefixtures("on_path")
def test_resume_becomes_pi_in_the_folder_of_the_session(store: Store, work: Path) -> None:
    elsewhere = work.parent / "else where"
    elsewhere.mkdir()
    path = store.add(talk(elsewhere, "abc"))
    assert resumed(process("resume", "abc")) == [str(elsewhere), "--session", str(path)]
    assert resumed(process("resume", path, "go on\nplease")) == [
        str(elsewhere),
        "--session",
        str(path),
        "go on\nplease",
    ]
    assert resumed(process("resume", "abc", "--fork")) == [str(work), "--fork", str(path)]


@pytest.mark.usefixtures("on_path")
def test_resume_without_a_name_takes_the_newest_of_this_folder(store: Store, work: Path) -> None:
    path = store.add(talk(work, "newest"))
    old = Session(cwd=str(work), id="old")
    old.message("user", content="x", timestamp=1)
    store.add(old)
    store.add(talk(work.parent, "other"))
    assert resumed(process("resume")) == [str(work), "--session", str(path)]


def test_resume_with_a_program_of_another_name(store: Store, work: Path, fake_pi: Path) -> None:
    path = store.add(talk(work))
    named = fake_pi.rename(fake_pi.with_name("my pi"))
    expected = [str(work), "--session", str(path)]
    assert resumed(process("resume", "--pi", f"'{named}'")) == expected
    assert (
        resumed(process("resume", env={**os.environ, "PYTHONPATH": str(ROOT), "PITREE_PI": f"'{named}'"}))
        == expected
    )
    with_words = process("resume", SESSION_ID, "--pi", f"/bin/sh '{named}' --model m", "say this")
    assert resumed(with_words) == [str(work), "--model", "m", *expected[1:], "say this"]


def test_a_missing_pi_is_told_with_the_command_to_run(
    pitree: Run, store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = work.parent / "it's elsewhere"
    elsewhere.mkdir()
    path = store.add(talk(elsewhere, "abc"))
    monkeypatch.setenv("PATH", "/nowhere")
    missing = pitree("resume", "abc", "say this")
    assert missing.code == 1
    assert missing.error.startswith(
        "pi cannot be run (from PATH); install Pi, or name it with --pi or $PITREE_PI; "
    )
    command = missing.error.partition("the command to run is: ")[2]
    words = ["pi", "--session", str(path), "say this"]
    assert command == f"cd {shlex.quote(str(elsewhere))} && {shlex.join(words)}"
    missing = pitree("resume", "abc", "--fork", "--pi", "node /x/pi.js")
    words = ["node", "/x/pi.js", "--fork", str(path)]
    assert missing.error.endswith(
        f"the command to run is: cd {shlex.quote(str(work))} && {shlex.join(words)}"
    )


def test_a_folder_that_is_gone_is_asked_about(pitree: Run, store: Store, work: Path, on_path: Path) -> None:
    path = store.add(talk(work.parent / "gone", "abc"))
    gone = pitree("resume", "abc")
    assert gone.code == 1
    assert gone.error == (
        f"the session's folder {work.parent}/gone is gone; "
        f"--here resumes it from {work}, --fork forks it into there"
    )
    assert resumed(process("resume", "abc", "--here")) == [str(work), "--session", str(path)]
    assert resumed(process("resume", "abc", "--fork")) == [str(work), "--fork", str(path)]
    assert on_path.exists()


@pytest.mark.usefixtures("on_path")
def test_a_session_without_a_folder_resumes_here(store: Store, work: Path) -> None:
    path = store.add(talk(work, "abc"))
    path.write_bytes(path.read_bytes().replace(b'"cwd":', b'"odd":'))
    assert resumed(process("resume", path)) == [str(work), "--session", str(path)]


@pytest.mark.usefixtures("on_path")
def test_a_fork_goes_into_the_same_flat_store(work: Path, tmp_path: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    path = talk(work, "abc").write(flat / "session.jsonl")
    forked_ = resumed(process("resume", "abc", "--fork", "--session-dir", flat))
    assert forked_ == [str(work), "--session-dir", str(flat), "--fork", str(path)]


def test_what_cannot_be_resumed(pitree: Run, tmp_path: Path, on_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    refused = pitree("resume", files["title_before_header"])
    assert refused.code == 1
    assert refused.error == (
        f"{files['title_before_header']} cannot be resumed: "
        "line 1 stands before the header, so Pi does not take it for a session"
    )
    assert pitree("resume", files["plain"], "words", "--fork").error == (
        "a fork cannot be given a prompt; leave out --fork or the prompt"
    )
    on_path.write_text("no program\x00")
    failed = pitree("resume", files["plain"], "--here")
    assert (failed.code, failed.error) == (1, "pi could not be started: Exec format error")


def test_the_demo_waits_for_pi_and_gives_its_exit_code(on_path: Path, work: Path) -> None:
    where, *arguments = resumed(process("resume", "--demo"))
    assert where.endswith("/ada/code/paperboy")
    assert arguments[0] == "--session"
    assert not Path(arguments[1]).exists()  # it was there until the program ended
    assert on_path.exists()
    assert work.is_dir()
