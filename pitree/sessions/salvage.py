"""Giving back an entry that a torn line swallowed.

When a program dies in the middle of a line and the next one appends without a newline, one line holds the
beginning of an entry and then a whole one. Pi skips both; the second is still there to be read.
"""

import re
from typing import Final

from pitree.sessions.jsonl import Line

# The blocks inside a message begin alike, so their types are left out; quoted ones have backslashes.
_BEGINNING: Final = re.compile(
    rb'\{\s*"type"\s*:\s*"(?!text"|image"|thinking"|toolCall")[a-z_]+"\s*,\s*"(?:id|customType)"\s*:'
)
_MAX_ATTEMPTS: Final = 8


def swallowed(line: Line) -> list[Line]:
    """Return what may be a whole entry at the end of a line that is no JSON.

    Linear in the line's length: each candidate is read once, and there are few.
    """
    candidates = []
    for match in _BEGINNING.finditer(line.data, 1):
        start = match.start()
        candidates.append(Line(line.number, line.offset + start, line.data[start:]))
        if len(candidates) == _MAX_ATTEMPTS:
            break
    return candidates
