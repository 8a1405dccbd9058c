"""pitree browses the sessions of the Pi coding agent.

The package is also a library: `SessionManager` does in Python what Pi's class of that name does,
`pitree.sessions` reads session files, `pitree.catalog` finds them. Importing it loads no screen.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pitree.manager import SessionManager

__version__ = "0.1.0"

__all__ = ["SessionManager", "__version__"]


def __getattr__(name: str) -> object:
    """Import the library's class when it is first asked for, so that the command line starts without it."""
    if name == "SessionManager":
        from pitree.manager import SessionManager

        return SessionManager
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
