"""Starting Pi: which program it is, with which arguments, and how it takes over the terminal.

The environment is always handed in: the screen's framework takes variables out of the process's own.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from pitree.sessions.errors import SessionError
from pitree.sessions.text import display

_VARIABLE: Final = "PITREE_PI"
_MOST_OF_A_LINE: Final = 256


class AgentNotFoundError(SessionError):
    """There is no such program as was to be started.

    `command` is what was asked for, as it was written; `words` are the same cut as a shell cuts them, to
    build the command that a person can run elsewhere.
    """

    def __init__(self, message: str, command: str, words: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.command = command
        self.words = tuple(words) or (command,)


class Launch(msgspec.Struct, frozen=True):
    """A command with its arguments, and the directory to run it in (None: where we are)."""

    argv: tuple[str, ...]
    cwd: Path | None


def find_pi(command: str | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that start Pi: `command`, else `$PITREE_PI`, else `pi`.

    The words are cut as a shell cuts them. Those that name files by a relative path are made absolute, since
    Pi is started in another directory.

    Raises AgentNotFoundError when there is no such program.
    """
    if command is not None:
        named, source = command, "--pi or the settings"
    else:
        named, source = environ.get(_VARIABLE) or "pi", f"${_VARIABLE}" if environ.get(_VARIABLE) else "PATH"
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise AgentNotFoundError(
            f"{display(named)!r} cannot be read as a command (from {source}): {error}", named
        ) from None
    if not words:
        raise AgentNotFoundError(f"no program is named (by {source})", "pi")
    words = [os.path.expanduser(word) for word in words]  # noqa: PTH111
    found = shutil.which(words[0], path=environ.get("PATH", os.defpath))
    if found is None:
        raise AgentNotFoundError(
            f"{display(words[0])} cannot be run (from {source}); "
            f"install Pi, or name it with --pi or ${_VARIABLE}",
            named,
            words,
        )
    rest = [_absolute_if_file(word) for word in words[1:]]
    if not _same_everywhere(environ):
        return (*_interpreter(found, environ), os.path.abspath(found), *rest)  # noqa: PTH100
    return (os.path.abspath(found) if "/" in words[0] else words[0], *rest)  # noqa: PTH100


def _same_everywhere(environ: Mapping[str, str]) -> bool:
    """Whether PATH names the same programs in every directory: Pi is started in one that a session names."""
    return all(map(os.path.isabs, environ.get("PATH", os.defpath).split(os.pathsep)))


def _interpreter(script: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the program that a script has `env` look for in PATH, as it is found from here; or nothing."""
    try:
        with open(script, "rb") as file:  # noqa: PTH123
            first = file.readline(_MOST_OF_A_LINE)
    except OSError:
        return ()
    named = re.fullmatch(rb"#! */usr/bin/env +([^\s=/-][^\s=/]*)\s*", first)
    found = named and shutil.which(os.fsdecode(named[1]), path=environ.get("PATH", os.defpath))
    return (os.path.abspath(found),) if found else ()  # noqa: PTH100


def _absolute_if_file(word: str) -> str:
    return os.path.abspath(word) if os.path.isfile(word) else word  # noqa: PTH100, PTH113


def unspeakable(session_file: Path) -> str | None:
    """Return why Pi cannot be told to open a file, in words that are safe to print; None where it can.

    Node takes arguments for UTF-8: Pi would not find the file, and begin a new session beside it.
    """
    try:
        os.fsencode(session_file).decode()
    except UnicodeDecodeError:
        return f"Pi cannot open {display(str(session_file))}: its path is not UTF-8; rename it first"
    return None


def resume(pi: Sequence[str], session_file: Path, cwd: Path | None, prompt: str | None = None) -> Launch:
    """Return the launch that opens a session in Pi, with `prompt` sent as the next message."""
    return Launch((*pi, "--session", os.path.abspath(session_file), *_prompt_words(prompt)), cwd)  # noqa: PTH100


def fork(
    pi: Sequence[str], session_file: Path, cwd: Path | None, *, session_dir: Path | None = None
) -> Launch:
    """Return the launch that copies a session into a new one for `cwd` and opens that.

    Pi puts it into its default root unless `session_dir` names a flat one.
    """
    root = () if session_dir is None else ("--session-dir", os.path.abspath(session_dir))  # noqa: PTH100
    return Launch((*pi, *root, "--fork", os.path.abspath(session_file)), cwd)  # noqa: PTH100


def _prompt_words(prompt: str | None) -> tuple[str, ...]:
    """Return the arguments that make Pi take `prompt` for a message, whatever it begins with.

    Pi knows `--`, but takes what begins with `@` for a file even after it; a blank before it prevents that.
    """
    if prompt is None or not prompt.strip():
        return ()
    word = prompt.replace("\0", "")
    try:
        os.fsencode(word)
    except UnicodeEncodeError:  # half a character, which no argument can hold
        word = word.encode("utf-8", "replace").decode()
    if word.startswith("@"):
        word = f" {word}"
    return ("--", word) if word.startswith("-") else (word,)


def shell_line(launch: Launch) -> str:
    r"""Return the command as one line to paste into a shell; what cannot be printed stands as `$'\n'`."""
    command = " ".join(_quoted(word) for word in launch.argv)
    return command if launch.cwd is None else f"cd {_quoted(os.fspath(launch.cwd))} && {command}"


_PLAIN_ESCAPES: Final = {"\n": r"\n", "\t": r"\t", "\r": r"\r", "\\": r"\\", "'": r"\'"}


def _quoted(word: str) -> str:
    if display(word) == word:
        return shlex.quote(word)
    return "$'" + re.sub(r"[^ -~]|[\\']", _escaped, word) + "'"


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if character in _PLAIN_ESCAPES:
        return _PLAIN_ESCAPES[character]
    if display(character) == character:
        return character
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(character))


def replace_process(launch: Launch, environ: Mapping[str, str]) -> NoReturn:
    """Become the launched program: the process and its terminal are the program's own from here on.

    To be called in the main thread. Raises OSError, with everything as it was, when that cannot be done.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # Python ignores these two, and a program would inherit that.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    before = os.open(".", os.O_RDONLY)
    try:
        if launch.cwd is not None:
            os.chdir(launch.cwd)
        for number in handlers:
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(launch.argv[0], launch.argv, dict(environ))  # noqa: S606
    finally:
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        os.fchdir(before)
        os.close(before)


def run_child(launch: Launch, environ: Mapping[str, str]) -> int:
    """Run the program in the foreground and return its exit status (128 + number for a signal).

    Ctrl+C reaches the program and us; here it does nothing meanwhile. Also after a program that was killed,
    keys, echo and cursor are as they were before. To be called in the main thread. Raises OSError when the
    program cannot be started.
    """
    from pitree.agent.borrowed import lent_terminal

    sys.stdout.flush()
    sys.stderr.flush()
    # Not SIG_IGN: the program would inherit that.
    previous = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        with lent_terminal() as lent:
            status = subprocess.run(launch.argv, cwd=launch.cwd, env=dict(environ), check=False).returncode
            if status < 0:
                lent.tidy()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if previous is None else previous)
    return status if status >= 0 else 128 - status


def working_directory(header_cwd: str) -> Path | None:
    """Return the directory that a session's header states, or None where it is gone or none is stated."""
    try:
        path = Path(header_cwd)
        return path if path.is_absolute() and path.is_dir() else None
    except (OSError, ValueError):
        return None
