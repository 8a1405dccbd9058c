"""Which entries are drawn, where, and with which lines; the drawings are to be looked at."""

from collections.abc import Collection
from textwrap import dedent

import pytest
from agent.build import moment

from pitree.sessions.entries import Entry
from pitree.sessions.filters import DEFAULT_FILTER, FILTERS
from pitree.sessions.layout import Layout
from pitree.sessions.rows import Row, Rows, layout_rows, visible_rows
from pitree.sessions.tree import Tree


def tree_of(text: str) -> Tree:
    """Make a tree from `id parent [type or role] [*label]` lines; `-` stands for no parent."""
    entries: list[Entry] = []
    labels: list[tuple[str, str]] = []
    for line, words in enumerate(map(str.split, dedent(text).strip().splitlines()), 1):
        entry_id, parent, *rest = words
        labels += [(entry_id, word[1:]) for word in rest if word.startswith("*")]
        kind = next((word for word in rest if not word.startswith("*")), "user")
        is_message = kind in {
            "user",
            "assistant",
            "silent",
            "failed",
            "toolResult",
            "bashExecution",
            "custom-role",
        }
        made = Entry(
            entry_id,
            None if parent == "-" else parent,
            "message" if is_message else kind,
            moment(line),
            line,
            line * 100,
            99,
        )
        if is_message:
            made.role = "assistant" if kind in {"silent", "failed"} else kind
            made.has_text = kind == "assistant"
            made.stop_reason = "error" if kind == "failed" else "toolUse" if kind == "silent" else ""
        entries.append(made)
    last = len(entries)
    for number, (target, label) in enumerate(labels):
        made = Entry(
            f"L{number}", entries[-1].id, "label", moment(99), last + 1 + number, (last + 1) * 100, 99
        )
        made.target_id, made.text = target, label
        entries.insert(0, made)  # hidden, and out of the way
    return Tree(entries)


def drawing(rows: Rows, folded: Collection[str] = ()) -> str:
    return "\n".join(
        f"{rows.lead(index, folded=row.entry.id in folded)}{row.entry.id}" for index, row in enumerate(rows)
    )


def drawn(tree: Tree, leaf: str | None, name: str = DEFAULT_FILTER, folded: Collection[str] = ()) -> str:
    return drawing(layout_rows(Layout(tree, leaf), name, folded=folded), folded)


def block(text: str) -> str:
    return dedent(text).strip("\n")


CHAIN = tree_of("a - \n b a \n c b")

FORK = tree_of(
    """
    a -
    b a assistant
    c b
    d c assistant
    e b
    f e assistant
    g f
    h f
    i h
    """
)

ROOTS = tree_of(
    """
    a -
    b a
    c a
    p -
    q p
    r q
    s q
    """
)

NESTED = tree_of(
    """
    a -
    b a
    c b
    d c
    e c
    f b
    g f
    h a
    i h
    j h
    """
)


def test_a_chain_is_flat() -> None:
    assert drawn(CHAIN, "c") == "a\nb\nc"


def test_a_fork_and_what_follows_it_go_one_level_in() -> None:
    assert drawn(FORK, "d") == block(
        """
        a
        b
        ├▾c
        │   d
        └▾e
            f
            ├─g
            └▾h
                i
        """
    )


def test_the_branch_with_the_leaf_comes_first() -> None:
    assert drawn(FORK, "i") == block(
        """
        a
        b
        ├▾e
        │   f
        │   ├▾h
        │   │   i
        │   └─g
        └▾c
            d
        """
    )


def test_several_roots_stand_side_by_side() -> None:
    assert drawn(ROOTS, None) == block(
        """
        a
        ├─b
        └─c
        p
          q
          ├─r
          └─s
        """
    )
    assert drawn(ROOTS, "s") == block(
        """
        p
          q
          ├─s
          └─r
        a
        ├─b
        └─c
        """
    )


def test_lines_of_outer_forks_run_through() -> None:
    assert drawn(NESTED, None) == block(
        """
        a
        ├▾b
        │ ├▾c
        │ │ ├─d
        │ │ └─e
        │ └▾f
        │     g
        └▾h
          ├─i
          └─j
        """
    )


@pytest.mark.parametrize("name", FILTERS)
def test_nothing_is_drawn_of_nothing(name: str) -> None:
    assert len(visible_rows(Tree(), name)) == 0
    assert drawn(CHAIN, "c", "labeled-only") == ""


# Filters

EVERYTHING = tree_of(
    """
    u1 - user *here
    m u1 model_change
    t m thinking_level_change
    a t assistant
    s a silent *quiet
    r s toolResult
    f r failed
    x f custom
    n x session_info
    k n compaction
    b k branch_summary
    cm b custom_message
    ce cm context_edit
    us ce usage *spent
    sh us bashExecution
    at sh active_tools_change
    lf at leaf
    fu lf of_a_later_version
    u2 fu user
    """
)

SHOWN = {
    "default": ["u1", "a", "r", "f", "k", "b", "cm", "sh", "at", "lf", "fu", "u2"],
    "no-tools": ["u1", "a", "f", "k", "b", "cm", "sh", "at", "lf", "fu", "u2"],
    "user-only": ["u1", "u2"],
    "labeled-only": ["u1"],
    "all": ["u1", "m", "t", "a", "r", "f", "x", "n", "k", "b", "cm", "ce", "sh", "at", "lf", "fu", "u2"],
}


@pytest.mark.parametrize("name", FILTERS)
def test_what_each_filter_shows(name: str) -> None:
    rows = visible_rows(EVERYTHING, name, "u2")
    assert [row.entry.id for row in rows if not row.entry.id.startswith("L")] == SHOWN[name]


def test_an_assistant_without_text_shows_where_it_is_the_leaf() -> None:
    assert "s" in [row.entry.id for row in visible_rows(EVERYTHING, "default", "s")]
    assert [row.entry.id for row in visible_rows(EVERYTHING, "labeled-only", "s")] == ["u1", "s"]
    assert "us" not in [row.entry.id for row in visible_rows(EVERYTHING, "all", "us")]  # never


def test_what_hangs_on_hidden_entries_attaches_above() -> None:
    tree = tree_of(
        """
        a - user
        s a silent
        r1 s toolResult
        b r1 assistant
        r2 s toolResult
        x s custom
        c x user
        d x user
        """
    )
    assert drawn(tree, None) == block(
        """
        a
        ├▾r1
        │   b
        ├─r2
        ├─c
        └─d
        """
    )
    assert drawn(tree, None, "no-tools") == block(
        """
        a
        ├─b
        ├─c
        └─d
        """
    )
    rows = visible_rows(tree, "user-only", None)
    assert [row.entry.id for row in rows] == ["a", "c", "d"]
    assert [rows.row_of(name) for name in ("a", "s", "b", "c", "x")] == [0, 0, 0, 1, 0]


def test_what_hangs_on_a_hidden_root_becomes_a_root() -> None:
    tree = tree_of("m - model_change \n a m \n b m \n c b")
    assert drawn(tree, None) == "a\nb\n  c"
    rows = visible_rows(tree, "default", None)
    assert (rows.row_of("m"), rows.row_of("nowhere"), rows.row_of(None)) == (None, None, None)


# Folding


def test_folding_hides_what_is_below() -> None:
    assert drawn(FORK, "d", folded={"e"}) == block(
        """
        a
        b
        ├▾c
        │   d
        └▸e
        """
    )
    assert drawn(FORK, "d", folded={"a"}) == "▸ a"
    assert drawn(FORK, "d", folded={"c", "h", "nowhere"}) == block(
        """
        a
        b
        ├▸c
        └▾e
            f
            ├─g
            └▸h
        """
    )


def test_a_folded_root_among_others() -> None:
    assert drawn(ROOTS, None, folded={"p"}) == block(
        """
        a
        ├─b
        └─c
        ▸ p
        """
    )


def test_what_can_be_folded() -> None:
    rows = layout_rows(Layout(FORK, "d"))
    assert [row.entry.id for index, row in enumerate(rows) if rows.foldable(index)] == ["a", "c", "e", "h"]


def test_a_hidden_entry_of_a_fold_is_found_at_the_fold() -> None:
    rows = layout_rows(Layout(FORK, "d"), folded={"e"})
    assert [rows.entry(rows.row_of(name) or 0).id for name in ("e", "f", "i", "d")] == ["e", "e", "e", "d"]


def test_how_much_a_fold_hides() -> None:
    layout = Layout(EVERYTHING, "u2")
    below = {name: layout.count_below(name, EVERYTHING.position("r") or 0) for name in FILTERS}
    labels = 3  # those of the test's own hang at the end
    assert below == {"default": 9, "no-tools": 9, "user-only": 1, "labeled-only": 0, "all": 12 + labels}


# Searching


def test_matches_choose_from_what_the_filter_shows() -> None:
    layout = Layout(FORK, "d")
    wanted = {"a", "d", "g", "i"}
    matches = bytes(FORK.entries[position].id in wanted for position in layout.order)
    assert drawing(layout_rows(layout, matches=matches)) == block(
        """
        a
        ├─d
        ├─g
        └─i
        """
    )
    rows = layout_rows(layout, "user-only", matches=matches)
    assert [row.entry.id for row in rows] == ["a", "g", "i"]
    rows = layout_rows(layout, matches=matches, folded={"f"})
    assert [row.entry.id for row in rows] == ["a", "d"]
    assert len(layout_rows(layout, matches=bytes(len(layout.order)))) == 0


# Rows as a sequence


def test_rows_are_a_sequence() -> None:
    rows = visible_rows(FORK, leaf_id="d")
    assert rows[0] == Row(FORK.entries[0], depth=0, on_path=True, label=None)
    assert rows[-1] == rows[len(rows) - 1]
    assert rows[2:4] == [rows[2], rows[3]]
    assert rows[::-1] == list(reversed(list(rows)))
    assert [row.depth for row in rows] == [0, 0, 1, 2, 1, 2, 3, 3, 4]
    assert [row.entry.id for row in rows if row.on_path] == ["a", "b", "c", "d"]
    assert rows[4] in rows
    with pytest.raises(IndexError):
        rows[len(rows)]


def test_rows_know_their_labels() -> None:
    rows = visible_rows(EVERYTHING, "all", "u2")
    assert {row.entry.id: row.label for row in rows if row.label} == {"u1": "here"}


def test_levels_tell_where_lines_run_through() -> None:
    rows = visible_rows(NESTED, leaf_id=None)
    assert [rows.levels(rows.row_of(name) or 0) for name in ("a", "b", "c", "d", "g", "j")] == [
        [],
        [False],
        [True, False],
        [True, True, False],
        [True, False, False],
        [False, False],
    ]


def test_the_leaf_may_be_anywhere_or_nowhere() -> None:
    for leaf in (None, "nowhere", "a", "i"):
        rows = visible_rows(FORK, leaf_id=leaf)
        assert sorted(row.entry.id for row in rows) == list("abcdefghi")
    assert [row.entry.id for row in visible_rows(FORK)] == [
        row.entry.id for row in visible_rows(FORK, leaf_id="i")
    ]


def test_a_folded_stretch_keeps_its_ends_and_what_forks_from_them() -> None:
    links = {"A": None, "B": "A", "C": "B", "D": "C", "E": "D", "F": "D", "G": "F"}
    tree = Tree(
        Entry(name, parent, "message", moment(line), line, line, 1, role="user")
        for line, (name, parent) in enumerate(links.items())
    )
    layout = Layout(tree, "G")
    rows = layout_rows(layout, "all", stretches={"A"})
    assert [row.entry.id for row in rows] == ["A", "D", "F", "G", "E"]
    assert [row.depth for row in rows] == [0, 0, 1, 2, 1]
    assert layout.count_in("all", layout.stretch(0)) == 2
    assert not layout.stretch(6), "an entry without children begins nothing"
    assert len(layout_rows(layout, "all", stretches={"no such entry"})) == 7


def test_roots_are_told_apart_where_there_are_several() -> None:
    several = visible_rows(tree_of("A -\nB A\nC -"), "all")
    assert [several.one_of_several_roots(row) for row in range(3)] == [
        several.entry(row).id != "B" for row in range(3)
    ]
    single = visible_rows(tree_of("A -\nB A"), "all")
    assert not any(single.one_of_several_roots(row) for row in range(2))
