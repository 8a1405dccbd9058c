"""What a person types to find something: words, `"phrases"`, `re:PATTERN`, by Pi's rules."""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from pitree.sessions.javascript import WHITESPACE, trim
from pitree.sessions.jsregex import PatternError, translate

_BLANK_RUN: Final = re.compile(f"[{WHITESPACE}]+")
# What only one of JavaScript and Python takes for a blank.
_DISPUTED: Final = "\x1c\x1d\x1e\x1f\x85\ufeff"


class Term(NamedTuple):
    """One of the things that all have to be found; `text` is in lower case."""

    text: str
    is_phrase: bool


class Query(msgspec.Struct):
    """What to look for: `terms`, or a compiled `pattern` of the package `regex`.

    `error` says why nothing is found, in words for the person who typed it, or is None. A search that takes
    too long puts its complaint there.
    """

    terms: tuple[Term, ...] = ()
    pattern: Any = None
    error: str | None = None


def parse_query(text: str) -> Query:
    """Return the query that was typed; a blank one finds everything."""
    typed = trim(text)
    if typed.startswith("re:"):
        return _pattern_query(trim(typed[3:]))
    if typed.count('"') % 2:  # a quotation that is still open is none
        return Query(terms=tuple(_words(typed)))
    terms: list[Term] = []
    for place, part in enumerate(typed.split('"')):
        if place % 2:
            phrase = on_one_line(part.lower())
            terms += [Term(phrase, is_phrase=True)] if phrase else []
        else:
            terms += _words(part)
    return Query(terms=tuple(terms))


def _words(text: str) -> Iterable[Term]:
    return (Term(word.lower(), is_phrase=False) for word in _BLANK_RUN.split(text) if word)


def on_one_line(text: str) -> str:
    """Return a text with every run of blanks as one space, as phrases are compared."""
    if any(character in text for character in _DISPUTED):
        return trim(_BLANK_RUN.sub(" ", text))
    return " ".join(text.split())  # a third of the time


def _pattern_query(pattern: str) -> Query:
    if not pattern:
        return Query(error="the regular expression is empty")
    import regex  # late: most searches are words

    try:
        return Query(pattern=regex.compile(translate(pattern), regex.IGNORECASE))
    except PatternError as error:
        return Query(error=f"regular expression: {error}")
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        return Query(error=f"regular expression: not supported ({error})")
