"""The newest rows that the cache knows, without all that keeping it takes: for a list's first picture."""

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from pitree.catalog.rows import SessionRow

# Part of the file's name, so that two versions of pitree do not fight over one: another number for other
# tables, other fields of rows and marks, or another meaning of them.
EDITION: Final = 1
"""The number of the tables' form."""

# No array in MessagePack begins so.
JSON_MARK: Final = ord("[")
"""The first byte of what MessagePack could not hold: texts that are no Unicode stand as JSON."""

FIRST_ROWS: Final = 100
"""As many rows as the first picture of a list can need."""


def cache_file(folder: Path) -> Path:
    """Return the cache's file in a folder for caches."""
    return folder / f"sessions-{EDITION}.sqlite3"


def newest_known(file: Path, folders: Sequence[str]) -> list[SessionRow]:
    """Return the newest rows in these folders of the cache in `file`, which is only read.

    Where there is no cache, or whatever is wrong with it, there are none: who keeps it will see to that.
    """
    real = {os.path.realpath(folder): folder for folder in reversed(folders)}
    try:
        uri = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)) as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != EDITION:
                return []
            return [
                row.found_at(real[row.folder], row.file)
                for row in newest_rows(connection, [*real], FIRST_ROWS)
            ]
    except (sqlite3.Error, OSError, msgspec.MsgspecError, ValueError, TypeError, IndexError):
        return []


def newest_rows(connection: sqlite3.Connection, folders: Sequence[str], limit: int) -> list[SessionRow]:
    """Return the newest rows of these folders (real paths), in no time however many there are."""
    marks = ",".join("?" * len(folders))
    found = connection.execute(
        "SELECT key, folder, name, row FROM files "  # noqa: S608 - question marks
        f"WHERE +folder IN ({marks}) AND row NOT NULL ORDER BY modified DESC LIMIT ?",
        [*map(os.fsencode, folders), limit],
    )
    return read_rows(found)


def read_rows(found: Iterable[tuple[int, bytes, bytes, bytes]]) -> list[SessionRow]:
    """Return the rows of files, from the columns key, folder, name and row."""
    return [read_row(key, os.fsdecode(folder), os.fsdecode(name), data) for key, folder, name, data in found]


_decode = msgspec.msgpack.Decoder(SessionRow).decode


def read_row(key: int, folder: str, file: str, data: bytes) -> SessionRow:
    """Return the row that a column holds."""
    row = msgspec.convert(parse_json(data), SessionRow) if data[0] == JSON_MARK else _decode(data)
    row.folder, row.file, row.key = folder, file, key
    return row


def parse_json(data: bytes) -> Any:  # noqa: ANN401 - what the tables hold
    """Return the value of a column that begins with `JSON_MARK`."""
    return json.loads(data)[0]
