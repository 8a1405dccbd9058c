"""Light styling of Markdown, a line at a time. Nothing is rearranged: what is shown is what was said."""

import re
from collections.abc import Iterator
from typing import Final

from pitree.sessions.text import display, lines
from pitree.ui.documents.model import Line, Span, indent_of

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6} ")
_ITEM: Final = re.compile(r" *(?:[-*+]|\d{1,9}[.)]) +(?:\[[ xX]\] +)?")
_QUOTE: Final = re.compile(r" {0,3}> ?")
_CODE: Final = re.compile(r"(?<!`)`[^`]+`(?!`)")


def markup_lines(text: str) -> list[Line]:
    """Return the lines of a text with headings, code, lists and quotations told apart; safe to print."""
    made: list[Line] = []
    fence = ""
    for raw in lines(text.strip("\r\n")):
        line = display(raw)
        found = _FENCE.match(line)
        if fence:
            closes = found is not None and found[1].startswith(fence) and not found[2].strip()
            made.append(Line(((line, "muted" if closes else "code"),), indent_of(line)))
            fence = "" if closes else fence
        elif found is not None and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
            made.append(Line(((line, "muted"),)))
        else:
            made.append(_plain(line))
    return made


def _plain(line: str) -> Line:
    if _HEADING.match(line):
        return Line(((line, "heading"),))
    quote = _QUOTE.match(line)
    if quote is not None:
        return Line(((line, "muted"),), quote.end())
    item = _ITEM.match(line)
    return Line(tuple(_inline(line)), item.end() if item is not None else 0)


def _inline(line: str) -> Iterator[Span]:
    place = 0
    for code in _CODE.finditer(line):
        if code.start() > place:
            yield line[place : code.start()], "text"
        yield code[0], "code"
        place = code.end()
    if place < len(line) or not line:
        yield line[place:], "text"
