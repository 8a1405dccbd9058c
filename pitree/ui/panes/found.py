"""Finding in the preview: what is typed after `/` is looked for in a worker while the screen goes on."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from textual import events
from textual.message import Message
from textual.worker import get_current_worker

from pitree.sessions.text import one_line
from pitree.ui.panes.answering import AnsweringPane
from pitree.ui.panes.typed_search import TypedSearch
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.ui.documents.layout import Spot
    from pitree.ui.documents.model import Document
    from pitree.ui.panes.document_view import DocumentView

_SHOWN_CHARACTERS: Final = 30


class Found(Message, bubble=False):
    """From the worker: where the pattern is in the document, so far or (`done`) altogether."""

    def __init__(
        self, pattern: re.Pattern[str], document: Document, spots: list[Spot], *, done: bool
    ) -> None:
        super().__init__()
        self.pattern = pattern
        self.document = document
        self.spots = spots
        self.done = done


class Finder(AnsweringPane):
    """The part of the preview that finds text in what is shown."""

    @property
    def view(self) -> DocumentView:
        """The document in which text is found."""
        raise NotImplementedError

    find_keys: frozenset[str] = frozenset({"slash"})
    """The keys that open the search."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        from pitree.ui.documents.layout import Spot

        super().__init__(id=id, classes=classes)
        self._typed = TypedSearch()
        self._pattern: re.Pattern[str] | None = None
        self._spots: list[Spot] = []
        self._complete = False
        self._start = Spot(0, 0)
        self._jumping = False
        """Whether the first match from `_start` on is to be shown as soon as it is known."""

    def show_hint(self, found: str) -> None:
        """Say how the search goes."""
        raise NotImplementedError

    @property
    def nowhere(self) -> str:
        """What to say where nothing was found."""
        return "not here"

    @property
    def can_back_out(self) -> bool:
        """Whether there is a search to leave."""
        return self._typed.is_open or self._pattern is not None

    def action_find(self) -> None:
        """Begin to type what to find."""
        self._typed.open()
        self._start = self.view.top
        self._show_search()

    async def on_key(self, event: events.Key) -> None:
        """Type into the search while it is open.

        The key that opens it is taken here, though it is a binding, too: those are looked at only when the
        keys typed after it have come here already.
        """
        if event.key in self.find_keys and not self._typed.is_open:
            event.stop()
            event.prevent_default()
            self.action_find()
        elif self._typed.is_open and event.key == "enter":
            event.stop()
            event.prevent_default()
            self._typed.close()
            self._show_search()
        elif self._typed.take(event):
            self._look_for(self._typed.text)

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the search."""
        if self._typed.is_open:
            event.stop()
            self._typed.text += " ".join(event.text.split())
            self._look_for(self._typed.text)

    def action_clear_search(self) -> None:
        """Leave the search; nothing is marked any more."""
        self._typed.close(forget=True)
        self._look_for("")

    def _look_for(self, text: str) -> None:
        from pitree.ui.documents.find import typed_pattern

        self._pattern = typed_pattern(text)
        self._jumping = True
        self.view.mark(self._pattern)
        self._search()

    def search_again(self) -> None:
        """Look for the same in another document, without leaving its top unless somebody is typing."""
        from pitree.ui.documents.layout import Spot

        self._jumping = self._typed.is_open
        if not self._jumping:
            self._start = Spot(0, 0)
        self._search()

    def _search(self) -> None:
        from pitree.ui.documents.find import find_all

        self._spots, self._complete = [], False
        pattern, document, start = self._pattern, self.view.document, self._start
        self.workers.cancel_group(self, "find")
        self._show_search()
        if pattern is None:
            return

        def work() -> None:
            worker = get_current_worker()
            spots: list[Spot] = []
            told = False
            for spot in find_all(document, pattern, lambda: worker.is_cancelled):
                spots.append(spot)
                if not told and spot >= start:
                    told = True
                    self.post_message(Found(pattern, document, list(spots), done=False))
            if not worker.is_cancelled:
                self.post_message(Found(pattern, document, spots, done=True))

        self.run_worker(
            work, group="find", exclusive=True, thread=True, exit_on_error=False, description=UNDESCRIBED
        )

    def on_found(self, event: Found) -> None:
        """Take what was found, unless something else is looked for by now."""
        event.stop()
        if event.pattern is not self._pattern or event.document is not self.view.document:
            return
        self._spots, self._complete = event.spots, event.done
        if self._jumping and event.spots:
            self._jumping = False
            place = bisect_left(event.spots, self._start)
            self.view.mark(self._pattern, event.spots[place % len(event.spots)])
        self._show_search()

    def action_next_found(self, step: int) -> None:
        """Go to the next place that was found (1), or the one before (-1); around at the ends."""
        if not self._spots:
            return
        here = self.view.found
        if here is None:
            place = bisect_left(self._spots, self.view.top) - (step < 0)
        else:
            place = bisect_right(self._spots, here) if step > 0 else bisect_left(self._spots, here) - 1
        self.view.mark(self._pattern, self._spots[place % len(self._spots)])
        self._show_search()

    @property
    def search_status(self) -> str:
        """What is looked for and what was found, safe to print; "" where nothing is looked for."""
        from pitree.ui.documents.find import MOST_FOUND

        if not self._typed.is_open and self._pattern is None:
            return ""
        typed = f"/{one_line(self._typed.text, _SHOWN_CHARACTERS)}{'▏' if self._typed.is_open else ''}"
        if self._pattern is None:
            return typed
        count = len(self._spots)
        if not count:
            return f"{typed} {self.nowhere if self._complete else '…'}"
        total = f"{count:,}{'' if self._complete and count < MOST_FOUND else '+'}"
        here = self.view.found
        place = f"{bisect_left(self._spots, here) + 1:,} of " if here is not None else ""
        return f"{typed} {place}{total}"

    def _show_search(self) -> None:
        self.show_hint(self.search_status)
