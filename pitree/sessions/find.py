"""Finding entries of one session by words: the text of each entry, small and lowercased, and the matching.

An entry is searched by its label, its role or type, the beginning of its text, and the tool calls it makes
or answers. Texts are read once, in file order, and only for entries not read yet.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from pitree.sessions.context import blocks_of
from pitree.sessions.describe import describe
from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.rows import Layout

_LIMIT: Final = 400
_STEP: Final = 500


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")


class _Message(msgspec.Struct, gc=False):
    content: str | list[_Block] = ""


class _Line(msgspec.Struct, gc=False):
    message: _Message


_decode = msgspec.json.Decoder(_Line).decode


class EntryTexts:
    """The searchable text of every entry of a session."""

    def __init__(self, session: SessionFile) -> None:
        self._session = session
        self._texts: dict[str, str] = {}
        self._calls: dict[str, str] = {}

    def read(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Read the texts that are missing; False when `stop` ended it early."""
        for place, entry in enumerate(self._session.entries):
            if place % _STEP == 0 and stop():
                return False
            if entry.id not in self._texts:
                self._texts[entry.id] = self._text(entry)
        return True

    def _text(self, entry: Entry) -> str:
        parts = [entry.role or entry.type.replace("_", " ")]
        if entry.role in {"user", "assistant", "toolResult", "custom"}:
            try:
                content = _decode(self._session.raw(entry)).message.content
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, SessionError, OSError):
                return self._described(entry, parts)
            if isinstance(content, str):
                parts.append(content[:_LIMIT])
            else:
                parts += self._block_texts(content)
            if entry.role == "toolResult" and entry.calls:
                parts.append(self._calls.get(entry.calls[0], ""))
            return " ".join(parts).lower()
        return self._described(entry, parts)

    def _block_texts(self, content: list[_Block]) -> list[str]:
        texts = []
        for block in content:
            if block.type == "text" and block.text:
                texts.append(block.text[:_LIMIT])
            elif block.type == "toolCall":
                call = f"{block.name} {bytes(block.arguments)[:_LIMIT].decode('utf-8', 'replace')}"
                texts.append(call)
                if block.id is not None:
                    self._calls[block.id] = call
        return texts

    def _described(self, entry: Entry, parts: list[str]) -> str:
        try:
            description = describe(self._session, entry)
            message = self._session.body(entry).get("message")
        except (SessionError, OSError):
            return " ".join(parts).lower()
        content = message.get("content") if isinstance(message, dict) else None
        texts = [block["text"] for block in blocks_of(content) if isinstance(block.get("text"), str)]
        return " ".join([*parts, description.lead, description.text, *texts])[: _LIMIT * 2].lower()

    def matches(self, layout: Layout, query: str) -> bytes:
        """Return a byte for each entry of `layout` in the order drawn: 1 where every word is in its text.

        Entries whose text was not read yet do not match.
        """
        words = query.lower().split()
        entries = layout.tree.entries
        labels = layout.tree.labels
        texts = self._texts
        found = bytearray(len(layout.order))
        for index, position in enumerate(layout.order):
            entry_id = entries[position].id
            text = texts.get(entry_id)
            if text is None:
                continue
            label = labels.get(entry_id)
            if label is not None:
                text = f"{label.lower()} {text}"
            for word in words:
                if word not in text:
                    break
            else:
                found[index] = 1
        return bytes(found)
