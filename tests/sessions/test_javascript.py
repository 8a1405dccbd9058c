"""JavaScript's rules; the right values are those that Node gives."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.sessions.javascript import iso_from_ms, time_ms, trim, truthy

from .values import plain_values, texts

DAY = 1767312000000.0  # 2026-01-02

TIMES: dict[object, float | None] = {
    "2026-01-02T03:04:05.678Z": 1767323045678,
    "2026-01-02T03:04:05Z": 1767323045000,
    "2026-01-02T03:04Z": 1767323040000,
    "2026-01-02": DAY,
    "2026-01": 1767225600000,
    "2026": 1767225600000,
    "2026-01-02T03:04:05.5Z": 1767323045500,
    "2026-01-02T03:04:05.123456789Z": 1767323045123,
    "2026-01-02T03:04:05+02:00": 1767315845000,
    "2026-01-02T03:04:05-05:30": 1767342845000,
    "2026-01-02T24:00:00Z": 1767398400000,
    "2026-01-02T24:00:01Z": None,
    "2026-01-02T23:59:60Z": None,
    "2026-01-02T03:60:00Z": None,
    "2026-13-01": None,
    "2026-00-01": None,
    "2026-01-32": None,
    "2026-01-02T25:00:00Z": None,
    "0001-01-01T00:00:00Z": -62135596800000,
    "+002026-01-02T03:04:05Z": 1767323045000,
    "2026-01-02T03": None,
    "2026-1-2T03:04:05Z": None,
    "2026-01-02T03:04:05.Z": None,
    "2026-01-02T03:04:05+23:59": 1767236705000,
    "2026-01-02T03:04:05+24:00": None,
    "2026-01-02T03:04:05+23:60": None,
    "soon": None,
    "": None,
    "\ud83d": None,
    None: 0,
    True: 1,
    False: 0,
    1.9: 1,
    -1.9: -1,
    8.64e15: 8.64e15,
    -8.64e15: -8.64e15,
    8.64e15 + 1000: None,
    1e300: None,
    10**400: None,
}


@pytest.mark.parametrize("value", TIMES, ids=lambda value: repr(value)[:40])
def test_times(value: object) -> None:
    assert time_ms(value) == TIMES[value]


@pytest.fixture
def seoul() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", "Asia/Seoul")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("seoul")
def test_a_time_without_a_zone_is_the_clocks_here() -> None:
    assert time_ms("2026-01-02T09:00") == DAY
    assert time_ms("2026-01-02T09:00:00.000") == DAY
    assert time_ms("2026-01-02") == DAY  # but a date alone is not


@given(st.integers(-62135596800000, 253402300799999))
def test_a_time_that_is_written_is_read_again(milliseconds: int) -> None:
    written = iso_from_ms(milliseconds)
    assert len(written) == len("2026-01-02T03:04:05.678Z")
    assert time_ms(written) == milliseconds


@pytest.mark.parametrize("milliseconds", [1e15, -1e15, 8.64e15, 1e300])
def test_a_time_that_cannot_be_written(milliseconds: float) -> None:
    with pytest.raises(OverflowError):
        iso_from_ms(milliseconds)


@given(plain_values | texts | texts.map(lambda text: f"2026-01-02T03:04:05{text}"))
def test_any_value_is_a_time_or_none(value: object) -> None:
    assert isinstance(time_ms(value), float | None)


TRIMMED = {
    "\t\n\v\f\r x \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff": "x",
    "\x1cx\x85": "\x1cx\x85",
    "\u180ex\u200b": "\u180ex\u200b",
    " \ufeff\n": "",
}


@pytest.mark.parametrize("text", TRIMMED, ids=ascii)
def test_trim(text: str) -> None:
    assert trim(text) == TRIMMED[text]


@pytest.mark.parametrize("value", [True, 1, -1, 0.5, "0", " ", [], {}, [0], "false"], ids=repr)
def test_true(value: object) -> None:
    assert truthy(value)


@pytest.mark.parametrize("value", [None, False, 0, 0.0, -0.0, ""], ids=repr)
def test_false(value: object) -> None:
    assert not truthy(value)
