"""What a program wrote to a terminal, cut into text and control sequences."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SEQUENCE: Final = re.compile(
    r"\x1b\[(?P<params>[0-?]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    # of a string, a byte that does not belong ends the match, so that it is seen as what it is
    r"|\x1b(?P<string>[\]PX^_])(?P<content>[^\x1b\x07]*)(?:\x07|\x1b\\)"
    r"|\x1b(?P<short>[ -/]*[0-~])"
)
_FORBIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f"
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f")


class Sequence(NamedTuple):
    """One control sequence: its kind (without its numbers, but for modes), and all of it."""

    kind: str
    whole: str


class Stream(NamedTuple):
    """The text that a terminal draws, and what it is told besides."""

    text: str
    sequences: list[Sequence]

    @property
    def kinds(self) -> set[str]:
        """The kinds of control sequences that came."""
        return {sequence.kind for sequence in self.sequences}

    @property
    def forbidden(self) -> set[str]:
        """The characters that may not be in text, however it is drawn; line ends are none."""
        return set(_FORBIDDEN.findall(_FLAG.sub("", self.text))) - {"\r", "\n"}


def cut(raw: bytes) -> Stream:
    """Cut what arrived at a terminal. Raises UnicodeDecodeError for what is no UTF-8."""
    told = raw.decode()
    sequences: list[Sequence] = []

    def take(match: re.Match[str]) -> str:
        sequences.append(Sequence(_kind(match), match[0]))
        return ""

    return Stream(_SEQUENCE.sub(take, told), sequences)


def _kind(match: re.Match[str]) -> str:
    if match["string"]:
        number = match["content"].partition(";")[0] if match["string"] == "]" else ""
        return f"{match['string']}{number}"
    if match["short"]:
        return match["short"]
    params, end = match["params"], match["middle"] + match["final"]
    private = params[:1] if params[:1] in tuple("<=>?") else ""
    return f"[{params if private else ''}{end}"


def clipboard(stream: Stream) -> Iterator[str]:
    """Yield what the terminal was told to put on its clipboard, as base64."""
    for sequence in stream.sequences:
        if sequence.kind == "]52":
            yield sequence.whole.removesuffix("\x1b\\").removesuffix("\x07").split(";")[2]
