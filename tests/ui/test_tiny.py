"""Terminals of hardly any size: tiling window managers go through them."""

from pathlib import Path

import pytest

from pitree.catalog.locations import Store

from .conftest import AppFactory
from .waiting import settled, tree, wait_until


@pytest.mark.parametrize("key", ["", "f1", "alt+m", "ctrl+g"], ids=["panes", "help", "labels", "question"])
async def test_no_size_is_too_small(app: AppFactory, store: Store, key: str) -> None:
    star: Path = next(store.root.glob("*paperboy*/*019ceb8b*"))
    async with app(file=star, pi="no-such-program").run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        if key:
            await pilot.press(key)
            await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        for width in (12, 9, 8, 7, 6, 5, 4, 3, 2, 1):
            await pilot.resize_terminal(width, max(1, width // 2))
            await pilot.pause()
        await pilot.resize_terminal(140, 40)
        await pilot.press("escape", "up")
        assert tree(pilot).session is not None
