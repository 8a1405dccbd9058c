"""What commands print, safe for terminals and pipes, and how they say that something could not be done."""

import io
import re
import sys
from typing import Any, BinaryIO, Final

from pitree.sessions.text import display

# In UTF-8: delete, the C1 controls, line and paragraph separators, and what turns the direction of writing.
_CONTROLS: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


class CommandError(Exception):
    """It could not be done: one line that says what, where, and what to do."""


def write_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    r"""Write one JSON document and a newline to standard output.

    JSON leaves some characters that terminals obey as they are, such as U+009B, which is `ESC [` in one. They
    are written as `\u009b`, which means the same.
    """
    from pitree.sessions.jsonl import encode_value  # with the decoders, which the screen's start can wait for

    encoded = encode_value(value)
    if _CONTROLS.search(encoded) is not None:
        encoded = _CONTROLS.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), encoded)
    _output().write(encoded + b"\n")


def write_line(text: str = "") -> None:
    """Write one line to standard output; what could harm a terminal is made visible."""
    _output().write(display(text).encode() + b"\n")


def _output() -> BinaryIO:
    output: BinaryIO | None = getattr(sys.stdout, "buffer", None)
    if output is None:
        raise CommandError("standard output is closed, so there is nowhere to print to")
    return output


def warn(text: str) -> None:
    """Write one line to standard error, if there is one."""
    print(f"pitree: {display(text)}", file=sys.stderr or io.StringIO())
