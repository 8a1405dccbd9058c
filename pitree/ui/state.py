"""What pitree remembers of a session for the next time: its folds. Kept in a folder of pitree's own."""

import hashlib
import os
from pathlib import Path

import msgspec
from platformdirs import user_state_path


def state_dir() -> Path:
    """Return the folder for what pitree remembers; it need not exist."""
    return user_state_path("pitree", appauthor=False)


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
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.new")
        temporary.write_bytes(msgspec.json.encode(folds))
        temporary.replace(file)
