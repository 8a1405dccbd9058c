"""The one way from text in a file to text on a terminal.

Textual and Rich pass escape sequences, C1 controls and bidirectional overrides on to the terminal, so
whatever was read from a file, a file's name or an error message goes through `display` first.
"""

import re
from typing import Final

_PICTURES: Final = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "\u2421"}
_REPLACEMENT: Final = "\ufffd"

# A black flag and its tag letters are one emoji (Scotland); tag letters anywhere else are hidden text.
_TAGGED_FLAG: Final = "\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f"
_HARMFUL: Final = (
    "\x00-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# One of the first sixteen says how the character before it looks (a heart in colour), one of the others which
# form of an ideograph is meant. Several in a row, or the others elsewhere, say nothing: they are hidden text.
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_IDEOGRAPHS: Final = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_STRAY_SELECTOR: Final = (
    f"[{_SELECTORS}](?<=[{_SELECTORS}]{{2}})"
    f"|[\U000e0100-\U000e01ef](?<![{_IDEOGRAPHS}][\U000e0100-\U000e01ef])"
)
# Joiners and skin colours make one picture of several, and letters of some scripts join. Elsewhere they would
# have the terminal draw more columns than are counted, which puts everything after them out of place.
_TONES: Final = "\U0001f3fb-\U0001f3ff"
_PICTURED: Final = "\u2190-\u2bff\ufe0f\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
_JOINING: Final = "\u0600-\u109f\u1780-\u1cff\ua800-\uabff\U00010a00-\U00011fff"
_STRAY_JOINER: Final = (
    f"[{_TONES}](?<![{_PICTURED}][{_TONES}])"
    f"|\u200d(?<![{_JOINING}]\u200d)(?!(?<=[{_PICTURED}{_TONES}]\u200d)[{_PICTURED}])"
)
# One class of characters is looked for much faster than what they mean together.
_SUSPECT: Final = re.compile(f"[{_HARMFUL}{_SELECTORS}{_TONES}\u200d]")
_UNSAFE: Final = re.compile(f"{_TAGGED_FLAG}|[{_HARMFUL}]|{_STRAY_SELECTOR}|{_STRAY_JOINER}")
_BLANK_RUN: Final = re.compile(r"[\s\x1c-\x1f\x85]+")


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) > 1:
        return found
    return _PICTURES.get(ord(found), _REPLACEMENT)


def display(text: str, *, tab: int = 4) -> str:
    """Return one line of text that is safe to write to a terminal.

    Tabs are expanded to every `tab` columns, control characters become their pictures (`␛`), what cannot be
    seen or turns the direction of writing becomes U+FFFD. Emoji sequences and joined letters stay
    whole. A newline is a control character here: cut text into lines first.
    """
    if _SUSPECT.search(text) is None:
        return text
    if "\t" in text:
        text = text.expandtabs(tab)
    return _UNSAFE.sub(_replace, text)


def one_line(text: str, limit: int = 400) -> str:
    """Return the beginning of `text` as one safe line of at most `limit` characters, blanks folded."""
    # Cut before working on it: one entry can hold megabytes, of which a row shows a line.
    head = text[: limit * 4]
    line = _BLANK_RUN.sub(" ", head).strip(" ")
    return display(line[:limit])


def lines(text: str) -> list[str]:
    r"""Cut text into its lines at `\n`, `\r\n` and `\r` (and nowhere else); none of them is safe yet."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
