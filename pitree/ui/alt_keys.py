"""Keys with Alt, as terminals send them, and what of a key is text.

Most terminals send `Esc` and the letter for Alt and a letter. Textual waits whether more comes, then gives a
key that still carries the letter as its text; where the key is pressed again before it has waited, it gives
a `^` and the letter. So it is told of our keys as of any other that begins with `Esc`.
"""

from typing import Final, NamedTuple, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from pitree.ui.keys import SYMBOLS, USUAL_KEYS, KeyTable


class _Named(NamedTuple):
    """A key for Textual's table, which asks its own keys for nothing but their `value`."""

    value: str


_BEGIN_SEQUENCES: Final = frozenset("[]OPX^_\\")
"""What begins something longer, after `Esc`."""

_SENT: Final = {name: symbol for symbol, name in SYMBOLS.items()} | {
    "enter": "\r",
    "space": " ",
    "backspace": "\x7f",
}
"""What such a key sends without Alt."""


def alt_sequences(keys: KeyTable = USUAL_KEYS) -> dict[str, str]:
    """Return what terminals send for our keys with Alt, and the keys."""
    names = {name for section in keys for key in section for name in key.names}
    sent = ((_sent(name), name) for name in sorted(names) if name.startswith("alt+"))
    return {f"\x1b{text}": name for text, name in sent if text}


def _sent(name: str) -> str:
    """Return what is sent after `Esc` for a key with Alt; "" for those that have sequences of their own."""
    *modifiers, base = name.split("+")
    text = base if len(base) == 1 else _SENT.get(base, "")
    if "super" in modifiers:
        return ""
    if "ctrl" in modifiers:
        return chr(ord(text) & 0x1F) if text.isascii() and text.isalpha() else ""
    if "shift" in modifiers:
        text = text.upper() if text.isalpha() else ""
    return "" if text in _BEGIN_SEQUENCES else text


def teach_alt_keys(keys: KeyTable = USUAL_KEYS) -> None:
    """Have Textual know our keys with Alt at once, by what terminals send for them.

    What somebody chose counts for more than what Textual takes a sequence for, such as Alt+F for a word.
    """
    table = cast("dict[str, tuple[_Named, ...]]", ANSI_SEQUENCES_KEYS)
    usual = alt_sequences()
    for sequence, name in alt_sequences(keys).items():
        if sequence in usual:
            table.setdefault(sequence, (_Named(name),))
        else:
            table[sequence] = (_Named(name),)


def typed_text(event: events.Key) -> str:
    """Return the character that a key types, or "" for a key that types none, such as one with Alt."""
    is_text = event.is_printable and not event.key.startswith("alt+")
    return (event.character or "") if is_text else ""
