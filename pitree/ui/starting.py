"""What the settings and the command line make of the screen."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from pitree.settings import Settings, fill_in
from pitree.ui.ahead import SCOPES
from pitree.ui.keys import USUAL_KEYS, coming_back


def own_options(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> dict[str, Any]:
    """Fill `args` in, and return the options that follow, by their names in `Options`.

    Raises UnknownThemeError for a theme on the command line that there is not.
    """
    problems = list(settings.problems)
    if args.theme is not None or "theme" in settings.values:
        from pitree.ui.themes import check_theme

        problems += check_theme(args.theme, settings)
    fill_in(args, settings, environ)
    keys = USUAL_KEYS
    if settings.keys:
        from pitree.ui.own_keys import own_keys

        merged = own_keys(settings.keys)
        keys = merged.table
        problems += merged.problems
    returning = args.resume == "return"
    return {
        "keys": coming_back(keys) if returning else keys,
        "theme": args.theme,
        "theme_is_set": "theme" in settings.values,
        "scope": SCOPES[args.scope],
        "returning": returning,
        "following": args.follow,
        "problems": tuple(problems),
    }
