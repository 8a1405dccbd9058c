"""The frame of a question: what is told scrolls, and what can be answered is always in sight."""

from collections.abc import Sequence
from typing import ClassVar, Final, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from pitree.ui.alt_keys import typed_text

Result = TypeVar("Result")

_LEAST_TOLD: Final = 3
"""Lines. For less, blank lines are left out, and answers are cut rather than wrapped."""

_SIDES: Final = 8
"""Columns of a dialog that are none of an answer's text: borders, and the room beside it."""


class Framed(ModalScreen[Result]):
    """Something told in `#told`, and below it answers with a letter each.

    Where the terminal is too low for all of it, what is told scrolls, and the frame says so.
    """

    # before the keys that come after it: an Enter is not to say yes
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave", show=False, priority=True),
        Binding("pageup", "page(-1)", "A page up", show=False, priority=True),
        Binding("pagedown", "page(1)", "A page down", show=False, priority=True),
    ]

    DEFAULT_CSS = """
    Framed { align: center middle; background: $background 60%; }
    Framed > Vertical {
        height: auto; max-height: 100%; padding: 1 2; background: $surface;
        border: round $primary; border-title-color: $primary; border-title-style: bold;
        border-subtitle-color: $foreground-muted;
    }
    Framed #about { margin-bottom: 1; color: $foreground-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    Framed VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
    Framed OptionList, Framed OptionList:focus {
        height: auto; border: none; background: transparent; margin-top: 1; padding: 0;
    }
    Framed.-low > Vertical { padding: 0 1; }
    Framed.-low #about { display: none; }
    Framed.-low OptionList, Framed.-low OptionList:focus {
        margin-top: 0; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    WIDEST: ClassVar[int] = 80

    def __init__(self, title: str, *, about: str = "", highlighted: int = 0) -> None:
        """Begin with a title, and with what it is about in one line; both must be safe."""
        super().__init__()
        self._title = title
        self._about = about
        self._first = highlighted

    @property
    def offered(self) -> Sequence[tuple[str, str]]:
        """Return the letters and texts of the answers; safe."""
        raise NotImplementedError

    def told(self) -> Content:
        """Return what is told, safe."""
        raise NotImplementedError

    def choose(self, place: int) -> None:
        """Take an answer."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Lay out what is told, and the answers."""
        with Vertical() as frame:
            frame.border_title = Content(self._title)
            if self._about:
                yield Static(Content(self._about), id="about")
            with VerticalScroll(can_focus=False):
                yield Static(id="told")
            yield OptionList(*(option(*offered) for offered in self.offered), id="answers")

    def on_mount(self) -> None:
        """Put the highlight on the first answer."""
        answers = self.query_one(OptionList)
        answers.highlighted = self._first
        answers.focus()
        scroll = self.query_one(VerticalScroll)
        self.watch(scroll, "virtual_size", self._say_keys, init=False)
        self.watch(scroll, "scroll_y", self._say_keys, init=False)
        self.show_told()

    def on_resize(self, _event: events.Resize) -> None:
        """Use the room there is."""
        self.fit()

    def show_told(self) -> None:
        """Show what is told anew."""
        told = self.told()
        self.query_one("#told", Static).update(told)
        self.query_one(VerticalScroll).display = bool(told.plain)
        self.fit()

    def fit(self) -> None:
        """Give the answers their room, and what is told the rest."""
        width, height = self.size
        if not width:
            return
        frame, answers = self.query_one(Vertical), self.query_one(OptionList)
        wide = max(16, min(self.WIDEST, width * 94 // 100))
        # the border, the blank lines in it, what it is about, and the blank line before the answers
        around = 2 + 2 + 2 * bool(self._about) + 1
        need = sum(_content(*offered).get_height({}, wide - _SIDES) for offered in self.offered)
        low = height < around + _LEAST_TOLD + need
        if low:
            around, need = 2, len(self.offered)
        self.set_class(low, "-low")
        frame.styles.width = wide
        answers.styles.max_height = max(1, min(need, height - around - 1))
        self.query_one(VerticalScroll).styles.max_height = max(1, height - around - need)
        self.call_after_refresh(self._say_keys)

    def _say_keys(self) -> None:
        scroll = self.query_one(VerticalScroll)
        more = "PgUp PgDn: more · " if scroll.max_scroll_y > 0 else ""
        self.query_one(Vertical).border_subtitle = f"{more}Esc leaves"

    def action_page(self, pages: int) -> None:
        """Scroll what is told; where all of it is in sight, go to the last or the first answer."""
        scroll, answers = self.query_one(VerticalScroll), self.query_one(OptionList)
        if scroll.max_scroll_y > 0:
            step = max(1, scroll.size.height - 1)
            scroll.scroll_to(y=scroll.scroll_y + pages * step, animate=False)
        elif pages > 0:
            answers.action_last()
        else:
            answers.action_first()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the highlighted answer."""
        event.stop()
        self.choose(event.option_index)

    def on_key(self, event: events.Key) -> None:
        """Take the answer with that letter."""
        for place, (letter, _) in enumerate(self.offered):
            if typed_text(event) == letter:
                event.stop()
                self.choose(place)
                return


def option(letter: str, text: str) -> Option:
    """Return an answer as it stands in the list; the text must be safe."""
    return Option(_content(letter, text))


def _content(letter: str, text: str) -> Content:
    return Content(f"{letter}  {text}")
