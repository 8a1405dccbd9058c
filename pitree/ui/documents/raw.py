"""An entry as it stands in the file: its JSON, indented; where that cannot be read, its bytes."""

from typing import Final

from pitree.sessions.entries import Entry
from pitree.sessions.errors import LineError
from pitree.sessions.file import SessionFile
from pitree.sessions.jsonl import parse_value
from pitree.sessions.text import display, one_line
from pitree.ui.documents.model import Document
from pitree.ui.documents.place import entry_name, escaped, write_damage_near
from pitree.ui.documents.values import file_size, json_lines
from pitree.ui.documents.writer import Writer

_MOST_BYTES: Final = 8 << 20


def raw_document(session: SessionFile, entry: Entry, *, whole: bool = False) -> Document:
    """Return the line of an entry as it is stored, not as an older version of the file is understood.

    Raises what `session.raw` raises: SessionError or OSError when the line cannot be read any more.
    """
    data = session.raw(entry)
    writer = Writer(whole=whole)
    where = f"line {entry.line:,}, " if entry.line else ""
    writer.line(
        (entry_name(entry), "heading"),
        (f" · {one_line(entry.id, 60)} · {where}{file_size(entry.length)} at byte {entry.offset:,}", "muted"),
    )
    for note in session.tree.notes(entry):
        writer.field("damage", f"⚠ {note}", "error")
    writer.block(lambda: escaped(data))
    writer.blank()
    readable = whole or len(data) <= _MOST_BYTES
    try:
        writer.json(parse_value(data) if readable else session.beginning(entry, _MOST_BYTES))
    except LineError as error:
        writer.line((one_line(str(error)), "warning"))
        writer.text(escaped(data), "code")
    if not readable:
        writer.more(file_size(len(data) - _MOST_BYTES))
    if entry.notes:
        writer.block(lambda: escaped(data))
        writer.heading("the line as it is", "muted")
        writer.text(escaped(data), "code")
    write_damage_near(writer, session, entry)
    return writer.document(f"raw {entry_name(entry)} {one_line(entry.id, 60)}")


def raw_text(session: SessionFile, entry: Entry) -> str:
    """Return the line of an entry as indented JSON, else as it is; safe to print. Raises as above."""
    data = session.raw(entry)
    try:
        return "".join(f"{line.text}\n" for line in json_lines(parse_value(data), limit=None)[0])
    except LineError:
        return f"{display(escaped(data))}\n"
