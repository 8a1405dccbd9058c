"""A question with a few answers, each with a letter of its own."""

from collections.abc import Sequence

from textual.content import Content

from pitree.ui.dialogs.answer import Answer
from pitree.ui.dialogs.framed import Framed


class Choice(Framed[str | None]):
    """Ask; the result is the chosen answer's value, None for Esc. The texts must be safe already."""

    def __init__(self, title: str, lines: Sequence[str], answers: Sequence[Answer]) -> None:
        super().__init__(title)
        self._lines = lines
        self._answers = answers

    @property
    def offered(self) -> list[tuple[str, str]]:
        """Return the letters and texts of the answers."""
        return [(answer.letter, answer.text) for answer in self._answers]

    def told(self) -> Content:
        """Return the lines."""
        return Content("\n".join(self._lines))

    def choose(self, place: int) -> None:
        """End with an answer's value."""
        self.dismiss(self._answers[place].value)
