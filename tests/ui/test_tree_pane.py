"""The tree on the screen: filters, folds, search, jumps, panning."""

import json
from pathlib import Path
from typing import Any

import pytest

from pitree.catalog.locations import Store
from pitree.sessions.describe import Description
from pitree.sessions.filters import FILTERS
from pitree.sessions.rows import visible_rows

from .conftest import AppFactory
from .waiting import browser, settled, tree, tree_texts, wait_until


@pytest.fixture
def star(store: Store) -> Path:
    return next(store.root.glob("*paperboy*/*019ceb8b*"))


async def test_the_highlight_begins_on_the_leaf(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        entry = tree(pilot).highlighted
        session = tree(pilot).session
        assert entry is not None
        assert session is not None
        assert entry.id == session.tree.leaf_id
        row = next(text for text in tree_texts(pilot) if "◆" in text)
        assert "leaf" in row


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("ctrl+t", "no-tools"),
        ("ctrl+u", "user-only"),
        ("ctrl+l", "labeled-only"),
        ("ctrl+a", "all"),
    ],
)
async def test_filter_keys_toggle(app: AppFactory, star: Path, key: str, name: str) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        session = tree(pilot).session
        assert session is not None
        await pilot.press(key)
        assert tree(pilot).filter == name
        assert tree(pilot).line_count == len(visible_rows(session.tree, name))
        await pilot.press(key)
        assert tree(pilot).filter == "default"
        await pilot.press(key, "ctrl+d")
        assert tree(pilot).filter == "default"


async def test_cycling_goes_through_all_filters(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        seen = []
        for _ in FILTERS:
            await pilot.press("ctrl+o")
            seen.append(tree(pilot).filter)
        assert seen == [*FILTERS[1:], FILTERS[0]]
        await pilot.press("ctrl+shift+o")
        assert tree(pilot).filter == FILTERS[-1]


async def test_the_highlight_survives_filters(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        leaf = tree(pilot).highlighted
        await pilot.press("ctrl+u")
        nearest = tree(pilot).highlighted
        assert nearest is not leaf
        assert nearest is not None
        assert nearest.role == "user"
        await pilot.press("ctrl+u")
        assert tree(pilot).highlighted is leaf


async def test_fold_hides_and_counts_and_unfold_shows(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        before = tree(pilot).line_count
        await pilot.press("ctrl+left")  # to the start of the stretch: the last user message of the branch
        start = tree(pilot).highlighted
        await pilot.press("ctrl+left")
        folded = before - tree(pilot).line_count
        assert folded > 0
        assert tree(pilot).highlighted is start
        assert any(f"(+{folded})" in text for text in tree_texts(pilot))
        await pilot.press("ctrl+right")
        assert tree(pilot).line_count == before


async def test_search_narrows_to_matches_and_esc_returns(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        before = tree(pilot).line_count
        await pilot.press(*"serpentine")
        await wait_until(pilot, lambda: not tree(pilot).searching and 0 < tree(pilot).line_count < before)
        assert all("serpentine" in text.lower() or "Scanning" in text for text in tree_texts(pilot)[:1])
        await pilot.press("escape")
        assert tree(pilot).query_text == ""
        assert tree(pilot).line_count == before


async def test_jumps_between_forks(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        await pilot.press("home")
        assert pane.cursor == 0
        await pilot.press("ctrl+right")
        assert pane.rows is not None
        assert pane.rows.connected(pane.cursor)
        await pilot.press("end")
        assert pane.cursor == pane.line_count - 1
        await pilot.press("down")
        assert pane.cursor == 0, "the list goes round"
        await pilot.press("up")
        assert pane.cursor == pane.line_count - 1


async def test_deep_rows_pan_into_sight(app: AppFactory, tmp_path: Path) -> None:
    deep = tmp_path / "deep.jsonl"
    lines: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s", "cwd": "/p"}]
    for level in range(60):
        lines += [
            {
                "type": "message",
                "id": f"{side}{level}",
                "parentId": f"b{level - 1}" if level else None,
                "timestamp": f"2026-01-01T00:{level:02d}:00.000Z",
                "message": {"role": "user", "content": f"text {side}{level}"},
            }
            for side in "ab"
        ]
    deep.write_text("".join(json.dumps(line) + "\n" for line in lines))
    async with app(file=deep).run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        entry = tree(pilot).highlighted
        assert entry is not None
        assert entry.id == "b59"
        assert any("user: text b59" in text for text in tree_texts(pilot))


async def test_newest_message_is_offered_where_the_leaf_is_elsewhere(app: AppFactory, tmp_path: Path) -> None:
    stale = tmp_path / "stale.jsonl"
    stale.write_text(
        '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}\n'
        '{"type":"message","id":"A","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z",'
        '"message":{"role":"user","content":"one"}}\n'
        '{"type":"message","id":"B","parentId":"A","timestamp":"2026-01-01T00:00:02.000Z",'
        '"message":{"role":"user","content":"two"}}\n'
        '{"type":"session_info","id":"C","parentId":"A","timestamp":"2026-01-01T00:00:03.000Z","name":"n"}\n'
    )
    async with app(file=stale).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert "newest message is on another branch" in browser(pilot).remark
        await pilot.press("ctrl+e")
        entry = tree(pilot).highlighted
        assert entry is not None
        assert entry.id == "B"


async def test_click_highlights_and_folds(app: AppFactory, star: Path) -> None:
    async with app(file=star).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = tree(pilot)
        assert pane.rows is not None
        await pilot.press("home")
        index = next(row for row in range(len(pane.rows)) if pane.rows.foldable(row) and row)
        before = pane.line_count
        column = len(pane.rows.lead(index)) - 1
        assert await pilot.click(pane, offset=(column + 1, index + 1))  # inside the border
        assert pane.cursor == index
        assert pane.line_count < before


async def test_a_long_line_is_read_again_when_it_was_forgotten(app: AppFactory, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/"}
    long = {
        "type": "message",
        "id": "long",
        "parentId": None,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": {"role": "user", "content": "much " + "x" * (1 << 20)},
    }
    path.write_text(json.dumps(header) + "\n" + json.dumps(long) + "\n")
    async with app(file=path).run_test(size=(140, 40)) as pilot:
        pane = tree(pilot)
        for _ in range(2):
            await wait_until(pilot, lambda: any("much x" in text for text in tree_texts(pilot)))
            for number in range(5000):  # what is said of other rows takes its place
                pane._descriptions[f"other{number}"] = Description("other", "", "")
            pane.redraw()
