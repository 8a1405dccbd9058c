"""The least that a Textual program can do: one word on the screen. Its start is what cannot be helped."""

from textual.app import App, ComposeResult
from textual.widgets import Static

WORD = "BARE"


class Bare(App[None]):
    """Shows one word."""

    def compose(self) -> ComposeResult:
        yield Static(WORD)


if __name__ == "__main__":
    Bare().run()
