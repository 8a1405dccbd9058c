"""One session file on disk, for looking: loading it, following its growth, reading bodies.

Nothing here writes. Lines that cannot be used are recorded as damage and cost only themselves.
"""

import math
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pitree.sessions import migrate
from pitree.sessions.blocks import Block
from pitree.sessions.entries import CURRENT_VERSION, Damage, Entry, JsonObject
from pitree.sessions.errors import EntryNotFoundError, LineError, NotASessionError, SessionError
from pitree.sessions.helper import Helper
from pitree.sessions.intake import TOO_DEEP, Intake
from pitree.sessions.jsonl import CHUNK_BYTES, parse_value
from pitree.sessions.structure import made_whole, shallow
from pitree.sessions.tree import Tree

# So much of the beginning and of the end is compared to tell an appended file from a rewritten one.
_COMPARED_BYTES = 512

Progress = Callable[[int, int], bool]
"""Called with the bytes read and the bytes there are; False stops the reading."""


class StoppedError(SessionError):
    """A progress callback asked to stop."""


class Growth(NamedTuple):
    """What a refresh found: the new entries in file order, or that the file is another one now."""

    entries: list[Entry]
    replaced: bool


class SessionFile(Intake):
    """The content of one session file: `header`, entries (in `tree`), `damage`.

    Use it as a context manager or call `close`: the file stays open so that bodies come from the same file
    that was read.
    """

    # Of its own, since at the end of the program the module's names go before its objects do.
    _close_fd = staticmethod(os.close)

    complete = True
    """Whether this is the whole session; see `pitree.sessions.glimpse` for what is not."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.tree = Tree()
        self._seen = (0, 0)
        self._ends = (b"", b"")
        self._out_of_step = False
        self._untaken: list[Entry] = []
        self._fd = -1

    @classmethod
    def load(cls, path: Path | str, progress: Progress | None = None, helper: Helper | None = None) -> Self:
        """Read the whole file at `path`; a `helper` that was started for it is closed afterwards.

        Raises NotASessionError when Pi would not take it for a session (but for a stray line or so before
        the header, see `read_only`), OSError when it cannot be read, StoppedError when `progress` says so.
        """
        session = cls(Path(path))
        try:
            session._open()
            session._read(progress, helper)
        except BaseException:
            session.close()
            raise
        finally:
            if helper is not None:
                helper.close()
        return session

    def close(self) -> None:
        """Let go of the file. What was read stays; bodies can no longer be read."""
        if self._fd >= 0:
            self._close_fd(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    # ---- what is in it

    @property
    def entries(self) -> list[Entry]:
        """All entries in file order, every id once (see `Tree.superseded` for repeated ones)."""
        return self.tree.entries

    @property
    def damage(self) -> list[Damage]:
        """What is wrong with the file, by line: unusable lines, entries with notes, repeated ids."""
        found = [
            Damage(entry.line, entry.offset, "; ".join(self.tree.notes(entry)), entry.id)
            for entry in self.tree.noted
        ]
        found += [
            Damage(entry.line, entry.offset, f"id {entry.id} is repeated; a later line counts", entry.id)
            for entry in self.tree.superseded
        ]
        return sorted([*self._damage, *found], key=lambda damage: damage.offset)

    @property
    def cwd(self) -> str:
        """The working directory that the header states, or "" where it states none."""
        cwd = self.header.get("cwd")
        return cwd if isinstance(cwd, str) else ""

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.header["id"])

    def find(self, prefix: str) -> Entry:
        """Return the entry with that id, or the only one whose id begins so.

        Raises EntryNotFoundError.
        """
        exact = self.tree.get(prefix)
        if exact is not None:
            return exact
        found = [entry for entry in self.entries if entry.id.startswith(prefix)] if prefix else []
        if len(found) == 1:
            return found[0]
        if found:
            raise EntryNotFoundError(
                f"{len(found)} entries of {self.path} have an id that begins with {prefix!r}"
            )
        raise EntryNotFoundError(f"no entry of {self.path} has the id {prefix!r}")

    def raw(self, entry: Entry, limit: int | None = None) -> bytes:
        """Return the bytes of an entry's line as they are in the file now, or the first `limit` of them.

        Raises SessionError when the file was cut or closed meanwhile, OSError when it cannot be read.
        """
        if self._fd < 0:
            raise SessionError(f"{self.path} is closed")
        pieces = []
        wanted, offset = min(entry.length, entry.length if limit is None else limit), entry.offset
        while wanted:
            piece = os.pread(self._fd, wanted, offset)
            if not piece:
                raise SessionError(f"{self.path} was cut: line {entry.line} is no longer there")
            pieces.append(piece)
            wanted -= len(piece)
            offset += len(piece)
        return b"".join(pieces)

    def line_at(self, offset: int, limit: int) -> bytes:
        """Return at most `limit` bytes of the line that begins at `offset`, without its newline.

        For lines that are no entries. Raises SessionError when the file is closed, OSError when it cannot be
        read.
        """
        if self._fd < 0:
            raise SessionError(f"{self.path} is closed")
        return os.pread(self._fd, limit, offset).split(b"\n", 1)[0]

    def body(self, entry: Entry) -> JsonObject:
        """Return the whole object on an entry's line, as version 3 has it; a new one at every call.

        Where the line is nested too deeply (TOO_DEEP is among the notes), null stands for what is too deep.
        Raises SessionError when the line is no longer what was read, OSError when it cannot be read.
        """
        data = self.raw(entry)
        try:
            value = parse_value((TOO_DEEP in entry.notes and shallow(data)) or data)
        except LineError as error:
            raise SessionError(f"line {entry.line} of {self.path} changed: {error}") from None
        if not isinstance(value, dict) or (self.version >= 2 and value.get("id", entry.id) != entry.id):
            if not entry.notes:
                raise SessionError(f"line {entry.line} of {self.path} changed")
            value = value if isinstance(value, dict) else {}
        if self.version < CURRENT_VERSION:
            migrate.migrate_body(value, entry, self.version)
        return value

    @property
    def modified(self) -> float:
        """When the file was last written to, as far as it was read: Unix seconds."""
        return self._seen[1] / 1e9

    def beginning(self, entry: Entry, limit: int) -> JsonObject:
        """Return what the first `limit` bytes of an entry's line say; a string they end in is cut there.

        For a quick look at lines of many megabytes: what stands behind is missing. Empty where those bytes
        say nothing that can be read. Raises SessionError and OSError as `body` does.
        """
        for data in made_whole(self.raw(entry, limit)):
            try:
                value = parse_value(data)
            except LineError:
                continue
            if isinstance(value, dict):
                if self.version < CURRENT_VERSION:
                    migrate.migrate_body(value, entry, self.version)
                return value
        return {}

    # ---- reading

    def _open(self) -> None:
        # Not blocking: a fifo with that name must not hang the program.
        self._fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            raise NotASessionError(f"{self.path} is not a regular file")

    def _chunks(self, progress: Progress | None, end: float = math.inf) -> Iterator[bytes]:
        total = os.fstat(self._fd).st_size
        while chunk := os.pread(self._fd, int(min(CHUNK_BYTES, end - self.size)), self.size):
            self.size += len(chunk)
            yield chunk
            self._tell(progress, self.size, max(total, self.size))

    def _tell(self, progress: Progress | None, done: int, total: int) -> None:
        if progress is not None and not progress(done, total):
            raise StoppedError(f"reading {self.path} was stopped")

    def _read(self, progress: Progress | None, helper: Helper | None) -> None:
        entries: list[Entry] = []
        if helper is not None and helper.is_at(self._fd):
            entries += self._read_with(helper, progress)
        for chunk in self._chunks(progress):
            entries += self._take(self._cutter.feed(chunk))
        entries += self._take_tail()
        if not self.header:
            raise NotASessionError(self._why_no_session())
        self.tree = Tree(entries)
        self._remember()

    def _read_with(self, helper: Helper, progress: Progress | None) -> list[Entry]:
        """Read the header, then what helpers make of the rest, as far as it is sound and without a gap."""
        entries: list[Entry] = []
        for chunk in self._chunks(None, helper.start):
            entries += self._take(self._cutter.feed(chunk))
        if not self.header or self.version != CURRENT_VERSION:
            return entries
        blocks: dict[int, Block] = {}
        done = self.size
        for decoded in helper.blocks():
            blocks[decoded.number] = decoded
            done += decoded.end - decoded.start
            self._tell(progress, done, max(helper.size, done))
        for index in range(helper.count):
            block = blocks.get(index)
            if block is None or (block.lines and block.start != self.size):
                break  # a helper was ended, or the file rewritten: the rest is read here
            if block.entries is None:
                for chunk in self._chunks(None, block.end):
                    entries += self._take(self._cutter.feed(chunk))
            elif block.lines:
                for entry in block.entries:
                    entry.line += self._cutter.number
                entries += block.entries
                self._objects += len(block.entries)
                self._cutter.skip(block.lines, block.end - block.start)
                self.size = block.end
        return entries

    # ---- following

    def refresh(self) -> Growth:
        """Read what was appended since the last reading; afterwards all is as if the file were read anew.

        Where the file is no longer the one that was read (cut, rewritten, replaced, gone), nothing changes
        and the answer says so, now and later: then it has to be loaded again. Told are all changes but one: a
        file that was changed far from its ends and grew as well. Raises SessionError when the file is closed,
        OSError when it cannot be read.
        """
        growth = self.read_growth()
        self.take_growth()
        return growth

    def read_growth(self) -> Growth:
        """Do the first half of `refresh`, the reading; the tree stays as it is until `take_growth`.

        So that reading can be done in another thread than the one that looks at the tree.
        """
        if self._is_another():
            return Growth([], replaced=True)
        entries: list[Entry] = []
        chunks = self._chunks(None)
        chunk = next(chunks, None)
        if chunk is None:
            return Growth(entries, replaced=False)
        self._out_of_step = True  # until all is taken: a chunk that cannot be read would leave a gap
        if self._tail_is_whole and not chunk.startswith(b"\n"):
            return Growth([], replaced=True)  # what was taken for the last line goes on
        if self._tail_damage:
            del self._damage[-self._tail_damage :]
        taken = self._tail_is_whole
        while chunk is not None:
            lines = self._cutter.feed(chunk)
            entries += self._take(lines[taken:])  # a whole last line has been taken already
            taken = False
            chunk = next(chunks, None)
        entries += self._take_tail()
        self._untaken += entries
        self._remember()
        self._out_of_step = False
        return Growth(entries, replaced=False)

    def is_up_to_date(self, fd: int) -> bool:
        """Return whether the file open as `fd` is the one that was read, and all of it is in the tree.

        Changes nothing, so it may be asked in any thread. Raises OSError when the file cannot be read.
        """
        if self._fd < 0 or self._out_of_step or self._untaken:
            return False
        facts = os.fstat(fd)
        if not os.path.samestat(facts, os.fstat(self._fd)) or facts.st_size != self.size:
            return False
        return self._read_ends() == self._ends

    def take_growth(self) -> list[Entry]:
        """Take what `read_growth` has read into the tree, and return these entries in file order."""
        entries, self._untaken = self._untaken, []
        self.tree.extend(entries)
        return entries

    def _remember(self) -> None:
        """Keep what tells later whether the bytes read so far are still those in the file."""
        facts = os.fstat(self._fd)
        self._seen = (facts.st_size, facts.st_mtime_ns)
        self._ends = self._read_ends()

    def _read_ends(self) -> tuple[bytes, bytes]:
        start = os.pread(self._fd, min(_COMPARED_BYTES, self.size), 0)
        end = max(0, self.size - _COMPARED_BYTES)
        return start, os.pread(self._fd, self.size - end, end)

    def _is_another(self) -> bool:
        if self._fd < 0:
            raise SessionError(f"{self.path} is closed")
        if self._out_of_step:
            return True
        mine = os.fstat(self._fd)
        try:
            there = os.stat(self.path)  # noqa: PTH116 - the pair of fstat
        except (FileNotFoundError, NotADirectoryError):
            return True
        if (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev) or mine.st_size < self.size:
            return True
        if (mine.st_size, mine.st_mtime_ns) == self._seen:
            return False
        return mine.st_size == self.size or self._read_ends() != self._ends
