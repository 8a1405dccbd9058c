"""Lines nested too deeply for any parser: the entry stays in its place, and only the depths are left out."""

import json
from pathlib import Path

import pytest
from agent.build import Session, moment
from hypothesis import given
from hypothesis import strategies as st

from pitree import SessionManager
from pitree.cli import main
from pitree.sessions.errors import InvalidValueError
from pitree.sessions.file import SessionFile
from pitree.sessions.intake import TOO_DEEP
from pitree.sessions.structure import shallow, tokens, tokens_backwards

from .values import plain_values

DEPTH = 200_000
KINDS = {
    "arrays": (b"[", b"1", b"]"),
    "objects": (b'{"a":', b'"[{"', b"}"),
    "both": (b'[{"a":', b"null", b"}]"),
}


def line(kind: str, **more: object) -> bytes:
    opened, bottom, closed = KINDS[kind]
    entry = {"type": "custom", "id": "deep0001", "parentId": "00000001", "timestamp": moment(2), **more}
    start = json.dumps({**entry, "data": "DEEP"}).encode()
    return start.replace(b'"DEEP"', opened * DEPTH + bottom + closed * DEPTH)


def session(deep: bytes, **header: object) -> bytes:
    made = Session(**header)
    made.user("before")
    made.raw(deep)
    made.user("after", "deep0001")
    return made.encoded()


@pytest.mark.parametrize("kind", KINDS)
def test_the_chain_stays_whole(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(session(line(kind, customType="c")))
    with SessionFile.load(path) as file:
        assert [entry.id for entry in file.tree.path(file.tree.leaf_id)] == [
            "00000001",
            "deep0001",
            "00000002",
        ]
        deep = file.entries[1]
        body = file.body(deep)
        assert (body["customType"], body["parentId"]) == ("c", "00000001")
        assert file.raw(deep) == line(kind, customType="c")
        assert [(damage.line, damage.reason, damage.entry_id) for damage in file.damage] == [
            (3, TOO_DEEP, deep.id)
        ]


def test_it_is_shown_and_written_beside(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(session(line("arrays")))
    for command in (["tree", str(path)], ["context", str(path)], ["show", str(path), "deep0001"]):
        for more in ([], ["--json"]):
            assert main([*command, *more]) in (None, 0)
            assert capfd.readouterr().out
    with SessionManager.open(path) as manager:
        manager.append_session_info("fine")
        assert path.read_bytes().startswith(session(line("arrays")))
        with pytest.raises(InvalidValueError, match="deep0001 on line 3 cannot be written anew"):
            manager.create_branched_session("00000002")
        with SessionManager.in_memory() as copy, pytest.raises(InvalidValueError, match="written anew"):
            copy.set_session_file(path)
        with SessionManager.fork_from(path, tmp_path, tmp_path / "forks") as fork:
            forked = fork.get_session_file()
        assert forked is not None
        assert line("arrays") in forked.read_bytes()


def test_an_old_version_of_it_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(session(line("arrays"), version=2))
    with SessionManager.open(path) as manager, pytest.raises(InvalidValueError, match="written anew"):
        manager.append_session_info("x")
    assert path.read_bytes() == session(line("arrays"), version=2)
    assert [made.name for made in tmp_path.iterdir()] == ["session.jsonl"]


BAD = {
    "unclosed": b'{"type":"custom","id":"x","data":' + b"[" * DEPTH,
    "closed wrongly": b'{"type":"custom","id":"x","data":' + b"[" * DEPTH + b"}" * DEPTH + b"}",
    "closed too often": b'{"type":"custom","id":"x","data":'
    + b"[" * DEPTH
    + b"]" * (DEPTH + 5)
    + b"}"
    + b"]" * 600,
    "only closed": b"{" * 300 + b"]" * DEPTH,
    "no JSON at the bottom": b'{"type":"custom","id":"x","data":' + b"[" * DEPTH + b"x" + b"]" * DEPTH + b"}",
    "in an open string": b'{"type":"custom","id":"x","data":"' + b"[" * DEPTH + b"]" * DEPTH + b"}",
    "an array": b"[" * DEPTH + b"]" * DEPTH,
    "a header": b'{"type":"session","id":"x","metadata":' + b"[" * DEPTH + b"]" * DEPTH + b"}",
}


@pytest.mark.parametrize("name", BAD)
def test_what_costs_its_line(name: str, tmp_path: Path) -> None:
    made = Session()
    made.user()
    made.raw(BAD[name])
    made.user()
    with SessionFile.load(made.write(tmp_path / "session.jsonl")) as file:
        assert [entry.id for entry in file.entries] == ["00000001", "00000002"]
        assert [damage.line for damage in file.damage] == [3]


def without_depths(value: object, levels: int) -> object:
    """Put None in the place of what is more than so many levels deep."""
    if isinstance(value, list):
        return [without_depths(inner, levels - 1) for inner in value] if levels else None
    if isinstance(value, dict):
        return {key: without_depths(inner, levels - 1) for key, inner in value.items()} if levels else None
    return value


@given(value=plain_values, depth=st.integers(240, 600))
def test_only_the_depths_are_left_out(value: object, depth: int) -> None:
    """Against a parser that bears these depths."""
    data = b"[" * depth + json.dumps([value, '[{]}\\"', [[[]]]]).encode() + b', {"a":[]}]' * depth
    cut = shallow(data)
    assert json.loads(cut or data) == without_depths(json.loads(data), 255)
    assert cut is not None or depth < 256


@pytest.mark.parametrize("row", [1, 2, 7, 300])
def test_backwards_is_the_same(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pitree.sessions.structure._STRETCH_BYTES", 5)
    data = (b'{"a\\"b' + b"\\" * row + b'":[1,2],}') * 20
    assert list(tokens_backwards(data)) == list(tokens(data))[::-1]
