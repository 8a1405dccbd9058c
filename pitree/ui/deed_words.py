"""What was changed, in words: titles and texts where they are known, ids and file names where not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pitree.changes import describe_deed, shown_value
from pitree.sessions.describe import describe_or_say
from pitree.sessions.text import one_line

if TYPE_CHECKING:
    from pitree.catalog.rows import SessionRow
    from pitree.journal import Deed
    from pitree.sessions.file import SessionFile

_CELLS: Final = 48


class Words:
    """Tells of deeds with the titles of the sessions listed, by location, and with the one that is shown."""

    def __init__(self, listed: Mapping[str, SessionRow], session: SessionFile | None) -> None:
        self._listed = listed
        self._session = session

    def did(self, deed: Deed) -> str:
        """Return what a deed did, in one safe line."""
        if deed.kind == "move":
            return self._of_session(f"moved {self._place(deed, deed.after)}", deed)
        return self._other(deed)

    def undone(self, deed: Deed) -> str:
        """Return what taking it back did, in one safe line."""
        if deed.kind == "move":
            return self._of_session(f"undone: moved back {self._place(deed, deed.before)}", deed)
        return f"undone: {self._other(deed)}"

    def _other(self, deed: Deed) -> str:
        if deed.kind == "label":
            what = f"label {shown_value(deed.before)} → {shown_value(deed.after)}"
            return self._of_session(f"{what} on {self._entry(deed, deed.target_id)}", deed)
        if deed.kind == "name":
            return one_line(f"name {shown_value(deed.before)} → {shown_value(deed.after)}", 300)
        if deed.kind == "fork":
            return self._of_session("forked", deed)
        if deed.kind == "delete" and deed.title:
            return one_line(f"deleted {deed.title}", 300)
        return one_line(describe_deed(deed), 300)

    def _place(self, deed: Deed, entry_id: str | None) -> str:
        return "before the first entry" if entry_id is None else f"to {self._entry(deed, entry_id)}"

    def _entry(self, deed: Deed, entry_id: str | None) -> str:
        session = self._session
        if session is not None and str(session.path) == deed.path:
            entry = session.tree.get(entry_id)
            if entry is not None:
                return f"“{one_line(str(describe_or_say(session, entry, entry.type)), _CELLS)}”"
        return entry_id or "an entry"

    def _of_session(self, what: str, deed: Deed) -> str:
        row = self._listed.get(deed.path)
        name = Path(deed.path).name if row is None else one_line(row.title, _CELLS)
        return one_line(f"{what} ({name})", 300)
