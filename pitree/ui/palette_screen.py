"""The palette, in the hands of people who are faster than it is."""

from typing import Any

from textual.command import CommandPalette
from textual.worker import Worker


class Palette(CommandPalette):
    """Textual's palette; what it was still looking for when it is left is no error that ends the program."""

    def run_worker(self, *arguments: Any, **given: Any) -> Worker[Any]:  # noqa: ANN401 - Textual's own
        """Run a worker whose failing ends nothing: it looks for parts of a palette that may be gone."""
        return super().run_worker(*arguments, **(given | {"exit_on_error": False}))
