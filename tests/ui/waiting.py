"""Waiting for a state of the screen, never for a time."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from pitree.ui.browser import Browser
from pitree.ui.following import STANDING
from pitree.ui.panes.preview import Preview
from pitree.ui.panes.sessions import SessionsPane
from pitree.ui.panes.tree import TreePane

PATIENCE_SECONDS = 20.0


async def wait_until(pilot: Pilot[Any], happened: Callable[[], object], what: str = "") -> None:
    """Let the program run until something is so; fail when it does not become so."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not happened():
                await pilot.pause(0.01)
    except TimeoutError:
        raise AssertionError(f"did not happen: {what or happened}") from None


def browser(pilot: Pilot[Any]) -> Browser:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, Browser)
    return screen


def sessions(pilot: Pilot[Any]) -> SessionsPane:
    return browser(pilot).query_one(SessionsPane)


def tree(pilot: Pilot[Any]) -> TreePane:
    return browser(pilot).query_one(TreePane)


def preview(pilot: Pilot[Any]) -> Preview:
    return browser(pilot).query_one(Preview)


def tree_texts(pilot: Pilot[Any]) -> list[str]:
    return list(tree(pilot).visible_texts())


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until the store is read, the highlighted session shown, and nothing is being worked on."""

    def quiet() -> bool:
        screen, shown = browser(pilot), sessions(pilot).highlighted
        loaded = screen.session is not None and screen.session.path == screen.session_path
        return (loaded or (shown is None and screen.session_path is None)) and not any(
            worker.is_running and worker.group != STANDING for worker in pilot.app.workers
        )

    for _ in range(3):  # a worker's last message can start another
        await wait_until(pilot, quiet, "the screen came to rest")
        await pilot.pause()
        await pilot.pause(0.06)  # past the debounce of the preview, which has no state to wait for
    await wait_until(pilot, quiet, "the screen came to rest")
