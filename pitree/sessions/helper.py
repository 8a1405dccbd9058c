"""Processes that decode a long session while this one does something else.

Decoding holds the interpreter, and so does building the screen: side by side in one process each would delay
the other. The reader works along and does without helpers where there are none, or where they end.
"""

import gc
import os
import stat
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pitree.sessions import migrate
from pitree.sessions.blocks import CLAIM, Block, Share, packed, unpacked
from pitree.sessions.entries import CURRENT_VERSION
from pitree.sessions.first_line import plain_header
from pitree.sessions.machine import processors

WORTH_IT_BYTES: Final = 16 << 20
"""Smaller files are read alone before a helper is up."""

_BLOCK_BYTES: Final = 1 << 20
_MOST_BLOCKS: Final = 8192  # as many claims as surely fit into a pipe, at two bytes each
_MOST_HELPERS: Final = 3
_PIPE_BYTES: Final = 1 << 20
_LENGTH: Final = struct.Struct("<I")


class Helper:
    """Processes at work on the blocks of one file, from `start` to the last line that was finished then."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self._frames: deque[bytes] = deque()
        self._arrived = threading.Condition()
        self._working = 0
        self._threads: list[threading.Thread] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        """Those that help."""
        self._closed = False

    @classmethod
    def start_for(
        cls,
        path: Path,
        *,
        processes: int | None = None,
        worth_it: int = WORTH_IT_BYTES,
        block_bytes: int = _BLOCK_BYTES,
    ) -> "Helper | None":
        """Put helpers to work on a session file; None where that would gain nothing.

        By default as many `processes` as there are processors to spare, for files from `worth_it` bytes on.
        """
        if processes is None:
            processes = min(_MOST_HELPERS, processors() - 1)
            if processes < 1:
                return None
        if os.name != "posix":  # elsewhere processes inherit no pipes by number
            return None
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a fifo must not hang the program
        except OSError:
            return None
        facts = os.fstat(fd)
        regular = stat.S_ISREG(facts.st_mode) and facts.st_size >= worth_it
        start = _plain_header_end(fd) if regular else 0
        if not start:
            os.close(fd)
            return None
        claims, numbers = os.pipe()
        block_bytes = max(block_bytes, -(-facts.st_size // _MOST_BLOCKS))
        helper = cls(Share(fd, claims, start, facts.st_size, block_bytes))
        os.write(numbers, b"".join(map(CLAIM.pack, range(helper.count))))
        os.close(numbers)
        for _ in range(processes):
            helper._add_process()
        return helper

    def _add_process(self) -> None:
        share = self._share
        ours, theirs = os.pipe()
        _widen(theirs)
        fds = (share.fd, share.claims, theirs)
        # -P: what lies in the working directory is not to be run
        numbers = (*fds, share.start, share.size, share.block_bytes)
        command = [sys.executable, "-P", "-m", __name__, *map(str, numbers)]
        try:
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(command, pass_fds=fds, stdin=quiet, stdout=quiet, stderr=quiet)
        except OSError:
            os.close(ours)
            return
        finally:
            os.close(theirs)
        self.processes.append(process)
        self._working += 1
        thread = threading.Thread(target=self._receive, args=(ours,), daemon=True)
        self._threads.append(thread)
        thread.start()

    @property
    def start(self) -> int:
        """Where the first block begins: after the header."""
        return self._share.start

    @property
    def size(self) -> int:
        """Where the last block ends; later lines are left to the reader."""
        return self._share.size

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return self._share.count

    def _receive(self, source: int) -> None:
        try:
            with open(source, "rb") as stream:
                while len(head := stream.read(_LENGTH.size)) == _LENGTH.size:
                    (size,) = _LENGTH.unpack(head)
                    frame = stream.read(size)
                    if len(frame) < size:
                        return  # it was ended in the middle
                    with self._arrived:
                        self._frames.append(frame)
                        self._arrived.notify()
        finally:
            with self._arrived:
                self._working -= 1
                self._arrived.notify()

    def is_at(self, fd: int) -> bool:
        """Whether the file that is open as `fd` is the one that the helpers work on."""
        return os.path.sameopenfile(fd, self._share.fd)

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in any order, decoding here what no helper has claimed.

        Fewer come when a helper died. To be used once.
        """
        while (number := self._share.claim()) is not None:
            yield self._share.block(number)
            while (block := self._next(wait=False)) is not None:
                yield block
        while (block := self._next(wait=True)) is not None:
            yield block

    def wait_for(self, count: int) -> None:
        """Wait until helpers have sent so many blocks, or all there will be."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self._frames) >= count or not self._working)

    def _next(self, *, wait: bool) -> Block | None:
        with self._arrived:
            while not self._frames:
                if not wait or not self._working:
                    return None
                self._arrived.wait()
            frame = self._frames.popleft()
        return unpacked(frame)

    def close(self) -> None:
        """Have no helper begin another block, and wait for their ends."""
        if self._closed:
            return
        self._closed = True
        while self._share.claim() is not None:
            pass
        for thread in self._threads:
            thread.join()
        for process in self.processes:
            process.wait()
        os.close(self._share.claims)
        os.close(self._share.fd)


def _widen(pipe: int) -> None:
    """Let a pipe hold more, where that can be: its reader may be waiting for the interpreter."""
    try:
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, AttributeError, OSError):
        pass  # then the helper has to wait now and then


def _plain_header_end(fd: int) -> int:
    """Return where the second line begins if the first is a header of the newest version, else 0."""
    found = plain_header(fd)
    return found[1] if found is not None and migrate.version_of(found[0]) == CURRENT_VERSION else 0


def main(arguments: list[str]) -> None:
    """Be a helper: decode blocks and write them to `out` until none is left."""
    gc.disable()  # nothing stays
    fd, claims, out, start, size, block_bytes = map(int, arguments)
    share = Share(fd, claims, start, size, block_bytes)
    with os.fdopen(out, "wb") as stream:
        while (number := share.claim()) is not None:
            frame = packed(share.block(number))
            stream.write(_LENGTH.pack(len(frame)) + frame)
            stream.flush()  # the reader is waiting for it


if __name__ == "__main__":
    main(sys.argv[1:])
