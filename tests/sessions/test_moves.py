"""A move is told before it is made: what it means, what is left, what the context becomes."""

from pathlib import Path
from typing import NamedTuple

import pytest
from agent.build import Session, call
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.branching import abandoned_span, file_lists
from pitree.sessions.context import build_session_context
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.moves import Figures, MovePlan, State, plan_move, prompt_of, weigh_move
from pitree.sessions.outline import files_text, outline, transcript


def work() -> Session:
    """Ask, use two tools, answer; ask again, answer; and an extension's message at the end."""
    made = Session()
    made.user("What fails?")  # 1
    made.calls(call("read", "c1", path="a"), call("edit", "c2", path="b"))  # 2
    made.result("text", "c1")  # 3
    made.result("done", "c2")  # 4
    made.assistant("It is the clock.")  # 5
    made.user("And now?")  # 6
    made.assistant("It works.")  # 7
    made.entry("custom_message", customType="hint", content="Be brief.", display=True)  # 8
    return made


def load(made: Session, folder: Path) -> SessionFile:
    return SessionFile.load(made.write(folder / "session.jsonl"))


class Told(NamedTuple):
    """All that is told of a move."""

    plan: MovePlan
    figures: Figures
    prompt: str


def plan(made: Session, number: int, folder: Path, *, before: bool | None = None) -> Told:
    with load(made, folder) as session:
        return tell(session, f"{number:08x}", before=before)


def tell(session: SessionFile, entry_id: str, *, before: bool | None = None) -> Told:
    entry = session.find(entry_id)
    found = plan_move(session.tree, entry, before=before)
    return Told(found, weigh_move(session, found), prompt_of(session, entry))


def test_after_a_reply(tmp_path: Path) -> None:
    made, figures, _ = plan(work(), 5, tmp_path)
    assert (made.before, made.target_id, made.left) == (False, "00000005", 3)
    assert made.sentence == "Continue after this reply."
    assert (figures.now.messages, figures.then) == (8, (5, 17, 0)), "what the reply at the target counted"
    assert str(figures.then) == "5 messages, 17 tokens"
    assert (figures.open_calls, figures.sound_id) == ((), None)
    assert not made.changes_nothing


def test_a_question_is_asked_again_as_in_pi(tmp_path: Path) -> None:
    made, _, prompt = plan(work(), 6, tmp_path)
    assert (made.before, made.target_id, prompt) == (True, "00000005", "And now?")
    assert made.sentence == "Ask this again differently."
    assert [entry.id for entry in made.span.entries] == ["00000006", "00000007", "00000008"]
    assert [entry.id for entry in made.summary_span.entries] == ["00000007", "00000008"]


def test_the_first_question_has_nothing_before_it(tmp_path: Path) -> None:
    made, figures, _ = plan(work(), 1, tmp_path)
    assert (made.target_id, made.left, figures.then) == (None, 8, (0, 0, 0))
    assert made.sentence == "Ask this again differently, with nothing before it."
    at, figures, _ = plan(work(), 1, tmp_path, before=False)
    assert (at.target_id, str(figures.then)) == ("00000001", "1 message, ~3 tokens")
    assert at.sentence == "Continue after this message, as if it had just been sent."


def test_an_extensions_message_goes_before_as_in_pi(tmp_path: Path) -> None:
    made, _, prompt = plan(work(), 8, tmp_path)
    assert (made.before, made.target_id, prompt) == (True, "00000007", "Be brief.")


def test_where_the_leaf_is_already(tmp_path: Path) -> None:
    made, figures, _ = plan(work(), 8, tmp_path, before=False)
    assert made.changes_nothing
    assert (made.left, figures.now) == (0, figures.then)
    assert made.sentence == "The conversation goes on from here already."


@pytest.mark.parametrize("number", [2, 3])
def test_an_open_end_offers_what_is_below(number: int, tmp_path: Path) -> None:
    _, figures, _ = plan(work(), number, tmp_path)
    assert [one.entry_id for one in figures.open_calls] == ["00000002"] * (4 - number)
    assert figures.sound_id == "00000004", "where both calls are answered"


def test_an_open_end_without_results_offers_what_is_above(tmp_path: Path) -> None:
    made = Session()
    asked = made.user("hi")
    cut = made.calls(call("bash", "c1", command="x"), call("bash", "c2", command="y"))
    half = made.result("one", "c1")
    made.user("elsewhere", asked)
    with load(made, tmp_path) as session:
        for entry_id in (cut, half):
            assert tell(session, entry_id).figures.sound_id == asked
    only = Session()
    only.calls(call("bash", "c1", command="x"))
    assert plan(only, 1, tmp_path).figures.sound_id is None


def test_a_reply_that_failed_leaves_no_call_open(tmp_path: Path) -> None:
    made = Session()
    made.user("hi")
    made.calls(call("bash", "c1", command="x"), stopReason="aborted")
    assert plan(made, 2, tmp_path).figures.open_calls == ()


@given(data=st.data())
def test_a_sound_entry_is_sound(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is offered has no open call, by the context itself, not by the links it was found with."""
    made = Session()
    made.user("hi")
    ids = ["c1", "c2", "c3"]
    for _ in range(data.draw(st.integers(1, 12))):
        parent = data.draw(st.sampled_from([*made.ids()[-2:], made.ids()[0]]))
        kind = data.draw(st.sampled_from(["call", "result", "user", "failed"]))
        chosen = data.draw(st.lists(st.sampled_from(ids), min_size=1, max_size=2, unique=True))
        if kind == "result":
            made.result("x", chosen[0], parent)
        elif kind == "user":
            made.user("more", parent)
        else:
            stop = "error" if kind == "failed" else "toolUse"
            made.calls(*(call("read", one, path="a") for one in chosen), parent=parent, stopReason=stop)
    path = made.write(tmp_path_factory.getbasetemp() / "sound.jsonl")
    with SessionFile.load(path) as session:
        entry_id = data.draw(st.sampled_from(made.ids()))
        figures = tell(session, entry_id, before=False).figures
        if figures.sound_id is not None:
            assert figures.open_calls
            assert build_session_context(session, figures.sound_id).open_calls == []
        elif figures.open_calls:
            above = session.tree.path(entry_id)
            assert all(build_session_context(session, entry.id).open_calls for entry in above)


def test_weighing_can_be_stopped(tmp_path: Path) -> None:
    with load(work(), tmp_path) as session:
        made = plan_move(session.tree, session.find("00000005"))
        with pytest.raises(StoppedError):
            weigh_move(session, made, stop=lambda: True)


def test_a_state_knows_every_line(tmp_path: Path) -> None:
    made = Session()
    made.entry("custom", customType="one", id="same")
    made.entry("custom", None, customType="two", id="same")
    with load(made, tmp_path) as session:
        assert State.of(session.tree) == ("same", 2)


# ---- words about what is left


def test_transcript_and_outline(tmp_path: Path) -> None:
    with load(work(), tmp_path) as session:
        span = abandoned_span(session.tree, session.tree.leaf_id, None)
        files = file_lists(session, span)
        said = transcript(session, span)
        told = outline(session, span, files)
    assert (files.read, files.modified) == (("a",), ("b",))
    assert said.text == (
        "User: What fails?\n\n"
        "Assistant: (called read: a)\n(called edit: b)\n\n"
        "Assistant: It is the clock.\n\n"
        "User: And now?\n\n"
        "Assistant: It works.\n\n"
        "Extension: Be brief."
    )
    assert (said.messages, said.left_out) == (6, 0)
    assert told == (
        "What was asked:\n- What fails?\n- And now?\n\n"
        "Tools were called 2 times.\n\n"
        "Files read:\n- a\n\nFiles changed:\n- b\n\n"
        "The last reply:\nIt works."
    )
    assert files_text(files) in told


def test_a_long_transcript_is_cut_from_the_oldest_end(tmp_path: Path) -> None:
    made = Session()
    for number in range(10):
        made.user(f"{number} " + "x" * 400)
    with load(made, tmp_path) as session:
        span = abandoned_span(session.tree, session.tree.leaf_id, None)
        said = transcript(session, span, 350)
        assert (said.messages, said.left_out) == (10, 7)
        assert said.text.startswith("User: 7 ")
        assert "User: 9 " in said.text
        alone = transcript(session, span, 10)
        assert (alone.left_out, alone.text) == (9, "User: 9 " + "x" * 32)


def test_an_empty_span(tmp_path: Path) -> None:
    with load(work(), tmp_path) as session:
        span = abandoned_span(session.tree, "00000005", "00000008")
        assert (span.entries, span.ancestor_id) == ((), "00000005")
        assert transcript(session, span) == ("", 0, 0)
        assert outline(session, span, file_lists(session, span)) == "Nothing was said on this branch."


def test_long_lists_are_cut_and_say_so(tmp_path: Path) -> None:
    made = Session()
    for number in range(60):
        made.user(f"ask {number}")
        made.calls(call("read", path=f"file {number:02}"))
    with load(made, tmp_path) as session:
        span = abandoned_span(session.tree, session.tree.leaf_id, None)
        told = outline(session, span, file_lists(session, span))
    assert "- (40 earlier)\n- ask 40\n" in told
    assert "- file 49\n- (10 more)" in told
