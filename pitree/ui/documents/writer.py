"""Writes a document: fields, headings, texts, JSON; keeps every block within a size."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from pitree.sessions.entries import JsonObject
from pitree.sessions.text import display, lines, one_line
from pitree.ui.documents.markup import Highlight, markup_lines
from pitree.ui.documents.model import (
    Block,
    BlockSource,
    Document,
    Line,
    Lines,
    LineStyle,
    Said,
    Section,
    Span,
    StyleName,
    indent_of,
    text_slices,
)
from pitree.ui.documents.runs import Chain, Lazy
from pitree.ui.documents.values import compact, json_lines, text_size

BLOCK_CHARACTERS: Final = 64_000
"""How much of one block of text is shown before somebody asks for all of it."""

_MARKUP_CHARACTERS: Final = 8_000
_KEY_WIDTH: Final = 11
_NOT_WORTH_A_FOLD: Final = 300


class _ReadableSection(Section, BlockSource, Protocol):
    """A section that knows what it says."""


class Writer:
    """Takes what a document says, in order.

    With `whole`, no text is cut for its size; with `colour`, short code is coloured in a known language.
    """

    def __init__(self, *, whole: bool = False, colour: bool = False) -> None:
        self.whole = whole
        self._highlight: Highlight = _highlight if colour else self._note_code
        self._sections: list[Section] = []
        self._lines: list[Line] = []
        self._blocks: list[Block] = []
        self._section_runs: list[Sequence[Section]] = []
        self._block_runs: list[Sequence[Block]] = []
        self._before = 0
        self._cut = False
        self._uncoloured = False
        self._foot: list[tuple[str, object, str | None]] = []

    def document(self, title: str, *, unfinished: bool = False) -> Document:
        """Return what was written."""
        self._flush()
        sections: Sequence[Section] = self._sections
        blocks: Sequence[Block] = self._blocks
        if self._section_runs:
            sections = Chain([*self._section_runs, sections])
            blocks = Chain([*self._block_runs, blocks])
        return Document(title, sections, self._cut, blocks, unfinished, self._uncoloured)

    def block(self, text: str | Callable[[], str], images: Sequence[JsonObject] = ()) -> None:
        """Begin a block that says `text`; the blank line before what is written next is part of it."""
        self._flush()
        self._blocks.append(Block(self._place, Said(text, images)))

    def line(self, *spans: Span, indent: int = 0) -> None:
        """Write a line of safe spans."""
        self._lines.append(Line(spans, indent))

    def line_to(self, entry_id: str, *spans: Span, indent: int = 0) -> None:
        """Write a line whose links lead to an entry."""
        self._lines.append(Line(spans, indent, link=entry_id))

    def blank(self) -> None:
        """Write an empty line."""
        self._lines.append(Line())

    def run(self, sections: Lazy[_ReadableSection]) -> None:
        """Write sections that are made when they are looked at, each of them a block."""
        self._flush()
        first = self._place
        self._section_runs += [self._sections, sections]
        self._block_runs += [self._blocks, Lazy(len(sections), lambda at: Block(first + at, sections[at]))]
        self._sections, self._blocks = [], []
        self._before = first + len(sections)

    @property
    def _place(self) -> int:
        """How many sections there are."""
        return self._before + len(self._sections)

    def heading(
        self, text: str, style: StyleName = "heading", *, after: str = "", link: tuple[str, str] | None = None
    ) -> None:
        """Write the first line of a block, a blank line before it; `after` is said less loudly.

        `link` is an entry's id and what to say of it.
        """
        self.blank()
        spans: list[Span] = [(text, style)]
        spans += [(f" · {after}", "muted")] if after else []
        spans += [(" · ", "muted"), (link[1], "link")] if link is not None else []
        self._lines.append(Line(tuple(spans), link=None if link is None else link[0]))

    def field(self, name: str, value: object, style: StyleName = "text") -> None:
        """Write `name  value`. A value that is no string is written as JSON; None is not written."""
        if value is None:
            return
        self.spans(name, (compact(value, 1000), style))

    def spans(self, name: str, *value: Span, link: str | None = None) -> None:
        """Write a field whose value is safe and in several styles; links in it lead to the entry `link`."""
        self._lines.append(Line(((f"{name:<{_KEY_WIDTH - 1}} ", "key"), *value), _KEY_WIDTH, link=link))

    def link(self, name: str, entry_id: str, text: str) -> None:
        """Write a field that leads to an entry; `text` is safe."""
        self.spans(name, (text, "link"), link=entry_id)

    def foot(self, *fields: tuple[str, object], link: str | None = None) -> None:
        """Keep fields for `write_foot`; None is not written. With `link` they lead to that entry."""
        self._foot += [(name, value, link) for name, value in fields if value is not None]

    def write_foot(self) -> None:
        """Write, quietly, the fields that were kept so that they do not stand before what was said."""
        foot, self._foot = self._foot, []
        if foot:
            self.blank()
        for name, value, link in foot:
            self.spans(name, (compact(value, 1000), "muted" if link is None else "link"), link=link)

    def fields(self, rest: JsonObject, *, heading: str = "") -> None:
        """Write what is left of an object: short values beside their name, others below it."""
        if rest and heading:
            self.heading(heading, "muted")
        for raw, value in rest.items():
            key = one_line(raw, 60)
            if isinstance(value, dict | list) and value:
                self.line((key, "key"))
                self.json(value)
            elif isinstance(value, str) and ("\n" in value or len(value) > 200):
                self.line((key, "key"))
                self.text(value)
            else:
                self.spans(key, (compact(value, 1000), "text"))

    def text(self, text: str, style: LineStyle = "text", *, first: int = 1) -> None:
        """Write a text as it is; its lines are counted from `first` on."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        end = len(text)
        while end and text[end - 1] == "\n":
            end -= 1
        if not end:
            self.line(("(empty)", "muted"))
            return
        shown = end
        if not self.whole and end > BLOCK_CHARACTERS:
            shown = text.rfind("\n", BLOCK_CHARACTERS - 4000, BLOCK_CHARACTERS)
            shown = BLOCK_CHARACTERS if shown < 0 else shown
        self._flush()
        self._sections += text_slices(text, shown, style, first)
        if shown < end:
            self.more(text_size(text, shown))

    def code(self, text: str, path: str, *, first: int = 1, style: StyleName = "code") -> None:
        """Write the text of a file, coloured where its name says in which language and it is short."""
        coloured = None
        shown: list[str] = []
        if path and 0 < len(text) <= _MARKUP_CHARACTERS:
            shown = [display(line) for line in lines(text.rstrip("\r\n"))]
            coloured = self._highlight(shown, path)
        if not coloured:
            self.text(text, style, first=first)
            return
        self._lines += [
            Line(tuple(spans), indent_of(line), line, number=number)
            for number, (spans, line) in enumerate(zip(coloured, shown, strict=True), first)
        ]

    def command(self, text: str) -> None:
        """Write a command as one types it."""
        first, newline, rest = text.partition("\n")
        if len(first) > _MARKUP_CHARACTERS:
            self.text(f"$ {text}", "code")
            return
        self.line(("$ ", "muted"), (display(first.removesuffix("\r")), "code"), indent=2)
        if newline:
            self.text(rest, "code")

    def prose(self, text: str) -> None:
        """Write a text that may hold Markdown; a long one as it is."""
        if len(text) > _MARKUP_CHARACTERS or not text.strip("\r\n"):
            self.text(text)
        else:
            self._lines += markup_lines(text, self._highlight)

    def json(self, value: object) -> None:
        """Write any JSON value, indented."""
        made, cut = json_lines(value, limit=None if self.whole else BLOCK_CHARACTERS)
        self._lines += made
        if cut:
            self.more()

    def folded(self, text: str, style: StyleName, lines: int = 6) -> None:
        """Write the first lines of a text and how much more there is; a short one whole."""
        end = head_end(text, lines)
        if self.whole or len(text) - end < _NOT_WORTH_A_FOLD:
            end = len(text)
        self.text(text[:end], style)
        if end < len(text):
            self.more(text_size(text, end))

    def more(self, what: str = "") -> None:
        """Say that something was left out, and how to see it."""
        self._cut = True
        self.line((f"… {what} more (press m for all)" if what else "… more (press m for all)", "muted"))

    def _note_code(self, _code: Sequence[str], _language: str) -> None:
        self._uncoloured = True

    def _flush(self) -> None:
        if self._lines:
            self._sections.append(Lines(tuple(self._lines)))
            self._lines = []


def _highlight(code: Sequence[str], language: str) -> Sequence[Sequence[Span]] | None:
    """Colour code in a language, or in that of a file; a file's path has a dot or a slash in it."""
    from pitree.ui.documents.syntax import code_lines, language_of  # late: for those who look at code

    is_path = "." in language or "/" in language
    return code_lines(code, language_of(language) if is_path else language)


def head_end(text: str, lines: int, characters: int = 2000) -> int:
    """Return where the first `lines` lines of a text end, and after `characters` at the latest."""
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1, characters)
        if end < 0:
            end = min(len(text), characters)
            break
    if len(text) - end < 200 and not text[end:].strip("\r\n"):
        return len(text)
    return end


def content_blocks(content: object) -> list[Any]:
    """Return the blocks of a message's content, bad ones too; a string is one text block, None is none."""
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else [content]
