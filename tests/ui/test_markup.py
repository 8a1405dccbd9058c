"""Markdown as the screen shows it; what is none stays what it is, and nothing that was said is lost."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pitree.ui.documents.markup import markup_lines
from pitree.ui.documents.model import Line, Span
from pitree.ui.documents.wrapping import wrap_line


def shown(text: str) -> list[str]:
    return [line.shown for line in markup_lines(text) if not line.hidden]


def spans(text: str) -> list[Span]:
    (line,) = markup_lines(text)
    return list(line.spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n```\nb", [("  a", "code"), ("b", "text")]),
        ("~~~\n```\n~~~\nb", [("  ```", "code"), ("b", "text")]),
        ("````py\n```\n````\nb", [("  ```", "code"), ("b", "text")]),
        ("1. a\n    ```\n    b\n    ```", [("1. ", "text"), ("a", "text"), ("      b", "code")]),
        ("```\nnever closed", [("  never closed", "code")]),
        ("``` not `a` fence\nb", [("``` not ", "text"), ("a", "code"), (" fence", "text"), ("b", "text")]),
        ("> said `x`", [("│ ", "muted"), ("said ", "muted"), ("x", "code")]),
        (
            "#hash\n####### seven\n## two ##",
            [("#hash", "text"), ("####### seven", "text"), ("two", "heading")],
        ),
        (
            "# with **strong** and `code`",
            [("with ", "heading"), ("strong", "heading"), (" and ", "heading"), ("code", "code")],
        ),
        (
            "- a\n  * b\n12) c",
            [("• ", "text"), ("a", "text"), ("  • ", "text"), ("b", "text"), ("12) ", "text"), ("c", "text")],
        ),
        ("- [x] done", [("• ", "text"), ("[x] done", "text")]),
        ("# a #b# ", [("a #b#", "heading")]),
        ("# #", [("#", "heading")]),
        ("* * *", [("─" * 24, "muted")]),
        (
            "a **b *c* d** e",
            [("a ", "text"), ("b ", "strong"), ("c", "strong"), (" d", "strong"), (" e", "text")],
        ),
        ("*a **b***", [("*a **b***", "text")]),
        (
            "*a* (*b*), *c*.",
            [
                ("a", "emphasis"),
                (" (", "text"),
                ("b", "emphasis"),
                ("), ", "text"),
                ("c", "emphasis"),
                (".", "text"),
            ],
        ),
        ("`` a`b `` and ` c `", [("a`b", "code"), (" and ", "text"), ("c", "code")]),
        ("これは**太字**です", [("これは", "text"), ("太字", "strong"), ("です", "text")]),
    ],
)
def test_what_the_screen_shows(text: str, expected: list[Span]) -> None:
    assert [span for line in markup_lines(text) for span in line.spans] == expected


@pytest.mark.parametrize(
    "text",
    [
        "x**2 + y**2",
        "2*3*4 = 24",
        "2 * 3 * 4",
        "*.py and *.md, *.py,*.md",
        "src/**/a and test/**/b",
        "f(*args, **kwargs)",
        "__init__ and _private_ and snake_case_name",
        "\\*not marked\\*",
        "**never closed",
        "a ``` b",
        "** a **",
        "####",
        "1.5 is a number",
        "-5 too",
        "C:\\*new*\\",
    ],
)
def test_what_is_no_markdown_stays_as_it_is(text: str) -> None:
    assert shown(text) == [text]
    assert {style for _, style in spans(text)} == {"text"}


def test_empty_lines_stay_and_fences_take_no_room() -> None:
    text = "\n\na\n\n```py\n\nb\n```\n\nc\n"
    assert shown(text) == ["a", "", "", "  b", "", "c"]
    assert "\n".join(line.text for line in markup_lines(text)) == text.strip("\n")


def test_what_follows_an_item_stands_below_its_text() -> None:
    for text, indent in (("- a", 2), ("  10. a", 6), ("- [ ] a", 6), ("> a", 2), ("    a", 4), ("a", 0)):
        assert markup_lines(text)[0].indent == indent
    rows = ["".join(part for part, _ in row) for row in wrap_line(markup_lines("- **one two** three")[0], 9)]
    assert rows == ["• one two", "  three"]


TABLE = """| name | `n` |
|:-----|----:|
| a **b** | 1 |
| 漢字 | 200 | more |
| \\| |"""


def test_a_table_has_columns() -> None:
    assert shown(TABLE) == [
        "name    n",
        "────  ───  ────",
        "a b     1",
        "漢字  200  more",
        "\\|",
    ]
    assert "\n".join(line.text for line in markup_lines(TABLE)) == TABLE
    assert [style for _, style in markup_lines(TABLE)[0].spans if style != "text"] == ["strong", "code"]


def test_a_wide_table_is_not_aligned() -> None:
    wide = f"| a | b |\n|---|---|\n| {'x' * 70} | `yyyyyyyyyy` |"
    assert shown(wide) == ["a │ b", "─" * 24, f"{'x' * 70} │ yyyyyyyyyy"]


def test_what_only_looks_like_a_table() -> None:
    for text in ("| a | b |", "| a |\n| b |", "a | b\n- | -"):
        assert shown(text)[0] == text.split("\n")[0]


_pieces = st.sampled_from(
    [
        "*",
        "**",
        "`",
        "```",
        "~~~",
        "# ",
        "- ",
        "1. ",
        "> ",
        "|",
        "|-|",
        "\n",
        " ",
        "a",
        "é",
        "漢",
        "\\",
        "---",
        "[x]",
    ]
)
_texts = st.one_of(
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60),
    st.lists(_pieces, max_size=40).map("".join),
)


@given(_texts.map(lambda text: f"{text}."))
def test_nothing_that_was_said_is_lost(text: str) -> None:
    made = markup_lines(text)
    assert "\n".join(line.text for line in made) == text.strip("\n")
    for line in made:
        letters = [character for character in line.text if character.isalpha()]
        assert line.hidden or [character for character in line.shown if character.isalpha()] == letters


@given(
    st.lists(
        st.lists(st.sampled_from(["a", "**b**", "漢字", "", "`c d`"]), min_size=1, max_size=4), min_size=1
    )
)
def test_the_columns_of_a_table_stand_below_each_other(rows: list[list[str]]) -> None:
    head = ["h1", "h2", "h3", "h4"]
    table = [head, ["---"] * 4, *rows]
    made = markup_lines("\n".join(f"| {' | '.join(row)} |" for row in table))
    columns = _starts(made[1])
    for row, line in zip(table, made, strict=True):
        assert _starts(line) == [start for start, cell in zip(columns, row, strict=False) if cell]


def _starts(line: Line) -> list[int]:
    """Return the cells at which something stands that is no blank, after blanks that part columns."""
    found, cells, gap = [], 0, 2
    for character in line.shown:
        if character == " ":
            gap += 1
        else:
            if gap > 1:
                found.append(cells)
            gap = 0
        cells += cell_len(character)
    return found


@pytest.mark.parametrize("piece", ["**a ", "*a ", "`a ``b ", "* ", "|", "|-", "\\", "[ ", "# ", "> ", " "])
def test_marks_without_an_end_take_no_time(piece: str) -> None:
    text = (piece * 40_000)[:40_000]
    begun = time.perf_counter()
    for lines in (f"{text}\n|-|-|\n{text}", f"|{text}\n{text}", f"# {text}a", f"- {text}a"):
        markup_lines(lines)
    assert time.perf_counter() - begun < 8  # seconds; a tenth of it here, and what is quadratic takes more
