"""What the model would see at an entry: the context in numbers, then its messages in order."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from pitree.sessions.context import Session, SessionContext, build_session_context
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.file import StoppedError
from pitree.sessions.text import one_line
from pitree.sessions.tokens import body_usages, context_tokens, usage_cost
from pitree.sessions.tree import Tree
from pitree.ui.documents.context_messages import (
    context_messages,
    write_messages,
    write_messages_in_full,
)
from pitree.ui.documents.model import Document
from pitree.ui.documents.values import compact, money, plural
from pitree.ui.documents.writer import Writer

Stop = Callable[[], bool]
_Thing = TypeVar("_Thing")

_MAX_LISTED: Final = 12
_WITHOUT_USAGE: Final = frozenset(
    {"label", "session_info", "model_change", "thinking_level_change", "context_edit", "leaf", "custom"}
)


def context_document(
    session: Session, leaf_id: str | None, *, whole: bool = False, stop: Stop | None = None
) -> Document:
    """Return what the model would see at `leaf_id` (None: before the first entry), and what it amounts to.

    With `whole`, every message is there in full. Raises StoppedError as soon as `stop` returns true, and what
    `session.body` raises when the file cannot be read any more.
    """
    reader = _Reader(session, stop)
    context = build_session_context(reader, leaf_id)
    writer = Writer(whole=whole)
    where = "before the first entry" if leaf_id is None else f"at {one_line(leaf_id, 60)}"
    writer.line(("context", "heading"), (f" {where}", "muted"))
    edits = _edits(reader, context)
    _write_numbers(writer, reader, context, leaf_id)
    for edit in _limited(writer, edits, "edits"):
        writer.field("edit", f"{edit.effect} ({edit.entry.id})", "warning")
    if context.gap is not None:
        writer.field("gap", f"⚠ the path {context.gap}", "error")
    _write_open_calls(writer, context)
    messages = context_messages(context, {edit.target_id for edit in edits if edit.replaces})
    if whole:
        write_messages_in_full(writer, messages, reader.check)
    else:
        write_messages(writer, messages, len(context.messages))
    return writer.document(f"context {where}")


class _Reader:
    """A session whose bodies can be interrupted; adds up what the entries cost while they pass by."""

    def __init__(self, session: Session, stop: Stop | None) -> None:
        self._session = session
        self._stop = stop
        self._costs: dict[str, float] = {}

    @property
    def tree(self) -> Tree:
        return self._session.tree

    def body(self, entry: Entry) -> JsonObject:
        self.check()
        body = self._session.body(entry)
        self._costs[entry.id] = sum(usage_cost(usage) for usage in body_usages(body))
        return body

    def check(self) -> None:
        if self._stop is not None and self._stop():
            raise StoppedError("building the context was stopped")

    def cost(self, path: Iterable[Entry]) -> float:
        """Return what the entries of `path` cost; those that were not read yet are read now."""
        total = 0.0
        for entry in path:
            if entry.id not in self._costs:
                if entry.type in _WITHOUT_USAGE or entry.role in {"user", "bashExecution"}:
                    continue
                self.body(entry)
            total += self._costs[entry.id]
        return total


# ---- in numbers


def _write_numbers(writer: Writer, reader: _Reader, context: SessionContext, leaf_id: str | None) -> None:
    path = reader.tree.path(leaf_id)
    writer.field("tokens", _tokens(context))
    writer.field("cost", f"{money(reader.cost(path))} on the way here")
    model = context.model or {}
    names = [compact(model[key], 60) for key in ("provider", "modelId") if model.get(key)]
    writer.field("model", "/".join(names) or ("(none yet)" if context.model is None else "(not stated)"))
    writer.field("thinking", context.thinking_level)
    if context.entries and context.entries[0].type == "compaction":
        hidden = len(path) - len(context.entries)
        writer.field(
            "compaction",
            f"hides {hidden:,} of {plural(len(path), 'entry', 'entries')} ({context.entries[0].id})",
            "warning",
        )


def _tokens(context: SessionContext) -> str:
    messages = plural(len(context.messages), "message")
    tokens = context_tokens(context)
    if not tokens.estimated:
        return f"{tokens.total:,} in {messages}"
    part = "all" if tokens.estimated == tokens.total else f"{tokens.estimated:,}"
    return f"~{tokens.total:,} in {messages}, {part} of it estimated"


class _Edit(NamedTuple):
    """A context edit that counts, and what it does."""

    entry: Entry
    target_id: str
    effect: str
    replaces: bool = False


def _edits(reader: _Reader, context: SessionContext) -> list[_Edit]:
    """Return the latest context edit of every target."""
    present = {entry.id for entry in context.entries}
    latest = {entry.target_id: entry for entry in context.entries if entry.type == "context_edit"}
    found = []
    for target_id, entry in latest.items():
        if target_id is None:
            continue
        replacement = reader.body(entry).get("replacement", {})
        if target_id not in present:
            effect = _Edit(entry, target_id, f"has no effect: {target_id} is not in this context")
        elif replacement is None:
            effect = _Edit(entry, target_id, f"leaves out {target_id}")
        elif isinstance(replacement, dict) and "content" in replacement:
            effect = _Edit(entry, target_id, f"replaces {target_id}", replaces=True)
        else:
            effect = _Edit(entry, target_id, f"changes nothing in {target_id}")
        found.append(effect)
    return found


def _write_open_calls(writer: Writer, context: SessionContext) -> None:
    for call in _limited(writer, context.open_calls, "calls without a result"):
        tool = compact(call.name, 60) or "tool"
        writer.field("open call", f"✗ {tool} in {call.entry_id} has no result", "error")


def _limited(writer: Writer, things: Sequence[_Thing], name: str) -> Iterable[_Thing]:
    yield from things[:_MAX_LISTED]
    if len(things) > _MAX_LISTED:
        writer.field("", f"… and {len(things) - _MAX_LISTED:,} more {name}", "muted")
