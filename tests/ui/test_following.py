"""What runs is on the screen: a session as it grows, is cut, replaced, removed; and the store around it."""

import asyncio
import gc
import json
import os
import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from pitree.catalog.locations import Store
from pitree.sessions import glimpse
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.rows import visible_rows
from pitree.ui.app import PitreeApp
from pitree.ui.options import Options

from .conftest import AppFactory
from .waiting import browser, preview, sessions, settled, tree, tree_texts, wait_until

MOMENT = "2026-03-01T10:00:00.000Z"
HEADER = json.dumps({"type": "session", "version": 3, "id": "s", "timestamp": MOMENT, "cwd": "/home/ada"})


def user(number: int, parent: int | None, text: str = "") -> str:
    message = {"role": "user", "content": text or f"text {number}"}
    ids = {"id": f"e{number}", "parentId": None if parent is None else f"e{parent}"}
    entry = {"type": "message", **ids, "timestamp": MOMENT, "message": message}
    return json.dumps(entry, ensure_ascii=False)


def lines(*made: str) -> bytes:
    return "".join(line + "\n" for line in made).encode()


def chain(start: int, end: int) -> list[str]:
    return [user(number, number - 1 if number else None) for number in range(start, end)]


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def leaf_is(pilot: Pilot[Any], entry_id: str) -> Callable[[], bool]:
    def check() -> bool:
        rows, session = tree(pilot).rows, browser(pilot).session
        return rows is not None and session is not None and rows.layout.leaf_id == entry_id

    return check


def highlighted(pilot: Pilot[Any]) -> str | None:
    entry = tree(pilot).highlighted
    return None if entry is None else entry.id


def grow(pilot: Pilot[Any]) -> None:
    """Take up what was appended, this moment."""
    session = browser(pilot).session
    assert session is not None
    session.read_growth()
    browser(pilot).session_grew(session.take_growth())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "apart" / "session.jsonl"
    made.parent.mkdir()
    made.write_bytes(lines(HEADER, *chain(0, 5)))
    return made


@pytest.mark.parametrize("poll", [False, True])
async def test_the_highlight_goes_with_the_leaf(poll: bool, app: AppFactory, path: Path) -> None:
    async with app(file=path, poll=poll).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        assert highlighted(pilot) == "e4"
        append(path, lines(user(5, 4)))
        await wait_until(pilot, leaf_is(pilot, "e5"))
        assert highlighted(pilot) == "e5"
        await wait_until(pilot, lambda: any("text 5" in line for line in preview(pilot).visible_texts()))
        append(path, lines(*chain(6, 9)))
        await wait_until(pilot, leaf_is(pilot, "e8"))
        assert highlighted(pilot) == "e8"
        assert "new" not in tree(pilot).status


async def test_elsewhere_nothing_moves_and_it_is_said(app: AppFactory, path: Path) -> None:
    write(path, lines(HEADER, *chain(0, 100)))
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press("up", "up", "up")
        before, scrolled = tree_texts(pilot), tree(pilot).scroll_offset
        append(path, lines(*chain(100, 103)))
        await wait_until(pilot, leaf_is(pilot, "e102"))
        assert highlighted(pilot) == "e96"
        assert tree(pilot).scroll_offset == scrolled
        assert tree_texts(pilot)[: len(before) - 1] == [text.replace("◆  leaf ", "•") for text in before[:-1]]
        assert "3 new: Alt+L" in tree(pilot).status
        label = {"type": "label", "id": "l1", "parentId": "e102", "targetId": "e96", "label": "x"}
        append(path, lines(json.dumps(label)))
        await wait_until(pilot, lambda: any("[x]" in text for text in tree_texts(pilot)))
        assert "3 new: Alt+L" in tree(pilot).status
        await pilot.press("alt+l")
        assert highlighted(pilot) == "e102"
        assert "new" not in tree(pilot).status


async def test_what_comes_at_the_moment_of_a_key_moves_nothing(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        tree(pilot).cursor = 1  # as a key does; nobody was told yet
        append(path, lines(user(5, 4)))
        grow(pilot)
        assert highlighted(pilot) == "e1"


async def test_following_can_be_left(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press("alt+w")
        assert "not following" in tree(pilot).status
        append(path, lines(user(5, 4)))
        await wait_until(pilot, leaf_is(pilot, "e5"))
        assert highlighted(pilot) == "e4"
        await pilot.press("alt+w")
        assert highlighted(pilot) == "e5"
        append(path, lines(user(6, 5)))
        await wait_until(pilot, leaf_is(pilot, "e6"))
        assert highlighted(pilot) == "e6"


async def test_a_line_that_is_not_finished_waits(app: AppFactory, path: Path) -> None:
    whole = lines(user(5, 4, "später 😀"))
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        cut = whole.index("😀".encode()[:2]) + 2  # in the middle of a character
        append(path, whole[:cut])
        await wait_until(pilot, lambda: "unfinished last line" in browser(pilot).remark)
        assert leaf_is(pilot, "e4")()
        append(path, whole[cut:])
        await wait_until(pilot, leaf_is(pilot, "e5"))
        assert "später 😀" in "\n".join(tree_texts(pilot))
        assert browser(pilot).remark == ""


async def test_folds_filter_search_and_highlight_stay(app: AppFactory, path: Path) -> None:
    branches = [
        user(10, 1, "a branch"),
        user(11, 10),
        user(12, 1, "another branch"),
        user(13, 12),
        user(14, 13),
    ]
    write(path, lines(HEADER, *chain(0, 5), *branches))
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        pane.select("e10")
        await pilot.press("ctrl+left", "ctrl+u")
        folded = tree_texts(pilot)
        assert any("▸" in text for text in folded)
        await wait_until(pilot, lambda: pane.filter == "user-only")
        whole = (HEADER, *chain(0, 5), *branches)
        append(path, lines(user(15, 14)))
        for number in (15, 16, 17):
            if number == 16:
                write(path, lines(*whole, user(16, 14)))
            elif number == 17:
                _replace(path, lines(*whole, user(17, 14)))
            await wait_until(pilot, leaf_is(pilot, f"e{number}"))
            assert highlighted(pilot) == "e10"
            assert pane.folds.branches == {"e10"}
            assert pane.filter == "user-only"
        await pilot.press(*"branch")
        await wait_until(pilot, lambda: "matches only" in pane.status)
        append(path, lines(user(18, 17, "third branch")))
        await wait_until(pilot, lambda: "third branch" in "\n".join(tree_texts(pilot)))
        assert len(pane.rows or ()) == 3


async def test_a_search_comes_to_an_end_while_an_agent_writes(app: AppFactory, path: Path) -> None:
    write(path, lines(HEADER, *chain(0, 20_000)))
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        browser(pilot).focus_pane(0)  # where nothing is read for a search
        await pilot.press("f5")
        await settled(pilot)
        pane, last = tree(pilot), 19_999
        pane.set_query("19999")

        def found() -> bool:
            nonlocal last
            last += 1
            append(path, lines(user(last, last - 1)))
            browser(pilot).look_at_session()
            return pane.rows is not None and len(pane.rows) == 1

        await wait_until(pilot, found)


async def test_what_a_pattern_found_stays_when_something_comes(app: AppFactory, path: Path) -> None:
    write(path, lines(HEADER, *chain(0, 40)))
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*"re:3.$")
        await wait_until(pilot, lambda: len(tree(pilot).rows or ()) == 10)
        append(path, lines(user(40, 39, "13"), user(41, 1, "again 37")))
        grow(pilot)
        assert len(tree(pilot).rows or ()) == 10, "not all rows for a moment"
        await wait_until(pilot, lambda: len(tree(pilot).rows or ()) == 11)


async def test_leaving_a_search_goes_back_to_the_leaf_wherever_it_is_now(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*"text", "space", "3")
        await wait_until(pilot, lambda: highlighted(pilot) == "e3")
        append(path, lines(user(5, 4)))
        await wait_until(pilot, leaf_is(pilot, "e5"))
        assert highlighted(pilot) == "e3"
        await pilot.press("escape")
        assert highlighted(pilot) == "e5"


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(content)
    beside.replace(path)


async def test_what_is_read_anew_is_read_to_the_end(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        _replace(path, lines(HEADER, *chain(0, 20_000)))

        def there() -> bool:
            browser(pilot).look_at_session()  # as every event does, and an agent makes many
            return leaf_is(pilot, "e19999")()

        await wait_until(pilot, there)
        append(path, lines(user(20_000, 19_999)))
        await wait_until(pilot, leaf_is(pilot, "e20000"))


async def test_a_file_that_goes_and_comes_again(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        before = tree_texts(pilot)
        shutil.rmtree(path.parent)
        await wait_until(pilot, lambda: "the file is gone" in browser(pilot).remark)
        assert tree_texts(pilot) == before, "what nobody else has any more stays to be read"
        path.parent.mkdir()
        write(path, lines(HEADER, *chain(0, 7)))
        await wait_until(pilot, leaf_is(pilot, "e6"))
        assert browser(pilot).remark == ""
        append(path, lines(user(7, 6)))
        await wait_until(pilot, leaf_is(pilot, "e7"))


async def test_what_is_no_session_for_a_while(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        write(path, b"")
        await wait_until(pilot, lambda: "is no Pi session" in browser(pilot).remark)
        write(path, lines(HEADER, *chain(0, 3)))
        await wait_until(pilot, leaf_is(pilot, "e2"))
        assert highlighted(pilot) == "e2"
        await pilot.press("home")
        write(path, b"")
        await wait_until(pilot, lambda: "is no Pi session" in browser(pilot).remark)
        write(path, lines(HEADER, *chain(0, 4)))
        await wait_until(pilot, leaf_is(pilot, "e3"))
        assert highlighted(pilot) == "e0"


async def test_a_file_takes_the_place_of_the_folder(app: AppFactory, path: Path) -> None:
    async with app(file=path).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        shutil.rmtree(path.parent)
        path.parent.write_bytes(b"")
        await wait_until(pilot, lambda: "the file is gone" in browser(pilot).remark)


async def test_large_sessions_that_were_read_before_are_let_go(
    app: AppFactory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitree.ui.panes.tree_view._MANY_ENTRIES", 3)
    before: list[weakref.ref[SessionFile]] = []
    try:
        async with app(file=path).run_test(size=(140, 30)) as pilot:
            for number in range(6, 12):
                await settled(pilot)
                session = browser(pilot).session
                assert session is not None
                before.append(weakref.ref(session))
                del session
                _replace(path, lines(HEADER, *chain(0, number)))
                await wait_until(pilot, leaf_is(pilot, f"e{number - 1}"))
            await settled(pilot)
            assert sum(session() is not None for session in before) <= 4, "the last ones may be in use"
    finally:
        gc.unfreeze()


# ---- anything at all, against a fresh reading


def fresh(path: Path) -> object:
    try:
        with SessionFile.load(path) as session:
            return [(row.entry.id, row.depth, row.label) for row in visible_rows(session.tree, "default")]
    except SessionError:
        return "no session"


def shown(pilot: Pilot[Any]) -> object:
    rows = tree(pilot).rows
    if "the file is gone" in browser(pilot).remark:
        return "gone"
    if "is no Pi session" in browser(pilot).remark:
        return "no session"
    return None if rows is None else [(row.entry.id, row.depth, row.label) for row in rows]


class Writer:
    """Does to a session file what may happen to one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next = 0
        self.begin()

    def entry(self, parent: int) -> str:
        self.next += 1
        return user(self.next, parent % self.next if self.next > 1 else None)

    def begin(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.next = 0
        self.path.write_bytes(lines(HEADER, *(self.entry(self.next) for _ in range(3))))

    def append(self, by: int) -> None:
        append(self.path, lines(*(self.entry(self.next - by % 3) for _ in range(by % 4 + 1))))

    def append_label(self, by: int) -> None:
        label = {
            "type": "label",
            "id": f"l{self.next}x{by}",
            "parentId": f"e{self.next}",
            "timestamp": MOMENT,
        }
        append(
            self.path, lines(json.dumps({**label, "targetId": f"e{by % (self.next + 1)}", "label": f"é{by}"}))
        )

    def append_piece(self, by: int) -> None:
        whole = lines(self.entry(self.next))
        append(self.path, whole[: by % len(whole)])

    def append_rubbish(self, by: int) -> None:
        append(self.path, b"\xff\x00 rubbish %d\n" % by)

    def truncate(self, by: int) -> None:
        os.truncate(self.path, by * 37 % (self.path.stat().st_size + 1))

    def rewrite(self, _by: int) -> None:
        self.begin()

    def replace(self, by: int) -> None:
        self.next = 100
        _replace(self.path, lines(HEADER, *(self.entry(100) for _ in range(by % 5))))

    def delete(self, _by: int) -> None:
        self.path.unlink()

    def delete_folder(self, _by: int) -> None:
        shutil.rmtree(self.path.parent)

    def do(self, what: str, by: int) -> None:
        if not self.path.exists():
            self.begin()
        else:
            getattr(self, what)(by)


DEEDS = [
    "append",
    "append_label",
    "append_piece",
    "append_rubbish",
    "truncate",
    "rewrite",
    "replace",
    "delete",
    "delete_folder",
]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(deeds=st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 200)), min_size=3, max_size=8))
def test_the_screen_is_what_a_fresh_reading_gives(
    deeds: list[tuple[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("writer")
    writer = Writer(folder / "apart" / "session.jsonl")
    options = Options(
        store=Store(folder / "none", flat=False, source="default"),
        cwd=folder,
        file=writer.path,
        environ={"PATH": ""},
    )

    async def run() -> None:
        async with PitreeApp(options).run_test(size=(100, 30)) as pilot:
            await wait_until(pilot, lambda: shown(pilot) == fresh(writer.path))
            for what, by in deeds:
                writer.do(what, by)
                expected = fresh(writer.path) if writer.path.exists() else "gone"
                await wait_until(pilot, lambda: shown(pilot) == expected, f"{what} {by} of {deeds}")  # noqa: B023

    asyncio.run(run())


# ---- the store


def titles(pilot: Pilot[Any]) -> list[str]:
    pane = sessions(pilot)
    return [row.title for row in pane.shown_rows]


@pytest.mark.parametrize("poll", [False, True])
async def test_sessions_come_change_and_go(poll: bool, app: AppFactory, store: Store) -> None:
    async with app(everything=True, poll=poll).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press("down")
        await settled(pilot)
        chosen = sessions(pilot).highlighted
        assert chosen is not None
        folder = store.root / "--new--"
        folder.mkdir()
        new = folder / "2026-03-01_new.jsonl"
        new.write_bytes(lines(HEADER, user(0, None, "brand new")))
        await wait_until(pilot, lambda: "brand new" in titles(pilot))
        now = sessions(pilot).highlighted
        assert now is not None
        assert now.location == chosen.location
        name = {"type": "session_info", "id": "n", "parentId": "e0", "timestamp": MOMENT, "name": "Renamed"}
        append(new, lines(json.dumps(name)))
        await wait_until(pilot, lambda: "Renamed" in titles(pilot))
        new.unlink()
        await wait_until(pilot, lambda: "Renamed" not in titles(pilot))
        folder.rmdir()
        other = store.root / "--other--"
        other.mkdir()
        (other / "2026-03-01_other.jsonl").write_bytes(lines(HEADER, user(0, None, "in another folder")))
        await wait_until(pilot, lambda: "in another folder" in titles(pilot))
        shutil.rmtree(other)
        await wait_until(pilot, lambda: "in another folder" not in titles(pilot))
        now = sessions(pilot).highlighted
        assert now is not None
        assert now.location == chosen.location


async def test_a_store_that_is_not_there_yet(app: AppFactory, tmp_path: Path) -> None:
    store = Store(tmp_path / "later" / "sessions", flat=False, source="default")
    async with app(store=store, everything=True).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        assert titles(pilot) == []
        folder = store.root / "--x--"
        folder.mkdir(parents=True)
        (folder / "2026-03-01_x.jsonl").write_bytes(lines(HEADER, user(0, None, "the first")))
        await wait_until(pilot, lambda: titles(pilot) == ["the first"])
        await wait_until(pilot, leaf_is(pilot, "e0"))


async def test_the_highlighted_session_is_removed(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press("down", "down")
        await settled(pilot)
        pane = sessions(pilot)
        chosen, below = pane.highlighted, pane.shown_rows[3]
        assert chosen is not None
        chosen.path.unlink()
        await wait_until(
            pilot, lambda: pane.highlighted is not None and pane.highlighted.location == below.location
        )
        await wait_until(pilot, lambda: browser(pilot).session_path == below.path)


async def test_the_end_that_comes_first_stays_where_it_is(
    app: AppFactory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks = [
        line
        for number in range(0, 60, 2)
        for line in (user(number, number - 2), user(number + 1, number - 2))
    ]
    forks[:2] = [user(0, None), user(1, 0)]
    write(path, lines(HEADER, *forks, *chain(60, 64)[1:], user(70, 58), user(71, 70), user(72, 71)))
    monkeypatch.setattr(glimpse, "WORTH_IT_BYTES", 0)
    monkeypatch.setattr(glimpse, "_FIRST_BYTES", 400)
    monkeypatch.setattr(glimpse, "_MOST_BYTES", 400)
    go_on = threading.Event()
    load = SessionFile.load.__func__  # type: ignore[attr-defined]

    def later(cls: type[SessionFile], *arguments: object) -> SessionFile:
        go_on.wait(20)
        whole = load(cls, *arguments)
        assert isinstance(whole, SessionFile)
        return whole

    monkeypatch.setattr(SessionFile, "load", classmethod(later))
    try:
        async with app(file=path).run_test(size=(140, 40)) as pilot:
            await wait_until(pilot, lambda: tree(pilot).rows is not None)
            await pilot.pause()
            shown = browser(pilot).session
            assert shown is not None
            assert not shown.complete

            def leaf_line() -> tuple[int, str]:
                texts = tree_texts(pilot)
                (row,) = (row for row, text in enumerate(texts) if " leaf " in text)
                return texts[row].index("◆"), texts[row]

            before, row = leaf_line(), tree(pilot).cursor - int(tree(pilot).scroll_offset.y)
            go_on.set()
            await wait_until(pilot, lambda: browser(pilot).session is not shown)
            await settled(pilot)
            rows = tree(pilot).rows
            assert rows is not None
            assert rows.leaf_row is not None
            assert rows.depths[rows.leaf_row] > 3, "or there is nothing to see"
            assert leaf_line() == before
            assert tree(pilot).cursor - int(tree(pilot).scroll_offset.y) == row
    finally:
        go_on.set()


async def test_what_time_alone_changes(app: AppFactory, store: Store) -> None:
    newest = max(store.root.glob("*/*.jsonl"), key=lambda file: file.stat().st_mtime)
    now = newest.stat().st_mtime
    clock = [now + 1]
    async with app(everything=True, clock=lambda: clock[0]).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)

        def first_line() -> str:
            return "".join(segment.text for segment in pane.render_line(0))

        await wait_until(pilot, lambda: tree(pilot).border_subtitle == "● live")
        assert "●" in first_line()
        clock[0] = now + 42
        await wait_until(pilot, lambda: tree(pilot).border_subtitle == "● quiet for 40 s")
        assert "●" in first_line()
        clock[0] = now + 200
        await wait_until(pilot, lambda: tree(pilot).border_subtitle == "● quiet for 3 min")
        await wait_until(pilot, lambda: "●" not in first_line())
        clock[0] = now + 10_000
        await wait_until(pilot, lambda: tree(pilot).border_subtitle in {"", None})
