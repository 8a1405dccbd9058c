"""Keys with Alt, as terminals without a keyboard protocol send them: Esc and the letter."""

import pytest
from textual import events
from textual._xterm_parser import XTermParser

from pitree.ui.alt_keys import alt_sequences, teach_alt_keys, typed_text

from .conftest import AppFactory
from .waiting import settled, tree


def parsed(sent: str) -> list[tuple[str, str | None]]:
    teach_alt_keys()
    found = XTermParser(debug=False).feed(sent)
    return [(event.key, event.character) for event in found if isinstance(event, events.Key)]


@pytest.mark.parametrize(("sequence", "name"), alt_sequences().items())
def test_a_terminal_says_each_of_them(sequence: str, name: str) -> None:
    letter = name[-1]
    assert sequence == f"\x1b{letter}"
    key = (name, None)
    assert parsed(f"\x1b{letter}") == [key]
    assert parsed(f"\x1b{letter}\x1b{letter}{letter}") == [key, key, (letter, letter)]


def test_none_is_what_terminals_send_for_an_arrow_with_alt() -> None:
    assert not {"b", "f"} & {sequence[1:] for sequence in alt_sequences()}
    assert parsed("\x1bb\x1bf") == [("ctrl+left", None), ("ctrl+right", None)]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (events.Key("alt+x", "x"), ""),
        (events.Key("alt+shift+x", "X"), ""),
        (events.Key("ctrl+x", "\x18"), ""),
        (events.Key("f3", None), ""),
        (events.Key("x", "x"), "x"),
        (events.Key("upper_x", "X"), "X"),
        (events.Key("question_mark", "?"), "?"),
    ],
)
def test_what_a_key_types(event: events.Key, text: str) -> None:
    assert typed_text(event) == text


async def test_a_key_with_alt_that_means_nothing_is_not_searched_for(app: AppFactory) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await settled(pilot)
        await pilot.press("tab")
        pilot.app.post_message(events.Key("alt+x", "x"))
        await pilot.press("y")
        await settled(pilot)
        assert tree(pilot).query_text == "y"
