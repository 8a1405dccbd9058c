"""What the measuring says of figures: met or not, changed or not; and that it keeps all of them."""

from pathlib import Path

import pytest
from performance.figures import Figure, NoFiguresError, compared, load, p95, save, verdict
from performance.profiles import read_stacks, report

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([10, 12, 14], [11, 13, 15], "noise"),
        ([10, 12, 14], [15, 16, 17], "more"),
        ([10, 12, 14], [7, 8, 9], "less"),
        ([10], [10.5], "noise"),
        ([10], [20], "more?"),
        ([10], [5], "less?"),
        # one odd time in many is no change of the rest, and hides none
        ([*range(10, 20), 900], [*range(10, 20)], "noise"),
        ([*range(10, 20), 900], [*range(30, 40), 1], "more"),
    ],
)
def test_a_change_is_told_from_noise(old: list[float], new: list[float], said: str) -> None:
    assert verdict(old, new) == said


def test_targets_are_of_medians_beside_another_and_of_the_slowest_alone() -> None:
    beside = Figure("open", [30.0, 35.0, 90.0], [100.0], target=0.35)
    assert (beside.held, beside.met) == (0.35, "met")
    alone = Figure("key", [1.0] * 90 + [20.0] * 10, target=16, measure="ms")
    assert (alone.held, alone.met) == (p95(alone.ours), "not met")
    assert Figure("open", [30.0], target=0.35).met == "not measured"
    assert Figure("open", [30.0], [10.0]).met == ""


def test_figures_are_kept_to_the_last_one(tmp_path: Path) -> None:
    figure = Figure("open", [1.5, 2.25], [3.0], [4.0], target=0.35, unit="MB", headline=True)
    parts = {"sessions": {"commit": "abc", "figures": [figure]}}
    save(tmp_path / "figures.json", parts)
    assert load(tmp_path / "figures.json") == parts
    (tmp_path / "other.json").write_text('{"parts": {"sessions": {"figures": [{"odd": 1}]}}}')
    for name in ("other.json", "none.json"):
        with pytest.raises(NoFiguresError, match=name):
            load(tmp_path / name)


def test_what_only_one_run_has_is_said() -> None:
    before = {"store": {"figures": [Figure("a", [1.0]), Figure("b", [1.0])]}}
    after = {"store": {"figures": [Figure("a", [2.0])]}, "following": {"figures": [Figure("c", [1.0])]}}
    rows = list(compared(before, after))
    assert rows[0].startswith("| a | 1.0 ms | 2.0 ms | +100% |")
    assert rows[1].endswith("alone: b; c")


def test_a_profile_says_where_the_time_went() -> None:
    raw = [
        "main (a.py:3);work (b.py:7) 60",
        "main (a.py:3);work (b.py:9) 30",
        "main (a.py:4);rest (c.py:1) 10",
    ]
    told = list(report("all", read_stacks(raw)))
    own = told[told.index("\nby itself:") + 1 :]
    assert own[:2] == [" 90.0%  work (b.py)", " 10.0%  rest (c.py)"]
    assert told[-3:] == ["100.0%  main (a.py)", " 10.0%    rest (c.py)", " 90.0%    work (b.py)"]


def test_the_readme_has_a_place_for_the_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("<!-- figures -->\n") == text.count("\n<!-- /figures -->") == 1
