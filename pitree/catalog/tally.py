"""What the lines of one session add up to for the lists, line by line, so that a file that grew is read on.

A line costs one pass: a typed decoder checks it as JSON but builds only the few values that a row needs, and
no tree. Pi leaves a session out of its lists for one odd value in it; here the value counts as absent.
"""

import math
from copy import copy
from typing import Any, Final, NamedTuple, Self

import msgspec

from pitree.catalog.header import BLANKS
from pitree.catalog.locations import FoundFile
from pitree.catalog.rows import NO_MESSAGES, SessionRow
from pitree.sessions import javascript, migrate
from pitree.sessions.context import blocks_of
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import Line, encode_value, parse_value
from pitree.sessions.salvage import swallowed
from pitree.sessions.structure import shallow
from pitree.sessions.tokens import (
    ROLES_WITH_USAGE,
    TYPES_WITH_USAGE,
    body_usages,
    usage_cost,
    usage_tokens,
)

# Where the role of a message stands, if its line is written as Pi writes it.
_ROLE_WITHIN: Final = 400
_MAX_MS: Final = 8.64e15
# More models than that in one session are somebody's joke.
_MAX_MODELS: Final = 100


class Span(NamedTuple):
    """The text of one message among those of its session: so many characters, from the line at `offset`.

    `entry_id` is "" where the entry has none.
    """

    length: int
    offset: int
    entry_id: str
    role: str


class _Cost(msgspec.Struct, gc=False):
    total: float | None = None


class _Usage(msgspec.Struct, gc=False):
    totalTokens: float | None = None  # noqa: N815 - the field's name in the file
    input: float | None = None
    output: float | None = None
    cacheRead: float | None = None  # noqa: N815
    cacheWrite: float | None = None  # noqa: N815
    cost: _Cost | None = None


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


_Content = str | list[_Block] | msgspec.UnsetType | None


class _Talk(msgspec.Struct, gc=False):
    role: str = ""
    content: _Content = msgspec.UNSET
    timestamp: float | None = None
    model: str | None = None
    usage: _Usage | None = None


class _Result(msgspec.Struct, gc=False):
    role: str = ""
    usage: _Usage | None = None


class _TalkLine(msgspec.Struct, gc=False):
    type: str
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    timestamp: str | None = None
    message: _Talk | None = None
    name: str | None = None
    targetId: str | None = None  # noqa: N815
    label: str | None = None
    usage: _Usage | None = None


class _ResultLine(msgspec.Struct, gc=False):
    type: str
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    message: _Result | None = None


_decode_talk = msgspec.json.Decoder(_TalkLine).decode
_decode_result = msgspec.json.Decoder(_ResultLine).decode
_UNUSUAL: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Tally(msgspec.Struct):
    """What was gathered from the lines so far; everything but `texts` and `spans` is small.

    `offset` is where the next line begins, `objects` how many there were with the header, `texts` and
    `spans` are those since the last `take_texts`.
    """

    id: str = ""
    cwd: str = ""
    parent_session: str | None = None
    created: float | None = None
    dated: bool = False
    version: float = 0
    offset: int = 0
    objects: int = 0
    previous_id: str = ""
    name: str | None = None
    messages: int = 0
    active: float = 0.0
    first: str = ""
    tokens: int = 0
    cost: float = 0.0
    branches: int = 0
    damage: int = 0
    models: dict[str, None] = {}
    labels: dict[str, str] = {}
    texts: list[str] = []
    spans: list[Span] = []

    def fork(self) -> Self:
        """Return a tally that goes on from here without changing this one; its texts begin anew."""
        made = copy(self)
        made.models, made.labels = dict(self.models), dict(self.labels)
        made.texts, made.spans = [], []
        return made

    def begin(self, header: JsonObject, damage: int) -> None:
        """Take up the header, and what was wrong before it."""
        stamp, cwd, parent = header.get("timestamp"), header.get("cwd"), header.get("parentSession")
        self.id = header["id"]
        self.cwd = cwd if isinstance(cwd, str) else ""
        self.parent_session = parent if isinstance(parent, str) else None
        self.created = javascript.time_ms(stamp) if "timestamp" in header else None
        self.dated = isinstance(stamp, str)
        self.version = migrate.version_of(header)
        self.objects = 1
        self.damage = damage

    # ---- lines

    def take(self, lines: list[bytes], *, unfinished: bool = False) -> None:
        """Take further lines, each as it is in the file without its newline."""
        for data in lines:
            at = self.offset
            self.offset = at + len(data) + 1
            if not data:
                continue
            try:
                if data.find(b'"toolResult"', 0, _ROLE_WITHIN) >= 0:
                    other = _decode_result(data)
                    result = other.message
                    if other.type == "message" and result is not None and result.role == "toolResult":
                        self._link(other.id, other.parentId)
                        self.messages += 1
                        self._take_usage(result.usage)
                        continue
                line = _decode_talk(data)
            except _UNUSUAL:
                self._take_unusual(Line(0, at, data), unfinished=unfinished)
                continue
            if line.type == "session":
                self.objects += 1
                self.damage += 1
                continue
            entry_id = self._link(line.id, line.parentId)
            message = line.message
            if line.type == "message":
                self.messages += 1
                if message is not None:
                    role = message.role
                    if role == "user" or role == "assistant":  # noqa: PLR1714 - the hot path
                        self._take_talk(message, line.timestamp, at, entry_id)
            elif line.type == "session_info":
                self.name = javascript.trim(line.name or "") or None
            elif line.type == "label":
                self._take_label(line.targetId, line.label)
            if message is not None and message.role in ROLES_WITH_USAGE:
                self._take_usage(message.usage)
            if line.type in TYPES_WITH_USAGE:
                self._take_usage(line.usage)

    def _link(self, entry_id: str | None, parent_id: str | None) -> str:
        """Count an entry, and whether it goes on from the one before; return its id."""
        if self.version < 2:
            entry_id = migrate.made_up_id(self.objects)
        elif self.objects > 1 and (parent_id or "") != self.previous_id:
            self.branches += 1
        self.objects += 1
        # what has no id is nobody's parent, and what has no parent does not go on from it
        self.previous_id = entry_id or "\0"
        return entry_id or ""

    def _take_label(self, target: str | None, label: str | None) -> None:
        if target is not None and label:
            self.labels[target] = label
        elif target is not None:
            self.labels.pop(target, None)

    def _take_usage(self, usage: _Usage | None) -> None:
        if usage is None:
            return
        self.tokens += _tokens(usage)
        cost = usage.cost
        if cost is not None and cost.total is not None and 0 < cost.total < 1e18:
            self.cost += cost.total

    def _take_talk(self, message: _Talk, timestamp: object, offset: int, entry_id: str) -> None:
        content = message.content
        if message.model and len(self.models) < _MAX_MODELS:
            self.models[message.model] = None
        if content is msgspec.UNSET:
            return
        active = javascript.time_ms(timestamp) if message.timestamp is None else message.timestamp
        if active is not None and self.active < active <= _MAX_MS:
            self.active = active
        if isinstance(content, str):
            text = content
        elif content is None:
            return
        else:
            text = " ".join([block.text or "" for block in content if block.type == "text"])
        if text:
            self.texts.append(text)
            self.spans.append(Span(len(text), offset, entry_id, message.role))
            if not self.first and message.role == "user":
                self.first = text

    # ---- odd lines

    def _take_unusual(self, line: Line, *, unfinished: bool) -> None:
        """Take a line that the typed decoder refused: odd types or characters, too deep, or no JSON."""
        try:
            value = parse_value(line.data)
        except LineError:
            value = self._in_part(line.data)
            if value is None:
                self._take_damaged(line, unfinished=unfinished)
                return
        if not isinstance(value, dict):
            self.damage += 1
        elif value.get("type") == "session":
            self.objects += 1
            self.damage += 1
        else:
            self._take_object(value, line.offset)

    @staticmethod
    def _in_part(data: bytes) -> JsonObject | None:
        """Return the entry on a line that is nested too deeply, without its depths."""
        rest = shallow(data)
        if rest is None:
            return None
        try:
            value = parse_value(rest)
        except LineError:
            return None
        return value if isinstance(value, dict) and value.get("type") != "session" else None

    def _take_damaged(self, line: Line, *, unfinished: bool) -> None:
        if not line.data.strip(BLANKS):
            return
        self.damage += 1
        if not unfinished:
            for entry in swallowed(line):
                self._take_swallowed(entry, line)

    def _take_swallowed(self, entry: Entry, line: Line) -> None:
        start = entry.offset - line.offset
        value = parse_value(line.data[start : start + entry.length])
        if isinstance(value, dict):
            self._take_object(value, entry.offset)

    def _take_object(self, value: JsonObject, offset: int) -> None:
        entry_id = self._link(_text(value.get("id")), _text(value.get("parentId")))
        kind = value.get("type")
        for usage in body_usages(value):
            self.tokens += usage_tokens(usage)
            self.cost += usage_cost(usage)
        if kind == "session_info":
            self.name = javascript.trim(_text(value.get("name")) or "") or None
        elif kind == "label":
            self._take_label(_text(value.get("targetId")), _text(value.get("label")))
        elif kind == "message":
            self.messages += 1
            message = value.get("message")
            if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
                self._take_talk(*_usual(message, value), offset, entry_id)

    # ---- what it comes to

    def row(self, found: FoundFile) -> SessionRow:
        """Return what the lines of that file gave."""
        if self.active:
            modified = float(int(self.active))
        elif self.created is not None and self.dated:
            modified = self.created
        else:
            modified = math.floor(found.mtime_ns / 1e6 + 0.5)
        return SessionRow(
            folder=found.folder,
            file=found.file,
            id=self.id,
            cwd=self.cwd,
            name=self.name,
            created=self.created,
            modified=modified,
            message_count=self.messages,
            first_message=self.first or NO_MESSAGES,
            parent_session=self.parent_session,
            size=found.size,
            mtime_ns=found.mtime_ns,
            damage=self.damage,
            tokens=self.tokens,
            cost=self.cost,
            models=tuple(self.models),
            branches=self.branches,
            labels=len(self.labels),
        )


def _tokens(usage: _Usage) -> int:
    """Return what `usage_tokens` of `pitree.sessions` returns for the same record."""
    total = usage.totalTokens
    if total is not None and 0 < total < 1e18:
        return int(total)
    parts = (usage.input, usage.output, usage.cacheRead, usage.cacheWrite)
    return int(sum(part for part in parts if part is not None and 0 < part < 1e18))


def _usual(message: JsonObject, entry: JsonObject) -> tuple[_Talk, Any]:
    """Return a message of odd types as far as it is usable, and the time that stands in for its own."""
    content: _Content = msgspec.UNSET
    if "content" in message:
        content = [
            _Block(str(block.get("type")), _joined(block.get("text")))
            for block in blocks_of(message["content"])
        ]
    moment = message.get("timestamp")
    usable = isinstance(moment, int | float) and not isinstance(moment, bool)
    talk = _Talk(message["role"], content, None, _text(message.get("model")))
    if usable and moment is not None and abs(moment) <= _MAX_MS:
        talk.timestamp = float(moment)
    return talk, None if usable else entry.get("timestamp")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _joined(value: object) -> str:
    """Return what a text block contributes whose text is no string, as JavaScript's `join` writes it."""
    if value is None or isinstance(value, list | dict):
        return ""
    return value if isinstance(value, str) else encode_value(value).decode()
