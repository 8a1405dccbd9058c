"""Where an entry stands: in the tree, with links to its neighbours; in the file, with the damage there."""

from typing import Final

from pitree.sessions.context import Session
from pitree.sessions.describe import describe
from pitree.sessions.entries import Damage, Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.text import one_line
from pitree.sessions.tree import NO_PARENT
from pitree.ui.documents.values import file_size
from pitree.ui.documents.writer import Writer

_MAX_CHILDREN: Final = 12
# A line that says what an entry is about is not worth the decoding of megabytes.
_MAX_DESCRIBED: Final = 1 << 20
_ABOUT_CHARACTERS: Final = 60
_MAX_DAMAGE: Final = 5
_SHOWN_BYTES: Final = 2000


def entry_name(entry: Entry) -> str:
    """Return what an entry is, in Pi's words: a message's role, else its type; safe to print."""
    if entry.type == "message":
        return one_line(entry.role, 40) or "message without a role"
    return one_line(entry.type, 40).replace("_", " ") or "entry without a type"


def naming(entry: Entry) -> str:
    """Return an entry's id and what it is; safe to print."""
    return f"{one_line(entry.id, 60)} ({entry_name(entry)})"


def about(session: Session, entry: Entry) -> str:
    """Return what an entry is about, as one safe line; "" where it is too large to look."""
    if entry.length > _MAX_DESCRIBED:
        return ""
    try:
        return str(describe(session, entry))
    except (SessionError, OSError) as error:
        return one_line(f"({error})")


def foot_of(writer: Writer, session: Session, entry: Entry) -> None:
    """Keep for the foot where the entry stands, in the tree and in the file."""
    tree = session.tree
    position = tree.position(entry.id)
    whole = entry.line > 0  # else only the end of the file was read
    if position is not None:
        parent = tree.parents[position]
        if parent == NO_PARENT:
            writer.foot(("parent", "none, it is a root" if whole else "not read yet"))
        else:
            above = tree.entries[parent]
            writer.foot(("parent", naming(above)), link=above.id)
        if whole:
            _foot_children(writer, session, position)
        else:
            writer.foot(("children", "not counted yet"))
    place = f"{entry.line:,}" if whole else "not counted yet"
    writer.foot(("line", f"{place} · {file_size(entry.length)} at byte {entry.offset:,}"))


def _foot_children(writer: Writer, session: Session, position: int) -> None:
    children = session.tree.children(position)
    if not children:
        writer.foot(("children", "0"))
    elif len(children) == 1:
        child = session.tree.entries[children[0]]
        writer.foot(("child", naming(child)), link=child.id)
    else:
        writer.foot(("children", f"{len(children):,}"))
        for place in children[:_MAX_CHILDREN]:
            child = session.tree.entries[place]
            words = f"{one_line(child.id, 60)} {about(session, child)[:_ABOUT_CHARACTERS]}"
            writer.foot(("", words), link=child.id)
        if len(children) > _MAX_CHILDREN:
            writer.foot(("", f"… and {len(children) - _MAX_CHILDREN:,} more"))


def damage_near(session: SessionFile, entry: Entry) -> list[Damage]:
    """Return the lines between an entry and the next that are no entries; for the first also those before."""
    position = session.tree.position(entry.id)
    if position is None or not entry.line:
        return []
    entries = session.tree.entries
    start = entry.offset if position else 0
    end = entries[position + 1].offset if position + 1 < len(entries) else session.size
    return [damage for damage in session.damage if damage.entry_id is None and start <= damage.offset < end]


def write_damage_near(writer: Writer, session: Session, entry: Entry) -> None:
    """Write the damaged lines next to an entry, with their bytes: no row of the tree stands for them."""
    if not isinstance(session, SessionFile):
        return
    found = damage_near(session, entry)
    for damage in found[:_MAX_DAMAGE]:
        try:
            data = session.line_at(damage.offset, _SHOWN_BYTES)
        except (SessionError, OSError) as error:
            writer.heading(f"⚠ line {damage.line:,}", "error", after=one_line(str(error)))
            continue
        writer.block(escaped(data))
        writer.heading(f"⚠ line {damage.line:,} of the file, next to this entry", "error")
        writer.line((one_line(damage.reason), "warning"))
        writer.text(escaped(data), "code")
    if len(found) > _MAX_DAMAGE:
        writer.blank()
        writer.line((f"… and {len(found) - _MAX_DAMAGE:,} more damaged lines", "warning"))


def escaped(data: bytes) -> str:
    r"""Return bytes of a file as text; what is no UTF-8 stands as `\xff`."""
    return data.decode("utf-8", "backslashreplace")
