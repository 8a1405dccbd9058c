"""Events of a folder arrive, whatever becomes of the folder."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pitree.catalog.watch import watch_folder

PATIENCE_SECONDS = 20.0


class Heard:
    """What a watcher told."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self.anything = 0
        self.problems: list[str | None] = []
        self._changed = threading.Condition()

    def told(self, paths: frozenset[Path]) -> None:
        with self._changed:
            self.paths |= paths
            self.anything += not paths
            self._changed.notify_all()

    def problem(self, reason: str | None) -> None:
        with self._changed:
            self.problems.append(reason)
            self._changed.notify_all()

    def wait_until(self, happened: Callable[[], object]) -> None:
        with self._changed:
            assert self._changed.wait_for(happened, PATIENCE_SECONDS), (self.paths, self.problems)


@contextmanager
def watching(folder: Path, *, recursive: bool = True) -> Iterator[Heard]:
    heard, stop = Heard(), threading.Event()
    thread = threading.Thread(
        target=watch_folder,
        args=(folder, heard.told),
        kwargs={"stop": stop, "recursive": recursive, "problem": heard.problem},
    )
    thread.start()
    try:
        yield heard
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def write_until_heard(path: Path, heard: Heard) -> None:
    """Write until that is told: nobody can see from outside when a watch has begun."""
    ready = threading.Event()

    def write() -> None:
        while not ready.wait(0.05):
            with path.open("a") as file:
                file.write("x\n")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        heard.wait_until(lambda: path in heard.paths)
    finally:
        ready.set()
        thread.join()


def test_files_and_folders_that_come_change_and_go(tmp_path: Path) -> None:
    with watching(tmp_path) as heard:
        first = tmp_path / "a.jsonl"
        write_until_heard(first, heard)
        inner = tmp_path / "new" / "deeper"
        inner.mkdir(parents=True)
        write_until_heard(inner / "b.jsonl", heard)
        first.rename(tmp_path / "c.jsonl")
        heard.wait_until(lambda: tmp_path / "c.jsonl" in heard.paths)
        heard.paths.clear()
        (tmp_path / "c.jsonl").unlink()
        heard.wait_until(lambda: tmp_path / "c.jsonl" in heard.paths)
    assert heard.problems == []


@pytest.mark.parametrize("name", ["node_modules", ".git", "__pycache__", ".venv", "site-packages"])
def test_no_name_makes_it_blind(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name / "inner"
    folder.mkdir(parents=True)
    with watching(tmp_path) as heard:
        write_until_heard(folder / "a.jsonl", heard)


def test_a_folder_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    with watching(folder) as heard:
        folder.mkdir()
        heard.wait_until(lambda: heard.anything)
        write_until_heard(folder / "a.jsonl", heard)
        before = heard.anything
        shutil.rmtree(folder)
        folder.mkdir()
        heard.wait_until(lambda: heard.anything > before)
        heard.paths.clear()
        write_until_heard(folder / "a.jsonl", heard)


def test_only_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    with watching(tmp_path, recursive=False) as heard:
        write_until_heard(tmp_path / "a.jsonl", heard)
        (tmp_path / "inner" / "b.jsonl").touch()
        write_until_heard(tmp_path / "c.jsonl", heard)
    assert tmp_path / "inner" / "b.jsonl" not in heard.paths


_WITHOUT_FILES = """
import resource, sys, threading
from pathlib import Path
import watchfiles
from pitree.catalog.watch import watch_folder

resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))  # the standard three, and none for watching
stop = threading.Event()

def problem(reason):
    print(reason, flush=True)
    stop.set()

watch_folder(Path(sys.argv[1]), lambda paths: None, stop=stop, recursive=True, problem=problem)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what runs out there is not files")
def test_where_watching_is_not_to_be_had_it_is_said(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _WITHOUT_FILES, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert "Too many open files" in told.stdout


def test_what_prevents_it_is_told_once_however_often_it_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitree.catalog.watch._AGAIN_SECONDS", 0.01)
    tried = 0

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            nonlocal tried
            tried += 1
            return super().wait(timeout)

    bad = tmp_path / os.fsdecode(b"\xff")  # no path that watchfiles can tell
    bad.mkdir()
    heard, stop = Heard(), Stop()
    thread = threading.Thread(
        target=watch_folder,
        args=(tmp_path, heard.told),
        kwargs={"stop": stop, "recursive": True, "problem": heard.problem},
    )
    thread.start()
    try:
        heard.wait_until(lambda: heard.problems)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while tried < 5:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        bad.rmdir()
        heard.wait_until(lambda: None in heard.problems)
        assert len(heard.problems) == 2
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)
