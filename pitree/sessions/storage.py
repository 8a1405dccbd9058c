"""Where a session's entries are: in memory as long as it deserves no file, then in one."""

from collections.abc import Callable, Iterable
from pathlib import Path

from pitree.sessions import migrate, writing
from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject, decode_entry
from pitree.sessions.errors import InvalidValueError, LineError, ReadOnlyError, WriteError
from pitree.sessions.file import SessionFile
from pitree.sessions.jsonl import Line, encode_value, parse_value
from pitree.sessions.tree import Tree

Make = Callable[[Tree], JsonObject]
"""Makes the entry to append, from the tree as it is at that moment."""


def encode_entry(entry: JsonObject) -> bytes:
    """Return an entry's line. Raises InvalidValueError where it holds what JSON cannot."""
    try:
        return encode_value(entry)
    except LineError as error:
        raise InvalidValueError(f"this {entry.get('type')} {error}") from None


class Draft:
    """A session in memory. With a `path` it becomes a file as soon as it has a conversation, as in Pi."""

    def __init__(self, header: JsonObject, path: Path | None, entries: Iterable[JsonObject] = ()) -> None:
        self.header = header
        self.path = path
        self._lines: dict[str, bytes] = {}
        self._offset = 0
        self.tree = Tree(self._entry(encode_entry(entry)) for entry in entries)

    def close(self) -> None:
        """Do nothing: there is no file."""

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's object, a new one at every call."""
        body: JsonObject = parse_value(self._lines[entry.id])
        return body

    def append(self, make: Make) -> str:
        """Take up an entry, and with the first of a conversation write the file. Returns the entry's id.

        Raises WriteError, InvalidValueError; then nothing has changed.
        """
        entry = self._entry(encode_entry(make(self.tree)))
        before = list(self.tree.entries)
        self.tree.extend([entry])
        try:
            self._write()
        except WriteError:
            del self._lines[entry.id]
            self._offset = entry.offset
            self.tree = Tree(before)
            raise
        return entry.id

    def settled(self) -> "Draft | Stored":
        """Return what the session is by now: still this, or the file that was written."""
        self._write()
        if self.path is None or not self._has_conversation:
            return self
        return Stored(SessionFile.load(self.path))

    def _entry(self, line: bytes) -> Entry:
        """Return the entry on a line, as if it had been read from a file."""
        entry = decode_entry(Line(len(self._lines) + 2, self._offset, line))
        if not isinstance(entry, Entry):
            raise InvalidValueError("a session header is no entry")
        self._lines[entry.id] = line
        self._offset += len(line) + 1
        return entry

    @property
    def _has_conversation(self) -> bool:
        return any(entry.role in ("user", "assistant") for entry in self.tree.entries)

    def _write(self) -> None:
        if self.path is None or self._written or not self._has_conversation:
            return
        lines = [encode_entry(self.header), *self._lines.values()]
        if self.path.exists() and self.path.stat().st_size == 0:
            with writing.locked(self.path) as fd:
                writing.append_lines(fd, self.path, lines)
        else:
            writing.create_file(self.path, lines)
        self._written = True

    _written = False


class Stored:
    """A session in a file, which others may append to as well."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self.path: Path | None = file.path

    @property
    def header(self) -> JsonObject:
        """The header, as stored."""
        return self._file.header

    @property
    def tree(self) -> Tree:
        """The entries read so far."""
        return self._file.tree

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's object, a new one at every call."""
        return self._file.body(entry)

    def settled(self) -> "Stored":
        """Return what the session is by now: this."""
        return self

    def append(self, make: Make) -> str:
        """Append an entry to the file, after taking up what others appended. Returns the entry's id.

        A file of version 1 or 2 is migrated first. Raises ReadOnlyError, WriteError, InvalidValueError; then
        the file and what is in memory are as they were, but for what others appended.
        """
        if self._file.read_only:
            raise ReadOnlyError(f"{self._file.path} is not written to: {self._file.read_only}")
        if self._file.version < CURRENT_VERSION:
            self._migrate(make)
        path = self._file.path
        with writing.locked(path) as fd:
            if self._file.refresh().replaced:
                self._reload()
            entry = make(self.tree)
            writing.append_lines(fd, path, [encode_entry(entry)])
            if self._file.refresh().replaced:
                self._reload()
        entry_id = str(entry["id"])
        if entry_id not in self.tree:
            raise WriteError(f"{path} was rewritten while an entry was appended; entry {entry_id} is lost")
        return entry_id

    def _reload(self) -> None:
        file = SessionFile.load(self._file.path)
        self._file.close()
        self._file = file

    def _migrate(self, make: Make) -> None:
        """Put the session as version 3 in the place of the file; the old one stays beside it."""
        make(self.tree)  # what cannot be appended is no reason to migrate
        file = self._file
        header = {**file.header, "version": CURRENT_VERSION}
        lines = [encode_entry(header)]
        lines += [encode_entry(file.body(entry)) for entry in file.entries]
        kept = file.path.with_name(f"{file.path.name}.v{migrate.version_of(file.header):g}")
        writing.replace_file(file.path, lines, kept=kept)
        self._reload()
