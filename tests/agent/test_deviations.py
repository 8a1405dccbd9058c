"""Where pitree and Pi 1.6.0 differ on purpose. Each test shows both sides.

An older harness writes `leaf` entries and keeps messages in `retainedTail`. Pi itself ignores both; whoever
wrote them meant them, so pitree honours them.
"""

from pathlib import Path

from .build import Session, milliseconds
from .compare import assert_same, pi_view, pitree_view
from .oracle import Oracle


def test_retained_tail_stands_for_what_came_before(oracle: Oracle, folder: Path) -> None:
    made = Session()
    first = made.user("gone")
    made.assistant("gone too")
    tail = [{"role": "user", "content": "retained", "timestamp": 1}]
    compacted = made.compaction(first, retainedTail=tail)
    after = made.user("after")
    path = made.write(folder / "session.jsonl")
    pi, ours = pi_view(oracle.session(path)), pitree_view(path)

    assert pi.context_entries == [compacted, first, "00000002", after]
    assert ours.context_entries == [compacted, after]
    assert [message["role"] for message in pi.messages] == ["compactionSummary", "user", "assistant", "user"]
    summary = {"role": "compactionSummary", "summary": "summary 2", "tokensBefore": 1234}
    assert ours.messages == [
        {**summary, "timestamp": milliseconds(3)},
        tail[0],
        {"role": "user", "content": "after", "timestamp": milliseconds(4)},
    ]
    assert_same(pi, ours, ("header", "entries", "leaf", "branch", "thinking_level", "model", "trees"))


def test_an_empty_retained_tail_keeps_nothing(oracle: Oracle, folder: Path) -> None:
    made = Session()
    first = made.user("gone")
    compacted = made.compaction(first, retainedTail=[])
    path = made.write(folder / "session.jsonl")

    assert pi_view(oracle.session(path)).context_entries == [compacted, first]
    assert pitree_view(path).context_entries == [compacted]


def test_a_leaf_entry_moves_the_leaf(oracle: Oracle, folder: Path) -> None:
    made = Session()
    target = made.user("go on from here")
    made.assistant("not from here")
    moved = made.entry("leaf", targetId=target)
    path = made.write(folder / "session.jsonl")
    pi, ours = pi_view(oracle.session(path)), pitree_view(path)

    assert (pi.leaf, pi.branch) == (moved, [target, "00000002", moved])
    assert (ours.leaf, ours.branch) == (target, [target])
    assert [message["content"] for message in ours.messages] == ["go on from here"]
    # Told where the leaf is, Pi sees the same.
    asked = pi_view(oracle.session(path, target))
    assert_same(asked, ours, ("leaf", "branch", "context_entries", "messages", "trees"))


def test_a_leaf_entry_without_a_target_goes_before_the_first_entry(oracle: Oracle, folder: Path) -> None:
    made = Session()
    made.user("left behind")
    moved = made.entry("leaf", targetId=None)
    path = made.write(folder / "session.jsonl")

    assert pi_view(oracle.session(path)).leaf == moved
    ours = pitree_view(path)
    assert (ours.leaf, ours.branch, ours.messages) == (None, [], [])


def test_a_leaf_entry_counts_only_as_the_last_one(oracle: Oracle, folder: Path) -> None:
    made = Session()
    target = made.user("once the leaf")
    made.assistant("left")
    made.entry("leaf", targetId=target)
    last = made.user("the conversation went on", target)
    path = made.write(folder / "session.jsonl")
    pi, ours = pi_view(oracle.session(path)), pitree_view(path)

    assert pi.leaf == ours.leaf == last
    assert_same(pi, ours, ("branch", "context_entries", "messages"))
