from pathlib import Path

import pytest

from pitree.catalog.rows import newest_first

from .store import known


@pytest.mark.parametrize(
    ("name", "first", "title"),
    [
        ("the name", "the message", "the name"),
        (None, "the message", "the message"),
        (None, "\n\n  first line \nsecond line", "first line"),
        (None, "first\r\nsecond", "first"),
        (None, "(no messages)", "(no messages)"),
        (None, " \n \t ", "(no messages)"),
        ("two\nlines", "x", "two lines"),
        ("\x1b[31mred\u202e", "x", "␛[31mred\ufffd"),
        (None, "\x1b]0;title\x07", "␛]0;title␇"),
        ("x" * 1000, "y", "x" * 400),
        (None, "y" * 1000, "y" * 400),
    ],
)
def test_a_title_is_one_safe_line(name: str | None, first: str, title: str) -> None:
    assert known(name=name, first_message=first).title == title


def test_the_newest_comes_first_and_equal_ones_have_an_order() -> None:
    rows = [
        known(path=Path("/b/1.jsonl"), modified=5.0, mtime_ns=1),
        known(path=Path("/a/2.jsonl"), modified=5.0, mtime_ns=1),
        known(path=Path("/a/0.jsonl"), modified=5.0, mtime_ns=2),
        known(path=Path("/a/9.jsonl"), modified=4.0, mtime_ns=9),
        known(path=Path("/a/3.jsonl"), modified=7.5, mtime_ns=0),
    ]
    expected = ["3", "0", "2", "1", "9"]

    assert [row.path.stem for row in newest_first(rows)] == expected
    assert [row.path.stem for row in newest_first(reversed(rows))] == expected
