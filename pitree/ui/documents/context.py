"""What the model would see at an entry: the context in numbers, then its messages in order."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pitree.sessions.context import Session, SessionContext, blocks_of, build_session_context
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.file import StoppedError
from pitree.sessions.text import one_line
from pitree.sessions.tokens import body_usages, context_tokens, estimate_tokens, usage_cost
from pitree.sessions.tree import Tree
from pitree.ui.documents.calls import call_line
from pitree.ui.documents.entry import entry_name
from pitree.ui.documents.images import image_line
from pitree.ui.documents.messages import BAD_ENDS, ROLE_STYLES, write_message
from pitree.ui.documents.model import Document, Line, Span
from pitree.ui.documents.values import compact, money, plural, text_size
from pitree.ui.documents.writer import Writer, head_end

Stop = Callable[[], bool]
_Thing = TypeVar("_Thing")

_TEXT_LINES: Final = 6
_TEXT_CHARACTERS: Final = 800
_MAX_LISTED: Final = 12
# The call itself stands in full above its result.
_ANSWERED_CHARACTERS: Final = 80
_MAX_CALLS: Final = 50
# Of a longer context the beginning and the end are listed.
_MAX_MESSAGES: Final = 10_000
_FIRST_MESSAGES: Final = 1_000
_WITHOUT_USAGE: Final = frozenset(
    {"label", "session_info", "model_change", "thinking_level_change", "context_edit", "leaf", "custom"}
)
_FAILED: Final = frozenset({"error", "aborted"})


def context_document(
    session: Session, leaf_id: str | None, *, whole: bool = False, stop: Stop | None = None
) -> Document:
    """Return what the model would see at `leaf_id` (None: before the first entry), and what it amounts to.

    With `whole`, every message is there in full. Raises StoppedError as soon as `stop` returns true, and what
    `session.body` raises when the file cannot be read any more.
    """
    reader = _Reader(session, stop)
    context = build_session_context(reader, leaf_id)
    writer = Writer(whole=whole)
    where = "before the first entry" if leaf_id is None else f"at {one_line(leaf_id, 60)}"
    writer.line((f"context {where}", "heading"))
    _write_numbers(writer, reader, context, leaf_id)
    _write_open_calls(writer, context)
    if whole:
        _write_messages_in_full(writer, reader, context)
    else:
        _write_messages(writer, context)
    return writer.document(f"context {where}")


class _Reader:
    """A session whose bodies can be interrupted; adds up what the entries cost while they pass by."""

    def __init__(self, session: Session, stop: Stop | None) -> None:
        self._session = session
        self._stop = stop
        self._costs: dict[str, float] = {}

    @property
    def tree(self) -> Tree:
        return self._session.tree

    def body(self, entry: Entry) -> JsonObject:
        self.check()
        body = self._session.body(entry)
        self._costs[entry.id] = sum(usage_cost(usage) for usage in body_usages(body))
        return body

    def check(self) -> None:
        if self._stop is not None and self._stop():
            raise StoppedError("building the context was stopped")

    def cost(self, path: Iterable[Entry]) -> float:
        """Return what the entries of `path` cost; those that were not read yet are read now."""
        total = 0.0
        for entry in path:
            if entry.id not in self._costs:
                if entry.type in _WITHOUT_USAGE or entry.role in {"user", "bashExecution"}:
                    continue
                self.body(entry)
            total += self._costs[entry.id]
        return total


# ---- in numbers


def _write_numbers(writer: Writer, reader: _Reader, context: SessionContext, leaf_id: str | None) -> None:
    path = reader.tree.path(leaf_id)
    roles = Counter(_role(message) for message in context.messages)
    by_role = ", ".join(f"{number:,} {role}" for role, number in roles.most_common(6))
    writer.field("messages", f"{len(context.messages):,}" + (f" ({by_role})" if len(roles) > 1 else ""))
    writer.field("tokens", _tokens(context))
    writer.field("cost", f"{money(reader.cost(path))} on the way here")
    model = context.model or {}
    names = [compact(model[key], 60) for key in ("provider", "modelId") if model.get(key)]
    writer.field("model", "/".join(names) or "(none yet)")
    writer.field("thinking", context.thinking_level)
    if context.entries and context.entries[0].type == "compaction":
        hidden = len(path) - len(context.entries)
        writer.field(
            "compaction",
            f"hides {hidden:,} of {plural(len(path), 'entry', 'entries')} ({context.entries[0].id})",
            "warning",
        )
    for entry, effect in _limited(writer, _edits(reader, context), "edits"):
        writer.field("edit", f"{effect} ({entry.id})", "warning")
    if context.gap is not None:
        writer.field("gap", f"⚠ the path {context.gap}", "error")


def _tokens(context: SessionContext) -> str:
    try:
        tokens = context_tokens(context)
    except LineError:
        return "not known: a message is nested too deeply"
    if not tokens.estimated:
        return f"{tokens.total:,}"
    if tokens.estimated == tokens.total:
        return f"~{tokens.total:,}, all of it estimated"
    return f"~{tokens.total:,}, of it {tokens.estimated:,} estimated"


def _edits(reader: _Reader, context: SessionContext) -> list[tuple[Entry, str]]:
    """Return the context edits that count, and what each does."""
    present = {entry.id for entry in context.entries}
    edits = {entry.target_id: entry for entry in context.entries if entry.type == "context_edit"}
    found = []
    for target_id, edit in edits.items():
        if target_id is None:
            continue
        replacement = reader.body(edit).get("replacement", {})
        if target_id not in present:
            effect = f"has no effect: {target_id} is not in this context"
        elif replacement is None:
            effect = f"leaves out {target_id}"
        elif isinstance(replacement, dict) and "content" in replacement:
            effect = f"replaces {target_id}"
        else:
            effect = f"changes nothing in {target_id}"
        found.append((edit, effect))
    return found


def _write_open_calls(writer: Writer, context: SessionContext) -> None:
    for call in _limited(writer, context.open_calls, "calls without a result"):
        tool = compact(call.name, 60) or "tool"
        writer.field("open call", f"✗ {tool} in {call.entry_id} has no result", "error")


def _limited(writer: Writer, things: Sequence[_Thing], name: str) -> Iterable[_Thing]:
    yield from things[:_MAX_LISTED]
    if len(things) > _MAX_LISTED:
        writer.field("", f"… and {len(things) - _MAX_LISTED:,} more {name}", "muted")


# ---- message by message


@dataclass(frozen=True, slots=True)
class _Message:
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


def _sections(context: SessionContext) -> Iterable[_Message]:
    edited = {entry.target_id for entry in context.entries if entry.type == "context_edit"}
    calls: dict[str, JsonObject] = {}
    for number, (message, source) in enumerate(zip(context.messages, context.sources, strict=True), 1):
        call = None
        if _role(message) == "assistant":
            for block in blocks_of(message.get("content")):
                call_id = block.get("id")
                if block.get("type") == "toolCall" and isinstance(call_id, str):
                    calls[call_id] = block
        elif _role(message) == "toolResult" and isinstance(message.get("toolCallId"), str):
            call = calls.get(message["toolCallId"])
        yield _Message(number, message, source, source.id in edited, call)


def _write_messages(writer: Writer, context: SessionContext) -> None:
    left_out = max(0, len(context.messages) - _MAX_MESSAGES)
    for section in _sections(context):
        place = section.number - 1 - _FIRST_MESSAGES
        if left_out and 0 <= place < left_out:
            if place == 0:
                writer.blank()
                writer.more(plural(left_out, "message"))
            continue
        writer.section(section)


def _write_messages_in_full(writer: Writer, reader: _Reader, context: SessionContext) -> None:
    for section in _sections(context):
        reader.check()
        writer.blank()
        writer.line(*_heading(section))
        write_message(writer, section.message, section.call)


def _heading(section: _Message) -> list[Span]:
    """Return number, role, size and entry of a message, and whether it is sent at all."""
    message, source = section.message, section.source
    role = _role(message)
    try:
        tokens = f"~{estimate_tokens(message):,} tokens"
    except LineError:
        tokens = "size not known"
    spans: list[Span] = [
        (f"{section.number:,} ", "muted"),
        (role, ROLE_STYLES.get(role, "note")),
        (f" · {tokens} · {one_line(source.id, 60)}", "muted"),
    ]
    if source.type != "message":
        spans.append((f" ({entry_name(source)})", "muted"))
    if section.edited and source.type != "compaction":
        spans.append((" · changed by a context edit", "warning"))
    reason = message.get("stopReason")
    if role == "assistant" and isinstance(reason, str) and reason in BAD_ENDS:
        fate = ", so it is not sent" if reason in _FAILED else ""
        spans.append((f" · ✗ {BAD_ENDS[reason]}{fate}", "error"))
    if role == "bashExecution" and message.get("excludeFromContext"):
        spans.append((" · not sent", "warning"))
    return spans


def _role(message: JsonObject) -> str:
    return compact(message.get("role"), 40) if message.get("role") is not None else "(no role)"


def _write_beginning(writer: Writer, message: JsonObject) -> None:
    role = _role(message)
    if role == "bashExecution":
        command = message.get("command")
        if isinstance(command, str):
            _write_head(writer, f"$ {command}", lines=2)
        _write_any(writer, message.get("output"))
    elif role in {"branchSummary", "compactionSummary"}:
        _write_any(writer, message.get("summary"))
    else:
        _write_content(writer, message.get("content"))
        sections = message.get("sections")
        if isinstance(sections, dict) and sections:
            names = ", ".join(compact(name, 40) for name in list(sections)[:_MAX_LISTED])
            writer.line((f"sections: {names}", "muted"), indent=2)


def _write_content(writer: Writer, content: object) -> None:
    """Write the first lines of the text, and a line for every other block."""
    if content is not None and not isinstance(content, str | list):
        _write_any(writer, content)
        return
    blocks = blocks_of(content)
    room = _TEXT_LINES
    for block in blocks[:_MAX_CALLS]:
        kind = block.get("type")
        text = block.get("thinking" if kind == "thinking" else "text")
        if kind == "text" and isinstance(text, str):
            room -= _write_head(writer, text, lines=max(1, room))
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
    if len(blocks) > _MAX_CALLS:
        writer.more(plural(len(blocks) - _MAX_CALLS, "block"))


def _write_any(writer: Writer, value: object) -> None:
    if isinstance(value, str):
        _write_head(writer, value, lines=_TEXT_LINES)
    elif value is not None:
        writer.line((compact(value), "muted"), indent=2)


def _write_head(writer: Writer, text: str, *, lines: int) -> int:
    """Write the first lines of a text and return how many."""
    text = text.lstrip("\r\n") if text[:1] in {"\r", "\n"} else text
    if not text:
        return 0
    end = head_end(text, lines, _TEXT_CHARACTERS)
    writer.text(text[:end])
    if end < len(text):
        writer.line((f"… {text_size(text, end)} more", "muted"))
    return text.count("\n", 0, end) + 1
