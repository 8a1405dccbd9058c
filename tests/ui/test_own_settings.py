"""What the settings make of the screen: theme, scope, following, and what Enter does."""

import sys
from pathlib import Path

import pytest
from textual import constants

from pitree.agent.launch import Launch
from pitree.ui.handover import Ended

from .conftest import AppFactory
from .waiting import browser, sessions, settled, tree


async def test_a_theme_is_remembered(app: AppFactory, tmp_path: Path) -> None:
    first = app(state_dir=tmp_path)
    async with first.run_test() as pilot:
        await settled(pilot)
        assert first.theme == constants.DEFAULT_THEME
        first.theme = "dracula"
        await settled(pilot)
        assert browser(pilot).said == ""
    assert app(state_dir=tmp_path).theme == "dracula"
    assert app(state_dir=tmp_path, theme="nord").theme == "nord"
    assert app(state_dir=tmp_path, theme="none of that name").theme == "dracula"
    assert app().theme == constants.DEFAULT_THEME


async def test_a_theme_of_the_settings_comes_back(app: AppFactory, tmp_path: Path) -> None:
    program = app(state_dir=tmp_path, theme="nord", theme_is_set=True)
    async with program.run_test() as pilot:
        await settled(pilot)
        program.theme = "dracula"
        await settled(pilot)
        assert browser(pilot).said == "The settings name a theme: that is the one again the next time."


@pytest.mark.parametrize("content", [b"", b"[]", b'{"theme": 5}', b'{"theme": "gone"}', b"\xff"])
async def test_what_was_remembered_may_be_anything(app: AppFactory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "theme.json").write_bytes(content)
    assert app(state_dir=tmp_path).theme == constants.DEFAULT_THEME


async def test_a_theme_that_cannot_be_kept_is_said(app: AppFactory, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = app(state_dir=tmp_path / "file")
    async with program.run_test() as pilot:
        await settled(pilot)
        program.theme = "dracula"
        await settled(pilot)
        assert browser(pilot).said.startswith("The theme is not kept for the next time: ")


async def test_a_scope_to_begin_with(app: AppFactory, tmp_path: Path) -> None:
    async with app(scope="everything", state_dir=tmp_path).run_test() as pilot:
        await settled(pilot)
        assert len(sessions(pilot).rows_by_location) == 10
    async with app(state_dir=tmp_path).run_test() as pilot:
        await settled(pilot)
        assert sessions(pilot).view.scope == "folder", "what the settings say is not how it was left"
    async with app(scope="repository").run_test() as pilot:
        await settled(pilot)
        assert sessions(pilot).view.scope == "folder", "there is no repository here"


async def test_the_highlight_stays(app: AppFactory) -> None:
    async with app(following=False).run_test(size=(140, 30)) as pilot:
        await settled(pilot)
        assert "not following" in tree(pilot).status


async def test_enter_comes_back(app: AppFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Launch] = []

    def hand_over(_app: object, launch: Launch, _environ: object) -> Ended:
        started.append(launch)
        return Ended()

    monkeypatch.setattr("pitree.ui.handover.hand_over", hand_over)
    program = app(
        returning=True, is_folder=lambda _path: True, pi=sys.executable, cwd=Path.cwd(), everything=True
    )
    async with program.run_test() as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("r")  # from here: the session's folder is not on this machine
        await settled(pilot)
        assert len(started) == 1
        assert "--session" in started[0].argv
        assert program.is_running
        assert browser(pilot).said == "Back from Pi."
