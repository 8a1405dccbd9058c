"""The program on the screen."""

import asyncio
import contextlib
import gc
import os
import signal
import threading
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from pitree.sessions.text import display, lines
from pitree.ui.alt_keys import teach_alt_keys
from pitree.ui.browser import Browser
from pitree.ui.keys import GLOBAL_KEYS, PREVIEW_KEYS, SESSIONS_KEYS, TREE_KEYS
from pitree.ui.options import Options

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent.launch import Launch  # noqa: F401 - in quotes below

_PATIENCE_SECONDS: Final = 3.0
_STARTED_SECONDS: Final = 1.0


class PitreeApp(App["Launch | None"], inherit_bindings=False):
    """pitree; what it returns is what to launch after it."""

    TITLE = "pitree"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+k"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", "Quit", show=False, priority=True)
    ]

    def __init__(self, options: Options) -> None:
        super().__init__()
        teach_alt_keys()
        self.options = options

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours that not every theme of Textual has; the style sheet cannot be read without."""
        return {"foreground-disabled": "ansi_bright_black"}

    def get_default_screen(self) -> Screen[None]:
        """Return the one screen there is."""
        return Browser(self.options)

    def on_mount(self) -> None:
        """Leave the terminal as it was also when the program is told to end from outside."""
        self.set_timer(_STARTED_SECONDS, _collect_garbage)
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None:
                # not on Windows, and not where the loop runs outside the main thread
                with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                    loop.add_signal_handler(number, self._told_to_end, number)

    def _told_to_end(self, number: int) -> None:
        """End; where the terminal is gone, without waiting for what can no longer be written to it."""
        last_resort = threading.Timer(_PATIENCE_SECONDS, os._exit, (128 + number,))
        last_resort.daemon = True
        last_resort.start()
        self.exit()

    def _fatal_error(self) -> None:
        """Say what went wrong, without the values of variables: they can hold whole conversations."""
        import traceback

        told = "\n".join(display(line) for line in lines(traceback.format_exc()))
        self.panic(
            Text(f"{told}\npitree ended because of an error in itself; what stood in sessions is as it was.")
        )

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield every action of the key table, and the choice of a theme.

        Textual's others are left out: its key panel squeezes the panes and stays when Esc is pressed, and its
        picture of the screen is a file of somebody's conversations.
        """
        yield from (command for command in super().get_system_commands(screen) if command.title == "Theme")
        if not isinstance(screen, Browser):
            return
        places = (SESSIONS_KEYS, TREE_KEYS, PREVIEW_KEYS)
        for place, (name, keys) in enumerate(zip(("Sessions", "Tree", "Preview"), places, strict=True)):
            for key in keys:
                action = partial(self._run_in_pane, screen, place, key.action)
                yield SystemCommand(f"{name}: {key.help}", key.shown, action)
        for key in GLOBAL_KEYS:
            if key.action not in {"command_palette", "next_pane", "previous_pane", "back"}:
                yield SystemCommand(key.help, key.shown, partial(self._run_on_screen, screen, key.action))

    async def _run_in_pane(self, screen: Browser, place: int, action: str) -> None:
        screen.focus_pane(place)
        await self.run_action(action, screen.panes[place])

    async def _run_on_screen(self, screen: Browser, action: str) -> None:
        await self.run_action(action, screen)


def _collect_garbage() -> None:
    """Begin to look for garbage, which the start does without; what is loaded by now stays."""
    gc.freeze()
    gc.enable()
