"""What Node 24 says of these patterns with the flag `i`, recorded."""

import contextlib
import time

import pytest
import regex

from pitree.catalog.jsregex import PatternError, translate


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a.c", "a\nc", False),
        ("a.c", "a\u2028c", False),
        ("a.c", "abc", True),
        ("^b", "a\nb", False),
        ("a$", "a\n", False),
        ("a$", "ba", True),
        (r"\d", "٣", False),
        (r"\w", "é", False),
        (r"\bé", "é", False),
        (r"x\b", "xé", True),
        (r"\B-\B", "a - b", True),
        (r"\s", "\ufeff", True),
        (r"\s", "\x1c", False),
        (r"\S", "\x85", True),
        (r"[\s]", "\u2028", True),
        (r"[^\s\S]", "a", False),
        ("[]", "a", False),
        ("[^]", "\n", True),
        (r"[\w-z]", "-", True),
        (r"[\D]", "5", False),
        (r"[a\-z]", "b", False),
        (r"[\b]", "\x08", True),
        (r"[\]]", "]", True),
        ("[[:alpha:]]", "a", False),
        ("[[:alpha:]]", "a]", True),
        ("[a&&b]", "&", True),
        (r"(a)?b\1c", "bc", True),
        (r"(?:(a)|b)\1", "b", True),
        (r"(?<x>a)\k<x>", "aa", True),
        (r"\k<x>", "k<x>", True),
        (r"(a)\2", "a\x02", True),
        (r"\101", "A", True),
        (r"\0", "\x00", True),
        (r"\8", "8", True),
        (r"\x41", "a", True),
        (r"\xZ", "xz", True),
        (r"\u0041", "A", True),
        (r"\u{3}", "uuu", True),
        (r"\ud83d\ude00", "😀", True),
        (r"\cJ", "\n", True),
        (r"\c!", "\\c!", True),
        (r"\p{L}", "p{L}", True),
        (r"\a", "A", True),
        (r"\/", "/", True),
        ("a{,2}", "a{,2}", True),
        ("a{2}", "aa", True),
        ("^a{2,3}$", "aaaa", False),
        ("a{1,}?b", "aab", True),
        ("x{", "x{", True),
        ("}", "}", True),
        ("]", "]", True),
        ("(?=a)*b", "b", True),
        ("(?!a)b", "b", True),
        ("(?<=a)b", "ab", True),
        ("(?<!a)b", "ab", False),
        ("fix.*now", "FIX it NOW", True),
        ("é", "É", True),
        ("#x y", "#x y", True),
        ("a~b", "a~b", True),
        (r"\-", "-", True),
    ],
)
def test_patterns_match_as_in_javascript(pattern: str, text: str, matches: bool) -> None:
    compiled = regex.compile(translate(pattern), regex.IGNORECASE)

    assert (compiled.search(text) is not None) == matches


@pytest.mark.parametrize(
    "pattern",
    [
        "a{2}{3}",
        "(?<=a)*",
        "*a",
        "^*",
        r"\b+",
        "(",
        ")",
        "(?a)",
        "(?P<x>a)",
        "(?#c)",
        "[b-a]",
        "[a",
        "\\",
        "a{3,2}",
        "a**",
        "a++",
        "(?<x>a)(?<x>b)",
        r"(?<x>a)\k<y>",
        "(?<1>a)",
    ],
)
def test_what_is_no_pattern_there_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        translate(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["a{1000000}", "(?:(?:a{100}){100}){100}", "(a{500}b{500}){500,}", "x{99999999999999}", "ab" * 60_000],
)
def test_what_would_take_all_memory_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="too many repetitions"):
        translate(pattern)


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
