"""A document at a width: which line stands where. Only the sections on the screen are cut into rows.

The height of a section that was not looked at yet is a guess, good for the scrollbar; it becomes exact when
the section is laid out, so rows below it may move then, and rows above it never do.
"""

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from pitree.ui.documents.model import Document, Line, Row, Section, Span
from pitree.ui.documents.wrapping import cut_spans, wrap_line


class Spot(NamedTuple):
    """Where in a document something was found: which line of which section, and from which character on."""

    section: int
    line: int
    start: int = 0


class Marks(NamedTuple):
    """What is marked: all that matches `pattern`, louder what is at `found`, and the link in line `link`."""

    pattern: re.Pattern[str] | None = None
    found: Spot | None = None
    link: Spot | None = None


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


class _Cut(NamedTuple):
    """A section's lines, the first row of every line, and all rows."""

    lines: Sequence[Line]
    firsts: list[int]
    rows: list[Row]


class Layout:
    """The rows of `document` in `width` cells; without `wrap` every line is one row, however long.

    With `numbers`, the lines that can be counted have their number before them.
    """

    def __init__(
        self,
        document: Document,
        width: int,
        *,
        wrap: bool = True,
        numbers: bool = False,
        marks: Marks | None = None,
    ) -> None:
        self.document = document
        self.wrap = wrap
        self.gutter = _gutter(document) if numbers else 0
        self.width = max(1, width)
        self._marks = marks or Marks()
        self._sections: Sequence[Section] = document.sections
        self._exact = bytearray(len(self._sections))
        self._cuts: OrderedDict[int, _Cut] = OrderedDict()
        sizes = document.sizes()
        self._heights = [self._guess(lines, characters) for lines, characters in sizes]
        self._ends = list(accumulate(self._heights))
        if sum(characters for _, characters in sizes) <= _AT_ONCE_CHARACTERS:
            for index in range(len(self._sections)):
                self._lay_out(index)
            self._ends = list(accumulate(self._heights))

    def mark(self, marks: Marks) -> None:
        """Mark something else; all rows stay where they are."""
        if marks != self._marks:
            self._marks = marks
            self._cuts.clear()

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
        rows = self._cut_section(index).rows
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
        _, firsts, rows = self._cut_section(index)
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
        _, firsts, rows = self._cut_section(place.section)
        if place.line >= len(firsts):
            return self._start(place.section)
        within = int(place.part * _line_height(firsts, rows, place.line))
        return self._start(place.section) + firsts[place.line] + within

    def line_at(self, y: int) -> tuple[Spot, Line] | None:
        """Return the line that row `y` is of; None where there is none, or where it was not laid out."""
        if not 0 <= y < self.height or not self._exact[bisect_right(self._ends, y)]:
            return None
        place = self.place(y)
        lines = self._cut_section(place.section).lines
        return (Spot(place.section, place.line), lines[place.line]) if place.line < len(lines) else None

    def begins_line(self, y: int) -> bool:
        """Whether row `y` is the first one of its line."""
        return self.line_at(y) is not None and self.place(y).part == 0

    def row_of(self, spot: Spot) -> int:
        """Return the row in which a place that was found begins; its section is laid out."""
        if spot.section >= len(self._sections):
            return 0
        if self._lay_out(spot.section):
            self._add_up(spot.section)
        _, firsts, rows = self._cut_section(spot.section)
        if spot.line >= len(firsts):
            return self._start(spot.section)
        row, passed = firsts[spot.line], 0
        last = row + max(1, _line_height(firsts, rows, spot.line)) - 1
        while row < last:
            passed += sum(len(text) for text, style in rows[row] if style != "number") + 1
            if passed > spot.start:
                break
            row += 1
        return self._start(spot.section) + row

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
        self._heights[index] = len(self._cut_section(index).rows)
        return self._heights[index] != guessed

    def _cut_section(self, index: int) -> _Cut:
        cut = self._cuts.get(index)
        if cut is None:
            firsts: list[int] = []
            rows: list[Row] = []
            lines = self._sections[index].lines()
            for place, line in enumerate(lines):
                firsts.append(len(rows))
                if not line.hidden:
                    rows += self._cut_line(self._marked(line, index, place))
            cut = self._cuts[index] = _Cut(lines, firsts, rows)
            if len(self._cuts) > _KEPT_SECTIONS:
                self._cuts.popitem(last=False)
        else:
            self._cuts.move_to_end(index)
        return cut

    def _marked(self, line: Line, section: int, place: int) -> Line:
        pattern, found, link = self._marks
        if link is not None and link[:2] == (section, place):
            here = [(text, "link-here" if style == "link" else style) for text, style in line.spans]
            line = line._replace(spans=tuple(here))
        if pattern is None:
            return line
        loud = found.start if found is not None and found[:2] == (section, place) else -1
        return line._replace(spans=tuple(marked_spans(line.spans, pattern, loud)))

    def _cut_line(self, line: Line) -> Iterator[Row]:
        width = max(1, self.width - self.gutter)
        rows = wrap_line(line, width) if self.wrap else iter((cut_spans(line.spans, 0, _MAX_CELLS),))
        if not self.gutter:
            yield from rows
            return
        number = f"{line.number:>{self.gutter - 1}} " if line.number else " " * self.gutter
        for place, row in enumerate(rows):
            yield ((" " * self.gutter if place else number, "number"), *row)


def _gutter(document: Document) -> int:
    """Return how many cells the line numbers of a document take."""
    last = max((getattr(section, "last_number", 0) for section in document.sections), default=0)
    return max(4, len(str(last)) + 1)


def marked_spans(spans: Sequence[Span], pattern: re.Pattern[str], loud: int) -> Iterator[Span]:
    """Yield the spans of a line with all that matches in styles of its own; what begins at `loud`, louder."""
    text = "".join(text for text, _ in spans)
    place = 0
    for match in pattern.finditer(text):
        if match.end() == match.start():
            continue
        yield from cut_spans(spans, place, match.start())
        yield match[0], "match-here" if match.start() == loud else "match"
        place = match.end()
    yield from cut_spans(spans, place, len(text))


def _line_height(firsts: list[int], rows: list[Row], line: int) -> int:
    return (firsts[line + 1] if line + 1 < len(firsts) else len(rows)) - firsts[line]
