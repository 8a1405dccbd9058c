"""A document on the screen: wraps what is visible, scrolls, keeps its place when the width changes."""

import re
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from pitree.ui.documents.layout import Layout, Marks, Spot
from pitree.ui.documents.model import STYLE_NAMES, Document
from pitree.ui.panes.choosing import Choosing

# Borders and scrollbar of a pane that has the whole screen.
_FRAME_WIDTH: Final = 3


class DocumentView(Choosing, can_focus=False):
    """Shows a document: its text, what was found in it, and one link and one block that are chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "document--block",
        *(f"document--{name}" for name in STYLE_NAMES),
    }

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
        & > .document--link { color: $foreground-muted; text-style: underline; }
        & > .document--link-here { color: $foreground; text-style: bold reverse; }
        & > .document--number { color: $foreground-disabled; }
        & > .document--match { color: $foreground; text-style: reverse; }
        & > .document--match-here { color: $background; background: $warning; text-style: bold; }
        & > .document--syntax-keyword { color: $text-accent; }
        & > .document--syntax-name { color: $text-primary; }
        & > .document--syntax-string { color: $text-success; }
        & > .document--syntax-number { color: $text-warning; }
        & > .document--syntax-comment { color: $foreground-muted; text-style: italic; }
        & > .document--block { background: $foreground 8%; }
    }
    """

    wrap = reactive[bool](default=True, init=False)
    """Whether lines that are too long go on in the next row."""

    numbers = reactive[bool](default=False, init=False)
    """Whether the lines of texts have their numbers before them."""

    def show(self, document: Document, *, keep: bool = False) -> None:
        """Show a document from its top, or with `keep` from where the last one was scrolled to."""
        top = int(self.scroll_offset.y) if keep else 0
        if not keep:
            self._block = None
            self._marks = Marks(self._marks.pattern)
            if self.text_selection is not None:  # it was of another text
                self.screen.clear_selection()
        self._lay_out(document, lambda _: top)

    def watch_wrap(self) -> None:
        """Lay the document out the other way."""
        self._lay_out_anew()

    def watch_numbers(self) -> None:
        """Lay the document out with or without numbers."""
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
        layout = Layout(document, max(1, width), wrap=self.wrap, numbers=self.numbers, marks=self._marks)
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

    def action_half_page(self, direction: int) -> None:
        """Scroll half a page down (1) or up (-1)."""
        self._jump(int(self.scroll_offset.y) + direction * max(1, self.page // 2))

    # ---- what was found

    @property
    def found(self) -> Spot | None:
        """The match that was jumped to."""
        return self._marks.found

    def mark(self, pattern: re.Pattern[str] | None, found: Spot | None = None) -> None:
        """Mark all that matches; with `found`, bring that one into sight."""
        self._set_marks(self._marks._replace(pattern=pattern, found=found))
        if found is not None:
            self._show_spot(found)

    # ---- drawing

    def style(self, name: str) -> Style:
        """Return the style of a span."""
        return super().style(f"document--{name}")

    def line_strip(self, index: int, width: int) -> Strip:
        """Draw one row."""
        row = self._layout_of.row(index)
        strip = Strip([Segment(text, self.style(name)) for text, name in row if text])
        strip = strip if strip.cell_length <= width else strip.crop(0, width)
        if self._block is not None and self._in_block(self._layout_of.place(index).section):
            return strip.adjust_cell_length(width).apply_style(self.style("block"))
        return strip

    def render_line(self, y: int) -> Strip:
        """Return the strip at row `y` of the widget, with what the mouse has selected."""
        strip = super().render_line(y)
        selection = self.text_selection
        index = int(self.scroll_offset.y) + y
        span = None if selection is None else selection.get_span(index)
        if span is None:
            return strip
        start, end = span[0], strip.cell_length if span[1] < 0 else span[1]
        chosen = self.screen.get_component_rich_style("screen--selection")
        inside = [Segment(text, (style or Style()) + chosen) for text, style, _ in strip.crop(start, end)]
        parts = [strip.crop(0, start), Strip(inside), strip.crop(end, strip.cell_length)]
        return Strip.join(parts).apply_offsets(0, index)

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual's signature
        """Draw what is selected."""
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected; lines that go on in the next row are one."""
        first = 0 if selection.start is None else selection.start.y
        last = self.line_count - 1 if selection.end is None else selection.end.y
        made: list[str] = []
        for index in range(max(0, first), min(last + 1, self.line_count)):
            span, line = selection.get_span(index), self._layout_of.line_at(index)
            if span is None or line is None:
                continue
            row = Strip([Segment(text) for text, _ in self._layout_of.row(index)])
            start = max(span[0], self._layout_of.gutter)
            text = row.crop(start, row.cell_length if span[1] < 0 else span[1]).text.rstrip(" ")
            if made and not self._layout_of.begins_line(index):
                text = text.lstrip(" ")
                shown = line[1].shown
                made[-1] += text if made[-1] + text in shown else f" {text}"
            else:
                made.append(text)
        return "\n".join(made), "\n"

    def visible_texts(self) -> Iterator[str]:
        """Yield the rows on the screen as plain text."""
        top = int(self.scroll_offset.y)
        width = self.scrollable_content_region.width
        for index in range(top, min(top + self.page, self.line_count)):
            yield self.line_strip(index, width).text.rstrip()
