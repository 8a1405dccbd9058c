"""The program on the screen."""

import asyncio
import contextlib
import gc
import io
import os
import signal
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.console import Console, RenderableType
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.screen import ModalScreen, Screen

from pitree.sessions.text import one_line
from pitree.ui.alt_keys import teach_alt_keys
from pitree.ui.browser import Browser
from pitree.ui.handover import STOPPING
from pitree.ui.keys import USUAL_KEYS
from pitree.ui.options import Options
from pitree.ui.state import ThemeStore

if TYPE_CHECKING:  # what the first picture does not need
    from textual.command import Provider

    from pitree.agent.launch import Launch  # noqa: F401 - in quotes below

_PATIENCE_SECONDS: Final = 3.0
_STARTED_SECONDS: Final = 1.0
_LEAVING_SECONDS: Final = 0.01


def _actions() -> "type[Provider]":
    """Return what finds actions for the palette, which the first picture does not need."""
    from pitree.ui.palette import Actions

    return Actions


class PitreeApp(App["Launch | None"], inherit_bindings=False):
    """pitree; what it returns is what to launch after it."""

    TITLE = "pitree"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar["set[type[Provider] | Callable[[], type[Provider]]]"] = {_actions}
    COMMAND_PALETTE_BINDING = "ctrl+k"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", "Quit", show=False, priority=True)
    ]

    def __init__(self, options: Options) -> None:
        super().__init__()
        teach_alt_keys(options.keys)
        self.options = options
        self.failure: BaseException | None = None
        """The error that ended it, if one did."""
        self._kept_theme = ThemeStore(options.state_dir)
        for wanted in (options.theme, self._kept_theme.load()):
            if wanted in self.available_themes:
                self.theme = wanted
                break
        self._theme_at_start = self.theme
        if options.keys is not USUAL_KEYS:
            from pitree.ui.rebinding import rebind_app

            rebind_app(self, options.keys)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours that not every theme of Textual has; the style sheet cannot be read without."""
        return {"foreground-disabled": "ansi_bright_black"}

    def push_screen(self, screen: Any, *args: Any, **given: Any) -> Any:  # noqa: ANN401 - Textual's own are many
        """Show a screen; a dialog with the person's keys."""
        if self.options.keys is not USUAL_KEYS and isinstance(screen, ModalScreen):
            from pitree.ui.rebinding import rebind_dialog

            rebind_dialog(screen, self.options.keys)
        return super().push_screen(screen, *args, **given)

    def watch_theme(self, theme: str) -> None:
        """Remember a theme that somebody chose."""
        if not self.is_running or theme == self._theme_at_start:
            return
        self._theme_at_start = theme
        screen = self.screen_stack[0]
        try:
            self._kept_theme.save(theme)
        except OSError as error:
            told = f"The theme is not kept for the next time: {error.strerror or error}"
        else:
            told = "The settings name a theme: that is the one again the next time."
            if not self.options.theme_is_set:
                return
        if isinstance(screen, Browser):
            screen.say(one_line(told, 300), warning=True)

    def get_default_screen(self) -> Screen[None]:
        """Return the one screen there is."""
        return Browser(self.options)

    def on_mount(self) -> None:
        """Leave the terminal as it was also when the program is told to end from outside."""
        self.set_timer(_STARTED_SECONDS, _collect_garbage)
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None:
                # not on Windows, and not where the loop runs outside the main thread
                with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                    loop.add_signal_handler(number, self._told_to_end, number)
        for number in STOPPING:
            handler = signal.getsignal(number)
            if callable(handler):
                # Textual's own runs in the middle of whatever it interrupts: while something is being
                # written to the terminal it would wait for that for ever
                with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                    loop.add_signal_handler(number, handler, number, None)

    def post_display_hook(self) -> None:
        """Tell the screen of its first picture, as soon as that is on the terminal."""
        screen = self.screen
        if isinstance(screen, Browser) and not screen.is_shown:
            screen.is_shown = True
            screen.first_shown()

    def _told_to_end(self, number: int) -> None:
        """End; where the terminal is gone, without waiting for what can no longer be written to it."""
        last_resort = threading.Timer(_PATIENCE_SECONDS, self._give_up, (128 + number,))
        last_resort.daemon = True
        last_resort.start()
        self.exit(return_code=128 + number)

    def _give_up(self, code: int) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Browser):
                screen.remove_copies()
        os._exit(code)

    def _fatal_error(self) -> None:
        """End; what went wrong is for the log, not for the terminal: it can hold whole conversations."""
        self.failure = self.failure or self._exception
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """End as after any other error; Textual says some of its own in its own way."""
        if self._exception is None:
            told = io.StringIO()
            Console(file=told, width=200, color_system=None).print(*renderables)
            self.failure = self.failure or RuntimeError(told.getvalue())
        self._return_code = 1
        self._fatal_error()

    def action_command_palette(self) -> None:
        """Show the palette; where the one before is still being taken away, once it is gone."""
        # both would have the same id, with which Textual ends the program
        there = any(isinstance(node, CommandPalette) for node in self._nodes)
        if not there:
            from pitree.ui.palette_screen import Palette

            self.push_screen(Palette(id="--command-palette"))
        elif not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            self.set_timer(_LEAVING_SECONDS, self.action_command_palette)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield every action of the key table, and the choice of a theme.

        Textual's others are left out: its key panel squeezes the panes and stays when Esc is pressed, and its
        picture of the screen is a file of somebody's conversations.
        """
        yield from (command for command in super().get_system_commands(screen) if command.title == "Theme")
        if isinstance(screen, Browser):
            from pitree.ui.palette import palette

            yield from palette(screen)


def _collect_garbage() -> None:
    """Begin to look for garbage, which the start does without; what is loaded by now stays."""
    gc.freeze()
    gc.enable()
