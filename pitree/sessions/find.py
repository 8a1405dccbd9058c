"""Finding entries of one session by words: the text of each entry, small and lowercased, and the matching.

An entry is searched by its label, its role or type, the beginning of its text, and the tool calls it makes
or answers. Texts are read once, in file order, and only for entries not read yet.
"""

import time
from collections.abc import Callable
from itertools import compress, repeat
from operator import contains
from typing import Final

import msgspec

from pitree.sessions.context import blocks_of
from pitree.sessions.describe import describe
from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.layout import Layout, both
from pitree.sessions.query import Query, Term, on_one_line
from pitree.sessions.tree import Tree

# Of each text what Pi looks at of a whole entry; every letter typed goes through all of it.
_LIMIT: Final = 200
# Where more than one in so many texts is to be looked at, all of them are: it is quicker than choosing.
_MANY: Final = 2


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
        self._texts: dict[int, str] = {}
        """By the offset of the line: an id can come again with another text."""
        self._calls: dict[str, str] = {}
        self._by_position: tuple[list[Entry], dict[str, str], list[str]] | None = None
        """Of which entries in which order, with which labels; texts as far as they were read."""
        self._ordered: tuple[list[str], list[int], list[str]] | None = None
        """The texts by position, the order drawn, and the texts in it."""
        self._last: tuple[list[str], tuple[Term, ...], bytes] | None = None

    def read(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Read the texts that are missing; False when `stop` ended it early."""
        for entry in self._session.entries:
            if entry.offset not in self._texts:
                if stop():
                    return False
                self._texts[entry.offset] = self._text(entry)
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
            return " ".join(parts).lower() or " "
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

    def matches(self, layout: Layout, query: Query, *, seconds: float = 2.0) -> bytes:
        """Return a byte for each entry of `layout` in the order drawn: 1 where the query is in its text.

        Entries whose text was not read yet do not match. A query with an error matches nothing; a pattern
        that takes more than `seconds` altogether is stopped, which becomes its error.
        """
        if query.error is not None:
            return bytes(len(layout.order))
        texts = self._in_order(layout)
        if query.pattern is not None:
            return bytes(self._pattern_matches(texts, query, seconds))
        before, self._last = self._last, None
        goes_on = before is not None and before[0] is texts and _goes_on(before[1], query.terms)
        matching = before[2] if before is not None and goes_on else bytes(map(bool, texts))
        for term in query.terms:
            matching = _holding(term, texts, matching)
        self._last = (texts, query.terms, matching)
        return matching

    def _in_order(self, layout: Layout) -> list[str]:
        """Return the texts in the order drawn; kept, since each letter that is typed goes through them."""
        texts, order = self.prepare(layout.tree), layout.order
        kept = self._ordered
        if kept is None or kept[0] is not texts or kept[1] is not order or len(kept[2]) != len(order):
            kept = self._ordered = (texts, order, list(map(texts.__getitem__, order)))
        return kept[2]

    def get_ready(self, layout: Layout) -> None:
        """Do what the first search would have to do."""
        self._in_order(layout)

    def prepare(self, tree: Tree) -> list[str]:
        """Return the texts by position in `tree.entries`, labels in front; kept until one of them changes.

        May be called while another thread reads, or takes up what was appended.
        """
        entries, labels = tree.entries, tree.labels  # the list is another one when entries are moved
        kept = self._by_position
        known: list[str] = []
        if kept is not None and kept[0] is entries and kept[1] == labels:
            if len(kept[2]) == len(entries):
                return kept[2]
            known = kept[2]
        found = [self._texts.get(entry.offset) for entry in entries[len(known) :]]
        read = len(known) + (found.index(None) if None in found else len(found))
        made = [*known, *(text or "" for text in found)]
        for entry_id, label in labels.items():
            position = tree.position(entry_id)
            if position is not None and len(known) <= position < len(made):
                made[position] = f"{label.lower()} {made[position]}"
        self._by_position = (entries, labels, made if read == len(made) else made[:read])
        return made

    @staticmethod
    def _pattern_matches(texts: list[str], query: Query, seconds: float) -> bytearray:
        matching = bytearray(len(texts))
        deadline = time.monotonic() + seconds
        try:
            for index, text in enumerate(texts):
                # a timeout of no time at all would be none
                left = max(deadline - time.monotonic(), 1e-6)
                matching[index] = query.pattern.search(text, timeout=left, concurrent=True) is not None
        except TimeoutError:
            query.error = "the regular expression takes too long"
            return bytearray(len(texts))
        return matching


def _holding(term: Term, texts: list[str], among: bytes) -> bytes:
    """Return `among` with 1 only where the text holds the term.

    No step of Python for each text where that can be helped: there are as many as entries.
    """
    if among.count(1) > len(texts) // _MANY and not term.is_phrase:
        return both(bytes(map(contains, texts, repeat(term.text))), among)
    places = list(compress(range(len(texts)), among))
    some = map(texts.__getitem__, places)
    held = (
        (_holds_phrase(text, term.text) for text in some)
        if term.is_phrase
        else map(contains, some, repeat(term.text))
    )
    made = bytearray(len(texts))
    for place in compress(places, held):
        made[place] = 1
    return bytes(made)


def _goes_on(before: tuple[Term, ...], now: tuple[Term, ...]) -> bool:
    """Whether whatever matches `now` also matched `before`: the person typed on."""
    return 0 < len(before) <= len(now) and all(
        old.text in new.text and old.is_phrase == new.is_phrase for old, new in zip(before, now, strict=False)
    )


def _holds_phrase(text: str, phrase: str) -> bool:
    return all(word in text for word in phrase.split(" ")) and phrase in on_one_line(text)
