"""What the model sees when the conversation goes on from an entry: Pi's context, and where it comes from."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import msgspec

from pitree.sessions import javascript
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.tree import Tree

# Tuples, not sets: what is looked up in them comes from a file and may be a list.
_NULL_CONTENT_COUNTS_AS_EMPTY = ("user", "assistant", "toolResult")
# Besides messages; a compaction and a summary tell only by their bodies what they give.
_GIVE_MESSAGES = ("message", "compaction", "branch_summary", "custom_message")
_EDITABLE = ("user", "assistant", "toolResult", "custom")
FAILED = ("error", "aborted")
"""The stop reasons of replies that are not sent to the model again."""


class Session(Protocol):
    """What a context is built from: a tree, and a way to read the whole object of an entry."""

    @property
    def tree(self) -> Tree: ...  # noqa: D102

    def body(self, entry: Entry) -> JsonObject: ...  # noqa: D102


class OpenCall(msgspec.Struct, frozen=True):
    """A tool call in the context whose result is not on the path: an unsound place to go on from."""

    entry_id: str
    call_id: str
    name: str


class SessionContext(msgspec.Struct):
    """The context at one leaf.

    `messages` are the stored objects; `sources[i]` is the entry that gave `messages[i]`. `thinking_level`
    and `model` (`{"provider", "modelId"}`) are those of the path, as stored. `gap` says why the path does
    not reach a root, or is None.
    """

    entries: list[Entry] = msgspec.field(default_factory=list)
    messages: list[JsonObject] = msgspec.field(default_factory=list)
    sources: list[Entry] = msgspec.field(default_factory=list)
    thinking_level: Any = "off"
    model: JsonObject | None = None
    gap: str | None = None

    @property
    def open_calls(self) -> list[OpenCall]:
        """The tool calls that no later message in the context answers, in order."""
        answered = {
            message["toolCallId"]
            for message in self.messages
            if message.get("role") == "toolResult" and isinstance(message.get("toolCallId"), str)
        }
        found = []
        for message, source in zip(self.messages, self.sources, strict=True):
            # a reply that failed is not sent again, and neither are its calls
            if message.get("role") != "assistant" or message.get("stopReason") in FAILED:
                continue
            for block in blocks_of(message.get("content")):
                call_id = block.get("id")
                if block.get("type") == "toolCall" and isinstance(call_id, str) and call_id not in answered:
                    found.append(OpenCall(source.id, call_id, str(block.get("name") or "")))
        return found


class ContextPart(NamedTuple):
    """One message of a context, told by where it comes from.

    `edit` is the context edit that was applied to it. `message` is there where it was read already; else
    `read_part` reads it.
    """

    entry: Entry
    edit: Entry | None = None
    message: JsonObject | None = None


class ContextParts(NamedTuple):
    """A context without the bodies of its messages: which they are, in order.

    `entries` are those of the context (the ruling compaction first), `path` those from the root to the leaf,
    `edits` the latest context edit of each target that is among the context entries, by target id.
    """

    path: list[Entry]
    entries: list[Entry]
    parts: list[ContextPart]
    edits: dict[str | None, Entry]


def blocks_of(content: object) -> list[JsonObject]:
    """Return the blocks of a message's content; a string is one text block, bad blocks are left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def build_context_entries(session: Session, leaf_id: str | None) -> list[Entry]:
    """Return the entries that make the context at `leaf_id`, the ruling compaction first.

    None stands for the place before the first entry, and so does an unknown id.
    """
    return _context_entries(session, session.tree.path(leaf_id))


def _context_entries(session: Session, path: list[Entry]) -> list[Entry]:
    ruling = next((place for place in range(len(path) - 1, -1, -1) if path[place].type == "compaction"), None)
    if ruling is None:
        return path
    compaction = path[ruling]
    body = session.body(compaction)
    kept: list[Entry] = []
    if not isinstance(body.get("retainedTail"), list):
        first_kept = body.get("firstKeptEntryId")
        start = next((place for place, entry in enumerate(path[:ruling]) if entry.id == first_kept), ruling)
        kept = [entry for entry in path[start:ruling] if entry.role != "system"]
    return [compaction, *kept, *path[ruling + 1 :]]


def build_session_context(session: Session, leaf_id: str | None) -> SessionContext:
    """Return what the model would see at `leaf_id` (None: before the first entry), as Pi builds it.

    Raises what `session.body` raises when the file cannot be read any more.
    """
    made = build_context_parts(session, leaf_id)
    context = SessionContext(entries=made.entries, gap=gap_of(session.tree, made.path))
    context.thinking_level, context.model = path_settings(session, made.path)
    for part in made.parts:
        message = read_part(session, part)
        if message or part.message is not None:  # else somebody wrote over the file meanwhile
            context.messages.append(message)
            context.sources.append(part.entry)
    return context


def build_context_parts(session: Session, leaf_id: str | None) -> ContextParts:
    """Return the context at `leaf_id` as the messages it is made of, most of them not read yet.

    Bodies are read only where the entry's skeleton leaves open how many messages it gives. Raises what
    `session.body` raises.
    """
    path = session.tree.path(leaf_id)
    entries = _context_entries(session, path)
    edits = {entry.target_id: entry for entry in entries if entry.type == "context_edit"}
    parts: list[ContextPart] = []
    for place, entry in enumerate(entries):
        if entry.type == "compaction" and place > 0:
            continue  # inside the kept range, and ruled out by the later one
        if entry.id in edits:
            edit = edits[entry.id]
            edited = edited_messages(entry_messages(session.body(entry)), session.body(edit))
            parts += [ContextPart(entry, edit, message) for message in edited]
        elif entry.role or entry.type == "custom_message":
            parts.append(ContextPart(entry))
        elif entry.type in _GIVE_MESSAGES:
            parts += [ContextPart(entry, None, message) for message in entry_messages(session.body(entry))]
    return ContextParts(path, entries, parts, edits)


def read_part(session: Session, part: ContextPart) -> JsonObject:
    """Return the message that a part stands for; an empty one where it is no longer in the file.

    Raises what `session.body` raises.
    """
    if part.message is not None:
        return part.message
    return next(iter(entry_messages(session.body(part.entry))), {})


def open_parts(made: ContextParts) -> list[tuple[ContextPart, str]]:
    """Return the tool calls that no later message of the context answers: who calls, and the call's id."""
    answered = {result_of(part) for part in made.parts}
    return [(part, call_id) for part in made.parts for call_id in calls_of(part) if call_id not in answered]


def calls_of(part: ContextPart) -> list[str]:
    """Return the ids of the tool calls that a message makes; of a reply that failed, none is made."""
    message = part.message
    if message is None:
        entry = part.entry
        made = entry.role == "assistant" and entry.stop_reason not in FAILED
        return list(entry.calls) if made else []
    if message.get("role") != "assistant" or message.get("stopReason") in FAILED:
        return []
    ids = (block.get("id") for block in blocks_of(message.get("content")) if block.get("type") == "toolCall")
    return [call_id for call_id in ids if isinstance(call_id, str)]


def result_of(part: ContextPart) -> str | None:
    """Return the id of the call that a message answers; None where it is no tool result, or names none."""
    message = part.message
    if message is None:
        return part.entry.calls[0] if part.entry.role == "toolResult" and part.entry.calls else None
    call_id = message.get("toolCallId")
    return call_id if message.get("role") == "toolResult" and isinstance(call_id, str) else None


def gap_of(tree: Tree, path: list[Entry]) -> str | None:
    """Return why a path does not reach a root, in words; None where it does."""
    if not path or path[0].parent_id is None:
        return None
    return f"stops at {path[0].id}: " + "; ".join(tree.notes(path[0]))


def path_settings(session: Session, path: list[Entry]) -> tuple[Any, JsonObject | None]:
    """Return the thinking level and the model (`{"provider", "modelId"}`) that hold at the end of a path."""
    level: Any = "off"
    model: JsonObject | None = None
    for entry in reversed(path):
        if entry.type == "thinking_level_change":
            level = session.body(entry).get("thinkingLevel")
            break
    for entry in reversed(path):
        if entry.type == "model_change":
            model = _present(session.body(entry), provider="provider", modelId="modelId")
            break
        if entry.role == "assistant":
            message = session.body(entry).get("message")
            if isinstance(message, dict):  # always, unless the file was written over
                model = _present(message, provider="provider", modelId="model")
            break
    return level, model


def _present(source: JsonObject, **names: str) -> JsonObject:
    """Return the fields that exist, renamed: what JavaScript leaves undefined, JSON leaves out."""
    return {new: source[old] for new, old in names.items() if old in source}


def entry_messages(body: JsonObject) -> list[JsonObject]:
    """Return the messages that one entry's object gives to the model, before any context edit."""
    kind = body.get("type")
    if kind == "message":
        message = body.get("message")
        if not isinstance(message, dict):
            return []
        if message.get("content") is None:
            if message.get("role") == "system":
                return [{**message, "content": ""}]
            if message.get("role") in _NULL_CONTENT_COUNTS_AS_EMPTY:
                return [{**message, "content": []}]
        return [message]
    if kind == "custom_message":
        content = body.get("content")
        return [
            {
                "role": "custom",
                **_present(body, customType="customType"),
                "content": [] if content is None else content,
                **_present(body, display="display", details="details"),
                "timestamp": _milliseconds(body),
            }
        ]
    if kind == "branch_summary" and javascript.truthy(body.get("summary")):
        summary = _present(body, summary="summary", fromId="fromId")
        return [{"role": "branchSummary", **summary, "timestamp": _milliseconds(body)}]
    if kind == "compaction":
        return _compaction_messages(body)
    return []


def _compaction_messages(body: JsonObject) -> list[JsonObject]:
    summary = _present(body, summary="summary", tokensBefore="tokensBefore")
    messages: list[JsonObject] = [
        {"role": "compactionSummary", **summary, "timestamp": _milliseconds(body)},
    ]
    system = body.get("systemMessage")
    if isinstance(system, dict):
        messages.insert(0, system)
    tail = body.get("retainedTail")
    if isinstance(tail, list):
        messages += [message for message in tail if isinstance(message, dict)]
    return messages


def _milliseconds(body: JsonObject) -> int | None:
    moment = javascript.time_ms(body["timestamp"]) if "timestamp" in body else None
    return None if moment is None else int(moment)


def edited_messages(messages: Iterable[JsonObject], body: JsonObject) -> Iterable[JsonObject]:
    """Apply one context edit's object; where it has no replacement at all, nothing changes."""
    if "replacement" not in body:
        yield from messages
        return
    replacement = body["replacement"]
    if replacement is None:
        return
    for message in messages:
        if message.get("role") not in _EDITABLE:
            yield message
            continue
        edited = {key: value for key, value in message.items() if key != "content"}
        if isinstance(replacement, dict) and "content" in replacement:
            content = replacement["content"]
            if isinstance(content, str) and message["role"] in ("assistant", "toolResult"):
                content = [{"type": "text", "text": content}]
            edited["content"] = content
        yield edited
