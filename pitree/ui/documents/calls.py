"""A tool call: its arguments as the tool means them. The argument names are those of Pi's own tools."""

from typing import Final

from pitree.sessions.describe import tool_line
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import parse_value
from pitree.ui.documents.diff import diff_lines, diff_style
from pitree.ui.documents.fields import Fields
from pitree.ui.documents.values import json_text, plural
from pitree.ui.documents.writer import Writer

_ON_THE_LINE: Final = {
    "read": ("path", "file_path", "offset", "limit"),
    "write": ("path", "file_path"),
    "edit": ("path", "file_path"),
    "grep": ("pattern", "path"),
    "find": ("pattern", "path"),
    "ls": ("path",),
}
"""The arguments that `tool_line` shows, by tool."""

_SHELLS: Final = frozenset({"bash", "powershell"})


def call_line(name: object, arguments: object) -> tuple[str, str]:
    """Return a call's tool and what it is about, as one line; both are safe to print."""
    line = tool_line(name, arguments)
    return line.lead, line.text


def call_text(block: JsonObject) -> str:
    """Return what somebody would want to have copied of a call: the command, the new file, else its JSON."""
    name, arguments = block.get("name"), block.get("arguments")
    if isinstance(arguments, dict) and isinstance(name, str):
        key = "content" if name == "write" else "command" if name in _SHELLS else ""
        if isinstance(arguments.get(key), str):
            return str(arguments[key])
    return json_text(arguments)()


def read_range(block: JsonObject) -> tuple[str, int]:
    """Return the path and the first line that a call reads; "" and 1 where it reads no file."""
    arguments = block.get("arguments")
    if block.get("name") != "read" or not isinstance(arguments, dict):
        return "", 1
    path, offset = arguments.get("path", arguments.get("file_path")), arguments.get("offset")
    usable = isinstance(offset, int) and not isinstance(offset, bool) and 0 < offset < 1e9
    return path if isinstance(path, str) else "", offset if isinstance(offset, int) and usable else 1


def write_call(writer: Writer, block: JsonObject) -> None:
    """Write a `toolCall` block: tool and arguments."""
    name, arguments = block.get("name"), block.get("arguments")
    tool, about = call_line(name, arguments)
    known = isinstance(arguments, dict) and tool in _ON_THE_LINE | dict.fromkeys(_SHELLS)
    writer.heading(f"→ {tool}", "tool", after="" if tool in _SHELLS or not known else about)
    given = Fields(block)
    given.drop("type", "id", "name", "arguments")
    if known:
        _write_known(writer, tool, Fields(arguments))
    elif arguments is None or arguments == {}:
        writer.line(("(no arguments)", "muted"))
    else:
        writer.json(arguments)
    writer.fields(given.rest)


def _write_known(writer: Writer, tool: str, arguments: Fields) -> None:
    path = arguments.rest.get("path", arguments.rest.get("file_path"))
    for name in _ON_THE_LINE.get(tool, ()):
        if isinstance(arguments.rest.get(name), str | int | float | None):
            arguments.drop(name)
    if tool in _SHELLS:
        command = arguments.text("command")
        if command is not None:
            writer.code(command, "command.sh")
    elif tool == "write":
        content = arguments.text("content")
        if content is not None:
            writer.code(content, path if isinstance(path, str) else "")
    elif tool == "edit":
        _write_edits(writer, arguments)
    writer.fields(arguments.rest)


def _write_edits(writer: Writer, arguments: Fields) -> None:
    """Write replacements: Pi takes an array, one object, a string of JSON, or the two texts themselves."""
    edits = arguments.take("edits")
    if isinstance(edits, str):
        try:
            edits = parse_value(edits.encode("utf-8", "surrogatepass"))
        except LineError:
            edits = [edits]
    replacements = edits if isinstance(edits, list) else [] if edits is None else [edits]
    if isinstance(arguments.rest.get("oldText"), str) and isinstance(arguments.rest.get("newText"), str):
        pair = {"oldText": arguments.text("oldText"), "newText": arguments.text("newText")}
        replacements = [*replacements, pair]
    for place, replacement in enumerate(replacements, 1):
        if place > 1:
            writer.blank()
        if len(replacements) > 1:
            writer.line((f"{place} of {plural(len(replacements), 'replacement')}", "muted"))
        texts = Fields(replacement)
        old, new = texts.text("oldText"), texts.text("newText")
        if old is None or new is None:
            writer.json(replacement)
            continue
        writer.text("\n".join(diff_lines(_lf(old), _lf(new))), diff_style)
        writer.fields(texts.rest)


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
