"""The words about an abandoned span: a transcript for a model, and an outline made without one."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from pitree.sessions.branching import FileLists, Span, span_messages
from pitree.sessions.context import Session, blocks_of
from pitree.sessions.describe import tool_line
from pitree.sessions.entries import JsonObject
from pitree.sessions.plain import copy_text
from pitree.sessions.tokens import estimate_tokens

TRANSCRIPT_TOKENS: Final = 100_000
"""What a transcript may amount to where nothing is known of the model that reads it."""

_ASKS: Final = 20
_FILES: Final = 50
_LINE: Final = 300
_LAST: Final = 2000

_SPEAKERS: Final = {
    "user": "User",
    "assistant": "Assistant",
    "custom": "Extension",
    "branchSummary": "Summary of an earlier branch",
    "compactionSummary": "Summary of what came before",
    "bashExecution": "Shell",
}


class Transcript(NamedTuple):
    """A span as text; `left_out` is how many of its `messages` had no room, counted from the oldest."""

    text: str
    messages: int
    left_out: int


def transcript(session: Session, span: Span, budget: int = TRANSCRIPT_TOKENS) -> Transcript:
    """Return a span as text of at most `budget` tokens (estimated), its newest end.

    A newest message that is too long by itself is cut. Raises what `session.body` raises.
    """
    parts: list[str] = []
    used = 0
    said = [(message, text) for _, message in span_messages(session, span) if (text := _said(message))]
    for message, text in reversed(said):
        used += max(estimate_tokens(message), len(text) // 4)
        if used > budget:
            if not parts:
                parts.append(text[: budget * 4])
            break
        parts.append(text)
    return Transcript("\n\n".join(reversed(parts)), len(said), len(said) - len(parts))


def _said(message: JsonObject) -> str:
    role = message.get("role")
    speaker = _SPEAKERS.get(role) if isinstance(role, str) else None
    if speaker is None:
        return ""
    lines = []
    text = copy_text(message).strip()
    if text:
        lines.append(text)
    if role == "assistant":
        lines += [f"(called {line})" for line in _calls(message)]
    elif role == "bashExecution" and message.get("excludeFromContext"):
        return ""
    return f"{speaker}: " + "\n".join(lines) if lines else ""


def _calls(message: JsonObject) -> Iterable[str]:
    for block in blocks_of(message.get("content")):
        if block.get("type") == "toolCall":
            yield str(tool_line(block.get("name"), block.get("arguments")))


def outline(session: Session, span: Span, files: FileLists) -> str:
    """Return the beginning of a summary, made without a model: what was asked, the files, the last state.

    Raises what `session.body` raises.
    """
    asks: list[str] = []
    last = ""
    calls = 0
    for _, message in span_messages(session, span):
        text = copy_text(message).strip()
        if message.get("role") == "user" and text:
            asks.append(_short(text, _LINE))
        elif message.get("role") == "assistant":
            last = text or last
            calls += sum(1 for _ in _calls(message))
    parts = []
    if asks:
        parts.append("What was asked:\n" + _listed(asks, _ASKS, "earlier", newest=True))
    if calls:
        parts.append(f"Tools were called {calls} times." if calls > 1 else "A tool was called once.")
    if files_text(files):
        parts.append(files_text(files))
    if last:
        parts.append("The last reply:\n" + _short(last, _LAST, lines=True))
    return "\n\n".join(parts) or "Nothing was said on this branch."


def files_text(files: FileLists) -> str:
    """Return file lists as they stand in a summary; "" where there are none."""
    parts = []
    if files.read:
        parts.append("Files read:\n" + _listed(files.read, _FILES, "more"))
    if files.modified:
        parts.append("Files changed:\n" + _listed(files.modified, _FILES, "more"))
    return "\n\n".join(parts)


def _listed(items: Iterable[str], limit: int, rest: str, *, newest: bool = False) -> str:
    every = list(items)
    kept = every[-limit:] if newest else every[:limit]
    lines = [f"- {item}" for item in kept]
    if len(every) > limit:
        lines.insert(0 if newest else limit, f"- ({len(every) - limit} {rest})")
    return "\n".join(lines)


def _short(text: str, limit: int, *, lines: bool = False) -> str:
    text = text if lines else " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
