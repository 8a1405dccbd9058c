"""The page with all the keys."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from pitree.ui.keys import MARKS, SEARCHED, SECTIONS, KeyTable

_KEY_CELLS: Final = 12
_MOST_PROBLEMS: Final = 12


class Help(ModalScreen[None]):
    """Keys, those of the focused pane first, and marks; before them what is wrong with the settings.

    `place` is the focused pane, 0 the leftmost; the problems must be safe.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,enter", "dismiss(None)", "Close", show=False),
    ]

    DEFAULT_CSS = """
    Help { align: center middle; background: $background 60%; }
    Help > VerticalScroll {
        width: 90; max-width: 96%; height: auto; max-height: 94%;
        border: round $primary; background: $surface; padding: 0 2; border-title-color: $primary;
        border-subtitle-color: $foreground-muted;
    }
    Help .title { margin: 1 0 0 0; text-style: bold; color: $primary; }
    Help .rows { margin: 0 0 0 2; }
    Help .problem { margin: 0 0 0 2; color: $text-warning; }
    """

    def __init__(self, keys: KeyTable, place: int, problems: Sequence[str] = ()) -> None:
        super().__init__()
        self._keys = keys
        self._place = place
        self._problems = problems
        closing = ",".join(name for key in keys.everywhere if key.id == "help" for name in key.names)
        if closing:
            self._bindings.bind(closing, "dismiss(None)", "Close", show=False)

    def compose(self) -> ComposeResult:
        """Lay the keys out by pane."""
        sections = list(zip(SECTIONS, self._keys, strict=True))
        here = sections.pop(len(sections) - 3 + self._place)
        leaving = self._keys.shown("tui.select.cancel") or "Esc"
        with VerticalScroll() as page:
            page.border_title = "Keys"
            page.border_subtitle = f"{leaving} leaves"
            if self._problems:
                yield Static("Settings", classes="title")
                for problem in self._problems[:_MOST_PROBLEMS]:
                    yield Static(Content(f"⚠ {problem}"), classes="problem")
                if len(self._problems) > _MOST_PROBLEMS:
                    more = len(self._problems) - _MOST_PROBLEMS
                    yield Static(f"… and {more} more; `pitree config` says them all", classes="problem")
            for title, keys in (here, *sections):
                rows = [(" ".join(key.all_shown) or "-", key.help) for key in keys]
                if title in SEARCHED:
                    rows.append(("letters", f"Search; Backspace takes back, {leaving} leaves"))
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
