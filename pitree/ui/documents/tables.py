"""A Markdown table with its columns below each other, where it is narrow enough for that."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from pitree.ui.documents.model import Line, Span, StyleName

_ROW: Final = re.compile(r" *\|.*")
_RULE: Final = re.compile(r"\|?(?: *:?-+:? *\|)+(?: *:?-+:?)?")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_GAP: Final = "  "
RULE_CELLS: Final = 24
# Aligned and then cut into rows it would be worse than as it came.
_MAX_CELLS: Final = 76

Inline = Callable[[str, StyleName], Sequence[Span]]


def is_table_row(line: str) -> bool:
    """Return whether a line can be one of a table."""
    return _ROW.fullmatch(line) is not None


def is_rule(line: str) -> bool:
    """Return whether a line is what stands below a table's head."""
    return _RULE.fullmatch(line.strip(" ")) is not None


def table_lines(said: Sequence[str], inline: Inline) -> list[Line]:
    """Return the lines of a table of safe text: its head, the rule, and the rows."""
    rule = _cells(said[1])
    right = [cell.endswith(":") and not cell.startswith(":") for cell in rule]
    rows = [
        [inline(cell, "strong" if not place else "text") for cell in _cells(line)]
        for place, line in enumerate(said)
        if place != 1
    ]
    widths = [0] * max(len(rule), *map(len, rows))
    for row in rows:
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], _width(cell))
    narrow = sum(widths) + len(_GAP) * (len(widths) - 1) <= _MAX_CELLS
    shown = [_aligned(row, widths, right) if narrow else _one_by_one(row) for row in rows]
    rule_text = _GAP.join("─" * width for width in widths) if narrow else "─" * RULE_CELLS
    shown.insert(1, ((rule_text, "muted"),))
    return [Line(spans, 2, line) for spans, line in zip(shown, said, strict=True)]


def _cells(line: str) -> list[str]:
    inside = line.strip(" ").removeprefix("|")
    cells = [cell.strip(" ") for cell in _CELL_END.split(inside)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _width(cell: Sequence[Span]) -> int:
    text = "".join(text for text, _ in cell)
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # late: what is printed needs no columns, and seldom comes here

    return cell_len(text)


def _aligned(row: Sequence[Sequence[Span]], widths: Sequence[int], right: Sequence[bool]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for column, cell in enumerate(row):
        blanks = " " * (widths[column] - _width(cell))
        if column:
            spans.append((_GAP, "text"))
        if blanks and column < len(right) and right[column]:
            spans += [(blanks, "text"), *cell]
        else:
            spans += cell
            if blanks and column + 1 < len(row):
                spans.append((blanks, "text"))
    return tuple(spans)


def _one_by_one(row: Sequence[Sequence[Span]]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for column, cell in enumerate(row):
        if column:
            spans.append((" │ ", "muted"))
        spans += cell
    return tuple(spans)
