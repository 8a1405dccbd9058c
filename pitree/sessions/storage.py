"""Where a session's entries are: in memory as long as it deserves no file, then in one."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pitree.sessions import migrate, writing
from pitree.sessions.entries import CURRENT_VERSION, Entry, JsonObject, decode_entry
from pitree.sessions.errors import InvalidValueError, LineError, ReadOnlyError, WriteError
from pitree.sessions.file import SessionFile
from pitree.sessions.intake import TOO_DEEP
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


def lines_of(file: SessionFile) -> list[bytes]:
    """Return the lines of all entries of a file as version 3 has them, repeated ids included, without header.

    What needs no migration is as it is in the file, to the byte. Raises InvalidValueError for what is nested
    too deeply to be migrated.
    """
    if file.version >= CURRENT_VERSION:
        return [file.raw(entry) for entry in _every_entry(file)]
    return [encode_entry(body) for body in _whole_bodies(file)]


def _every_entry(file: SessionFile) -> list[Entry]:
    return sorted([*file.entries, *file.tree.superseded], key=lambda entry: entry.offset)


def _whole_bodies(file: SessionFile) -> Iterator[JsonObject]:
    for entry in _every_entry(file):
        check_whole(entry)
        yield file.body(entry)


def check_whole(entry: Entry) -> None:
    """Raise InvalidValueError where an entry's object can only be had in part, and so not be written anew."""
    if TOO_DEEP in entry.notes:
        raise InvalidValueError(f"entry {entry.id} on line {entry.line} cannot be written anew: {TOO_DEEP}")


class Draft:
    """A session in memory. With a `path` it becomes a file as soon as it has a conversation, as in Pi."""

    def __init__(self, header: JsonObject, path: Path | None, entries: Iterable[JsonObject] = ()) -> None:
        self.header = header
        self.path = path
        self._lines: list[bytes] = []
        self._offset = 0
        self._has_conversation = False
        self._written = False
        self.tree = Tree(self._take(self._entry(line), line) for line in map(encode_entry, entries))

    def close(self) -> None:
        """Do nothing: there is no file."""

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's object, a new one at every call."""
        body: JsonObject = parse_value(self._lines[entry.line - 2])
        return body

    def append(self, make: Make) -> str:
        """Take up an entry, and with the first of a conversation write the file. Returns the entry's id.

        Raises WriteError, InvalidValueError; then nothing has changed.
        """
        line = encode_entry(make(self.tree))
        entry = self._entry(line)
        if self._has_conversation or _is_conversation(entry):
            self._write([*self._lines, line])
        self.tree.extend([self._take(entry, line)])
        return entry.id

    def check_writable(self) -> None:
        """Do nothing: what is made here is of the version that is known."""

    def settled(self) -> "Draft | Stored":
        """Return what the session is by now: still this, or the file that was written.

        Raises WriteError where the file cannot be written or is no longer there.
        """
        if self.path is None or not self._has_conversation:
            return self
        self._write(self._lines)
        try:
            return Stored(SessionFile.load(self.path))
        except OSError as error:
            raise WriteError(f"{self.path} cannot be read again: {error.strerror or error}") from error

    def _entry(self, line: bytes) -> Entry:
        """Return the entry on a line, as if it had been read from a file whose next line it is."""
        entry = decode_entry(Line(len(self._lines) + 2, self._offset, line))
        if not isinstance(entry, Entry):
            raise InvalidValueError("a session header is no entry")
        return entry

    def _take(self, entry: Entry, line: bytes) -> Entry:
        self._lines.append(line)
        self._offset += len(line) + 1
        self._has_conversation = self._has_conversation or _is_conversation(entry)
        return entry

    def _write(self, lines: Iterable[bytes]) -> None:
        if self.path is None or self._written:
            return
        writing.create_file(self.path, [encode_entry(self.header), *lines])
        self._written = True


def _is_conversation(entry: Entry) -> bool:
    return entry.role in ("user", "assistant")


class Stored:
    """A session in a file, which others may append to as well."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self.path: Path | None = file.path
        self.kept: Path | None = None
        """Where the file of an older version is, after it was migrated here."""

    @property
    def header(self) -> JsonObject:
        """The header, as stored."""
        return self._file.header

    @property
    def version(self) -> float:
        """The file's version."""
        return self._file.version

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

    def check_writable(self) -> None:
        """Raise ReadOnlyError where what is in the file must not be written, neither there nor elsewhere."""
        if self._file.read_only:
            raise ReadOnlyError(f"{self._file.path} is not written to: {self._file.read_only}")

    def settled(self) -> "Stored":
        """Return what the session is by now: this."""
        return self

    def in_memory(self) -> Draft:
        """Return a copy that has no file, and let go of this one's.

        Raises InvalidValueError for what is nested too deeply to be copied.
        """
        with self._file as file:
            return Draft({**file.header, "version": CURRENT_VERSION}, None, _whole_bodies(file))

    def append(self, make: Make) -> str:
        """Append an entry to the file, after taking up what others appended. Returns the entry's id.

        A file of version 1 or 2 is migrated first. Raises ReadOnlyError, WriteError, InvalidValueError; then
        the file and what is in memory are as they were, but for what others appended.
        """
        path = self._file.path
        try:
            self._take_up()
            if self._file.version < CURRENT_VERSION:
                encode_entry(make(self.tree))  # what cannot be appended is no reason to migrate
                self._migrate()
            with writing.locked(path) as fd:
                self._take_up()
                if self._file.version < CURRENT_VERSION:
                    raise WriteError(f"{path} was replaced by one of an older version meanwhile")
                entry = make(self.tree)
                writing.append_lines(fd, path, [encode_entry(entry)])
                self._take_up()
        except OSError as error:
            raise WriteError(f"{path} cannot be appended to: {error.strerror or error}") from error
        entry_id = str(entry["id"])
        if entry_id not in self.tree:
            raise WriteError(f"{path} was rewritten while an entry was appended; entry {entry_id} is lost")
        return entry_id

    def _take_up(self) -> None:
        """Read what others appended, or all where the file is another one; it must be one to write to."""
        if self._file.refresh().replaced:
            file = SessionFile.load(self._file.path)
            if file.id != self._file.id:
                file.close()
                raise WriteError(
                    f"{file.path} holds another session now: {file.id} in the place of {self._file.id}"
                )
            self._file.close()
            self._file = file
        self.check_writable()

    def _migrate(self) -> None:
        """Put the session as version 3 in the place of the file; the old one stays beside it."""
        with writing.locked(self._file.path):
            self._take_up()
            file = self._file
            if file.version >= CURRENT_VERSION:
                return  # another process was faster
            header = encode_entry({**file.header, "version": CURRENT_VERSION})
            suffix = f".v{migrate.version_of(file.header):g}"
            self.kept = writing.replace_file(file.path, [header, *lines_of(file)], file.size, suffix)
        self._take_up()
