"""What was measured, as rows of a table and as JSON; and how the figures of two runs differ."""

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

HEAD: Final = "| | pitree: median (p95) | Pi: median (p95) | | at most | met |\n|---|---:|---:|---:|---:|---|"
COMPARED_HEAD: Final = "| | {} | {} | change | Pi, bare | |\n|---|---:|---:|---:|---:|---|"
_ENOUGH_FOR_QUARTILES: Final = 8
# What a single figure each says nothing about.
_DOUBTFUL_CHANGE: Final = 0.1


class NoFiguresError(Exception):
    """A file holds no figures; the text says which and why."""


def p95(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table, with every single time that was measured.

    `target` is the most there may be of `measure`: "x Pi", "x bare" (of the medians), or "ms" (the 95th
    percentile). `headline` says that the README shows the line, as it does all that have a target.
    """

    what: str
    ours: list[float]
    theirs: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    target: float | None = None
    measure: str = "x Pi"
    unit: str = "ms"
    headline: bool = False

    @property
    def held(self) -> float | None:
        """What is held against the target."""
        if self.measure == "ms":
            return p95(self.ours) if self.ours else None
        beside = self.theirs if self.measure == "x Pi" else self.bare
        if not self.ours or not beside or not statistics.median(beside):
            return None
        return statistics.median(self.ours) / statistics.median(beside)

    @property
    def met(self) -> str:
        """Whether the target is met, in words; nothing where there is none, or nothing to hold against it."""
        if self.target is None:
            return ""
        return "not measured" if self.held is None else "met" if self.held <= self.target else "not met"

    def row(self) -> str:
        """Return it as a row in Markdown, below HEAD."""
        held = self.held
        if held is None or (self.measure == "ms" and self.target is None):
            shown = ""
        else:
            shown = f"p95 {held:,.0f} ms" if self.measure == "ms" else f"{held:.2f} {self.measure}"
        target = "" if self.target is None else f"{self.target:g} {self.measure}"
        cells = (
            self.what,
            _cell(self.ours, self.unit),
            _cell(self.theirs, self.unit),
            shown,
            target,
            self.met,
        )
        return f"| {' | '.join(cells)} |"


def _cell(values: Sequence[float], unit: str) -> str:
    def short(value: float) -> str:
        return f"{value:,.{0 if value >= 20 else 1 if value >= 1 else 2}f}"

    if not values:
        return ""
    median = f"{short(statistics.median(values))} {unit}"
    return f"{median} ({short(p95(values))})" if len(values) > 1 and unit == "ms" else median


# ---- kept in a file, part by part

Run = dict[str, Any]
"""One part: where and when it was measured, and its `figures`."""


def load(path: Path) -> dict[str, Run]:
    """Return the parts that a file holds. Raises NoFiguresError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts = {
            str(name): {**run, "figures": [Figure(**figure) for figure in run["figures"]]}
            for name, run in found["parts"].items()
        }
    except OSError as error:
        raise NoFiguresError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NoFiguresError(f"{path} holds no figures that this version knows ({error!r})") from error
    return parts


def save(path: Path, parts: dict[str, Run]) -> None:
    """Put parts into a file in the place of what it holds, in one step."""
    plain = {
        name: {**run, "figures": [asdict(figure) for figure in run["figures"]]} for name, run in parts.items()
    }
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps({"parts": plain}, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)


# ---- two of them


def compared(before: dict[str, Run], after: dict[str, Run]) -> Iterator[str]:
    """Yield a row in Markdown for each figure that both have, and say what only one has."""
    only: list[str] = []
    for part in dict.fromkeys([*before, *after]):
        old, new = (
            {figure.what: figure for figure in parts.get(part, {"figures": []})["figures"]}
            for parts in (before, after)
        )
        for what in dict.fromkeys([*old, *new]):
            if what in old and what in new and old[what].ours and new[what].ours:
                yield _difference(old[what], new[what])
            else:
                only.append(what)
    if only:
        yield f"\nMeasured in one of the two alone: {'; '.join(only)}"


def _difference(old: Figure, new: Figure) -> str:
    change = _change(old.ours, new.ours)
    beside = [_change(*pair) for pair in ((old.theirs, new.theirs), (old.bare, new.bare)) if all(pair)]
    cells = (
        new.what,
        _cell(old.ours, old.unit),
        _cell(new.ours, new.unit),
        f"{change:+.0%}",
        " ".join(f"{one:+.0%}" for one in beside),
        verdict(old.ours, new.ours),
    )
    return f"| {' | '.join(cells)} |"


def _change(old: Sequence[float], new: Sequence[float]) -> float:
    middle = statistics.median(old)
    return statistics.median(new) / middle - 1 if middle else 0.0


def verdict(old: Sequence[float], new: Sequence[float]) -> str:
    """Say whether `new` is less or more than `old`, or no more apart than figures of one thing are.

    Apart are two whose ranges do not overlap: of many figures the middle halves, of few all of them. Single
    figures have no range, so only a large change of these is told, with a question mark.
    """
    (low, high), (new_low, new_high) = _range(old), _range(new)
    if new_low <= high and low <= new_high:
        return "noise"
    if min(len(old), len(new)) < 2:
        if abs(_change(old, new)) < _DOUBTFUL_CHANGE:
            return "noise"
        return "less?" if new_high < low else "more?"
    return "less" if new_high < low else "more"


def _range(values: Iterable[float]) -> tuple[float, float]:
    ordered = sorted(values)
    if len(ordered) < _ENOUGH_FOR_QUARTILES:
        return ordered[0], ordered[-1]
    low, _, high = statistics.quantiles(ordered, n=4)
    return low, high
