"""How well the letters of a word fit into a text: Pi's score, to the last decimal (lower is better).

Positions count UTF-16 code units, as in JavaScript, so both words and texts go through `units` first.
"""

import re
from typing import Final

from pitree.sessions.javascript import WHITESPACE

_BOUNDARY: Final = frozenset(WHITESPACE) | frozenset("-_./:")
_LETTERS_DIGITS: Final = re.compile(r"([a-z]+)([0-9]+)")
_DIGITS_LETTERS: Final = re.compile(r"([0-9]+)([a-z]+)")
_SWAP_PENALTY: Final = 5


def units(text: str) -> str:
    """Return `text` with each character beyond the first 65,536 as its two surrogates."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    encoded = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(encoded[at] | encoded[at + 1] << 8) for at in range(0, len(encoded), 2))


def fuzzy_score(word: str, text: str) -> float | None:
    """Return the score of lower-case `word` in lower-case `text`, or None where its letters are not in it.

    The letters have to stand in that order, with anything between them. Where they do not, `abc12` is also
    tried as `12abc` and the other way round.
    """
    word, text = units(word), units(text)
    score = _best_score(word, text)
    if score is not None:
        return score
    swapped = _LETTERS_DIGITS.fullmatch(word) or _DIGITS_LETTERS.fullmatch(word)
    if swapped is None:
        return None
    score = _best_score(swapped[2] + swapped[1], text)
    return None if score is None else score + _SWAP_PENALTY


def _best_score(word: str, text: str) -> float | None:
    if not word:
        return 0.0
    if len(word) > len(text):
        return None
    places = []
    place = -1
    for letter in word:
        place = text.find(letter, place + 1)
        if place < 0:
            return None
        places.append(place)
    # The first letters that fit may be far apart although the word stands whole further on.
    best = _score(text, places)
    start = text.find(word)
    while start >= 0:
        best = min(best, _score(text, range(start, start + len(word))))
        start = text.find(word, start + 1)
    return best - 100 if word == text else best


def _score(text: str, places: list[int] | range) -> float:
    score = 0.0
    last = -1
    in_a_row = 0
    for place in places:
        if place == last + 1:
            in_a_row += 1
            score -= in_a_row * 5
        else:
            in_a_row = 0
            if last >= 0:
                score += (place - last - 1) * 2
        if place == 0 or text[place - 1] in _BOUNDARY:
            score -= 10
        score += place * 0.1
        last = place
    return score
