"""The list of sessions: scope, search, names, paths, and a highlight that stays on its session."""

from pathlib import Path

from pitree.catalog.locations import Store

from .conftest import AppFactory
from .waiting import browser, sessions, settled, tree, wait_until


async def test_this_folder_then_all(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert sessions(pilot).line_count == 4
        first = sessions(pilot).highlighted
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: sessions(pilot).line_count == 10)
        await settled(pilot)
        assert sessions(pilot).highlighted == first or (
            first is not None
            and sessions(pilot).highlighted is not None
            and sessions(pilot).highlighted.path == first.path  # type: ignore[union-attr]
        )
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: sessions(pilot).line_count == 4)


async def test_newest_first_with_names_or_first_messages(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        rows = [pane.row_strip(index, 60).text for index in range(pane.line_count)]
        assert rows[0].startswith("Photos that survive e-ink")
        assert rows[1].startswith("↳ Four greys for portraits")
        assert any(row.startswith("⚠ `cargo test` hangs") for row in rows)
        assert any(row.startswith("⊘ EPUB instead of paper?") for row in rows)
        assert "62" in rows[0]
        assert "25 min" in rows[0]


async def test_typing_searches_and_esc_leaves(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"ferry")
        assert sessions(pilot).query_text == "ferry"
        await wait_until(pilot, lambda: sessions(pilot).line_count == 1)
        await settled(pilot)
        highlighted = sessions(pilot).highlighted
        assert highlighted is not None
        assert "ferry" in highlighted.first_message
        assert browser(pilot).session_path == highlighted.path
        await pilot.press("backspace")
        assert sessions(pilot).query_text == "ferr"
        await pilot.press("escape")
        assert sessions(pilot).query_text == ""
        assert sessions(pilot).line_count == 10
        assert sessions(pilot).highlighted is highlighted


async def test_typing_goes_to_the_best_match(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("end")
        await pilot.press(*"grey")
        await settled(pilot)
        assert sessions(pilot).cursor == 0
        highlighted = sessions(pilot).highlighted
        assert highlighted is not None
        assert "greys" in highlighted.title
        assert sessions(pilot).line_count > 1


async def test_search_that_matches_nothing_says_so(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"zzzqqq")
        await wait_until(pilot, lambda: sessions(pilot).line_count == 0)
        assert sessions(pilot).placeholder[0] == "No session matches."
        await settled(pilot)
        assert tree(pilot).line_count == 0


async def test_a_broken_pattern_is_said(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"re:[")
        await wait_until(pilot, lambda: sessions(pilot).problem)
        problem = sessions(pilot).problem
        assert problem is not None
        assert problem in sessions(pilot).status


async def test_named_only_and_paths(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+n")
        assert sessions(pilot).line_count == 5
        await pilot.press("ctrl+p")
        assert ".jsonl" in sessions(pilot).row_strip(0, 300).text


async def test_the_highlight_stays_on_its_session_when_rows_come(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("down", "down")
        await settled(pilot)
        path = browser(pilot).session_path
        assert path is not None
        await pilot.press("f5")
        await settled(pilot)
        assert browser(pilot).session_path == path
        highlighted = sessions(pilot).highlighted
        assert highlighted is not None
        assert highlighted.path == path


async def test_holding_a_key_reads_only_where_it_stops(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*["down"] * 5)
        await settled(pilot)
        highlighted = sessions(pilot).highlighted
        assert highlighted is not None
        shown = tree(pilot).session
        assert shown is not None
        assert shown.path == highlighted.path


async def test_an_empty_store_says_where_it_looked(app: AppFactory, tmp_path: Path) -> None:
    nowhere = Store(tmp_path / "nothing", flat=False, source="default")
    async with app(store=nowhere).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert any("nothing" in line for line in sessions(pilot).placeholder)
        await pilot.press("enter", "tab", "enter", "tab", "down", "escape", "escape", "escape")


async def test_opening_on_a_file_outside_the_store(app: AppFactory, tmp_path: Path, store: Store) -> None:
    source = next(store.root.glob("*tidepool*/*019ce155*"))
    outside = tmp_path / "kept.jsonl"
    outside.write_bytes(source.read_bytes())
    async with app(file=outside).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert browser(pilot).session_path == outside
        shown = tree(pilot).session
        assert shown is not None
        assert shown.path == outside
        assert tree(pilot).has_focus


async def test_a_file_that_is_no_session_says_why(app: AppFactory, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"type":"message","id":"A","parentId":null}\n')
    async with app(file=other).run_test(size=(140, 40)) as pilot:
        await wait_until(pilot, lambda: "not a session header" in browser(pilot).remark)
        assert tree(pilot).session is None


async def test_a_pattern_without_end_holds_nothing_up(app: AppFactory, store: Store) -> None:
    folder = next(store.root.glob("*paperboy*"))
    (folder / "slow.jsonl").write_text(
        '{"type":"session","version":3,"id":"slow","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}\n'
        '{"type":"message","id":"A","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z",'
        f'"message":{{"role":"user","content":"{"a" * 5000}!"}}}}\n'
    )
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"re:(a+)+$")
        assert sessions(pilot).query_text == "re:(a+)+$"
        await pilot.press("tab", "up")  # answered at once, whatever the search does
        assert tree(pilot).has_focus
        await wait_until(pilot, lambda: sessions(pilot).problem)
        assert "too long" in (sessions(pilot).problem or "")


async def test_enter_waits_for_the_search(app: AppFactory) -> None:
    program = "no-such-pi"
    async with app(everything=True, pi=program).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        pane.set_query("ferry")
        pane.action_activate()  # before the worker has had a chance
        await wait_until(pilot, lambda: len(pilot.app.screen_stack) > 1)
        path = browser(pilot).session_path
        highlighted = pane.highlighted
        assert highlighted is not None
        assert "ferry" in highlighted.first_message
        assert path == highlighted.path
