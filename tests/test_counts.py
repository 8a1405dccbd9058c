"""How much is done, in numbers that are the same on every machine: bytes read, rows drawn, entries visited.

What these numbers cost in time is for `tests/performance` to measure; nothing here asserts one.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from performance.programs import PITREE, clean_environ
from performance.screen import Screen
from textual.strip import Strip
from ui.waiting import settled, tree, wait_until

from pitree.catalog.cache import Cache
from pitree.catalog.locations import Store
from pitree.catalog.sync import update
from pitree.sessions.file import SessionFile
from pitree.sessions.layout import Layout
from pitree.sessions.rows import Rows, layout_rows
from pitree.ui.app import PitreeApp
from pitree.ui.options import Options
from pitree.ui.panes.tree_view import TreeView

FOLDER = Path(__file__).parent
MOMENT = "2026-03-01T10:00:00.000Z"
# Read at every look: the first and the last bytes, which tell a file that grew from one that was rewritten,
# before the new ones are read and afterwards.
COMPARED_BYTES = 4 * 512
LONG = "a text of some length, as the result of a tool has one. " * 40
MANY = 20_000


def messages(count: int, *, first: int = 0, text: str = "hello", forks: int = 0) -> bytes:
    """Return lines of a conversation, one message in ten by the user.

    Each is the answer to the one before; with `forks` every so many-th also to the one before that.
    """
    made = []
    for number in range(first, first + count):
        above = number - (2 if forks and number % forks == 0 and number > 1 else 1)
        line = {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": f"{above:08x}" if number else None,
            "timestamp": MOMENT,
            "message": {
                "role": "user" if number % 10 == 0 else "bashExecution",
                "content": f"{text} {number}",
            },
        }
        made.append(json.dumps(line).encode() + b"\n")
    return b"".join(made)


def write(path: Path, content: bytes, *, cwd: str = "/") -> Path:
    header = {"type": "session", "version": 3, "id": path.stem, "timestamp": MOMENT, "cwd": cwd}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(header).encode() + b"\n" + content)
    return path


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as out:
        out.write(content)


# ---- bytes read twice


class Reads:
    """What was opened and read of the files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.opened: list[str] = []
        self.bytes = 0

    def clear(self) -> None:
        self.opened, self.bytes = [], 0


_WATCHED: list[Reads] = []


def _watch_opening(event: str, arguments: tuple[Any, ...]) -> None:
    """See every file that Python opens for reading, in whatever way."""
    if event != "open" or not _WATCHED or not isinstance(arguments[0], str | Path):
        return
    path = str(arguments[0])
    for reads in _WATCHED:
        if path.startswith(reads.folder) and path.endswith(".jsonl") and not arguments[2] & os.O_WRONLY:
            reads.opened.append(path)


@pytest.fixture(scope="module")
def _hook() -> None:
    sys.addaudithook(_watch_opening)  # for good: there is no way to take it away


@pytest.fixture
def reads(_hook: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    """Count what is read of session files below the test's folder."""
    counted = Reads(tmp_path)
    pread, read = os.pread, os.read

    def seen(fd: int, data: bytes) -> bytes:
        path = str(Path(f"/proc/self/fd/{fd}").readlink())
        if path.startswith(counted.folder) and path.endswith(".jsonl"):
            counted.bytes += len(data)
        return data

    if not Path("/proc/self/fd").exists():
        pytest.skip("the system does not tell which file is behind a number")
    monkeypatch.setattr("os.pread", lambda fd, length, offset: seen(fd, pread(fd, length, offset)))
    monkeypatch.setattr("os.read", lambda fd, length: seen(fd, read(fd, length)))
    _WATCHED.append(counted)
    yield counted
    _WATCHED.remove(counted)


def bytes_read_by_this_process() -> int:
    return int(Path("/proc/self/io").read_text(encoding="ascii").partition("rchar: ")[2].split()[0])


@pytest.mark.parametrize("piece", [700, 4096, 100_000], ids="in pieces of {}".format)
def test_a_growing_file_is_read_once(tmp_path: Path, reads: Reads, piece: int) -> None:
    path = write(tmp_path / "session.jsonl", messages(1000, text=LONG))
    more = messages(100, first=1000, text=LONG)
    with SessionFile.load(path) as session:
        looks = 0
        for start in range(0, len(more), piece):
            append(path, more[start : start + piece])
            assert not session.refresh().replaced
            looks += 1
        assert len(session.entries) == 1100
        size = path.stat().st_size
        assert session.size == size
    assert size <= reads.bytes <= size + (looks + 1) * COMPARED_BYTES
    assert len(reads.opened) == 1


def test_looking_at_what_grew_reads_what_is_new_whatever_there_was(tmp_path: Path, reads: Reads) -> None:
    new = messages(1, first=2000)
    read = []
    for text in ("hello", LONG):
        path = write(tmp_path / f"{len(text)}.jsonl", messages(2000, text=text))
        with SessionFile.load(path) as session:
            append(path, new)
            reads.clear()
            before = bytes_read_by_this_process()
            assert len(session.refresh().entries) == 1
            # what the patched functions do not see, the system does
            assert bytes_read_by_this_process() - before < len(new) + 5 * COMPARED_BYTES
            read.append(reads.bytes)
    assert read[0] == read[1] <= len(new) + COMPARED_BYTES


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "store"
    for number in range(20):
        write(root / f"--{number % 4}--" / f"{number}.jsonl", messages(200, text=LONG), cwd=f"/{number % 4}")
    return Store(root, flat=False, source="default")


def test_of_a_known_store_nothing_is_opened(tmp_path: Path, store: Store, reads: Reads) -> None:
    cache = Cache(tmp_path / "cache")
    try:
        rows: list[Any] = []
        update(store, cache, on_rows=lambda some, _done, _total: rows.extend(some))
        assert len(set(reads.opened)) == len(reads.opened) == 20
        size = sum(path.stat().st_size for path in store.root.glob("*/*.jsonl"))
        assert size <= reads.bytes <= size + 20 * COMPARED_BYTES
        reads.clear()
        rows.clear()
        update(store, cache, on_rows=lambda some, _done, _total: rows.extend(some))
        assert len({row.location for row in rows}) == 20
        assert (reads.opened, reads.bytes) == ([], 0)

        grown, new = store.root / "--1--" / "5.jsonl", messages(3, first=200)
        append(grown, new)
        update(store, cache, on_rows=lambda some, _done, _total: rows.extend(some))
        assert reads.opened == [str(grown)]
        assert len(new) <= reads.bytes <= len(new) + COMPARED_BYTES
    finally:
        cache.close()


# ---- rows drawn


async def test_a_screen_of_a_long_session_draws_what_is_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    row_strip = TreeView.row_strip

    def counted(self: TreeView, index: int, width: int) -> Strip:
        drawn.append(index)
        return row_strip(self, index, width)

    monkeypatch.setattr(TreeView, "row_strip", counted)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write(tmp_path / "long.jsonl", messages(MANY, forks=100))
    options = Options(
        store=Store(tmp_path / "none", flat=False, source="default"),
        cwd=tmp_path,
        file=path,
        environ={"PATH": ""},
    )
    async with PitreeApp(options).run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        page = pane.page
        assert pane.line_count > 100 * page
        top = int(pane.scroll_offset.y)
        assert set(drawn) <= set(range(top, top + page + 1))

        async def press(key: str) -> None:
            drawn.clear()
            await pilot.press(key)

        await press("up")
        assert len(drawn) == 2
        await press("home")
        assert set(drawn) <= {*range(page), pane.line_count - 1}
        await press("down")
        assert sorted(drawn) == [0, 1]
        await press("pagedown")
        assert len(drawn) <= page + 2
        await press("ctrl+u")
        assert len(drawn) <= pane.page
        await press("ctrl+d")
        assert len(drawn) <= pane.page
        await press("end")
        drawn.clear()
        before = pane.line_count
        append(path, messages(1, first=MANY))
        await wait_until(pilot, lambda: pane.line_count > before, "the new entry is a row")
        await settled(pilot)
        # the view goes along by one row: every other one is there already, or is drawn once more
        assert len(drawn) <= 2 * page


# ---- entries visited


@contextmanager
def counting(event: str) -> Iterator[list[int]]:
    """Count the lines, or the calls, that Python code runs meanwhile: what C code goes through costs none."""
    count = [0]
    former = sys.gettrace()

    def trace(frame: FrameType, happened: str, _argument: object) -> Callable[..., Any]:
        frame.f_trace_lines = event == "line"
        count[0] += happened == event
        return trace

    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(former)


def laid_out(path: Path, count: int, *, forks: int = 0) -> tuple[SessionFile, Layout]:
    session = SessionFile.load(write(path / f"{count}-{forks}.jsonl", messages(count, forks=forks)))
    return session, Layout(session.tree, session.tree.leaf_id)


def lines_run(work: Callable[[], Rows]) -> tuple[int, int]:
    """Return how many lines something ran, and how many rows came of it."""
    with counting("line") as count:
        rows = work()
    return count[0], len(rows)


def test_a_filter_visits_what_it_shows(tmp_path: Path) -> None:
    """A tenth are the user's: the others are passed over without a step for each."""
    session, layout = laid_out(tmp_path, MANY, forks=100)
    with session:
        everything, all_rows = lines_run(lambda: layout_rows(layout, "all"))
        few, rows = lines_run(lambda: layout_rows(layout, "user-only"))
    assert (all_rows, rows) == (MANY, MANY // 10)
    assert few < everything / 9
    assert few < 40 * rows


def test_a_straight_line_takes_no_step_for_each_row(tmp_path: Path) -> None:
    """Nor does a fold in it. The leaf is elsewhere: what stands for a hidden one is looked for upwards."""
    session, _ = laid_out(tmp_path, MANY)
    append(session.path, messages(1, first=MANY).replace(f"{MANY - 1:08x}".encode(), f"{50:08x}".encode()))
    with session:
        session.refresh()
        layout = Layout(session.tree, session.tree.leaf_id)
        everything, _ = lines_run(lambda: layout_rows(layout))
        folded, rows = lines_run(lambda: layout_rows(layout, folded={session.entries[100].id}))
    assert rows == 102
    assert everything < MANY / 10
    assert folded < 2 * rows


@pytest.mark.parametrize("forks", [0, 100])
def test_work_grows_as_the_session_does(tmp_path: Path, forks: int) -> None:
    """Ten times as many entries are ten times as many steps, not a hundred times."""
    steps = []
    for count in (MANY // 10, MANY):
        with counting("line") as lines:
            session, layout = laid_out(tmp_path, count, forks=forks)
            layout_rows(layout)
        session.close()
        steps.append(lines[0])
    assert steps[1] < 11 * steps[0]


def test_an_append_calls_as_much_in_a_long_session_as_in_a_short_one(tmp_path: Path) -> None:
    calls = []
    for count in (MANY // 10, MANY):
        session, layout = laid_out(tmp_path, count, forks=100)
        append(session.path, messages(2, first=count))
        with session, counting("call") as called:
            entries = session.refresh().entries
            rows = layout_rows(layout.grown(entries))
        assert len(entries) == 2
        assert len(rows) == count + 2
        calls.append(called[0])
    assert calls[0] == calls[1]


# ---- what is loaded before there is anything to see

# Each of these is for later: what a key asks for, what goes on behind the screen, what a colour needs.
LATER = {
    *("pygments", "markdown_it", "watchfiles", "send2trash", "regex", "tomllib", "shtab"),
    *("textual.widgets._text_area", "textual.widgets._markdown", "textual.widgets._data_table"),
    *("pitree.changes", "pitree.commands", "pitree.manager", "pitree.journal", "pitree.trash"),
    *("pitree.settings_file", "pitree.writing_commands"),
    *("pitree.agent.summary", "pitree.sessions.appending", "pitree.sessions.checkup", "pitree.sessions.find"),
    *("pitree.ui.palette", "pitree.ui.own_keys", "pitree.ui.dialogs.help", "pitree.ui.dialogs.move"),
    *("pitree.ui.documents.syntax", "pitree.ui.documents.markup", "pitree.ui.documents.context"),
}


# A store that was never seen is begun to be read while Textual is loaded; what is known needs none of it.
READING = {"pitree.catalog.cache", "pitree.catalog.scan", "pitree.catalog.sync", "pitree.catalog.tally"}


@pytest.mark.parametrize("start", ["a session", "a store never seen", "a known store"])
def test_what_the_first_frame_does_without(tmp_path: Path, start: str) -> None:
    path = write(tmp_path / "agent" / "sessions" / "--x--" / "one.jsonl", messages(30))
    told = tmp_path / "modules"
    environ = clean_environ(tmp_path)
    environ |= {
        "PYTHONPATH": f"{environ['PYTHONPATH']}{os.pathsep}{FOLDER}",
        "TEXTUAL_DRIVER": "first_frame:FirstFrame",
        "FIRST_FRAME_MODULES": str(told),
    }
    arguments, shown = ([str(path)], r"\b30/30\b") if start == "a session" else (["--all"], r"\b1/1\b")
    for _ in range(2 if start == "a known store" else 1):
        with Screen([*PITREE, *arguments], cwd=tmp_path, environ=environ) as screen:
            screen.wait(shown, screen.started)
            screen.send("ctrl+q")
            screen.finish()
    modules = set(told.read_text(encoding="utf-8").split("\n"))
    assert "pitree.ui.browser" in modules
    assert sorted(modules & LATER) == []
    if start != "a store never seen":
        assert sorted(modules & READING) == []
