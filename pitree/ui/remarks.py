"""What a person should know of a session before working with it, in one safe line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pitree.sessions.text import one_line
from pitree.ui.keys import USUAL_KEYS, KeyTable

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.sessions.file import SessionFile

_LIVE_SECONDS: Final = 5.0
_QUIET_SECONDS: Final = 900.0


def remark_on(session: SessionFile | None, keys: KeyTable = USUAL_KEYS) -> str:
    """Return what is unusual about a session: read-only, damaged, gone on elsewhere; mostly nothing."""
    from pitree.sessions.activity import newest_elsewhere

    if session is None:
        return ""
    remarks = []
    if session.read_only:
        remarks.append(f"read-only: {session.read_only}")
    damage = session.damage
    if damage:
        more = f" (and {len(damage) - 1} more; `pitree doctor` tells them)" if len(damage) > 1 else ""
        remarks.append(f"⚠ line {damage[0].line}: {damage[0].reason}{more}")
    if newest_elsewhere(session) is not None:
        remarks.append(f"the newest message is on another branch: {keys.way('newest')} goes there")
    return one_line("; ".join(remarks), 600)


def liveness(session: SessionFile | None, now: float) -> str:
    """Return whether a session is being written, and for how long it has been quiet; "" for old ones."""
    if session is None:
        return ""
    quiet = max(0.0, now - session.modified)
    if quiet < _LIVE_SECONDS:
        return "● live"
    if quiet < _QUIET_SECONDS:
        # in steps: each other text is a frame to draw
        return f"● quiet for {f'{quiet // 5 * 5:.0f} s' if quiet < 60 else f'{quiet // 60:.0f} min'}"
    return ""


def short_path(path: str) -> str:
    """Return a path with the home directory as `~`."""
    home = str(Path.home())
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
