"""Links, copies and complaints of the preview, on the whole screen."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from pitree.catalog.locations import Store, folder_name
from pitree.ui.app import PitreeApp

from .conftest import AppFactory
from .waiting import browser, preview, settled, tree, wait_until


async def at_the_preview(pilot: Pilot[Any]) -> None:
    await settled(pilot)
    await pilot.press("tab", "tab")
    await settled(pilot)


def shown(pilot: Pilot[Any]) -> str:
    return next(iter(preview(pilot).visible_texts()))


async def test_a_link_moves_the_highlight_and_back(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await at_the_preview(pilot)
        start = tree(pilot).highlighted
        assert start is not None
        await pilot.press("right", "down", "l")  # the first message of the context
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        first = tree(pilot).highlighted
        assert first is not None
        assert (first.role, first.id) == ("user", "66bb6486")
        assert shown(pilot) == f"context at {first.id}"
        await pilot.press("backspace")
        await settled(pilot)
        assert tree(pilot).highlighted is start
        assert shown(pilot) == f"context at {start.id}"


async def test_what_the_filter_hides_is_shown_all_the_same(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await at_the_preview(pilot)
        start = tree(pilot).highlighted
        assert start is not None
        await pilot.press("l", "enter")  # the parent, which is no message
        await settled(pilot)
        assert tree(pilot).highlighted is start
        assert shown(pilot).startswith("custom · ")
        assert "hides" in browser(pilot).said
        await pilot.press("backspace")
        await settled(pilot)
        assert shown(pilot).startswith(f"assistant · {start.id}")


async def test_copying(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await at_the_preview(pilot)
        await pilot.press("y")
        await wait_until(pilot, lambda: pilot.app.clipboard.startswith("Committed as `9f2c1e7`."))
        await pilot.press("Y")
        await wait_until(pilot, lambda: pilot.app.clipboard.startswith("assistant · "))
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: pilot.app.clipboard.startswith("Committed as `9f2c1e7`."))
        assert "copied: " in browser(pilot).said


async def test_what_cannot_be_opened_is_said(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await at_the_preview(pilot)
        await pilot.press("enter")
        assert browser(pilot).said == "there is no pager; name one in $PAGER"
        await pilot.press("e")
        assert browser(pilot).said == "there is no editor; name one in $VISUAL or $EDITOR"
        await pilot.press("o")
        await wait_until(pilot, lambda: "No image" in browser(pilot).said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("PGh0bWw+", "no PNG, JPEG, GIF or WebP"),
        ("A", "cannot be read"),
        ("iVBORw0KGgo=", "no viewer is here"),
    ],
)
async def test_only_pictures_are_opened(app: AppFactory, store: Store, data: str, said: str) -> None:
    folder = store.root / folder_name("/home/ada")
    folder.mkdir()
    image = f'{{"type":"image","mimeType":"image/png","data":"{data}"}}'
    path = folder / "x.jsonl"
    path.write_text(
        '{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/ada"}\n'
        '{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z",'
        f'"message":{{"role":"user","content":[{image}]}}}}\n'
    )
    made: PitreeApp = app(file=Path(path))
    async with made.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "o")
        await wait_until(pilot, lambda: said in browser(pilot).said, said)


async def test_escape_leaves_the_search_and_then_the_pane(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await at_the_preview(pilot)
        await pilot.press("slash", "a", "escape")
        assert not preview(pilot).can_back_out
        assert browser(pilot).focused is preview(pilot)
        await pilot.press("escape")
        assert browser(pilot).focused is tree(pilot)
