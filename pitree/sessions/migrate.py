"""Versions 1 and 2 of the file format, read as version 3. Only in memory: the file stays as it is.

Version 1 is a plain list without ids. Pi gives such entries fresh random ids when it rewrites the file;
here an entry's id is its place in the list, so that it is the same at every reading, also of a grown file.
"""

import math

from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject


def version_of(header: JsonObject) -> float:
    """Return the version that a header states: 1 where it states none, infinity where it is no number."""
    version = header.get("version")
    if version is None:
        return 1
    try:
        number = float(version)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return math.inf if math.isnan(number) else number


def made_up_id(place: int) -> str:
    """Return the id of a version 1 entry: `place` counts the file's objects, the header being 0."""
    return f"{place:08x}"


def migrate_skeleton(entry: Entry, version: float, place: int, previous: str | None) -> None:
    """Change `entry`, read from a file of `version`, to what it is in version 3.

    `place` is its number among the file's objects, `previous` the id of the entry before it.
    """
    if version < 2:
        entry.id = made_up_id(place)
        entry.parent_id = previous
        entry.notes = tuple(note for note in entry.notes if not note.startswith(("id ", "parentId ")))
    if version < CURRENT_VERSION and entry.role == "hookMessage":
        entry.role = "custom"


def migrate_body(body: JsonObject, entry: Entry, version: float) -> None:
    """Change a decoded line in place, as `migrate_skeleton` changed its skeleton `entry`."""
    if version < 2:
        body["id"] = entry.id
        body["parentId"] = entry.parent_id
        index = body.get("firstKeptEntryIndex")
        if body.get("type") == "compaction" and isinstance(index, int) and not isinstance(index, bool):
            del body["firstKeptEntryIndex"]
            if index > 0:
                body["firstKeptEntryId"] = made_up_id(index)
    message = body.get("message")
    if version < CURRENT_VERSION and isinstance(message, dict) and message.get("role") == "hookMessage":
        message["role"] = "custom"
