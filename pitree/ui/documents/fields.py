"""The fields of a JSON object, taken by name and type; what nobody took is left over and shown as it is."""

from decimal import Decimal
from typing import Any

from pitree.sessions.entries import JsonObject

Number = int | float | Decimal


class Fields:
    """What is in `value`; nothing where it is no object. null counts as a missing field."""

    def __init__(self, value: object) -> None:
        self.rest: JsonObject = dict(value) if isinstance(value, dict) else {}
        """What was not taken yet, in the file's order."""

    def text(self, key: str) -> str | None:
        """Take a string."""
        return self.take(key) if isinstance(self._look(key), str) else None

    def number(self, key: str) -> Number | None:
        """Take a number."""
        value = self._look(key)
        usable = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return self.take(key) if usable else None

    def flag(self, key: str) -> bool | None:
        """Take a truth value."""
        return self.take(key) if isinstance(self._look(key), bool) else None

    def items(self, key: str) -> list[Any] | None:
        """Take an array."""
        return self.take(key) if isinstance(self._look(key), list) else None

    def mapping(self, key: str) -> JsonObject | None:
        """Take an object."""
        return self.take(key) if isinstance(self._look(key), dict) else None

    def take(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Take whatever is there; None where nothing is."""
        return self.rest.pop(key, None)

    def drop(self, *keys: str) -> None:
        """Take what needs no showing."""
        for key in keys:
            self.rest.pop(key, None)

    def _look(self, key: str) -> object:
        value = self.rest.get(key)
        if value is None:
            self.rest.pop(key, None)
        return value
