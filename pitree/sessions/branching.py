"""What moving the leaf leaves behind: the common ancestor, the abandoned span, its files and messages."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from pitree.sessions.context import Session, blocks_of, edited_messages, entry_messages
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.tree import Tree

_MODIFYING: Final = ("write", "edit")


class Span(msgspec.Struct, frozen=True):
    """What lies between the old leaf and the place that is moved to.

    `entries` go from the one below `ancestor_id` (None: there is no common ancestor) to the old leaf, in this
    order; there are none where the leaf only moves further down its own branch.
    """

    from_id: str | None
    ancestor_id: str | None
    entries: tuple[Entry, ...]


class FileLists(NamedTuple):
    """Files by the paths that the tools were given, each once, in JavaScript's order.

    What was modified as well as read is among the modified ones only.
    """

    read: tuple[str, ...]
    modified: tuple[str, ...]

    def details(self) -> JsonObject:
        """Return the `details` of a branch summary."""
        return {"readFiles": list(self.read), "modifiedFiles": list(self.modified)}


class SpanMessage(NamedTuple):
    """One message of a span, as context edits left it, and the entry that gave it."""

    entry: Entry
    message: JsonObject


def abandoned_span(tree: Tree, leaf_id: str | None, target_id: str | None) -> Span:
    """Return what is left when the leaf goes from `leaf_id` to `target_id` (None: before the first entry)."""
    old = tree.path(leaf_id)
    target = tree.path(target_id)
    shared = 0
    while shared < min(len(old), len(target)) and old[shared] is target[shared]:
        shared += 1
    ancestor = old[shared - 1].id if shared else None
    return Span(leaf_id, ancestor, tuple(old[shared:]))


def span_messages(session: Session, span: Span) -> Iterator[SpanMessage]:
    """Yield what a span said, in order: context edits applied, without tool results and empty summaries.

    A compaction inside the span gives its summary. Raises what `session.body` raises.
    """
    edits = {entry.target_id: entry for entry in span.entries if entry.type == "context_edit"}
    for entry in span.entries:
        if entry.role == "toolResult":
            continue
        messages = entry_messages(session.body(entry))
        if entry.type == "compaction":
            messages = [message for message in messages if message.get("role") == "compactionSummary"]
        elif entry.id in edits and entry.type in ("message", "custom_message"):
            messages = list(edited_messages(messages, session.body(edits[entry.id])))
        for message in messages:
            yield SpanMessage(entry, message)


def file_lists(session: Session, span: Span) -> FileLists:
    """Return the files that a span read and modified, its earlier branch summaries' included.

    Those of a summary that an extension made are not counted, as in Pi. Raises what `session.body` raises.
    """
    read: set[str] = set()
    modified: set[str] = set()
    for entry in span.entries:
        if entry.type == "branch_summary":
            body = session.body(entry)
            details = body.get("details")
            if isinstance(details, dict) and not body.get("fromHook"):
                read.update(_strings(details.get("readFiles")))
                modified.update(_strings(details.get("modifiedFiles")))
    for _, message in span_messages(session, span):
        for tool, path in _file_calls(message):
            if tool == "read":
                read.add(path)
            elif tool in _MODIFYING:
                modified.add(path)
    return FileLists(_in_order(read - modified), _in_order(modified))


def _file_calls(message: JsonObject) -> Iterator[tuple[object, str]]:
    if message.get("role") != "assistant" or not isinstance(message.get("content"), list):
        return
    for block in blocks_of(message["content"]):
        arguments = block.get("arguments")
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if block.get("type") == "toolCall" and isinstance(path, str) and path:
            yield block.get("name"), path


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _in_order(paths: Iterable[str]) -> tuple[str, ...]:
    """Sort as JavaScript does, by UTF-16 code units."""
    return tuple(sorted(paths, key=lambda path: path.encode("utf-16-be", "surrogatepass")))
