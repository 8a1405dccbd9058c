"""Giving the screen and its panes a person's own keys."""

from typing import Final

from textual.binding import Binding, BindingsMap, BindingType
from textual.dom import DOMNode

from pitree.ui.keys import Key, KeyTable, bindings, typing_keys
from pitree.ui.panes.preview import Preview
from pitree.ui.panes.searched import SearchedList
from pitree.ui.panes.sessions import SessionsPane
from pitree.ui.panes.tree import TreePane

_OF_DIALOGS: Final = (
    (0, "tui.select.cancel", "escape"),
    (1, "tui.select.up", "up"),
    (1, "tui.select.down", "down"),
    (1, "tui.select.pageUp", "pageup"),
    (1, "tui.select.pageDown", "pagedown"),
    (2, "tui.select.confirm", "enter"),
)
"""Section, action, and the key that dialogs have for it."""

_USUAL: Final = frozenset(usual for *_, usual in _OF_DIALOGS)


def rebind(screen: DOMNode, sessions: SessionsPane, tree: TreePane, preview: Preview, keys: KeyTable) -> None:
    """Have the keys of `keys` do what it says, and no others."""
    _bind(screen, [Binding("super+c", "screen.copy_text", show=False), *bindings(keys.everywhere)])
    sessions.keys = tree.keys = preview.keys = keys
    for pane, own in zip((sessions, tree, preview), keys.panes, strict=True):
        _bind(pane, bindings(own + keys.lists))
        if isinstance(pane, SearchedList):
            pane.not_typed = typing_keys(own + keys.lists + keys.everywhere)
    preview.find_keys = frozenset(_names(keys.preview, "find"))


def rebind_app(app: DOMNode, keys: KeyTable) -> None:
    """Have the keys that work over every dialog, too, do what `keys` says."""
    leaving = ",".join(_names(keys.everywhere, "quit"))
    _bind(app, [Binding(leaving, "quit", "Quit", show=False, priority=True)])


def rebind_dialog(dialog: DOMNode, keys: KeyTable) -> None:
    """Have a dialog take a person's keys of lists for the usual ones, which it has itself."""
    for section, action_id, usual in _OF_DIALOGS:
        for name in _names(keys[section], action_id):
            if name not in _USUAL:  # two of them swapped would call each other for ever
                dialog._bindings.bind(name, f"app.simulate_key('{usual}')", show=False)  # noqa: SLF001


def _names(keys: tuple[Key, ...], action_id: str) -> tuple[str, ...]:
    return next(key.names for key in keys if key.id == action_id)


def _bind(node: DOMNode, wanted: list[BindingType]) -> None:
    # Textual's own way, its keymap, knows neither actions without a key nor one id in several panes.
    node._bindings = BindingsMap(wanted)  # noqa: SLF001
