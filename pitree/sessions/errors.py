"""The exceptions of the sessions room: one family, with messages that say what and where."""


class SessionError(Exception):
    """Something about a session file that the caller has to hear of."""


class NotASessionError(SessionError):
    """The file is no Pi session; the message gives the path and the reason."""


class EntryNotFoundError(SessionError):
    """An entry id (or prefix of one) names no entry, or several."""


class LineError(SessionError):
    """One line of a file cannot be used; the message is the reason, without a place."""


class ReadOnlyError(SessionError):
    """The session must not be written to; the message gives the path and the reason."""


class WriteError(SessionError):
    """Writing failed; the file and what is in memory are as they were before."""


class InvalidValueError(SessionError):
    """A value that a session cannot hold, or that Pi would not take at that place."""


class ChangedError(SessionError):
    """What was decided on is no longer so; nothing was written. The message says what changed."""


class MigrationNeededError(SessionError):
    """The file is of an old version, and nobody has agreed to its being migrated; nothing was written."""
