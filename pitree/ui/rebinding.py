"""Giving the screen and its panes a person's own keys."""

from textual.binding import Binding, BindingsMap, BindingType
from textual.dom import DOMNode

from pitree.ui.keys import Key, KeyTable, bindings, typing_keys
from pitree.ui.panes.preview import Preview
from pitree.ui.panes.searched import SearchedList
from pitree.ui.panes.sessions import SessionsPane
from pitree.ui.panes.tree import TreePane


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


def _names(keys: tuple[Key, ...], action_id: str) -> tuple[str, ...]:
    return next(key.names for key in keys if key.id == action_id)


def _bind(node: DOMNode, wanted: list[BindingType]) -> None:
    # Textual's own way, its keymap, knows neither actions without a key nor one id in several panes.
    node._bindings = BindingsMap(wanted)  # noqa: SLF001
