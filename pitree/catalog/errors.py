"""The exceptions of the catalog room; they belong to the family of `pitree.sessions.errors`."""

from pitree.sessions.errors import SessionError


class SessionNotFoundError(SessionError):
    """A path, id or beginning of an id names no session, or several; the message says where was looked."""


class NoHomeError(SessionError):
    """Nothing says where this person's files are; the message says what to do."""


class CacheLostError(SessionError):
    """What was kept of sessions is gone; there is nothing for it but to read them again."""
