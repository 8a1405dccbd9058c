"""The few rules of JavaScript that decide what Pi makes of a value.

Pi is a JavaScript program that validates nothing, so what it does with an odd timestamp or a name of
blanks follows from ECMAScript: `String.prototype.trim`, `Date.parse`, truthiness.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `trim` removes and `\\s` matches: Python's own set differs by U+FEFF and the C0 separators."""

_ISO: Final = re.compile(
    r"(\d{4}|[+-]\d{6})(?:-(\d\d)(?:-(\d\d))?)?"
    r"(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?(Z|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_MS: Final = 8.64e15


def truthy(value: object) -> bool:
    """Return whether JavaScript takes a JSON value for true: empty arrays and objects are."""
    return bool(value) or isinstance(value, list | dict)


def trim(text: str) -> str:
    """Return `text` without the blanks that JavaScript's `trim` removes from both ends."""
    return text.strip(WHITESPACE)


def time_ms(value: object) -> float | None:
    """Return what `new Date(value).getTime()` gives, in Unix milliseconds; None stands for NaN.

    ISO 8601 in the forms ECMAScript prescribes, and numbers. A date without a zone is UTC when it has no
    time and local time otherwise, as there. Other spellings that engines accept on top count as NaN.
    """
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return None
        return float(int(number)) if abs(number) <= _MAX_MS else None
    if not isinstance(value, str) or (match := _ISO.fullmatch(value)) is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)  # years 1 to 9999 only
        clock = timedelta(
            hours=int(hour or 0),
            minutes=int(minute or 0),
            seconds=int(second or 0),
            milliseconds=int((fraction or "0")[:3].ljust(3, "0")),
        )
    except (ValueError, OverflowError):
        return None
    if int(minute or 0) > 59 or int(second or 0) > 59 or clock > timedelta(days=1):
        return None
    if hour is not None and zone is None:
        try:
            moment = (moment.replace(tzinfo=None) + clock).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            return None
        clock = timedelta()
    elif zone is not None and zone != "Z":
        sign = -1 if zone[0] == "+" else 1
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 23 or minutes > 59:
            return None
        clock += sign * timedelta(hours=hours, minutes=minutes)
    # (day != an overflowing one: datetime refuses 30 February where V8 rolls it over; Pi never writes it)
    return (moment - _EPOCH + clock) / timedelta(milliseconds=1)


def iso_from_ms(milliseconds: float) -> str:
    """Return Unix milliseconds as `Date.prototype.toISOString` writes them: UTC, three decimals, `Z`.

    Raises OverflowError outside the years 1 to 9999.
    """
    moment = _EPOCH.replace(tzinfo=None) + timedelta(milliseconds=milliseconds)
    # (strftime writes the year 385 with three digits)
    return f"{moment.isoformat(timespec='milliseconds')}Z"
