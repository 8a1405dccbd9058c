"""What a move of the leaf changes for the model: which messages leave the context, which come back."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pitree.sessions.branching import Span, abandoned_span
from pitree.sessions.context import ContextPart, ContextParts, Session, build_context_parts, read_part
from pitree.sessions.entries import Entry


class Numbered(NamedTuple):
    """A message and its number in its context, from 1."""

    number: int
    part: ContextPart


@dataclass(frozen=True, slots=True)
class Difference:
    """The contexts before and after a move, and what only one of them holds, in order.

    A message that a context edit changed on one side only leaves and comes back. `span` is what lies between
    the common ancestor and the old leaf.
    """

    before: ContextParts
    after: ContextParts
    leaves: list[Numbered]
    returns: list[Numbered]
    span: Span

    @property
    def stays(self) -> int:
        """How many messages are in both contexts."""
        return len(self.before.parts) - len(self.leaves)

    @property
    def regained(self) -> list[Entry]:
        """The entries from the one below the common ancestor to the new leaf."""
        return self.after.path[len(self.before.path) - len(self.span.entries) :]


def context_difference(session: Session, from_id: str | None, to_id: str | None) -> Difference:
    """Return what changes when the leaf goes from `from_id` to `to_id` (None: before the first entry).

    Few bodies are read: those that decide what is in a context, and messages that an edit changed on one
    side. Raises what `session.body` raises.
    """
    before, after = build_context_parts(session, from_id), build_context_parts(session, to_id)
    old, new = dict(_keyed(before)), dict(_keyed(after))
    same = {
        key
        for key, one in old.items()
        if key in new and (one.part.edit is new[key].part.edit or _equal(session, one.part, new[key].part))
    }
    return Difference(
        before,
        after,
        [one for key, one in old.items() if key not in same],
        [one for key, one in new.items() if key not in same],
        abandoned_span(session.tree, from_id, to_id),
    )


def _keyed(made: ContextParts) -> Iterator[tuple[tuple[int, int], Numbered]]:
    """Yield the messages of a context by the line they come from, and which of that line's they are."""
    place, last = 0, -1
    for number, part in enumerate(made.parts, 1):
        place = place + 1 if part.entry.offset == last else 0
        last = part.entry.offset
        yield (last, place), Numbered(number, part)


def _equal(session: Session, one: ContextPart, other: ContextPart) -> bool:
    return read_part(session, one) == read_part(session, other)
