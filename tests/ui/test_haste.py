"""People who are faster than the program, and files that are."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events
from textual.command import CommandPalette
from textual.widgets import Input, OptionList

from pitree.catalog.locations import Store
from pitree.catalog.rows import SessionRow
from pitree.sessions.entries import Entry
from pitree.sessions.file import SessionFile
from pitree.sessions.find import EntryTexts
from pitree.sessions.layout import Layout
from pitree.ui.dialogs.answer import Answer
from pitree.ui.dialogs.choice import Choice
from pitree.ui.documents.model import Block, Document
from pitree.ui.panes.preview import Preview

from .conftest import AppFactory
from .waiting import browser, preview, sessions, settled, tree, wait_until


async def test_the_key_after_tab_is_the_next_panes(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        before = sessions(pilot).cursor, tree(pilot).cursor
        for name in ("tab", "up", "shift+tab", "tab", "up"):  # none waits until the one before is answered
            pilot.app.post_message(events.Key(name, None))
        await settled(pilot)
        assert tree(pilot).has_focus
        assert (sessions(pilot).cursor, tree(pilot).cursor) == (before[0], before[1] - 2)


async def test_keys_are_answered_in_their_order_across_panes(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tab")
        await settled(pilot)
        before = tree(pilot).cursor
        for name in ("tab", "right", "shift+tab", "up"):  # the preview's next tab, and a row up in the tree
            pilot.app.post_message(events.Key(name, None))
        await settled(pilot)
        assert preview(pilot).tab == "context"
        assert tree(pilot).has_focus
        assert tree(pilot).cursor == before - 1


async def test_a_letter_after_esc_begins_a_new_search(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        for name in ("a", "b", "escape", "c"):
            pilot.app.post_message(events.Key(name, name if len(name) == 1 else None))
        await wait_until(pilot, lambda: sessions(pilot).query_text == "c")


async def test_tab_stays_in_a_dialog(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+k", "tab", "escape")
        assert sessions(pilot).has_focus


async def test_a_search_left_behind_does_not_hold_up_the_next_one(
    app: AppFactory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = sorted(store.root.glob("*/*.jsonl"))[:2]
    begun, go_on = threading.Event(), threading.Event()
    read = EntryTexts.read

    def slow(texts: EntryTexts, stop: Callable[[], bool] = lambda: False) -> bool:
        if _path_of(texts) == first:
            begun.set()
            go_on.wait(20)
        return read(texts, stop)

    monkeypatch.setattr(EntryTexts, "read", slow)
    try:
        async with app(file=first, everything=True).run_test(size=(140, 40)) as pilot:
            await wait_until(pilot, begun.is_set)  # the texts are read before anybody types
            await pilot.press("a", "escape")
            session = SessionFile.load(second)
            tree(pilot).show(session, Layout(session.tree, session.tree.leaf_id))
            await pilot.press("e")
            await wait_until(pilot, lambda: "matches only" in tree(pilot).status)
    finally:
        go_on.set()


def _path_of(texts: EntryTexts) -> Path:
    return texts._session.path


async def test_a_session_that_went_away_is_said_to_be_gone(app: AppFactory, store: Store) -> None:
    path = next(store.root.glob("*/*.jsonl"))
    async with app(everything=True, file=path).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        path.unlink()
        await pilot.press("f5")
        await wait_until(pilot, lambda: tree(pilot).session is None)
        await pilot.press("ctrl+g")
        assert "is no longer there" in browser(pilot).said


async def test_what_was_just_said_stays_over_what_cannot_be_read(app: AppFactory, store: Store) -> None:
    next(store.root.iterdir()).joinpath("broken.jsonl").symlink_to("nowhere")
    async with app(everything=True).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        assert "1 not readable" in browser(pilot).said
        await pilot.press("f5")
        browser(pilot).say("Pi ended with code 7.")
        await settled(pilot)
        assert browser(pilot).said == "Pi ended with code 7."


async def test_an_enter_after_esc_says_not_yes(app: AppFactory, store: Store) -> None:
    before = sorted(store.root.glob("*/*.jsonl"))
    async with app(read_only=False).run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "home")
        await settled(pilot)
        asked: list[str | None] = []
        await pilot.app.push_screen(Choice("Really?", [], [Answer("y", "Yes", "yes")]), asked.append)
        await pilot.pause()
        for name in ("escape", "enter"):
            pilot.app.post_message(events.Key(name, None))
        await wait_until(pilot, lambda: asked)
        assert asked == [None]
    assert sorted(store.root.glob("*/*.jsonl")) == before


async def test_a_letter_writes_nothing_down_of_what_is_searched(
    app: AppFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []

    def repr_of(value: object) -> str:
        written.append(value)
        return "a value"

    for kind in (SessionRow, Entry, Document, Block):
        monkeypatch.setattr(kind, "__repr__", repr_of)
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press(*"the", "escape")
        await settled(pilot)
        await pilot.press("tab", *"the", "escape", "up")
        await settled(pilot)
        await pilot.press("tab", "slash", *"the", "escape", "right")
        await settled(pilot)
    assert not written


async def test_leaving_before_the_document_has_its_place(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await Preview()._add_view()  # as for one that is no longer on the screen


async def test_the_palette_again_while_it_is_being_taken_away(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pilot.app.action_command_palette()
        await wait_until(pilot, lambda: bool(pilot.app.screen.query(Input)))
        former = pilot.app.screen
        former.dismiss()
        pilot.app.action_command_palette()
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
        assert pilot.app.screen is not former


async def test_the_palette_in_a_terminal_of_a_few_columns(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        pilot.app.action_command_palette()
        await wait_until(
            pilot, lambda: any(found.option_count for found in pilot.app.screen.query(OptionList))
        )
        for width in range(9, 1, -1):
            await pilot.resize_terminal(width, 30)
            await settled(pilot)


async def test_a_palette_that_is_left_at_once_is_no_error(app: AppFactory) -> None:
    async with app().run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        for _ in range(10):
            for name in ("ctrl+k", "x", "escape"):
                pilot.app.post_message(events.Key(name, name if name == "x" else None))
            await pilot.resize_terminal(61, 20)
        await wait_until(pilot, lambda: pilot.app.screen is browser(pilot))
        await settled(pilot)
    assert pilot.app.return_code in {None, 0}
