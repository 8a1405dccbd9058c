"""When pitree itself breaks: one line for the person, the traceback for a log that only they can read."""

import os
import platform
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pitree import __version__
from pitree.folders import state_dir
from pitree.sessions.text import display, lines, one_line

_DEBUG: Final = "PITREE_DEBUG"
_FILE: Final = "crash.log"
_MAX_BYTES: Final = 1 << 18
_MAX_REPORT: Final = 1 << 16
_CODE: Final = 1


def tell(error: BaseException, environ: Mapping[str, str] = os.environ, folder: Path | None = None) -> int:
    """Write an error that nobody expected to the log, say so in one line on standard error, and return 1.

    The log is `crash.log` in `folder` (by default pitree's own one). With `$PITREE_DEBUG` set, the traceback
    is printed as well.
    """
    report = report_of(error)
    if environ.get(_DEBUG):
        _say(report)
    kind = type(error).__name__
    try:
        where = f"the log is {_write(report, state_dir() if folder is None else folder)}"
    except (OSError, RuntimeError) as trouble:  # also where there is no home
        where = (
            f"no log could be written ({one_line(str(trouble), 300)}), but {_DEBUG}=1 prints what was in it"
        )
    _say(f"pitree: ended by an error in itself ({display(kind)}); no session was changed by that; {where}\n")
    return _CODE


def report_of(error: BaseException) -> str:
    """Return what the log says of an error: where it happened, without the values of variables."""
    told = "".join(traceback.format_exception(error))
    if len(told) > _MAX_REPORT:
        told = f"{told[: _MAX_REPORT // 2]}\n…\n{told[-_MAX_REPORT // 2 :]}"
    when = datetime.now(UTC).isoformat(timespec="seconds")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    head = f"{when} pitree {__version__}, {python}, {platform.platform()}\n"
    return head + "\n".join(map(display, lines(told)))


def _write(report: str, folder: Path) -> Path:
    file = folder / _FILE
    folder.mkdir(parents=True, exist_ok=True)
    # not through a link that somebody put there
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags, 0o600), "wb") as log:
        if os.fstat(log.fileno()).st_size > _MAX_BYTES:
            log.truncate(0)
        log.write(report.encode("utf-8", "replace") + b"\n")
    return file


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
