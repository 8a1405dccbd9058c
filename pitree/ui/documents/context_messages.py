"""The messages of a context: number, role, size, beginning of the text, calls."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from pitree.sessions.context import (
    FAILED,
    ContextPart,
    blocks_of,
    calls_of,
    entry_messages,
    read_part,
    result_of,
)
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.plain import message_text
from pitree.sessions.text import one_line
from pitree.sessions.tokens import estimate_tokens
from pitree.ui.documents.calls import call_line
from pitree.ui.documents.images import image_line
from pitree.ui.documents.messages import (
    BAD_ENDS,
    ROLE_STYLES,
    TOOL_CHANGES,
    Joined,
    tool_names,
    write_message,
)
from pitree.ui.documents.model import Line, Span, StyleName
from pitree.ui.documents.place import entry_name
from pitree.ui.documents.runs import Lazy
from pitree.ui.documents.values import compact, file_size, json_text, plural, text_size
from pitree.ui.documents.writer import Writer, head_end

_TEXT_LINES: Final = 6
_TEXT_CHARACTERS: Final = 800
# The call itself stands in full above its result.
_ANSWERED_CHARACTERS: Final = 80
_MAX_BLOCKS: Final = 50
_MAX_SECTIONS: Final = 12
# Results follow their calls.
_MOST_ABOVE: Final = 500
# Lines and characters: a blank line, a heading, and some of the text.
_GUESSED_SIZE: Final = (4, 240)
# A line this long is not decoded where the screen is drawn; of its beginning a few lines are shown.
_LARGE_BYTES: Final = 1 << 20
_ENOUGH_BYTES: Final = 1 << 15
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


class Sign(NamedTuple):
    """What stands before a message's number, and in which style."""

    text: str
    style: StyleName


UNSIGNED: Final = Sign("─", "muted")


class ContextMessage(NamedTuple):
    """One message of a context as a section, which is read and made into lines when it is looked at.

    `parts` are those of the whole context, `number` its place among them from 1. `sign` says how the message
    changes the context, if it does.
    """

    number: int
    parts: Sequence[ContextPart]
    session: SessionFile
    sign: Sign = UNSIGNED

    @property
    def part(self) -> ContextPart:
        """Where the message comes from."""
        return self.parts[self.number - 1]

    @property
    def size(self) -> tuple[int, int]:
        """A guess."""
        return _GUESSED_SIZE

    def lines(self) -> list[Line]:
        """Return the heading, the beginning of the text, and the calls."""
        writer = Writer()
        writer.blank()
        try:
            message = self.message(enough=True)
            writer.line_to(self.part.entry.id, *_heading(self, message))
            call = self.call()
            if call is not None:
                name, about = call_line(call.get("name"), call.get("arguments"))
                answered = f"{name}: {about}" if about else name
                writer.line((f"↳ {answered[:_ANSWERED_CHARACTERS]}", "muted"), indent=2)
            _write_beginning(writer, message, "" if self.is_large else "more")
            if self.is_large:
                writer.line((f"… of {file_size(self.part.entry.length)}", "muted"))
        except (SessionError, OSError) as error:  # the file was cut, or closed, since the context was made
            writer.line((f"── {self.number:,} ", "muted"), (one_line(str(error)), "error"))
        return list(writer.document("").lines())

    def message(self, *, enough: bool = False) -> JsonObject:
        """Return the message; with `enough`, of a very large one as much as is shown.

        Raises what `session.body` raises.
        """
        part = self.part
        if enough and self.is_large:
            body = self.session.beginning(part.entry, _ENOUGH_BYTES)
            return next(iter(entry_messages(body)), {"role": part.entry.role})
        return read_part(self.session, part)

    @property
    def is_large(self) -> bool:
        """Whether reading it is noticed by those who scroll."""
        return self.part.message is None and self.part.entry.length > _LARGE_BYTES

    def call(self) -> JsonObject | None:
        """Return the tool call block that a tool result answers, or None: those are not far above it."""
        wanted = result_of(self.part)
        if wanted is None:
            return None
        for above in reversed(self.parts[max(0, self.number - 1 - _MOST_ABOVE) : self.number - 1]):
            if wanted in calls_of(above) and above.entry.length <= _LARGE_BYTES:
                blocks = blocks_of(read_part(self.session, above).get("content"))
                calls = (block for block in blocks if block.get("type") == "toolCall")
                return next((block for block in calls if block.get("id") == wanted), None)
        return None

    def copy_text(self) -> str:
        """Return what the message says, else its JSON."""
        message = self.message()
        return message_text(message) or json_text(message)()

    def images(self) -> list[JsonObject]:
        """Return the image blocks of the message."""
        blocks = blocks_of(self.message().get("content"))
        return [block for block in blocks if block.get("type") == "image"]


def context_messages(
    session: SessionFile,
    parts: Sequence[ContextPart],
    numbers: Sequence[int] | None = None,
    sign: Sign = UNSIGNED,
) -> Lazy[ContextMessage]:
    """Return the messages of a context as sections: all, or those with certain numbers."""
    chosen = range(1, len(parts) + 1) if numbers is None else numbers
    return Lazy(len(chosen), lambda at: ContextMessage(chosen[at], parts, session, sign), _GUESSED_SIZE)


def write_messages_in_full(
    writer: Writer, messages: Iterable[ContextMessage], check: Callable[[], None]
) -> None:
    """Write every message in full; `check` is called before each and may raise to end the work.

    What Pi keeps with a message but sends to no model is not written.
    """
    for section in messages:
        check()
        message = section.message()
        writer.blank()
        writer.line_to(section.part.entry.id, *_heading(section, message))
        sent = {key: value for key, value in message.items() if key not in _NOT_SENT}
        write_message(writer, sent, Joined(call=section.call()))


def is_sent(message: JsonObject) -> bool:
    """Return whether a message of a context goes to the model at all."""
    role = message.get("role")
    if role == "bashExecution":
        return not message.get("excludeFromContext")
    if role == "assistant":
        return message.get("stopReason") not in FAILED
    return isinstance(role, str) and role in ROLE_STYLES


def _heading(section: ContextMessage, message: JsonObject) -> list[Span]:
    """Return number, role, size and entry of a message, and whether it is sent at all."""
    source = section.part.entry
    role = role_of(message)
    size = file_size(source.length) if section.is_large else f"~{estimate_tokens(message):,} tokens"
    spans: list[Span] = [
        (f"{section.sign.text}─ {section.number:,} ", section.sign.style),
        (role, ROLE_STYLES.get(role, "note")),
        (f" · {size} · ", "muted"),
        (one_line(source.id, 60), "link"),
    ]
    if source.type not in {"message", _SOURCES.get(role)}:
        spans.append((f" ({entry_name(source)})", "muted"))
    if section.part.edit is not None:
        spans.append((" · changed by a context edit", "warning"))
    reason = message.get("stopReason")
    if role == "assistant" and isinstance(reason, str) and reason in BAD_ENDS:
        fate = ", so it is not sent" if reason in FAILED else ""
        spans.append((f" · ✗ {BAD_ENDS[reason]}{fate}", "error"))
    if role == "toolResult" and message.get("isError") is True:
        spans.append((" · ✗ failed", "error"))
    if role != "assistant" and not is_sent(message):
        spans.append((" · not sent", "warning"))
    return spans


def role_of(message: JsonObject) -> str:
    """Return a message's role; safe to print."""
    return compact(message.get("role"), 40) if message.get("role") is not None else "(no role)"


def _write_beginning(writer: Writer, message: JsonObject, more: str) -> None:
    """Write the first lines; what is left out is counted and called `more`, or with "" not told."""
    role = role_of(message)
    if role == "bashExecution":
        command = message.get("command")
        if isinstance(command, str):
            writer.command(command[: head_end(command, 2, _TEXT_CHARACTERS)])
        _write_any(writer, message.get("output"), more, "muted")
    elif role in {"branchSummary", "compactionSummary"}:
        _write_any(writer, message.get("summary"), more)
    else:
        # the bulk of a context is what tools said; quietly, so that one sees who talks
        _write_content(writer, message.get("content"), more, "muted" if role == "toolResult" else None)
        sections = message.get("sections")
        if isinstance(sections, dict) and sections:
            names = ", ".join(compact(name, 40) for name in list(sections)[:_MAX_SECTIONS])
            writer.line((f"sections: {names}", "muted"), indent=2)
        for key, words in TOOL_CHANGES.items() if role == "system" else ():
            tools = message.get(key)
            if isinstance(tools, list) and tools:
                writer.line((f"{words}: {', '.join(tool_names(tools)[:_MAX_SECTIONS])}", "muted"), indent=2)


def _write_content(writer: Writer, content: object, more: str, style: StyleName | None) -> None:
    """Write the first lines of the text, and a line for every other block."""
    if content is not None and not isinstance(content, str | list):
        _write_any(writer, content, more, style)
        return
    blocks = blocks_of(content)
    room = _TEXT_LINES
    for block in blocks[:_MAX_BLOCKS]:
        kind = block.get("type")
        text = block.get("thinking" if kind == "thinking" else "text")
        if kind == "text" and isinstance(text, str):
            room -= _write_head(writer, text, more, style, lines=max(1, room))
        elif kind == "thinking":
            size = text_size(text) if isinstance(text, str) else "?"
            writer.line((f"thinking · {size}", "thinking"))
        elif kind == "toolCall":
            name, about = call_line(block.get("name"), block.get("arguments"))
            writer.line(("→ ", "muted"), (name, "tool"), (f": {about}" if about else "", "text"), indent=2)
        elif kind == "image":
            writer.line((f"▣ {image_line(block, whole=bool(more))}", "muted"))
        else:
            writer.line((compact(block), "muted"), indent=2)
    if len(blocks) > _MAX_BLOCKS:
        writer.more(plural(len(blocks) - _MAX_BLOCKS, "block"))


def _write_any(writer: Writer, value: object, more: str, style: StyleName | None = None) -> None:
    if isinstance(value, str):
        _write_head(writer, value, more, style, lines=_TEXT_LINES)
    elif value is not None:
        writer.line((compact(value), "muted"), indent=2)


def _write_head(writer: Writer, text: str, more: str, style: StyleName | None, *, lines: int) -> int:
    """Write the first lines of a text, without a style as prose, and return how many."""
    text = text.lstrip("\r\n") if text[:1] in {"\r", "\n"} else text
    if not text:
        return 0
    end = head_end(text, lines, _TEXT_CHARACTERS)
    if style is None:
        writer.prose(text[:end])
    else:
        writer.text(text[:end], style)
    if end < len(text) and more:
        writer.line((f"… {text_size(text, end)} {more}", "muted"))
    return text.count("\n", 0, end) + 1
