"""Colours for code: Pygments' lexers, in a few styles of our own. Imported where there is code to show."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from pygments.lexer import Lexer
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Token, _TokenType

from pitree.ui.documents.model import Span, StyleName

# Some lexers take more than linear time on what is not their language.
MOST_CHARACTERS: Final = 10_000
_LONGEST_LINE: Final = 1_000

_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}", re.ASCII)
_EXTENSION: Final = re.compile(r"[^/]*\.([\w+-]{1,12})", re.ASCII)

_STYLES: Final[tuple[tuple[Any, StyleName], ...]] = (
    (Token.Comment, "syntax-comment"),
    (Token.Keyword, "syntax-keyword"),
    (Token.Operator.Word, "syntax-keyword"),
    (Token.Name.Tag, "syntax-keyword"),
    (Token.Literal.String, "syntax-string"),
    (Token.Literal, "syntax-number"),
    (Token.Name.Function, "syntax-name"),
    (Token.Name.Class, "syntax-name"),
    (Token.Name.Decorator, "syntax-name"),
    (Token.Name.Attribute, "syntax-name"),
    (Token.Generic.Deleted, "diff-remove"),
    (Token.Generic.Inserted, "diff-add"),
)


def code_lines(lines: Sequence[str], language: str) -> list[tuple[Span, ...]] | None:
    """Return safe lines of code as spans; None where the language is not known, or the code too long.

    `language` is a name such as follows the backticks in Markdown.
    """
    text = "\n".join(lines)
    if len(text) > MOST_CHARACTERS or max(map(len, lines), default=0) > _LONGEST_LINE:
        return None
    lexer = _lexer(language.lower()) if _LANGUAGE.fullmatch(language) else None
    if lexer is None:
        return None
    made: list[list[Span]] = [[]]
    for kind, value in lexer.get_tokens(text):
        style = _style(kind)
        for place, part in enumerate(value.split("\n")):
            if place:
                made.append([])
            if part and made[-1] and made[-1][-1][1] == style:
                made[-1][-1] = (made[-1][-1][0] + part, style)
            elif part:
                made[-1].append((part, style))
    if len(made) != len(lines):
        return None  # a lexer that does not give back what it was given
    return [tuple(spans) for spans in made]


def language_of(path: str) -> str:
    """Return the language of a file, by the end of its name; "" where that says nothing."""
    found = _EXTENSION.fullmatch(path.rsplit("/", 1)[-1])
    return _by_extension().get(found[1].lower(), "") if found is not None else ""


@cache
def _aliases() -> dict[str, str]:
    # asked for by name, Pygments would look through all installed packages for further lexers
    return {alias: aliases[0] for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


@cache
def _by_extension() -> dict[str, str]:
    found: dict[str, str] = {}
    for _, aliases, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns:
            if aliases and pattern.startswith("*.") and pattern[2:].isalnum():
                found.setdefault(pattern[2:].lower(), aliases[0])
    # extensions that several languages claim
    return found | {
        "py": "python",
        "h": "c",
        "m": "objective-c",
        "ts": "typescript",
        "js": "javascript",
        "md": "",
    }


@cache
def _lexer(language: str) -> Lexer | None:
    alias = _aliases().get(language)
    if alias is None or alias in {"text", "output", "console"}:
        return None
    return get_lexer_by_name(alias, stripnl=False, ensurenl=False)


@cache
def _style(kind: _TokenType) -> StyleName:
    return next((style for token, style in _STYLES if kind in token), "text")
