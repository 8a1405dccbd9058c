"""The Preview pane: the highlighted entry in full, what the model would see there, what a move changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.dom import NoScreen
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.worker import get_current_worker

from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.ui.keys import PREVIEW_KEYS, USUAL_KEYS, KeyTable, bindings
from pitree.ui.lineview import LineView
from pitree.ui.panes.found import Finder
from pitree.ui.panes.previewing import TABS, Maker, Tab, Wish
from pitree.ui.panes.tab_bar import TabBar
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent.viewers import Reader
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile
    from pitree.ui.documents.model import Block, Document
    from pitree.ui.panes.document_view import DocumentView

# Long enough to pass over what a held key only touches, too short to be noticed.
_DEBOUNCE_SECONDS: Final = 0.04
# From here on it is said that something is being read.
_PATIENCE_SECONDS: Final = 0.3


class Preview(Finder, Vertical, can_focus=True, can_focus_children=False):
    """Shows one entry of a session: in full, the context there, or what changes when the leaf moves there.

    Only the newest call of `show` counts. Files are read in a worker, one at a time, so that a held key
    neither holds up the screen nor piles up work.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*LineView.BINDINGS, *bindings(PREVIEW_KEYS)]

    keys: KeyTable = USUAL_KEYS
    """The person's keys."""

    tab: reactive[Tab] = reactive[Tab]("entry", init=False)
    """Which of the documents is shown."""

    raw: reactive[bool] = reactive(default=False, init=False)
    """Whether an entry is shown as it stands in the file."""

    class Shown(Message):
        """A document is on display; `entry_id` is None where there is nothing to show."""

        def __init__(self, preview: Preview, entry_id: str | None, tab: Tab) -> None:
            super().__init__()
            self.preview = preview
            self.entry_id = entry_id
            self.tab = tab

        @property
        def control(self) -> Preview:
            """The pane."""
            return self.preview

    class Built(Message, bubble=False):
        """From the worker: a document that was wished for; `last` ends the work, without one if stopped."""

        def __init__(self, wish: Wish, document: Document | None, *, last: bool) -> None:
            super().__init__()
            self.wish = wish
            self.document = document
            self.last = last

    class LinkFollowed(Message):
        """Somebody wants to go to another entry of the session."""

        def __init__(self, session: SessionFile, entry_id: str) -> None:
            super().__init__()
            self.session = session
            self.entry_id = entry_id

    class CopyWanted(Message):
        """Somebody wants `text` copied; without one what `block` says, and without that the entry's text."""

        def __init__(self, wish: Wish, block: Block | None, text: str | None) -> None:
            super().__init__()
            self.wish = wish
            self.block = block
            self.text = text

    class ReadingWanted(Message):
        """Somebody wants to read what is shown in the pager, or in the editor."""

        def __init__(self, wish: Wish, reader: Reader) -> None:
            super().__init__()
            self.wish = wish
            self.reader = reader

    class ImageWanted(Message):
        """Somebody wants to see an image in the system's viewer; one of those that `blocks` show."""

        def __init__(self, blocks: list[Block]) -> None:
            super().__init__()
            self.blocks = blocks

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._has_view = False
        self._bar = TabBar(TABS)
        self._maker = Maker()
        self._wish: Wish | None = None
        self._shown: Wish | None = None
        self._timer: Timer | None = None
        self._stop: threading.Event | None = None
        """Ends the reading that is going on, a while after it is set; None where nothing is being read.

        Not the worker's own cancelling: one that is cancelled before it has begun would never say so.
        """
        self._came_from: list[str] = []

    @cached_property
    def view(self) -> DocumentView:
        """The document, with what draws it: the first picture needs neither."""
        from pitree.ui.panes.document_view import DocumentView

        return DocumentView()

    def compose(self) -> ComposeResult:
        """Put the tabs above the document, which has so many styles that the first picture is without it."""
        yield self._bar

    def on_mount(self) -> None:
        """See to the document, once there is a first picture."""
        # in a turn of its own: others wait for the first picture, too, and would wait for this
        self.call_after_refresh(self.call_later, self._add_view)

    async def _add_view(self) -> None:
        """Show what was asked for before there was a place for it."""
        if not self.is_attached:
            return  # somebody left before there was a first picture
        await self.mount(self.view)
        self._has_view = True
        with suppress(NoScreen):  # the program ended meanwhile
            if self._wish is None:
                self._show_nothing(None)
            else:
                self._begin()

    # ---- asking

    def show(self, session: SessionFile | None, entry: Entry | None) -> None:
        """Show `entry` of `session`, soon. Cheap; a later call replaces an earlier one.

        The same entry again is read again, and its place on the screen kept.
        """
        if session is None or entry is None:
            self._wish = None
            if self._stop is not None:
                self._stop.set()
            if self._has_view:
                self._show_nothing(session)
            return
        self._ask(Wish(session, entry, self.tab, raw=self.raw))

    def _ask(self, wish: Wish) -> None:
        if wish.like(self._wish) and self._wish is not None and self._wish.whole:
            wish = wish.but(whole=True)
        self._wish = wish
        if self._timer is None and self._has_view:
            self._timer = self.set_timer(_DEBOUNCE_SECONDS, self._begin)

    def watch_tab(self) -> None:
        """Show another document of the same entry."""
        self._bar.active = self.tab
        if self._wish is not None:
            self._ask(self._wish.but(tab=self.tab))

    def watch_raw(self) -> None:
        """Show the entry as it stands in the file, or as it is meant."""
        if self._wish is not None:
            self._ask(self._wish.but(raw=self.raw))

    def _begin(self) -> None:
        self._timer = None
        wish = self._wish
        if wish is None:
            return
        if self._stop is not None:  # at most one thread reads; the newest wish begins when it has ended
            self._stop.set()
            return
        self._stop = threading.Event()
        build = partial(self._build, wish, self._stop)
        self.run_worker(build, group="preview", thread=True, exit_on_error=False, description=UNDESCRIBED)
        self.set_timer(_PATIENCE_SECONDS, partial(self._say_reading, wish))

    def _say_reading(self, wish: Wish) -> None:
        from pitree.ui.documents.model import notice

        if self._wish is wish and self._shown is not wish and not wish.like(self._shown):
            self._display(notice(one_line(wish.entry.id, 60), "Reading …"))

    # ---- in the worker

    def _build(self, wish: Wish, stop: threading.Event) -> None:
        from pitree.sessions.file import StoppedError

        worker = get_current_worker()
        document: Document | None = None

        def unwanted() -> bool:
            return stop.is_set() or worker.is_cancelled  # the latter where the program ends

        try:
            for document in self._maker.documents(wish, unwanted):
                if document.unfinished and not unwanted():
                    self.post_message(self.Built(wish, document, last=False))
        except StoppedError:
            document = None
        except (SessionError, OSError) as error:
            document = _trouble(wish, one_line(str(error)))
        except Exception as error:  # noqa: BLE001 - no entry, however odd, may take the program with it
            document = _trouble(wish, one_line(f"This entry cannot be shown: {error!r}"))
        finally:
            self.post_message(self.Built(wish, document, last=True))

    # ---- showing

    def on_preview_built(self, event: Built) -> None:
        """Take a document from the worker, unless another one is wished for by now."""
        event.stop()
        if event.last:
            self._stop = None
        if event.wish is not self._wish:
            if event.last and self._timer is None:
                self._begin()
        elif event.document is not None:
            keep = event.wish.like(self._shown)
            self._shown = event.wish
            self._display(event.document, keep=keep)
            if event.last:
                self._announce(event.wish.entry.id, event.wish.tab)

    def _show_nothing(self, session: SessionFile | None) -> None:
        from pitree.ui.documents.model import notice

        self._shown = None
        if session is None:
            text = "Highlight a session to see its tree, and an entry to see it here."
        elif not session.entries:
            text = "This session has no entries yet."
        else:
            text = "Highlight an entry to see it here, and what the model would see there."
        self._display(notice("", "", text))
        self._announce(None, self.tab)

    def _display(self, document: Document, *, keep: bool = False) -> None:
        self.view.show(document, keep=keep)
        self.search_again()

    def show_hint(self, found: str) -> None:
        """Say what was found, else what else there is to this document."""
        parts = [found] if found else []
        if not found and self.raw and self.tab == "entry":
            parts.append("raw")
        if not found and self.document.cut:
            parts.append(f"{self.keys.way('more')}: all of it")
        self._bar.hint = " · ".join(parts)

    def _announce(self, entry_id: str | None, tab: Tab) -> None:
        self.call_after_refresh(self.post_message, self.Shown(self, entry_id, tab))

    @property
    def document(self) -> Document:
        """What is on display."""
        return self.view.document

    def visible_texts(self) -> Iterator[str]:
        """Yield the rows on the screen as plain text, for tests and for copying."""
        return self.view.visible_texts()

    # ---- keys and mouse

    def can(self, action_id: str | None) -> bool:
        """Whether an action has something to act on; without one: whether anything is shown."""
        match action_id:
            case "next-found" | "previous-found":
                return self.can_back_out
            case "next-link" | "previous-link":
                return self.view.has_links
            case "link-back":
                return bool(self._came_from)
            case "next-block" | "previous-block":
                return bool(self.document.blocks)
            case "more":
                return self.document.cut
            case _:
                return self._wish is not None

    def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        """Show the document whose tab was clicked."""
        event.stop()
        self.tab = next(tab for tab in TABS if tab == event.tab)

    def action_next_tab(self, step: int = 1) -> None:
        """Show the document of the next tab, or of the one before (-1)."""
        self.tab = TABS[(TABS.index(self.tab) + step) % len(TABS)]

    def action_more(self) -> None:
        """Show all of what was cut for its size."""
        if self._wish is not None and not self._wish.whole:
            self._ask(self._wish.but(whole=True))

    def action_toggle_raw(self) -> None:
        """Show the entry as it stands in the file, or as it is meant."""
        self.tab = "entry"
        self.raw = not self.raw

    def action_toggle_wrap(self) -> None:
        """Wrap long lines, or cut them at the pane's edge."""
        self.view.wrap = not self.view.wrap

    def action_toggle_numbers(self) -> None:
        """Show the numbers of the lines of texts, or not."""
        self.view.numbers = not self.view.numbers

    def action_line_up(self) -> None:
        """Scroll one line up."""
        self.view.action_line_up()

    def action_line_down(self) -> None:
        """Scroll one line down."""
        self.view.action_line_down()

    def action_page_up(self) -> None:
        """Scroll one page up."""
        self.view.action_page_up()

    def action_page_down(self) -> None:
        """Scroll one page down."""
        self.view.action_page_down()

    def action_half_page(self, direction: int) -> None:
        """Scroll half a page down (1) or up (-1)."""
        self.view.action_half_page(direction)

    def action_first(self) -> None:
        """Scroll to the top."""
        self.view.action_first()

    def action_last(self) -> None:
        """Scroll to the end."""
        self.view.action_last()

    def action_block(self, step: int) -> None:
        """Choose the next block or message, or the one before."""
        self.view.choose_block(step)

    def action_find(self) -> None:
        """Begin to type what to find; of an entry, all of it is searched."""
        if self.tab == "entry" and self.document.cut:
            self.action_more()
        super().action_find()

    @property
    def nowhere(self) -> str:
        """What to say where nothing was found: of long messages a list shows only the beginning."""
        return "not here" if self.tab == "entry" else "not in what is listed"

    # ---- links

    def action_link(self, step: int) -> None:
        """Choose the next link to an entry, or the one before."""
        self.view.choose_link(step)

    def on_choosing_link_clicked(self, event: DocumentView.LinkClicked) -> None:
        """Follow a link that was clicked."""
        event.stop()
        self._follow(event.entry_id)

    def _follow(self, entry_id: str) -> None:
        if self._wish is not None:
            self._came_from.append(self._wish.entry.id)
            self.post_message(self.LinkFollowed(self._wish.session, entry_id))

    def action_go_back(self) -> None:
        """Go back to where the last link was followed from."""
        if self._came_from and self._wish is not None:
            self.post_message(self.LinkFollowed(self._wish.session, self._came_from.pop()))

    # ---- other programs

    def action_activate(self) -> None:
        """Follow the chosen link; without one, read in the pager."""
        link = self.view.link
        if link is not None:
            self._follow(link)
        else:
            self.action_read("pager")

    def action_read(self, reader: Reader) -> None:
        """Read what is shown in the pager, or in the editor."""
        if self._wish is not None:
            self.post_message(self.ReadingWanted(self._wish, reader))

    def action_open_image(self) -> None:
        """Open the image of the chosen block, else the next one on the screen, in the system's viewer."""
        self.post_message(self.ImageWanted(self.view.blocks_on))

    def action_copy(self, what: str) -> None:
        """Copy what the mouse selected; else the entry's text, the chosen block, or all that is shown."""
        if self._wish is None:
            return
        selected = self.screen.get_selected_text()
        text = selected or ("\n".join(self.document.texts()) if what == "all" else None)
        self.post_message(self.CopyWanted(self._wish, self.view.block if what == "block" else None, text))


def _trouble(wish: Wish, text: str) -> Document:
    from pitree.ui.documents.model import notice

    return notice(one_line(wish.entry.id, 60), "", text, style="error")
