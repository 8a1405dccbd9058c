"""What can be answered to a question; light, since it is said where the question is asked."""

from typing import NamedTuple


class Answer(NamedTuple):
    """What can be chosen: a letter, words, and what the dialog returns."""

    letter: str
    text: str
    value: str
