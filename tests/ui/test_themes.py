"""What the palette offers: pitree's own actions, and every theme of Textual's."""

import pytest
from textual.theme import BUILTIN_THEMES

from .conftest import AppFactory
from .waiting import settled, tree_texts


@pytest.mark.parametrize("theme", sorted(BUILTIN_THEMES))
async def test_every_theme_can_be_chosen(app: AppFactory, theme: str) -> None:
    program = app(everything=True)
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        program.theme = theme
        await pilot.pause()
        await pilot.press("tab", "tab", "f1")
        assert program.current_theme.name == theme
        assert tree_texts(pilot)
        assert "foreground-disabled" in program.theme_variables


async def test_the_palette_has_our_actions_and_the_themes(app: AppFactory) -> None:
    program = app(everything=True)
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        offered = [command.title for command in program.get_system_commands(program.screen)]
        assert "Theme" in offered
        assert "Quit · Leave pitree" in offered
        assert not {"Keys", "Screenshot", "Maximize", "Minimize", "Quit"} & set(offered)
        assert len(offered) == len(set(offered))
