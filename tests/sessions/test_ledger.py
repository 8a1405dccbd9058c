"""What entries cost: the truth is each body, parsed in full."""

from pathlib import Path

import pytest
from agent.build import Session, usage
from agent.strategies import sessions_and_leaves
from hypothesis import HealthCheck, given, settings

from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.ledger import Ledger
from pitree.sessions.tokens import body_usages, usage_cost


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(chosen=sessions_and_leaves())
def test_it_adds_up_what_the_bodies_say(tmp_path: Path, chosen: tuple[Session, object]) -> None:
    made, _ = chosen
    with SessionFile.load(made.write(tmp_path / "session.jsonl", ascii_only=False)) as session:
        costs = [usage_cost(one) for entry in session.entries for one in body_usages(session.body(entry))]
        ledger = Ledger(session)
        assert ledger.cost(session.entries) == pytest.approx(sum(costs))
        assert ledger.unread(session.entries) == 0
        assert ledger.cost(session.entries) == pytest.approx(sum(costs))


def every_kind() -> Session:
    made = Session()
    made.assistant("a", usage=usage())
    made.message("toolResult", content="b", usage=usage())
    kept = [{"role": "assistant", "usage": usage()}]
    made.compaction(made.last, summary="c", usage=usage(), retainedTail=kept)
    made.entry("branch_summary", fromId="root", summary="d", usage=usage())
    made.entry("usage", kind="title", provider="p", model="m", usage=usage())
    made.entry("custom", customType="x", usage=usage())
    made.message("user", content="says usage", usage=usage())
    return made


def test_every_usage_counts_once(tmp_path: Path) -> None:
    with SessionFile.load(every_kind().write(tmp_path / "session.jsonl")) as session:
        ledger = Ledger(session)
        assert ledger.unread(session.entries) == sum(entry.length for entry in session.entries[:5])
        assert ledger.cost(session.entries) == pytest.approx(5 * 0.003)


def test_keys_may_be_written_with_escapes(tmp_path: Path) -> None:
    path = every_kind().write(tmp_path / "session.jsonl")
    path.write_text(path.read_text().replace('"usage":', '"\\u0075sage":'))
    with SessionFile.load(path) as session:
        assert ledger_cost(session) == pytest.approx(5 * 0.003)


def ledger_cost(session: SessionFile) -> float:
    return Ledger(session).cost(session.entries)


def test_odd_lines_cost_what_can_be_read(tmp_path: Path) -> None:
    made = Session()
    made.assistant("\ud83d", usage={**usage(), "note": "\udc00"})
    made.assistant("odd", usage=[None])
    made.entry("usage", usage={"cost": {"total": 10**400}})
    made.entry("usage", usage={"cost": {"total": 2}}, message={"role": 5, "usage": {"cost": {"total": 3}}})
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        assert ledger_cost(session) == pytest.approx(2.003)
        session.close()
        assert ledger_cost(session) == 0


def test_adding_up_can_be_stopped(tmp_path: Path) -> None:
    with (
        SessionFile.load(every_kind().write(tmp_path / "session.jsonl")) as session,
        pytest.raises(StoppedError),
    ):
        Ledger(session).cost(session.entries, lambda: True)
