"""What a list shows of one session, and the order of lists."""

from collections.abc import Iterable
from copy import copy
from operator import attrgetter
from pathlib import Path
from typing import Final, Self

import msgspec

from pitree.sessions.text import one_line

NO_MESSAGES: Final = "(no messages)"
"""The `first_message` of a session in which no user message has text."""

_TITLE_HEAD: Final = 4000
# What `one_line` looks at.
_TITLE_LENGTH: Final = 1600


class SessionRow(msgspec.Struct, array_like=True, eq=False, gc=False):
    """One session as the lists know it; times are Unix milliseconds, sizes bytes, `cost` is in US dollars.

    `folder` and `file` are where the file was found. `created` is the header's time, None where it states
    none. `modified` is the newest activity of user or assistant, else the header's time, else the file's.
    `damage` counts the lines that could not be used, `branches` the entries that do not go on from the one
    before them, `labels` the labelled entries; `tokens` and `cost` are all that was ever counted.
    `first_message` is whole unless `shortened`; `text` is all that user and assistant wrote, joined by
    blanks, and "" in rows that come from a cache (`key` is their number there). Nothing in here is safe to
    print but `title`.
    """

    folder: str
    file: str
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
    tokens: int = 0
    cost: float = 0.0
    models: tuple[str, ...] = ()
    branches: int = 0
    labels: int = 0
    shortened: bool = False
    text: str = ""
    key: int = 0

    @property
    def location(self) -> str:
        """The path as a string; what is not UTF-8 in it stands as `os.fsdecode` has it."""
        return f"{self.folder}/{self.file}"

    @property
    def path(self) -> Path:
        """The path of the file, as it was found."""
        return Path(self.folder, self.file)

    def found_at(self, folder: str, file: str) -> Self:
        """Return the row of the file as it was found at a place: one file can be found in several."""
        if self.folder == folder and self.file == file:
            return self
        row = copy(self)
        row.folder, row.file = folder, file
        return row

    def shorten(self) -> None:
        """Let go of all of the first message that a title does not show."""
        first = title_line(self.first_message)
        self.shortened = self.shortened or first != self.first_message
        self.first_message = first

    @property
    def title(self) -> str:
        """The session's name, else the first line of its first message, as one safe line."""
        return one_line(self.name or title_line(self.first_message)) or NO_MESSAGES


def title_line(first_message: str) -> str:
    """Return what a title shows of a first message: its first line that has something on it, not safe yet."""
    return first_message[:_TITLE_HEAD].strip().partition("\n")[0][:_TITLE_LENGTH]


_newest = attrgetter("modified", "mtime_ns", "file")


def newest_first(rows: Iterable[SessionRow]) -> list[SessionRow]:
    """Return the rows in Pi's order: newest activity first; equal ones by file time, then by file name."""
    return sorted(rows, key=_newest, reverse=True)
