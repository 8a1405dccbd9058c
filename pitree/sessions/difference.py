"""What a move of the leaf changes for the model: which messages leave the context, which come back."""

from dataclasses import dataclass

from pitree.sessions.branching import Span, abandoned_span
from pitree.sessions.context import ContextPart, ContextParts, Session, build_context_parts, read_part
from pitree.sessions.entries import Entry


@dataclass(frozen=True, slots=True)
class Difference:
    """The contexts before and after a move, and the numbers of the messages that only one of them holds.

    `leaves` are numbers from 1 among `before.parts`, `returns` among `after.parts`, both in order.
    A message that a context edit changed on one side only leaves and comes back. `span` is what lies between
    the common ancestor and the old leaf.
    """

    before: ContextParts
    after: ContextParts
    leaves: list[int]
    returns: list[int]
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
    old, new = _numbers(before), _numbers(after)
    same = {
        key
        for key, number in old.items()
        if key in new and _same(session, before.parts[number - 1], after.parts[new[key] - 1])
    }
    return Difference(
        before,
        after,
        [number for key, number in old.items() if key not in same],
        [number for key, number in new.items() if key not in same],
        abandoned_span(session.tree, from_id, to_id),
    )


def _numbers(made: ContextParts) -> dict[int | tuple[int, int], int]:
    """Return the numbers of the messages, by the line they come from and which of that line's they are."""
    numbers: dict[int | tuple[int, int], int] = {}
    place, last = 0, -1
    for number, part in enumerate(made.parts, 1):
        offset = part.entry.offset
        place = place + 1 if offset == last else 0
        last = offset
        # mostly a line gives one message: no tuple for that, ten thousand of them are felt
        numbers[(offset, place) if place else offset] = number
    return numbers


def _same(session: Session, one: ContextPart, other: ContextPart) -> bool:
    return one.edit is other.edit or read_part(session, one) == read_part(session, other)
