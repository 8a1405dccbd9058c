"""Finding text in a document, section by section, so that it can be stopped."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from pitree.sessions.text import display
from pitree.ui.documents.layout import Spot
from pitree.ui.documents.model import Document, Section, TextSlice

MOST_FOUND: Final = 10_000


def typed_pattern(text: str) -> re.Pattern[str] | None:
    """Return what finds a text that somebody typed: in either case, unless a capital letter is in it."""
    if not text.strip():
        return None
    return re.compile(re.escape(display(text)), 0 if any(map(str.isupper, text)) else re.IGNORECASE)


def find_all(
    document: Document, pattern: re.Pattern[str], stop: Callable[[], bool] = lambda: False
) -> Iterator[Spot]:
    """Yield where `pattern` is found in what the screen shows of a document, in order; at most MOST_FOUND."""
    left = MOST_FOUND
    for index, section in enumerate(document.sections):
        if stop():
            return
        if _cannot_hold(section, pattern):
            continue
        for place, line in enumerate(section.lines()):
            for match in pattern.finditer(line.shown):
                yield Spot(index, place, match.start())
                left -= 1
                if not left:
                    return


def _cannot_hold(section: Section, pattern: re.Pattern[str]) -> bool:
    """Whether it is plain without making lines of a text: what is shown differs from it in blanks at most."""
    if not isinstance(section, TextSlice) or "\\ " in pattern.pattern or not pattern.pattern.isascii():
        return False
    return pattern.search(section.whole, section.start, section.end) is None
