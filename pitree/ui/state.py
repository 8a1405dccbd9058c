"""What pitree remembers for the next time, in a folder of its own: folds, and how the list is wanted."""

import os
from pathlib import Path

import msgspec

from pitree.catalog.arrange import View


class Folds(msgspec.Struct, frozen=True):
    """What is folded in a session: branches by the id that begins them, straight stretches likewise."""

    branches: frozenset[str] = frozenset()
    stretches: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.branches or self.stretches)


class FoldStore:
    """The folds of sessions, by file. With `folder` None nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "folds"

    def _file(self, session: Path) -> Path | None:
        import hashlib

        if self._folder is None:
            return None
        name = hashlib.sha256(os.fsencode(session.resolve())).hexdigest()[:32]
        return self._folder / f"{name}.json"

    def load(self, session: Path) -> Folds:
        """Return what was folded; nothing where nothing is known or what is there cannot be read."""
        file = self._file(session)
        try:
            return Folds() if file is None else msgspec.json.decode(file.read_bytes(), type=Folds)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return Folds()

    def save(self, session: Path, folds: Folds) -> None:
        """Keep the folds. Raises OSError when they cannot be written."""
        file = self._file(session)
        if file is None:
            return
        if not folds:
            file.unlink(missing_ok=True)
            return
        _write(file, folds)


class ViewStore:
    """How the list of sessions is wanted. With `folder` None nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / "sessions.json"

    def load(self) -> View:
        """Return what was kept; the usual where nothing is or what is there cannot be read."""
        try:
            return View() if self._file is None else msgspec.json.decode(self._file.read_bytes(), type=View)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return View()

    def save(self, view: View) -> None:
        """Keep it. Raises OSError when it cannot be written."""
        if self._file is not None:
            _write(self._file, view)


class Chosen(msgspec.Struct, frozen=True):
    """What was chosen in the palette and holds until something else is."""

    theme: str = ""


class ThemeStore:
    """The theme that was chosen last. With `folder` None nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / "theme.json"

    def load(self) -> str:
        """Return its name; "" where none was chosen or what is there cannot be read."""
        try:
            return (
                "" if self._file is None else msgspec.json.decode(self._file.read_bytes(), type=Chosen).theme
            )
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return ""

    def save(self, theme: str) -> None:
        """Keep it. Raises OSError when it cannot be written."""
        if self._file is not None:
            _write(self._file, Chosen(theme))


def _write(file: Path, value: msgspec.Struct) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.new")
    temporary.write_bytes(msgspec.json.encode(value))
    temporary.replace(file)
