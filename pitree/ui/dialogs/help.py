"""The page with all the keys."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from pitree.ui.keys import SECTIONS

MARKS = (
    ("◆", "the leaf: where the conversation goes on"),
    ("◇", "the leaf is below this, hidden by the filter or a fold"),
    ("•", "on the way to the leaf"),
    ("▾ ▸", "a branch that can be folded; a folded one, with how many entries it hides"),
    ("⚠", "something is wrong with this line or file; the preview says what"),
    ("✗", "ended in an error, or was aborted"),
    ("●", "written to within the last minute"),
    ("⊘", "the session's working directory is gone"),
    ("↳", "forked from another session"),
)


class Help(ModalScreen[None]):
    """Keys and marks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "dismiss(None)", "Close", show=False),
    ]

    DEFAULT_CSS = """
    Help { align: center middle; background: $background 60%; }
    Help > VerticalScroll {
        width: 84; max-width: 96%; height: auto; max-height: 94%;
        border: round $primary; background: $surface; padding: 0 2; border-title-color: $primary;
    }
    """

    def compose(self) -> ComposeResult:
        """Lay the keys out by pane."""
        with VerticalScroll() as page:
            page.border_title = "Keys"
            yield Static(self._page())

    @staticmethod
    def _page() -> Content:
        parts: list[Content] = []
        for title, keys in SECTIONS:
            parts.append(Content.styled(f"\n{title}\n", "bold $primary"))
            parts += [Content(f"  {key.shown:<16}{key.help}\n") for key in keys]
            if title in {"Sessions", "Tree"}:
                parts.append(Content(f"  {'letters':<16}Search; Backspace takes back, Esc leaves\n"))
        parts.append(Content.styled("\nMarks\n", "bold $primary"))
        parts += [Content(f"  {mark:<16}{meaning}\n") for mark, meaning in MARKS]
        return Content("").join(parts)
