"""`pitree tree --json` and `pitree context --json` print what Pi makes of the file."""

from pathlib import Path
from typing import Any, cast

import pytest

from pitree.sessions.filters import FILTERS

from .cases import Make
from .cases_context import (
    all_roles_replaced_by_blocks,
    edits_around_compactions,
    other_values_that_are_no_strings,
    roles_that_are_no_strings,
)
from .cases_lines import numbers_beyond_python_and_javascript, odd_characters, version_1_with_compactions
from .cases_tree import every_entry_type, forks_at_hidden_entries, several_roots
from .command import pitree_json
from .compare import View, by_position, difference, pi_view
from .oracle import Oracle

with_trees = pytest.mark.parametrize(
    "make",
    [
        every_entry_type,
        forks_at_hidden_entries,
        several_roots,
        odd_characters,
        other_values_that_are_no_strings,
        roles_that_are_no_strings,
    ],
    ids=lambda make: make.__name__,
)
with_contexts = pytest.mark.parametrize(
    "make",
    [
        every_entry_type,
        all_roles_replaced_by_blocks,
        edits_around_compactions,
        odd_characters,
        numbers_beyond_python_and_javascript,
        other_values_that_are_no_strings,
    ],
    ids=lambda make: make.__name__,
)


@with_trees
def test_tree(make: Make, oracle: Oracle, tmp_path: Path) -> None:
    path = make().write(tmp_path / "session.jsonl")
    answer = oracle.session(path)
    pi = pi_view(answer)
    stored = {line["id"]: line for line in make().lines if isinstance(line, dict)}
    for mode in FILTERS:
        shown = cast("dict[str, Any]", pitree_json("tree", path, "--filter", mode, home=tmp_path))
        rows = shown["entries"]
        assert [(row["id"], row["depth"]) for row in rows] == pi.trees[mode]
        assert difference(answer["header"], shown["header"]) is None
        assert (shown["leaf"], shown["name"], shown["labels"]) == (pi.leaf, pi.name, pi.labels)
        assert shown["filter"] == mode
        for row in rows:
            entry = stored[row["id"]]
            assert row["parentId"] == entry["parentId"]
            assert row["type"] == entry["type"]
            assert row.get("label") == pi.labels.get(row["id"])
            assert row["onPath"] is (row["id"] in pi.branch)


@with_contexts
def test_context(make: Make, oracle: Oracle, tmp_path: Path) -> None:
    path = make().write(tmp_path / "session.jsonl")
    pi = pi_view(oracle.session(path))
    assert_same_context(pi, pitree_json("context", path, home=tmp_path))
    for leaf in pi.entries[::6]:
        shown = pitree_json("context", path, "--leaf", leaf, home=tmp_path)
        assert_same_context(pi_view(oracle.session(path, leaf)), shown)


def test_a_file_of_version_1(oracle: Oracle, tmp_path: Path) -> None:
    path = version_1_with_compactions().write(tmp_path / "session.jsonl")
    before = path.read_bytes()
    pi = by_position(pi_view(oracle.session(path)))
    shown = cast("dict[str, Any]", pitree_json("tree", path, "--filter", "all", home=tmp_path))
    ids = [row["id"] for row in shown["entries"]]
    assert [row["parentId"] for row in shown["entries"]] == [None, *ids[:-1]]
    assert [f"#{place}" for place in range(len(ids))] == [entry for entry, _ in pi.trees["all"]]
    context = cast("dict[str, Any]", pitree_json("context", path, home=tmp_path))
    assert difference(pi.messages, context["messages"]) is None
    assert [f"#{ids.index(entry)}" for entry in context["entries"]] == pi.context_entries
    assert path.read_bytes() == before


def assert_same_context(pi: View, document: object) -> None:
    shown = cast("dict[str, Any]", document)
    assert difference(pi.messages, shown["messages"]) is None
    assert shown["entries"] == pi.context_entries
    assert shown["thinkingLevel"] == pi.thinking_level
    assert difference(pi.model, shown["model"]) is None
