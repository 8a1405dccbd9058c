"""What the command palette offers: every action with its key, and why it cannot be done now."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from textual.app import SystemCommand

from pitree.ui.browser import Browser
from pitree.ui.keys import SECTIONS, Key

_NOT_OFFERED: Final = frozenset({"palette", "next-pane", "previous-pane", "tui.select.cancel"})
"""What makes no sense from within the palette."""

_PANES: Final = len(SECTIONS) - 3

_CHANGING: Final = frozenset(
    {
        *("app.session.rename", "app.session.delete", "duplicate", "undo", "undo-list"),
        *("app.tree.editLabel", "fork"),
    }
)
_OF_A_SESSION: Final = frozenset(
    {
        *("visit", "copy-command", "newest", "app.session.rename", "app.session.delete", "duplicate"),
        *("mark", "mark-all"),
    }
)
_OF_UNDOING: Final = frozenset({"undo", "undo-list"})
_OF_TWO_MATCHES: Final = frozenset({"next-match", "previous-match"})
_OF_LABELS: Final = frozenset({"labels", "next-label"})
_OF_WRITING_TO_A_SESSION: Final = frozenset({"app.session.rename", "app.tree.editLabel"})


def palette(browser: Browser) -> Iterator[SystemCommand]:
    """Yield the actions of the key table."""
    keys = browser.options.keys
    for place, (title, section) in enumerate(zip(SECTIONS[_PANES:], keys.panes, strict=True)):
        for key in section:
            yield _command(browser, f"{title}: {key.help}", key, place)
    for key in keys.everywhere:
        if key.id not in _NOT_OFFERED:
            yield _command(browser, key.help, key, None)


def _command(browser: Browser, title: str, key: Key, place: int | None) -> SystemCommand:
    reason = why_not(browser, key, place)
    told = "  ".join(part for part in (key.shown, f"not now: {reason}" if reason else "") if part)
    if reason:
        return SystemCommand(title, told, partial(browser.say, f"Not now: {reason}."))
    return SystemCommand(title, told, partial(_run, browser, key.action, place))


async def _run(browser: Browser, action: str, place: int | None) -> None:
    if place is None:
        await browser.app.run_action(action, browser)
    else:
        browser.focus_pane(place)
        await browser.app.run_action(action, browser.panes[place])


def why_not(browser: Browser, key: Key, place: int | None) -> str:
    """Return why an action cannot be done now, "" where it can; `place` is its pane. Safe to print.

    What takes a look into a file to be known is not told: the action says it itself.
    """
    moves = place == 1 and key.id == "tui.select.confirm"
    if browser.options.read_only and (moves or key.id in _CHANGING):
        return "read-only (--read-only, or the settings)"
    if key.id in _OF_UNDOING and browser.changes.journal.is_empty:
        return "nothing was changed yet"
    if key.id in _OF_A_SESSION or (place == 0 and key.id == "tui.select.confirm"):
        if browser.session_path is None:
            return "no session is highlighted"
    elif place == 1:
        reason = _why_not_in_tree(browser, key)
        if reason:
            return reason
    elif place == 2:
        return _why_not_in_preview(browser, key)
    session = browser.session
    writes = moves or key.id in _OF_WRITING_TO_A_SESSION
    if writes and session is not None:
        if not session.complete:
            return "the session is still being read"
        if session.read_only:
            return "the session is not written to"
    return ""


def _why_not_in_tree(browser: Browser, key: Key) -> str:
    tree, session = browser.panes[1], browser.session
    if tree.highlighted is None or session is None:
        return "nothing is highlighted"
    if key.id in _OF_LABELS and not session.tree.labels:
        return "no labels"
    if key.id == "search-mode" and not tree.query_text:
        return "nothing is searched for"
    if key.id in _OF_TWO_MATCHES:
        return "nothing is searched for" if not tree.query_text else "" if tree.matching else "no matches"
    return ""


def _why_not_in_preview(browser: Browser, key: Key) -> str:
    preview = browser.panes[2]
    return "nothing is shown" if not preview.can(None) else "" if preview.can(key.id) else _NOTHING[key.id]


_NOTHING: Final = {
    "next-found": "nothing is looked for",
    "previous-found": "nothing is looked for",
    "next-link": "no links here",
    "previous-link": "no links here",
    "link-back": "no link was followed",
    "next-block": "no blocks here",
    "previous-block": "no blocks here",
    "more": "all of it is shown",
}
