"""What the command palette offers: every action with its key, and why it cannot be done now."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from textual.app import SystemCommand
from textual.command import DiscoveryHit, Hit, Hits
from textual.system_commands import SystemCommandsProvider

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


_WORDS: Final = {
    "visit": "open in Pi",
    "copy-command": "copy command",
    "undo": "undo",
    "undo-list": "undo list",
    "newest": "newest",
    "reload": "reload",
    "app.session.rename": "rename",
    "duplicate": "duplicate",
    "group": "group",
    "app.session.toggleNamedFilter": "named only",
    "app.session.togglePath": "paths",
    "search-tools": "search tools",
    "nested": "nested sessions",
    "mark": "mark",
    "mark-all": "mark all",
    "fork": "fork",
    "app.tree.filter.cycleBackward": "previous filter",
    "app.tree.filter.default": "filter: default",
    "app.tree.filter.noTools": "filter: no tools",
    "app.tree.filter.userOnly": "filter: user only",
    "app.tree.filter.labeledOnly": "filter: labels",
    "app.tree.filter.all": "filter: all",
    "app.tree.unfoldOrDown": "unfold",
    "fold-others": "fold others",
    "fold-stretch": "fold stretch",
    "leaf": "leaf",
    "follow": "follow",
    "root": "root",
    "parent": "parent",
    "next-branch": "next branch",
    "previous-branch": "previous branch",
    "next-question": "next message of yours",
    "previous-question": "previous message of yours",
    "next-failure": "next failure",
    "next-label": "next label",
    "labels": "list of labels",
    "search-mode": "search mode",
    "next-match": "next match",
    "previous-match": "previous match",
    "app.tree.toggleLabelTimestamp": "times of labels",
    "app.message.copy": "copy entry",
    "tui.editor.cursorLeft": "page up",
    "tui.editor.cursorRight": "page down",
    "previous-tab": "previous tab",
    "next-found": "find next",
    "previous-found": "find previous",
    "previous-link": "previous link",
    "link-back": "back",
    "next-block": "next block",
    "previous-block": "previous block",
    "copy-all": "copy all",
    "raw": "raw",
    "edit": "editor",
    "image": "image",
    "wrap": "wrap",
    "numbers": "numbers",
    "more": "more",
    "half-page-down": "half a page down",
    "half-page-up": "half a page up",
}
"""What an action is called in a word, where the footer does not say it, or says it in another one."""


def palette(browser: Browser) -> Iterator[SystemCommand]:
    """Yield the actions of the key table."""
    keys = browser.options.keys
    for place, (title, section) in enumerate(zip(SECTIONS[_PANES:], keys.panes, strict=True)):
        for key in section:
            yield _command(browser, f"{_word(key)} · {title}: {key.help}", key, place)
    for key in keys.everywhere:
        if key.id not in _NOT_OFFERED:
            yield _command(browser, f"{_word(key)} · {key.help}", key, None)


def _word(key: Key) -> str:
    word = _WORDS.get(key.id) or key.short or key.help.partition(":")[0].partition(",")[0]
    return word[0].upper() + word[1:]


class Actions(SystemCommandsProvider):
    """Finds actions: by their first words, then by other words, then by letters in between.

    Where two are found as well, the one of the focused pane comes first.
    """

    def _commands(self) -> list[tuple[bool, SystemCommand]]:
        """Return the commands, and whether each is one of the focused pane's; those first."""
        commands = list(self.app.get_system_commands(self.screen))
        browser = self.screen
        here = f" · {browser.pane_title}: " if isinstance(browser, Browser) else "\n"
        told = [(here in command.title, command) for command in commands]
        return sorted(told, key=lambda one: (not one[0], one[1].title))

    async def discover(self) -> Hits:
        """Yield everything."""
        for _, command in self._commands():
            yield DiscoveryHit(command.title, command.callback, help=command.help)

    async def search(self, query: str) -> Hits:
        """Yield what is found."""
        matcher = self.matcher(query)
        wanted = " ".join(query.lower().split())
        for is_here, command in self._commands():
            match = matcher.match(command.title)
            if match > 0:
                rank = _rank(wanted, command.title.lower())
                score = rank + is_here / 2 + min(match, 1000) / 4000
                yield Hit(score, matcher.highlight(command.title), command.callback, help=command.help)


def _rank(wanted: str, title: str) -> float:
    """Return how well a title has what is wanted: 3 and more begins with it, 0 has only its letters."""
    if title.startswith(wanted):
        return 3.4 if title.partition(" · ")[0] == wanted else 3
    return 2 if f" {wanted}" in title else float(wanted in title)


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
