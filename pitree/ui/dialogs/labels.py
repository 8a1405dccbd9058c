"""The labels of a session, to go to one."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pitree.sessions.text import one_line


class Labels(ModalScreen[str | None]):
    """A list of labels; the result is the id of the entry chosen, None for Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave", show=False, priority=True)
    ]

    DEFAULT_CSS = """
    Labels { align: center middle; background: $background 60%; }
    Labels OptionList, Labels OptionList:focus {
        width: 94%; min-width: 16; max-width: 70; height: auto; max-height: 80%;
        border: round $primary; background: $surface; border-title-color: $primary;
        border-subtitle-color: $foreground-muted;
    }
    """

    def __init__(self, labels: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._labels = labels

    def compose(self) -> ComposeResult:
        """List the labels in the order in which their entries stand in the file."""
        options = OptionList(*(Option(Content(one_line(label, 200))) for _, label in self._labels))
        options.border_title = "Labels"
        options.border_subtitle = "Enter goes there · Esc leaves"
        yield options

    def on_mount(self) -> None:
        """Begin with the first."""
        self.query_one(OptionList).highlighted = 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the highlighted one."""
        self.dismiss(self._labels[event.option_index][0])
