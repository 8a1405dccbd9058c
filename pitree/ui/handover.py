"""Handing the terminal over to another program, and taking it back when that ends."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from textual.app import App, SuspendNotSupported

from pitree.agent.launch import Launch, run_child
from pitree.sessions.text import one_line


class Ended(NamedTuple):
    """How another program ended: its exit code, or why it could not be started (safe to print).

    `refused` says that this terminal cannot be handed over at all.
    """

    code: int = 0
    failure: str = ""
    refused: bool = False


def hand_over(app: App[Any], launch: Launch, environ: Mapping[str, str]) -> Ended:
    """Run a program in the terminal until it ends; the screen stands still meanwhile."""
    code, failure = 0, ""
    try:
        with app.suspend():
            try:
                code = run_child(launch, environ)
            except OSError as error:  # caught here: Textual takes the terminal back only after a good end
                failure = one_line(str(error), 300)
    except SuspendNotSupported:
        return Ended(refused=True)
    return Ended(code, failure)
