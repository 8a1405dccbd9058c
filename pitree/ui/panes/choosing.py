"""What can be chosen in a document on the screen: a link to another entry, and a block."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from rich.segment import Segment
from textual import events
from textual.message import Message

from pitree.ui.documents.layout import Layout, Marks, Spot
from pitree.ui.documents.model import Block, Document, TextSlice
from pitree.ui.lineview import LineView

# How many rows stay above what was jumped to.
_ABOVE: Final = 3


class Choosing(LineView, can_focus=False):
    """The part of the view that knows places in the document: links, blocks, what was found."""

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

    @property
    def top(self) -> Spot:
        """Where in the document the first row on the screen is."""
        place = self._layout_of.place(int(self.scroll_offset.y))
        return Spot(place.section, place.line)

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

    @property
    def has_links(self) -> bool:
        """Whether the document has any link to an entry."""
        return next(self._links(Spot(0, 0), 1, including=True), None) is not None

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
        end = bisect_right(blocks, last, key=lambda block: block.section)
        return [blocks[place], *blocks[place + 1 : end]]

    def _block_place(self) -> int | None:
        blocks = self.document.blocks
        if not blocks:
            return None
        if self._block is not None and self._block < len(blocks):
            row = self._layout_of.row_of(Spot(blocks[self._block].section, 0))
            if int(self.scroll_offset.y) <= row < int(self.scroll_offset.y) + self.page:
                return self._block
        return max(0, bisect_right(blocks, self.top.section, key=lambda block: block.section) - 1)

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
