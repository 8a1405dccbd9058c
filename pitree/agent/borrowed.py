"""A terminal that is lent to another program, and taken back however that ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

with suppress(ImportError):  # not on Windows
    import termios

# What a program that had no time to tidy up leaves behind: the other screen, the mouse, marked pastes,
# held-back drawing, keys in other protocols, a hidden cursor, lines that do not wrap, colours. Where the
# cursor was is not known (`?1049l` would put it back to where it was saved, over what was printed since),
# so what comes next begins below everything.
_TIDIED: Final = (
    "\x1b[?47l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    "\x1b[=0u\x1b[>4;0m\x1b[?1l\x1b>\x1b[?25h\x1b[?7h\x1b[0m\x1b[999;1H\r\n"
)


class Lent:
    """The terminal while another program has it."""

    def __init__(self) -> None:
        self._terminals = [fd for fd in (0, 1, 2) if _is_terminal(fd)]
        self._kept: list[Any] | None = None
        if "termios" in sys.modules and self._terminals:
            self._kept = termios.tcgetattr(self._terminals[0])

    def tidy(self) -> None:
        """Undo what a killed program has left behind on the screen."""
        if self._terminals:
            sys.stdout.flush()
            os.write(self._terminals[-1], _TIDIED.encode())

    def take_back(self) -> None:
        """Have keys and echo as they were before."""
        if self._kept is not None:
            termios.tcsetattr(self._terminals[0], termios.TCSADRAIN, self._kept)


@contextmanager
def lent_terminal() -> Iterator[Lent]:
    """Lend the terminal for as long as the context lasts; without one nothing happens."""
    lent = Lent()
    try:
        yield lent
    finally:
        lent.take_back()


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False
