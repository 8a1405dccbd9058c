"""Words of a search that narrow it: `before:2026-01`, `cwd:web`, `has:branches`. The rest is text.

| word | keeps sessions |
|---|---|
| `before:` `after:` | last active before that year, month or day; in it or after it |
| `cwd:` `name:` | with that in their folder, in their name |
| `model:` `label:` | in which such a model answered; with such a label |
| `has:` | that have `branches`, a `name`, `labels`, `damage`, a `parent` or a `cost` |
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from pitree.catalog.rows import SessionRow

if TYPE_CHECKING:  # it brings SQLite, which the screen does without at first
    from pitree.catalog.cache import Cache

_WORD: Final = re.compile(
    r'(?:^|(?<=\s))(before|after|cwd|name|model|label|has):(?:"([^"]*)"|([^\s"]+))(?=\s|$)'
)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")

_HAS: Final[dict[str, Callable[[SessionRow], bool]]] = {
    "branches": lambda row: row.branches > 0,
    "name": lambda row: row.name is not None,
    "labels": lambda row: row.labels > 0,
    "damage": lambda row: row.damage > 0,
    "parent": lambda row: bool(row.parent_session),
    "cost": lambda row: row.cost > 0,
}


_A_DATE: Final = "a year, month or day, as in 2026-01"
_TAKES: Final = {"has": f"one of {', '.join(_HAS)}", "before": _A_DATE, "after": _A_DATE}


class Narrowing(NamedTuple):
    """One narrowing word: what it is about, and its value in lower case."""

    key: str
    value: str


def split_query(text: str) -> tuple[tuple[Narrowing, ...], str]:
    """Return the narrowing words of what was typed, and the rest; behind `re:` everything is pattern."""
    found: list[Narrowing] = []
    pattern = re.search(r"(?:^|\s)re:", text)
    head, tail = (text, "") if pattern is None else (text[: pattern.start()], text[pattern.start() :])

    def take(match: re.Match[str]) -> str:
        narrowing = Narrowing(match[1], (match[2] if match[2] is not None else match[3]).lower())
        if head.count('"', 0, match.start()) % 2 or not _means_something(narrowing):
            return match[0]
        found.append(narrowing)
        return ""

    rest = _WORD.sub(take, head)
    if not found:
        return (), text
    # a pattern is one only at the beginning
    return tuple(found), (tail.lstrip() if not rest.strip() else rest + tail)


def misread(text: str) -> list[str]:
    """Return in words why what looks like narrowing words is looked for as text instead."""
    _, rest = split_query(text)
    head = re.split(r"(?:^|\s)re:", rest, maxsplit=1)[0]
    found = []
    for match in _WORD.finditer(head):
        if not head.count('"', 0, match.start()) % 2:
            takes = _TAKES.get(match[1], "some text")
            found.append(f"{match[0]} is looked for as text: {match[1]}: takes {takes}")
    return found


def narrowed(rows: Sequence[SessionRow], narrowings: Sequence[Narrowing], cache: "Cache") -> list[SessionRow]:
    """Return the rows that all narrowing words keep, in their order. Raises CacheLostError."""
    left = list(rows)
    for key, value in narrowings:
        if key == "label":
            labels = cache.labels(left)
            left = [row for row in left if any(value in label.lower() for label in labels.get(row.key, ()))]
        else:
            keeps = _kept_by(key, value)
            left = [row for row in left if keeps(row)]
    return left


def _means_something(narrowing: Narrowing) -> bool:
    if narrowing.key in ("before", "after"):
        return _start(narrowing.value) is not None
    return narrowing.value in _HAS if narrowing.key == "has" else bool(narrowing.value)


def _kept_by(key: str, value: str) -> Callable[[SessionRow], bool]:
    start = _start(value) or 0.0
    match key:
        case "before":
            return lambda row: row.modified < start
        case "after":
            return lambda row: row.modified >= start
        case "cwd":
            return lambda row: value in row.cwd.lower()
        case "name":
            return lambda row: row.name is not None and value in row.name.lower()
        case "model":
            return lambda row: any(value in model.lower() for model in row.models)
        case _:
            return _HAS[value]


def _start(date: str) -> float | None:
    """Return when a year, month or day begins here, in Unix milliseconds; None where it is none."""
    match = _DATE.fullmatch(date)
    if match is None:
        return None
    try:
        return datetime(int(match[1]), int(match[2] or 1), int(match[3] or 1)).astimezone().timestamp() * 1000
    except (ValueError, OverflowError, OSError):
        return None
