"""Parts of a long session file that are decoded apart, in whatever process.

The file is divided into blocks; whoever is free claims the next one. What cannot be vouched for (damage,
further headers) is given back without its entries, and the reader takes those lines as it takes any.
"""

import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from pitree.sessions.entries import Entry, decode_entry
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import CHUNK_BYTES, Line, LineCutter

CLAIM: Final = struct.Struct("<H")
"""How a claim stands in the pipe."""


class Block(NamedTuple):
    """The lines that begin in one part of a file: bytes `start` to `end`, `lines` of them.

    The lines of the entries count from 0 in the block, their offsets from the file's start. `entries` is
    None where the lines have to be looked at more closely.
    """

    number: int
    start: int
    end: int
    lines: int
    entries: list[Entry] | None


class _Columns(msgspec.Struct, gc=False, array_like=True):
    """A block on its way between processes: by columns it is taken apart and put together in half the time.

    `kinds` are indexes into `words`: type, role and stop reason, which are the same few over and over.
    """

    number: int
    start: int
    end: int
    lines: int
    sound: bool
    ids: list[str] = []
    parents: list[str | None] = []
    stamps: list[str] = []
    numbers: list[int] = []
    offsets: list[int] = []
    lengths: list[int] = []
    has_text: list[bool] = []
    words: list[tuple[str, str, str]] = []
    kinds: list[int] = []
    calls: list[tuple[str, ...]] = []
    pointing: list[tuple[int, str | None, str | None]] = []
    """Place, `target_id` and `text` of the few entries that have one."""


def _columns(block: Block) -> _Columns:
    entries = block.entries or []
    words: dict[tuple[str, str, str], int] = {}
    return _Columns(
        block.number,
        block.start,
        block.end,
        block.lines,
        block.entries is not None,
        [entry.id for entry in entries],
        [entry.parent_id for entry in entries],
        [entry.timestamp for entry in entries],
        [entry.line for entry in entries],
        [entry.offset for entry in entries],
        [entry.length for entry in entries],
        [entry.has_text for entry in entries],
        kinds=[
            words.setdefault((entry.type, entry.role, entry.stop_reason), len(words)) for entry in entries
        ],
        words=list(words),
        calls=[entry.calls for entry in entries],
        pointing=[
            (place, entry.target_id, entry.text)
            for place, entry in enumerate(entries)
            if entry.target_id is not None or entry.text is not None
        ],
    )


def _block(columns: _Columns) -> Block:
    place = columns.number, columns.start, columns.end, columns.lines
    if not columns.sound:
        return Block(*place, None)
    types, roles, reasons = zip(*columns.words, strict=True) if columns.words else ((), (), ())
    kinds = columns.kinds
    entries = list(
        map(
            Entry,
            columns.ids,
            columns.parents,
            map(types.__getitem__, kinds),
            columns.stamps,
            columns.numbers,
            columns.offsets,
            columns.lengths,
            map(roles.__getitem__, kinds),
            columns.has_text,
            map(reasons.__getitem__, kinds),
            columns.calls,
        )
    )
    for where, target_id, text in columns.pointing:
        entries[where].target_id = target_id
        entries[where].text = text
    return Block(*place, entries)


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Columns).decode


def packed(block: Block) -> bytes:
    """Return a block as bytes for another process."""
    return _pack(_columns(block))


def unpacked(data: bytes) -> Block:
    """Return the block that was packed."""
    return _block(_unpack(data))


class Share:
    """What all who work on a file have in common: the file, its division into blocks, the claims on them."""

    def __init__(self, fd: int, claims: int, start: int, size: int, block_bytes: int) -> None:
        self.fd = fd
        self.claims = claims
        """The end of a pipe from which the numbers of the blocks come, each once."""
        self.start = start
        self.size = size
        self.block_bytes = block_bytes
        self.count = -(-(size - start) // block_bytes)
        """How many blocks there are."""

    def claim(self) -> int | None:
        """Return the number of a block that nobody works on yet; None when there are no more."""
        token = os.read(self.claims, CLAIM.size)
        return CLAIM.unpack(token)[0] if len(token) == CLAIM.size else None

    def block(self, number: int) -> Block:
        """Return one block, decoded."""
        begin = self.start + number * self.block_bytes
        limit = min(begin + self.block_bytes, self.size)
        start = end = limit
        entries: list[Entry] = []
        sound = True
        count = 0
        for line in self._lines(begin, limit, first=number == 0):
            start = min(start, line.offset)
            end = line.offset + len(line.data) + 1
            if line.data and sound:
                entry = _sound_entry(line)
                if entry is None:
                    sound = False
                else:
                    entry.line = count
                    entries.append(entry)
            count += 1
        return Block(number, start, end, count, entries if sound else None)

    def _lines(self, begin: int, limit: int, *, first: bool) -> Iterator[Line]:
        """Yield the finished lines that begin from `begin` on and before `limit`."""
        # from a byte earlier: a newline there says that a line begins at `begin`
        place = begin if first else begin - 1
        cutter = LineCutter()
        cutter.skip(0, place)
        partial = not first
        while cutter.offset < limit:
            chunk = os.pread(self.fd, CHUNK_BYTES, place)
            if not chunk:
                return
            place += len(chunk)
            for line in cutter.feed(chunk):
                if partial:
                    partial = False
                elif line.offset >= limit:
                    return
                else:
                    yield line
            if partial and place >= limit:
                return  # all of it belongs to a line of an earlier block


def _sound_entry(line: Line) -> Entry | None:
    """Return the entry on a line if there is nothing to say about it."""
    try:
        entry = decode_entry(line)
    except LineError:
        return None
    return entry if isinstance(entry, Entry) and not entry.notes else None
