"""A message: what was said, thought, called, and what came of it; by role."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from pitree.sessions.context import Session
from pitree.sessions.describe import content_line
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.ui.documents.calls import call_line, call_text, read_range, write_call
from pitree.ui.documents.diff import diff_style
from pitree.ui.documents.fields import Fields
from pitree.ui.documents.images import image_line
from pitree.ui.documents.model import Span, StyleName
from pitree.ui.documents.values import compact, count, file_size, json_text, plural, text_size, usage_texts
from pitree.ui.documents.writer import Writer, content_blocks

_MAX_BLOCKS: Final = 500
# A line that says what came of a call is not worth the decoding of megabytes.
_MAX_DESCRIBED: Final = 1 << 20
_RESULT_CHARACTERS: Final = 70
# What a provider wants back with the next request; it says nothing to a person.
_SIGNATURES: Final = ("textSignature", "thinkingSignature", "thoughtSignature")

BAD_ENDS: Final[dict[str, str]] = {
    "error": "the reply failed",
    "aborted": "the reply was aborted",
    "length": "the reply was cut at its longest",
    "deferred": "the reply was put off",
}
"""What the stop reasons mean that are neither a finished reply nor a tool call."""

_GOOD_ENDS: Final = ("stop", "toolUse")


class Joined(msgspec.Struct, frozen=True):
    """What a message is shown together with.

    `call` is the tool call block that a tool result answers, and `calling` the entry it is in. `results` are
    the entries that answer an assistant message's calls, by call id; their bodies are in `session`.
    """

    session: Session | None = None
    call: JsonObject | None = None
    calling: Entry | None = None
    results: Mapping[str, Entry] = msgspec.field(default_factory=dict)


_ALONE: Final = Joined()


def write_message(writer: Writer, message: JsonObject, joined: Joined = _ALONE) -> None:
    """Write a message in full. What the writer keeps for the foot is left to the caller."""
    fields = Fields(message)
    role = fields.text("role")
    fields.drop("timestamp")
    if role == "toolResult":
        _write_tool_result(writer, fields, joined)
    elif role == "assistant":
        _write_assistant(writer, fields, joined)
    else:
        _WRITERS.get(role or "", _write_plain)(writer, fields)
    writer.foot(*model_field(fields), ("thinking", fields.text("thinkingLevel")), *usage_fields(fields))
    writer.fields(fields.rest, heading="more fields")


def write_content(
    writer: Writer,
    content: object,
    write_text: Callable[[str], None] | None = None,
    joined: Joined = _ALONE,
) -> None:
    """Write the blocks of a message's content, whatever they are; texts as prose unless told how."""
    blocks = content_blocks(content)
    if not blocks:
        writer.blank()
        writer.line(("(no content)", "muted"))
    shown = blocks if writer.whole else blocks[:_MAX_BLOCKS]
    for block in shown:
        _write_block(writer, block, write_text or writer.prose, joined)
    if len(shown) < len(blocks):
        writer.more(plural(len(blocks) - len(shown), "block"))


def _write_block(writer: Writer, block: object, write_text: Callable[[str], None], joined: Joined) -> None:
    fields = Fields(block)
    kind = fields.take("type")
    fields.drop(*_SIGNATURES)
    text = fields.text("thinking" if kind == "thinking" else "text")
    if kind == "text" and text is not None:
        writer.block(text)
        writer.blank()
        write_text(text)
        writer.fields(fields.rest)
    elif kind == "thinking" and text is not None:
        writer.block(text)
        redacted = fields.flag("redacted")
        size = "redacted by the provider" if redacted else text_size(text)
        writer.heading("thinking", "thinking", after=size)
        if text or not redacted:
            writer.folded(text, "thinking")
        writer.fields(fields.rest)
    elif kind == "image" and isinstance(block, dict):
        writer.block(image_line(block), images=(block,))
        writer.blank()
        key = () if writer.whole else ((" · o opens it", "muted"),)  # paper has no keys
        writer.line(("▣ ", "muted"), (image_line(block), "text"), *key)
        fields.drop("data", "mimeType")
        writer.fields(fields.rest)
    elif kind == "toolCall" and isinstance(block, dict):
        writer.block(lambda: call_text(block))
        write_call(writer, {key: value for key, value in block.items() if key not in _SIGNATURES})
        call_id = block.get("id")
        if joined.results or joined.session is not None:
            _write_result_line(writer, joined, call_id)
    else:
        writer.block(json_text(block))
        writer.blank()
        writer.json(block)


def _write_result_line(writer: Writer, joined: Joined, call_id: object) -> None:
    """Write what came of a call, in a line that leads there."""
    result = joined.results.get(call_id) if isinstance(call_id, str) else None
    if result is None or joined.session is None:
        writer.line(("↳ no result below", "warning"))
        return
    words, failed = file_size(result.length), False
    if result.length <= _MAX_DESCRIBED:
        try:
            message = joined.session.body(result).get("message")
            if isinstance(message, dict):
                failed = message.get("isError") is True
                words = _cut(content_line(message.get("content"))) or "(empty)"
        except (SessionError, OSError) as error:
            words = compact(str(error), _RESULT_CHARACTERS)
    mark: tuple[Span, ...] = (("✗ ", "error"),) if failed else ()
    writer.spans("↳ result", *mark, (words, "link"), link=result.id)


def _cut(words: str) -> str:
    return words if len(words) <= _RESULT_CHARACTERS else f"{words[:_RESULT_CHARACTERS].rstrip()}…"


def model_field(fields: Fields, key: str = "model") -> Iterator[tuple[str, str]]:
    """Take which model it was, from `provider` and `key`; yield the field's name and value, if any."""
    names = [name for name in (fields.text("provider"), fields.text(key)) if name]
    api = fields.text("api")
    if names or api:
        yield "model", "/".join(names) + (f" ({api})" if api else "")


def usage_fields(fields: Fields) -> Iterator[tuple[str, str]]:
    """Take the usage record among `fields`, if there is one; yield the names and values of its lines."""
    usage = fields.mapping("usage")
    if usage is not None:
        for place, text in enumerate(usage_texts(usage)):
            yield "" if place else "usage", text


def _write_plain(writer: Writer, fields: Fields) -> None:
    """Write a user's or an extension's message, or one whose role nobody knows."""
    write_content(writer, fields.take("content"))


def _write_assistant(writer: Writer, fields: Fields, joined: Joined) -> None:
    reason = fields.text("stopReason")
    if reason is not None and reason not in _GOOD_ENDS:
        bad = BAD_ENDS.get(reason)
        writer.field("stop", f"{reason} ✗ {bad}" if bad else reason, "error" if bad else "text")
    error = fields.text("errorMessage")
    if error:
        writer.field("error", error, "error")
    write_content(writer, fields.take("content"), joined=joined)


def _write_tool_result(writer: Writer, fields: Fields, joined: Joined) -> None:
    call_id, tool = fields.text("toolCallId"), fields.text("toolName")
    path, first = "", 1
    if joined.call is not None:
        name, about = call_line(joined.call.get("name"), joined.call.get("arguments"))
        link = None if joined.calling is None else joined.calling.id
        words = f"{name}: {about}" if about else name
        writer.spans("call", (words, "tool" if link is None else "link"), link=link)
        path, first = read_range(joined.call)
    else:
        writer.field("tool", tool)
        writer.field("call", f"{call_id} (no such call above)" if call_id else "(names no call)", "warning")
    failed = fields.flag("isError")
    if failed:
        writer.field("result", "✗ failed", "error")
        path = ""

    def write_text(text: str) -> None:
        writer.code(text, path, first=first, style="text")

    write_content(writer, fields.take("content"), write_text)
    details = Fields(fields.mapping("details"))
    diff = details.text("diff")
    if diff is not None:
        details.drop("patch")  # the same once more, in another notation
        writer.block(diff)
        writer.heading("diff", "muted")
        writer.text(diff, diff_style)
    _write_nested(writer, fields)
    writer.fields(details.rest, heading="details")


def _write_nested(writer: Writer, fields: Fields) -> None:
    """Write the calls that the tool made itself."""
    nested = Fields(fields.mapping("nestedCalls"))
    calls = nested.items("calls")
    if calls is not None:
        writer.block(json_text(calls))
        writer.heading("calls of its own", after=plural(len(calls), "call"))
        for call in calls[: None if writer.whole else _MAX_BLOCKS]:
            about = Fields(call)
            name, line = call_line(about.take("name"), about.take("arguments"))
            bad = about.text("status") == "error"
            mark: tuple[Span, ...] = (("✗ ", "error"),) if bad else ()
            writer.line(*mark, (name, "tool"), (f": {line}" if line else "", "text"), indent=2)
        if nested.flag("complete") is False:
            writer.line(("not all of them were recorded", "warning"))
    writer.fields(nested.rest)


def _write_bash(writer: Writer, fields: Fields) -> None:
    if fields.flag("excludeFromContext"):
        writer.field("context", "left out: the model does not see it", "warning")
    code = fields.number("exitCode")
    if code:
        writer.field("exit code", f"✗ {count(code)}", "error")
    elif code is not None:
        writer.foot(("exit code", "0"))
    if fields.flag("cancelled"):
        writer.field("ended", "✗ cancelled", "error")
    if fields.flag("truncated"):
        writer.field("output", "cut to its end when it was recorded", "warning")
    writer.field("full", fields.text("fullOutputPath"))
    command, output = fields.text("command"), fields.text("output")
    if command is not None:
        writer.block(command)
        writer.blank()
        writer.command(command)
    if output is not None:
        writer.block(output)
        writer.heading("output", "muted", after=text_size(output))
        writer.text(output)


def _write_custom(writer: Writer, fields: Fields) -> None:
    writer.field("kind", fields.text("customType"))
    if fields.flag("display") is False:
        writer.field("display", "hidden in Pi, but the model sees it")
    write_content(writer, fields.take("content"))


def write_summary(writer: Writer, fields: Fields) -> None:
    """Write a summary among `fields`."""
    tokens = fields.number("tokensBefore")
    if tokens is not None:
        writer.field("tokens", f"{count(tokens)} before it")
    origin = fields.text("fromId")
    if origin is not None:
        writer.field("branch", f"summarizes the one that ended at {compact(origin, 60)}")
    summary = fields.text("summary")
    if summary is not None:
        writer.block(summary)
        writer.blank()
        writer.prose(summary)


def _write_system(writer: Writer, fields: Fields) -> None:
    content = fields.take("content")
    if content not in (None, "", []):
        write_content(writer, content)
    for name, text in (fields.mapping("sections") or {}).items():
        writer.block(text if isinstance(text, str) else "")
        writer.heading(compact(name, 60), after=text_size(text) if isinstance(text, str) else "")
        if isinstance(text, str):
            writer.folded(text, "text")
        else:
            writer.line(("(removed)" if text is None else compact(text), "muted"))
    for key, name in TOOL_CHANGES.items():
        tools = fields.items(key)
        if tools:
            _write_tools(writer, name, tools)


def _write_tools(writer: Writer, name: str, tools: list[Any]) -> None:
    """Write the tools that a system message declares or takes back: their names, and all with `whole`."""
    writer.block(json_text(tools))
    writer.heading(name, after=", ".join(tool_names(tools)[:_MAX_BLOCKS]))
    if writer.whole:
        writer.json(tools)
    elif any(isinstance(tool, dict) and len(tool) > 1 for tool in tools):
        writer.more(text_size(json_text(tools)()))


def tool_names(tools: list[Any]) -> list[str]:
    """Return the names of tools, safe to print; of what has no name, its JSON."""
    return [
        compact(tool.get("name") if isinstance(tool, dict) and "name" in tool else tool, 40) for tool in tools
    ]


TOOL_CHANGES: Final = {"toolsAdded": "tools added", "toolsRemoved": "tools removed"}
"""The fields of a system message that change the tools, and what to call them."""

_WRITERS: Final[dict[str, Callable[[Writer, Fields], None]]] = {
    "user": _write_plain,
    "bashExecution": _write_bash,
    "custom": _write_custom,
    "branchSummary": write_summary,
    "compactionSummary": write_summary,
    "system": _write_system,
}

ROLE_STYLES: Final[dict[str, StyleName]] = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "tool",
    "bashExecution": "shell",
    "branchSummary": "summary",
    "compactionSummary": "summary",
    "custom": "note",
    "system": "setting",
}
"""The style of a role's name; any other role is a note."""
