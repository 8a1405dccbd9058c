"""What workers have in common."""

from typing import Final

UNDESCRIBED: Final = "-"
"""To be the `description` of every worker with much to work on.

Without one Textual writes down all the arguments, on the screen's own time: of 20,000 sessions that takes a
tenth of a second, for each letter that somebody types.
"""
