"""When an agent last wrote to a session, and where, as far as the session itself tells."""

from typing import Final

from pitree.sessions import javascript
from pitree.sessions.context import Session
from pitree.sessions.errors import SessionError

# What people do to a session from outside; all else is the agent's.
_BOOKKEEPING: Final = ("label", "session_info", "custom", "branch_summary")
_LOOKED_AT: Final = 50


def last_activity(session: Session) -> float | None:
    """Return the time of the agent's newest entry in Unix milliseconds, or None where none states one."""
    for entry in session.tree.entries[: -_LOOKED_AT - 1 : -1]:
        if entry.type in _BOOKKEEPING:
            continue
        try:
            moment = javascript.time_ms(session.body(entry).get("timestamp"))
        except (SessionError, OSError):
            continue
        if moment:
            return moment
    return None


def newest_elsewhere(session: Session) -> str | None:
    """Return the id of the file's last message where it is not on the way to the leaf, else None."""
    tree = session.tree
    last = next((entry for entry in reversed(tree.entries) if entry.type == "message"), None)
    if last is None or any(entry is last for entry in tree.path(tree.leaf_id)):
        return None
    return last.id
