"""One entry in full."""

from collections.abc import Callable
from typing import Final

from pitree.sessions.context import Session
from pitree.sessions.describe import call_of, calling_entry, results_of
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.ui.documents.fields import Fields
from pitree.ui.documents.messages import (
    ROLE_STYLES,
    Joined,
    model_field,
    usage_fields,
    write_content,
    write_message,
    write_summary,
)
from pitree.ui.documents.model import Document, StyleName
from pitree.ui.documents.place import about, entry_name, foot_of, naming, write_damage_near
from pitree.ui.documents.values import compact, file_size, json_text, moment, plural
from pitree.ui.documents.writer import Writer

_MAX_KEPT: Final = 100


def entry_document(
    session: Session,
    entry: Entry,
    *,
    whole: bool = False,
    colour: bool = False,
    beginning: JsonObject | None = None,
) -> Document:
    """Return everything an entry says, and its place in the tree.

    With `whole`, nothing is cut for its size; with `colour`, code is coloured. `beginning` is what is known
    so far of an entry whose whole line takes its time.

    Raises what `session.body` raises: SessionError or OSError when the line cannot be read any more.
    """
    body = session.body(entry) if beginning is None else beginning
    writer = Writer(whole=whole, colour=colour)
    name = entry_name(entry)
    title = f"{name} {one_line(entry.id, 60)}"
    when = f" · {one_line(entry.id, 60)} · {moment(entry.timestamp)}"
    writer.line((name, _entry_style(entry)), (when, "muted"))
    _write_marks(writer, session, entry)
    if beginning is not None:
        writer.field("reading", f"{file_size(entry.length)}; this is the beginning", "warning")
    fields = Fields(body)
    fields.drop("type", "id", "parentId", "timestamp")
    message = fields.mapping("message") if entry.type == "message" else None
    if message is not None:
        if entry.type == "message" and message.get("role") == "branchSummary":
            _write_cover_of_branch(writer, session, entry, message.get("fromId"))
        write_message(writer, message, _joined(session, entry))
    else:
        write = _WRITERS.get(entry.type)
        if write is not None:
            write(writer, session, entry, fields)
    writer.foot(*usage_fields(fields))
    foot_of(writer, session, entry)
    writer.fields(fields.rest, heading="more fields" if message is not None else "fields")
    writer.write_foot()
    write_damage_near(writer, session, entry)
    return writer.document(title, unfinished=beginning is not None)


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


def _joined(session: Session, entry: Entry) -> Joined:
    """Return what belongs together: a result's call, or the results of calls."""
    if entry.role == "assistant":
        return Joined(session=session, results=results_of(session.tree, entry))
    if entry.role != "toolResult":
        return Joined(session=session)
    calling = calling_entry(session.tree, entry)
    try:
        call = call_of(session, entry)
    except (SessionError, OSError):
        call = None  # the result can be read, and it matters more
    return Joined(session=session, call=call, calling=calling)


def _write_target(writer: Writer, session: Session, target_id: str | None) -> None:
    """Write which entry another one points at."""
    if target_id is None:
        return
    target = session.tree.get(target_id)
    if target is None:
        writer.field("target", f"{target_id} (no such entry)", "warning")
        return
    writer.link("target", target.id, naming(target))
    words = about(session, target)
    if words:
        writer.field("", words, "muted")


def _write_link(writer: Writer, session: Session, name: str, entry_id: str) -> None:
    entry = session.tree.get(entry_id)
    if entry is None:
        writer.field(name, f"{entry_id} (no such entry)", "warning")
    else:
        writer.link(name, entry.id, naming(entry))


def _write_label(writer: Writer, session: Session, _entry: Entry, fields: Fields) -> None:
    label = fields.text("label")
    writer.field("sets", label or "nothing: it clears the label", "warning" if label else "text")
    _write_target(writer, session, fields.text("targetId"))


def _write_context_edit(writer: Writer, session: Session, _entry: Entry, fields: Fields) -> None:
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


def _write_compaction(writer: Writer, session: Session, entry: Entry, fields: Fields) -> None:
    kept = fields.text("firstKeptEntryId")
    tail = fields.items("retainedTail")
    if entry.line:  # else what is above it was not read yet
        _write_cover(writer, session, entry, None if tail is not None else kept)
    if kept is not None:
        _write_link(writer, session, "keeps from", kept)
    if tail is not None:
        writer.field("keeps", f"{plural(len(tail), 'message')} of its own in place of everything above")
    _write_summary_entry(writer, session, entry, fields)
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


def _write_cover(writer: Writer, session: Session, entry: Entry, kept: str | None) -> None:
    """Write what a compaction stands for: the entries above it, up to the first one that it keeps."""
    above = session.tree.path(entry.id)[:-1]
    start = next((place for place, one in enumerate(above) if one.id == kept), len(above))
    _write_stretch(writer, above[:start], "up to")
    if start < len(above):
        writer.field("keeps", plural(len(above) - start, "entry", "entries"))


def _write_cover_of_branch(writer: Writer, session: Session, entry: Entry, left: object) -> None:
    """Write what a branch summary stands for: the way from the fork to the leaf that was left."""
    if not isinstance(left, str) or session.tree.get(left) is None:
        return
    here = {one.id for one in session.tree.path(entry.id)}
    _write_stretch(writer, [one for one in session.tree.path(left) if one.id not in here], "ended at")


def _write_stretch(writer: Writer, covered: list[Entry], end: str) -> None:
    if not covered:
        return
    messages = sum(one.type in {"message", "custom_message"} for one in covered)
    writer.field("covers", f"{plural(len(covered), 'entry', 'entries')}, {plural(messages, 'message')}")
    writer.link("from", covered[0].id, naming(covered[0]))
    if len(covered) > 1:
        writer.link(end, covered[-1].id, naming(covered[-1]))


def _write_branch_summary(writer: Writer, session: Session, entry: Entry, fields: Fields) -> None:
    _write_cover_of_branch(writer, session, entry, fields.rest.get("fromId"))
    _write_summary_entry(writer, session, entry, fields)


def _write_summary_entry(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    if fields.flag("fromHook"):
        writer.field("made by", "an extension")
    write_summary(writer, fields)
    details = Fields(fields.mapping("details"))
    for key, name in (("readFiles", "files read"), ("modifiedFiles", "files modified")):
        files = details.items(key)
        if files:
            writer.block("\n".join(str(file) for file in files))
            writer.heading(name, after=plural(len(files), "file"))
            writer.text("\n".join(compact(file, 1000) for file in files))
    writer.fields(details.rest, heading="details")


def _write_custom(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    writer.field("kind", fields.text("customType"))
    data = fields.take("data")
    if data is not None:
        writer.block(json_text(data))
        writer.heading("data", "muted")
        writer.json(data)


def _write_custom_message(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    writer.field("kind", fields.text("customType"))
    if fields.flag("display") is False:
        writer.field("display", "hidden in Pi, but the model sees it")
    write_content(writer, fields.take("content"))
    details = fields.take("details")
    if details is not None:
        writer.block(json_text(details))
        writer.heading("details", "muted")
        writer.json(details)


def _write_session_info(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    name = fields.text("name")
    writer.field("name", name if name and name.strip() else "(none: it clears the name)")


def _write_model_change(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    for name, value in model_field(fields, "modelId"):
        writer.field(name, value)


def _write_thinking_level(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    writer.field("thinking", fields.text("thinkingLevel"))


def _write_usage_entry(writer: Writer, _session: Session, _entry: Entry, fields: Fields) -> None:
    writer.field("for", fields.text("kind"))
    for name, value in (*model_field(fields), *usage_fields(fields)):
        writer.field(name, value)
    writer.field("note", fields.text("note"))


def _write_leaf(writer: Writer, session: Session, _entry: Entry, fields: Fields) -> None:
    target_id = fields.text("targetId")
    writer.field("does", "moves the leaf" if target_id else "moves the leaf before the first entry")
    _write_target(writer, session, target_id)


_WRITERS: Final[dict[str, Callable[[Writer, Session, Entry, Fields], None]]] = {
    "compaction": _write_compaction,
    "branch_summary": _write_branch_summary,
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
