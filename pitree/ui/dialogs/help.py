"""The page with all the keys."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from pitree.ui.keys import MARKS, SECTIONS

_KEY_CELLS: Final = 12


class Help(ModalScreen[None]):
    """Keys and marks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "dismiss(None)", "Close", show=False),
    ]

    DEFAULT_CSS = """
    Help { align: center middle; background: $background 60%; }
    Help > VerticalScroll {
        width: 90; max-width: 96%; height: auto; max-height: 94%;
        border: round $primary; background: $surface; padding: 0 2; border-title-color: $primary;
    }
    Help .title { margin: 1 0 0 0; text-style: bold; color: $primary; }
    Help .rows { margin: 0 0 0 2; }
    """

    def compose(self) -> ComposeResult:
        """Lay the keys out by pane."""
        with VerticalScroll() as page:
            page.border_title = "Keys"
            for title, keys in SECTIONS:
                rows = [(" ".join(key.all_shown), key.help) for key in keys]
                if title in {"Sessions", "Tree"}:
                    rows.append(("letters", "Search; Backspace takes back, Esc leaves"))
                yield from self._section(title, rows)
            yield from self._section("Marks", MARKS)

    @staticmethod
    def _section(title: str, rows: Iterable[tuple[str, str]]) -> ComposeResult:
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=_KEY_CELLS)
        table.add_column(ratio=1)
        for left, right in rows:
            table.add_row(Text(left), Text(right))
        yield Static(title, classes="title")
        yield Static(table, classes="rows")
