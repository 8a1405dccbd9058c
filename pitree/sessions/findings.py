"""The kinds of things that can be wrong with a session file, by the words that stand for them.

Damage is what a repaired copy does without; a remark is what no copy can mend, or nothing is lost by.
"""

from typing import Final, Literal

import msgspec

Severity = Literal["damage", "remark"]

_DAMAGE: Final = {
    "unreadable": "the file or folder cannot be read",
    "no-session": "nothing in the file is of a Pi session",
    "no-header": "entries without a session header; Pi refuses the file",
    "bad-header": "a header without an id, or of a version that cannot be read",
    "before-header": "objects before the header; Pi refuses the file",
    "extra-header": "a further session header; the first one counts",
    "byte-order-mark": "three bytes before the header; Pi refuses the file",
    "malformed-line": "a line that is not JSON",
    "not-an-object": "a line that is JSON, but no object",
    "nul-bytes": "a line that holds NUL bytes, as a crash of the system leaves them",
    "fused-line": "a torn line and whole entries behind it on one line; Pi sees none of them",
    "torn-tail": "a last line that was not written to its end",
    "no-final-newline": "a whole last line without its newline; what is appended can fuse with it",
    "invalid-utf8": "bytes that are not UTF-8; Pi reads U+FFFD in their place",
    "repeated-id": "an id that a later line has as well; the last one counts",
    "missing-parent": "an entry whose parent is not in the file; the context stops there",
    "self-parent": "an entry that is its own parent; Pi hangs or dies on it",
    "cycle": "entries that are each other's parents; Pi hangs or dies on them",
    "bad-field": "a field that is missing or of another type than it has to be",
    "dangling-target": "a label, context edit or leaf that points at an entry that is not there",
    "dangling-boundary": "a compaction that keeps from an entry that is not on its path, and so keeps none",
}
_REMARKS: Final = {
    "unfinished-line": "a last line that an agent seems to be writing just now",
    "stale-leaf": "the last line hangs on an older branch than the newest message",
    "open-call": "a tool call in the context whose result is not there, though the conversation went on",
    "result-without-call": "a tool result in the context whose call is not there",
    "missing-source": "a branch summary of a branch that is not in the file",
    "unknown-role": "messages of a role that is not known, or of none",
    "unknown-type": "entries of a type that is not known",
    "newer-version": "a version that is not known yet",
    "mixed-versions": "entries that are not of the version that the header states",
    "deep-nesting": "a line that is nested too deeply to be read as a whole",
    "missing-folder": "the session's folder is not there",
    "missing-session": "the session that this one was forked from is not there",
}
KINDS: Final = {**_DAMAGE, **_REMARKS}
"""What each kind means, in words; the damage first."""


def severity_of(kind: str) -> Severity:
    """Return whether a kind is damage, or a remark."""
    return "damage" if kind in _DAMAGE else "remark"


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """One thing that was found: `line` counts from 1, `offset` is in bytes from the file's start.

    `kind` is one of `KINDS`. `detail` says what it is and what can be done, as it came from the file: it goes
    through `text.display` before a terminal sees it. What concerns a whole file has line 1 and offset 0.
    """

    kind: str
    line: int
    offset: int
    detail: str
    entry_id: str | None = None

    @property
    def severity(self) -> Severity:
        """Whether a repaired copy would do without it."""
        return severity_of(self.kind)
