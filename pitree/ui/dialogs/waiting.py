"""Waiting for a model to write a summary, with a way out."""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from pitree.agent.summary import ModelSummary, Progress, Stop, SummaryError

Ask = Callable[[Stop, Progress], ModelSummary]

_TICK_SECONDS = 0.5


class Waiting(ModalScreen[ModelSummary | SummaryError | None]):
    """Run `ask` beside the screen; the result is its own, or None where somebody left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False, priority=True)]

    DEFAULT_CSS = """
    Waiting { align: center middle; background: $background 60%; }
    Waiting > Vertical {
        width: 94%; max-width: 70; height: auto; max-height: 100%; background: $surface; padding: 0 2;
        border: round $primary; border-title-color: $primary; border-subtitle-color: $foreground-muted;
    }
    Waiting #waiting-about { height: auto; max-height: 50vh; }
    """

    def __init__(self, title: str, about: str, ask: Ask) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._ask = ask
        self._left = False
        self._characters = 0
        self._began = monotonic()

    def compose(self) -> ComposeResult:
        """Lay out what is being done, and how far it is."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            box.border_subtitle = "Esc gives it up"
            yield Static(Content(self._about), id="waiting-about")
            yield Static(id="waiting-progress")

    def on_mount(self) -> None:
        """Begin."""
        self._show()
        self.set_interval(_TICK_SECONDS, self._show)
        self._run()

    def on_unmount(self) -> None:
        """Let the program end when nobody waits any more."""
        self._left = True

    def _show(self) -> None:
        seconds = int(monotonic() - self._began)
        so_far = f", {self._characters:,} characters so far" if self._characters else ""
        self.query_one("#waiting-progress", Static).update(Content(f"{seconds} s{so_far}"))

    @work(thread=True, exit_on_error=False)
    def _run(self) -> None:
        result: ModelSummary | SummaryError
        try:
            result = self._ask(lambda: self._left, self._note)
        except SummaryError as error:
            result = error
        if not self._left:
            self.app.call_from_thread(self._finish, result)

    def _note(self, characters: int) -> None:
        self._characters = characters

    def _finish(self, result: ModelSummary | SummaryError) -> None:
        if self.is_active:
            self.dismiss(result)

    def action_leave(self) -> None:
        """Give it up."""
        self._left = True
        self.dismiss(None)
