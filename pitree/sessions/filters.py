"""The names of the filters of the entry tree."""

from typing import Final

FILTERS: Final = ("default", "no-tools", "user-only", "labeled-only", "all")
DEFAULT_FILTER: Final = FILTERS[0]
