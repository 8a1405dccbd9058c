"""One line with tabs, and on the right a word about what is below."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget


class TabBar(Widget):
    """Shows the names of `tabs`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab-bar--tab", "tab-bar--active", "tab-bar--hint"}

    DEFAULT_CSS = """
    TabBar {
        height: 1;
        width: 1fr;
        & > .tab-bar--tab { color: $foreground-muted; }
        & > .tab-bar--active { color: $foreground; text-style: bold; }
        & > .tab-bar--hint { color: $foreground-muted; }
    }
    """

    active: reactive[str] = reactive("")
    hint: reactive[str] = reactive("")
    """What stands on the right where there is room; safe to print."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Sequence[str]) -> None:
        super().__init__()
        self._tabs = tabs
        self.set_reactive(TabBar.active, tabs[0])

    def _labels(self) -> Iterator[tuple[str, str]]:
        for tab in self._tabs:
            # brackets, because colour alone must not tell which one is active
            yield tab, f"[{tab.title()}]" if tab == self.active else f" {tab.title()} "

    def render_line(self, y: int) -> Strip:
        """Draw the tabs, and the hint where there is room."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        style = self.get_component_rich_style
        segments = [
            Segment(label, style("tab-bar--active" if tab == self.active else "tab-bar--tab"))
            for tab, label in self._labels()
        ]
        room = width - sum(len(segment.text) for segment in segments) - cell_len(self.hint)
        if room > 0:
            segments += [Segment(" " * room), Segment(self.hint, style("tab-bar--hint"))]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Say which tab was clicked."""
        end = 0
        for tab, label in self._labels():
            end += len(label)
            if event.x < end:
                self.post_message(self.Chosen(tab))
                return
