"""The end of a long session before the rest is read: the way to its leaf, as far back as a screen needs.

What is drawn above the leaf is its path and nothing else (the branch with the leaf comes first at every
fork), so these rows stay where they are when the whole session takes their place.
"""

import os
from pathlib import Path
from typing import Final, Self

from msgspec.structs import replace

from pitree.sessions import migrate
from pitree.sessions.entries import CURRENT_VERSION, Entry, decode_entry
from pitree.sessions.errors import LineError, SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import DEFAULT_FILTER
from pitree.sessions.first_line import plain_header
from pitree.sessions.jsonl import Line, encode_value
from pitree.sessions.rows import visible_rows
from pitree.sessions.tree import Tree

WORTH_IT_BYTES: Final = 8 << 20
"""Smaller files are read whole sooner than anybody could look."""

_FIRST_BYTES: Final = 1 << 20
_MOST_BYTES: Final = 4 << 20
_SCREENFUL: Final = 100
# Where a line says its id, if it is written as Pi writes it.
_ID_WITHIN: Final = 400


class Glimpse(SessionFile):
    """The last part of the path to the leaf of a session; line numbers are not known yet (0)."""

    complete = False

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Return the end of the session at `path`, or None where that is not possible or not worth it.

        Raises OSError when the file cannot be read.
        """
        glimpse = cls(path)
        try:
            glimpse._open()
            if glimpse._take_end():
                return glimpse
        except SessionError:
            pass  # reading the whole file will say what is wrong
        except BaseException:
            glimpse.close()
            raise
        glimpse.close()
        return None

    def _take_end(self) -> bool:
        self.size = os.fstat(self._fd).st_size
        if self.size < WORTH_IT_BYTES or not self._has_plain_header():
            return False
        wanted = _FIRST_BYTES
        while True:
            path = self._path_in(max(0, self.size - wanted))
            self.tree = Tree(path)
            enough = len(visible_rows(self.tree, DEFAULT_FILTER)) >= _SCREENFUL
            if enough or wanted >= min(_MOST_BYTES, self.size):
                return bool(path)
            wanted *= 4

    def _has_plain_header(self) -> bool:
        found = plain_header(self._fd)
        if found is None or not isinstance(found[0].get("id"), str):
            return False
        self.header = found[0]
        self.version = migrate.version_of(self.header)
        # the ids of version 1 are places in the file, which its end does not tell
        return 2 <= self.version <= CURRENT_VERSION

    def _path_in(self, start: int) -> list[Entry]:
        """Return the entries from `start` on that lead to the file's last one, as far as they are there."""
        data = os.pread(self._fd, self.size - start, start)
        first = data.find(b"\n") + 1  # what stands before it is a piece of a line
        last, begin = None, len(data) + 1
        while last is None and begin > first > 0:
            end = begin - 1
            begin = max(first, data.rfind(b"\n", first, end) + 1)
            last = _entry_on(data[begin:end], start + begin)
        path: list[Entry] = []
        while last is not None and last.type != "leaf":  # an older `leaf` entry points anywhere
            path.append(last)
            wanted, last = last.parent_id, None
            if wanted is None:
                break
            quoted = encode_value(wanted)
            while begin > first and (last is None or last.id != wanted):
                end = begin - 1
                begin = max(first, data.rfind(b"\n", first, end) + 1)
                # only lines that may be the one are decoded
                near = data.find(quoted, begin, min(end, begin + _ID_WITHIN))
                last = _entry_on(data[begin:end], start + begin) if near >= 0 else None
            if last is not None and last.id != wanted:
                break
        if path:
            path[-1] = replace(path[-1], parent_id=None)  # what is above it is not missing, only not read
        path.reverse()
        return path


def _entry_on(data: bytes, offset: int) -> Entry | None:
    try:
        entry = decode_entry(Line(0, offset, data))
    except LineError:
        return None
    return entry if isinstance(entry, Entry) else None
