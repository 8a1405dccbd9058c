r"""A regular expression as JavaScript writes it, written for Python's `regex` package.

Pi's searches are JavaScript regular expressions without the `u` flag. What both languages write alike but
mean differently (`$`, `.`, `\d`, `\w`, `\b`, `\s`, brackets, back references) is translated; what only
JavaScript can do, or would need memory without limit, is refused.

Left as Python has it: which letters are cases of each other (there `i` and U+0130 are), characters beyond
the first 65,536 count as one each, and a group keeps its match when it is repeated.
"""

import sys
from typing import Final

from pitree.sessions.javascript import WHITESPACE

Ranges = list[tuple[int, int]]

_DIGITS: Final[Ranges] = [(0x30, 0x39)]
_WORD: Final[Ranges] = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
_SPACES: Final[Ranges] = [(ord(blank), ord(blank)) for blank in sorted(WHITESPACE)]
_LINE_ENDS: Final[Ranges] = [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_NEVER: Final = "(?!)"
# The engine lays repetitions out in memory; V8 refuses such patterns as too large, too.
_MAX_SIZE: Final = 100_000


class PatternError(ValueError):
    """The pattern is no regular expression, or one that cannot be translated; the message says which."""


def translate(pattern: str) -> str:
    """Return `pattern` for `regex.compile(..., regex.IGNORECASE)`; its groups keep their numbers.

    Raises PatternError.
    """
    return _Translation(pattern).result


def _complement(ranges: Ranges) -> Ranges:
    rest = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            rest.append((start, low - 1))
        start = high + 1
    return [*rest, (start, sys.maxunicode)]


_CLASSES: Final = {
    "d": _DIGITS,
    "w": _WORD,
    "s": _SPACES,
    "D": _complement(_DIGITS),
    "W": _complement(_WORD),
    "S": _complement(_SPACES),
}


def _code(number: int) -> str:
    return f"\\U{number:08x}"


def _character(number: int) -> str:
    character = chr(number)
    return character if character.isascii() and character.isalnum() else _code(number)


def _bracket(ranges: Ranges, *, negated: bool = False) -> str:
    if not ranges:
        return r"[\s\S]" if negated else _NEVER
    body = "".join(_code(low) if low == high else f"{_code(low)}-{_code(high)}" for low, high in ranges)
    return f"[{'^' if negated else ''}{body}]"


_ANY: Final = _bracket(_LINE_ENDS, negated=True)
_LETTER: Final = _bracket(_WORD)
_EDGE: Final = f"(?:(?<={_LETTER})(?!{_LETTER})|(?<!{_LETTER})(?={_LETTER}))"
_NO_EDGE: Final = f"(?:(?<={_LETTER})(?={_LETTER})|(?<!{_LETTER})(?!{_LETTER}))"


class _Translation:
    """One pass over a pattern, without recursion: `_open` holds the groups that are open."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._out: list[str] = []
        self._names, self._groups = self._count_groups()
        self._open: list[tuple[str, int, int]] = []
        """Of each open group: how it began, where its translation begins, the size of what came before."""
        self._atom: int | None = None
        """Where the translation of what a quantifier would repeat begins, or None."""
        self._atom_size = 0
        self._size = 0
        while self._at < len(pattern):
            self._step()
        if self._open:
            raise PatternError("a group is not closed")
        self.result = "".join(self._out)

    def _count_groups(self) -> tuple[dict[str, int], int]:
        names: dict[str, int] = {}
        count = at = 0
        in_class = False
        while at < len(self._pattern):
            character = self._pattern[at]
            if character == "\\":
                at += 1
            elif character == "[":
                in_class = True
            elif character == "]":
                in_class = False
            elif character == "(" and not in_class:
                name = self._group_name(at)
                if name is not None and name in names:
                    raise PatternError(f"two groups are named {name!r}")
                if name is not None or self._pattern[at + 1 : at + 2] != "?":
                    count += 1
                if name is not None:
                    names[name] = count
            at += 1
        return names, count

    def _group_name(self, at: int) -> str | None:
        """Return the name of the group that opens at `at`, or None."""
        if not self._pattern.startswith("(?<", at) or self._pattern[at + 3 : at + 4] in {"=", "!"}:
            return None
        name, closed, _ = self._pattern[at + 3 :].partition(">")
        if not closed or not name.replace("$", "_").isidentifier():
            raise PatternError("a group's name is not valid")
        return name

    def _take(self, wanted: str) -> bool:
        if self._pattern.startswith(wanted, self._at):
            self._at += len(wanted)
            return True
        return False

    def _emit(self, text: str, *, size: int = 1, repeatable: bool = True) -> None:
        self._atom = len(self._out) if repeatable else None
        self._atom_size = size
        self._grow(size)
        self._out.append(text)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _MAX_SIZE:
            raise PatternError("too many repetitions")

    def _step(self) -> None:
        character = self._pattern[self._at]
        if character == "(":
            self._open_group()
        elif character in "*+?" or (character == "{" and self._counts() is not None):
            self._quantify()
        elif character == "[":
            self._emit(self._class())
        else:
            self._at += 1
            if character == "\\":
                self._escape()
            elif character == ")":
                self._close_group()
            elif character == "|":
                self._emit("|", repeatable=False)
            elif character == "^":
                self._emit(r"\A", repeatable=False)
            elif character == "$":
                self._emit(r"\Z", repeatable=False)
            elif character == ".":
                self._emit(_ANY)
            else:
                self._emit(_character(ord(character)))

    # ---- groups and repetitions

    def _open_group(self) -> None:
        name = self._group_name(self._at)
        if name is not None:
            self._at += len(name) + len("(?<>")
            opening = "("
        else:
            opening = next(
                (start for start in ("(?:", "(?=", "(?!", "(?<=", "(?<!") if self._take(start)), "("
            )
            if opening == "(":
                self._at += 1
                if self._pattern.startswith("?", self._at):
                    raise PatternError("this kind of group is not known")
        self._open.append((opening, len(self._out), self._size))
        self._emit(opening, size=0, repeatable=False)

    def _close_group(self) -> None:
        if not self._open:
            raise PatternError("a ) closes nothing")
        opening, start, before = self._open.pop()
        self._emit(")", size=1)
        # JavaScript lets a look ahead be repeated, but not a look behind.
        self._atom = None if opening.startswith("(?<") else start
        self._atom_size = self._size - before

    def _counts(self) -> tuple[int, int | None, int] | None:
        """Return the `{least,most}` that stands here and where it ends, or None if it is but a brace."""
        end = self._pattern.find("}", self._at)
        least, comma, most = self._pattern[self._at + 1 : max(end, 0)].partition(",")
        if not (least.isascii() and least.isdigit()) or len(least + most) > 20:
            return None
        if not comma:
            return int(least), int(least), end + 1
        if not most:
            return int(least), None, end + 1
        return (int(least), int(most), end + 1) if most.isascii() and most.isdigit() else None

    def _quantify(self) -> None:
        if self._atom is None:
            raise PatternError("nothing to repeat")
        counts = self._counts() if self._pattern[self._at] == "{" else None
        if counts is None:
            quantifier = self._pattern[self._at]
            self._at += 1
        else:
            least, most, self._at = counts
            if most is not None and most < least:
                raise PatternError("numbers out of order in {}")
            self._grow(self._atom_size * (max(least if most is None else most, 1) - 1))
            quantifier = f"{{{least},{'' if most is None else most}}}"
        if self._take("?"):
            quantifier += "?"
        self._out.insert(self._atom, "(?:")
        self._out.append(f"){quantifier}")
        self._atom = None

    # ---- characters

    def _escape(self) -> None:
        if self._at == len(self._pattern):
            raise PatternError(r"\ at the end")
        character = self._pattern[self._at]
        if character in "bB":
            self._at += 1
            self._emit(_EDGE if character == "b" else _NO_EDGE, repeatable=False)
        elif character in _CLASSES:
            self._at += 1
            self._emit(_bracket(_CLASSES[character]))
        elif character == "k" and self._names:
            name, closed, _ = self._pattern[self._at + 2 :].partition(">")
            if not closed or self._pattern[self._at + 1] != "<" or name not in self._names:
                raise PatternError(r"\k names no group")
            self._at += len(name) + len("k<>")
            self._refer(self._names[name])
        elif character in "123456789" and int(self._digits()) <= self._groups:
            digits = self._digits()
            self._at += len(digits)
            self._refer(int(digits))
        else:
            self._emit(_character(self._escaped_character()))

    def _digits(self) -> str:
        end = self._at
        while end < len(self._pattern) and self._pattern[end] in "0123456789" and end - self._at < 9:
            end += 1
        return self._pattern[self._at : end]

    def _refer(self, group: int) -> None:
        # A group that took no part matches nothing at all in Python, the empty text in JavaScript.
        self._emit(f"(?({group})\\{group}|)")

    def _escaped_character(self) -> int:
        """Take the rest of an escape that stands for one character, and return that."""
        character = self._pattern[self._at]
        self._at += 1
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character == "c":
            letter = self._pattern[self._at : self._at + 1]
            if letter.isascii() and letter.isalpha():
                self._at += 1
                return ord(letter) % 32
            self._at -= 1
            return ord("\\")
        if character in "xu":
            return self._hexadecimal(character)
        if character in "01234567":
            self._at -= 1
            digits = ""
            while len(digits) < 3 and self._pattern[self._at : self._at + 1] in set("01234567"):
                if int(digits + self._pattern[self._at], 8) > 0o377:
                    break
                digits += self._pattern[self._at]
                self._at += 1
            return int(digits, 8)
        return ord(character)

    def _hexadecimal(self, kind: str) -> int:
        number = self._hexadecimal_digits(2 if kind == "x" else 4)
        if number is None:
            return ord(kind)
        if 0xD800 <= number <= 0xDBFF and self._pattern.startswith("\\u", self._at):
            back = self._at
            self._at += 2
            low = self._hexadecimal_digits(4)
            if low is not None and 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((number - 0xD800) << 10) + (low - 0xDC00)
            self._at = back
        return number

    def _hexadecimal_digits(self, count: int) -> int | None:
        digits = self._pattern[self._at : self._at + count]
        if len(digits) < count or not set(digits) <= set("0123456789abcdefABCDEF"):
            return None
        self._at += count
        return int(digits, 16)

    # ---- brackets

    def _class(self) -> str:
        self._at += 1
        negated = self._take("^")
        ranges: Ranges = []
        while not self._take("]"):
            low = self._member()
            if self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] not in {
                "",
                "]",
            }:
                self._at += 1
                high = self._member()
                if isinstance(low, int) and isinstance(high, int):
                    if high < low:
                        raise PatternError("range out of order in []")
                    ranges.append((low, high))
                    continue
                ranges += [*_as_ranges(low), (0x2D, 0x2D), *_as_ranges(high)]
            else:
                ranges += _as_ranges(low)
        return _bracket(ranges, negated=negated)

    def _member(self) -> int | Ranges:
        if self._at == len(self._pattern):
            raise PatternError("a [ is not closed")
        character = self._pattern[self._at]
        self._at += 1
        if character != "\\":
            return ord(character)
        if self._at == len(self._pattern):
            raise PatternError(r"\ at the end")
        character = self._pattern[self._at]
        if character in _CLASSES:
            self._at += 1
            return _CLASSES[character]
        if character == "b":
            self._at += 1
            return 8
        return self._escaped_character()


def _as_ranges(member: int | Ranges) -> Ranges:
    return [(member, member)] if isinstance(member, int) else member
