"""A document on the screen: wraps what is visible, scrolls, keeps its place when the width changes."""

from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip

from pitree.ui.documents.layout import Layout
from pitree.ui.documents.model import STYLE_NAMES, Document
from pitree.ui.lineview import LineView

# Borders and scrollbar of a pane that has the whole screen.
_FRAME_WIDTH: Final = 3


class DocumentView(LineView, can_focus=False):
    """Shows a document."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"document--{name}" for name in STYLE_NAMES}

    DEFAULT_CSS = """
    DocumentView {
        height: 1fr;
        width: 1fr;
        scrollbar-gutter: stable;
        & > .document--text { color: $foreground; }
        & > .document--muted { color: $foreground-muted; }
        & > .document--key { color: $foreground-muted; }
        & > .document--heading { color: $foreground; text-style: bold; }
        & > .document--strong { color: $foreground; text-style: bold; }
        & > .document--emphasis { color: $foreground; text-style: italic; }
        & > .document--user { color: $text-primary; text-style: bold; }
        & > .document--assistant { color: $text-success; text-style: bold; }
        & > .document--tool { color: $text-secondary; text-style: bold; }
        & > .document--shell { color: $text-accent; text-style: bold; }
        & > .document--summary { color: $text-warning; text-style: bold; }
        & > .document--note { color: $text-accent; text-style: bold; }
        & > .document--setting { color: $foreground-muted; text-style: bold; }
        & > .document--other { color: $foreground-muted; text-style: bold; }
        & > .document--thinking { color: $foreground-muted; text-style: italic; }
        & > .document--code { color: $text-secondary; }
        & > .document--diff-add { color: $text-success; }
        & > .document--diff-remove { color: $text-error; }
        & > .document--error { color: $text-error; text-style: bold; }
        & > .document--warning { color: $text-warning; }
    }
    """

    wrap = reactive[bool](default=True, init=False)
    """Whether lines that are too long go on in the next row."""

    def __init__(self) -> None:
        super().__init__()
        self._layout_of = Layout(Document("", []), 1)

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._layout_of.document

    def show(self, document: Document, *, keep: bool = False) -> None:
        """Show a document from its top, or with `keep` from where the last one was scrolled to."""
        top = int(self.scroll_offset.y) if keep else 0
        self._lay_out(document, lambda _: top)

    def watch_wrap(self) -> None:
        """Lay the document out the other way."""
        self._lay_out_anew()

    def on_resize(self) -> None:
        """Lay the document out for the new width; what was at the top stays there."""
        if self.scrollable_content_region.width != self._layout_of.width:
            self._lay_out_anew()
        else:
            self._settle()

    def _lay_out_anew(self) -> None:
        place = self._layout_of.place(int(self.scroll_offset.y))
        self._lay_out(self.document, lambda layout: layout.row_at(place))

    def _lay_out(self, document: Document, top: Callable[[Layout], int]) -> None:
        # a hidden pane has no width; the first picture of it comes before it is told its own
        width = self.scrollable_content_region.width or self.app.size.width - _FRAME_WIDTH
        layout = Layout(document, max(1, width), wrap=self.wrap)
        self._layout_of = layout
        wanted = layout.settle(top(layout), self.page)
        self.set_line_count(layout.height)
        self._jump(wanted)
        self._settle()

    def _settle(self, *, upwards: bool = False) -> None:
        """Lay out what is on the screen; the rest is a guess until somebody scrolls there."""
        top = int(self.scroll_offset.y)
        height = self._layout_of.height
        settled = self._layout_of.settle(top, self.page, upwards=upwards)
        if self._layout_of.height != height:
            self._strips.clear()
            self.virtual_size = Size(0, self._layout_of.height)
            self.refresh()
        if settled != top:
            self._jump(settled)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Lay out what came into sight."""
        super().watch_scroll_y(old_value, new_value)
        self._settle(upwards=new_value < old_value)

    def action_last(self) -> None:
        """Scroll to the end, wherever it turns out to be."""
        top = self._layout_of.settle_end(self.page)
        self.set_line_count(self._layout_of.height)
        self._jump(top)

    # ---- drawing

    def style(self, name: str) -> Style:
        """Return the style of a span."""
        return super().style(f"document--{name}")

    def line_strip(self, index: int, width: int) -> Strip:
        """Draw one row."""
        row = self._layout_of.row(index)
        strip = Strip([Segment(text, self.style(name)) for text, name in row if text])
        return strip if strip.cell_length <= width else strip.crop(0, width)

    def visible_texts(self) -> Iterator[str]:
        """Yield the rows on the screen as plain text."""
        top = int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        for index in range(top, min(top + self.page, self.line_count)):
            yield self.line_strip(index, width).text.rstrip()
