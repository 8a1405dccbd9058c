"""Which sessions a list shows, in which order, under which headings."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from pitree.catalog.locations import Store, folder_name
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.threads import Member, threaded

Scope = Literal["folder", "repository", "everything"]
Order = Literal["threaded", "recent", "relevance", "size", "cost"]
Group = Literal["none", "folder", "day"]

Keeps = Callable[[SessionRow], bool]
"""Whether a scope has a session in it."""

SCOPES: Final[tuple[Scope, ...]] = ("folder", "repository", "everything")
ORDERS: Final[tuple[Order, ...]] = ("threaded", "recent", "relevance", "size", "cost")
GROUPS: Final[tuple[Group, ...]] = ("none", "folder", "day")


class View(msgspec.Struct, frozen=True):
    """How a person wants the list: what is kept for the next time.

    `nested` shows sessions in deeper folders, too; `in_tools` searches what tools were told and answered.
    """

    scope: Scope = "folder"
    order: Order = "threaded"
    group: Group = "none"
    named_only: bool = False
    show_paths: bool = False
    nested: bool = False
    in_tools: bool = False


class Line(NamedTuple):
    """A line of the list: a session with the lines of its family before it, or a heading."""

    row: SessionRow | None
    lead: str = ""
    heading: str = ""


def repository_of(folder: Path) -> Path | None:
    """Return the top of the Git repository in which a folder is, or None."""
    for place in (folder, *folder.parents):
        try:
            if (place / ".git").exists():
                return place
        except OSError:
            return None
    return None


def scopes_of(store: Store, cwd: Path, also: Path | None = None) -> dict[Scope, Keeps]:
    """Return what each scope keeps; there is no `repository` where `cwd` is in none.

    The session at `also` is in all of them: somebody asked for it by name.
    """
    folder = str(store.root / folder_name(str(cwd)))
    named = str(also)

    def in_folder(row: SessionRow) -> bool:
        if row.location == named:
            return True
        if store.flat:
            return store.holds_for(row.cwd, cwd)
        return row.folder == folder or row.folder.startswith(f"{folder}/")

    scopes: dict[Scope, Keeps] = {"folder": in_folder}
    top = repository_of(cwd)
    if top is not None:
        ran_there = _below(str(top))
        scopes["repository"] = lambda row: in_folder(row) or ran_there(row)
    scopes["everything"] = lambda _row: True
    return scopes


def _below(top: str) -> Keeps:
    """Return whether a session ran in a folder or below it, as a function of its row."""
    inside = f"{top.rstrip('/')}/"
    return lambda row: row.cwd == top or row.cwd.startswith(inside)


def arrange(rows: Sequence[SessionRow], view: View, *, found: bool = False, now: float = 0.0) -> list[Line]:
    """Return the lines of the list.

    With `found` the rows are what a search found, the best first. Families are drawn where nothing is
    searched for, as in Pi. `now` is in Unix seconds, for headings such as "today".
    """
    if view.named_only:
        rows = [row for row in rows if row.name]
    if found:
        members = [Member(row, "", row.modified) for row in _ordered(rows, view.order, searched=True)]
    elif view.order == "threaded":
        members = threaded(newest_first(rows))
    else:
        members = [Member(row, "", row.modified) for row in _ordered(rows, view.order, searched=False)]
    if view.group == "none":
        return [Line(member.row, member.lead) for member in members]
    return _grouped(members, _folder if view.group == "folder" else _day_of(now))


def _ordered(rows: Sequence[SessionRow], order: Order, *, searched: bool) -> Sequence[SessionRow]:
    if order == "size":
        return sorted(rows, key=lambda row: row.size, reverse=True)
    if order == "cost":
        return sorted(newest_first(rows), key=lambda row: row.cost, reverse=True)
    if order == "recent" or not searched:
        return newest_first(rows)
    return rows


def _grouped(members: Sequence[Member], heading_of: Callable[[Member], str]) -> list[Line]:
    """Put families under headings, which come in the order of their first families."""
    groups: dict[str, list[Line]] = {}
    lines: list[Line] = []
    for member in members:
        if not member.lead:  # a family stays together
            lines = groups.setdefault(heading_of(member), [])
        lines.append(Line(member.row, member.lead))
    return [
        line
        for heading, group in groups.items()
        for line in (Line(None, heading=f"{heading} · {len(group)}"), *group)
    ]


def _folder(member: Member) -> str:
    return member.row.cwd or "no folder"


def _day_of(now: float) -> Callable[[Member], str]:
    today = datetime.fromtimestamp(now).astimezone().date()
    names = {today: "today", today - timedelta(days=1): "yesterday"}
    known: dict[int, str] = {}

    def heading(member: Member) -> str:
        minutes = int(member.latest // 900_000)  # no zone is off by less than a quarter of an hour
        if minutes not in known:
            day = _day(member.latest)
            known[minutes] = "no day" if day is None else names.get(day) or f"{day:%A}, {day.isoformat()}"
        return known[minutes]

    return heading


def _day(milliseconds: float) -> date | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return None
