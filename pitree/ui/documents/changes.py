"""What moving the leaf to an entry changes for the model: what leaves the context, and what comes back."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from pitree.sessions.branching import FileLists, file_lists
from pitree.sessions.context import ContextParts, path_settings, read_part
from pitree.sessions.difference import Difference, context_difference
from pitree.sessions.entries import Entry
from pitree.sessions.file import SessionFile
from pitree.sessions.text import one_line
from pitree.sessions.tokens import ContextTokens, estimate_tokens, parts_tokens
from pitree.ui.documents.context import StoppableReader, model_text
from pitree.ui.documents.context_messages import Sign, context_messages
from pitree.ui.documents.model import Document
from pitree.ui.documents.place import naming
from pitree.ui.documents.values import compact, plural
from pitree.ui.documents.writer import Writer

# What reads more than this for its numbers is shown before they are there.
_SOON_BYTES: Final = 4 << 20
_LEAVES: Final = Sign("−", "diff-remove")
_MAX_FILES: Final = 30
_SAID_AGAIN: Final = "(Choosing it in Pi's /tree goes to its parent, to say it again.)"
_RETURNS: Final = Sign("+", "diff-add")


def changes_documents(
    session: SessionFile, entry: Entry, *, stop: Callable[[], bool] = lambda: False
) -> Iterator[Document]:
    """Yield what changes when the leaf goes to `entry`: where numbers take their time, first without them.

    Raises StoppedError as soon as `stop` returns true, and what `session.body` raises.
    """
    reader = StoppableReader(session, stop)
    leaf_id = session.tree.leaf_id
    found = context_difference(reader, leaf_id, entry.id)
    if _bytes(found.before, found.leaves) + _bytes(found.after, found.returns) > _SOON_BYTES:
        yield _document(reader, leaf_id, entry, found, None)
    yield _document(reader, leaf_id, entry, found, _numbers(reader, found))


class _Numbers(NamedTuple):
    """Sizes in tokens: of both contexts, of what leaves (estimated), and of what comes back (estimated).

    And the files that the stretch which is left read and modified.
    """

    before: ContextTokens
    after: ContextTokens
    leaving: int
    returning: int
    files: FileLists


def _numbers(reader: StoppableReader, found: Difference) -> _Numbers:
    return _Numbers(
        parts_tokens(reader, found.before),
        parts_tokens(reader, found.after),
        _estimate(reader, found.before, found.leaves),
        _estimate(reader, found.after, found.returns),
        file_lists(reader, found.span),
    )


def _bytes(made: ContextParts, numbers: list[int]) -> int:
    return sum(made.parts[number - 1].entry.length for number in numbers)


def _estimate(reader: StoppableReader, made: ContextParts, numbers: list[int]) -> int:
    return sum(
        estimate_tokens(read_part(reader, part)) for part in (made.parts[number - 1] for number in numbers)
    )


def _document(
    reader: StoppableReader, leaf_id: str | None, entry: Entry, found: Difference, numbers: _Numbers | None
) -> Document:
    writer = Writer()
    title = f"changes at {one_line(entry.id, 60)}"
    writer.line(("changes", "heading"), (f" when the leaf moves to {naming(entry)}", "muted"))
    if leaf_id == entry.id:
        writer.line(("The leaf is here: nothing changes.", "text"))
        writer.field("tokens", "… being counted" if numbers is None else _size(numbers.after))
        return writer.document(title, unfinished=numbers is None)
    if entry.role == "user" or entry.type == "custom_message":
        writer.line((_SAID_AGAIN, "muted"))
    _write_way(writer, reader, leaf_id, found)
    _write_sizes(writer, found, numbers)
    _write_settings(writer, reader, found)
    if found.span.entries:
        _write_files(writer, numbers)
    if not (found.leaves or found.returns):
        writer.blank()
        writer.line(("The model would see what it sees now.", "text"))
    session = reader.session
    for name, sign, made, chosen in (
        ("leaves the context", _LEAVES, found.before, found.leaves),
        ("comes back", _RETURNS, found.after, found.returns),
    ):
        if chosen:
            writer.heading(name, sign.style, after=plural(len(chosen), "message"))
            writer.run(context_messages(session, made.parts, chosen, sign))
    return writer.document(title, unfinished=numbers is None)


def _write_way(writer: Writer, reader: StoppableReader, leaf_id: str | None, found: Difference) -> None:
    leaf = reader.tree.get(leaf_id)
    if leaf is None:
        writer.field("from", "before the first entry")
    else:
        writer.link("from", leaf.id, naming(leaf))
    ancestor = reader.tree.get(found.span.ancestor_id)
    if ancestor is None:
        writer.field("in common", "nothing: no entry is above both")
    elif not found.span.entries:
        writer.field("in common", "all of the way to the leaf: the entry is below it")
    elif not found.regained:
        writer.field("in common", "all of the way to the entry: it is above the leaf")
    else:
        writer.link("in common", ancestor.id, f"up to {naming(ancestor)}")
    if found.span.entries:
        writer.field("behind", plural(len(found.span.entries), "entry", "entries"))


def _write_sizes(writer: Writer, found: Difference, numbers: _Numbers | None) -> None:
    def counted(messages: list[int], tokens: int | None) -> str:
        words = plural(len(messages), "message")
        if not messages:
            return words
        return f"{words}, … tokens" if tokens is None else f"{words}, ~{tokens:,} tokens"

    leaving, returning = (None, None) if numbers is None else (numbers.leaving, numbers.returning)
    writer.field("leaves", counted(found.leaves, leaving), "diff-remove" if found.leaves else "text")
    writer.field("comes back", counted(found.returns, returning), "diff-add" if found.returns else "text")
    writer.field("stays", plural(found.stays, "message"))
    if numbers is None:
        writer.field("tokens", "… being counted")
    else:
        writer.field("tokens", f"{_size(numbers.before)} now, {_size(numbers.after)} there")


def _write_files(writer: Writer, numbers: _Numbers | None) -> None:
    """Write which files the stretch that is left behind touched: they stay as they are now."""
    found = (None, None) if numbers is None else numbers.files
    for name, files in zip(("read", "modified"), found, strict=True):
        if files is None:
            writer.field(name, "… being looked for")
            continue
        names = ", ".join(one_line(file, 200) for file in files[:_MAX_FILES])
        more = f" and {len(files) - _MAX_FILES:,} more" if len(files) > _MAX_FILES else ""
        writer.spans(name, (f"{names}{more}" or "no files", "text" if files else "muted"))


def _size(tokens: ContextTokens) -> str:
    return f"~{tokens.total:,}" if tokens.estimated else f"{tokens.total:,}"


def _write_settings(writer: Writer, reader: StoppableReader, found: Difference) -> None:
    """Write the model and the thinking level where they change."""
    old_level, old_model = path_settings(reader, found.before.path)
    level, model = path_settings(reader, found.after.path)
    if old_model != model:
        writer.field("model", f"{model_text(old_model)} → {model_text(model)}")
    if old_level != level:
        writer.field("thinking", f"{compact(old_level, 60)} → {compact(level, 60)}")
