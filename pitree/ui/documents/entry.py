"""One entry in full."""

from collections.abc import Callable, Iterator
from typing import Final

from pitree.sessions.context import Session
from pitree.sessions.describe import call_of, describe
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.sessions.tree import NO_PARENT
from pitree.ui.documents.fields import Fields
from pitree.ui.documents.messages import (
    ROLE_STYLES,
    model_field,
    usage_fields,
    write_content,
    write_message,
    write_summary,
)
from pitree.ui.documents.model import Document, StyleName
from pitree.ui.documents.values import compact, file_size, moment, plural
from pitree.ui.documents.writer import Writer

# A line that says what an entry points at is not worth the decoding of megabytes.
_MAX_DESCRIBED: Final = 1 << 20
_MAX_KEPT: Final = 100


def entry_document(session: Session, entry: Entry, *, whole: bool = False) -> Document:
    """Return everything an entry says, and its place in the tree. With `whole`, nothing is cut for its size.

    Raises what `session.body` raises: SessionError or OSError when the line cannot be read any more.
    """
    body = session.body(entry)
    writer = Writer(whole=whole)
    name = entry_name(entry)
    title = f"{name} {one_line(entry.id, 60)}"
    about = f" · {one_line(entry.id, 60)} · {moment(entry.timestamp)}"
    writer.line((name, _entry_style(entry)), (about, "muted"))
    _write_marks(writer, session, entry)
    fields = Fields(body)
    fields.drop("type", "id", "parentId", "timestamp")
    message = fields.mapping("message") if entry.type == "message" else None
    if message is not None:
        write_message(writer, message, _call_of(session, entry))
    else:
        write = _WRITERS.get(entry.type)
        if write is not None:
            write(writer, session, fields)
    writer.foot(*usage_fields(fields), *_place(session, entry))
    writer.fields(fields.rest, heading="more fields" if message is not None else "fields")
    writer.write_foot()
    return writer.document(title)


def entry_name(entry: Entry) -> str:
    """Return what an entry is, in Pi's words: a message's role, else its type; safe to print."""
    if entry.type == "message":
        return one_line(entry.role, 40) or "message without a role"
    return one_line(entry.type, 40).replace("_", " ") or "entry without a type"


def _entry_style(entry: Entry) -> StyleName:
    if entry.type == "message":
        return ROLE_STYLES.get(entry.role, "note")
    return _TYPE_STYLES.get(entry.type, "setting" if entry.type in _WRITERS else "other")


def _write_marks(writer: Writer, session: Session, entry: Entry) -> None:
    """Write what somebody wrote on the entry, and what is wrong with it: that is wanted before the text."""
    tree = session.tree
    label = tree.label(entry.id)
    if label:
        since = tree.label_times.get(entry.id)
        when = f" · {moment(since)}" if since else ""
        writer.spans("label", (one_line(label, 1000), "warning"), (when, "muted"))
    for note in tree.notes(entry):
        writer.field("damage", f"⚠ {note}", "error")


def _place(session: Session, entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield where the entry stands, in the tree and in the file, as fields."""
    tree = session.tree
    position = tree.position(entry.id)
    whole = entry.line > 0  # else only the end of the file was read
    if position is not None:
        parent = tree.parents[position]
        root = "none, it is a root" if whole else "not read yet"
        yield "parent", root if parent == NO_PARENT else _naming(tree.entries[parent])
        yield "children", f"{len(tree.children(position)):,}" if whole else "not counted yet"
    place = f"{entry.line:,}" if whole else "not counted yet"
    yield "line", f"{place} · {file_size(entry.length)} at byte {entry.offset:,}"


def _naming(entry: Entry) -> str:
    return f"{entry.id} ({entry_name(entry)})"


def _call_of(session: Session, entry: Entry) -> JsonObject | None:
    if entry.role != "toolResult":
        return None
    try:
        return call_of(session, entry)
    except (SessionError, OSError):
        return None  # the result can be read, and it matters more


def _write_target(writer: Writer, session: Session, target_id: str | None) -> None:
    """Write which entry another one points at."""
    if target_id is None:
        return
    target = session.tree.get(target_id)
    if target is None:
        writer.field("target", f"{target_id} (no such entry)", "warning")
        return
    writer.field("target", _naming(target))
    if target.length > _MAX_DESCRIBED:
        return
    try:
        writer.field("", str(describe(session, target)), "muted")
    except (SessionError, OSError) as error:
        writer.field("", f"({error})", "muted")


def _write_label(writer: Writer, session: Session, fields: Fields) -> None:
    label = fields.text("label")
    writer.field("sets", label or "nothing: it clears the label", "warning" if label else "text")
    _write_target(writer, session, fields.text("targetId"))


def _write_context_edit(writer: Writer, session: Session, fields: Fields) -> None:
    known = "replacement" in fields.rest
    replacement = fields.take("replacement")
    content = isinstance(replacement, dict) and "content" in replacement
    if known and replacement is None:
        writer.field("does", "leaves its target out of the context")
    elif content:
        writer.field("does", "puts the content below in place of its target's")
    else:
        writer.field("does", "nothing: it has no replacement that Pi would apply", "warning")
    _write_target(writer, session, fields.text("targetId"))
    if content:
        rest = Fields(replacement)
        write_content(writer, rest.take("content"))
        writer.fields(rest.rest)
    elif replacement is not None:
        writer.fields({"replacement": replacement})


def _write_compaction(writer: Writer, session: Session, fields: Fields) -> None:
    kept = fields.text("firstKeptEntryId")
    if kept is not None:
        first = session.tree.get(kept)
        writer.field("keeps from", _naming(first) if first is not None else f"{kept} (no such entry)")
    tail = fields.items("retainedTail")
    if tail is not None:
        writer.field("keeps", f"{plural(len(tail), 'message')} of its own in place of everything above")
    _write_summary_entry(writer, session, fields)
    system = fields.mapping("systemMessage")
    if system is not None:
        writer.heading("system message")
        write_message(writer, system)
        writer.write_foot()
    kept_messages = tail or []
    shown = kept_messages if writer.whole else kept_messages[:_MAX_KEPT]
    for place, message in enumerate(shown, 1):
        role = message.get("role") if isinstance(message, dict) else None
        writer.heading(f"kept message {place}", after=role if isinstance(role, str) else "")
        if isinstance(message, dict):
            write_message(writer, message)
            writer.write_foot()
        else:
            writer.json(message)
    if len(shown) < len(kept_messages):
        writer.blank()
        writer.more(plural(len(kept_messages) - len(shown), "message"))


def _write_summary_entry(writer: Writer, _session: Session, fields: Fields) -> None:
    if fields.flag("fromHook"):
        writer.field("made by", "an extension")
    write_summary(writer, fields)
    details = Fields(fields.mapping("details"))
    for key, name in (("readFiles", "files read"), ("modifiedFiles", "files modified")):
        files = details.items(key)
        if files:
            writer.heading(name, after=plural(len(files), "file"))
            writer.text("\n".join(compact(file, 1000) for file in files))
    writer.fields(details.rest, heading="details")


def _write_custom(writer: Writer, _session: Session, fields: Fields) -> None:
    writer.field("kind", fields.text("customType"))
    data = fields.take("data")
    if data is not None:
        writer.heading("data", "muted")
        writer.json(data)


def _write_custom_message(writer: Writer, _session: Session, fields: Fields) -> None:
    writer.field("kind", fields.text("customType"))
    if fields.flag("display") is False:
        writer.field("display", "hidden in Pi, but the model sees it")
    write_content(writer, fields.take("content"))
    details = fields.take("details")
    if details is not None:
        writer.heading("details", "muted")
        writer.json(details)


def _write_session_info(writer: Writer, _session: Session, fields: Fields) -> None:
    name = fields.text("name")
    writer.field("name", name if name and name.strip() else "(none: it clears the name)")


def _write_model_change(writer: Writer, _session: Session, fields: Fields) -> None:
    for name, value in model_field(fields, "modelId"):
        writer.field(name, value)


def _write_thinking_level(writer: Writer, _session: Session, fields: Fields) -> None:
    writer.field("thinking", fields.text("thinkingLevel"))


def _write_usage_entry(writer: Writer, _session: Session, fields: Fields) -> None:
    writer.field("for", fields.text("kind"))
    for name, value in (*model_field(fields), *usage_fields(fields)):
        writer.field(name, value)
    writer.field("note", fields.text("note"))


def _write_leaf(writer: Writer, session: Session, fields: Fields) -> None:
    target_id = fields.text("targetId")
    writer.field("does", "moves the leaf" if target_id else "moves the leaf before the first entry")
    _write_target(writer, session, target_id)


_WRITERS: Final[dict[str, Callable[[Writer, Session, Fields], None]]] = {
    "compaction": _write_compaction,
    "branch_summary": _write_summary_entry,
    "custom": _write_custom,
    "custom_message": _write_custom_message,
    "label": _write_label,
    "session_info": _write_session_info,
    "model_change": _write_model_change,
    "thinking_level_change": _write_thinking_level,
    "context_edit": _write_context_edit,
    "usage": _write_usage_entry,
    "leaf": _write_leaf,
}

_TYPE_STYLES: Final[dict[str, StyleName]] = {
    "compaction": "summary",
    "branch_summary": "summary",
    "custom_message": "note",
}
