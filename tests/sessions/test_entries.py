"""From a line to an entry: the quick way, the exact way, and that they are one."""

import json
from copy import deepcopy

import msgspec
import pytest
from agent.build import call, text
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions import entries
from pitree.sessions.entries import Entry, JsonObject, decode_entry
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line, parse_value

from .lines import EVERY_LINE, entry_of, hostile_lines, line_of, named
from .values import thorough

each_line = pytest.mark.parametrize("line", EVERY_LINE, ids=named)


def exact(line: Line) -> Entry | JsonObject:
    """Decode by the way that looks at the whole value."""
    return entries._entry_from_value(line, parse_value(line.data))


def fields(entry: Entry | JsonObject) -> object:
    return entry if isinstance(entry, dict) else msgspec.structs.asdict(entry)


@each_line
def test_well_formed_lines_take_the_quick_way(line: JsonObject, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = fields(exact(line_of(line)))
    monkeypatch.setattr(entries, "_entry_from_value", None)
    assert fields(decode_entry(line_of(line))) == wanted


@each_line
def test_well_formed_lines_have_nothing_wrong_with_them(line: JsonObject) -> None:
    entry = entry_of(line)
    assert entry.notes == ()
    assert (entry.id, entry.parent_id, entry.type) == ("aaaaaaaa", "bbbbbbbb", line["type"])
    assert (entry.line, entry.offset, entry.length) == (7, 700, len(line_of(line).data))
    assert entry.timestamp == line["timestamp"]


@thorough
@given(hostile_lines())
def test_both_ways_give_the_same_entry(value: JsonObject) -> None:
    line = line_of(value)
    assert fields(decode_entry(line)) == fields(exact(line))


_BYTES = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b" ",
    b"\x00",
    b"\n",
    b"\xff",
    b"0",
    b"-",
    b"e",
    b"null",
]


@thorough
@given(
    line=st.sampled_from(EVERY_LINE),
    edits=st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from([b"", *_BYTES])),
        min_size=1,
        max_size=3,
    ),
)
def test_a_line_is_an_entry_just_when_its_body_can_be_read(
    line: JsonObject, edits: list[tuple[int, int, bytes]]
) -> None:
    data = json.dumps(line).encode()
    for place, removed, added in edits:
        data = data[:place] + added + data[place + removed :]
    try:
        body = parse_value(data)
    except LineError:
        body = None
    if isinstance(body, dict):
        assert fields(decode_entry(Line(7, 700, data))) == fields(exact(Line(7, 700, data)))
    else:
        with pytest.raises(LineError):
            decode_entry(Line(7, 700, data))


def changed(line: JsonObject, **changes: object) -> JsonObject:
    return {**deepcopy(line), **changes}


def without(line: JsonObject, *keys: str) -> JsonObject:
    return {key: value for key, value in line.items() if key not in keys}


USER, ASSISTANT = EVERY_LINE[0], EVERY_LINE[2]
INFO = next(line for line in EVERY_LINE if line["type"] == "session_info")
LABEL = next(line for line in EVERY_LINE if line["type"] == "label")

NOTED: list[tuple[JsonObject, tuple[str, ...]]] = [
    (without(USER, "id"), ("id is missing",)),
    (changed(USER, id=None), ("id is missing",)),
    (changed(USER, id=""), ("id is empty",)),
    (changed(USER, id=5), ("id is a number",)),
    (changed(USER, parentId=5), ("parentId is a number",)),
    (changed(USER, parentId=[]), ("parentId is an array",)),
    (changed(USER, type=None), ("type is missing",)),
    (changed(USER, type=False), ("type is a boolean",)),
    (without(USER, "timestamp"), ("timestamp is missing",)),
    (changed(USER, timestamp={}), ("timestamp is an object",)),
    (without(USER, "message"), ("message is missing",)),
    (changed(USER, message="text"), ("message is a string",)),
    (changed(USER, message={}), ("role is missing",)),
    (changed(USER, message={"role": None}), ("role is missing",)),
    (changed(USER, message={"role": ["user"]}), ("role is an array",)),
    (changed(LABEL, targetId=1), ("targetId is a number",)),
    (changed(LABEL, label=2.5), ("label is a number",)),
    (changed(INFO, name=True), ("name is a boolean",)),
    (changed(USER, id=1, timestamp=2), ("id is a number", "timestamp is a number")),
]


@pytest.mark.parametrize(("line", "notes"), NOTED, ids=[" ".join(notes) for _, notes in NOTED])
def test_what_is_wrong_is_noted(line: JsonObject, notes: tuple[str, ...]) -> None:
    assert entry_of(line).notes == notes


def test_an_entry_without_a_usable_id_is_known_by_its_line() -> None:
    for odd in (None, 5, list[str](), ""):
        assert entry_of(changed(USER, id=odd)).id == "line:7"


def test_what_other_types_keep_under_those_names_is_their_own() -> None:
    odd: JsonObject = {"targetId": 5, "label": {}, "name": [1]}
    for kind in ("custom", "usage", "of_a_later_version", "model_change"):
        assert entry_of({**USER, "type": kind, "message": None, **odd}).notes == ()
    assert entry_of(changed(USER, **odd)).notes == ()


def test_a_name_is_a_name_whatever_else_stands_beside_it() -> None:
    entry = entry_of(changed(INFO, targetId="bbbbbbbb", label="x"))
    assert entry.text == "a name"


TIMES = {
    1767323046000: "2026-01-02T03:04:06.000Z",
    1767323046000.9: "2026-01-02T03:04:06.000Z",
    -1: "1969-12-31T23:59:59.999Z",
    -50000000000000: "0385-07-25T07:06:40.000Z",
    8.64e15: "",  # a date for JavaScript, in the year 275760
    1e300: "",
    10**400: "",
}


@pytest.mark.parametrize("number", TIMES, ids=lambda number: str(number)[:20])
def test_a_number_for_a_timestamp_counts_as_milliseconds(number: float) -> None:
    assert entry_of(changed(USER, timestamp=number)).timestamp == TIMES[number]


def test_null_is_the_beginning_of_time_and_nothing_is_none() -> None:
    assert entry_of(changed(USER, timestamp=None)).timestamp == "1970-01-01T00:00:00.000Z"
    assert entry_of(without(USER, "timestamp")).timestamp == ""


CONTENTS: list[tuple[object, bool, tuple[str, ...]]] = [
    ("said", True, ()),
    (" \n", False, ()),
    ("\ufeff\u3000", False, ()),  # blank for JavaScript
    ("\x1c", True, ()),  # blank for Python only
    (None, False, ()),
    (5, False, ()),
    ({}, False, ()),
    ([], False, ()),
    ([text("")], False, ()),
    ([text(" "), text("x")], True, ()),
    ([{"type": "thinking", "thinking": "x", "text": "no"}], False, ()),
    ([{"type": "text", "text": 5}], False, ()),
    (["a string", None, 5, text("x")], True, ()),
    ([call("a", "1"), call("b", "2")], False, ("1", "2")),
    ([{"type": "toolCall"}, {"type": "toolCall", "id": 5}, {"type": "toolCall", "id": "3"}], False, ("3",)),
    ([[call("a", "1")]], False, ()),
]


@pytest.mark.parametrize(("content", "has_text", "calls"), CONTENTS, ids=repr)
def test_what_an_assistant_says_and_calls(content: object, has_text: bool, calls: tuple[str, ...]) -> None:
    entry = entry_of(changed(ASSISTANT, message={"role": "assistant", "content": content}))
    assert (entry.has_text, entry.calls) == (has_text, calls)


STOPS: list[tuple[object, bool]] = [
    ("stop", False),
    ("toolUse", False),
    ("", False),
    (None, False),
    (0, False),
    (False, False),
    ("length", True),
    ("error", True),
    ("aborted", True),
    ("deferred", True),
    (1, True),
    ([], True),
    ({}, True),
]


@pytest.mark.parametrize(("reason", "badly"), STOPS, ids=repr)
def test_how_a_reply_ended(reason: object, badly: bool) -> None:
    entry = entry_of(changed(ASSISTANT, message={"role": "assistant", "stopReason": reason}))
    assert entry.ended_badly is badly


def test_a_header_is_given_whole() -> None:
    header = {"type": "session", "id": "x", "version": 3, "message": {"role": 5}, "extra": [1]}
    assert decode_entry(line_of(header)) == header


@pytest.mark.parametrize("value", [None, True, 0, "text", [], [{}]], ids=repr)
def test_a_line_that_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(LineError, match="not an object but"):
        decode_entry(line_of(value))


@pytest.mark.parametrize("depth", [200, 500, 900, 960, 980, 1000, 1100, 100_000])
@pytest.mark.parametrize("kind", ["custom", "assistant", "call"])
def test_nesting_costs_at_most_the_line(kind: str, depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    start = json.dumps(changed(USER, type="custom" if kind == "custom" else "message")).encode()[:-1]
    middle = {
        "custom": b',"message":null,"data":%s}',
        "assistant": b',"message":{"role":"assistant","content":%s}}',
        "call": b',"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","arguments":%s}]}}',
    }[kind]
    line = Line(7, 700, start + middle % deep)
    try:
        parse_value(line.data)
    except LineError:
        with pytest.raises(LineError):
            decode_entry(line)
    else:
        assert fields(decode_entry(line)) == fields(exact(line))
