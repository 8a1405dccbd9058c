"""pitree builds the contexts that Pi builds: the same entries, messages, thinking level and model."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings

from .build import Session
from .cases import Make, each_case, each_case_without_ids, leaves
from .compare import CONTEXT_PARTS, assert_same, by_position, pi_view, pitree_view
from .oracle import Oracle, OwnLeaf
from .strategies import sessions_and_leaves


@each_case
def test_hand_made_sessions(make: Make, oracle: Oracle, folder: Path) -> None:
    made = make()
    path = made.write(folder / "session.jsonl")
    for leaf in leaves(made):
        assert_same(pi_view(oracle.session(path, leaf)), pitree_view(path, leaf), CONTEXT_PARTS)


@each_case_without_ids
def test_sessions_of_version_1(make: Make, oracle: Oracle, folder: Path) -> None:
    path = make().write(folder / "session.jsonl")
    own = by_position(pi_view(oracle.session(path)))
    assert_same(own, by_position(pitree_view(path)), CONTEXT_PARTS)
    for leaf_at in range(len(own.entries)):
        pi = by_position(pi_view(oracle.session(path, leaf_at=leaf_at)))
        assert_same(pi, by_position(pitree_view(path, leaf_at=leaf_at)), CONTEXT_PARTS)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chosen=sessions_and_leaves())
def test_random_sessions(
    oracle: Oracle, folder: Path, chosen: tuple[Session, list[str | OwnLeaf | None]]
) -> None:
    made, from_leaves = chosen
    path = made.write(folder / "session.jsonl", ascii_only=False)
    for leaf in from_leaves:
        assert_same(pi_view(oracle.session(path, leaf)), pitree_view(path, leaf), CONTEXT_PARTS)
