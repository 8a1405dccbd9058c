"""The list of sessions: scope, search, names, paths, and a highlight that stays on its session."""

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from pitree.catalog.arrange import View
from pitree.catalog.locations import Store
from pitree.ui.panes import session_list

from .conftest import AppFactory, as_family
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
        sessions(pilot).set_query("has:zzz")
        await settled(pilot)
        assert sessions(pilot).placeholder[1].startswith("has:zzz is looked for as text: has: takes one of")
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


# ---- scope, order, groups, marks


def texts(pilot: Pilot[Any], width: int = 60) -> list[str]:
    pane = sessions(pilot)
    return [pane.row_strip(index, width).text for index in range(pane.line_count)]


async def test_the_repository_is_a_scope_where_there_is_one(app: AppFactory, tmp_path: Path) -> None:
    (tmp_path / "code" / ".git").mkdir(parents=True)
    async with app(cwd=tmp_path / "code").run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        scopes = [sessions(pilot).view.scope]
        for _ in range(3):
            await pilot.press("ctrl+o")
            await settled(pilot)
            scopes.append(sessions(pilot).view.scope)
        assert scopes == ["folder", "repository", "everything", "folder"]
        await pilot.press("ctrl+o")
        await settled(pilot)
        assert sessions(pilot).line_count == 0
        assert sessions(pilot).placeholder[0] == "No sessions in this repository."


async def test_an_empty_folder_says_where_the_others_are(app: AppFactory, tmp_path: Path) -> None:
    async with app(cwd=tmp_path).run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        assert pane.placeholder[:3] == ["No sessions in this folder.", "", "Ctrl+O shows all folders."]
        shown = "".join(pane.render_line(y).text.strip() for y in range(pane.size.height))
        assert "pitree --demo" in shown
        assert pane.empty_page[1].replace(" ", "") in shown.replace(" ", ""), "a long line goes on below"


async def test_families_then_the_other_orders(app: AppFactory, store: Store) -> None:
    as_family(store)
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert texts(pilot)[1].startswith("└─ Four greys for portraits")
        seen = []
        for _ in range(5):
            await pilot.press("ctrl+s")
            rows = sessions(pilot).shown_rows
            seen.append((sessions(pilot).view.order, [row.id for row in rows]))
            assert len(rows) == 10
        orders = dict(seen)
        rows = sessions(pilot).shown_rows
        assert list(orders) == ["recent", "relevance", "size", "cost", "threaded"]
        assert orders["size"] == [row.id for row in sorted(rows, key=lambda row: -row.size)]
        costs = {row.id: row.cost for row in rows}
        assert [costs[session_id] for session_id in orders["cost"]] == sorted(costs.values(), reverse=True)
        assert max(costs.values()) > 0


async def test_headings_are_gone_past(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("alt+g")
        await settled(pilot)
        pane = sessions(pilot)
        assert pane.view.group == "folder"
        assert texts(pilot)[0].startswith("── ~/code/paperboy · 4")
        assert pane.status.startswith("1/10  by folder")
        visited = []
        for _ in range(10):
            assert pane.highlighted is not None
            visited.append(pane.highlighted.id)
            await pilot.press("down")
        assert visited == [row.id for row in pane.shown_rows]
        await pilot.press("up")
        assert pane.status.startswith("10/10")
        await pilot.press("home")
        assert pane.status.startswith("1/10")
        await pilot.press("pageup", "up")
        assert pane.status.startswith("10/10")
        await pilot.press("alt+g")
        assert texts(pilot)[0].startswith("── today · ")


async def test_marks(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        listed = pane.shown_rows
        await pilot.press("ctrl+t", "down", "insert")
        assert pane.marked == [listed[0], listed[2]]
        assert "2 marked" in pane.status
        assert texts(pilot)[2].lstrip(" └─├│").startswith("✓ ")
        await pilot.press(*"ferry")
        await settled(pilot)
        assert len(pane.marked) == 2
        await pilot.press("escape", "alt+t")
        assert len(pane.marked) == 10
        await pilot.press("alt+t")
        assert pane.marked == []


async def test_how_the_list_is_wanted_is_there_again(app: AppFactory, tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with app(state_dir=state).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+o", "ctrl+s", "alt+g", "ctrl+n", "ctrl+p", "alt+c", "alt+n")
        await settled(pilot)
        wanted = sessions(pilot).view
    async with app(state_dir=state).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert sessions(pilot).view == wanted
        assert sessions(pilot).line_count > 5
        state.joinpath("sessions.json").write_text('{"scope": 5}')
    async with app(state_dir=state).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert sessions(pilot).view == View()
        state.joinpath("sessions.json").unlink()
        state.joinpath("sessions.json").mkdir()
        await pilot.press("ctrl+n")
        await wait_until(pilot, lambda: "not kept" in browser(pilot).said)


# ---- what a search shows


async def test_a_match_is_shown_and_gone_to(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"ferry")
        await wait_until(pilot, lambda: sessions(pilot).hit)
        await settled(pilot)
        hit = sessions(pilot).hit
        assert hit is not None
        assert "ferry" in hit.snippet
        assert any(hit.snippet[:20] in text for text in texts(pilot, 100))
        entry = tree(pilot).highlighted
        assert entry is not None
        assert entry.id == hit.entry_id
        await pilot.press("tab", "up", "shift+tab", "f5")
        await settled(pilot)
        assert tree(pilot).highlighted is not entry


async def test_narrowing_words_in_the_list(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"has:branches cwd:paperboy")
        await settled(pilot)
        rows = sessions(pilot).shown_rows
        assert 0 < len(rows) < 10
        assert all(row.branches and "paperboy" in row.cwd for row in rows)


async def test_tools_are_searched_if_wanted(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"taskset")
        await settled(pilot)
        before = sessions(pilot).line_count
        await pilot.press("alt+c")
        await settled(pilot)
        assert sessions(pilot).line_count > before
        await wait_until(pilot, lambda: sessions(pilot).hit)
        await settled(pilot)
        entry, hit = tree(pilot).highlighted, sessions(pilot).hit
        assert entry is not None
        assert hit is not None
        assert entry.offset == hit.offset


async def test_sessions_of_agents_below_agents(app: AppFactory, store: Store) -> None:
    folder = next(store.root.glob("*paperboy*"))
    run = folder / "019ce155" / "run-1"
    run.mkdir(parents=True)
    (run / "child.jsonl").write_bytes(next(folder.glob("*.jsonl")).read_bytes())
    (run / "up").symlink_to(store.root)
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert sessions(pilot).line_count == 4
        await pilot.press("alt+n")
        await settled(pilot)
        assert run / "child.jsonl" in [row.path for row in sessions(pilot).shown_rows]
        await pilot.press("alt+n")
        await settled(pilot)
        assert sessions(pilot).line_count == 4


async def test_thousands_are_put_in_order_away_from_the_screen(
    app: AppFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_list, "_AT_ONCE", 5)
    for place in range(300):
        (tmp_path / f"{place:03}.jsonl").write_text(
            f'{{"type":"session","version":3,"id":"s{place}","timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}}\n'
            '{"type":"message","id":"A","parentId":null,"timestamp":"2026-01-01T00:00:00Z",'
            f'"message":{{"role":"user","content":"word{place}","timestamp":{place + 1}}}}}\n'
        )
    flat = Store(tmp_path, flat=True, source="--session-dir")
    async with app(everything=True, store=flat).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        assert [row.id for row in pane.shown_rows] == [f"s{place}" for place in reversed(range(300))]
        await pilot.press("down", "down")
        await pilot.press(*"word1")
        await settled(pilot)
        assert pane.line_count == 111
        assert pane.highlighted is not None
        assert pane.highlighted.id == "s199"
        await pilot.press("escape")
        await settled(pilot)
        assert pane.line_count == 300
        assert pane.highlighted.id == "s199"


async def test_alt_and_a_letter_is_a_key_and_no_letter(app: AppFactory) -> None:
    """Terminals send both, unlike `pilot.press`."""
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pilot.app.post_message(events.Key("alt+g", "g"))
        await wait_until(pilot, lambda: sessions(pilot).view.group == "folder")
        assert sessions(pilot).query_text == ""


async def test_a_search_that_was_left_does_not_come_back(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pane = sessions(pilot)
        order = pane.shown_rows
        pane.set_query("ferry")
        pane.add_rows(order, {})  # searched once more after this
        pane.add_rows(order, {})
        await wait_until(pilot, lambda: pane.line_count == 1)
        pane.set_query("")
        await settled(pilot)
        assert pane.shown_rows == order
        assert pane.hit is None


async def test_what_took_the_place_of_a_deleted_session_stays_highlighted(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("down", "down", "down")
        pane = sessions(pilot)
        deleted = pane.highlighted
        assert deleted is not None
        deleted.path.unlink()  # or it would be found again with the next look at the store
        pane.change_rows([], {}, [deleted.location])
        await settled(pilot)
        next_one = pane.highlighted
        assert next_one is not None
        assert pane.cursor == 3
        pane.change_rows([next_one], {}, [])  # as when it is named
        await settled(pilot)
        assert pane.highlighted == next_one


async def test_a_remark_too_long_for_its_line_is_cut(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        browser(pilot).say("forked into /" + "a" * 300)
        await settled(pilot)
        status = browser(pilot).query_one("#status")
        assert "forked into /aaaaaaa" in "".join(segment.text for segment in status.render_line(0))
