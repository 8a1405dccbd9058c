"""Every key and what it does: the one table behind the bindings, the footer, the help page and the README."""

from typing import NamedTuple

from textual.binding import Binding, BindingType


class Key(NamedTuple):
    """A key: `keys` as Textual writes them (alternatives by comma), the action, and words for both places.

    `short` is what the footer says, "" to leave it out there; `help` is the help page's line.
    """

    keys: str
    action: str
    short: str
    help: str

    @property
    def all_shown(self) -> tuple[str, ...]:
        """All the keys, alternatives included, as a person reads them."""
        return tuple(dict.fromkeys(self._replace(keys=one).shown for one in self.keys.split(",")))

    @property
    def shown(self) -> str:
        """The first of the keys as a person reads it."""
        first = self.keys.split(",")[0]
        names = [_NAMES.get(part, part) for part in first.split("+")]
        if len(first) == 1 and first.isupper():
            names.insert(0, "shift")
        return "+".join(name.capitalize() if len(name) > 1 else name.upper() for name in names)


_FOCUSING = frozenset({"next_pane", "previous_pane"})
_NAMES = {"escape": "esc", "question_mark": "?", "slash": "/", "number_sign": "#"}

GLOBAL_KEYS = (
    Key("tab", "next_pane", "next pane", "Next pane"),
    Key("shift+tab", "previous_pane", "", "Previous pane"),
    Key("escape", "back", "", "One step back: leave the search, then the pane"),
    Key("ctrl+g", "visit", "Pi and back", "Open the session in Pi, and come back here when it ends"),
    Key("ctrl+y", "copy_command", "", "Copy the command that resumes the session"),
    Key("ctrl+z", "undo", "", "Take back what was changed last; again: what was changed before that"),
    Key("alt+z", "undo_list", "", "A list of what was changed, to take one of it back"),
    Key("ctrl+e", "newest", "", "Go to the newest message, or to the leaf where that is it"),
    Key("f5", "reload", "", "Read the store and the session again"),
    Key("f1", "help", "help", "All keys"),
    Key("ctrl+k", "command_palette", "", "Every action, by name"),
    Key("ctrl+q,ctrl+c", "quit", "quit", "Leave pitree"),
)

SESSIONS_KEYS = (
    Key("enter", "activate", "resume", "Resume the session in Pi; pitree ends"),
    Key("ctrl+o", "next_scope", "scope", "This folder, this repository, or all folders"),
    Key("ctrl+s", "next_order", "order", "Order: families, newest, best match, largest, most expensive"),
    Key("alt+g", "next_group", "", "Group by folder, by day, or not at all"),
    Key("ctrl+r", "screen.rename", "name", "Name the session; an empty name clears it"),
    Key("ctrl+d", "screen.delete", "delete", "Put the session, or all marked ones, into the trash"),
    Key("alt+d", "screen.duplicate", "", "Copy the branch to the leaf into a session of its own"),
    Key("ctrl+n", "toggle_named", "", "Only sessions that have a name"),
    Key("ctrl+p", "toggle_path", "", "Show the paths of the files"),
    Key("alt+c", "toggle_tools", "", "Search what tools were told and answered, too"),
    Key("alt+n", "toggle_nested", "", "Also sessions in deeper folders, as agents below agents leave them"),
    Key("ctrl+t,insert", "toggle_mark", "", "Mark the session, or take its mark away"),
    Key("alt+t", "mark_all", "", "Mark all that are listed; again: none"),
)

TREE_KEYS = (
    Key("enter", "activate", "go there", "Go on from this entry: move the leaf, after asking how"),
    Key("L,shift+l", "screen.edit_label", "label", "Label the entry; an empty label clears it"),
    Key("alt+n", "screen.fork", "", "Fork a new session off at this entry"),
    Key("ctrl+r", "screen.rename", "", "Name the session; an empty name clears it"),
    Key("ctrl+o", "cycle_filter(1)", "filter", "Next filter"),
    Key("ctrl+shift+o", "cycle_filter(-1)", "", "Previous filter"),
    Key("ctrl+d", "filter('default')", "", "Filter: default"),
    Key("ctrl+t", "filter('no-tools')", "", "Filter: without tool results"),
    Key("ctrl+u", "filter('user-only')", "", "Filter: only what you asked"),
    Key("ctrl+l", "filter('labeled-only')", "", "Filter: only labelled entries"),
    Key("ctrl+a", "filter('all')", "", "Filter: everything"),
    Key("ctrl+left,alt+left", "fold", "fold", "Fold the branch, or go to the start of the stretch"),
    Key("ctrl+right,alt+right", "unfold", "", "Unfold the branch, or go to the next fork"),
    Key("alt+o", "fold_others", "", "Fold every branch but the leaf's; again: unfold all"),
    Key("alt+s", "fold_stretch", "", "Fold the straight stretch you are on, all but its ends; again: unfold"),
    Key("alt+l", "leaf", "", "To the leaf"),
    Key("alt+w", "toggle_following", "", "Stay, or go with the leaf again, when the session grows"),
    Key("alt+r", "root", "", "To the root"),
    Key("alt+p", "parent", "", "To the parent"),
    Key("alt+down", "sibling(1)", "", "To the next branch of the same fork"),
    Key("alt+up", "sibling(-1)", "", "To the previous branch of the same fork"),
    Key("ctrl+down", "question(1)", "", "To your next message"),
    Key("ctrl+up", "question(-1)", "", "To your previous message"),
    Key("alt+e", "failure", "", "To the next reply that failed or was aborted"),
    Key("alt+j", "next_label", "", "To the next label"),
    Key("alt+m", "labels", "", "A list of the labels, to go to one"),
    Key("ctrl+s", "search_mode", "", "Search: hide what does not match, or only mark what does"),
    Key("f3", "next_match(1)", "", "Search: next match"),
    Key("shift+f3", "next_match(-1)", "", "Search: previous match"),
    Key("T,shift+t", "toggle_label_times", "", "Show when each label was set"),
    Key("ctrl+x", "copy", "", "Copy the entry's text"),
    Key("left", "page_up", "", "A page up"),
    Key("right", "page_down", "", "A page down"),
)

PREVIEW_KEYS = (
    Key("enter", "activate", "pager", "Follow the chosen link; without one, read all of it in $PAGER"),
    Key("right", "next_tab", "next tab", "Next tab: the entry, what the model would see there, what changes"),
    Key("left", "next_tab(-1)", "", "Previous tab"),
    Key("slash", "find", "find", "Find in what is shown; Esc leaves"),
    Key("n", "next_found(1)", "", "Next place that was found"),
    Key("N,shift+n", "next_found(-1)", "", "Previous place that was found"),
    Key("l", "link(1)", "link", "Choose the next link to an entry"),
    Key("L,shift+l", "link(-1)", "", "Choose the previous link"),
    Key("backspace", "go_back", "", "Back to where the last link was followed from"),
    Key("b", "block(1)", "", "Choose the next block or message"),
    Key("B,shift+b", "block(-1)", "", "Choose the previous block or message"),
    Key("y", "copy('block')", "copy", "Copy what the mouse selected, else the chosen block or the first one"),
    Key("Y,shift+y", "copy('all')", "", "Copy all that is shown"),
    Key("ctrl+x", "copy('entry')", "", "Copy the entry's text"),
    Key("r", "toggle_raw", "", "The entry as it stands in the file, or as it is meant"),
    Key("e", "read('editor')", "", "Read all of it in $VISUAL or $EDITOR, in a copy"),
    Key("o", "open_image", "", "Open the image in the system's viewer"),
    Key("w", "toggle_wrap", "", "Wrap long lines, or cut them"),
    Key("number_sign", "toggle_numbers", "", "Number the lines, or not"),
    Key("m", "more", "", "Show all of a long text"),
    Key("ctrl+d", "half_page(1)", "", "Half a page down"),
    Key("ctrl+u", "half_page(-1)", "", "Half a page up"),
)


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """Return the keys as Textual's bindings; the footer is our own.

    What goes to another pane comes before the panes: Textual gives the next key to the pane that has the
    focus by then, and people type faster than a pane answers.
    """
    return [
        Binding(key.keys, key.action, key.help, show=False, priority=key.action in _FOCUSING) for key in keys
    ]


SECTIONS = (
    ("Everywhere", GLOBAL_KEYS),
    ("Sessions", SESSIONS_KEYS),
    ("Tree", TREE_KEYS),
    ("Preview", PREVIEW_KEYS),
)
"""All keys, by where they work."""


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
    for title, keys in SECTIONS:
        where = title
        for key in keys:
            alternatives = " ".join(f"`{one}`" for one in key.all_shown)
            lines.append(f"| {where} | {alternatives} | {key.help} |")
            where = ""
        if title in {"Sessions", "Tree"}:
            lines.append("|  | letters | Search; `Backspace` takes back, `Esc` leaves |")
    return "\n".join(lines)
