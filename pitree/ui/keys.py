"""Every key and what it does: the one table behind bindings, footer, help, palette, README, settings."""

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:  # the table alone is also printed, where no screen is wanted
    from textual.binding import BindingType

SYMBOLS: Final = {
    "`": "grave_accent",
    "-": "minus",
    "=": "equals_sign",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "\\": "backslash",
    ";": "semicolon",
    "'": "apostrophe",
    ",": "comma",
    ".": "full_stop",
    "/": "slash",
    "!": "exclamation_mark",
    "@": "at",
    "#": "number_sign",
    "$": "dollar_sign",
    "%": "percent_sign",
    "^": "circumflex_accent",
    "&": "ampersand",
    "*": "asterisk",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "_": "underscore",
    "+": "plus",
    "|": "vertical_line",
    "~": "tilde",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    ":": "colon",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "?": "question_mark",
    '"': "quotation_mark",
}
"""Textual's names of the characters that are neither letters nor digits."""

_SHOWN: Final = {name: symbol for symbol, name in SYMBOLS.items()} | {
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "@": "Space",  # as terminals without a keyboard protocol send it, with Ctrl
}


def shown_key(name: str) -> str:
    """Return one of Textual's names of keys as a person reads it."""
    parts = [_SHOWN.get(part, part) for part in name.split("+")]
    if len(name) == 1 and name.isupper():
        parts.insert(0, "shift")
    return "+".join(part.upper() if len(part) == 1 else part[0].upper() + part[1:] for part in parts)


class Key(NamedTuple):
    """An action and its keys.

    `id` names it in settings; where Pi has the action, it is Pi's own id. `keys` are as Textual writes them
    (alternatives by comma; "" where there is none), `action` is Textual's. `short` is what the footer says,
    "" to leave it out there; `help` is the help page's line.
    """

    id: str
    keys: str
    action: str
    short: str
    help: str

    @property
    def names(self) -> tuple[str, ...]:
        """All the keys, alternatives included, by Textual's names."""
        return tuple(name for name in self.keys.split(",") if name)

    @property
    def all_shown(self) -> tuple[str, ...]:
        """All the keys as a person reads them."""
        return tuple(dict.fromkeys(map(shown_key, self.names)))

    @property
    def shown(self) -> str:
        """The first of the keys as a person reads it; "" where there is none."""
        return shown_key(self.names[0]) if self.keys else ""


FOCUSING: Final = frozenset({"next-pane", "previous-pane"})
"""What goes to another pane."""

GLOBAL_KEYS = (
    Key("next-pane", "tab", "next_pane", "next pane", "Next pane"),
    Key("previous-pane", "shift+tab", "previous_pane", "", "Previous pane"),
    Key("tui.select.cancel", "escape", "back", "", "One step back: leave the search, then the pane"),
    Key("visit", "ctrl+g", "visit", "Pi and back", "Open the session in Pi, and come back here when it ends"),
    Key("copy-command", "ctrl+y", "copy_command", "", "Copy the command that resumes the session"),
    Key("undo", "ctrl+z", "undo", "", "Take back what was changed last; again: what was changed before that"),
    Key("undo-list", "alt+z", "undo_list", "", "A list of what was changed, to take one of it back"),
    Key("newest", "ctrl+e", "newest", "", "Go to the newest message, or to the leaf where that is it"),
    Key("reload", "f5", "reload", "", "Read the store and the session again"),
    Key("help", "f1", "help", "help", "All keys"),
    Key("palette", "ctrl+k", "app.command_palette", "", "Every action, by name"),
    Key("quit", "ctrl+q,ctrl+c", "quit", "quit", "Leave pitree"),
)

LIST_KEYS = (
    Key("tui.select.up", "up", "line_up", "", "A line up"),
    Key("tui.select.down", "down", "line_down", "", "A line down"),
    Key("tui.select.pageUp", "pageup", "page_up", "", "A page up"),
    Key("tui.select.pageDown", "pagedown", "page_down", "", "A page down"),
    Key("first", "home", "first", "", "To the top"),
    Key("last", "end", "last", "", "To the end"),
)

SESSIONS_KEYS = (
    Key("tui.select.confirm", "enter", "activate", "resume", "Resume the session in Pi; pitree ends"),
    Key("scope", "ctrl+o", "next_scope", "scope", "This folder, this repository, or all folders"),
    Key(
        "app.session.toggleSort",
        "ctrl+s",
        "next_order",
        "order",
        "Order: families, newest, best match, largest, most expensive",
    ),
    Key("group", "alt+g", "next_group", "", "Group by folder, by day, or not at all"),
    Key("app.session.rename", "ctrl+r", "screen.rename", "name", "Name the session; an empty name clears it"),
    Key(
        "app.session.delete",
        "ctrl+d",
        "screen.delete",
        "delete",
        "Put the session, or all marked ones, into the trash",
    ),
    Key(
        "duplicate", "alt+d", "screen.duplicate", "", "Copy the branch to the leaf into a session of its own"
    ),
    Key("app.session.toggleNamedFilter", "ctrl+n", "toggle_named", "", "Only sessions that have a name"),
    Key("app.session.togglePath", "ctrl+p", "toggle_path", "", "Show the paths of the files"),
    Key("search-tools", "alt+c", "toggle_tools", "", "Search what tools were told and answered, too"),
    Key(
        "nested",
        "alt+n",
        "toggle_nested",
        "",
        "Also sessions in deeper folders, as agents below agents leave them",
    ),
    Key("mark", "ctrl+t,insert", "toggle_mark", "", "Mark the session, or take its mark away"),
    Key("mark-all", "alt+t", "mark_all", "", "Mark all that are listed; again: none"),
)

TREE_KEYS = (
    Key(
        "tui.select.confirm",
        "enter",
        "activate",
        "go there",
        "Go on from this entry: move the leaf, after asking how",
    ),
    Key(
        "app.tree.editLabel",
        "L,shift+l",
        "screen.edit_label",
        "label",
        "Label the entry; an empty label clears it",
    ),
    Key("fork", "alt+n", "screen.fork", "", "Fork a new session off at this entry"),
    Key("app.session.rename", "ctrl+r", "screen.rename", "", "Name the session; an empty name clears it"),
    Key("app.tree.filter.cycleForward", "ctrl+o", "cycle_filter(1)", "filter", "Next filter"),
    Key("app.tree.filter.cycleBackward", "ctrl+shift+o", "cycle_filter(-1)", "", "Previous filter"),
    Key("app.tree.filter.default", "ctrl+d", "filter('default')", "", "Filter: default"),
    Key("app.tree.filter.noTools", "ctrl+t", "filter('no-tools')", "", "Filter: without tool results"),
    Key("app.tree.filter.userOnly", "ctrl+u", "filter('user-only')", "", "Filter: only what you asked"),
    Key(
        "app.tree.filter.labeledOnly", "ctrl+l", "filter('labeled-only')", "", "Filter: only labelled entries"
    ),
    Key("app.tree.filter.all", "ctrl+a", "filter('all')", "", "Filter: everything"),
    Key(
        "app.tree.foldOrUp",
        "ctrl+left,alt+left",
        "fold",
        "fold",
        "Fold the branch, or go to the start of the stretch",
    ),
    Key(
        "app.tree.unfoldOrDown",
        "ctrl+right,alt+right",
        "unfold",
        "",
        "Unfold the branch, or go to the next fork",
    ),
    Key("fold-others", "alt+o", "fold_others", "", "Fold every branch but the leaf's; again: unfold all"),
    Key(
        "fold-stretch",
        "alt+s",
        "fold_stretch",
        "",
        "Fold the straight stretch you are on, all but its ends; again: unfold",
    ),
    Key("leaf", "alt+l", "leaf", "", "To the leaf"),
    Key("follow", "alt+w", "toggle_following", "", "Stay, or go with the leaf again, when the session grows"),
    Key("root", "alt+r", "root", "", "To the root"),
    Key("parent", "alt+p", "parent", "", "To the parent"),
    Key("next-branch", "alt+down", "sibling(1)", "", "To the next branch of the same fork"),
    Key("previous-branch", "alt+up", "sibling(-1)", "", "To the previous branch of the same fork"),
    Key("next-question", "ctrl+down", "question(1)", "", "To your next message"),
    Key("previous-question", "ctrl+up", "question(-1)", "", "To your previous message"),
    Key("next-failure", "alt+e", "failure", "", "To the next reply that failed or was aborted"),
    Key("next-label", "alt+j", "next_label", "", "To the next label"),
    Key("labels", "alt+m", "labels", "", "A list of the labels, to go to one"),
    Key(
        "search-mode", "ctrl+s", "search_mode", "", "Search: hide what does not match, or only mark what does"
    ),
    Key("next-match", "f3", "next_match(1)", "", "Search: next match"),
    Key("previous-match", "shift+f3", "next_match(-1)", "", "Search: previous match"),
    Key(
        "app.tree.toggleLabelTimestamp", "T,shift+t", "toggle_label_times", "", "Show when each label was set"
    ),
    Key("app.message.copy", "ctrl+x", "copy", "", "Copy the entry's text"),
    Key("tui.editor.cursorLeft", "left,ctrl+b", "page_up", "", "A page up"),
    Key("tui.editor.cursorRight", "right,ctrl+f", "page_down", "", "A page down"),
)

PREVIEW_KEYS = (
    Key(
        "open", "enter", "activate", "pager", "Follow the chosen link; without one, read all of it in $PAGER"
    ),
    Key(
        "next-tab",
        "right",
        "next_tab",
        "next tab",
        "Next tab: the entry, what the model would see there, what changes",
    ),
    Key("previous-tab", "left", "next_tab(-1)", "", "Previous tab"),
    Key("find", "slash", "find", "find", "Find in what is shown"),
    Key("next-found", "n", "next_found(1)", "", "Next place that was found"),
    Key("previous-found", "N,shift+n", "next_found(-1)", "", "Previous place that was found"),
    Key("next-link", "l", "link(1)", "link", "Choose the next link to an entry"),
    Key("previous-link", "L,shift+l", "link(-1)", "", "Choose the previous link"),
    Key("link-back", "backspace", "go_back", "", "Back to where the last link was followed from"),
    Key("next-block", "b", "block(1)", "", "Choose the next block or message"),
    Key("previous-block", "B,shift+b", "block(-1)", "", "Choose the previous block or message"),
    Key(
        "copy-block",
        "y",
        "copy('block')",
        "copy",
        "Copy what the mouse selected, else the chosen block or the first one",
    ),
    Key("copy-all", "Y,shift+y", "copy('all')", "", "Copy all that is shown"),
    Key("app.message.copy", "ctrl+x", "copy('entry')", "", "Copy the entry's text"),
    Key("raw", "r", "toggle_raw", "", "The entry as it stands in the file, or as it is meant"),
    Key("edit", "e", "read('editor')", "", "Read all of it in $VISUAL or $EDITOR, in a copy"),
    Key("image", "o", "open_image", "", "Open the image in the system's viewer"),
    Key("wrap", "w", "toggle_wrap", "", "Wrap long lines, or cut them"),
    Key("numbers", "number_sign", "toggle_numbers", "", "Number the lines, or not"),
    Key("more", "m", "more", "", "Show all of a long text"),
    Key("half-page-down", "ctrl+d", "half_page(1)", "", "Half a page down"),
    Key("half-page-up", "ctrl+u", "half_page(-1)", "", "Half a page up"),
)


class KeyTable(NamedTuple):
    """All keys, by where they work: the usual ones, or with a person's own among them."""

    everywhere: tuple[Key, ...] = GLOBAL_KEYS
    lists: tuple[Key, ...] = LIST_KEYS
    sessions: tuple[Key, ...] = SESSIONS_KEYS
    tree: tuple[Key, ...] = TREE_KEYS
    preview: tuple[Key, ...] = PREVIEW_KEYS

    @property
    def panes(self) -> tuple[tuple[Key, ...], ...]:
        """What works in each pane alone, from left to right."""
        return self.sessions, self.tree, self.preview

    def shown(self, action_id: str) -> str:
        """Return the first key of an action as a person reads it; "" where it has none.

        Raises KeyError for an id that there is not.
        """
        for keys in self:
            for key in keys:
                if key.id == action_id:
                    return key.shown
        raise KeyError(action_id)

    def way(self, action_id: str) -> str:
        """Return how to get at an action, as a sentence begins: its key, else the palette."""
        return self.shown(action_id) or "The palette"


def coming_back(table: KeyTable) -> KeyTable:
    """Return the table for where Pi comes back to pitree when it ends."""
    told = "Resume the session in Pi, and come back here when it ends"
    sessions = (key._replace(help=told) if key.id == "tui.select.confirm" else key for key in table.sessions)
    return table._replace(sessions=tuple(sessions))


USUAL_KEYS: Final = KeyTable()
"""The keys without anybody's own."""

SECTIONS: Final = ("Everywhere", "Lists and texts", "Sessions", "Tree", "Preview")
"""What the fields of a table are called."""

SEARCHED: Final = frozenset({"Sessions", "Tree"})
"""The sections in which typing searches."""


def bindings(keys: tuple[Key, ...]) -> "list[BindingType]":
    """Return the keys as Textual's bindings; the footer is our own.

    What goes to another pane comes before the panes: Textual gives the next key to the pane that has the
    focus by then, and people type faster than a pane answers.
    """
    from textual.binding import Binding

    return [
        Binding(key.keys, key.action, key.help, show=False, priority=key.id in FOCUSING)
        for key in keys
        if key.keys
    ]


def typing_keys(keys: tuple[Key, ...]) -> frozenset[str]:
    """Return the characters that are keys, so that typing them means no text."""
    symbols = {name: symbol for symbol, name in SYMBOLS.items()} | {"space": " "}
    names = (symbols.get(name, name) for key in keys for name in key.names)
    return frozenset(name for name in names if len(name) == 1)


MARKS = (
    ("◆", "the leaf: where the conversation goes on"),
    ("◇", "the leaf is below this, hidden by the filter or a fold"),
    ("•", "on the way to the leaf"),
    ("▾ ▸", "a branch that can be folded; a folded one, with how many rows it hides"),
    ("⚠", "something is wrong with this line or file; the preview says what"),
    ("✗", "ended in an error, or was aborted"),
    ("●", "written to within the last minute"),
    ("⊘", "the session's folder is gone"),
    ("↳", "forked from another session"),
    ("✓", "marked"),
)
"""What stands before rows, and what it says."""


def markdown_marks() -> str:
    """Return the marks as the README shows them."""
    lines = ["| Mark | Meaning |", "|---|---|"]
    for marks, meaning in MARKS:
        shown = " ".join(f"`{one}`" for one in marks.split())
        lines.append(f"| {shown} | {meaning} |")
    return "\n".join(lines)


def markdown_table() -> str:
    """Return the keys as the README shows them."""
    lines = ["| Where | Key | What it does |", "|---|---|---|"]
    for title, keys in zip(SECTIONS, USUAL_KEYS, strict=True):
        where = title
        for key in keys:
            alternatives = " ".join(f"`{one}`" for one in key.all_shown)
            lines.append(f"| {where} | {alternatives} | {key.help} |")
            where = ""
        if title in SEARCHED:
            lines.append("|  | letters | Search; `Backspace` takes back, `Esc` leaves |")
    return "\n".join(lines)
