"""The end of a long session: what it shows is what the whole session shows above its leaf."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions import glimpse
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.glimpse import Glimpse
from pitree.sessions.rows import visible_rows


def header() -> bytes:
    return b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}'


def user(text: str, **fields: object) -> bytes:
    message = {"role": "user", "content": text}
    entry = {"type": "message", **fields, "timestamp": "2026-01-01T00:00:00.000Z", "message": message}
    return json.dumps(entry).encode()


@pytest.fixture(autouse=True)
def _everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glimpse, "WORTH_IT_BYTES", 0)


def write(path: Path, parents: list[int | None]) -> Path:
    lines = [header()]
    for number, parent in enumerate(parents):
        above = None if parent is None else f"{parent:08x}"
        lines.append(user(f"text {number}", id=f"{number:08x}", parentId=above))
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


@given(data=st.data())
def test_its_rows_are_the_first_rows_of_the_whole(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    count = data.draw(st.integers(1, 40))
    parents = [
        data.draw(st.one_of(st.none(), st.integers(0, number - 1))) if number else None
        for number in range(count)
    ]
    path = write(tmp_path_factory.mktemp("glimpse") / "s.jsonl", parents)
    with SessionFile.load(path) as whole, pytest.MonkeyPatch.context() as patch:
        patch.setattr(glimpse, "_FIRST_BYTES", data.draw(st.integers(50, path.stat().st_size)))
        patch.setattr(glimpse, "_SCREENFUL", data.draw(st.integers(1, 5)))
        patch.setattr(glimpse, "_MOST_BYTES", 300)
        end = Glimpse.of(path)
        if end is None:
            return  # the last line alone is longer than what was looked at
        with end:
            assert not end.complete
            assert end.tree.leaf_id == whole.tree.leaf_id
            for name in FILTERS:
                shown = [row.entry.id for row in visible_rows(end.tree, name)]
                full = visible_rows(whole.tree, name)
                above = [row.entry.id for row in full if row.on_path]
                assert shown == above[len(above) - len(shown) :]
                assert [row.entry.id for row in full][: len(above)] == above, "nothing else is drawn above"
            for entry in end.entries:
                assert end.body(entry) == whole.body(whole.find(entry.id))
                assert not end.tree.notes(entry)


def test_where_it_is_not_possible(tmp_path: Path) -> None:
    for name, content in {
        "empty": b"",
        "other": b'{"type":"message","id":"A","parentId":null}\n',
        "version1": b'{"type":"session","id":"s"}\n{"type":"message","message":{"role":"user"}}\n',
        "version4": b'{"type":"session","version":4,"id":"s"}\n',
        "only a header": header() + b"\n",
        "no newline": header(),
        "leaf": header() + b"\n" + b'{"type":"leaf","id":"L","parentId":null,"targetId":"A"}\n',
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert Glimpse.of(path) is None, name


def test_a_cycle_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [header(), user("a", id="A", parentId="B"), user("b", id="B", parentId="A")]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    end = Glimpse.of(path)
    assert end is not None
    with end:
        assert [entry.id for entry in end.entries] == ["A", "B"]


def test_a_short_file_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glimpse, "WORTH_IT_BYTES", 8 << 20)
    assert Glimpse.of(write(tmp_path / "s.jsonl", [None, 0])) is None
