"""Keys with Alt, as terminals send them, and what of a key is text.

Most terminals send `Esc` and the letter for Alt and a letter. Textual waits whether more comes, then gives a
key that still carries the letter as its text; where the key is pressed again before it has waited, it gives
a `^` and the letter. So it is told of our keys as of any other that begins with `Esc`.
"""

from typing import NamedTuple, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from pitree.ui.keys import SECTIONS


class _Named(NamedTuple):
    """A key for Textual's table, which asks its own keys for nothing but their `value`."""

    value: str


def alt_letters() -> list[str]:
    """Return the letters that are keys together with Alt."""
    names = (name for _, keys in SECTIONS for key in keys for name in key.keys.split(","))
    return sorted({name[-1] for name in names if name.startswith("alt+") and len(name) == len("alt+x")})


def teach_alt_keys() -> None:
    """Have Textual know our keys with Alt at once, by what terminals send for them."""
    table = cast("dict[str, tuple[_Named, ...]]", ANSI_SEQUENCES_KEYS)
    for letter in alt_letters():
        table.setdefault(f"\x1b{letter}", (_Named(f"alt+{letter}"),))


def typed_text(event: events.Key) -> str:
    """Return the character that a key types, or "" for a key that types none, such as one with Alt."""
    is_text = event.is_printable and not event.key.startswith("alt+")
    return (event.character or "") if is_text else ""
