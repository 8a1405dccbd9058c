"""What the preview is asked to show, and the documents that answer it; made in a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec
from msgspec.structs import replace

from pitree.sessions.text import one_line

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile
    from pitree.sessions.ledger import Ledger
    from pitree.ui.documents.model import Document

Tab = Literal["entry", "context", "changes"]

TABS: Final[tuple[Tab, ...]] = get_args(Tab)

# Lines longer than this are shown by their beginning until the rest was decoded (about 3 ms a megabyte).
_LONG_BYTES: Final = 4 << 20
_BEGINNING_BYTES: Final = 1 << 18


class Wish(msgspec.Struct, frozen=True, eq=False):
    """What somebody wants to see. Two wishes are never equal: the newest one counts.

    With `whole`, nothing is cut for its size; with `raw`, an entry is shown as it stands in the file.
    """

    session: SessionFile
    entry: Entry
    tab: Tab
    whole: bool = False
    raw: bool = False

    def like(self, other: Wish | None) -> bool:
        """Return whether both want the same thing, so that the place in it can be kept."""
        return (
            other is not None
            and self.tab == other.tab
            and self.raw == other.raw
            and self.entry.id == other.entry.id
            and self.session.path == other.session.path
        )

    def but(self, *, whole: bool = False, raw: bool | None = None, tab: Tab | None = None) -> Wish:
        """Return a wish for the same entry in another way."""
        return replace(self, whole=whole, raw=self.raw if raw is None else raw, tab=tab or self.tab)


class Maker:
    """Makes the documents that are wished for, one after another; keeps what a session's entries cost."""

    def __init__(self) -> None:
        self._ledger: Ledger | None = None

    def documents(self, wish: Wish, stop: Callable[[], bool]) -> Iterator[Document]:
        """Yield the document of a wish; where it takes its time, first what is known of it at once.

        Raises StoppedError as soon as `stop` returns true, SessionError and OSError where the file cannot be
        read.
        """
        from pitree.ui.documents.entry import entry_document
        from pitree.ui.documents.model import notice
        from pitree.ui.documents.raw import raw_document

        session, entry = wish.session, wish.entry
        if wish.tab != "entry" and not session.complete:
            yield notice(one_line(entry.id, 60), "", "The whole session is still being read.")
        elif wish.tab == "context":
            from pitree.ui.documents.context import context_documents  # few look before the first picture

            ledger = self._ledger_of(session)
            yield from context_documents(session, entry.id, ledger, whole=wish.whole, stop=stop)
        elif wish.tab == "changes":
            from pitree.ui.documents.changes import changes_documents

            yield from changes_documents(session, entry, stop=stop)
        elif wish.raw:
            yield raw_document(session, entry, whole=wish.whole)
        else:
            if entry.length > _LONG_BYTES and not wish.whole:
                beginning = session.beginning(entry, _BEGINNING_BYTES)
                yield entry_document(session, entry, beginning=beginning)
            yield from _coloured(wish)

    def _ledger_of(self, session: SessionFile) -> Ledger:
        from pitree.sessions.ledger import Ledger

        if self._ledger is None or self._ledger.session is not session:
            self._ledger = Ledger(session)
        return self._ledger


def _coloured(wish: Wish) -> Iterator[Document]:
    """Yield the document of an entry; of the first code there is, before the colours are loaded as well."""
    from pitree.ui.documents.entry import entry_document

    colour = "pitree.ui.documents.syntax" in sys.modules
    document = entry_document(wish.session, wish.entry, whole=wish.whole, colour=colour)
    if document.uncoloured:
        yield replace(document, unfinished=True)
        document = entry_document(wish.session, wish.entry, whole=wish.whole, colour=True)
    yield document


def printed(wish: Wish, stop: Callable[[], bool]) -> str:
    """Return all of what is wished for as text, safe to print: of a raw entry its JSON and nothing else.

    Raises what `Maker.documents` raises.
    """
    from pitree.ui.documents.raw import raw_text

    if wish.tab == "entry" and wish.raw:
        return raw_text(wish.session, wish.entry)
    *_, document = Maker().documents(wish.but(whole=True), stop)
    return "".join(f"{line}\n" for line in document.texts())
