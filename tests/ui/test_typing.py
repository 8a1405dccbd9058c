"""Typing faster than the screen answers."""

import pytest
from textual import events

from pitree.ui.dialogs.typing import TextEditor

from .conftest import AppFactory
from .waiting import browser, settled, wait_until


@pytest.mark.parametrize("typed", ["x", " of bananas"])
async def test_what_is_typed_just_before_it_is_taken_belongs_to_the_text(app: AppFactory, typed: str) -> None:
    program = app()
    async with program.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        taken: list[str | None] = []
        await program.push_screen(TextEditor("Title", "pong", verb="takes it"), taken.append)
        await pilot.pause()
        for character in typed:
            program.post_message(events.Key("space" if character == " " else character, character))
        program.post_message(events.Key("ctrl+s", "\x13"))
        await wait_until(pilot, lambda: taken)
        assert taken == [f"pong{typed}"]
        assert program.screen is browser(pilot)
