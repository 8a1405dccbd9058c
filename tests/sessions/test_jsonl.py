"""Bytes and JSON values: lines from chunks, values from lines and back."""

import json
from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line, LineCutter, encode_value, parse_value

from .values import json_values, same

_pieces = st.lists(st.sampled_from([b"\n", b"\n\n", b"\r\n", b"a", b"\x00" * 5, "é\u2028".encode(), b"{}"]))


@given(data=_pieces.map(b"".join), cuts=st.lists(st.integers(0, 60)), look=st.booleans())
@example(data=b"", cuts=[], look=True)
@example(data=b"\n", cuts=[0, 0, 1, 1], look=True)
@example(data=b"one\ntwo", cuts=[1, 2, 3, 4, 5, 6], look=True)
def test_lines_do_not_depend_on_the_chunks(data: bytes, cuts: list[int], look: bool) -> None:
    cutter = LineCutter()
    found: list[Line] = []
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in pairwise(places):
        found += cutter.feed(data[start:end])
        if look:  # asking for the tail changes nothing
            assert cutter.tail.data == data[:end].rpartition(b"\n")[2]
    *whole, rest = data.split(b"\n")
    offsets = [sum(len(line) + 1 for line in whole[:place]) for place in range(len(whole) + 1)]
    assert found == [Line(place + 1, offsets[place], line) for place, line in enumerate(whole)]
    assert cutter.tail == Line(len(whole) + 1, offsets[-1], rest)


def test_a_line_of_very_many_chunks_costs_what_its_bytes_cost() -> None:
    cutter = LineCutter()
    for _ in range(200_000):  # joined anew for each of them, this would copy terabytes
        assert cutter.feed(b"x" * 64) == []
    (line,) = cutter.feed(b"\n")
    assert len(line.data) == 64 * 200_000


@given(json_values)
def test_what_is_written_is_read_again(value: object) -> None:
    line = encode_value(value)
    assert b"\n" not in line
    assert same(parse_value(line), value)


@given(json_values)
def test_both_ways_of_reading_agree(value: object) -> None:
    # A long run of digits makes the whole line take the exact way.
    plain = json.dumps(value, default=str)
    quick = parse_value(plain.encode("ascii"))
    exact = parse_value(f"[{plain},12345678901234567]".encode("ascii"))[0]
    assert same(exact, quick)


LONG = "9" * 5000
NUMBERS = {
    "0": 0,
    "-1": -1,
    "18446744073709551615": 2**64 - 1,
    "18446744073709551616": 2**64,
    "-9223372036854775809": -(2**63) - 1,
    "12345678901234567890123": 12345678901234567890123,
    "9007199254740993": 9007199254740993,
    LONG: Decimal(LONG),
    f"-{LONG}": Decimal(f"-{LONG}"),
    "1e400": Decimal("1e400"),
    "-1.5e400": Decimal("-1.5e400"),
    "1.0": 1.0,
    "-0.0": -0.0,
    "5e-324": 5e-324,
    "1e-400": 0.0,
    "0.1": 0.1,
}


@pytest.mark.parametrize("written", NUMBERS, ids=lambda written: written[:30])
def test_numbers_of_any_size(written: str) -> None:
    value = parse_value(written.encode())
    assert same(value, NUMBERS[written])
    assert same(parse_value(encode_value(value)), value)
    assert same(parse_value(encode_value({"in": [value, "9" * 20]})), {"in": [value, "9" * 20]})


def test_a_number_of_5000_digits_is_written_as_it_was() -> None:
    line = f'{{"big":{LONG},"list":[-{LONG}],"text":"\u00e9"}}'.encode()
    assert json.loads(encode_value(parse_value(line)), parse_int=str) == json.loads(line, parse_int=str)


def test_a_text_cannot_pass_itself_off_as_a_number() -> None:
    value = {"number": Decimal(LONG), "text": "0:0", "another": '"0:0"'}
    assert same(parse_value(encode_value(value)), value)


TEXTS = {
    rb'"\ud83d"': "\ud83d",
    rb'"\udc00 \ud83d\ude00"': "\udc00 😀",
    rb'"\ud83d\u0041"': "\ud83dA",
    b'"a\xe2\x80\xa8b\xe2\x80\xa9c\xc2\x85d"': "a\u2028b\u2029c\x85d",
    b'{"a":1}\r': {"a": 1},
    b' \t{"a" :\r [ ] } ': {"a": []},
    b'"\xff"': "\ufffd",
    # (as the web's decoders do it: one mark for each part that cannot begin a character)
    b'"\xed\xa0\x80"': "\ufffd\ufffd\ufffd",
    b'"\xf0\x9f\x98"': "\ufffd",
    b'"\xc0\xaf"': "\ufffd\ufffd",
    b'"\\u0000"': "\x00",
    b'{"a":1,"a":2}': {"a": 2},
    b'{"__proto__":1}': {"__proto__": 1},
}


@pytest.mark.parametrize("line", TEXTS, ids=repr)
def test_texts_are_read_as_javascript_reads_them(line: bytes) -> None:
    assert same(parse_value(line), TEXTS[line])


REFUSED = [
    b"",
    b" ",
    b"NaN",
    b'{"a":NaN}',
    b"[Infinity]",
    b"[-Infinity]",
    b"\x00\x00\x00",
    b'\x00{"a":1}',
    b'\xef\xbb\xbf{"a":1}',
    b'{"a":1}{"b":2}',
    b"{'a':1}",
    b"[1,]",
    b"01",
    b"1.",
    b'"\t"',
    b'"\\x"',
    b'{"a":1',
    b"\xff",
    b"[" * 200_000,
    b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    b"1e999999999999999999999",
    b'{"a":[-1e999999999999999999999]}',
]


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: repr(line[:40]))
def test_what_is_no_json_is_refused_with_a_reason(line: bytes) -> None:
    with pytest.raises(LineError) as refused:
        parse_value(line)
    assert str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("depth", [253, 254, 255, 300, 900, 990, 1000, 1010, 1024])
def test_what_can_be_read_can_be_written_however_deep(depth: int) -> None:
    line = b'{"a":[' * (depth // 2) + b"]}" * (depth // 2)
    try:
        value = parse_value(line)
    except LineError as error:
        assert str(error) == "nested too deeply"  # noqa: PT017 - refusing it is right, too
        assert depth >= 900
    else:
        assert encode_value(value) == line


ENDLESS = [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Decimal("Infinity")]


class Odd:
    """Nothing that JSON knows."""

    def __repr__(self) -> str:
        return "Odd()"


@pytest.mark.parametrize(
    "value",
    [*ENDLESS, Odd(), b"bytes", {1, 2}, {1: 2}, {None: 2}, 10**5000, date(2026, 1, 2)],
    ids=lambda value: repr(value) if not isinstance(value, int) else "a long number",
)
@pytest.mark.parametrize("place", ["alone", "inside", "beside a surrogate"])
def test_what_json_cannot_hold_is_not_written(value: object, place: str) -> None:
    whole = {"alone": value, "inside": {"a": [value]}, "beside a surrogate": ["\ud83d", value]}[place]
    with pytest.raises(LineError):
        encode_value(whole)


def test_a_value_that_holds_itself_is_not_written() -> None:
    inner: list[object] = [1]
    inner.append({"again": [inner, inner]})
    with pytest.raises(LineError, match="nested too deeply, or in itself"):
        encode_value(inner)
