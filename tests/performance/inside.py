"""What the functions under the screen take, in this process: for each shape of session the same list."""

import gc
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.find import EntryTexts
from pitree.sessions.jsonl import CHUNK_BYTES
from pitree.sessions.layout import Layout
from pitree.sessions.query import parse_query
from pitree.sessions.rows import Rows, layout_rows

SEARCH: Final = "err"
_SCREENFUL: Final = 40
_LEVELS: Final = 30

_Result = TypeVar("_Result")


class Stopwatch:
    """Times what is done under its names, in milliseconds: `measured`, in the order first timed."""

    def __init__(self) -> None:
        self.measured: dict[str, list[float]] = {}

    def time(self, name: str, work: Callable[[], _Result]) -> _Result:
        """Do something and note how long it took."""
        began = time.perf_counter()
        result = work()
        self.measured.setdefault(name, []).append((time.perf_counter() - began) * 1e3)
        return result


class _Skeleton(msgspec.Struct, gc=False):
    """The least of an entry that a tree can be made of."""

    type: str
    id: str
    timestamp: str
    parentId: str | None = None  # noqa: N815 - the file's name


def floor(path: Path, runs: int) -> dict[str, list[float]]:
    """Measure what reading a session takes at the least, `runs` times; returns milliseconds by what it is.

    The bytes are read as pitree reads them, in pieces; each line's skeleton is decoded by the fastest typed
    decoder there is, which checks the whole line, and is thrown away.
    """
    watch = Stopwatch()
    for _ in range(runs):
        gc.collect()
        watch.time("floor: read the bytes", partial(_work_through, path, len))
        watch.time("floor: and find the newlines", partial(_work_through, path, partial(_count, b"\n")))
        lines = path.read_bytes().split(b"\n")[1:-1]
        watch.time("floor: decode the skeletons", partial(_decode_all, lines))
        del lines
    return watch.measured


def _decode_all(lines: list[bytes]) -> None:
    decode = msgspec.json.Decoder(_Skeleton).decode
    for line in lines:
        decode(line)


def _count(byte: bytes, chunk: bytes) -> int:
    return chunk.count(byte)


def _work_through(path: Path, work: Callable[[bytes], int]) -> None:
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK_BYTES):
            work(chunk)


def figures(path: Path, runs: int) -> dict[str, list[float]]:
    """Measure what is done with one session file, `runs` times; returns milliseconds by what it is."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copyfile(path, Path(scratch) / "session.jsonl"))
        for run in range(runs):
            gc.collect()
            with watch.time("load", partial(SessionFile.load, copy)) as session:
                _look(session, watch)
                _append(session, watch, f"appended{run:04}")
    return watch.measured


def rows_by_filter(path: Path) -> dict[str, int]:
    """Return how many rows each filter shows."""
    with SessionFile.load(path) as session:
        layout = Layout(session.tree, session.tree.leaf_id)
        return {name: len(layout_rows(layout, name)) for name in FILTERS}


def _look(session: SessionFile, watch: Stopwatch) -> None:
    layout = watch.time("layout", partial(Layout, session.tree, session.tree.leaf_id))
    for name in FILTERS:
        rows = watch.time(f"rows: {name}", partial(layout_rows, layout, name))
        if name == "all":
            watch.time("draw the 40 deepest heads", partial(_draw, rows))
            folded = {rows.entry(row).id for row in range(len(rows)) if rows.foldable(row)}
            watch.time("rows: all branches folded", partial(layout_rows, layout, folded=folded))
    texts = EntryTexts(session)
    watch.time("search: read the texts", texts.read)
    watch.time("search: put them in order", partial(texts.prepare, layout.tree))
    for end in range(1, len(SEARCH) + 1):
        typed = SEARCH[:end]
        query = parse_query(typed)
        matches = watch.time(f"search: {typed}", partial(texts.matches, layout, query))
        watch.time(f"rows: search {typed}", partial(layout_rows, layout, matches=matches))


def _draw(rows: Rows) -> None:
    deepest = rows.depths.index(max(rows.depths))
    for row in range(max(0, deepest - _SCREENFUL // 2), min(len(rows), deepest + _SCREENFUL // 2)):
        rows.lead(row, start=min(rows.depths[row], max(0, rows.depths[deepest] - _LEVELS)))


def _append(session: SessionFile, watch: Stopwatch, entry_id: str) -> None:
    stamp = "2026-01-01T00:00:00.000Z"
    message = {"role": "user", "content": "and one more", "timestamp": 1}
    entry = {
        "type": "message",
        "id": entry_id,
        "parentId": session.tree.leaf_id,
        "timestamp": stamp,
        "message": message,
    }
    with session.path.open("ab") as out:
        out.write(json.dumps(entry).encode() + b"\n")
    growth = watch.time("append: refresh", session.refresh)
    if [entry.id for entry in growth.entries] != [entry_id]:
        raise AssertionError(f"the appended entry was not read: {growth}")
    layout = watch.time("append: layout", partial(Layout, session.tree, session.tree.leaf_id))
    watch.time("append: rows", partial(layout_rows, layout))
