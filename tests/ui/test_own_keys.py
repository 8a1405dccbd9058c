"""A person's own keys: what does what, and that bindings, footer, help, palette and messages agree."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from textual.command import CommandInput
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from pitree.agent.keybindings import WantedKeys
from pitree.ui.bars import KeyBar, StatusBar
from pitree.ui.dialogs.help import Help
from pitree.ui.keys import SYMBOLS, USUAL_KEYS, KeyTable
from pitree.ui.own_keys import Merged, own_keys, textual_names

from .conftest import AppFactory
from .waiting import browser, preview, sessions, settled, tree, wait_until

PI = "keybindings.json"
OWN = "config.toml"


def merged(**wanted: str | list[str]) -> Merged:
    """Merge wishes of the settings; `__` in a name stands for a dot, `_` for a dash."""
    return own_keys(
        [
            WantedKeys(
                name.replace("__", ".").replace("_", "-"),
                (keys,) if isinstance(keys, str) else tuple(keys),
                OWN,
            )
            for name, keys in wanted.items()
        ]
    )


def keys_of(table: KeyTable, action_id: str, section: str | None = None) -> tuple[str, ...]:
    found = [
        key.names
        for name, keys in zip(KeyTable._fields, table, strict=True)
        for key in keys
        if key.id == action_id and section in {None, name}
    ]
    assert found
    return found[0]


# ---- the table


def test_every_action_has_an_id_of_its_own_in_its_place() -> None:
    for section in USUAL_KEYS:
        ids = [key.id for key in section]
        assert len(ids) == len(set(ids))
        names = [name for key in section for name in key.names]
        assert len(names) == len(set(names))


def test_symbols_have_the_names_that_textual_gives_them() -> None:
    assert {symbol: _character_to_key(symbol) for symbol in SYMBOLS} == SYMBOLS


def test_usual_keys_are_keys_that_can_be_chosen() -> None:
    from pitree.ui.keys import shown_key

    for section in USUAL_KEYS:
        for key in section:
            for shown in key.all_shown:
                written = {"PgUp": "pageUp", "PgDn": "pageDown"}.get(shown, shown).lower()
                assert set(textual_names(written) or ()) & set(key.names), shown
            assert all(shown_key(name) for name in key.names)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Ctrl+Shift+O", ("ctrl+shift+o",)),
        ("L", ("L", "shift+l")),
        ("ctrl++", ("ctrl+plus",)),
        ("é", ("é",)),
        ("esc", ("escape",)),
        ("return", ("enter",)),
        ("ctrl+space", ("ctrl+space", "ctrl+@")),
        ("", None),
        ("ctrl+", None),
        ("ctrl", None),
        ("alt+alt+x", None),
        ("hyper+x", None),
        ("f13", None),
        ("ab", None),
        ("\x1b", None),
        ("ß", ("ß",)),
    ],
)
def test_names_of_keys(written: str, names: tuple[str, ...] | None) -> None:
    assert textual_names(written) == names


# ---- merging


def test_an_own_key_is_taken_from_what_has_it_usually() -> None:
    table, problems, notes = merged(parent="ctrl+u")
    assert keys_of(table, "parent") == ("ctrl+u",)
    assert keys_of(table, "app.tree.filter.userOnly") == ()
    assert keys_of(table, "half-page-up") == ("ctrl+u",), "in another pane it stays"
    assert not problems
    assert notes == ("app.tree.filter.userOnly (Tree) has no key any more: others have taken it",)


def test_a_key_for_everywhere_is_taken_from_every_pane() -> None:
    table, problems, _ = merged(visit="ctrl+r")
    assert keys_of(table, "visit") == ("ctrl+r",)
    assert keys_of(table, "app.session.rename", "sessions") == ()
    assert keys_of(table, "app.session.rename", "tree") == ()
    assert not problems


def test_what_comes_before_the_panes_gives_its_key_up() -> None:
    table, problems, _ = merged(find="tab")
    assert keys_of(table, "find") == ("tab",)
    assert keys_of(table, "next-pane") == ()
    assert not problems


def test_two_own_keys_that_meet_are_told() -> None:
    table, problems, _ = merged(root="f9", parent="f9", open="f9")
    assert keys_of(table, "root") == ("f9",)
    assert keys_of(table, "parent") == ()
    assert keys_of(table, "open") == ("f9",), "another pane is no conflict"
    assert problems == (f"{OWN}: F9 is for parent and for root in Tree; it does root",)


def test_the_settings_count_for_more_than_pis_file() -> None:
    wishes = [
        WantedKeys("app.session.rename", ("f2",), OWN),
        WantedKeys("app.session.rename", ("f3",), PI, pi=True),
    ]
    table, problems, _ = own_keys(wishes)
    assert keys_of(table, "app.session.rename") == ("f2",)
    assert not problems


def test_a_key_of_the_settings_is_taken_from_what_pi_has_it_for() -> None:
    wishes = [
        WantedKeys("app.tree.filter.all", ("f9",), PI, pi=True),
        WantedKeys("app.tree.foldOrUp", ("f8",), PI, pi=True),
        WantedKeys("root", ("f9", "f8"), OWN),
    ]
    table, problems, notes = own_keys(wishes)
    assert keys_of(table, "root") == ("f9", "f8")
    assert keys_of(table, "app.tree.filter.all") == ()
    assert keys_of(table, "app.tree.foldOrUp") == ()
    assert not problems
    assert f"{PI}: F9 is for app.tree.filter.all and for root in Tree; it does root" in notes


IDS = sorted({key.id for section in USUAL_KEYS for key in section})
SOME_KEYS = ["tab", "ctrl+q", "ctrl+c", "ctrl+r", "L", "up", "enter", "escape", "f9", "ctrl+-", "ctrl+_", "j"]
wishes_for_keys = st.lists(
    st.builds(
        WantedKeys,
        id=st.sampled_from(IDS),
        names=st.lists(st.sampled_from(SOME_KEYS), max_size=3).map(tuple),
        where=st.just(OWN),
        pi=st.booleans(),
    ),
    max_size=12,
)


@given(wishes_for_keys)
def test_whatever_is_wished_for(wishes: list[WantedKeys]) -> None:
    table, _, _ = own_keys(wishes)
    own = {wish.id for wish in wishes}
    assert keys_of(table, "quit")
    for before, after in zip(USUAL_KEYS, table, strict=True):
        assert [key._replace(keys="") for key in before] == [key._replace(keys="") for key in after]
        for old, new in zip(before, after, strict=True):
            if new.id not in own:
                assert set(new.names) <= set(old.names)
    for pane in table.panes:
        holders: dict[str, list[str]] = {}
        for key in (*pane, *table.lists, *table.everywhere):
            for name in key.names:
                holders.setdefault(name, []).append(key.id)
        for name, ids in holders.items():
            chosen = set(ids) & own
            assert len(chosen) <= 1, name
            assert not chosen or ids[0] in chosen, f"{name} does something else first"
    for first in ("quit", "next-pane", "previous-pane"):
        for name in keys_of(table, first):
            users = {key.id for section in table for key in section if name in key.names}
            assert not (users - {first}) & own, f"{name} never comes to the pane"


def test_of_pis_actions_those_that_are_not_ours_are_passed_over() -> None:
    merged_keys = own_keys([WantedKeys("app.model.select", ("ctrl+m",), PI, pi=True)])
    assert merged_keys == Merged(USUAL_KEYS, (), ())


def test_what_is_wrong_is_told_and_costs_only_itself() -> None:
    table, problems, _ = merged(parnet="f8", root="ctl+r", leaf=["f7", "f77"], labels="f6")
    assert keys_of(table, "labels") == ("f6",)
    assert keys_of(table, "root") == ("alt+r",)
    assert keys_of(table, "leaf") == ("alt+l",)
    assert problems == (
        f"{OWN}: there is no action parnet; did you mean parent?",
        f"{OWN}: ctl+r is no key; did you mean ctrl+r? (root keeps the keys it has)",
        f"{OWN}: f77 is no key; did you mean f7? (leaf keeps the keys it has)",
    )


def test_there_is_always_a_way_out() -> None:
    table, problems, _ = merged(quit=[])
    assert keys_of(table, "quit") == ("ctrl+q", "ctrl+c")
    assert problems == (f"{OWN}: quit needs a key, so it keeps Ctrl+Q and Ctrl+C",)
    table, problems, _ = merged(root="ctrl+q", leaf="ctrl+c")
    assert keys_of(table, "quit") == ("ctrl+q", "ctrl+c")
    assert len(problems) == 2
    table, problems, _ = merged(root="ctrl+c")
    assert keys_of(table, "quit") == ("ctrl+q",)
    assert keys_of(table, "root") == ("ctrl+c",)
    assert not problems


def test_pis_file_takes_no_key_from_leaving() -> None:
    wish = WantedKeys("tui.select.cancel", ("escape", "ctrl+c", "f9"), PI, pi=True)
    table, problems, notes = own_keys([wish])
    assert keys_of(table, "quit") == ("ctrl+q", "ctrl+c")
    assert keys_of(table, "tui.select.cancel") == ("escape", "f9")
    assert not problems
    assert len(notes) == 1


def test_a_key_that_few_terminals_tell_apart_is_noted() -> None:
    assert merged(parent="ctrl+i").notes == (
        f"{OWN}: Ctrl+I is Tab in terminals without a keyboard protocol",
    )


def test_nothing_that_is_typed_reaches_a_message_raw() -> None:
    _, problems, _ = own_keys(
        [WantedKeys("\x1b[2Jx", ("f1",), OWN), WantedKeys("root", ("\x1b]52;c;x\x07",), OWN)]
    )
    assert len(problems) == 2
    assert all(problem.isprintable() for problem in problems)


# ---- on the screen

SOME = merged(
    parent=["ctrl+p", "alt+p"],
    app__tree__editLabel="f2",
    root="j",
    find="f4",
    undo="f9",
    scope="f8",
    visit="ctrl+f",
    help="f12",
    next_pane="ctrl+n",
    group=[],
).table


def footer(pilot: Pilot[Any]) -> str:
    return str(browser(pilot).query_one(KeyBar).render())


async def test_keys_do_what_the_person_says(app: AppFactory) -> None:
    async with app(keys=SOME).run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        scope = sessions(pilot).view.scope
        await pilot.press("ctrl+o", "alt+g")
        await settled(pilot)
        assert sessions(pilot).view.scope == scope
        assert sessions(pilot).view.group == "none"
        await pilot.press("f8")
        await settled(pilot)
        assert sessions(pilot).view.scope != scope
        await pilot.press("ctrl+n")
        assert tree(pilot).has_focus
        below = tree(pilot).cursor
        assert below > 0
        await pilot.press("ctrl+p")
        assert 0 < tree(pilot).cursor < below
        await pilot.press("j")
        assert tree(pilot).cursor == 0
        assert tree(pilot).query_text == ""
        await pilot.press("L", "k")
        assert tree(pilot).query_text == "Lk", "what is no key any more is typed"
        await pilot.press("escape", "ctrl+n", "slash")
        assert not preview(pilot).can_back_out
        await pilot.press("f4", "x")
        assert preview(pilot).can_back_out


async def test_footer_help_palette_and_messages_say_the_persons_keys(app: AppFactory) -> None:
    program = app(keys=SOME, everything=True)
    async with program.run_test(size=(200, 40)) as pilot:
        await settled(pilot)
        assert "F8 scope" in footer(pilot)
        assert "F12 help" in footer(pilot)
        assert "Ctrl+O" not in footer(pilot)
        offered = {command.title: command.help for command in program.get_system_commands(program.screen)}
        assert offered["Parent · Tree: To the parent"] == "Ctrl+P"
        assert offered["Group · Sessions: Group by folder, by day, or not at all"] == ""
        sessions(pilot).set_query("nothing has this in it")
        await settled(pilot)
        assert "Esc leaves the search." in sessions(pilot).placeholder
        await pilot.press("f1")
        assert program.screen is browser(pilot)
        await pilot.press("f12")
        assert isinstance(program.screen, Help)
        await pilot.press("f12")
        assert program.screen is browser(pilot)


async def test_help_begins_with_where_one_is(app: AppFactory) -> None:
    program = app()
    async with program.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        for title in ("Sessions", "Tree", "Preview"):
            await pilot.press("f1")
            first = program.screen.query(".title").first(Static)
            assert str(first.render()) == title
            await pilot.press("escape", "tab")


PROBLEMS = (
    "~/.config/pitree/config.toml, line 3: F9 is for parent and for root in Tree; it does root",
    "~/.config/pitree/config.toml, line 7: there is no setting thme; did you mean theme?",
)


async def test_what_is_wrong_is_said_at_the_start(app: AppFactory, picture: SnapshotAssertion) -> None:
    program = app(problems=PROBLEMS)
    async with program.run_test(size=(140, 24)) as pilot:
        await settled(pilot)
        said = str(browser(pilot).query_one(StatusBar).render())
        assert PROBLEMS[0] in said
        assert "(1 more: F1)" in said
        await pilot.press("f1")
        await settled(pilot)
        assert program.export_screenshot() == picture


async def test_quitting_by_another_key(app: AppFactory) -> None:
    program = app(keys=merged(quit="f10").table)
    async with program.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+q", "f1", "ctrl+c")
        await pilot.pause()
        assert program.is_running
        assert program.return_code is None
        await pilot.press("f10")
        await pilot.pause()
        assert program.return_code == 0


async def test_dialogs_know_the_persons_keys_of_lists(app: AppFactory) -> None:
    own = merged(
        tui__select__up=["up", "ctrl+p"],
        tui__select__down=["down", "ctrl+n"],
        tui__select__cancel=["escape", "ctrl+g"],
        tui__select__confirm=["enter", "ctrl+j"],
    )
    program = app(keys=own.table)
    async with program.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "up", "ctrl+j")
        await wait_until(pilot, lambda: program.screen.query(OptionList))
        ways = program.screen.query_one(OptionList)
        await wait_until(pilot, lambda: ways.highlighted == 0)
        await pilot.press("ctrl+n", "ctrl+n", "ctrl+p")
        await wait_until(pilot, lambda: ways.highlighted == 1)
        await pilot.press("ctrl+g")
        await wait_until(pilot, lambda: program.screen is browser(pilot))


async def test_swapped_keys_do_not_call_each_other(app: AppFactory) -> None:
    program = app(keys=merged(tui__select__up="down", tui__select__down="up").table)
    async with program.run_test(size=(100, 40)) as pilot:
        await settled(pilot)
        place = sessions(pilot).cursor
        await pilot.press("up")
        assert sessions(pilot).cursor == place + 1
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: program.screen is not browser(pilot))
        await pilot.press("up", "down", "x")
        await wait_until(pilot, lambda: program.screen.query_one(Input).value.endswith("x"))
        await pilot.press("escape")
        await wait_until(pilot, lambda: program.screen is browser(pilot))


# ---- the palette's reasons


async def test_the_palette_says_why_not(app: AppFactory) -> None:
    program = app(everything=True, read_only=True)
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        told = {command.title: command.help for command in program.get_system_commands(program.screen)}
        reason = "not now: read-only (--read-only, or the settings)"
        assert told["Label · Tree: Label the entry; an empty label clears it"] == f"Shift+L  {reason}"
        assert (
            told["Go there · Tree: Go on from this entry: move the leaf, after asking how"]
            == f"Enter  {reason}"
        )
        assert told["Resume · Sessions: Resume the session in Pi; pitree ends"] == "Enter"
        assert told["Next match · Tree: Search: next match"] == "F3  not now: nothing is searched for"
        assert told["Find next · Preview: Next place that was found"] == "N  not now: nothing is looked for"
        assert (
            told["Back · Preview: Back to where the last link was followed from"]
            == "Backspace  not now: no link was followed"
        )
        assert told["Root · Tree: To the root"] == "Alt+R"


async def test_what_the_palette_cannot_do_it_says(app: AppFactory) -> None:
    program = app(everything=True, read_only=True)
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+k", *"label the entry")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert browser(pilot).said == "Not now: read-only (--read-only, or the settings)."


async def test_the_palette_says_that_nothing_can_be_undone(app: AppFactory) -> None:
    program = app()
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        title = "Undo · Take back what was changed last; again: what was changed before that"

        def told() -> str:
            return {one.title: one.help for one in program.get_system_commands(program.screen)}[title]

        assert told() == "Ctrl+Z  not now: nothing was changed yet"
        await pilot.press("tab", "L", *"tea", "enter")
        await settled(pilot)
        assert told() == "Ctrl+Z"


async def test_the_palette_where_nothing_is_highlighted(app: AppFactory) -> None:
    program = app()
    async with program.run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        sessions(pilot).set_query("nothing has this in it")
        await settled(pilot)
        told = {command.title: command.help for command in program.get_system_commands(program.screen)}
        assert told["Resume · Sessions: Resume the session in Pi; pitree ends"].endswith(
            "not now: no session is highlighted"
        )
        assert told["Root · Tree: To the root"].endswith("not now: nothing is highlighted")
        assert told["Wrap · Preview: Wrap long lines, or cut them"].endswith("not now: nothing is shown")


async def test_the_palette_looks_like_this(app: AppFactory, picture: SnapshotAssertion) -> None:
    program = app(everything=True, read_only=True, keys=SOME)
    async with program.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+k", *"label")
        await settled(pilot)
        program.screen.query_one(CommandInput).cursor_blink = False
        await settled(pilot)
        assert program.export_screenshot() == picture
