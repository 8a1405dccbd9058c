"""What the model would see at an entry: the context in numbers, then its messages in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from pitree.sessions.context import (
    ContextParts,
    build_context_parts,
    gap_of,
    open_parts,
    path_settings,
    read_part,
)
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.ledger import Ledger
from pitree.sessions.text import one_line
from pitree.sessions.tokens import ContextTokens, parts_tokens
from pitree.sessions.tree import Tree
from pitree.ui.documents.context_messages import (
    context_messages,
    write_messages_in_full,
)
from pitree.ui.documents.model import Document
from pitree.ui.documents.values import compact, money, plural
from pitree.ui.documents.writer import Writer

Stop = Callable[[], bool]
_Thing = TypeVar("_Thing")

_MAX_LISTED: Final = 12
# What reads more than this for its numbers is shown before they are there.
_SOON_BYTES: Final = 4 << 20


def context_document(session: SessionFile, leaf_id: str | None, *, whole: bool = False) -> Document:
    """Return what the model would see at `leaf_id` (None: before the first entry), and what it amounts to.

    With `whole`, every message is there in full. Raises what `session.body` raises when the file cannot be
    read any more.
    """
    *_, document = context_documents(session, leaf_id, Ledger(session), whole=whole)
    return document


def context_documents(
    session: SessionFile,
    leaf_id: str | None,
    ledger: Ledger,
    *,
    whole: bool = False,
    stop: Stop = lambda: False,
) -> Iterator[Document]:
    """Yield the document of `context_document`: where its numbers take their time, first without them.

    `ledger` is the session's. Raises StoppedError as soon as `stop` returns true.
    """
    reader = StoppableReader(session, stop)
    made = build_context_parts(reader, leaf_id)
    page = _Page(reader, leaf_id, made, whole=whole)
    entries = session.tree.entries
    if not whole and sum(part.entry.length for part in made.parts) + ledger.unread(entries) > _SOON_BYTES:
        yield page.document(None)
    tokens = parts_tokens(reader, made)
    yield page.document(_Numbers(tokens, ledger.cost(made.path, stop), ledger.cost(entries, stop)))


class StoppableReader:
    """A session whose reading can be stopped."""

    def __init__(self, session: SessionFile, stop: Stop) -> None:
        self.session = session
        self.stop = stop

    @property
    def tree(self) -> Tree:
        """The session's tree."""
        return self.session.tree

    def body(self, entry: Entry) -> JsonObject:
        """Return what `SessionFile.body` returns. Raises StoppedError besides."""
        self.check()
        return self.session.body(entry)

    def check(self) -> None:
        """Raise StoppedError where nobody wants the work any more."""
        if self.stop():
            raise StoppedError("building the context was stopped")


def tokens_text(tokens: ContextTokens) -> str:
    """Return the size of a context in words, and where the figure comes from."""
    if not tokens.estimated:
        return f"{tokens.total:,}, as counted with the last reply" if tokens.total else "0"
    if tokens.estimated == tokens.total:
        return f"~{tokens.total:,}, all of it estimated"
    counted = tokens.total - tokens.estimated
    return (
        f"~{tokens.total:,}: {counted:,} counted with the last reply, ~{tokens.estimated:,} estimated since"
    )


class _Numbers(NamedTuple):
    """What takes reading: the size, and what the path and the whole session have cost, in US dollars."""

    tokens: ContextTokens
    path_cost: float
    session_cost: float


class _Page:
    """What is said of one context, with its numbers or while they are still being added up."""

    def __init__(
        self, reader: StoppableReader, leaf_id: str | None, made: ContextParts, *, whole: bool
    ) -> None:
        self._reader = reader
        self._made = made
        self._whole = whole
        self._where = "before the first entry" if leaf_id is None else f"at {one_line(leaf_id, 60)}"
        self._edits = list(_edits(reader, made))
        self._messages = context_messages(reader.session, made.parts)

    def document(self, numbers: _Numbers | None) -> Document:
        writer = Writer(whole=self._whole)
        writer.line(("context", "heading"), (f" {self._where}", "muted"))
        self._write_numbers(writer, numbers)
        for edit in _limited(writer, self._edits, "edits"):
            writer.spans(
                "edit",
                (f"{edit.effect} (", "warning"),
                (one_line(edit.entry.id, 60), "link"),
                (")", "warning"),
                link=edit.entry.id,
            )
        gap = gap_of(self._reader.tree, self._made.path)
        if gap is not None:
            writer.field("gap", f"⚠ the path {gap}", "error")
        self._write_open_calls(writer)
        if self._whole:
            write_messages_in_full(writer, self._messages, self._reader.check)
        else:
            writer.run(self._messages)
        return writer.document(f"context {self._where}", unfinished=numbers is None)

    def _write_numbers(self, writer: Writer, numbers: _Numbers | None) -> None:
        made = self._made
        writer.field("messages", f"{len(made.parts):,}")
        writer.field("tokens", "… being counted" if numbers is None else tokens_text(numbers.tokens))
        writer.field("cost", "… being added up" if numbers is None else _cost_text(numbers))
        level, model = path_settings(self._reader, made.path)
        writer.field("model", model_text(model))
        writer.field("thinking", level)
        if made.entries and made.entries[0].type == "compaction":
            hidden = len(made.path) - len(made.entries)
            words = f"hides {hidden:,} of {plural(len(made.path), 'entry', 'entries')} ("
            compaction = one_line(made.entries[0].id, 60)
            writer.spans(
                "compaction",
                (words, "warning"),
                (compaction, "link"),
                (")", "warning"),
                link=made.entries[0].id,
            )

    def _write_open_calls(self, writer: Writer) -> None:
        for part, call_id in _limited(writer, open_parts(self._made), "calls without a result"):
            blocks = read_part(self._reader, part).get("content") or ()
            names = [
                block.get("name")
                for block in blocks
                if isinstance(block, dict) and block.get("id") == call_id
            ]
            tool = (compact(names[0], 60) if names else "") or "tool"
            source = one_line(part.entry.id, 60)
            writer.spans(
                "open call",
                (f"✗ {tool} in ", "error"),
                (source, "link"),
                (" has no result", "error"),
                link=part.entry.id,
            )


def model_text(model: JsonObject | None) -> str:
    """Return provider and name of a model."""
    names = [compact((model or {})[key], 60) for key in ("provider", "modelId") if (model or {}).get(key)]
    return "/".join(names) or ("(none yet)" if model is None else "(not stated)")


def _cost_text(numbers: _Numbers) -> str:
    return f"{money(numbers.path_cost)} on the way here, {money(numbers.session_cost)} in the whole session"


class _Edit(NamedTuple):
    """A context edit that counts, and what it does."""

    entry: Entry
    effect: str


def _edits(reader: StoppableReader, made: ContextParts) -> Iterator[_Edit]:
    """Yield the latest context edit of every target."""
    present = {entry.id for entry in made.entries}
    for target_id, entry in made.edits.items():
        if target_id is None:
            continue
        replacement = reader.body(entry).get("replacement", {})
        target = one_line(target_id, 60)
        if target_id not in present:
            yield _Edit(entry, f"has no effect: {target} is not in this context")
        elif replacement is None:
            yield _Edit(entry, f"leaves out {target}")
        elif isinstance(replacement, dict) and "content" in replacement:
            yield _Edit(entry, f"replaces {target}")
        else:
            yield _Edit(entry, f"changes nothing in {target}")


def _limited(writer: Writer, things: Sequence[_Thing], name: str) -> Iterable[_Thing]:
    yield from things[:_MAX_LISTED]
    if len(things) > _MAX_LISTED:
        writer.field("", f"… and {len(things) - _MAX_LISTED:,} more {name}", "muted")
