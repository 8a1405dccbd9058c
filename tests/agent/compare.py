"""One shape for what Pi and pitree make of a session, and how to tell two of them apart."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pitree.sessions.context import build_context_entries, build_session_context
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.rows import visible_rows

from .oracle import OWN_LEAF, OwnLeaf

Rows = list[tuple[str, int]]

TREE_PARTS = ("header", "entries", "leaf", "name", "labels", "trees")
CONTEXT_PARTS = ("branch", "context_entries", "messages", "thinking_level", "model")


@dataclass(frozen=True)
class View:
    """What somebody makes of a session at some leaf."""

    header: dict[str, Any]
    """Without the version: Pi migrates old files as it opens them, and then says 3."""
    leaf: str | None
    name: str | None
    labels: dict[str, str]
    """Of entries that exist."""
    entries: list[str]
    branch: list[str]
    context_entries: list[str]
    messages: list[dict[str, Any]]
    thinking_level: str | None
    model: dict[str, Any] | None
    trees: dict[str, Rows]
    """Per filter, id and drawn level in the order drawn."""


def pi_view(answer: dict[str, Any]) -> View:
    """Read the oracle's answer to `session`."""
    context = answer["context"]
    return View(
        header=_without_version(answer["header"]),
        leaf=answer["leaf"],
        name=answer["name"],
        labels=answer["labels"],
        entries=answer["entryIds"],
        branch=answer["branch"],
        context_entries=answer["contextEntries"],
        messages=context["messages"],
        thinking_level=context.get("thinkingLevel"),
        model=context["model"],
        trees={mode: [(entry, depth) for entry, depth in rows] for mode, rows in answer["trees"].items()},
    )


def pitree_view(path: Path, leaf: str | OwnLeaf | None = OWN_LEAF, *, leaf_at: int | None = None) -> View:
    """Load the file with pitree's library; the leaf is chosen as in `Oracle.session`."""
    with SessionFile.load(path) as session:
        return _view(session, leaf, leaf_at)


def _view(session: SessionFile, leaf: str | OwnLeaf | None, leaf_at: int | None) -> View:
    entries = [entry.id for entry in session.entries]
    if leaf_at is not None:
        leaf = entries[leaf_at]
    tree = session.tree
    at = tree.leaf_id if isinstance(leaf, OwnLeaf) else leaf
    trees = {}
    for mode in FILTERS:
        rows = (
            visible_rows(tree, mode) if isinstance(leaf, OwnLeaf) else visible_rows(tree, mode, leaf_id=leaf)
        )
        trees[mode] = [(row.entry.id, row.depth) for row in rows]
    context = build_session_context(session, at)
    context_entries = [entry.id for entry in build_context_entries(session, at)]
    assert [entry.id for entry in context.entries] == context_entries
    known = set(entries)
    return View(
        header=_without_version(session.header),
        leaf=at,
        name=tree.name,
        labels={target: label for target, label in tree.labels.items() if target in known},
        entries=entries,
        branch=[entry.id for entry in tree.path(at)],
        context_entries=context_entries,
        messages=context.messages,
        thinking_level=context.thinking_level,
        model=context.model,
        trees=trees,
    )


def by_position(view: View) -> View:
    """Replace entry ids by positions in the file: each reader makes up its own ids for old versions."""
    at = {entry: f"#{index}" for index, entry in enumerate(view.entries)}
    return replace(
        view,
        leaf=None if view.leaf is None else at[view.leaf],
        labels={at[target]: label for target, label in view.labels.items()},
        entries=[at[entry] for entry in view.entries],
        branch=[at[entry] for entry in view.branch],
        context_entries=[at[entry] for entry in view.context_entries],
        trees={mode: [(at[entry], depth) for entry, depth in rows] for mode, rows in view.trees.items()},
    )


def assert_same(pi: View, ours: View, parts: Iterable[str]) -> None:
    """Fail with every one of the `parts` in which pitree's view differs from Pi's, and where in it."""
    found = []
    for part in parts:
        place = difference(getattr(pi, part), getattr(ours, part))
        if place:
            found.append(f"{part}{place}")
    assert not found, "\n".join(found)


def difference(pi: object, ours: object) -> str | None:
    """Give the first place where two JSON values differ, or None.

    Numbers are JavaScript's: Pi has read and written them as doubles, which makes an infinite one null. A key
    with an undefined value never reaches the answer, so it has to be missing here too.
    """
    waiting: list[tuple[str, object, object]] = [("", pi, ours)]
    while waiting:
        place, left, right = waiting.pop()
        left, right = _as_javascript(left), _as_javascript(right)
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return f"{place}: keys {sorted(left)} in Pi, {sorted(right)} in pitree"
            waiting.extend((f"{place}.{key}", left[key], right[key]) for key in reversed(left))
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                lengths = f"{len(left)} items in Pi, {len(right)} in pitree"
                return f"{place}: {lengths}: {_short(left)} / {_short(right)}"
            pairs = list(enumerate(zip(left, right, strict=True)))
            waiting.extend((f"{place}[{index}]", *pair) for index, pair in reversed(pairs))
        elif type(left) is not type(right) or left != right:
            return f"{place}: {_short(left)} in Pi, {_short(right)} in pitree"
    return None


def _without_version(header: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in header.items() if name != "version"}


def _short(value: object) -> str:
    return repr(value)[:300]


def _as_javascript(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    # (a Decimal is how pitree keeps a number that a double cannot hold)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
