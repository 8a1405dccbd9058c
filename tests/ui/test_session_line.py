"""What stands in a line of the list, at every width."""

import pytest
from catalog.store import known
from rich.style import Style

from pitree.catalog.arrange import Line
from pitree.catalog.hits import Hit
from pitree.ui.panes.session_line import Look, age, amount, session_strip

NOW = 1_800_000_000.0
ROW = known(
    name="A name that is long enough to be cut",
    cwd="/home/ada/code/paperboy",
    modified=(NOW - 7200) * 1000,
    message_count=12,
    cost=1.5,
    tokens=34_000,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "now"), (-50, "now"), (1e300, "317 y"), (1500, "25 min"), (3 * 86400, "3 d"), (40 * 86400, "1 mo")],
)
def test_ages(seconds: float, words: str) -> None:
    assert age(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (950, "950"),
        (9_900, "9.9k"),
        (12_345, "12k"),
        (999_600, "1.0M"),
        (3.4e6, "3.4M"),
        (1e30, "1" + "0" * 18 + "T"),
    ],
)
def test_amounts(number: float, words: str) -> None:
    assert amount(number) == words


def drawn(width: int, hit: Hit | None = None, words: tuple[str, ...] = ()) -> str:
    look = Look(NOW, with_folder=True, words=words)
    strip = session_strip(Line(ROW), width, look, lambda _name: Style(), hit=hit, is_marked=True)
    assert strip.cell_length <= width
    return strip.text


def test_as_much_as_there_is_room_for() -> None:
    assert drawn(40).split() == ["✓", "A", "name", "that", "is", "long", "eno…", "12", "2", "h"]
    assert "$1.50" in drawn(60)
    assert "paperboy" not in drawn(60)
    assert "34k" in drawn(100)
    assert "paperboy" in drawn(100)


@pytest.mark.parametrize("width", [1, 5, 20, 45, 60, 100])
def test_the_match_is_seen(width: int) -> None:
    hit = Hit(0, "e", "user", "…some words before the needle in the hay", "needle")
    text = drawn(width, hit, ("needle",))
    assert "needle" in text or width < 45
