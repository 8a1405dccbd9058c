"""Programs that show a text or a picture: `$PAGER`, `$EDITOR`, and the system's viewer."""

import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Self

from pitree.agent.launch import AgentNotFoundError
from pitree.sessions.text import display

Reader = Literal["pager", "editor"]

_VARIABLES: Final[Mapping[Reader, tuple[str, ...]]] = {
    "pager": ("PAGER",),
    "editor": ("VISUAL", "EDITOR"),
}
_USUAL: Final[Mapping[Reader, tuple[str, ...]]] = {
    "pager": ("less", "more"),
    "editor": ("sensible-editor", "nano", "vi"),
}
_VIEWERS: Final = ("xdg-open", "wslview", "open")
# A viewer that cannot start ends at once; one that can hands the picture on, or stays.
_VIEWER_SECONDS: Final = 2.0
_KINDS: Final = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF87a", ".gif"),
    (b"GIF89a", ".gif"),
)


def reading_program(reader: Reader, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words that start the person's pager or editor, without the file.

    Raises AgentNotFoundError when there is none, or not the one that is named.
    """
    path = environ.get("PATH", os.defpath)
    for variable in _VARIABLES[reader]:
        named = environ.get(variable, "")
        if not named.strip():
            continue
        try:
            words = shlex.split(named)
        except ValueError as error:
            raise AgentNotFoundError(f"${variable} cannot be read as a command: {error}", named) from None
        if shutil.which(words[0], path=path) is None:
            raise AgentNotFoundError(f"{display(words[0])} cannot be run (from ${variable})", named, words)
        return tuple(words)
    for usual in _USUAL[reader]:
        if shutil.which(usual, path=path) is not None:
            return (usual,)
    variables = " or ".join(f"${variable}" for variable in _VARIABLES[reader])
    raise AgentNotFoundError(f"there is no {reader}; name one in {variables}", reader)


class PrivateCopies:
    """Read-only copies of what a session says, for other programs; in a folder that only this user can enter.

    Use as a context manager or call `remove`; each copy can be removed before.
    """

    def __init__(self) -> None:
        self._folders: list[Path] = []

    def write(self, name: str, content: bytes) -> Path:
        """Return a new file with that name and content. Raises OSError."""
        folder = Path(tempfile.mkdtemp(prefix="pitree-"))
        self._folders.append(folder)
        file = folder / name
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        return file

    def remove(self, file: Path | None = None) -> None:
        """Remove a copy, or all of them. What cannot be removed is left to the system's tidying."""
        folders = self._folders if file is None else [file.parent]
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        self._folders = [folder for folder in self._folders if folder not in folders]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def image_suffix(data: bytes) -> str | None:
    """Return the ending for a picture's file name, by what it is, whatever it is said to be; None for others.

    The system chooses a program by it: nothing but pictures may be opened.
    """
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for start, suffix in _KINDS if data.startswith(start)), None)


def open_in_viewer(file: Path, environ: Mapping[str, str]) -> str | None:
    """Open a picture in the system's viewer; return why that did not work, or None.

    Waits up to 2 s: not to be called where the screen is drawn.
    """
    path = environ.get("PATH", os.defpath)
    viewer = next((found for name in _VIEWERS if (found := shutil.which(name, path=path))), None)
    if viewer is None:
        return f"no viewer is here ({', '.join(_VIEWERS)})"
    return _start((viewer, str(file)), environ)


def _start(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    name = display(Path(command[0]).name)
    try:
        started = subprocess.Popen(
            command,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives us, and our Ctrl+C is not for it
        )
    except OSError as error:
        return f"{name} could not be started: {error.strerror or error}"
    try:
        code = started.wait(_VIEWER_SECONDS)
    except subprocess.TimeoutExpired:
        threading.Thread(target=started.wait, daemon=True).start()  # so that it leaves no zombie when it ends
        return None
    return f"{name} ended with code {code}" if code else None
