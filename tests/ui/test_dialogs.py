"""Dialogs in terminals of every size, what they say first, and the palette's words."""

import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.command import CommandInput, CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from pitree.catalog.locations import Store
from pitree.ui.dialogs.choice import Choice
from pitree.ui.dialogs.move import MoveDialog
from pitree.ui.dialogs.typing import LineEdit, TextEditor

from .conftest import AppFactory
from .test_changing import PHOTOS, QUESTION, done, entries, file_of, on_entry, shown, top, words
from .waiting import browser, settled, tree, wait_until

SIZES = [(140, 40), (80, 24), (60, 20), (40, 10)]
of_all_sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")


def drawn(pilot: Pilot[Any]) -> str:
    return "\n".join(strip.text for strip in top(pilot)._compositor.render_strips())


# ---- what can be answered is in sight


@of_all_sizes
async def test_deleting_many(app: AppFactory, size: tuple[int, int], picture: SnapshotAssertion) -> None:
    async with app(everything=True).run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("alt+t", "ctrl+d")
        await shown(pilot, Choice, "Delete 10 sessions?")
        for _ in range(40):
            seen = drawn(pilot)
            assert "y  Into the trash" in seen
            assert "n  Leave them" in seen
            assert "Esc leaves" in seen
            if "… and 2 more" in seen:
                break
            assert "PgUp PgDn: more" in seen
            await pilot.press("pagedown")
            await pilot.pause()
        assert "… and 2 more" in drawn(pilot)
        assert pilot.app.export_screenshot() == picture


@of_all_sizes
async def test_every_way_of_a_move(
    app: AppFactory, size: tuple[int, int], picture: SnapshotAssertion
) -> None:
    async with app(everything=True).run_test(size=size) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        seen = drawn(pilot)
        for letter in "egamow":
            assert f" {letter}  " in seen, letter
        assert pilot.app.export_screenshot() == picture


@of_all_sizes
async def test_other_questions(app: AppFactory, size: tuple[int, int]) -> None:
    async with app(everything=True, cwd=Path("/" + "a long folder/" * 12)).run_test(size=size) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await shown(pilot, Choice, "Pi was not found")
        assert "c  Copy the command" in drawn(pilot)
        assert "l  Leave it" in drawn(pilot)
        await pilot.press("escape")
        await on_entry(pilot, QUESTION)
        await pilot.press("alt+n")
        await shown(pilot, Choice, "Fork a new session")
        for letter in "sho":
            assert f" {letter}  For " in drawn(pilot), letter
        await pilot.press("escape")
        await pilot.pause()
        await pilot.press("f1")
        await pilot.pause()
        assert "Esc leaves" in drawn(pilot)


async def test_it_fits_again_after_the_terminal_changed(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("alt+t", "ctrl+d")
        await shown(pilot, Choice, "Delete 10 sessions?")
        assert "… and 2 more" in drawn(pilot)
        for width, height in SIZES[1:]:
            await pilot.resize_terminal(width, height)
            await wait_until(pilot, lambda: "PgUp PgDn: more" in drawn(pilot), f"{width}x{height}")
            assert "y  Into the trash" in drawn(pilot)
        await pilot.resize_terminal(100, 40)
        await wait_until(pilot, lambda: "… and 2 more" in drawn(pilot), "all of it")


# ---- without Pi


async def test_without_pi_nothing_is_moved_unasked(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    before = path.read_bytes()
    async with app(pi="/nowhere/pi").run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("e")
        await shown(pilot, Choice, "Nothing was moved yet")
        assert "Pi was not found" in words(pilot)
        await pilot.resize_terminal(40, 10)
        await wait_until(pilot, lambda: "PgUp PgDn: more" in drawn(pilot), "small")
        assert "Nothing was moved yet" in drawn(pilot)
        await pilot.press("l")
        await shown(pilot, MoveDialog)
        assert path.read_bytes() == before
        await pilot.press("e")
        await shown(pilot, Choice, "g  Move the leaf, without Pi")
        await pilot.press("g")
        await done(pilot, "moved to e65c4d91")
    assert entries(path)[-1]["parentId"] == "e65c4d91"


async def test_resuming_there_without_pi(app: AppFactory, store: Store) -> None:
    before = file_of(store).read_bytes()
    async with app(pi="/nowhere/pi").run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("p")
        await shown(pilot, Choice, "Nothing was moved yet")
        await pilot.press("escape")
        await shown(pilot, MoveDialog)
        await pilot.press("escape")
    assert file_of(store).read_bytes() == before


async def test_pi_that_goes_while_somebody_types(app: AppFactory, store: Store, tmp_path: Path) -> None:
    program = tmp_path / "pi"
    program.symlink_to(sys.executable)
    before = file_of(store).read_bytes()
    async with app(pi=str(program)).run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("e")
        await shown(pilot, TextEditor)
        await pilot.press("ctrl+end", *" kept")
        program.unlink()
        await pilot.press("ctrl+s")
        await shown(pilot, Choice, "what you typed is copied")
        assert file_of(store).read_bytes() == before
        await pilot.press("g")
        await done(pilot, "copied: ")
        assert pilot.app.clipboard.endswith("otherwise. kept")
    assert entries(file_of(store))[-1]["customType"] == "pitree.leaf"


# ---- the palette


@pytest.mark.parametrize(
    ("typed", "panes", "first"),
    [
        ("undo", 1, "Undo · "),
        ("quit", 0, "Quit · "),
        ("delete", 1, "Delete · Sessions: "),
        ("help", 0, "Help · "),
        ("rename", 0, "Rename · Sessions: "),
        ("rename", 1, "Rename · Tree: "),
        ("search", 1, "Search mode · Tree: "),
        ("fork", 0, "Fork · Tree: "),
        ("label", 1, "Label · Tree: "),
        ("copy", 2, "Copy · Preview: "),
        ("copy", 1, "Copy entry · Tree: "),
        ("theme", 0, "Theme"),
    ],
)
async def test_the_palette_finds_everyday_words(app: AppFactory, typed: str, panes: int, first: str) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        browser(pilot).focus_pane(panes)
        await pilot.press("ctrl+k", *typed)
        palette = top(pilot)
        assert isinstance(palette, CommandPalette)
        assert palette.query_one(CommandInput).value == typed
        options = palette.query_one(OptionList)

        def begins() -> bool:
            if not options.option_count:
                return False
            return str(options.get_option_at_index(0).prompt).startswith(first)

        await wait_until(pilot, begins, first)


async def test_the_palette_begins_with_the_pane_that_has_the_focus(app: AppFactory) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        browser(pilot).focus_pane(1)
        await pilot.press("ctrl+k")
        options = top(pilot).query_one(OptionList)
        await wait_until(pilot, lambda: options.option_count > 60, "all actions")
        titles = [str(options.get_option_at_index(place).prompt) for place in range(options.option_count)]
        here = [" · Tree: " in title for title in titles]
        assert here[0]
        assert here == sorted(here, reverse=True)


# ---- what was said


@pytest.mark.parametrize(("keys", "still"), [(("down",), True), (("down", "down"), False), (("x",), False)])
async def test_what_was_said_goes_when_somebody_moves_on(
    app: AppFactory, keys: tuple[str, ...], still: bool
) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L", *"tea", "enter")
        await done(pilot, "Ctrl+Z undoes this: labelled")
        await pilot.press(*keys)
        await settled(pilot)
        assert bool(browser(pilot).said) is still
        assert ("Ctrl+Z undoes" in drawn(pilot)) is still


@pytest.mark.parametrize("width", [40, 60])
async def test_the_way_to_undo_is_never_cut_off(app: AppFactory, width: int) -> None:
    async with app().run_test(size=(width, 20)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("g")
        await done(pilot, "moved to")
        assert "Ctrl+Z undoes this: moved" in drawn(pilot)


async def test_undo_says_where_in_words(app: AppFactory) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        was = browser(pilot).session
        assert was is not None
        assert was.tree.leaf_id is not None
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("g")
        await done(pilot, "moved to 0ca624db")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: moved back to “")
        assert ".jsonl" not in browser(pilot).said
        assert PHOTOS not in browser(pilot).said


# ---- a line in its place


@pytest.mark.parametrize("at_the_end", [False, True])
async def test_what_is_labelled_stays_readable(
    app: AppFactory, at_the_end: bool, picture: SnapshotAssertion
) -> None:
    async with app().run_test(size=(80, 24)) as pilot:
        await on_entry(pilot, QUESTION)
        if at_the_end:
            await pilot.press("ctrl+a", "end")
            await settled(pilot)
        cursor = tree(pilot).cursor - int(tree(pilot).scroll_offset.y) + tree(pilot).content_region.y
        before = drawn(pilot).splitlines()[cursor]
        await pilot.press("L")
        await shown(pilot, LineEdit, "label:")
        lines = drawn(pilot).splitlines()
        assert lines[cursor] == before
        line = top(pilot).query_one(Input).region.y
        assert line == cursor + (-1 if at_the_end else 1)
        assert "(empty clears it · Esc leaves)" in lines[line]
        assert pilot.app.export_screenshot() == picture
