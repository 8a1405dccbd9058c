"""Asking a model for a branch summary, through Pi: its accounts and providers, and nothing else of it."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import LineError, SessionError
from pitree.sessions.jsonl import parse_value
from pitree.sessions.outline import Transcript
from pitree.sessions.plain import copy_text
from pitree.sessions.text import one_line

Stop = Callable[[], bool]
Progress = Callable[[int], None]
"""Hears how many characters there are so far."""

TIMEOUT_SECONDS: Final = 300.0
"""How long a model is waited for."""

_TICK_SECONDS: Final = 0.1
_GRACE_SECONDS: Final = 2.0
_READ_BYTES: Final = 1 << 16
_OPTIONS: Final = (
    # as events: they tell the progress, and what it cost
    *("--mode", "json", "--no-session"),
    # nothing that acts, and nothing that has to do with the folder
    *("--no-tools", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-context-files"),
    *("--no-mcp", "--no-approve"),  # nor what its .pi says, trusted or not
    *("--thinking", "off"),
)
_SYSTEM: Final = (
    "You write summaries of conversations between a person and a coding agent. You are given one as a "
    "transcript. Never answer or continue it: write the summary and nothing besides."
)
_TASK: Final = """\
Above is a stretch of a conversation that is being left: it goes on from an earlier point, where nothing of
this stretch is known. Write what somebody who goes on from there has to know of it, in a few short paragraphs
or lists:

- what was wanted, and which wishes and limits were stated
- what was tried, what was done, and what came of it
- what was decided, and why
- what is unfinished, and what would come next

Keep names of files, functions and commands, and messages of errors, as they are. Leave out what does not
matter."""


class SummaryError(SessionError):
    """The model gave no summary; the message says why."""


class SummaryStoppedError(SummaryError):
    """Somebody asked to stop."""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What the model wrote, and its usage record, if it gave one."""

    text: str
    usage: JsonObject | None


def summary_prompt(transcript: Transcript, instructions: str = "") -> str:
    """Return what the model is asked."""
    parts = []
    if transcript.left_out:
        parts.append(f"(The first {transcript.left_out} of {transcript.messages} messages are left out.)")
    parts += ["<transcript>", transcript.text, "</transcript>", "", _TASK]
    if instructions.strip():
        parts += ["", f"What matters most this time: {instructions.strip()}"]
    return "\n".join(parts)


def summary_command(pi: Sequence[str], model: JsonObject | None) -> tuple[str, ...]:
    """Return the command that answers one prompt from its standard input; `model` as a context names it."""
    named: list[str] = []
    if model is not None:
        provider, model_id = model.get("provider"), model.get("modelId")
        if isinstance(provider, str) and isinstance(model_id, str) and provider and model_id:
            named = ["--provider", provider, "--model", model_id]
    return (*pi, *_OPTIONS, *named, "--system-prompt", _SYSTEM)


def ask_model(
    command: Sequence[str],
    prompt: str,
    cwd: Path,
    environ: Mapping[str, str],
    *,
    stop: Stop = lambda: False,
    progress: Progress = lambda _characters: None,
    timeout: float = TIMEOUT_SECONDS,
) -> ModelSummary:
    """Run the command and return what the model wrote.

    Waits for at most `timeout` seconds, and not after
    `stop` says so: then the program is ended. Raises SummaryError.
    """
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**environ, "PI_SKIP_VERSION_CHECK": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl+C is for us, who then end it
            )
        except OSError as error:
            raise SummaryError(f"{command[0]} could not be started: {error.strerror or error}") from error
        answer = _Answer(progress)
        try:
            assert process.stdin is not None  # noqa: S101 - Popen's types do not say so
            assert process.stdout is not None  # noqa: S101
            _send(process.stdin, prompt)
            for line in _lines(process.stdout, stop, time.monotonic() + timeout, timeout):
                answer.take(line)
            code = process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            code = 0  # it has said all it had to say
        finally:
            _end(process)
        return answer.result(code, errors)


class _Answer:
    """Takes Pi's events."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._characters = 0
        self._message: JsonObject | None = None

    def take(self, line: bytes) -> None:
        try:
            event = parse_value(line)
        except LineError:
            return  # something that is printed besides
        if not isinstance(event, dict):
            return
        if event.get("type") == "message_update":
            update: Any = event.get("assistantMessageEvent")
            delta = update.get("delta") if isinstance(update, dict) else None
            if isinstance(delta, str) and update.get("type") == "text_delta":
                self._characters += len(delta)
                self._progress(self._characters)
        elif event.get("type") == "message_end":
            message = event.get("message")
            if isinstance(message, dict) and message.get("role") == "assistant":
                self._message = message

    def result(self, code: int, errors: IO[bytes]) -> ModelSummary:
        message = self._message
        if message is None or message.get("stopReason") in ("error", "aborted"):
            said = "" if message is None else message.get("errorMessage")
            reason = one_line(str(said or ""), 300) or _last_words(errors) or f"Pi ended with code {code}"
            raise SummaryError(f"the model gave no summary: {reason}")
        text = copy_text({"message": {**message, "errorMessage": None}}).strip()
        if not text:
            raise SummaryError("the model gave an empty summary")
        usage = message.get("usage")
        return ModelSummary(text, usage if isinstance(usage, dict) else None)


def _last_words(errors: IO[bytes]) -> str:
    errors.seek(0)
    said = errors.read(1 << 16).decode("utf-8", "replace").strip()
    return one_line(said.rpartition("\n")[2], 300)


def _send(pipe: IO[bytes], prompt: str) -> None:
    """Write the prompt beside the reading: it is longer than a pipe, and the program may never read it."""

    def write() -> None:
        with contextlib.suppress(OSError), pipe:
            pipe.write(prompt.encode("utf-8", "replace"))

    threading.Thread(target=write, daemon=True).start()


def _lines(pipe: IO[bytes], stop: Stop, deadline: float, timeout: float) -> Iterator[bytes]:
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            if stop():
                raise SummaryStoppedError("the summary was given up")
            if time.monotonic() > deadline:
                raise SummaryError(f"the model gave no summary within {timeout:g} seconds")
            if not selector.select(_TICK_SECONDS):
                continue
            chunk = os.read(pipe.fileno(), _READ_BYTES)
            if not chunk:
                yield rest
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program and what it started; let nothing of it stay."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGKILL)
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, number)
