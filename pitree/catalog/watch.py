"""File system events: when something below a folder may have changed.

Events are a hint and nothing more: some file systems send none, systems run out of what watching needs, and
what was watched can be replaced by something of the same name. Whoever is told looks for himself, and looks
now and then without being told.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

TICK_SECONDS: Final = 1.0
"""How often it is looked whether the folder is still the one that is watched, or has come."""

_AGAIN_SECONDS: Final = 60.0
# Appends come in twos and threes: the first one waits a step for the others, none longer than the debounce.
_STEP_MS: Final = 40
_DEBOUNCE_MS: Final = 100

Told = Callable[[frozenset[Path]], None]
"""Takes the paths that changed; none of them means: anything may have changed."""


def watch_folder(
    folder: Path,
    told: Told,
    *,
    stop: threading.Event,
    recursive: bool,
    problem: Callable[[str | None], None],
) -> None:
    """Tell what changes in a folder until `stop` is set; blocks, so it wants a thread of its own.

    A folder that is missing, or goes, is waited for. Where it cannot be watched, `problem` is told why, and
    with None when it can be again.
    """
    failed: str | None = None
    while not stop.is_set():
        before = _identity(folder)
        if before is None:
            stop.wait(TICK_SECONDS)
            if _identity(folder) is not None:
                told(frozenset())
            continue
        try:
            for paths in _events(folder, before, stop, recursive=recursive):
                if failed is not None:
                    failed = None
                    problem(None)
                told(paths)
        except FileNotFoundError:
            continue  # it went meanwhile
        # such as: too many watches, or instances of them; a name that is not UTF-8
        except (OSError, RuntimeError, ValueError) as error:
            reason = str(error) or type(error).__name__
            if reason != failed:  # once is enough
                failed = reason
                problem(reason)
            stop.wait(_AGAIN_SECONDS)


def _events(
    folder: Path, identity: tuple[int, int], stop: threading.Event, *, recursive: bool
) -> Iterator[frozenset[Path]]:
    """Yield what changes until the folder is no longer the one it was."""
    from watchfiles import Change, watch

    changes = watch(
        folder,
        watch_filter=None,  # the default one is blind in folders with names such as node_modules
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=int(TICK_SECONDS * 1000),
        yield_on_timeout=True,
        force_polling=False,  # it compares whole seconds, and misses the last changes of each
        recursive=recursive,
        ignore_permission_denied=True,
    )
    gone = (Change.deleted, str(folder))  # of one that is made again the identity can be the same
    begun = False
    for found in changes:
        if found:
            yield frozenset(Path(path) for _, path in found)
        if not begun:
            begun = True
            yield frozenset()  # what changed before the watch began
        if gone in found or _identity(folder) != identity:
            yield frozenset()
            return


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
