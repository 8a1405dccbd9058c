"""Where pitree keeps things of its own: what it remembers, and what it can make again."""

from pathlib import Path

from platformdirs import user_cache_path, user_state_path


def state_dir() -> Path:
    """Return the folder for what pitree remembers; it need not exist."""
    return user_state_path("pitree", appauthor=False)


def cache_dir() -> Path:
    """Return the folder for what can be made again; it need not exist."""
    return user_cache_path("pitree", appauthor=False)
