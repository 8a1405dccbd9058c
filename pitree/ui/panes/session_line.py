"""One line of the list of sessions: what stands in it at which width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import humanize
import msgspec
from rich.style import Style
from textual.strip import Strip

from pitree.catalog.arrange import Line
from pitree.catalog.rows import SessionRow
from pitree.sessions.text import one_line
from pitree.ui.remarks import short_path
from pitree.ui.rows import Span, justified, marked, width_of

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.hits import Hit

_LIVE_SECONDS: Final = 60.0
"""For so long after the last change of its file a session counts as live."""
# Cells. What a pane has to have for each to be worth its room.
_COST_FROM: Final = 56
_FOLDER_FROM: Final = 64
_TOKENS_FROM: Final = 80
_FOUND: Final = 40
_TITLE: Final = 12
_UNITS: Final = {"second": "s", "minute": "min", "hour": "h", "day": "d", "month": "mo", "year": "y"}


def is_live(row: SessionRow, now: float) -> bool:
    """Return whether a session was written to a moment ago."""
    return now - row.mtime_ns / 1e9 < _LIVE_SECONDS


def age(seconds: float) -> str:
    """Return how long ago that was, in the largest unit that fits: `25 min`, `3 d`."""
    words = humanize.naturaldelta(timedelta(seconds=max(0.0, min(seconds, 1e10)))).split(",")[0].split()
    if len(words) < 2 or words[1] == "moment":
        return "now"
    number = "1" if words[0] in {"a", "an"} else words[0]
    return f"{number} {_UNITS.get(words[1].rstrip('s'), words[1])}"


def amount(number: float) -> str:
    """Return a count in at most five characters: `950`, `12k`, `3.4M`."""
    for unit in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{number:.1f}{unit}" if unit and number < 9.95 else f"{number:.0f}{unit}"
        number /= 1000
    return f"{number:.0f}T"


class Look(msgspec.Struct, frozen=True):
    """What a line depends on besides its session."""

    now: float
    show_paths: bool = False
    with_folder: bool = False
    missing: Callable[[SessionRow], bool] = lambda _row: False
    words: Sequence[str] = ()
    """What was searched for, in lower case."""


def session_strip(
    line: Line, width: int, look: Look, style: Callable[[str], Style], *, hit: Hit | None, is_marked: bool
) -> Strip:
    """Draw a session, or a heading."""
    row = line.row
    if row is None:
        return justified([Span(_heading(line.heading), "sessions--heading")], [], width, style)
    # what was found needs room more than what a session cost
    facts = _facts(row, width - _FOUND if hit is not None else width, look)
    left = [Span(line.lead, "tree--guide")] if line.lead else []
    left += _marks(row, look, is_marked=is_marked, in_family=bool(line.lead))
    if look.show_paths:
        left.append(Span(one_line(row.location, 1000)))
    else:
        title = row.title
        if hit is not None and len(title) > max(_TITLE, width // 4):
            title = title[: max(_TITLE, width // 4) - 1] + "…"
        left += marked([Span(title, "sessions--name" if row.name else "")], look.words, "tree--match")
    if hit is not None:
        room = width - width_of(left) - width_of(facts) - 2
        words = [hit.matched.lower(), *look.words] if hit.matched else look.words
        left += [Span("  "), *marked([Span(_around(hit, room), "row--muted")], words, "tree--match")]
    return justified(left, facts, width, style)


def _around(hit: Hit, room: int) -> str:
    """Return what was found so that the match itself is seen in that many cells."""
    start = hit.snippet.lower().find(hit.matched.lower())
    if start <= 1 or start + len(hit.matched) < room:
        return hit.snippet
    return f"…{hit.snippet[start:]}"


def _heading(text: str) -> str:
    return f"── {one_line(short_path(text), 200)}"


def _marks(row: SessionRow, look: Look, *, is_marked: bool, in_family: bool) -> list[Span]:
    marks: list[Span] = []
    if is_marked:
        marks.append(Span("✓ ", "sessions--marked"))
    if is_live(row, look.now):
        marks.append(Span("● ", "sessions--live"))
    if row.damage:
        marks.append(Span("⚠ ", "row--warning"))
    if look.missing(row):
        marks.append(Span("⊘ ", "row--error"))
    if row.parent_session and not in_family:
        marks.append(Span("↳ ", "row--muted"))
    return marks


def _facts(row: SessionRow, width: int, look: Look) -> list[Span]:
    """Return what stands at the right: as much as there is room for."""
    facts: list[Span] = []
    if look.with_folder and width >= _FOLDER_FROM:
        facts.append(Span("  " + one_line(Path(row.cwd).name or row.cwd, 20), "sessions--folder"))
    if width >= _TOKENS_FROM:
        facts.append(Span(f"  {amount(row.tokens) if row.tokens else '':>5}", "row--muted"))
    if width >= _COST_FROM:
        facts.append(Span(f"  {f'${row.cost:.2f}' if row.cost else '':>7}", "row--muted"))
    facts.append(Span(f"  {row.message_count:>4}  {age(look.now - row.modified / 1000):>6}", "row--muted"))
    return facts
