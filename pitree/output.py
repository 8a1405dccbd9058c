"""What commands print, safe for terminals and pipes, and how they say that something could not be done."""

import io
import re
import sys
from typing import Any, BinaryIO, Final

from pitree.sessions.text import display

# In UTF-8: delete, the C1 controls, line and paragraph separators, what turns the direction of writing, and
# what is not to be seen.
_CONTROLS: Final = re.compile(
    rb"\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]"
    rb"|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81\x84-\x87][\x80-\xbf]"
)


_NO_ASCII: Final = re.compile(rb"[\x80-\xff]+")


class CommandError(Exception):
    """It could not be done: one line that says what, where, and what to do."""


def write_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    r"""Write one JSON document and a newline to standard output.

    JSON leaves some characters that terminals obey as they are, such as U+009B, which is `ESC [` in one. They
    are written as `\u009b`, which means the same; in a terminal that knows no UTF-8, all but ASCII is.
    """
    from pitree.sessions.jsonl import encode_value  # with the decoders, which the screen's start can wait for

    encoded = encode_value(value)
    if sys.stdout is not None and sys.stdout.isatty() and not is_utf8(sys.stdout.encoding):
        encoded = _NO_ASCII.sub(_escaped, encoded)
    if _CONTROLS.search(encoded) is not None:
        encoded = _CONTROLS.sub(_escaped, encoded)
    _output().write(encoded + b"\n")


def _escaped(match: re.Match[bytes]) -> bytes:
    halves = match[0].decode().encode("utf-16-be")
    return b"".join(b"\\u%s" % halves[at : at + 2].hex().encode() for at in range(0, len(halves), 2))


def write_line(text: str = "") -> None:
    """Write one line to standard output; what could harm a terminal is made visible.

    What the locale's character set does not have becomes `?`.
    """
    _output().write(display(text).encode(sys.stdout.encoding, "replace") + b"\n")


def is_utf8(encoding: str) -> bool:
    """Whether that is a name of UTF-8."""
    return encoding.lower().replace("_", "-") in {"utf-8", "utf8", "cp65001"}


def _output() -> BinaryIO:
    output: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    if output is None:
        raise CommandError("standard output is closed, so there is nowhere to print to")
    return output


def warn(text: str) -> None:
    """Write one line to standard error, if there is one."""
    print(f"pitree: {display(text)}", file=sys.stderr or io.StringIO())
