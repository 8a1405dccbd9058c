"""Nothing that could harm a terminal gets through; what people write does."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.text import display, lines, one_line

from .values import characters

# Not to be seen, but with a meaning between other characters: joiners, and signs that enclose digits.
_SEEN = {"\u200c", "\u200d", *"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"}
_SEEN |= {"\U000110bd", "\U000110cd", *map(chr, range(0x13430, 0x13440))}
_HIDDEN = {"\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u00ad", "\ufeff"}
# These say something of what stands beside them; the last two have no looks.
_NEVER_ALONE = {
    "\u200d",
    *map(chr, range(0xE0100, 0xE01F0)),
    *map(chr, range(0x1F3FB, 0x1F400)),
    "\u3164",
    "\uffa0",
}
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f")


def is_safe(text: str) -> bool:
    """Return whether every character is one to be seen, or a part of what is."""
    return all(
        unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} or character in _SEEN
        for character in _FLAG.sub("", text)
    )


_ESCAPES = ["\x1b[31m", "\x1b]0;t\x07", "\x9b2J", "\r", "\n", "\t", "\x00", "\x7f", "\x85", "\u2028"]
_PARTS = [
    "\ud83d",
    "\udc00",
    "\U000e0041",
    "\U000e007f",
    "\U0001f3f4",
    "👩",
    "\u200d",
    "\ufe0f",
    "\ufe00",
    "🏽",
    "क्",
    "\U000e0100",
    "\U000e01ef",
    "日",
    "e\u0301",
]
_nasty = st.sampled_from([*_ESCAPES, *_PARTS, *sorted(_HIDDEN)])
_texts = st.lists(_nasty | st.text(characters, max_size=4), max_size=12).map("".join)


def test_no_single_character_gets_through_that_should_not() -> None:
    for code in range(0x110000):
        shown = display(chr(code))
        assert is_safe(shown), hex(code)
        if chr(code) not in _NEVER_ALONE and is_safe(chr(code)) and unicodedata.category(chr(code)) != "Cn":
            assert shown == chr(code), hex(code)


@given(_texts)
def test_nothing_unsafe_survives(text: str) -> None:
    for safe in (display(text), display(text, tab=8), one_line(text), one_line(text, 5)):
        assert is_safe(safe)
        safe.encode()  # whatever the terminal, no lone surrogate


@given(_texts)
def test_safe_text_stays_as_it_is(text: str) -> None:
    for safe in (display(text), one_line(text)):
        assert display(safe) == safe


@given(_texts)
def test_one_line_is_one_short_line(text: str) -> None:
    for limit in (1, 5, 400):
        line = one_line(text, limit)
        assert len(line) <= limit
        assert "\n" not in line
        assert "  " not in line
    assert one_line(one_line(text)) == one_line(text)


WHOLE = [
    "plain text, <tags> & [markup]",
    "日本語 한국어 العربية עברית",
    "👩\u200d👩\u200d👧\u200d👦 🇯🇵🇰🇷 ✌🏽 1\ufe0f\u20e3 ❤\ufe0f ☁\ufe0e",
    "👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 👨🏻\u200d❤\ufe0f\u200d💋\u200d👨🏿 🧑\u200d⚕\ufe0f",
    "ශ්\u200dරී ලංකා അവന്\u200d क्\u200dष",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "葛\U000e0100飾 辻\ufe00",
    "e\u0301 n\u0303 क्षि می\u200cخواهم",
    "│├─└▸▾◆•⚠ →",
    "\u00a0\u3000\u2003",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_people_write_stays_whole(text: str) -> None:
    assert display(text) == text


CHANGED = {
    "a\tb": "a   b",
    "\tx": "    x",
    "a\nb\r\n": "a␊b␍␊",
    "\x1b[31mred\x1b[0m": "␛[31mred␛[0m",
    "\x00\x1f\x7f": "␀␟␡",
    "\x9b\x80\x85": "\ufffd\ufffd\ufffd",
    "abc\u202edcba\u2066": "abc\ufffddcba\ufffd",
    "a\u2028b": "a\ufffdb",
    "\ud83d": "\ufffd",
    "\ufefftext": "\ufffdtext",
    # drawn wider than it is counted
    "a\u200db\u200d c": "a\ufffdb\ufffd c",
    "👩\u200dx \u200d👩": "👩\ufffdx \ufffd👩",
    "a🏽 🏽🏽 ✌🏽🏽": "a\ufffd \ufffd\ufffd ✌🏽\ufffd",
    # bytes hidden behind a letter, as selectors of how it looks
    "a\ufe0f\ufe01\ufe02": "a\ufe0f\ufffd\ufffd",
    "a\U000e0138\U000e0155": "a\ufffd\ufffd",
    "葛\U000e0100\U000e0101": "葛\U000e0100\ufffd",
    "hidden\U000e0068\U000e0069": "hidden\ufffd\ufffd",
    # a flag with no end, and one with too much in it, are not emoji but hiding places
    "\U0001f3f4\U000e0067\U000e0062": "\U0001f3f4\ufffd\ufffd",
    "\U0001f3f4" + "\U000e0067" * 7 + "\U000e007f": "\U0001f3f4" + "\ufffd" * 8,
}


@pytest.mark.parametrize("text", CHANGED, ids=ascii)
def test_what_is_made_visible(text: str) -> None:
    assert display(text) == CHANGED[text]


def test_tabs_go_to_the_next_stop() -> None:
    assert display("ab\tc\td", tab=8) == "ab      c       d"


ONE_LINE = {
    "  two\n\twords \r\n": "two words",
    "a\u2028b\x85c\x1cd": "a b c d",
    "\x1b[2Jgone?": "␛[2Jgone?",
    "": "",
    "\n\n": "",
    "x" * 500: "x" * 400,
}


@pytest.mark.parametrize("text", ONE_LINE, ids=lambda text: ascii(text)[:30])
def test_one_line(text: str) -> None:
    assert one_line(text) == ONE_LINE[text]


class Counting(str):
    """Text that notes how much of it is looked at."""

    __slots__ = ("taken",)
    taken: list[int]

    def __getitem__(self, key: object) -> str:
        assert isinstance(key, slice)
        self.taken.append(key.stop)
        return str.__getitem__(self, key)


def test_one_line_of_megabytes_cuts_first() -> None:
    text = Counting("word " * 1_000_000)
    text.taken = []
    assert one_line(text) == "word " * 80
    assert text.taken == [1600]


LINES = {
    "": [""],
    "a": ["a"],
    "a\n": ["a", ""],
    "a\r\nb\rc\n\nd": ["a", "b", "c", "", "d"],
    "a\u2028b\x85c\x0bd\x0ce\x1cf": ["a\u2028b\x85c\x0bd\x0ce\x1cf"],
}


@pytest.mark.parametrize("text", LINES, ids=ascii)
def test_lines(text: str) -> None:
    assert lines(text) == LINES[text]
