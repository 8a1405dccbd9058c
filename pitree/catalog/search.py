"""Finding sessions by what a person types, with Pi's rules and Pi's order.

Words stand in the name, the id, the messages or the working directory, or their letters in this order in
name or directory; `"a phrase"` stands as it is but for blanks; `re:PATTERN` is a regular expression. All of
it without regard to case. A find in the name comes before one in the text, that before scattered letters.
"""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pitree.catalog.fuzzy import fuzzy_score
from pitree.catalog.rows import Searchable, SessionRow
from pitree.sessions.javascript import WHITESPACE, trim

Order = Literal["relevance", "recent"]

_TEXT: Final = 1_000_000.0
_FUZZY: Final = 2_000_000.0
_BLANK_RUN: Final = re.compile(f"[{WHITESPACE}]+")
_ROW_SECONDS: Final = 1.0


@dataclass(slots=True)
class Query:
    """What was asked for. `error` says why it finds nothing although something was typed, or is None."""

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    order: tuple[tuple[str, bool], ...] = field(default=(), repr=False)
    pattern: Any = None
    error: str | None = None
