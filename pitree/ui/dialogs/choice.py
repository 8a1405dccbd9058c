"""A question with a few answers, each with a letter of its own."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from pitree.ui.alt_keys import typed_text
from pitree.ui.dialogs.answer import Answer


class Choice(ModalScreen[str | None]):
    """Ask; the result is the chosen answer's value, None for Esc. The texts must be safe already."""

    # before the keys that come after it: an Enter is not to say yes
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave", show=False, priority=True)
    ]

    DEFAULT_CSS = """
    Choice { align: center middle; background: $background 60%; }
    Choice > Vertical {
        width: 94%; min-width: 16; max-width: 80; height: auto; max-height: 90%;
        border: round $primary; background: $surface; padding: 1 2;
    }
    Choice #question-title { text-style: bold; color: $primary; margin-bottom: 1; }
    Choice OptionList, Choice OptionList:focus {
        height: auto; border: none; background: transparent; margin-top: 1; padding: 0;
    }
    """

    def __init__(self, title: str, lines: Sequence[str], answers: Sequence[Answer]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._answers = answers

    def compose(self) -> ComposeResult:
        """Lay out title, text and answers."""
        with Vertical():
            yield Static(Content(self._title), id="question-title")
            yield Static(Content("\n".join(self._lines)), id="question-text")
            yield OptionList(
                *(Option(Content(f"{answer.letter}  {answer.text}")) for answer in self._answers),
                id="question-answers",
            )

    def on_mount(self) -> None:
        """Put the highlight on the first answer."""
        answers = self.query_one(OptionList)
        answers.highlighted = 0
        answers.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the highlighted answer."""
        self.dismiss(self._answers[event.option_index].value)

    def on_key(self, event: events.Key) -> None:
        """Take the answer with that letter."""
        for answer in self._answers:
            if typed_text(event) == answer.letter:
                event.stop()
                self.dismiss(answer.value)
                return
