"""What the screens look like, at the sizes that people have."""

import sys

import pytest
from syrupy.assertion import SnapshotAssertion

from .conftest import AppFactory
from .waiting import settled, tree, wait_until

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
