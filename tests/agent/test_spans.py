"""What a move leaves behind, and the files of it, is what Pi would summarize."""

from pathlib import Path
from typing import Any, cast

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pitree.sessions.branching import abandoned_span, file_lists, span_messages
from pitree.sessions.file import SessionFile

from .build import Session, call
from .oracle import Oracle, OracleError
from .strategies import sessions

PATHS = ["a", "b/c", "\U0001f600", "\uffee", "é"]


@st.composite
def working_sessions(draw: st.DrawFn) -> tuple[Session, str, str]:
    """Make a session with file tools and summaries among its entries; and two entries of it."""
    made = draw(sessions())
    for _ in range(draw(st.integers(1, 8))):
        parent = draw(st.sampled_from([None, *made.ids()]))
        tool, path = draw(st.sampled_from(["read", "write", "edit", "bash"])), draw(st.sampled_from(PATHS))
        if draw(st.integers(0, 3)):
            made.calls(
                call(tool, path=path), call("read", path=draw(st.sampled_from([*PATHS, 5]))), parent=parent
            )
        else:
            details = {
                "readFiles": [path],
                "modifiedFiles": draw(st.lists(st.sampled_from(PATHS), max_size=2)),
            }
            more = {"fromHook": True} if draw(st.booleans()) else {}
            made.summary("kept", "root", parent, details=details, **more)
        if draw(st.integers(0, 4)) == 0:
            made.edit(draw(st.sampled_from(made.ids())), draw(st.sampled_from([None, "other words"])))
    ids = made.ids()
    return made, draw(st.sampled_from(ids)), draw(st.sampled_from(ids))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chosen=working_sessions())
def test_random_spans(oracle: Oracle, folder: Path, chosen: tuple[Session, str, str]) -> None:
    made, leaf, target = chosen
    path = made.write(folder / "session.jsonl", ascii_only=False)
    try:
        request = {"op": "span", "path": str(path), "leaf": leaf, "target": target}
        theirs = cast("dict[str, Any]", oracle.ask(request))
    except OracleError:
        assume(False)  # noqa: FBT003 - Pi trips over a message without content
        raise
    with SessionFile.load(path) as session:
        span = abandoned_span(session.tree, leaf, target)
        assert (span.ancestor_id, [entry.id for entry in span.entries]) == (
            theirs["ancestor"],
            theirs["entries"],
        )
        said = [comparable(message) for _, message in span_messages(session, span) if not is_empty(message)]
        assert said == [comparable(message) for message in theirs["messages"] if not is_empty(message)]
        files = file_lists(session, span)
        assert files.details() == {name: theirs[name] for name in ("readFiles", "modifiedFiles")}


def is_empty(message: dict[str, Any]) -> bool:
    # (an empty branch summary, which no context holds, Pi puts into its own prompt)
    return message["role"] == "branchSummary" and not message["summary"]


def comparable(message: dict[str, Any]) -> tuple[Any, ...]:
    content = message.get("content")
    return message["role"], message.get("summary"), [] if content is None else content
