"""The mouse: what a click, a double click and the wheel do."""

from pathlib import Path

import pytest
from textual import events
from textual.message import Message

from pitree.catalog.locations import Store
from pitree.ui.dialogs.move import MoveDialog
from pitree.ui.lineview import RowList

from .conftest import AppFactory
from .waiting import browser, sessions, settled, tree, wait_until


@pytest.fixture
def star(store: Store) -> Path:
    return next(store.root.glob("*paperboy*/*019ceb8b*"))


async def test_a_click_goes_to_the_pane_and_the_row(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.click(tree(pilot), offset=(20, 3))
        assert tree(pilot).has_focus
        assert tree(pilot).cursor == int(tree(pilot).scroll_offset.y) + 2
        await pilot.click(sessions(pilot), offset=(10, 5))
        assert sessions(pilot).has_focus
        assert sessions(pilot).cursor == 4
        await settled(pilot)
        highlighted = sessions(pilot).highlighted
        assert highlighted is not None
        assert browser(pilot).session_path == highlighted.path


async def test_a_double_click_acts(app: AppFactory, star: Path) -> None:
    async with app(file=star, pi="no-such-pi").run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.double_click(tree(pilot), offset=(30, 4))
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, MoveDialog))
        await pilot.press("escape")
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await pilot.double_click(sessions(pilot), offset=(10, 2))
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 1, "it is about to resume")


async def test_the_wheel_scrolls_and_the_highlight_stays(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        before, cursor = int(pane.scroll_offset.y), pane.cursor
        pane.post_message(
            events.MouseScrollDown(
                pane, x=5, y=5, delta_x=0, delta_y=1, button=0, shift=False, meta=False, ctrl=False
            )
        )
        await wait_until(pilot, lambda: int(pane.scroll_offset.y) > before)
        assert pane.cursor == cursor


async def test_a_double_click_acts_once_and_on_a_fold_mark_never(app: AppFactory, star: Path) -> None:
    said: list[Message] = []
    async with app(file=star).run_test(size=(140, 40), message_hook=said.append) as pilot:
        await settled(pilot)
        pane = tree(pilot)

        def acted() -> int:  # each message is heard of again where it bubbles to
            return len({id(message) for message in said if isinstance(message, RowList.Activated)})

        await pilot.press("home")
        rows = pane.rows
        assert rows is not None
        row = next(row for row in range(len(rows)) if rows.foldable(row) and rows.connected(row))
        offset = (len(rows.lead(row)), row + 1)  # inside the border
        await pilot.double_click(pane, offset=offset)  # folds and unfolds
        assert pane.cursor == row
        await settled(pilot)
        assert acted() == 0
        await pilot.double_click(pane, offset=(40, 1))
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, MoveDialog))
        assert acted() == 1
