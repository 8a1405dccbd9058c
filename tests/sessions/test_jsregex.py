"""Patterns as JavaScript understands them."""

import contextlib
import time

import pytest
import regex

from pitree.sessions.jsregex import PatternError, translate

from .recorded_patterns import MATCHES, TEXTS


@pytest.mark.parametrize("pattern", [pattern for pattern, matches in MATCHES.items() if matches is not None])
def test_patterns_match_as_in_javascript(pattern: str) -> None:
    recorded = MATCHES[pattern]
    assert recorded is not None
    compiled = regex.compile(translate(pattern), regex.IGNORECASE)

    found = {text for text in TEXTS if compiled.search(text)}

    assert found == {text for place, text in enumerate(TEXTS) if recorded >> place & 1}


@pytest.mark.parametrize("pattern", [pattern for pattern, matches in MATCHES.items() if matches is None])
def test_what_is_no_pattern_there_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError) as caught:
        translate(pattern)

    assert str(caught.value)


@pytest.mark.parametrize(
    "pattern", ["^.$", "^[^a]$", "^\\S$", "^😀$", "^[😀]$", "\\ud83d\\ude00", "^[\\ud83d\\ude00]$"]
)
def test_an_emoji_is_one_character_which_it_is_not_there(pattern: str) -> None:
    assert regex.compile(translate(pattern), regex.IGNORECASE).search("😀")


@pytest.mark.parametrize(
    "pattern",
    [
        "a{1000000}",
        "(?:(?:a{100}){100}){100}",
        "(a{500}b{500}){500,}",
        "x{99999999999999}",
        "ab" * 60_000,
        "(?:a{400}){251}",
    ],
)
def test_what_would_take_all_memory_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="too many repetitions"):
        translate(pattern)


def test_what_just_fits_is_taken() -> None:
    regex.compile(translate("(?:a{400}){200}"))


def test_repetitions_that_are_not_nested_add_up_only() -> None:
    pattern = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}" * 50

    regex.compile(translate(pattern))


@pytest.mark.parametrize(
    "pattern", ["(" * 20_000, "[" * 50_000, "(?<" * 20_000, "\\" * 50_000, "a{" * 20_000]
)
def test_long_patterns_take_time_in_proportion(pattern: str) -> None:
    started = time.monotonic()
    with contextlib.suppress(PatternError):
        translate(pattern)
    assert time.monotonic() - started < 5
