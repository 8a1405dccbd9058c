"""What was done, to take one of it back."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pitree.journal import Deed
from pitree.sessions.text import one_line


class Deeds(ModalScreen[Deed | None]):
    """A list of deeds, newest first; the result is the one to take back, None for Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave", show=False, priority=True)
    ]

    DEFAULT_CSS = """
    Deeds { align: center middle; background: $background 60%; }
    Deeds OptionList, Deeds OptionList:focus {
        width: 94%; min-width: 16; max-width: 110; height: auto; max-height: 80%;
        border: round $primary; background: $surface; border-title-color: $primary;
        border-subtitle-color: $foreground-muted;
    }
    """

    def __init__(self, deeds: Sequence[Deed], did: Callable[[Deed], str]) -> None:
        """List deeds; `did` says in words what one did."""
        super().__init__()
        self._did = did
        self._deeds = deeds

    def compose(self) -> ComposeResult:
        """List the deeds."""
        options = OptionList(
            *(Option(Content(one_line(f"{_when(deed)}  {self._did(deed)}", 300))) for deed in self._deeds)
        )
        options.border_title = "What pitree changed"
        options.border_subtitle = "Enter takes it back · Esc leaves"
        yield options

    def on_mount(self) -> None:
        """Begin with the newest."""
        self.query_one(OptionList).highlighted = 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the highlighted one."""
        self.dismiss(self._deeds[event.option_index])


def _when(deed: Deed) -> str:
    try:
        return f"{datetime.fromisoformat(deed.at).astimezone():%d %b %H:%M}"
    except ValueError:
        return ""
