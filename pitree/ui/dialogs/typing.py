"""Typing: one line in its place, or a text of many lines.

Textual hands what it is given on to the terminal, control characters and all. So what is shown for editing is
made safe first, and so is what is pasted; a text that was not touched is given back as it was.
"""

from typing import ClassVar, Final

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from pitree.sessions.text import display, lines
from pitree.ui.dialogs.answer import Answer
from pitree.ui.dialogs.choice import Choice

_LINE_CELLS: Final = 24
"""The columns that a line is to have before there is a note behind it, and those around both."""


def editable(text: str) -> str:
    """Return a text of many lines that is safe to be shown and edited; tabs and newlines stay."""
    return "\n".join("\t".join(map(display, line.split("\t"))) for line in lines(text))


class _Line(Input):
    def on_paste(self, event: events.Paste) -> None:
        """Take what is pasted on one line, and safe."""
        event.text = display(" ".join(event.text.split()))


class _Text(TextArea):
    def on_paste(self, event: events.Paste) -> None:
        """Make what is pasted safe."""
        event.text = editable(event.text)


class LineEdit(ModalScreen[str | None]):
    """Have one line typed, where it belongs.

    `at` is the line of the screen for it, None the middle. The result is what was typed; `text` itself where
    it was not touched, None for Esc. `note` stands behind the line where there is room; it and `title` must
    be safe.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave", show=False)]

    DEFAULT_CSS = """
    LineEdit { background: transparent; align: center middle; }
    LineEdit > Horizontal { height: 1; width: 100%; max-width: 100; background: $panel; }
    LineEdit Static {
        width: auto; max-width: 60%; height: 1; padding: 0 1; color: $text-accent; text-style: bold;
    }
    LineEdit #line-note { color: $foreground-muted; text-style: none; }
    LineEdit Input { width: 1fr; background: $panel; }
    """

    def __init__(
        self, title: str, text: str, *, hint: str = "", note: str = "", at: Region | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._notes = (f"({note} · Esc leaves)", f"({note})") if note else ("(Esc leaves)",)
        self._text = text
        self._shown = display(" ".join(text.split()))
        self._hint = hint
        self._at = at

    def compose(self) -> ComposeResult:
        """Lay out what it is, and the line."""
        with Horizontal() as row:
            if self._at is not None:
                self.styles.align = ("left", "top")
                row.styles.offset = self._at.offset
                row.styles.max_width = max(20, self._at.width)
            yield Static(Content(f"{self._title}:"))
            yield _Line(self._shown, placeholder=self._hint, compact=True, select_on_focus=False)
            yield Static(id="line-note")

    def on_mount(self) -> None:
        """Begin to type."""
        self.set_focus(self.query_one(Input))  # `focus()` would do it after the next keys

    def on_resize(self) -> None:
        """Shorten the note, or leave it out, where the line needs the room."""
        width = min(self.size.width, 100 if self._at is None else max(20, self._at.width))
        room = width - cell_len(self._title) - _LINE_CELLS
        note = next((note for note in self._notes if cell_len(note) <= room), "")
        shown = self.query_one("#line-note", Static)
        shown.update(Content(note))
        shown.display = bool(note)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the line."""
        event.stop()
        self.dismiss(self._text if event.value == self._shown else event.value)


class TextEditor(ModalScreen[str | None]):
    """Have a text of many lines edited; the result is the text, None for Esc.

    `title`, `notes` and `verb` (what Ctrl+S does) must be safe.
    """

    # after the text, not before it: what was typed just before them belongs to it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "accept", "Accept", show=False),
        Binding("escape", "leave", "Leave", show=False),
    ]

    DEFAULT_CSS = """
    TextEditor { align: center middle; background: $background 60%; }
    TextEditor > Vertical {
        width: 94%; max-width: 110; height: 80%; min-height: 8;
        border: round $primary; border-title-color: $primary; background: $surface; padding: 0 1;
    }
    TextEditor #editor-notes { height: auto; max-height: 4; color: $text-warning; }
    TextEditor TextArea, TextEditor TextArea:focus {
        height: 1fr; border: none; background: $surface; padding: 0;
    }
    TextEditor #editor-keys { height: auto; max-height: 2; color: $foreground-muted; }
    """

    def __init__(self, title: str, text: str, *, verb: str, notes: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._shown = editable(text)
        self._verb = verb
        self._notes = notes

    def compose(self) -> ComposeResult:
        """Lay out the notes, the text and its keys."""
        with Vertical() as box:
            box.border_title = Content(self._title)
            if self._notes:
                yield Static(Content(self._notes), id="editor-notes")
            yield _Text(self._shown, soft_wrap=True, highlight_cursor_line=False)
            yield Static(Content(f"Ctrl+S {self._verb} · Esc leaves it"), id="editor-keys")

    def on_mount(self) -> None:
        """Begin to type, at the end."""
        text = self.query_one(TextArea)
        self.set_focus(text)  # at once: what is typed next belongs here
        text.move_cursor(text.document.end)

    def action_accept(self) -> None:
        """Take the text."""
        typed = self.query_one(TextArea).text
        self.dismiss(self._text if typed == self._shown else typed)

    def action_leave(self) -> None:
        """Leave, and ask first where something was typed."""
        if self.query_one(TextArea).text == self._shown:
            self.dismiss(None)
            return

        def answered(answer: str | None) -> None:
            if answer == "throw":
                self.dismiss(None)

        keep = Answer("k", "Keep on typing", "")
        self.app.push_screen(
            Choice("Throw away what you typed?", [], [keep, Answer("t", "Throw it away", "throw")]), answered
        )
