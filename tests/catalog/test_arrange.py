"""Families, orders, headings, scopes."""

from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.catalog.arrange import Line, View, arrange, repository_of, scopes_of
from pitree.catalog.locations import Store
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.threads import threaded

from .store import known

NOON = datetime(2026, 3, 14, 12).astimezone().timestamp()
DAY = 86_400_000.0


def session(label: str, parent: str | None = None, **fields: object) -> SessionRow:
    path = None if parent is None else f"/store/{parent}.jsonl"
    return known(path=Path(f"/store/{label}.jsonl"), id=label, parent_session=path, **fields)


def drawn(rows: list[SessionRow]) -> list[str]:
    return [member.lead + member.row.id for member in threaded(newest_first(rows))]


def listed(lines: list[Line]) -> list[str]:
    return [line.heading or line.lead + line.row.id for line in lines if line.row or line.heading]  # type: ignore[union-attr]


def test_families_are_drawn_by_their_newest_activity() -> None:
    rows = [
        session("new", modified=50.0),
        session("old", modified=1.0),
        session("child", "old", modified=2.0),
        session("grandchild", "child", modified=60.0),
        session("other", "old", modified=3.0),
        session("stray", "gone", modified=55.0),
    ]

    assert drawn(rows) == ["old", "├─ child", "│  └─ grandchild", "└─ other", "stray", "new"]


def test_sessions_that_are_each_others_parents_are_there() -> None:
    rows = [
        session("a", "b", modified=1.0),
        session("b", "c", modified=3.0),
        session("c", "a", modified=2.0),
        session("self", "self", modified=9.0),
        session("below", "a", modified=4.0),
    ]

    assert drawn(rows) == ["self", "b", "└─ a", "   ├─ below", "   └─ c"]


def test_a_parent_is_found_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "one.jsonl").touch()
    (tmp_path / "real" / "alias.jsonl").symlink_to("one.jsonl")
    rows = [known(path=tmp_path / "real" / "one.jsonl", id="one")]
    for place, name in enumerate(("linked/one.jsonl", "real/alias.jsonl", "real/../linked/one.jsonl")):
        parent = str(tmp_path / name)
        rows.append(known(path=tmp_path / "real" / f"{place}.jsonl", id=str(place), parent_session=parent))

    assert sorted(drawn(rows)) == sorted(["one", "├─ 2", "├─ 1", "└─ 0"])


@given(parents=st.lists(st.integers(-1, 12), max_size=12))
def test_every_session_is_there_once(parents: list[int]) -> None:
    rows = [session(str(place), str(parent), modified=float(place)) for place, parent in enumerate(parents)]

    members = threaded(rows)

    assert sorted(member.row.id for member in members) == sorted(row.id for row in rows)
    assert all(
        later.latest <= first.latest
        for first, later in pairwise(members)
        if not later.lead and not first.lead
    )


def test_forks_of_forks_of_forks_take_no_more_room_than_a_few() -> None:
    rows = [session(str(place), str(place - 1) if place else None) for place in range(3000)]

    assert max(len(member.lead) for member in threaded(rows)) < 40


def test_orders() -> None:
    rows = [
        session("a", modified=3.0, size=5, cost=0.5),
        session("b", "a", modified=2.0, size=9, cost=1.5, name="x"),
        session("c", modified=1.0, size=7),
    ]

    assert listed(arrange(rows, View())) == ["a", "└─ b", "c"]
    assert listed(arrange(rows, View(order="recent"))) == ["a", "b", "c"]
    assert listed(arrange(rows, View(order="size"))) == ["b", "c", "a"]
    assert listed(arrange(rows, View(order="cost"))) == ["b", "a", "c"]
    assert listed(arrange(rows, View(named_only=True))) == ["b"]


def test_what_a_search_found_keeps_its_order_where_no_other_is_wanted() -> None:
    found = [session("c", size=7), session("b", "a", modified=2.0, size=9), session("a", modified=1.0)]

    assert listed(arrange(found, View(), found=True)) == ["c", "b", "a"]
    assert listed(arrange(found, View(order="relevance"), found=True)) == ["c", "b", "a"]
    assert listed(arrange(found, View(order="recent"), found=True)) == ["b", "a", "c"]
    assert listed(arrange(found, View(order="size"), found=True)) == ["b", "c", "a"]


def test_families_stay_together_under_headings() -> None:
    now = NOON * 1000
    rows = [
        session("a", cwd="/x", modified=now),
        session("b", "a", cwd="/y", modified=now - 9 * DAY),
        session("c", cwd="/y", modified=now - DAY),
        session("d", cwd="", modified=now - 4 * DAY),
        session("e", cwd="/x", modified=1e300),
    ]

    by_folder = listed(arrange(rows, View(group="folder"), now=NOON))
    by_day = listed(arrange(rows, View(group="day"), now=NOON))

    assert by_folder == ["/x · 3", "e", "a", "└─ b", "/y · 1", "c", "no folder · 1", "d"]
    assert by_day == [
        "no day · 1",
        "e",
        "today · 2",
        "a",
        "└─ b",
        "yesterday · 1",
        "c",
        "Tuesday, 2026-03-10 · 1",
        "d",
    ]


def test_scopes(tmp_path: Path) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "deep").mkdir()
    cwd = tmp_path / "project" / "deep"
    root = tmp_path / "store"
    folder = root / f"--{str(cwd)[1:].replace('/', '-')}--"
    rows = {
        "here": known(path=folder / "a.jsonl", cwd=str(cwd)),
        "below": known(path=folder / "run" / "a.jsonl", cwd="/var"),
        "top": known(path=root / "x" / "a.jsonl", cwd=str(tmp_path / "project")),
        "beside": known(path=root / "x" / "b.jsonl", cwd=str(tmp_path / "project-b")),
        "asked for": known(path=tmp_path / "z.jsonl", cwd="/z"),
    }

    def kept(store: Store) -> dict[str, list[str]]:
        scopes = scopes_of(store, cwd, tmp_path / "z.jsonl")
        return {scope: [name for name, row in rows.items() if keeps(row)] for scope, keeps in scopes.items()}

    assert kept(Store(root, flat=False, source="")) == {
        "folder": ["here", "below", "asked for"],
        "repository": ["here", "below", "top", "asked for"],
        "everything": list(rows),
    }
    assert kept(Store(root, flat=True, source=""))["folder"] == ["here", "asked for"]


@pytest.mark.parametrize("kind", ["folder", "file", "none"])
def test_repositories(tmp_path: Path, kind: str) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    if kind == "folder":
        (tmp_path / "a" / ".git").mkdir()
    elif kind == "file":  # as a worktree has it
        (tmp_path / "a" / ".git").write_text("gitdir: elsewhere")

    assert repository_of(inner) == (None if kind == "none" else tmp_path / "a")
