"""What the screens look like, at the sizes that people have."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pitree import demo
from pitree.catalog.locations import FoundFile, Store, folder_name, session_paths
from pitree.catalog.scan import Mark, Scanned, read_session

from .conftest import NOW, AppFactory, as_family
from .waiting import browser, settled, tree, wait_until

SIZES = [(140, 40), (100, 30), (60, 20)]


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    found: tuple[int, int] = request.param
    return found


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param((), id="sessions"),
        pytest.param(("tab",), id="tree"),
        pytest.param(("tab", "tab"), id="entry"),
        pytest.param(("tab", "tab", "right"), id="context"),
        pytest.param(("tab", "alt+j", "alt+j", "tab", "left"), id="changes"),
    ],
)
async def test_panes(
    app: AppFactory, size: tuple[int, int], keys: tuple[str, ...], picture: SnapshotAssertion
) -> None:
    async with app(everything=True).run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        pytest.param(("ctrl+t", "down", "ctrl+t"), (200, 24), id="marked-wide"),
        pytest.param(("alt+g",), (140, 24), id="by-folder"),
        pytest.param(("alt+g", "alt+g"), (60, 20), id="by-day-narrow"),
        pytest.param(tuple("layout"), (140, 24), id="search"),
        pytest.param((*"layout", "space", *"has:branches", "alt+c"), (84, 20), id="search-narrowed"),
    ],
)
async def test_sessions(
    app: AppFactory, store: Store, keys: tuple[str, ...], size: tuple[int, int], picture: SnapshotAssertion
) -> None:
    as_family(store)
    async with app(everything=True).run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_reading_in_the_preview(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "home", "down", "tab", "number_sign", "slash", *"panel", "enter", "b", "l")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_sessions_while_they_are_read(
    app: AppFactory, store: Store, picture: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = session_paths(store)[0]
    goes_on = threading.Event()

    def read(file: FoundFile, mark: Mark | None = None, **given: Any) -> Scanned | None:  # noqa: ANN401
        if file != newest:
            goes_on.wait(20)
        return read_session(file, mark, **given)

    monkeypatch.setattr("pitree.catalog.sync.read_session", read)
    async with app(everything=True).run_test(size=(100, 20)) as pilot:
        await wait_until(pilot, lambda: browser(pilot)._doing == "reading 1/10" and browser(pilot).session)
        await pilot.pause(0.1)
        shown = pilot.app.export_screenshot()
        goes_on.set()
        await settled(pilot)
        assert shown == picture


async def test_forks_folded_and_filtered(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "ctrl+left", "ctrl+left", "ctrl+t")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_search_in_the_tree(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", *"zero")
        await wait_until(pilot, lambda: not tree(pilot).searching)
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_help(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 50)) as pilot:
        await settled(pilot)
        await pilot.press("f1")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_the_folder_is_gone(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app(everything=True, pi=sys.executable).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press(*"epub instead")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_labels(app: AppFactory, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "ctrl+l", "T", "home")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


DAMAGED = """\
{"type":"session","version":3,"id":"s","timestamp":"2026-03-14T10:00:00.000Z","cwd":"/home/ada/code/paperboy"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-03-14T10:00:01.000Z","message":{"role":"user","content":"A root"}}
{"type":"message","id":"bbbbbbbb","parentId":"gone0000","timestamp":"2026-03-14T10:00:02.000Z","message":{"role":"user","content":"An orphan"}}
{"type":"message","id":"cccccccc","parentId":"dddddddd","timestamp":"2026-03-14T10:00:03.000Z","message":{"role":"user","content":"In a cycle"}}
{"type":"message","id":"dddddddd","parentId":"cccccccc","timestamp":"2026-03-14T10:00:04.000Z","message":{"role":"user","content":"In the same cycle"}}
{"type":"message","id":"eeeeeeee","parentId":"eeeeeeee","timestamp":"2026-03-14T10:00:05.000Z","message":{"role":"user","content":"Its own parent"}}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-03-14T10:00:06.000Z","message":{"role":"user","content":"The root once more"}}
{"type":"message","id":"ffffffff","parentId":"aaaaaaaa","timestamp":"2026-03-14T10:00:07.000Z","message":{"role":"user","content":5}}
{"type":"message","id":"99999999","parentId":"ffffffff","times
"""  # noqa: E501 - lines of a session


async def test_damage(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    folder = store.root / folder_name(str(demo.START))
    (folder / "damaged.jsonl").write_text(DAMAGED)
    os.utime(folder / "damaged.jsonl", (NOW, NOW))
    async with app(file=folder / "damaged.jsonl").run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        await pilot.press("alt+up", "alt+up")
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture


async def test_nothing_there(app: AppFactory, picture: SnapshotAssertion) -> None:
    nowhere = Store(Path("/home/ada/.pi/agent/sessions"), flat=False, source="default")
    async with app(store=nowhere).run_test(size=(100, 20)) as pilot:
        await settled(pilot)
        assert pilot.app.export_screenshot() == picture
