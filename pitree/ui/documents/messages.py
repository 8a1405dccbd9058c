"""A message: what was said, thought, called, and what came of it; by role."""

from collections.abc import Callable
from typing import Final

from pitree.sessions.entries import JsonObject
from pitree.ui.documents.calls import call_line, write_call
from pitree.ui.documents.diff import diff_style
from pitree.ui.documents.fields import Fields
from pitree.ui.documents.images import image_line
from pitree.ui.documents.values import compact, count, plural, text_size, usage_line
from pitree.ui.documents.writer import Writer, content_blocks

_MAX_BLOCKS: Final = 500

BAD_ENDS: Final[dict[str, str]] = {
    "error": "the reply failed",
    "aborted": "the reply was aborted",
    "length": "the reply was cut at the length limit",
    "deferred": "the reply was deferred",
}
"""What a stop reason other than a finished reply or a tool call means."""


def write_message(writer: Writer, message: JsonObject, *, call: JsonObject | None = None) -> None:
    """Write a message in full; `call` is the tool call block that a tool result answers."""
    fields = Fields(message)
    role = fields.text("role")
    fields.drop("timestamp")
    _WRITERS.get(role or "", _write_other)(writer, fields)
    if role == "toolResult" and call is not None:
        writer.line()  # (written before the content, see below)
    writer.fields(fields.rest, heading="more fields")


def write_content(writer: Writer, content: object, *, prose: bool = True, headings: bool = True) -> None:
    """Write the blocks of a message's content, whatever they are."""
    blocks = content_blocks(content)
    if not blocks:
        writer.blank()
        writer.line(("(no content)", "muted"))
    shown = blocks if writer.whole else blocks[:_MAX_BLOCKS]
    for block in shown:
        _write_block(writer, block, prose=prose, headings=headings)
    if len(shown) < len(blocks):
        writer.more(plural(len(blocks) - len(shown), "block"))
