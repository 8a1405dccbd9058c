"""The names of themes, checked before there is a screen."""

from difflib import get_close_matches
from typing import Final

from textual.theme import BUILTIN_THEMES

from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.settings import Settings

THEMES: Final = tuple(sorted(BUILTIN_THEMES))
"""The names of all themes."""


class UnknownThemeError(SessionError):
    """There is no theme of that name."""


def check_theme(said: str | None, settings: Settings) -> list[str]:
    """Return what is wrong with the theme in the settings, safe to print.

    Raises UnknownThemeError where the one that was `said` on the command line does not exist.
    """
    if said is not None and said not in BUILTIN_THEMES:
        raise UnknownThemeError(f"--theme {_unknown(said)}")
    named = settings.values.get("theme", "")
    if not named or named in BUILTIN_THEMES:
        return []
    return [f"{settings.places['theme']}: {_unknown(str(named))}; it counts as not said"]


def _unknown(name: str) -> str:
    near = get_close_matches(name, THEMES, n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(THEMES)}"
    return f"{one_line(name, 60)} is no theme{hint}"
