"""A person's own keys: their names read, put into the table, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from pitree.agent.keybindings import WantedKeys
from pitree.sessions.text import one_line
from pitree.ui.keys import FOCUSING, SECTIONS, SYMBOLS, USUAL_KEYS, Key, KeyTable, shown_key

_MODIFIERS: Final = ("alt", "ctrl", "shift", "super")
_SPECIAL: Final = {
    name: name
    for name in (
        *("escape", "enter", "tab", "space", "backspace", "delete", "insert", "clear", "home", "end"),
        *("pageup", "pagedown", "up", "down", "left", "right"),
        *(f"f{number}" for number in range(1, 13)),
    )
} | {"esc": "escape", "return": "enter"}
_SPECIAL_WRITTEN: Final = {"pageup": "pageUp", "pagedown": "pageDown"}

# What terminals without a keyboard protocol send for a key, where that is the name of another one.
_SENT_AS: Final = {
    "ctrl+space": "ctrl+@",
    "ctrl+minus": "ctrl+underscore",
    "ctrl+slash": "ctrl+underscore",
}
_SAME: Final = {
    "ctrl+i": "Tab",
    "ctrl+m": "Enter",
    "ctrl+h": "Backspace",
    "ctrl+left_square_bracket": "Esc",
    "ctrl+enter": "Enter",
    "shift+enter": "Enter",
    "ctrl+tab": "Tab",
    "ctrl+backspace": "Backspace",
    "shift+space": "Space",
}


def textual_names(written: str) -> tuple[str, ...] | None:
    """Return Textual's names for a key written as Pi writes them, such as `ctrl+shift+o`; None if it is none.

    There are several where terminals differ in what they send for it.
    """
    rest = written.strip()
    modifiers: set[str] = set()
    while True:
        modifier = next((one for one in _MODIFIERS if rest.lower().startswith(f"{one}+")), None)
        if modifier is None:
            break
        if modifier in modifiers:
            return None
        modifiers.add(modifier)
        rest = rest[len(modifier) + 1 :]
    base = _base(rest, modifiers)
    if base is None:
        return None
    name = "+".join([*sorted(modifiers), base])
    if modifiers == {"shift"} and len(base) == 1 and base.isalpha():
        return base.upper(), name
    also = _SENT_AS.get(name)
    return (name,) if also is None else (name, also)


def written_key(name: str) -> str:
    """Return one of Textual's names of keys as it is written in settings."""
    symbols = {textual: symbol for symbol, textual in SYMBOLS.items()}
    if len(name) == 1 and name.isupper():
        return f"shift+{name.lower()}"
    return "+".join(symbols.get(part, _SPECIAL_WRITTEN.get(part, part)) for part in name.split("+"))


def _base(rest: str, modifiers: set[str]) -> str | None:
    if len(rest) == 1:
        if rest in SYMBOLS:
            return SYMBOLS[rest]
        if rest.isupper() and len(rest.lower()) == 1:
            modifiers.add("shift")
        lower = rest.lower()
        return lower if rest.isalnum() and len(lower) == 1 else None
    return _SPECIAL.get(rest.lower())


def _nearest_key(written: str) -> str:
    *modifiers, base = written.lower().split("+")
    bases = [_SPECIAL_WRITTEN.get(name, name) for name in _SPECIAL]
    found = get_close_matches(base, [*bases, *"abcdefghijklmnopqrstuvwxyz"], n=1)
    nearest: list[list[str]] = [
        *(get_close_matches(one, _MODIFIERS, n=1, cutoff=0.4) for one in modifiers),
        found,
    ]
    if not all(nearest):
        return ""
    key = "+".join(one[0] for one in nearest)
    return "" if textual_names(key) is None else f"; did you mean {key}?"


class Merged(NamedTuple):
    """The table with a person's keys in it.

    `problems` are wishes that could not be met, `notes` what somebody should know who asks; both safe.
    """

    table: KeyTable
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class _Claim(NamedTuple):
    """A key of a person's own: which section has it, for which action, and where that is written."""

    section: int
    id: str
    wish: WantedKeys


def own_keys(wanted: Sequence[WantedKeys]) -> Merged:
    """Put keys into the usual table.

    What is in pitree's own settings counts for more than what Pi's file says, and both for more than what is
    usual: an own key is taken from the action that has it usually. Where two own ones of one file meet, the
    one that comes first in the table keeps the key.
    """
    return _Merging(USUAL_KEYS).merge(wanted)


class _Merging:
    def __init__(self, usual: KeyTable) -> None:
        self._usual = usual
        self._ids = {key.id for section in usual for key in section}
        self._own: dict[str, tuple[tuple[str, ...], WantedKeys]] = {}
        self._problems: list[str] = []
        self._notes: list[str] = []

    def merge(self, wanted: Sequence[WantedKeys]) -> Merged:
        for wish in sorted(wanted, key=lambda wish: not wish.pi):
            self._take(wish)
        self._spare_quit()
        lost = self._settle_conflicts()
        table = KeyTable(
            *(
                tuple(key._replace(keys=",".join(self._keys_of(section, key, lost))) for key in keys)
                for section, keys in enumerate(self._usual)
            )
        )
        self._note_losers(table)
        return Merged(table, tuple(self._problems), tuple(self._notes))

    # ---- reading the wishes

    def _take(self, wish: WantedKeys) -> None:
        if wish.id not in self._ids:
            if not wish.pi:  # of Pi's actions most are not ours
                near = get_close_matches(wish.id, self._ids, n=1)
                hint = f"; did you mean {near[0]}?" if near else "; `pitree config --example` lists them all"
                self._problems.append(f"{wish.where}: there is no action {one_line(wish.id, 60)}{hint}")
            return
        names: list[str] = []
        for written in wish.names:
            found = textual_names(written)
            if found is None:
                nearest = _nearest_key(written)
                self._problems.append(
                    f"{wish.where}: {one_line(written, 40) or 'nothing'} is no key{nearest}"
                    f" ({wish.id} keeps the keys it has)"
                )
                return
            names += found
            if found[0] in _SAME:
                same = _SAME[found[0]]
                self._notes.append(
                    f"{wish.where}: {shown_key(found[0])} is {same} in terminals without a keyboard protocol"
                )
        self._own[wish.id] = tuple(dict.fromkeys(names)), wish

    def _spare_quit(self) -> None:
        """See to it that there is a way out: `quit` keeps a key, and Pi's file takes none from it."""
        (usual,) = (key for key in self._usual.everywhere if key.id == "quit")
        names, wish = self._own.get("quit", (usual.names, None))
        if wish is not None and not names:
            self._problems.append(
                f"{wish.where}: quit needs a key, so it keeps {' and '.join(usual.all_shown)}"
            )
            del self._own["quit"]
            names = usual.names
        taken = {name for action_id, (own, _) in self._own.items() if action_id != "quit" for name in own}
        left = [name for name in names if name not in taken]
        for action_id, (own, asked) in list(self._own.items()):
            spared = set(names) if asked.pi or not left else set()
            if action_id != "quit" and spared & set(own):
                kept = tuple(name for name in own if name not in spared)
                told = (
                    f"{asked.where}: {' and '.join(map(shown_key, sorted(spared & set(own))))} leaves pitree"
                )
                (self._notes if asked.pi else self._problems).append(f"{told}, so it is not for {action_id}")
                self._own[action_id] = kept, asked

    # ---- who gets a key

    def _claims(self, sections: Sequence[int]) -> Iterator[tuple[str, _Claim]]:
        for section in sections:
            for key in self._usual[section]:
                if key.id in self._own:
                    names, wish = self._own[key.id]
                    for name in names:
                        yield name, _Claim(section, key.id, wish)

    def _settle_conflicts(self) -> set[tuple[int, str, str]]:
        """Say where two own keys meet, and return who goes without: section, action and key."""
        lost: set[tuple[int, str, str]] = set()
        told: set[tuple[str, ...]] = set()
        for pane in range(2, len(self._usual)):
            holders: dict[str, _Claim] = {}
            for name, claim in self._claims((pane, 1, 0)):
                former = holders.setdefault(name, claim)
                if former.id == claim.id:
                    continue
                first, second = former, claim
                if former.wish.pi and not claim.wish.pi:
                    first, second = claim, former
                    holders[name] = claim
                lost.add((second.section, second.id, name))
                told_of = (shown_key(name), first.id, second.id)
                if told_of not in told:
                    told.add(told_of)
                    # where the settings say otherwise than Pi's file, that is what somebody wants
                    meant = second.wish.pi and not first.wish.pi
                    (self._notes if meant else self._problems).append(
                        f"{second.wish.where}: {shown_key(name)} is for {second.id} and for {first.id}"
                        f" in {SECTIONS[pane]}; it does {first.id}"
                    )
        return lost

    def _keys_of(self, section: int, key: Key, lost: set[tuple[int, str, str]]) -> list[str]:
        if key.id in self._own:
            return [name for name in self._own[key.id][0] if (section, key.id, name) not in lost]
        taken = {name for name, _ in self._claims(self._before(section, key))}
        return [name for name in key.names if name not in taken]

    @staticmethod
    def _before(section: int, key: Key) -> tuple[int, ...]:
        """Return the sections whose own keys are taken from a usual one."""
        if section >= 2:
            return section, 1, 0
        # what comes before the panes would keep their keys from them; the others stand behind them anyway
        first = key.id in FOCUSING or key.id == "quit"
        return (0, 1, 2, 3, 4) if first else (0, 1)

    def _note_losers(self, table: KeyTable) -> None:
        for title, before, after in zip(SECTIONS, self._usual, table, strict=True):
            for old, new in zip(before, after, strict=True):
                if old.keys and not new.keys and old.id not in self._own:
                    self._notes.append(f"{old.id} ({title}) has no key any more: others have taken it")
