"""Cutting a line into rows: between words where that is possible, by cells and not by characters."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, split_graphemes

from pitree.ui.documents.model import Line, Row, Span


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
        row = cut_spans(line.spans, start, end)
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


def cut_spans(spans: Sequence[Span], start: int, end: int) -> Row:
    """Return the characters from `start` to `end` with their styles."""
    if len(spans) == 1:
        text, style = spans[0]
        return ((text[start:end], style),) if start < end else ()
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
