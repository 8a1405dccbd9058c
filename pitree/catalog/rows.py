"""What a list shows of one session, and the order of lists."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from pitree.sessions.text import one_line

NO_MESSAGES: Final = "(no messages)"
"""The `first_message` of a session in which no user message has text."""


class Searchable(msgspec.Struct, eq=False, gc=False):
    """What a search compares with: the parts of a row in lower case, made once."""

    name: str
    id: str
    cwd: str
    text: str
    one_line_text: str | None = None
    """`text` with every run of blanks as one space; made when a phrase asks for it."""


class SessionRow(msgspec.Struct, eq=False, gc=False):
    """One session as the lists know it; times are Unix milliseconds, `size` is in bytes.

    `created` is the header's time, None where it states none. `modified` is the newest activity of user or
    assistant, else the header's time, else the file's. `damage` counts the lines that could not be used.
    `text` is all that user and assistant wrote, joined by blanks. Nothing in here is safe to print but
    `title`.
    """

    path: Path
    id: str
    cwd: str
    name: str | None
    created: float | None
    modified: float
    message_count: int
    first_message: str
    parent_session: str | None
    size: int
    mtime_ns: int
    damage: int
    text: str
    searchable: Searchable | None = None
    """Kept here by the search."""

    @property
    def title(self) -> str:
        """The session's name, else the first line of its first message, as one safe line."""
        if self.name:
            return one_line(self.name)
        head = self.first_message[:_TITLE_HEAD].strip()
        return one_line(head.partition("\n")[0]) or NO_MESSAGES


_TITLE_HEAD: Final = 4000


def newest_first(rows: Iterable[SessionRow]) -> list[SessionRow]:
    """Return the rows in Pi's order: newest activity first; equal ones by file time, then by file name."""
    return sorted(rows, key=lambda row: (row.modified, row.mtime_ns, row.path.name), reverse=True)
