"""Which session was forked from which: sessions as trees, by Pi's rule for its threaded list.

A session stands below the one that its header names as its parent, if that is among them; whole families are
ordered by the newest activity of any of their members. Sessions that are each other's parents, which Pi's
list loses, stand below the newest of them.
"""

import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from pitree.catalog.rows import SessionRow

# So many characters of lines are drawn at most: forks of forks of forks are as deep as somebody likes.
_LEAD: Final = 24


class Member(NamedTuple):
    """A session in its family: `lead` are the lines that are drawn before it, "" for the first of a family.

    `latest` is the newest activity of it and of all below it.
    """

    row: SessionRow
    lead: str
    latest: float


def threaded(rows: Sequence[SessionRow]) -> list[Member]:
    """Return all `rows` as they are drawn, each family from its first member down."""
    parents = _parents(rows)
    children: list[list[int]] = [[] for _ in rows]
    for place, parent in enumerate(parents):
        if parent is not None:
            children[parent].append(place)
    order = [place for place, parent in enumerate(parents) if parent is None]
    for place in order:  # grows while it is gone through: parents stand before their children
        order += children[place]
    latest = [row.modified for row in rows]
    for place in reversed(order):
        parent = parents[place]
        if parent is not None:
            latest[parent] = max(latest[parent], latest[place])
    drawn: list[Member] = []
    roots = sorted((place for place in order if parents[place] is None), key=lambda place: -latest[place])
    # place, what is drawn before its children, and before itself
    waiting = [(place, "", "") for place in reversed(roots)]
    while waiting:
        place, below, lead = waiting.pop()
        drawn.append(Member(rows[place], lead, latest[place]))
        following = sorted(children[place], key=lambda child: -latest[child])
        last = len(following) - 1
        below = below[-_LEAD:]
        waiting += [
            (
                child,
                below + ("   " if number == last else "│  "),
                below + ("└─ " if number == last else "├─ "),
            )
            for number, child in reversed(list(enumerate(following)))
        ]
    return drawn


def _parents(rows: Sequence[SessionRow]) -> list[int | None]:
    """Return the place of each row's parent among them, without circles."""
    if not any(row.parent_session for row in rows):
        return [None] * len(rows)
    places: dict[str, int] = {}
    real = _RealPaths()
    for place, row in enumerate(rows):
        places.setdefault(real.of(row.folder, row.file), place)
    parents: list[int | None] = []
    for place, row in enumerate(rows):
        parent = None
        if row.parent_session:
            folder, file = os.path.split(row.parent_session)
            parent = places.get(real.of(folder, file))
            if parent is None and real.is_link(row.parent_session):
                parent = places.get(real.whole(row.parent_session))
        parents.append(None if parent == place else parent)
    _cut_circles(rows, parents)
    return parents


class _RealPaths:
    """Real paths, asking the file system once a folder."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, folder: str, file: str) -> str:
        real = self._folders.get(folder)
        if real is None:
            real = self._folders[folder] = self.whole(folder)
        return f"{real}/{file}"

    @staticmethod
    def is_link(path: str) -> bool:
        """Whether the last part of a path is a link; asked of every parent that is not there."""
        try:
            return os.path.islink(path)  # noqa: PTH114
        except ValueError:
            return False

    @staticmethod
    def whole(path: str) -> str:
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):  # it can be any text
            return path


def _cut_circles(rows: Sequence[SessionRow], parents: list[int | None]) -> None:
    """Make the newest session of every circle the first of a family."""
    sound = [parent is None for parent in parents]
    for start in range(len(rows)):
        path: list[int] = []
        on_path: set[int] = set()
        place = start
        while not sound[place]:
            if place in on_path:
                circle = path[path.index(place) :]
                first = max(circle, key=lambda member: rows[member].modified)
                parents[first] = None
                break
            path.append(place)
            on_path.add(place)
            above = parents[place]
            if above is None:
                break
            place = above
        for member in path:
            sound[member] = True
