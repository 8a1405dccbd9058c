"""What pitree remembers of a session for the next time: its folds. Kept in a folder of pitree's own."""

import hashlib
import os
from collections.abc import Collection
from pathlib import Path

import orjson
from platformdirs import user_state_path


def state_dir() -> Path:
    """Return the folder for what pitree remembers; it need not exist."""
    return user_state_path("pitree", appauthor=False)


class FoldStore:
    """The folded entries of sessions, by file. With `folder` None nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "folds"

    def _file(self, session: Path) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256(os.fsencode(session.resolve())).hexdigest()[:32]
        return self._folder / f"{name}.json"

    def load(self, session: Path) -> set[str]:
        """Return the ids that were folded; none where nothing is known or what is there cannot be read."""
        file = self._file(session)
        try:
            kept = orjson.loads(file.read_bytes()) if file is not None else []
        except (OSError, orjson.JSONDecodeError):
            return set()
        return (
            {entry_id for entry_id in kept if isinstance(entry_id, str)} if isinstance(kept, list) else set()
        )

    def save(self, session: Path, folded: Collection[str]) -> None:
        """Keep the folded ids. Raises OSError when they cannot be written."""
        file = self._file(session)
        if file is None:
            return
        if not folded:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.new")
        temporary.write_bytes(orjson.dumps(sorted(folded)))
        temporary.replace(file)
