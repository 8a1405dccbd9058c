"""What the entries of a session have cost. Each line is looked at once, and only for its usage records."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.tokens import ROLES_WITH_USAGE, TYPES_WITH_USAGE, body_usages, usage_cost

_ROLES: Final = frozenset(ROLES_WITH_USAGE)
_TYPES: Final = frozenset(TYPES_WITH_USAGE)


class _Message(msgspec.Struct, gc=False):
    role: str = ""
    usage: Any = None


class _Line(msgspec.Struct, gc=False):
    type: str = ""
    usage: Any = None
    message: _Message | None = None


_decode = msgspec.json.Decoder(_Line).decode


class Ledger:
    """Adds up what entries of `session` have cost, in US dollars. Not to be used by two threads at once."""

    def __init__(self, session: SessionFile) -> None:
        self.session = session
        self._costs: dict[int, float] = {}
        """By the offset of the line, where they are not 0."""
        self._read: set[int] = set()

    def cost(self, entries: Iterable[Entry], stop: Callable[[], bool] = lambda: False) -> float:
        """Return what `entries` have cost; every usage record in them counts once.

        Raises StoppedError as soon as `stop` returns true. A line that cannot be read any more costs nothing.
        """
        total = 0.0
        for entry in entries:
            if entry.role in _ROLES or entry.type in _TYPES:
                if entry.offset not in self._read:
                    if stop():
                        raise StoppedError("adding up the cost was stopped")
                    self._read.add(entry.offset)
                    cost = self._cost(entry)
                    if cost:
                        self._costs[entry.offset] = cost
                total += self._costs.get(entry.offset, 0.0)
        return total

    def unread(self, entries: Iterable[Entry]) -> int:
        """Return how many bytes would have to be read to know what `entries` have cost."""
        return sum(
            entry.length
            for entry in entries
            if (entry.role in _ROLES or entry.type in _TYPES) and entry.offset not in self._read
        )

    def _cost(self, entry: Entry) -> float:
        try:
            data = self.session.raw(entry)
            if b"usage" not in data and b"\\u00" not in data:  # letters can be written as \\u0075, too
                return 0.0
            try:
                line = _decode(data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                return sum(usage_cost(usage) for usage in body_usages(self.session.body(entry)))
        except (SessionError, OSError):
            return 0.0
        body: dict[str, Any] = {"type": line.type, "usage": line.usage}
        if line.message is not None:
            body["message"] = {"role": line.message.role, "usage": line.message.usage}
        return sum(usage_cost(usage) for usage in body_usages(body))
