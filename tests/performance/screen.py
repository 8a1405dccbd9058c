"""A program in a terminal of its own, and the time from a key to the frame that answers it.

Nothing is drawn here: what a program prints is searched as text, frame by frame. Programs mark their frames
(synchronised output, `CSI ? 2026`) for terminals that say they know it, as this one does.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

COLUMNS: Final = 120
ROWS: Final = 40
PATIENCE_SECONDS: Final = 30.0

KEYS: Final = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "escape": "\x1b",
    "enter": "\r",
}

_FRAME_END: Final = b"\x1b[?2026l"
_ANSWERS: Final = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
}
_STYLE: Final = re.compile(rb"\x1b\[[\d;:]*m|\x1b[\]P_^X].*?(?:\x07|\x1b\\)", re.DOTALL)
_MOVE: Final = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x09\x0b-\x1f]+")


class NotSeenError(Exception):
    """What was waited for did not come."""


def key_bytes(key: str) -> bytes:
    """Return what a terminal sends for a key: a name of KEYS, `ctrl+` and a letter, or letters."""
    if key.startswith("ctrl+"):
        return bytes([ord(key[-1]) & 0x1F])
    return KEYS.get(key, key).encode()


def plain(output: bytes) -> str:
    """Return what a program printed as text; where it moved the cursor a line ends."""
    return _MOVE.sub(b"\n", _STYLE.sub(b"", output)).decode("utf-8", "replace")


class Cost(NamedTuple):
    """What a process has cost: memory now in MB, processor time so far in seconds."""

    megabytes: float
    seconds: float

    @classmethod
    def of(cls, pid: int) -> Self:
        """Ask the system, which has to be Linux."""
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        ticks = int(fields[11]) + int(fields[12])
        return cls(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, ticks / os.sysconf("SC_CLK_TCK"))


class Screen:
    """A program running in a pseudo-terminal. Use it as a context manager: it is killed at the end."""

    def __init__(self, command: Sequence[str], *, cwd: Path, environ: Mapping[str, str]) -> None:
        self._output = bytearray()
        self._frames_end = 0
        self._read_at = 0.0
        environ = {**environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        for name in ("COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE", "NO_COLOR"):
            environ.pop(name, None)
        self.started = time.perf_counter()
        """When the program was started, in seconds of `time.perf_counter`."""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                os.chdir(cwd)
                os.execvpe(command[0], list(command), environ)  # noqa: S606 - no shell is wanted
            finally:
                os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)

    # ---- what a person does

    def forget(self) -> None:
        """Forget what was printed before."""
        self._output.clear()
        self._frames_end = 0

    def mark(self) -> float:
        """Forget what was printed before; returns when, in seconds."""
        self._pump(0)
        self.forget()
        return time.perf_counter()

    def send(self, keys: str) -> float:
        """Press a key or type letters; forget what was printed before. Returns when, in seconds."""
        sent = self.mark()
        os.write(self._fd, key_bytes(keys))
        return sent

    def wait(
        self, pattern: str, since: float, *, but: str | None = None, patience: float = PATIENCE_SECONDS
    ) -> tuple[float, re.Match[str]]:
        """Wait for a whole frame in which `pattern` stands (as something else than `but`).

        Returns the milliseconds from `since` until it came, and the last place where it stands.
        Raises NotSeenError.
        """
        deadline = time.perf_counter() + patience
        looked = -1
        while True:
            if self._frames_end != looked:
                looked = self._frames_end
                shown = plain(bytes(self._output[: self._frames_end]))
                found = [match for match in re.finditer(pattern, shown) if match[0] != but]
                if found:
                    return (self._read_at - since) * 1e3, found[-1]
            if time.perf_counter() > deadline:
                raise NotSeenError(f"{pattern!r} in {plain(bytes(self._output))[-3000:]}")
            self._pump(1.0)

    def frame(self, since: float) -> float:
        """Wait for the first whole frame; returns the milliseconds from `since` until it came.

        Raises NotSeenError.
        """
        deadline = since + PATIENCE_SECONDS
        while not self._frames_end:
            if time.perf_counter() > deadline:
                raise NotSeenError("no frame came")
            self._pump(1.0)
        return (self._read_at - since) * 1e3

    def settle(self, quiet: float) -> float:
        """Wait until nothing was printed for `quiet` seconds; returns when the last of it came."""
        while self._pump(quiet):
            pass
        return self._read_at

    def finish(self) -> None:
        """Wait until the program has ended, for as long as it prints or for the usual patience."""
        try:
            while self._pump(PATIENCE_SECONDS):
                pass
        except NotSeenError:
            return
        raise NotSeenError("the program does not end")

    def rest(self, seconds: float) -> None:
        """Take what is printed for so long, however much it is."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self._pump(left)

    def _pump(self, seconds: float) -> bool:
        """Take what the program prints within that time; False where that is nothing."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise NotSeenError(f"the program ended: {plain(bytes(self._output))[-3000:]}")
        self._read_at = time.perf_counter()
        for query, answer in _ANSWERS.items():
            if query in data:
                os.write(self._fd, answer)
        begin = max(0, len(self._output) - len(_FRAME_END))
        self._output += data
        end = self._output.rfind(_FRAME_END, begin)
        if end >= 0:
            self._frames_end = end
        return True

    # ---- what it costs

    def peak_megabytes(self) -> float | None:
        """Return the most memory that the program has held so far; None where the system does not tell."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else None

    def read_megabytes(self) -> float | None:
        """Return what the program and its helpers have read so far: files, pipes and keys, cached or not.

        None where the system does not tell. Of a child that has ended, Linux adds it to its parent's.
        """
        total = 0
        for pid in (self.pid, *descendants(self.pid)):
            try:
                counts = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
            except OSError:
                if pid == self.pid:
                    return None
                continue  # ended meanwhile
            total += int(counts.partition("rchar: ")[2].split()[0])
        return total / 1e6


def descendants(pid: int) -> list[int]:
    """Return the processes below one, as the system has them now."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
