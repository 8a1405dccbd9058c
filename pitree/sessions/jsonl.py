"""Bytes and JSON values: cutting a file into lines, decoding one line, encoding one value.

Decoding is as tolerant as Pi (which uses JavaScript's `JSON.parse` on text decoded with replacement):
lone surrogates, bytes that are not UTF-8 and integers of any length are read, `NaN` is not.
"""

import json
import math
import re
import uuid
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, NoReturn

import orjson

from pitree.sessions.errors import LineError

# orjson turns integers beyond 64 bits into floats; a run of digits this long asks for the exact way.
_LONG_NUMBER: Final = re.compile(rb"\d{17}")
# Python refuses to convert longer digit strings to int by default (they take quadratic time).
_MAX_INT_DIGITS: Final = 4000


class Line(NamedTuple):
    """One physical line: `number` from 1, `offset` in bytes in the file, `data` without the newline."""

    number: int
    offset: int
    data: bytes


class LineCutter:
    """Cuts a stream of byte chunks into lines at LF only; what follows the last LF is the tail.

    Time and memory are linear in the bytes fed, however long one line is.
    """

    def __init__(self) -> None:
        self._number = 1
        self._offset = 0
        self._pieces: list[bytes] = []

    @property
    def tail(self) -> Line:
        """The unfinished last line; its data is empty when the stream ended in LF."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return Line(self._number, self._offset, self._pieces[0] if self._pieces else b"")

    def feed(self, chunk: bytes) -> list[Line]:
        """Take the stream's next bytes and return the lines that they complete."""
        parts = chunk.split(b"\n")
        if len(parts) == 1:
            if chunk:
                self._pieces.append(chunk)
            return []
        if self._pieces:
            self._pieces.append(parts[0])
            parts[0] = b"".join(self._pieces)
        rest = parts.pop()
        self._pieces = [rest] if rest else []
        number, offset = self._number, self._offset
        lines = []
        for data in parts:
            lines.append(Line(number, offset, data))
            number += 1
            offset += len(data) + 1
        self._number, self._offset = number, offset
        return lines


def _no_constant(name: str) -> NoReturn:
    raise LineError(f"not JSON: {name} is no JSON value")


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MAX_INT_DIGITS else Decimal(digits)


def _float(digits: str) -> float | Decimal:
    number = float(digits)
    if math.isfinite(number):
        return number
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of nineteen digits or more
        raise LineError("a number is too large") from None


def parse_value(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value of one line. Numbers outside float and int range come as Decimal.

    Raises LineError with the reason when the line is not JSON.
    """
    if not _LONG_NUMBER.search(data):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # stricter than JSON.parse: lone surrogates, stray bytes, depth, 1e400
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text, parse_constant=_no_constant, parse_int=_integer, parse_float=_float)
    except RecursionError:
        raise LineError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise LineError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from None


def encode_value(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return `value` as one line of JSON, without a newline; the inverse of `parse_value`.

    Raises LineError for what JSON cannot hold.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        pass  # a lone surrogate or a number that orjson does not write
    marker = uuid.uuid4().hex
    numbers: list[str] = []

    def stand_in(number: object) -> str:
        if not isinstance(number, Decimal):
            raise TypeError(f"{type(number).__name__} is not JSON")
        numbers.append(str(number).replace("E+", "e"))
        return f"{marker}:{len(numbers) - 1}"

    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=stand_in)
    except (TypeError, ValueError, RecursionError) as error:
        raise LineError(f"cannot be written as JSON: {error}") from None
    if numbers:  # the standard encoder has no way to write a number of our own, so put them in afterwards
        text = re.sub(rf'"{marker}:(\d+)"', lambda match: numbers[int(match[1])], text)
    return text.encode("ascii")
