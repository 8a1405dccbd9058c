"""Bytes and JSON values: cutting a file into lines, decoding one line, encoding one value.

Decoding is as tolerant as Pi (which uses JavaScript's `JSON.parse` on text decoded with replacement):
lone surrogates, bytes that are not UTF-8 and integers of any length are read, `NaN` is not.
"""

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple, NoReturn

import orjson

from pitree.sessions.errors import LineError

# orjson turns integers beyond 64 bits into floats; a run of digits this long asks for the exact way.
_LONG_NUMBER: Final = 17
_DIGITS: Final = b"0123456789"
_DIGITS_AS_ONES: Final = bytes(0x31 if byte in b"0123456789" else 0x20 for byte in range(256))
# Python refuses to convert longer digit strings to int by default (they take quadratic time).
_MAX_INT_DIGITS: Final = 4000
_NOTHING_BUT_JSON: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Nothing that was read is nested as deeply (see `parse_value`); a value that holds itself is.
_MAX_DEPTH: Final = 10_000
_CLOSING: Final = ("}", "]")


# How much of a file is read at once. More of it would come in memory that the system hands out each time
# anew and takes back, which can cost more than the reading; and it would not stay in the processor's cache.
CHUNK_BYTES: Final = 1 << 16


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
        self.number = 1
        """The number of the line that comes next."""
        self.offset = 0
        """Where it begins."""
        self._pieces: list[bytes] = []

    @property
    def tail(self) -> Line:
        """The unfinished last line; its data is empty when the stream ended in LF."""
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        return Line(self.number, self.offset, self._pieces[0] if self._pieces else b"")

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
        number, offset = self.number, self.offset
        lines = []
        for data in parts:
            lines.append(Line(number, offset, data))
            number += 1
            offset += len(data) + 1
        self.number, self.offset = number, offset
        return lines

    def skip(self, lines: int, size: int) -> None:
        """Go past so many whole lines of `size` bytes altogether that somebody else has cut."""
        self.number += lines
        self.offset += size


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
    if not _has_long_number(data):
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
        raise LineError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from None


def parse_beginning(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value that a line begins with, whatever follows it.

    Raises LineError with the reason when it begins with none.
    """
    read = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer, parse_float=_float).raw_decode
    try:
        return read(data.decode("utf-8", "replace"))[0]
    except RecursionError:
        raise LineError("nested too deeply") from None
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from None


def _has_long_number(data: bytes) -> bool:
    """Whether there is a run of digits too long for orjson: six times as fast as a regular expression."""
    sample = data[_LONG_NUMBER - 1 :: _LONG_NUMBER]  # no such run lies between two of these
    if len(sample.translate(None, _DIGITS)) == len(sample):
        return False
    return b"1" * _LONG_NUMBER in data.translate(_DIGITS_AS_ONES)


def encode_value(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return `value` as one line of JSON, without a newline; the inverse of `parse_value`.

    Raises LineError for what JSON cannot hold.
    """
    try:
        encoded = orjson.dumps(value, option=_NOTHING_BUT_JSON)
    except TypeError:
        pass  # a lone surrogate, a number that orjson does not write, or more than 254 levels
    else:
        if b"null" not in encoded or not _has_endless_number(value):  # orjson makes null of these
            return encoded
    return "".join(_pieces(value)).encode()


def _has_endless_number(value: object) -> bool:
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, float):
            if not math.isfinite(inner):
                return True
        elif isinstance(inner, dict):
            waiting.extend(inner.values())
        elif isinstance(inner, list | tuple):
            waiting.extend(inner)
    return False


def _quoted(text: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", encode_basestring(text))


class _Piece(str):
    """Text that is JSON already."""

    __slots__ = ()


def _pieces(value: object) -> Iterator[str]:
    """Yield `value` as JSON, piece by piece; never recurses, since what was read may be nested deeply."""
    depth = 0
    waiting: list[object] = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, _Piece):
            depth -= inner in _CLOSING
            yield inner
            continue
        opened = _opened(inner)
        if opened is None:
            yield _scalar(inner)
            continue
        depth += 1
        if depth > _MAX_DEPTH:
            raise LineError("cannot be written as JSON: nested too deeply, or in itself")
        waiting.extend(reversed(opened))


def _opened(value: object) -> list[object] | None:
    """Return an array or object as the pieces and values that it is written of; None for anything else."""
    parts: list[object] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise LineError(f"cannot be written as JSON: a key is {type(key).__name__}")
            parts += (_Piece(f"{',' if parts else '{'}{_quoted(key)}:"), inner)
        return [*(parts or [_Piece("{")]), _Piece("}")]
    if isinstance(value, list | tuple):
        for inner in value:
            parts += (_Piece("," if parts else "["), inner)
        return [*(parts or [_Piece("[")]), _Piece("]")]
    return None


def _scalar(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        try:
            return int.__repr__(value)
        except ValueError as error:  # too many digits for Python's taste
            raise LineError(f"cannot be written as JSON: {error}") from None
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value).replace("E+", "e")
    raise LineError(f"cannot be written as JSON: {type(value).__name__} {str(value)[:40]!r}")
