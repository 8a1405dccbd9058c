"""A document: sections of styled lines that do not know yet how wide the screen is.

A section gives its lines when it is asked, so that megabytes of text cost nothing until they are looked at.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol, get_args

import msgspec

from pitree.sessions.entries import JsonObject
from pitree.sessions.text import display
from pitree.ui.documents.runs import Chain, Lazy

StyleName = Literal[
    "text",
    "muted",
    "heading",
    "strong",
    "emphasis",
    "key",
    "user",
    "assistant",
    "tool",
    "shell",
    "summary",
    "note",
    "setting",
    "other",
    "thinking",
    "code",
    "diff-add",
    "diff-remove",
    "error",
    "warning",
    "link",
    "link-here",
    "number",
    "match",
    "match-here",
    "syntax-keyword",
    "syntax-name",
    "syntax-string",
    "syntax-number",
    "syntax-comment",
]
"""What a span of text is; the preview has a component class for each."""

STYLE_NAMES: Final[tuple[StyleName, ...]] = get_args(StyleName)

Span = tuple[str, StyleName]
"""Safe text and what it is."""

Row = tuple[Span, ...]
"""What stands in one row of the screen."""

LineStyle = StyleName | Callable[[str], StyleName]
"""One style for all lines of a text, or a function that tells a line's style from its text."""

_MARK: Final = re.compile(r"(?:. *(?:\d+ +)?)?")

SLICE_CHARACTERS: Final = 4096
"""About how much of a long text one section holds."""


class Line(NamedTuple):
    """One line. Where it is too long for the screen, what follows is indented by `indent` cells.

    `said` is what stands there where the screen shows something else in its place (bold for `**`); it is safe
    to print, too. A line that shows nothing of what it says takes no room on the screen. With `goes_on` the
    next one is more of the same line, which was cut for its length. `link` is the entry that spans in the
    style `link` lead to. `number` counts the lines of a text from 1; 0 where there is nothing to count.
    """

    spans: tuple[Span, ...] = ()
    indent: int = 0
    said: str | None = None
    goes_on: bool = False
    link: str | None = None
    number: int = 0

    @property
    def shown(self) -> str:
        """What the screen shows, without its styles."""
        return "".join(text for text, _ in self.spans)

    @property
    def text(self) -> str:
        """The line as it was said, without styles: what is printed."""
        return self.shown if self.said is None else self.said

    @property
    def hidden(self) -> bool:
        """Whether it takes no room on the screen."""
        return self.said is not None and not self.spans


class Section(Protocol):
    """A stretch of lines."""

    @property
    def size(self) -> tuple[int, int]:
        """How many lines there are, and how many characters they hold: cheap, and may be an estimate."""
        ...

    def lines(self) -> Sequence[Line]:
        """Return the lines; made anew at every call where they are not kept."""
        ...


class Lines(msgspec.Struct, frozen=True):
    """A section of lines that were made already."""

    made: tuple[Line, ...]

    @property
    def size(self) -> tuple[int, int]:
        """The lines and their characters."""
        return len(self.made), sum(len(text) for line in self.made for text, _ in line.spans)

    def lines(self) -> Sequence[Line]:
        """Return the lines."""
        return self.made


class TextSlice(msgspec.Struct, frozen=True):
    """The part of a text from `start` to `end`, with newlines alone between lines; made safe when shown.

    With `goes_on` it ends within a line, with `goes_on_from` it begins within one. `first` is the number of
    the line it begins in.
    """

    whole: str
    start: int
    end: int
    line_count: int
    style: LineStyle = "text"
    goes_on: bool = False
    first: int = 1
    goes_on_from: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """The lines and their characters."""
        return self.line_count, self.end - self.start

    @property
    def last_number(self) -> int:
        """The number of the line it ends in."""
        return self.first + self.line_count - 1

    def lines(self) -> Sequence[Line]:
        """Return the lines, safe to print."""
        style = self.style
        raw = enumerate(map(display, self.whole[self.start : self.end].split("\n")), self.first)
        if callable(style):  # such a line begins with a mark, and perhaps a number
            made = [Line(((line, style(line)),), _mark_end(line), number=number) for number, line in raw]
        else:
            made = [Line(((line, style),), indent_of(line), number=number) for number, line in raw]
        if self.goes_on_from:
            made[0] = made[0]._replace(number=0)
        made[-1] = made[-1]._replace(goes_on=self.goes_on)
        return made


class BlockSource(Protocol):
    """What a block says, to be copied or opened; both may read the session and raise what that raises."""

    def copy_text(self) -> str:
        """Return the text of the block; it is not safe to print."""
        ...

    def images(self) -> Sequence[JsonObject]:
        """Return the image blocks that it shows."""
        ...


class Said(msgspec.Struct, frozen=True):
    """A block that is known already: its text (or what makes it) and its images."""

    text: str | Callable[[], str]
    shown: Sequence[JsonObject] = ()

    def copy_text(self) -> str:
        """Return the text."""
        return self.text() if callable(self.text) else self.text

    def images(self) -> Sequence[JsonObject]:
        """Return the image blocks."""
        return self.shown


class Block(NamedTuple):
    """A part of a document that can be copied or opened by itself; it goes on to the next block.

    `section` is the section it begins with.
    """

    section: int
    source: BlockSource


class Document(msgspec.Struct, frozen=True):
    """What the preview shows of one thing. `cut` says that something was left out for its size.

    `blocks` are in order. With `unfinished`, the same document is still being completed. `uncoloured` says
    that there is code which could be coloured.
    """

    title: str
    sections: Sequence[Section]
    cut: bool = False
    blocks: Sequence[Block] = ()
    unfinished: bool = False
    uncoloured: bool = False

    def sizes(self) -> list[tuple[int, int]]:
        """Return the sizes of all sections, without making those that are made when they are looked at."""
        runs = self.sections.runs if isinstance(self.sections, Chain) else (self.sections,)
        sizes: list[tuple[int, int]] = []
        for run in runs:
            if isinstance(run, Lazy) and run.size is not None:
                sizes += [run.size] * len(run)
            else:
                sizes += [section.size for section in run]
        return sizes

    def lines(self) -> Iterator[Line]:
        """Yield all lines, in order."""
        for section in self.sections:
            yield from section.lines()

    def texts(self) -> Iterator[str]:
        """Yield what all lines say, safe to print; what was cut for its length is one line again."""
        parts: list[str] = []
        for line in self.lines():
            parts.append(line.text)
            if not line.goes_on:
                yield "".join(parts)
                parts.clear()


def indent_of(line: str) -> int:
    """Return by how many blanks a line is indented, so that its continuation can be."""
    return len(line) - len(line.lstrip(" "))


def _mark_end(line: str) -> int:
    found = _MARK.match(line)
    return found.end() if found is not None else 0


def text_slices(text: str, end: int, style: LineStyle = "text", first: int = 1) -> Iterator[TextSlice]:
    """Cut the first `end` characters of a text into sections: after a line where possible.

    The text's lines must end in newlines only, without carriage returns. They are counted from `first` on.
    """
    start, within = 0, False
    while end - start > 2 * SLICE_CHARACTERS:
        cut = text.find("\n", start + SLICE_CHARACTERS, start + 2 * SLICE_CHARACTERS)
        found = cut >= 0
        if not found:
            cut = start + SLICE_CHARACTERS
        newlines = text.count("\n", start, cut)
        yield TextSlice(text, start, cut, newlines + 1, style, not found, first, within)
        first += newlines + found
        start, within = cut + found, not found
    newlines = text.count("\n", start, end)
    yield TextSlice(text, start, end, newlines + 1, style, first=first, goes_on_from=within)


def notice(title: str, *texts: str, style: StyleName = "muted") -> Document:
    """Return a document of a few safe lines that are about the preview itself."""
    return Document(title, [Lines(tuple(Line(((text, style),)) for text in texts))])
