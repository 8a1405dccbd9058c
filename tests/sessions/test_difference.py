"""What a move changes: the truth is both contexts, each built in full."""

from pathlib import Path

from agent.build import Session, call
from agent.strategies import sessions_and_leaves
from hypothesis import HealthCheck, given, settings

from pitree.sessions.context import (
    build_context_parts,
    build_session_context,
    calls_of,
    open_parts,
    read_part,
    result_of,
)
from pitree.sessions.difference import Difference, context_difference
from pitree.sessions.file import SessionFile

from .test_file import put

_on_files = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@_on_files
@given(chosen=sessions_and_leaves())
def test_parts_are_the_context(tmp_path: Path, chosen: tuple[Session, object]) -> None:
    made, _ = chosen
    with SessionFile.load(made.write(tmp_path / "session.jsonl", ascii_only=False)) as session:
        for leaf in (None, *(entry.id for entry in session.entries)):
            context, parts = build_session_context(session, leaf), build_context_parts(session, leaf)
            assert [read_part(session, part) for part in parts.parts] == context.messages
            assert [part.entry for part in parts.parts] == context.sources
            opened = [(call.entry_id, call.call_id) for call in context.open_calls]
            assert [(part.entry.id, call_id) for part, call_id in open_parts(parts)] == opened
            for part in parts.parts:  # what is known before reading is what is there
                read = part._replace(message=read_part(session, part))
                assert (calls_of(read), result_of(read)) == (calls_of(part), result_of(part))


@_on_files
@given(chosen=sessions_and_leaves())
def test_a_move_takes_the_old_context_to_the_new_one(tmp_path: Path, chosen: tuple[Session, object]) -> None:
    made, _ = chosen
    with SessionFile.load(made.write(tmp_path / "session.jsonl", ascii_only=False)) as session:
        ids = [None, *(entry.id for entry in session.entries)]
        for old, new in zip(ids, reversed(ids), strict=True):
            found = context_difference(session, old, new)
            before, after = build_session_context(session, old), build_session_context(session, new)
            leaving, coming = (set(side) for side in (found.leaves, found.returns))
            kept = [one for number, one in enumerate(before.messages, 1) if number not in leaving]
            assert kept == [one for number, one in enumerate(after.messages, 1) if number not in coming]
            assert found.stays == len(kept)
            assert found.leaves == sorted(found.leaves)
            assert found.returns == sorted(found.returns)
            old_path, new_path = session.tree.path(old), session.tree.path(new)
            assert (
                old_path[: len(old_path) - len(found.span.entries)]
                == (new_path[: len(new_path) - len(found.regained)])
            )
            assert not set(map(id, found.span.entries)) & set(map(id, found.regained))


def moved(made: Session, folder: Path, old: str, new: str) -> tuple[list[str], list[str], Difference]:
    with SessionFile.load(made.write(folder / "session.jsonl")) as session:
        found = context_difference(session, old, new)
        leaves = [found.before.parts[number - 1].entry.id for number in found.leaves]
        returns = [found.after.parts[number - 1].entry.id for number in found.returns]
        return leaves, returns, found


def test_beside_a_branch(tmp_path: Path) -> None:
    made = Session()
    fork = made.user("go")
    calls = made.calls(call("read", "1"))
    result = made.result("done", "1")
    other = made.user("beside", fork)
    leaves, returns, found = moved(made, tmp_path, result, other)
    assert (leaves, returns, found.stays) == ([calls, result], [other], 1)
    assert found.span.ancestor_id == fork
    assert [entry.id for entry in found.span.entries] == [calls, result]
    assert [entry.id for entry in found.regained] == [other]


def test_above_a_compaction_what_it_hid_comes_back(tmp_path: Path) -> None:
    made = Session()
    first, second = made.user("one"), made.user("two")
    third = made.user("three")
    summary = made.compaction(third, summary="short")
    last = made.user("four")
    leaves, returns, found = moved(made, tmp_path, last, second)
    assert (leaves, returns, found.stays) == ([summary, third, last], [first, second], 0)


def test_what_an_edit_changed_on_one_side_leaves_and_comes_back(tmp_path: Path) -> None:
    made = Session()
    first, second = made.user("one"), made.user("two")
    made.edit(first, "ONE")
    edited = made.edit(second, "two")  # to what it was
    leaves, returns, found = moved(made, tmp_path, edited, second)
    assert (leaves, returns, found.stays) == ([first], [first], 1)


def test_with_nothing_in_common(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n'
        b'{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"a"}}\n'
        b'{"type":"message","id":"b","parentId":null,"timestamp":"","message":{"role":"user","content":"b"}}\n',
    )
    with SessionFile.load(path) as session:
        found = context_difference(session, "a", "b")
        assert (found.span.ancestor_id, found.stays) == (None, 0)
        assert [entry.id for entry in found.span.entries] == ["a"]
