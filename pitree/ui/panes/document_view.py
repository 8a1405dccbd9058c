"""A document on the screen: wraps what is visible, scrolls, keeps its place when the width changes."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.selection import Selection
from textual.strip import Strip

from pitree.ui.documents.layout import Layout, Marks, Spot
from pitree.ui.documents.model import STYLE_NAMES, Block, Document, TextSlice
from pitree.ui.lineview import LineView

# Borders and scrollbar of a pane that has the whole screen.
_FRAME_WIDTH: Final = 3
# How many rows stay above what was jumped to.
_ABOVE: Final = 3


class DocumentView(LineView, can_focus=False):
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

    class LinkClicked(Message):
        """A link to an entry was clicked."""

        def __init__(self, entry_id: str) -> None:
            super().__init__()
            self.entry_id = entry_id

    def __init__(self) -> None:
        super().__init__()
        self._layout_of = Layout(Document("", []), 1)
        self._marks = Marks()
        self._block: int | None = None

    @property
    def document(self) -> Document:
        """What is shown."""
        return self._layout_of.document

    def show(self, document: Document, *, keep: bool = False) -> None:
        """Show a document from its top, or with `keep` from where the last one was scrolled to."""
        top = int(self.scroll_offset.y) if keep else 0
        if not keep:
            self._block = None
            self._marks = Marks(self._marks.pattern)
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
    def top(self) -> Spot:
        """Where in the document the first row on the screen is."""
        place = self._layout_of.place(int(self.scroll_offset.y))
        return Spot(place.section, place.line)

    @property
    def found(self) -> Spot | None:
        """The match that was jumped to."""
        return self._marks.found

    def mark(self, pattern: re.Pattern[str] | None, found: Spot | None = None) -> None:
        """Mark all that matches; with `found`, bring that one into sight."""
        self._set_marks(self._marks._replace(pattern=pattern, found=found))
        if found is not None:
            self._show_spot(found)

    def _set_marks(self, marks: Marks) -> None:
        self._marks = marks
        self._layout_of.mark(marks)
        self.redraw()

    def _show_spot(self, spot: Spot) -> None:
        """Scroll as little as needed to have a place on the screen, with some rows above it."""
        row = self._layout_of.row_of(spot)
        self.set_line_count(self._layout_of.height)
        top = int(self.scroll_offset.y)
        if not top <= row < top + self.page:
            self._jump(row - min(_ABOVE, self.page // 4))

    # ---- links

    @property
    def link(self) -> str | None:
        """The entry that the chosen link leads to, where it is on the screen."""
        spot = self._marks.link
        if spot is None:
            return None
        line = self._layout_of.line_at(self._layout_of.row_of(spot))
        row = self._layout_of.row_of(spot)
        top = int(self.scroll_offset.y)
        return line[1].link if line is not None and top <= row < top + self.page else None

    def choose_link(self, step: int) -> bool:
        """Choose the next link (1) or the one before (-1), from the chosen one or the screen on.

        False where there is none.
        """
        spot = self._marks.link if self.link is not None else None
        found = next(self._links(spot or self.top, step, including=spot is None), None)
        if found is None:
            return False
        self._set_marks(self._marks._replace(link=found))
        self._show_spot(found)
        return True

    def _links(self, start: Spot, step: int, *, including: bool) -> Iterator[Spot]:
        sections = self.document.sections
        ahead = range(start.section, len(sections)) if step > 0 else range(start.section, -1, -1)
        for index in ahead:
            if isinstance(sections[index], TextSlice):
                continue  # of which there can be many thousands, and none holds a link
            lines = sections[index].lines()
            for place in range(len(lines))[::step]:
                past = (place - start.line) * step
                if index == start.section and (past < 0 or (past == 0 and not including)):
                    continue
                if lines[place].link is not None:
                    yield Spot(index, place)

    def on_click(self, event: events.Click) -> None:
        """Follow a link that was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self.text_selection is not None:
            return
        row = int(self.scroll_offset.y) + offset.y
        line = self._layout_of.line_at(row)
        if line is None or line[1].link is None:
            return
        end = 0
        for text, style in self._layout_of.row(row):
            end += Segment(text).cell_length
            if offset.x < end:
                if style in {"link", "link-here"}:
                    event.stop()
                    self.post_message(self.LinkClicked(line[1].link))
                return

    # ---- blocks

    @property
    def block(self) -> Block | None:
        """The chosen block where it is on the screen, else the one at its top."""
        place = self._block_place()
        return None if place is None else self.document.blocks[place]

    @property
    def blocks_on(self) -> list[Block]:
        """The block of `block` and those after it that begin on the screen."""
        place = self._block_place()
        if place is None:
            return []
        bottom = min(int(self.scroll_offset.y) + self.page, self.line_count) - 1
        last = self._layout_of.place(bottom).section
        blocks = self.document.blocks
        return [blocks[place], *(block for block in blocks[place + 1 :] if block.section <= last)]

    def _block_place(self) -> int | None:
        blocks = self.document.blocks
        if not blocks:
            return None
        if self._block is not None and self._block < len(blocks):
            row = self._layout_of.row_of(Spot(blocks[self._block].section, 0))
            if int(self.scroll_offset.y) <= row < int(self.scroll_offset.y) + self.page:
                return self._block
        starts = [block.section for block in blocks]
        return max(0, bisect_right(starts, self.top.section) - 1)

    def choose_block(self, step: int) -> None:
        """Choose the next block (1) or the one before (-1), and have it on the screen."""
        blocks = self.document.blocks
        if not blocks:
            return
        place = self._block_place() or 0
        self._block = 0 if self._block is None and place == 0 else max(0, min(place + step, len(blocks) - 1))
        self.redraw()
        row = self._layout_of.row_of(Spot(blocks[self._block].section, 0))
        self.set_line_count(self._layout_of.height)
        self._jump(row)

    def _in_block(self, section: int) -> bool:
        if self._block is None or self._block >= len(self.document.blocks):
            return False
        blocks = self.document.blocks
        after = (
            blocks[self._block + 1].section if self._block + 1 < len(blocks) else len(self.document.sections)
        )
        return blocks[self._block].section <= section < after

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
