"""The three single lines around the panes: title, status, keys."""

from typing import Final

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from pitree.ui.keys import Key

_FIRST: Final = frozenset({"help", "next-pane"})
"""What gets room before all else: the ways to everything that is not shown."""


class _Bar(Static):
    """A line that stays one line whatever it says: to lay the screen out anew for it would take a while."""

    def say(self, content: Content) -> None:
        """Show another content."""
        self.update(content, layout=False)


class TitleBar(_Bar):
    """Which store, which scope, and what is being read."""

    def show(self, place: str, doing: str) -> None:
        """Say where we are and what is going on; both already safe."""
        self.say(
            Content.assemble(("pitree", "bold $primary"), "  ", place, ("  " + doing, "$foreground-muted"))
        )


class StatusBar(_Bar):
    """Position and filter of the focused pane, and what there is to say of the session."""

    def show(self, position: str, remark: str, *, warning: bool) -> None:
        """Say the position and, if any, a remark; both already safe."""
        style = "$text-warning" if warning else "$foreground-muted"
        gap = "   " if position and remark else ""
        self.say(Content.assemble(position, (gap + remark, style)))


class KeyBar(_Bar):
    """The keys that work here, as many as there is room for."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._keys: tuple[Key, ...] = ()

    def show(self, keys: tuple[Key, ...]) -> None:
        """Show the keys of the focused pane."""
        self._keys = keys
        self._fit()

    def on_resize(self) -> None:
        """Use the room there is."""
        self._fit()

    def _fit(self) -> None:
        told = [key for key in self._keys if key.short and key.keys]
        fitting: set[Key] = set()
        room = self.size.width
        for key in sorted(told, key=lambda key: key.id not in _FIRST):
            need = cell_len(key.shown) + cell_len(key.short) + 3
            if need <= room:
                room -= need
                fitting.add(key)
        parts: list[Content | str | tuple[str, str]] = []
        for key in told:
            if key in fitting:
                parts += [(key.shown, "bold $accent"), f" {key.short}  "]
        self.say(Content.assemble(*parts))
