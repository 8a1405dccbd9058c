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
_UNSAFE_CHARACTER: Final = (
    "[\x00-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_UNSAFE: Final = re.compile(f"{_TAGGED_FLAG}|{_UNSAFE_CHARACTER}")
_BLANK_RUN: Final = re.compile(r"[\s\x1c-\x1f\x85]+")


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) > 1:
        return found
    return _PICTURES.get(ord(found), _REPLACEMENT)


def display(text: str, *, tab: int = 4) -> str:
    """Return one line of text that is safe to write to a terminal.

    Tabs are expanded to every `tab` columns, control characters become their pictures (`␛`), what cannot be
    seen or turns the direction of writing becomes U+FFFD. Emoji sequences stay whole. A newline is a
    control character here: cut text into lines first.
    """
    if _UNSAFE.search(text) is None:
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
