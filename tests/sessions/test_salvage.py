"""What a torn line swallowed comes back where it is whole; nothing else ever does."""

import json
from pathlib import Path
from typing import Any

import pytest
from agent.build import Session, call, encode, moment
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.entries import JsonObject, decode_entry
from pitree.sessions.file import SessionFile
from pitree.sessions.jsonl import Line
from pitree.sessions.salvage import swallowed

from .lines import EVERY_LINE
from .values import plain_values, texts

WHOLE: JsonObject = {
    "type": "message",
    "id": "whole001",
    "parentId": None,
    "timestamp": moment(3),
    "message": {"role": "user", "content": 'a "quoted" \\ {"type":"text","id":"x"} [}'},
}
NOTE = ("recovered from a torn line; Pi does not see it",)


def dump(value: object) -> bytes:
    return encode([value])[:-1] if isinstance(value, dict) else json.dumps(value).encode()


def ids(data: bytes) -> list[str]:
    """Give the ids that come back, after a look at where they are said to be."""
    found = swallowed(Line(7, 700, data))
    for entry in found:
        assert (entry.line, entry.notes) == (7, NOTE)
        stretch = data[entry.offset - 700 :][: entry.length]
        assert json.loads(stretch)["id"] == entry.id
    return [entry.id for entry in found]


TORN = dump({**WHOLE, "id": "torn0001"})
nested = {"type": "custom", "customType": "c", "id": "nested01", "parentId": None, "timestamp": moment(1)}


@pytest.mark.parametrize("cut", range(1, len(TORN)))
def test_wherever_a_line_is_torn(cut: int) -> None:
    expected = [] if TORN[:cut].endswith(b":") and not_in_string(TORN[:cut]) else ["whole001"]
    assert ids(TORN[:cut] + dump(WHOLE)) == expected


def not_in_string(data: bytes) -> bool:
    return data.replace(b"\\\\", b"").replace(b'\\"', b"").count(b'"') % 2 == 0


SOME: dict[str, tuple[bytes, list[str]]] = {
    "two of them": (TORN[:30] + dump(WHOLE) + dump({**WHOLE, "id": "whole002"}), ["whole001", "whole002"]),
    "two glued": (
        dump(WHOLE) + b" \t" + dump({**WHOLE, "id": "whole002"}) + b" \r",
        ["whole001", "whole002"],
    ),
    "three torn": (TORN[:30] + TORN[:50] + TORN[:70] + dump(WHOLE), ["whole001"]),
    "behind NULs": (b"\x00" * 5000 + dump(WHOLE), ["whole001"]),
    "behind bytes that are no text": (b"\xff\xfe" + dump(WHOLE), ["whole001"]),
    "behind a lone quote": (b'"' + dump(WHOLE), ["whole001"]),
    "behind blanks and a comma": (TORN[:-1] + b" , " + dump(WHOLE), ["whole001"]),
    "torn itself": (TORN[:30] + dump(WHOLE)[:-1], []),
    "more behind it": (TORN[:30] + dump(WHOLE) + b"x", []),
    "a value torn just behind": (b'{"type":"custom","data":' + dump(nested), []),
    "an item torn just behind": (b'{"type":"custom","data":[ ' + dump(nested), []),
    "a second item torn just behind": (b'{"type":"custom","data":[1,' + dump(nested), []),
    "a member where a key has to be": (b'{"type":"custom","data":1,' + dump(nested), ["nested01"]),
    "a member behind an array": (b'{"type":"custom","data":[1],' + dump(nested), ["nested01"]),
    "a value in a line that is bad before": (b'\x00{"type":"custom","data":' + dump(nested) + b"}", []),
    "inside arguments": (dump({**WHOLE, "message": call("t", x=nested)})[:-3], []),
    "escaped in a text": (TORN[:40] + dump(json.dumps(nested))[1:], []),
    "without a parentId": (TORN[:30] + dump({**nested, "parentId": 0}).replace(b'"parentId":0,', b""), []),
    "odd types": (TORN[:30] + dump({**nested, "id": 5}), []),
    "a header": (TORN[:30] + dump({"type": "session", "id": "s", "parentId": None, "timestamp": "x"}), []),
    "no object": (b'{"a"[1]', []),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", SOME)
def test_some(name: str) -> None:
    data, expected = SOME[name]
    assert ids(data) == expected


@st.composite
def torn_entries(draw: st.DrawFn) -> bytes:
    """Tear an entry with entries in its values, arrays and texts at any place."""
    inner: Any = draw(
        st.sampled_from([nested, [nested], [1, nested], {"a": {"b": nested}}, json.dumps(nested)])
        | plain_values
    )
    line = {**draw(st.sampled_from(EVERY_LINE)), "extra": [inner, {"x": inner}], "more": draw(texts)}
    data = json.dumps(line, separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode()
    return data[: draw(st.integers(1, len(data) - 1))]


@given(torn=torn_entries())
def test_nothing_is_made_up_of_a_torn_entry(torn: bytes) -> None:
    assert ids(torn) == []
    assert ids(b"\x00" + torn) == []


@given(torn=torn_entries(), entry=st.sampled_from(EVERY_LINE), second=st.booleans())
def test_the_swallowed_entry_comes_back(torn: bytes, entry: JsonObject, second: bool) -> None:
    whole = {**entry, "id": "whole001"}
    expected = ["whole001"]
    data = torn + dump(whole)
    if second:
        data += dump({**whole, "id": "whole002"})
        expected.append("whole002")
    if torn.rstrip()[-1:] in b":[," and not_in_string(torn):
        # it could as well be a value of the torn entry, so it is left alone
        assert ids(data) in (expected, expected[1:])
    else:
        assert ids(data) == expected


def test_the_chain_is_whole_again(tmp_path: Path) -> None:
    made = Session()
    first = made.user("one")
    torn = made.assistant("two")
    third = made.user("three", first)
    made.assistant("four")
    lines = made.encoded().split(b"\n")
    lines[2:4] = [lines[2][:50] + lines[3]]
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\n".join(lines))
    with SessionFile.load(path) as session:
        assert [entry.id for entry in session.tree.path(session.tree.leaf_id)] == [first, third, "00000004"]
        assert session.body(session.entries[1])["message"]["content"] == "three"
        assert [(damage.line, damage.entry_id) for damage in session.damage] == [(3, None), (3, third)]
    assert torn


def test_the_work_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every byte is looked at a fixed number of times: counted, not timed."""
    tried: list[int] = []

    def counting(line: Line) -> Any:  # noqa: ANN401 - what the real one gives
        tried.append(len(line.data))
        return decode_entry(line)

    monkeypatch.setattr("pitree.sessions.salvage.decode_entry", counting)
    many = dump(nested) * 2000
    found: list[str] = []
    for data in (
        b'{"torn":' + b'{"type":"x","id":"' * 20_000 + b"}",
        b'{"torn":[' + (dump(nested) + b",") * 2000 + dump(nested),
        b"{" * 100_000 + b"}" * 99_999,
        b'"' * 100_001 + b"}",
        b"\\" * 100_001 + b'"}',
        b'{"torn' + many,
    ):
        tried.clear()
        found = ids(data)
        assert sum(tried) <= len(data)
        assert len(tried) <= len(found) + 2
    assert len(found) == 2000
