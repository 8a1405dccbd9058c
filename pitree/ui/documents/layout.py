"""A document at a width: which line stands where. Only the sections on the screen are cut into rows.

The height of a section that was not looked at yet is a guess, good for the scrollbar; it becomes exact when
the section is laid out, so rows below it may move then, and rows above it never do.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from rich.cells import cell_len, split_graphemes

from pitree.ui.documents.model import Document, Line, Section, Span

Row = tuple[Span, ...]


class Place(NamedTuple):
    """A place in a document: which line of which section, and how far into it (0 to 1)."""

    section: int
    line: int
    part: float


# A document up to this size is laid out at once, so that its height is exact from the start (some 10 ms).
_AT_ONCE_CHARACTERS: Final = 40_000
_KEPT_SECTIONS: Final = 128
# A line that is not wrapped is cut; more of it than this no screen shows.
_MAX_CELLS: Final = 4000


_Cut = tuple[list[int], list[Row]]
"""For a section: the first row of every line, and all rows."""


class Layout:
    """The rows of `document` in `width` cells; without `wrap` every line is one row, however long."""

    def __init__(self, document: Document, width: int, *, wrap: bool = True) -> None:
        self.document = document
        self.width = max(1, width)
        self.wrap = wrap
        self._sections: Sequence[Section] = document.sections
        self._exact = bytearray(len(self._sections))
        self._cuts: OrderedDict[int, _Cut] = OrderedDict()
        sizes = [section.size for section in self._sections]
        self._heights = [self._guess(lines, characters) for lines, characters in sizes]
        self._ends = list(accumulate(self._heights))
        if sum(characters for _, characters in sizes) <= _AT_ONCE_CHARACTERS:
            for index in range(len(self._sections)):
                self._lay_out(index)
            self._ends = list(accumulate(self._heights))

    @property
    def height(self) -> int:
        """How many rows there are, as far as is known."""
        return self._ends[-1] if self._ends else 0

    def row(self, y: int) -> Row:
        """Return row `y`; nothing where there is none, or where it was not laid out (see `settle`)."""
        if not 0 <= y < self.height:
            return ()
        index = bisect_right(self._ends, y)
        if not self._exact[index]:
            return ()
        _, rows = self._cut_section(index)
        place = y - self._start(index)
        return rows[place] if place < len(rows) else ()

    def settle(self, top: int, count: int, *, upwards: bool = False) -> int:
        """Lay out the sections that `count` rows from `top` on touch; return where `top` is afterwards.

        Coming from below (`upwards`) the rows below `top` keep their distance to it.
        """
        if not self._ends:
            return 0
        top = max(0, min(top, self.height - 1))
        index = bisect_right(self._ends, top)
        first, changed = index, False
        if not self._exact[index]:
            start, before = self._start(index), self._heights[index]
            changed = self._lay_out(index)
            grown = self._heights[index] - before
            place = top - start
            top = start + (max(0, place + grown) if upwards else min(place, max(0, before + grown - 1)))
        end = self._start(index) + self._heights[index]
        while end < top + count and index + 1 < len(self._sections):
            index += 1
            changed = self._lay_out(index) or changed
            end += self._heights[index]
        if changed:
            self._add_up(first)
        return max(0, min(top, self.height - 1))

    def settle_end(self, count: int) -> int:
        """Lay out what the last `count` rows touch; return where they begin."""
        missing = count
        index = len(self._sections)
        while missing > 0 and index:
            index -= 1
            self._lay_out(index)
            missing -= self._heights[index]
        self._add_up(index)
        return max(0, self.height - count)

    def place(self, y: int) -> Place:
        """Return where in the document row `y` is: something that survives a new width."""
        if not 0 <= y < self.height:
            return Place(0, 0, 0.0)
        index = bisect_right(self._ends, y)
        firsts, rows = self._cut_section(index)
        if not rows:
            return Place(index, 0, 0.0)
        within = min(y - self._start(index), len(rows) - 1)
        line = bisect_right(firsts, within) - 1
        return Place(index, line, (within - firsts[line]) / _line_height(firsts, rows, line))

    def row_at(self, place: Place) -> int:
        """Return the row of a place in this document, whose section is laid out."""
        if place.section >= len(self._sections):
            return 0
        if self._lay_out(place.section):
            self._add_up(place.section)
        firsts, rows = self._cut_section(place.section)
        if place.line >= len(firsts):
            return self._start(place.section)
        within = int(place.part * _line_height(firsts, rows, place.line))
        return self._start(place.section) + firsts[place.line] + within

    # ---- inside

    def _start(self, index: int) -> int:
        return self._ends[index - 1] if index else 0

    def _add_up(self, first: int) -> None:
        self._ends[first:] = list(accumulate(self._heights[first:], initial=self._start(first)))[1:]

    def _guess(self, lines: int, characters: int) -> int:
        if not self.wrap:
            return lines
        # as if all lines were equally long, plus what wrapping between words wastes
        return lines * max(1, -(-characters // (lines * self.width))) if lines else 0

    def _lay_out(self, index: int) -> bool:
        """Make a section's height exact; return whether it changed."""
        if self._exact[index]:
            return False
        guessed = self._heights[index]
        self._exact[index] = 1
        self._heights[index] = len(self._cut_section(index)[1])
        return self._heights[index] != guessed

    def _cut_section(self, index: int) -> _Cut:
        cut = self._cuts.get(index)
        if cut is None:
            firsts: list[int] = []
            rows: list[Row] = []
            for line in self._sections[index].lines():
                firsts.append(len(rows))
                if not line.hidden:
                    rows += self._cut_line(line)
            cut = self._cuts[index] = firsts, rows
            if len(self._cuts) > _KEPT_SECTIONS:
                self._cuts.popitem(last=False)
        else:
            self._cuts.move_to_end(index)
        return cut

    def _cut_line(self, line: Line) -> Iterator[Row]:
        if self.wrap:
            return wrap_line(line, self.width)
        return iter((_slice(line.spans, 0, _MAX_CELLS),))


def _line_height(firsts: list[int], rows: list[Row], line: int) -> int:
    return (firsts[line + 1] if line + 1 < len(firsts) else len(rows)) - firsts[line]


def wrap_line(line: Line, width: int) -> Iterator[Row]:
    """Yield the rows of a line in `width` cells: cut between words, or within one too long for a row."""
    text = line.shown
    if len(text) * 2 <= width or cell_len(text) <= width:
        yield line.spans
        return
    indent = max(0, min(line.indent, width // 2, width - 2))  # what is wide needs two cells
    lead: Row = ((" " * indent, "text"),) if indent else ()
    cuts = _ascii_cuts if text.isascii() else _cell_cuts
    for place, (start, end) in enumerate(cuts(text, width, width - indent)):
        row = _slice(line.spans, start, end)
        yield lead + row if place else row


def _ascii_cuts(text: str, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """Yield where the rows begin and end: `first` cells for the first one, `rest` for the others."""
    start, room, length = 0, first, len(text)
    words = length - len(text.lstrip(" "))
    while length - start > room:
        cut = text.rfind(" ", max(start, words) + 1, start + room + 1)
        if cut < 0:
            cut = start + room
            yield start, cut
            start = cut
        else:
            yield start, cut
            start = cut + 1  # the blank that the row ends at is not shown
        room = rest
    if start < length:
        yield start, length


def _cell_cuts(text: str, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """Do what `_ascii_cuts` does for text of which some is wide, or several characters to a cell.

    After a wide character a row can end as well: the scripts that have them put no blanks between words.
    """
    graphemes, _ = split_graphemes(text)
    count = len(graphemes)
    words = len(text) - len(text.lstrip(" "))
    here, room = 0, first
    while here < count:
        start, _, used = graphemes[here]
        after = here + 1
        while after < count and used + graphemes[after][2] <= room:
            used += graphemes[after][2]
            after += 1
        if after == count:
            yield start, len(text)
            return
        following = graphemes[after][0]
        if _blank(text, graphemes[after]) and following > words:
            yield start, following
            here = after + 1  # the blank that the row ends at is not shown
        else:
            last = after - 1
            while last > here and graphemes[last][2] < 2 and not _blank(text, graphemes[last]):
                last -= 1
            begin, behind, cells = graphemes[last]
            if last == here or begin <= words:
                yield start, following
                here = after
            else:
                yield start, behind if cells > 1 else begin
                here = last + 1
        room = rest


def _blank(text: str, grapheme: tuple[int, int, int]) -> bool:
    begin, end, _ = grapheme
    return end - begin == 1 and text[begin] == " "  # a blank with a mark on it is no blank


def _slice(spans: Sequence[Span], start: int, end: int) -> Row:
    """Return the characters from `start` to `end` with their styles."""
    if len(spans) == 1:
        text, style = spans[0]
        return ((text[start:end], style),)
    row: list[Span] = []
    place = 0
    for text, style in spans:
        low, high = max(start - place, 0), end - place
        if high <= 0:
            break
        if low < len(text):
            row.append((text[low:high], style))
        place += len(text)
    return tuple(row)
