"""Light styling of Markdown, a line at a time: the screen shows what marks mean, what was said is kept."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pitree.sessions.text import display, lines
from pitree.ui.documents.model import Line, Span, StyleName, indent_of
from pitree.ui.documents.tables import RULE_CELLS, is_rule, is_table_row, table_lines

_FENCE: Final = re.compile(r" *(`{3,}|~{3,})(.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6} +(?=\S)")
_RULE: Final = re.compile(r" {0,3}([-*_])(?: *\1){2,} *")
_ITEM: Final = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +)(?:\[[ xX]\] +)?")
_QUOTE: Final = re.compile(r" {0,3}> ?")
# Much text is not Markdown at all: x**2, *.py, src/**/a and __init__ have to stay what they are. So a mark
# counts only between a sign or a blank and what it marks, and never one of underscores. The limits keep marks
# that nothing ends from taking quadratic time.
_INLINE: Final = re.compile(
    r"\\[^\w\s]"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>.{1,400}?)(?<!`)(?P=ticks)(?!`)"
    r"|(?<![\w*/])\*\*(?=[^\s*])(?P<strong>.{1,400}?)(?<=[^\s*])\*\*(?![\w*/])"
    r"|(?<![\w*/])\*(?=[^\s*.,;:/)])(?P<emphasis>.{1,400}?)(?<=[^\s*])\*(?![\w*/])",
    re.ASCII,
)
Highlight = Callable[[Sequence[str], str], Sequence[Sequence[Span]] | None]
"""Colours safe lines of code in a language; None where it cannot."""

_LOUD: Final = frozenset({"heading", "strong"})
_CODE_INDENT: Final = 2


def markup_lines(text: str, highlight: Highlight | None = None) -> list[Line]:
    """Return the lines of a text, safe to print: headings, code, lists, quotations and tables told apart.

    With `highlight`, code that says its language is coloured.
    """
    made: list[Line] = []
    said = [display(line) for line in lines(text.strip("\r\n"))]
    place = 0
    while place < len(said):
        line = said[place]
        found = _FENCE.match(line)
        if found is not None and not (found[1][0] == "`" and "`" in found[2]):
            end = next((at for at in range(place + 1, len(said)) if _ends(said[at], found[1])), len(said))
            made.append(Line(said=line))
            made += _code_lines(said[place + 1 : end], found[2].strip(), highlight)
            made += [Line(said=closing) for closing in said[end : end + 1]]
            place = end
        elif is_table_row(line) and place + 1 < len(said) and is_rule(said[place + 1]):
            end = place + 2
            while end < len(said) and is_table_row(said[end]):
                end += 1
            made += table_lines(said[place:end], inline)
            place = end - 1
        else:
            made.append(_plain(line))
        place += 1
    return made


def _ends(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not found[2].strip()


def _code_lines(code: Sequence[str], about: str, highlight: Highlight | None) -> Iterator[Line]:
    language = about.split(" ", 1)[0]
    coloured = highlight(code, language) if highlight is not None and language and code else None
    for place, line in enumerate(code):
        if not line:
            yield Line()
            continue
        lead = " " * _CODE_INDENT
        spans: tuple[Span, ...] = ((lead + line, "code"),)
        if coloured is not None:
            spans = ((lead, "text"), *coloured[place])
        yield Line(spans, _CODE_INDENT + indent_of(line), line)


def _plain(line: str) -> Line:
    if not line:
        return Line()
    heading = _HEADING.match(line)
    if heading is not None:
        title = line[heading.end() :].rstrip(" ")
        unmarked = title.rstrip("#")
        title = unmarked.rstrip(" ") if unmarked.endswith(" ") else title
        return Line(tuple(inline(title, "heading")), 0, line)
    if _RULE.fullmatch(line):
        return Line((("─" * RULE_CELLS, "muted"),), 0, line)
    quote = _QUOTE.match(line)
    if quote is not None:
        rest = inline(line[quote.end() :], "muted")
        return Line((("│ ", "muted"), *rest), 2, line)
    item = _ITEM.match(line)
    if item is None:
        return Line(tuple(inline(line)), indent_of(line), line)
    lead, bullet, gap = item.groups()
    shown = bullet if bullet[-1] in ".)" else "•"
    rest = inline(line[item.end(3) :])
    return Line(((f"{lead}{shown}{gap}", "text"), *rest), item.end(), line)


def inline(text: str, style: StyleName = "text") -> Sequence[Span]:
    """Return a piece of a line without its marks, in `style` where nothing else is marked.

    Marks end where they first can, so none is inside its like, and this goes two levels deep at most.
    """
    spans: list[Span] = []
    place = 0
    for start, end, marked in _marked(text, style):
        if start > place:
            spans.append((text[place:start], style))
        spans += marked
        place = end
    if place < len(text):
        spans.append((text[place:], style))
    return spans


def _marked(text: str, style: StyleName) -> Iterator[tuple[int, int, Sequence[Span]]]:
    """Yield where something marked begins and ends, and what it is without the marks."""
    for found in _INLINE.finditer(text):
        if found["code"]:
            yield found.start(), found.end(), [(_unpadded(found["code"]), "code")]
        elif found["strong"] or found["emphasis"]:
            own: StyleName = "strong" if found["strong"] else "emphasis"
            inner = found["strong"] or found["emphasis"]
            yield found.start(), found.end(), inline(inner, style if style in _LOUD else own)


def _unpadded(code: str) -> str:
    """Return code without the blank on each side that Markdown asks for around backticks."""
    if code.strip(" ") and code[0] == code[-1] == " ":
        return code[1:-1]
    return code
