"""The keys that go through the tree, fold it, search it, copy from it: on the screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from pitree.catalog.locations import Store
from pitree.sessions.context import FAILED
from pitree.sessions.entries import Entry
from pitree.sessions.rows import visible_rows
from pitree.sessions.tree import Tree
from pitree.ui.panes.tree_jumps import sibling_branch

from .conftest import AppFactory
from .waiting import browser, settled, tree, tree_texts, wait_until


@pytest.fixture
def star(store: Store) -> Path:
    return next(store.root.glob("*paperboy*/*019ceb8b*"))


def entry_id(pilot: Pilot[Any]) -> str:
    entry = tree(pilot).highlighted
    assert entry is not None
    return entry.id


async def searched(pilot: Pilot[Any], words: str) -> None:
    await pilot.press(*words)
    await wait_until(pilot, lambda: not tree(pilot).searching)
    await settled(pilot)


async def test_leaf_root_parent(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        leaf, at_leaf = entry_id(pilot), pane.cursor
        await pilot.press("alt+p")
        assert pane.rows is not None
        assert pane.cursor == pane.rows.parents[at_leaf]
        await pilot.press("alt+r")
        assert pane.cursor == 0
        await pilot.press("alt+p")
        assert pane.cursor == 0, "there is nothing above a root"
        await pilot.press("alt+l")
        assert entry_id(pilot) == leaf


async def test_branches_of_the_same_fork(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        await pilot.press("alt+r", "ctrl+right")
        rows, first = pane.rows, pane.cursor
        assert rows is not None
        branches = [first]
        for _ in range(2):
            await pilot.press("alt+down")
            branches.append(pane.cursor)
        assert branches == [row for row in range(len(rows)) if rows.parents[row] == rows.parents[first]]
        await pilot.press("alt+up", "alt+up")
        assert pane.cursor == first


async def test_from_the_end_of_a_branch_to_the_next(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        rows, leaf = pane.rows, pane.cursor
        assert rows is not None
        await pilot.press("alt+down")
        start = rows.segments[leaf]
        assert rows.parents[pane.cursor] == rows.parents[start]
        assert pane.cursor > leaf


async def test_your_messages(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        await pilot.press("home")
        assert pane.rows is not None
        mine = [row for row in range(len(pane.rows)) if pane.rows.entry(row).role == "user"]
        seen = [pane.cursor]
        for _ in mine[1:]:
            await pilot.press("ctrl+down")
            seen.append(pane.cursor)
        assert seen == mine
        await pilot.press("ctrl+up")
        assert pane.cursor == mine[-2]


async def test_failures_and_labels(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        await pilot.press("alt+e")
        entry = pane.highlighted
        assert entry is not None
        assert entry.stop_reason in FAILED
        await pilot.press("home", "alt+j")
        assert pane.session is not None
        assert entry_id(pilot) in pane.session.tree.labels


async def test_folding_all_but_the_way_to_the_leaf(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        before = pane.line_count
        await pilot.press("alt+o")
        assert pane.line_count < before
        assert pane.rows is not None
        off_path = [row for row in pane.rows if not row.on_path]
        assert all(row.entry.id in pane.folds.branches or row.entry.role for row in off_path)
        assert entry_id(pilot) == pane.rows.entry(pane.rows.leaf_row or 0).id
        await pilot.press("alt+o")
        assert pane.line_count == before


@pytest.fixture
def untouched(star: Path) -> Iterator[None]:
    before = star.read_bytes(), star.stat().st_mtime_ns
    yield
    assert (star.read_bytes(), star.stat().st_mtime_ns) == before


@pytest.mark.usefixtures("untouched")
async def test_folds_are_there_the_next_time(app: AppFactory, star: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with app(file=star, state_dir=state).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("alt+o", "ctrl+a")
        folded, count = tree(pilot).folds, tree(pilot).line_count
        assert folded
    async with app(file=star, state_dir=state).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert tree(pilot).folds == folded
        await pilot.press("ctrl+a")
        assert tree(pilot).line_count == count


async def test_what_is_folded_is_searched_too(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("alt+o")
        await searched(pilot, "serpentine")
        assert tree(pilot).line_count > 0
        await pilot.press("escape")
        assert tree(pilot).folds


async def test_enter_keeps_the_place_and_esc_restores_it(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        leaf = entry_id(pilot)
        await searched(pilot, "serpentine")
        await pilot.press("home")
        found = entry_id(pilot)
        assert found != leaf
        await pilot.press("escape")
        assert tree(pilot).query_text == ""
        assert entry_id(pilot) == leaf
        await searched(pilot, "serpentine")
        await pilot.press("home", "enter")
        assert tree(pilot).query_text == ""
        assert entry_id(pilot) == found
        assert tree(pilot).has_focus, "this Enter belongs to the search"


async def test_marking_only_keeps_all_rows(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        before = pane.line_count
        await searched(pilot, "zero")
        found = pane.line_count
        assert found < before
        await pilot.press("ctrl+s")
        assert pane.line_count == before
        matching = [row for row in range(before) if pane.matches(row)]
        assert len(matching) == found
        await pilot.press("home")
        seen = []
        for _ in matching:
            await pilot.press("f3")
            seen.append(pane.cursor)
        assert sorted(seen) == matching
        assert f"of {found}" in pane.status
        await pilot.press("shift+f3")
        assert pane.cursor == seen[-2]


async def test_label_times(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+l")
        assert not any("2026-03-14" in text for text in tree_texts(pilot))
        await pilot.press("T")
        assert all("2026-03-14" in text for text in tree_texts(pilot))
        assert tree(pilot).query_text == ""


async def test_copying_an_entrys_text(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+x")
        await wait_until(pilot, lambda: pilot.app.clipboard)
        assert pilot.app.clipboard.startswith("Committed as `9f2c1e7`.")
        assert "copied" in browser(pilot).said


async def test_folding_a_straight_stretch_keeps_its_ends(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        before = pane.line_count
        await pilot.press("home", "down", "alt+s")
        assert pane.rows is not None
        folded = before - pane.line_count
        assert folded > 0
        assert pane.cursor == 0, "the highlight goes to what is left of the stretch"
        assert f"(+{folded})" in tree_texts(pilot)[0]
        assert pane.rows.counts[1] > 1, "the fork at its end is still there"
        assert any("\u25c6" in text for text in tree_texts(pilot)), "and so is the leaf"
        await pilot.press("alt+s")
        assert pane.line_count == before


async def test_going_to_a_label_by_its_name(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("alt+m")
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        await pilot.press("down", "enter")
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        session = tree(pilot).session
        assert session is not None
        assert entry_id(pilot) == list(session.tree.labels)[1]
        await pilot.press("alt+m", "escape")
        assert len(pilot.app.screen_stack) == 1


async def test_phrases_and_patterns(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        await searched(pilot, '"the zero"')
        phrase = pane.line_count
        assert phrase > 0
        await pilot.press("escape")
        await pilot.press(*"re:the +zero")
        await wait_until(pilot, lambda: pane.line_count == phrase)
        await pilot.press("escape")
        await pilot.press(*"re:(")
        assert "regular expression" in pane.status
        assert pane.line_count == 0


class _Counted(list[int]):
    looks = 0

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as a list has it
        self.looks += 1
        return super().__getitem__(index)


def test_the_next_branch_of_many_forks_in_each_other_is_found_in_time_of_their_number() -> None:
    def entry(entry_id: str, parent: str | None, number: int) -> Entry:
        stamp = f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z"
        return Entry(entry_id, parent, "message", stamp, number, number, 0, "user")

    levels = 1000
    entries = [entry("deep0", None, 0)]
    for level in range(levels):
        entries.append(entry(f"short{level}", f"deep{level}", level))
        entries.append(entry(f"deep{level + 1}", f"deep{level}", level + 1))
    tree_of_forks = Tree([*entries, entry("leaf", "short0", levels)])
    rows = visible_rows(tree_of_forks)
    deepest = rows.row_of(f"deep{levels}")
    assert deepest is not None
    rows.parents = looked_at = _Counted(rows.parents)
    assert sibling_branch(rows, deepest, 1) is None
    assert looked_at.looks < 10 * len(rows)
