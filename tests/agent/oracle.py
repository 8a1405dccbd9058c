"""Asking the real Pi agent: a long-lived Node process answers one question after another."""

import contextlib
import json
import os
import selectors
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from .install import AgentPaths

SCRIPT = Path(__file__).with_name("oracle.mjs")
# Normal answers take milliseconds; the first one waits for Node to load Pi on a busy machine.
ANSWER_SECONDS = 30.0
# On some damaged files Pi fills memory until Node dies; that should not take the machine with it.
HEAP_MEGABYTES = 192
READ_BYTES = 1 << 16


class OwnLeaf:
    """Stands for the leaf the file itself gives, where None already means "before the first entry"."""


OWN_LEAF: Final = OwnLeaf()


class OracleError(Exception):
    """Pi refused the question; the text is Pi's own."""


class OracleHangs(Exception):  # noqa: N818 - what Pi does, not an error of ours
    """Pi gave no answer in time, or died over the question."""


class Oracle:
    """The real agent, asked over pipes. Use as a context manager, or call `close`.

    `scratch` is a folder for the copies that Pi opens and for what Node writes to standard error.
    """

    def __init__(self, paths: AgentPaths, scratch: Path) -> None:
        self._paths = paths
        self._scratch = scratch
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def session(
        self,
        path: Path,
        leaf: str | OwnLeaf | None = OWN_LEAF,
        *,
        leaf_at: int | None = None,
        timeout: float = ANSWER_SECONDS,
    ) -> dict[str, Any]:
        """Ask for all that Pi makes of a file, see `oracle.mjs`; `leaf_at` counts entries from 0."""
        request: dict[str, Any] = {"op": "session", "path": str(path)}
        if leaf_at is not None:
            request["leafAt"] = leaf_at
        elif not isinstance(leaf, OwnLeaf):
            request["leaf"] = leaf
        return cast("dict[str, Any]", self.ask(request, timeout=timeout))

    def listed(self, folder: Path) -> list[dict[str, Any]]:
        """List the sessions of a flat folder as Pi does, newest first; times are ISO texts."""
        return cast("list[dict[str, Any]]", self.ask({"op": "list", "dir": str(folder)}))

    def search(self, folder: Path, query: str, sort: str = "relevance") -> list[str]:
        """Give the ids of the sessions in a flat folder that match, in Pi's order."""
        request = {"op": "search", "dir": str(folder), "query": query, "sort": sort}
        return cast("list[str]", self.ask(request))

    def threaded(self, folder: Path) -> list[tuple[str, int]]:
        """Give path and level of the sessions in a flat folder as Pi's list shows them at first."""
        answer = cast("list[list[Any]]", self.ask({"op": "threaded", "dir": str(folder)}))
        return [(str(path), int(level)) for path, level in answer]

    @property
    def home(self) -> Path:
        """The home that Pi finds there, and so the default root."""
        return self._scratch

    def ask(self, request: dict[str, Any], *, timeout: float = ANSWER_SECONDS) -> object:
        """Send one question and wait for its answer, at most `timeout` seconds.

        Raises:
            OracleError: Pi threw an error.
            OracleHangs: no answer in time, or the process died; the next question starts a new one.
        """
        process = self._running()
        try:
            line = self._exchange(process, json.dumps(request).encode() + b"\n", time.monotonic() + timeout)
        except (OracleHangs, BrokenPipeError) as error:
            self.close()
            raise OracleHangs(f"{request}: {error}; {self._last_words()}") from error
        except BaseException:
            self.close()  # an interrupted question would leave its answer for the next one
            raise
        answer: object = json.loads(line)
        if isinstance(answer, dict) and set(answer) == {"error"}:
            raise OracleError(answer["error"])
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        # What was still in the pipe for a process that died cannot be flushed.
        with contextlib.suppress(BrokenPipeError):
            process.__exit__(None, None, None)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            with self._error_file.open("wb") as errors:
                self._process = subprocess.Popen(
                    [self._paths.node, f"--max-old-space-size={HEAP_MEGABYTES}", SCRIPT, self._paths.root],
                    env=self._paths.environment(home=self._scratch) | {"TMPDIR": str(self._scratch)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
        return self._process

    @staticmethod
    def _exchange(process: subprocess.Popen[bytes], question: bytes, deadline: float) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(question)
        process.stdin.flush()
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            # The newline ends the answer and nothing follows it: one question, one answer.
            while not answer.endswith(b"\n"):
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise OracleHangs("no answer in time")
                chunk = os.read(process.stdout.fileno(), READ_BYTES)
                if not chunk:
                    raise OracleHangs("the process ended")
                answer += chunk
        return bytes(answer)

    @property
    def _error_file(self) -> Path:
        return self._scratch / "stderr.txt"

    def _last_words(self) -> str:
        try:
            words = self._error_file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return "nothing on standard error"
        return words[-500:] or "nothing on standard error"
