"""The clipboard: what the terminal is given, and what it is spared."""

from pathlib import Path

import pytest

from pitree.agent import clipboard

from .conftest import AppFactory
from .files import message, session_file
from .waiting import browser, settled, wait_until


@pytest.mark.parametrize("tool", [True, False])
async def test_a_text_too_long_for_the_terminal_is_left_to_the_machine(
    app: AppFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, tool: bool
) -> None:
    given: list[str] = []

    def copy_locally(text: str) -> bool:
        given.append(text)
        return tool

    monkeypatch.setattr(clipboard, "copy_locally", copy_locally)
    path = tmp_path / "long.jsonl"
    text = "é" * 300_000
    session_file(path, message("user", text)).close()
    async with app(file=path).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: browser(pilot).said)
        assert given == [text]
        assert pilot.app.clipboard == ""
        assert browser(pilot).said.startswith("copied: é" if tool else "not copied: too long")
