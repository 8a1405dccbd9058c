"""What is said where the terminal is too small to show anything of use."""

from typing import Final

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

LEAST: Final = (24, 6)
"""The fewest columns and lines in which the panes say something."""


class TooSmall(Static):
    """A page over everything else; what is under it stays as it is, and keeps the focus."""

    DEFAULT_CSS = """
    TooSmall { layer: size; width: 100%; height: 100%; background: $background; }
    """


def tell_of_size(screen: Screen[None]) -> None:
    """Cover a screen that is too small with a sentence, and uncover one that is not."""
    width, height = screen.size
    tiny = 0 < width < LEAST[0] or 0 < height < LEAST[1]
    pages = screen.query(TooSmall)
    if not tiny and not pages:
        return
    page = pages.first() if pages else TooSmall()
    page.display = tiny
    page.update(Content(f"Too small: {width}x{height}. pitree needs {LEAST[0]}x{LEAST[1]}."))
    if not pages:
        screen.mount(page)
