"""pitree browses the sessions of the Pi coding agent.

The package is also a library: `pitree.sessions` reads session files, `pitree.catalog` finds them.
Importing it loads no screen.
"""

__version__ = "0.1.0"
