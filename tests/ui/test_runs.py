"""Long lists that are made when they are asked for are like lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.ui.documents.runs import Chain, Lazy

lists = st.lists(st.integers(), max_size=5)


@given(runs=st.lists(lists, max_size=5), index=st.integers(-30, 30), cut=st.slices(20))
def test_a_chain_is_like_all_its_lists(runs: list[list[int]], index: int, cut: slice) -> None:
    whole = [member for run in runs for member in run]
    made = [
        Lazy(len(run), lambda at, run=run: run[at]) if place % 2 else run  # type: ignore[misc]
        for place, run in enumerate(runs)
    ]
    chain = Chain(made)
    assert (len(chain), list(chain), chain[cut]) == (len(whole), whole, whole[cut])
    if -len(whole) <= index < len(whole):
        assert chain[index] == whole[index]
    else:
        with pytest.raises(IndexError):
            chain[index]


def test_nothing_is_made_before_it_is_asked_for() -> None:
    made: list[int] = []
    lazy = Lazy(10**9, made.append)
    assert len(Chain([lazy, [None]])) == 10**9 + 1
    assert made == []
    assert Chain([lazy])[5] is None
    assert made == [5]
