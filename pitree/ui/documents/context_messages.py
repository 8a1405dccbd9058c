"""The messages of a context: number, role, size, beginning of the text, calls."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pitree.sessions.context import SessionContext, blocks_of
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.text import one_line
from pitree.sessions.tokens import estimate_tokens
from pitree.ui.documents.calls import call_line
from pitree.ui.documents.entry import entry_name
from pitree.ui.documents.images import image_line
from pitree.ui.documents.messages import BAD_ENDS, ROLE_STYLES, write_message
from pitree.ui.documents.model import Line, Span, StyleName
from pitree.ui.documents.values import compact, plural, text_size
from pitree.ui.documents.writer import Writer, head_end

_TEXT_LINES: Final = 6
_TEXT_CHARACTERS: Final = 800
# The call itself stands in full above its result.
_ANSWERED_CHARACTERS: Final = 80
_MAX_BLOCKS: Final = 50
_MAX_SECTIONS: Final = 12
# Of a longer context the beginning and the end are listed.
_MAX_MESSAGES: Final = 10_000
_FIRST_MESSAGES: Final = 1_000
_FAILED: Final = frozenset({"error", "aborted"})
_NOT_SENT: Final = frozenset(
    {
        "provider",
        "model",
        "api",
        "thinkingLevel",
        "usage",
        "responseId",
        "responseModel",
        "details",
        "display",
    }
)
# Of which type of entry a message of a role is made; so it needs no saying.
_SOURCES: Final = {
    "compactionSummary": "compaction",
    "branchSummary": "branch_summary",
    "custom": "custom_message",
}


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """One message of a context as a section, whose lines are made when it is looked at."""

    number: int
    message: JsonObject
    source: Entry
    edited: bool
    call: JsonObject | None
    """The tool call block that a tool result answers."""

    @property
    def size(self) -> tuple[int, int]:
        """A guess: a blank line, a heading, and some of the text."""
        return 4, 240

    def lines(self) -> list[Line]:
        """Return the heading, the beginning of the text, and the calls."""
        writer = Writer()
        writer.blank()
        writer.line(*_heading(self))
        if self.call is not None:
            name, about = call_line(self.call.get("name"), self.call.get("arguments"))
            answered = f"{name}: {about}" if about else name
            writer.line((f"↳ {answered[:_ANSWERED_CHARACTERS]}", "muted"), indent=2)
        _write_beginning(writer, self.message)
        return list(writer.document("").lines())


def context_messages(context: SessionContext, edited: Container[str]) -> Iterator[ContextMessage]:
    """Yield the messages of a context in order; `edited` are the ids of entries that an edit replaced."""
    calls: dict[str, JsonObject] = {}
    for number, (message, source) in enumerate(zip(context.messages, context.sources, strict=True), 1):
        call = None
        if role_of(message) == "assistant":
            for block in blocks_of(message.get("content")):
                call_id = block.get("id")
                if block.get("type") == "toolCall" and isinstance(call_id, str):
                    calls[call_id] = block
        elif role_of(message) == "toolResult" and isinstance(message.get("toolCallId"), str):
            call = calls.get(message["toolCallId"])
        yield ContextMessage(number, message, source, source.id in edited, call)


def write_messages(writer: Writer, messages: Iterable[ContextMessage], count: int) -> None:
    """Write the beginning of each of `count` messages."""
    left_out = max(0, count - _MAX_MESSAGES)
    for section in messages:
        place = section.number - 1 - _FIRST_MESSAGES
        if left_out and 0 <= place < left_out:
            if place == 0:
                writer.blank()
                writer.more(plural(left_out, "message"))
            continue
        writer.section(section)


def write_messages_in_full(
    writer: Writer, messages: Iterable[ContextMessage], check: Callable[[], None]
) -> None:
    """Write every message in full; `check` is called before each and may raise to end the work.

    What Pi keeps with a message but sends to no model is not written.
    """
    for section in messages:
        check()
        writer.blank()
        writer.line(*_heading(section))
        sent = {key: value for key, value in section.message.items() if key not in _NOT_SENT}
        write_message(writer, sent, section.call)


def _heading(section: ContextMessage) -> list[Span]:
    """Return number, role, size and entry of a message, and whether it is sent at all."""
    message, source = section.message, section.source
    role = role_of(message)
    spans: list[Span] = [
        (f"── {section.number:,} ", "muted"),
        (role, ROLE_STYLES.get(role, "note")),
        (f" · ~{estimate_tokens(message):,} tokens · {one_line(source.id, 60)}", "muted"),
    ]
    if source.type not in {"message", _SOURCES.get(role)}:
        spans.append((f" ({entry_name(source)})", "muted"))
    if section.edited and source.type != "compaction":
        spans.append((" · changed by a context edit", "warning"))
    reason = message.get("stopReason")
    if role == "assistant" and isinstance(reason, str) and reason in BAD_ENDS:
        fate = ", so it is not sent" if reason in _FAILED else ""
        spans.append((f" · ✗ {BAD_ENDS[reason]}{fate}", "error"))
    if role == "toolResult" and message.get("isError") is True:
        spans.append((" · ✗ failed", "error"))
    if role not in ROLE_STYLES or (role == "bashExecution" and message.get("excludeFromContext")):
        spans.append((" · not sent", "warning"))
    return spans


def role_of(message: JsonObject) -> str:
    """Return a message's role; safe to print."""
    return compact(message.get("role"), 40) if message.get("role") is not None else "(no role)"


def _write_beginning(writer: Writer, message: JsonObject) -> None:
    role = role_of(message)
    if role == "bashExecution":
        command = message.get("command")
        if isinstance(command, str):
            writer.command(command[: head_end(command, 2, _TEXT_CHARACTERS)])
        _write_any(writer, message.get("output"), "muted")
    elif role in {"branchSummary", "compactionSummary"}:
        _write_any(writer, message.get("summary"))
    else:
        # the bulk of a context is what tools said; quietly, so that one sees who talks
        _write_content(writer, message.get("content"), "muted" if role == "toolResult" else None)
        sections = message.get("sections")
        if isinstance(sections, dict) and sections:
            names = ", ".join(compact(name, 40) for name in list(sections)[:_MAX_SECTIONS])
            writer.line((f"sections: {names}", "muted"), indent=2)


def _write_content(writer: Writer, content: object, style: StyleName | None) -> None:
    """Write the first lines of the text, and a line for every other block."""
    if content is not None and not isinstance(content, str | list):
        _write_any(writer, content, style)
        return
    blocks = blocks_of(content)
    room = _TEXT_LINES
    for block in blocks[:_MAX_BLOCKS]:
        kind = block.get("type")
        text = block.get("thinking" if kind == "thinking" else "text")
        if kind == "text" and isinstance(text, str):
            room -= _write_head(writer, text, style, lines=max(1, room))
        elif kind == "thinking":
            size = text_size(text) if isinstance(text, str) else "?"
            writer.line((f"thinking · {size}", "thinking"))
        elif kind == "toolCall":
            name, about = call_line(block.get("name"), block.get("arguments"))
            writer.line(("→ ", "muted"), (name, "tool"), (f": {about}" if about else "", "text"), indent=2)
        elif kind == "image":
            writer.line((f"▣ {image_line(block)}", "muted"))
        else:
            writer.line((compact(block), "muted"), indent=2)
    if len(blocks) > _MAX_BLOCKS:
        writer.more(plural(len(blocks) - _MAX_BLOCKS, "block"))


def _write_any(writer: Writer, value: object, style: StyleName | None = None) -> None:
    if isinstance(value, str):
        _write_head(writer, value, style, lines=_TEXT_LINES)
    elif value is not None:
        writer.line((compact(value), "muted"), indent=2)


def _write_head(writer: Writer, text: str, style: StyleName | None, *, lines: int) -> int:
    """Write the first lines of a text, without a style as prose, and return how many."""
    text = text.lstrip("\r\n") if text[:1] in {"\r", "\n"} else text
    if not text:
        return 0
    end = head_end(text, lines, _TEXT_CHARACTERS)
    if style is None:
        writer.prose(text[:end])
    else:
        writer.text(text[:end], style)
    if end < len(text):
        writer.line((f"… {text_size(text, end)} more", "muted"))
    return text.count("\n", 0, end) + 1
