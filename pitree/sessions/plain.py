"""An entry's text as somebody would want to have copied it."""

from pitree.sessions.context import blocks_of
from pitree.sessions.entries import JsonObject


def copy_text(body: JsonObject) -> str:
    """Return what an entry's object says: text, command or summary; "" where it says nothing."""
    message = body.get("message")
    return message_text(message if isinstance(message, dict) else body)


def message_text(source: JsonObject) -> str:
    """Return what a message says: text, command or summary; "" where it says nothing."""
    if source.get("role") == "bashExecution":
        return _text(source.get("command"))
    parts = [
        _text(block.get("text")) for block in blocks_of(source.get("content")) if block.get("type") == "text"
    ]
    said = "".join(parts)
    return said or _text(source.get("errorMessage")) or _text(source.get("summary"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
