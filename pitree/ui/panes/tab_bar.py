"""One line with tabs, and on the right a word about what is below."""

from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from pitree.ui.panes.document_view import component_style


class TabBar(Widget):
    """Shows the names of `tabs`. `style_class` gives the component class of the parent for a style's name."""

    DEFAULT_CSS = """
    TabBar { height: 1; width: 1fr; }
    """

    active: reactive[str] = reactive("")
    hint: reactive[str] = reactive("")
    """What stands on the right where there is room; safe to print."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, tabs: Sequence[str], style_class: Callable[[str], str]) -> None:
        super().__init__()
        self._tabs = tabs
        self._style_class = style_class
        self.set_reactive(TabBar.active, tabs[0])

    def _labels(self) -> Iterator[tuple[str, str]]:
        for tab in self._tabs:
            # brackets, because colour alone must not tell which one is active
            yield tab, f"[{tab.title()}]" if tab == self.active else f" {tab.title()} "

    def _style(self, name: str) -> Style:
        if not isinstance(self.parent, Widget):
            return Style.null()
        return component_style(self.parent, self._style_class(name))

    def render_line(self, y: int) -> Strip:
        """Draw the tabs, and the hint where there is room."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        segments = [
            Segment(label, self._style("tab-active" if tab == self.active else "tab"))
            for tab, label in self._labels()
        ]
        room = width - sum(len(segment.text) for segment in segments) - cell_len(self.hint)
        if room > 0:
            segments += [Segment(" " * room), Segment(self.hint, self._style("muted"))]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Say which tab was clicked."""
        end = 0
        for tab, label in self._labels():
            end += len(label)
            if event.x < end:
                self.post_message(self.Chosen(tab))
                return
