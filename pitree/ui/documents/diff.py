"""The difference between two texts, line by line, for reading."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from pitree.ui.documents.model import StyleName

_CONTEXT: Final = 3
# SequenceMatcher takes quadratic time on repeated lines; beyond this the two texts just follow each other.
_MAX_PAIRS: Final = 40_000


def diff_style(line: str) -> StyleName:
    """Return the style of one line of a diff."""
    if line.startswith("+"):
        return "diff-add"
    if line.startswith("-"):
        return "diff-remove"
    return "muted" if line.startswith("@@") else "text"


def diff_lines(old: str, new: str) -> Iterator[str]:
    """Yield the lines of both texts with `-`, `+` or a blank before them.

    Long stretches in common are left out.
    """
    before, after = old.split("\n"), new.split("\n")
    shorter = min(len(before), len(after))
    start = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    yield from _common(before[:start], keep_start=False)
    yield from _changed(before[start : len(before) - end], after[start : len(after) - end])
    yield from _common(before[len(before) - end :], keep_end=False)


def _changed(before: list[str], after: list[str]) -> Iterator[str]:
    if len(before) * len(after) > _MAX_PAIRS:
        yield from (f"-{line}" for line in before)
        yield from (f"+{line}" for line in after)
        return
    for kind, first, last, low, high in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _common(before[first:last])
        else:
            yield from (f"-{line}" for line in before[first:last])
            yield from (f"+{line}" for line in after[low:high])


def _common(lines: list[str], *, keep_start: bool = True, keep_end: bool = True) -> Iterator[str]:
    start = _CONTEXT if keep_start else 0
    end = _CONTEXT if keep_end else 0
    if len(lines) <= start + end + 1:
        yield from (f" {line}" for line in lines)
        return
    yield from (f" {line}" for line in lines[:start])
    yield f"@@ {len(lines) - start - end} lines in common @@"
    yield from (f" {line}" for line in lines[len(lines) - end :])
