"""The Preview pane: the highlighted entry in full, or what the model would see there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, Literal, get_args

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.text import one_line
from pitree.ui.documents.context import context_document
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.model import Document, notice
from pitree.ui.keys import PREVIEW_KEYS, bindings
from pitree.ui.lineview import LineView
from pitree.ui.panes.document_view import DocumentView
from pitree.ui.panes.tab_bar import TabBar

Tab = Literal["entry", "context"]

TABS: Final[tuple[Tab, ...]] = get_args(Tab)

# Long enough to pass over what a held key only touches, too short to be noticed.
_DEBOUNCE_SECONDS: Final = 0.04
# From here on it is said that something is being read.
_PATIENCE_SECONDS: Final = 0.3


@dataclass(frozen=True, eq=False, slots=True)
class _Wish:
    """What somebody wants to see. Two wishes are never equal: the newest one counts."""

    session: SessionFile
    entry: Entry
    tab: Tab
    whole: bool

    def like(self, other: "_Wish | None") -> bool:
        """Return whether both want the same thing, so that the place in it can be kept."""
        return (
            other is not None
            and self.tab == other.tab
            and self.entry.id == other.entry.id
            and self.session.path == other.session.path
        )


class Preview(Vertical, can_focus=True, can_focus_children=False):
    """Shows one entry of a session: in full, or the context there.

    Only the newest call of `show` counts. Files are read in a worker, one at a time, so that a held key
    neither holds up the screen nor piles up work.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*LineView.BINDINGS, *bindings(PREVIEW_KEYS)]

    tab: reactive[Tab] = reactive[Tab]("entry", init=False)
    """Which of the two documents is shown."""

    class Shown(Message):
        """A document is on display; `entry_id` is None where there is nothing to show."""

        def __init__(self, preview: "Preview", entry_id: str | None, tab: Tab) -> None:
            super().__init__()
            self.preview = preview
            self.entry_id = entry_id
            self.tab = tab

        @property
        def control(self) -> "Preview":
            """The pane."""
            return self.preview

    class Built(Message, bubble=False):
        """From the worker: the document that was wished for, or None where the work was stopped."""

        def __init__(self, wish: _Wish, document: Document | None) -> None:
            super().__init__()
            self.wish = wish
            self.document = document

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.view = DocumentView()
        self._bar = TabBar(TABS)
        self._wish: _Wish | None = None
        self._shown: _Wish | None = None
        self._timer: Timer | None = None
        self._worker: Worker[None] | None = None
        """The worker that is reading; it can go on for a while after it was told to stop."""

    def compose(self) -> ComposeResult:
        """Put the tabs above the document."""
        yield self._bar
        yield self.view

    def on_mount(self) -> None:
        """Show what was asked for before there was a screen."""
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
            if self._worker is not None:
                self._worker.cancel()
            if self.is_mounted:
                self._show_nothing(session)
            return
        self._ask(_Wish(session, entry, self.tab, whole=False))

    def _ask(self, wish: _Wish) -> None:
        if wish.like(self._wish) and self._wish is not None and self._wish.whole:
            wish = _Wish(wish.session, wish.entry, wish.tab, whole=True)
        self._wish = wish
        if self._timer is None and self.is_mounted:
            self._timer = self.set_timer(_DEBOUNCE_SECONDS, self._begin)

    def watch_tab(self) -> None:
        """Show the other document of the same entry."""
        self._bar.active = self.tab
        if self._wish is not None:
            self._ask(_Wish(self._wish.session, self._wish.entry, self.tab, whole=False))

    def _begin(self) -> None:
        self._timer = None
        wish = self._wish
        if wish is None:
            return
        if self._worker is not None:  # at most one thread reads; the newest wish begins when it has ended
            self._worker.cancel()
            return
        self._worker = self.run_worker(
            partial(self._build, wish), group="preview", exclusive=True, thread=True, exit_on_error=False
        )
        self.set_timer(_PATIENCE_SECONDS, partial(self._say_reading, wish))

    def _say_reading(self, wish: _Wish) -> None:
        if self._wish is wish and self._shown is not wish and not wish.like(self._shown):
            self._display(notice(one_line(wish.entry.id, 60), "Reading …"))

    # ---- in the worker

    def _build(self, wish: _Wish) -> None:
        worker = get_current_worker()
        document: Document | None = None
        try:
            document = _document(wish, lambda: worker.is_cancelled)
        except StoppedError:
            pass
        except (SessionError, OSError) as error:
            document = _trouble(wish, one_line(str(error)))
        except Exception as error:  # noqa: BLE001 - no entry, however odd, may take the program with it
            document = _trouble(wish, one_line(f"This entry cannot be shown: {error!r}"))
        finally:
            self.post_message(self.Built(wish, document))

    # ---- showing

    def on_preview_built(self, event: Built) -> None:
        """Take a document from the worker, unless another one is wished for by now."""
        event.stop()
        self._worker = None
        if event.wish is not self._wish:
            if self._timer is None:
                self._begin()
        elif event.document is not None:
            keep = event.wish.like(self._shown)
            self._shown = event.wish
            self._display(event.document, keep=keep)
            self._announce(event.wish.entry.id, event.wish.tab)

    def _show_nothing(self, session: SessionFile | None) -> None:
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
        self._bar.hint = "m: all of it" if document.cut else ""
        self.view.show(document, keep=keep)

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

    def on_tab_bar_chosen(self, event: TabBar.Chosen) -> None:
        """Show the document whose tab was clicked."""
        event.stop()
        self.tab = next(tab for tab in TABS if tab == event.tab)

    def action_next_tab(self) -> None:
        """Show the other document."""
        self.tab = TABS[(TABS.index(self.tab) + 1) % len(TABS)]

    def action_more(self) -> None:
        """Show all of what was cut for its size."""
        if self._wish is not None and not self._wish.whole:
            self._ask(_Wish(self._wish.session, self._wish.entry, self.tab, whole=True))

    def action_toggle_wrap(self) -> None:
        """Wrap long lines, or cut them at the pane's edge."""
        self.view.wrap = not self.view.wrap

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

    def action_first(self) -> None:
        """Scroll to the top."""
        self.view.action_first()

    def action_last(self) -> None:
        """Scroll to the end."""
        self.view.action_last()


def _document(wish: _Wish, stop: Callable[[], bool]) -> Document:
    if wish.tab == "context" and not wish.session.complete:
        return notice(one_line(wish.entry.id, 60), "", "The whole session is still being read.")
    if wish.tab == "context":
        return context_document(wish.session, wish.entry.id, whole=wish.whole, stop=stop)
    return entry_document(wish.session, wish.entry, whole=wish.whole)


def _trouble(wish: _Wish, text: str) -> Document:
    return notice(one_line(wish.entry.id, 60), "", text, style="error")
