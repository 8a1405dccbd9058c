"""Numbers, sizes, times and JSON values as a person reads them."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from pitree.sessions import javascript
from pitree.sessions.entries import JsonObject
from pitree.sessions.jsonl import encode_value
from pitree.sessions.text import display, one_line
from pitree.sessions.tokens import usage_cost, usage_tokens
from pitree.ui.documents.model import Line, Span

_MAX_INDENT: Final = 40
_STRING_LIMIT: Final = 2000
_LINE_COST: Final = 8

_Member = tuple[str | None, Any, str]
"""Key (in an object), value, and the comma after it."""


def file_size(count: int) -> str:
    """Return a number of bytes in decimal units: `812 bytes`, `1.2 MB`."""
    if count < 1000:
        return f"{count} bytes" if count != 1 else "1 byte"
    size, unit = count / 1000, "kB"
    if size >= 999.5:
        size, unit = size / 1000, "MB"
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:,.0f} {unit}"


def text_size(text: str, start: int = 0) -> str:
    """Return how large a text is from `start` on, in UTF-8."""
    rest = text[start:] if start else text
    return file_size(len(rest) if rest.isascii() else len(rest.encode("utf-8", "replace")))


def count(value: object) -> str:
    """Return a whole number with separators, and any other value as it is."""
    if not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < 1e15:
        return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"
    return compact(value)


def plural(number: int, thing: str, things: str = "") -> str:
    """Return a number and what is counted."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def money(dollars: float) -> str:
    """Return US dollars, with more decimals for small sums."""
    return f"${dollars:,.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}"


def moment(timestamp: object) -> str:
    """Return a timestamp (ISO 8601, or Unix milliseconds) in local time; what is none, as it is."""
    milliseconds = None if timestamp is None else javascript.time_ms(timestamp)
    if milliseconds is not None:
        try:
            local = datetime.fromtimestamp(milliseconds / 1000, tz=UTC).astimezone()
        except (OverflowError, ValueError, OSError):
            pass  # a year that the calendar here does not have
        else:
            return f"{local:%Y-%m-%d %H:%M:%S}"
    return compact(timestamp) if timestamp != "" else "(no time)"


def compact(value: object, limit: int = 400) -> str:
    """Return any JSON value as one safe line: a string without quotes, the rest as JSON."""
    if isinstance(value, str):
        return one_line(value, limit)
    return one_line(encode_value(value).decode(), limit)


def json_text(value: object) -> Callable[[], str]:
    """Return what makes the indented JSON of a value, to be copied."""
    return lambda: "\n".join(line.text for line in json_lines(value, limit=None)[0])


def usage_texts(usage: JsonObject) -> list[str]:
    """Return a usage record in words: `12,345 tokens · $0.0174`, and `in 345 · out 200 · cache read 11,800`.

    Without parts there is only the first.
    """
    names = {
        "input": "in",
        "output": "out",
        "reasoning": "of it reasoning",
        "cacheRead": "cache read",
        "cacheWrite": "cache write",
    }
    parts = [f"{name} {count(usage[key])}" for key, name in names.items() if usage.get(key)]
    total = f"{usage_tokens(usage):,} tokens"
    if "cost" in usage:
        total += f" · {money(usage_cost(usage))}"
    return [total, " · ".join(parts)] if parts else [total]


def json_lines(value: object, *, limit: int | None) -> tuple[list[Line], bool]:
    """Return a JSON value as indented lines, and whether some of it was left out.

    At most about `limit` characters are shown, of one string at most a part of that; None shows everything.
    """
    made: list[Line] = []
    cut = False
    spent = 0
    for line, shortened in _json_lines(value, None if limit is None else _STRING_LIMIT):
        if limit is not None and spent > limit:
            return made, True
        made.append(line)
        cut = cut or shortened
        spent += _LINE_COST + len(line.text.lstrip(" "))
    return made, cut


def _json_lines(value: object, string_limit: int | None) -> Iterator[tuple[Line, bool]]:
    """Walk a value without recursion: a file can nest it as deep as it likes."""
    open_containers: list[tuple[Iterator[_Member], str, str]] = []
    members: Iterator[_Member] = iter([(None, value, "")])
    closing, after = "", ""
    while True:
        member = next(members, None)
        depth = len(open_containers)
        if member is None:
            if not open_containers:
                return
            lead = "  " * min(depth - 1, _MAX_INDENT)
            yield Line(((lead + closing + after, "text"),)), False
            members, closing, after = open_containers.pop()
            continue
        key, item, comma = member
        lead = "  " * min(depth, _MAX_INDENT)
        shortened = False
        spans: list[Span] = [(lead, "text")] if lead else []
        if key is not None:
            name, shortened = _quoted(key, string_limit)
            spans += [(name, "key"), (": ", "text")]
        if isinstance(item, dict | list) and item:
            spans.append(("{" if isinstance(item, dict) else "[", "text"))
            open_containers.append((members, closing, after))
            members = _members(item)
            closing, after = ("}" if isinstance(item, dict) else "]"), comma
        else:
            text, shortened_value = _scalar(item, string_limit)
            shortened = shortened or shortened_value
            spans.append((text + comma, "text"))
        yield Line(tuple(spans), len(lead) + 2), shortened


def _members(container: dict[str, Any] | list[Any]) -> Iterator[_Member]:
    last = len(container) - 1
    if isinstance(container, dict):
        for place, (key, item) in enumerate(container.items()):
            yield key, item, "," if place < last else ""
    else:
        for place, item in enumerate(container):
            yield None, item, "," if place < last else ""


def _scalar(value: object, string_limit: int | None) -> tuple[str, bool]:
    if isinstance(value, str):
        return _quoted(value, string_limit)
    if isinstance(value, dict | list):
        return ("{}" if isinstance(value, dict) else "[]"), False
    return display(encode_value(value).decode()), False


def _quoted(text: str, limit: int | None) -> tuple[str, bool]:
    cut = limit is not None and len(text) > limit
    shown = text[:limit] if cut else text
    quoted = display(json.dumps(shown, ensure_ascii=False))
    return (f'{quoted[:-1]}…" ({text_size(text)})', True) if cut else (quoted, False)
