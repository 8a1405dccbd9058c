"""The scores are those of `fuzzyMatch` in Pi 1.6.0's terminal library, recorded."""

import pytest

from pitree.catalog.fuzzy import fuzzy_score, units


@pytest.mark.parametrize(
    ("word", "text", "score"),
    [
        ("", "", 0),
        ("", "abc", 0),
        ("abc", "abc", -139.7),
        ("abc", "abcd", -39.699999999999996),
        ("abc", "ab", None),
        ("ac", "abc", -12.8),
        ("opus", "openrouter/anthropic/claude-opus", -28.199999999999996),
        ("rf", "re-factor files", -20.7),
        ("gpt5", "5gpt", -154.4),
        ("5gpt", "gpt-5 mini", -42.3),
        ("5gp-", "gp-5", None),
        ("x1", "1-x", -17.8),
        ("日本", "新日本語", -4.7),
        ("b", "🎉b", 0.2),
        ("😀", "a😀", -4.7),
        ("aa", "a-a aa", -22.8),
        ("z", "abc", None),
        ("refactor", "re factor the refactor", -136),
        ("--", "x---", -24.5),
        ("a", "\u2003a", -9.9),
        ("a", "\x1ca", 0.1),
    ],
)
def test_scores(word: str, text: str, score: float | None) -> None:
    assert fuzzy_score(word, text) == score


@pytest.mark.parametrize("text", ["", "abc", "日本", "a😀b", "\ud83d", "\ud83d😀\udc00"])
def test_units_are_those_of_javascript(text: str) -> None:
    made = units(text)

    assert len(made) == len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert made.encode("utf-16-le", "surrogatepass") == text.encode("utf-16-le", "surrogatepass")
