"""How many tokens a context takes: from recorded usage, else an estimate.

The estimate is Pi's rule of thumb, four characters to a token, so that both name the same figure.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from pitree.sessions.context import FAILED, ContextParts, Session, SessionContext, blocks_of, read_part
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.jsonl import encode_value

_CHARACTERS_PER_TOKEN = 4
_IMAGE_CHARACTERS = 4800
# Tuples, because what is looked up in them can be of any type.
TYPES_WITH_USAGE = ("usage", "compaction", "branch_summary")
ROLES_WITH_USAGE = ("assistant", "toolResult")
"""Which entries, and which messages, have a usage record of their own that counts: those that Pi adds up."""


class ContextTokens(msgspec.Struct, frozen=True):
    """The size of a context in tokens; `estimated` is the part that no model has counted."""

    total: int
    estimated: int


def usage_tokens(usage: object) -> int:
    """Return the context size that a usage record states, 0 where it states none."""
    if not isinstance(usage, dict):
        return 0
    total = _number(usage.get("totalTokens"))
    return int(
        total or sum(_number(usage.get(key)) for key in ("input", "output", "cacheRead", "cacheWrite"))
    )


def usage_cost(usage: object) -> float:
    """Return the cost that a usage record states, in US dollars; 0 where it states none."""
    cost = usage.get("cost") if isinstance(usage, dict) else None
    return _number(cost.get("total")) if isinstance(cost, dict) else 0.0


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 < value < 1e18 else 0.0


def context_tokens(context: SessionContext) -> ContextTokens:
    """Return the size of `context`: the last counted reply's usage, plus an estimate for what came after.

    A reply from before the last compaction or context edit counted another context, so it does not serve.
    """
    return count_tokens(context.entries, context.sources, context.messages.__getitem__)


def parts_tokens(session: Session, made: ContextParts) -> ContextTokens:
    """Return the size of a context as `context_tokens` does, reading only the messages that matter for it.

    Raises what `session.body` raises.
    """
    sources = [part.entry for part in made.parts]
    return count_tokens(made.entries, sources, lambda place: read_part(session, made.parts[place]))


def count_tokens(
    entries: Sequence[Entry], sources: Sequence[Entry], message_at: Callable[[int], JsonObject]
) -> ContextTokens:
    """Return the size of the context that `entries` make, asking only for the messages that matter.

    `message_at(place)` is the message that `sources[place]` gave.
    """
    changes = (entry.line for entry in entries if entry.type in ("compaction", "context_edit"))
    floor = max(changes, default=0)
    rest = 0
    for place in range(len(sources) - 1, -1, -1):
        message = message_at(place)
        usable = message.get("role") == "assistant" and message.get("stopReason") not in FAILED
        counted = usage_tokens(message.get("usage")) if usable else 0
        if counted and sources[place].line > floor:
            return ContextTokens(counted + rest, rest)
        rest += estimate_tokens(message)
    return ContextTokens(rest, rest)


def estimate_tokens(message: JsonObject) -> int:
    """Return the estimated size of one message in tokens."""
    role = message.get("role")
    if role == "bashExecution":
        characters = _length(message.get("command")) + _length(message.get("output"))
    elif role in ("branchSummary", "compactionSummary"):
        characters = _length(message.get("summary"))
    else:
        characters = sum(_block_characters(block) for block in blocks_of(message.get("content")))
        sections = message.get("sections")
        if isinstance(sections, dict):
            characters += sum(_length(section) for section in sections.values())
        if message.get("toolsAdded"):
            characters += _json_length(message["toolsAdded"])
    return -(-characters // _CHARACTERS_PER_TOKEN)


def _block_characters(block: JsonObject) -> int:
    kind = block.get("type")
    if kind == "image":
        return _IMAGE_CHARACTERS
    if kind == "toolCall":
        return _length(block.get("name")) + _json_length(block.get("arguments"))
    return _length(block.get("thinking" if kind == "thinking" else "text"))


def _json_length(value: object) -> int:
    return _length(encode_value(value).decode())


def _length(value: object) -> int:
    """Return the length of a text as JavaScript counts it: in UTF-16 code units; 0 for anything else."""
    if not isinstance(value, str):
        return 0
    return len(value) if value.isascii() else len(value.encode("utf-16-le", "surrogatepass")) // 2


def body_usages(body: JsonObject) -> Iterable[object]:
    """Yield every usage record in an entry's object: of a reply, a tool result, a summary, or its own.

    The calls that a tool made itself are part of its result's record, and the messages that a compaction
    keeps have been counted where they were said.
    """
    if body.get("type") in TYPES_WITH_USAGE:
        yield body.get("usage")
    message = body.get("message")
    if isinstance(message, dict) and message.get("role") in ROLES_WITH_USAGE:
        yield message.get("usage")
