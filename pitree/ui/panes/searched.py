"""A list that is searched by typing, as Pi's own lists are."""

from textual import events

from pitree.ui.alt_keys import typed_text
from pitree.ui.lineview import RowList
from pitree.ui.panes.answering import AnsweringPane


class SearchedList(RowList, AnsweringPane):
    """What is typed into the list is its search; a subclass does the finding."""

    not_typed: frozenset[str] = frozenset()
    """Characters that are keys of the list."""

    query_text = ""
    """What was typed so far."""

    def set_query(self, query: str) -> None:
        """Search for something else; a blank query leaves the search."""
        raise NotImplementedError

    @property
    def can_back_out(self) -> bool:
        """Whether there is a search to leave."""
        return bool(self.query_text)

    async def on_key(self, event: events.Key) -> None:
        """Type into the search; it does not begin with a blank."""
        if event.key == "backspace" and self.query_text:
            event.stop()
            event.prevent_default()
            self.set_query(self.query_text[:-1])
        elif (text := typed_text(event)) and text not in self.not_typed:
            if text == " " and not self.query_text:
                return
            event.stop()
            event.prevent_default()
            self.set_query(self.query_text + text)

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the search."""
        event.stop()
        self.set_query(self.query_text + " ".join(event.text.split()))
