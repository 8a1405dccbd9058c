"""Handing the terminal over to another program, and taking it back when that ends."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from textual.app import App, SuspendNotSupported

from pitree.sessions.text import one_line

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent.launch import Launch


class Ended(NamedTuple):
    """How another program ended: its exit code, or why it could not be started (safe to print).

    `refused` says that this terminal cannot be handed over at all.
    """

    code: int = 0
    failure: str = ""
    refused: bool = False


STOPPING: Final = tuple(
    getattr(signal, name)
    for name in ("SIGTSTP", "SIGCONT")
    if hasattr(signal, name)  # not on Windows
)
"""The signals that stop a program and have it go on."""


@contextmanager
def _stopped_at_once() -> Iterator[None]:
    """Have Ctrl+Z in another program stop us as well: nobody else could give the shell its terminal back."""
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def hand_over(app: App[Any], launch: Launch, environ: Mapping[str, str]) -> Ended:
    """Run a program in the terminal until it ends; the screen stands still meanwhile."""
    from pitree.agent.launch import run_child

    code, failure = 0, ""
    try:
        with app.suspend(), _stopped_at_once():
            try:
                code = run_child(launch, environ)
            except OSError as error:  # caught here: Textual takes the terminal back only after a good end
                failure = one_line(str(error), 300)
    except SuspendNotSupported:
        return Ended(refused=True)
    return Ended(code, failure)
