"""The beginning of a line is read for what it is: the beginning of what the whole line says."""

from pathlib import Path

import pytest
from agent.build import Session, text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.sessions.errors import LineError, SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.jsonl import encode_value, parse_value
from pitree.sessions.structure import made_whole

from .values import json_values, same, texts


def is_beginning(made: object, whole: object) -> bool:
    """Tell whether `made` is `whole`, or what is left of it when its end is cut off."""
    if isinstance(made, dict) and isinstance(whole, dict):
        keys = list(made)
        inner = all(same(made[key], whole[key]) for key in keys[:-1])
        return (
            keys == list(whole)[: len(keys)]
            and inner
            and all(is_beginning(made[k], whole[k]) for k in keys[-1:])
        )
    if isinstance(made, list) and isinstance(whole, list):
        inner = all(same(one, other) for one, other in zip(made[:-1], whole, strict=False))
        pairs = zip(made[-1:], whole[len(made) - 1 :], strict=False)
        return len(made) <= len(whole) and inner and all(is_beginning(*pair) for pair in pairs)
    if isinstance(made, str) and isinstance(whole, str):
        return whole.startswith((made, made[:-1]))  # half a character is still one
    return same(made, whole)


@given(value=st.dictionaries(texts, json_values, min_size=1, max_size=4), data=st.data())
def test_what_is_made_whole_is_a_beginning(value: dict[str, object], data: st.DataObject) -> None:
    encoded = encode_value(value)
    cut = data.draw(st.integers(1, len(encoded)))
    whole = parse_value(encoded)
    found = [one for candidate in made_whole(encoded[:cut]) if (one := parsed(candidate)) is not None]
    assert all(is_beginning(one, whole) for one in found), found
    if cut == len(encoded):
        assert same(found[0], whole)


def parsed(data: bytes) -> object:
    try:
        return parse_value(data)
    except LineError:
        return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.text(st.characters(codec="utf-8"), min_size=30, max_size=60), limit=st.integers(180, 200))
def test_the_beginning_of_an_entry(tmp_path: Path, words: str, limit: int) -> None:
    made = Session()
    made.message("toolResult", toolCallId="x", content=[text(words)], isError=True)
    with SessionFile.load(made.write(tmp_path / "session.jsonl", ascii_only=False)) as session:
        entry = session.entries[0]
        assert session.beginning(entry, entry.length) == session.body(entry)
        beginning = session.beginning(entry, limit)
        assert is_beginning(beginning, session.body(entry))
        assert beginning["message"]["toolCallId"] == "x"
        session.close()
        with pytest.raises(SessionError, match="is closed"):
            session.beginning(entry, limit)


def test_of_an_older_version_it_is_migrated(tmp_path: Path) -> None:
    made = Session(version=2)
    made.message("hookMessage", content="x" * 500)
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        message = session.beginning(session.entries[0], 300)["message"]
    assert (message["role"], set(message["content"])) == ("custom", {"x"})


def test_bytes_that_say_nothing(tmp_path: Path) -> None:
    made = Session()
    made.user("x")
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as session:
        assert session.beginning(session.entries[0], 3) == {}
