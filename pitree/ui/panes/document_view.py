"""A document on the screen: wraps what is visible, scrolls, keeps its place when the width changes."""

from collections.abc import Callable, Iterator

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from pitree.ui.documents.layout import Layout
from pitree.ui.documents.model import Document
from pitree.ui.lineview import LineView


def component_style(widget: Widget, name: str) -> Style:
    """Return the style of a component class, without a background unless it sets one itself."""
    # the partial style leaves out that a colour is translucent, the whole one lays it on the background
    own = widget.get_component_rich_style(name, partial=True)
    return own + Style(color=widget.get_component_rich_style(name).color) if own.color else own


class DocumentView(LineView, can_focus=False):
    """Shows a document. `style_class` gives the component class of the parent for a style's name."""

    DEFAULT_CSS = """
    DocumentView { height: 1fr; width: 1fr; scrollbar-gutter: stable; }
    """

    wrap = reactive[bool](default=True, init=False)
    """Whether lines that are too long go on in the next row."""

    def __init__(self, style_class: Callable[[str], str]) -> None:
        super().__init__()
        self._style_class = style_class
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
        layout = Layout(document, self.scrollable_content_region.width, wrap=self.wrap)
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
        """Return the style of a span: a component class of the pane that this view is in."""
        style = self._styles.get(name)
        if style is None and isinstance(self.parent, Widget):
            style = self._styles[name] = component_style(self.parent, self._style_class(name))
        return style or Style.null()

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
