"""An entry or a session as one line of safe, styled text: spans of text and the name of a style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pitree.sessions.text import one_line

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.describe import Description
    from pitree.sessions.rows import Rows


class Span(NamedTuple):
    """A piece of a line and the component class that colours it ("" for none)."""

    text: str
    style: str = ""


def strip_of(spans: Iterable[Span], style: Callable[[str], Style]) -> Strip:
    """Return spans as a strip, coloured by `style`."""
    return Strip([Segment(text, style(name) if name else None) for text, name in spans if text])


def width_of(spans: Iterable[Span]) -> int:
    """Return how many cells spans take."""
    return sum(cell_len(text) for text, _ in spans)


def justified(left: list[Span], right: list[Span], width: int, style: Callable[[str], Style]) -> Strip:
    """Return `left` cut so that `right` stands at the end of a line of `width` cells."""
    room = width - width_of(right)
    if room < 8:
        return strip_of(left, style).crop(0, width)
    body = strip_of(left, style)
    if body.cell_length > room:
        body = Strip.join([body.crop(0, room - 1), strip_of([Span("…", "row--muted")], style)])
    return Strip.join([body.adjust_cell_length(room), strip_of(right, style)])


def entry_head(rows: Rows, index: int, *, folded: bool, start: int = 0) -> list[Span]:
    """Return what stands left of an entry's text: fork lines, fold mark, and the mark of path or leaf.

    The lines begin with level `start`, at most the row's depth.
    """
    style = "tree--leaf" if index == rows.leaf_row else "tree--path"
    return [
        Span(rows.lead(index, folded=folded, start=start), "tree--guide"),
        Span(f"{rows.leaf_mark(index)} ", style),
    ]


def entry_text(
    description: Description,
    *,
    label: str | None,
    is_leaf: bool,
    notes: bool,
    hidden: int,
    label_time: str = "",
    is_root: bool = False,
) -> list[Span]:
    """Return an entry's text: leaf badge, damage mark, label, who, what, and how many rows a fold hides.

    `is_root` says so: where there are several roots, somebody began anew there.
    """
    spans: list[Span] = []
    if is_root:
        spans.append(Span("root ", "row--muted"))
    if is_leaf:
        spans += [Span(" leaf ", "tree--leaf-badge"), Span(" ")]
    if notes:
        spans.append(Span("⚠ ", "row--warning"))
    if description.failed:
        spans.append(Span("✗ ", "row--error"))
    if label:
        spans.append(Span(f"[{one_line(label, 60)}] ", "tree--label"))
        if label_time:
            spans.append(Span(f"{label_time} ", "row--muted"))
    if hidden:
        spans.append(Span(f"(+{hidden}) ", "tree--path"))
    separator = ": " if description.text else ""
    spans.append(Span(description.lead + separator, f"tree--{description.kind}"))
    spans.append(Span(description.text, _TEXT_STYLES.get(description.kind, "")))
    return spans


def marked(spans: Iterable[Span], words: Iterable[str], style: str) -> list[Span]:
    """Return spans with every place where one of `words` (lower case) stands in `style`."""
    wanted = [re.escape(word) for word in words]
    if not wanted:
        return list(spans)
    pattern = re.compile("|".join(wanted), re.IGNORECASE)
    made: list[Span] = []
    for text, name in spans:
        end = 0
        for match in pattern.finditer(text):
            made += [Span(text[end : match.start()], name), Span(match[0], style)]
            end = match.end()
        made.append(Span(text[end:], name))
    return made


_TEXT_STYLES = {
    "tool": "row--muted",
    "setting": "row--muted",
    "other": "row--muted",
    "summary": "tree--summary-text",
}
