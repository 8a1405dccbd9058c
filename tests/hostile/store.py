"""A store in which every text is an attack on the terminal."""

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any, Final

Json = Any

TITLE: Final = "owned"
ATTACKS: Final = (
    "\x1b[95;51m",  # colours
    "\x1b[2J\x1b[41;7H",  # clears, and goes elsewhere
    "\x1b]52;c;b3duZWQ=\x07",  # the clipboard, ended in both ways
    "\x1b]52;c;b3duZWQ=\x1b\\",
    f"\x1b]0;{TITLE}\x07",
    f"\x1b]2;{TITLE}\x1b\\",
    "\x1b]8;;http://owned.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bP$qm\x1b\\",  # asks the terminal, which answers as if somebody typed
    "\x1b_Gi=31,a=T;AAAA\x1b\\",
    "\x1b^private\x1b\\",
    "\x1bc",
    "\x1b[?69h",
    "\x1b[5i",
    "\x9b95;51m",
    f"\x9d0;{TITLE}\x9c",
    "\x90q\x9c",
    "\x85",
    "\x00\x07\x08\x0b\x0c\x0e\x0f\x7f",
    "\ttab\t",
    "over\rwritten",
    "two\nlines",
    "\u202egnp.exe\u202c",
    "\u202a\u202b\u202d\u2066\u2067\u2068\u2069",
    "\u200e\u200f\u061c",
    "zero\u200b\u2060\ufeffwidth\u00ad",
    "\U000e0001\U000e0068\U000e0069\U000e007f",
    "\u2028\u2029",
    "\ud83d",
    "\udc9b",
    "[bold]b[/] [link=http://owned.example]l[/link] [@click=app.quit]c[/]",
    "$text-warning [$accent]v[/]",
    "\ufe0fx\ufe0f\u200d",
)
WHOLE: Final = "👩\u200d👩\u200d👧 🇯🇵 ✌🏽 1\ufe0f\u20e3 ❤\ufe0f 日本語"
"""What people write stays what it is."""

_MOMENT: Final = "2026-03-01T10:{:02d}:{:02d}.000Z"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Hostile:
    """Gives texts: each has a number, and begins with another attack; without attacks they are harmless."""

    def __init__(self, attacks: tuple[str, ...] = ATTACKS) -> None:
        self._attacks = attacks
        self._numbers = itertools.count(1)

    def text(self, word: str = "") -> str:
        """Give a text with every attack in it."""
        number = next(self._numbers)
        start = number % max(1, len(self._attacks))
        return " ".join([f"{word}q{number:03d}", *self._attacks[start:], *self._attacks[:start]])

    def usage(self) -> Json:
        """Give a usage object."""
        cost = {"total": 0.01, "currency": self.text()}
        return {"input": 10, "output": 5, "totalTokens": 15, "cost": cost, self.text(): self.text()}

    def block(self, kind: str, /, **fields: Json) -> Json:
        """Give a block of a message."""
        return {"type": kind, **fields, self.text(): self.text()}


class HostileSession:
    """A session file whose every text is hostile, with a fork, tool calls, a compaction and the rest."""

    def __init__(self, cwd: str, hostile: Hostile, *, parent: str | None = None, version: int = 3) -> None:
        self._made = hostile
        self._count = 0
        self._last: str | None = None
        self.id = hostile.text("id")
        header = {
            "type": "session",
            "version": version,
            "id": self.id,
            "timestamp": hostile.text("when"),
            "cwd": cwd,
            "parentSession": hostile.text("/parent") if parent is None else parent,
            "metadata": {hostile.text(): hostile.text()},
        }
        self.lines = [_line(header)]

    def entry(self, kind: str, parent: str | None = None, /, **fields: Json) -> str:
        """Add an entry, by default below the last one; return its id."""
        self._count += 1
        made = {
            "type": kind,
            "id": self._made.text(f"e{self._count}"),
            "parentId": self._last if parent is None else parent,
            "timestamp": _MOMENT.format(self._count // 60, self._count % 60),
            **fields,
            self._made.text("key"): self._made.text(),
        }
        self.lines.append(_line(made))
        self._last = made["id"]
        return str(made["id"])

    def message(self, role: str, parent: str | None = None, /, **fields: Json) -> str:
        """Add a message."""
        stamp = 1772359200000 + self._count * 1000
        return self.entry("message", parent, message={"role": role, "timestamp": stamp, **fields})

    def fill(self) -> None:
        """Add an entry of every kind."""
        made, text = self._made, self._made.text
        first = self.message("user", content=f"asked {WHOLE} {text()}")
        self.entry("model_change", provider=text(), modelId=text())
        self.entry("thinking_level_change", thinkingLevel=text())
        call_ids = [text("call") for _ in range(4)]
        arguments: list[tuple[str, Json]] = [
            ("read", {"path": text(), "offset": text(), "limit": 3}),
            ("bash", {"command": text(), "timeout": text()}),
            ("edit", {"path": text(), "edits": [{"oldText": text(), "newText": text()}]}),
            (text("tool"), {text(): [text(), {text(): text()}]}),
        ]
        calls = [
            made.block("toolCall", id=call_id, name=name, arguments=given)
            for call_id, (name, given) in zip(call_ids, arguments, strict=True)
        ]
        said = [made.block("thinking", thinking=text()), made.block("text", text=_markdown(text))]
        self.message("assistant", content=[*said, *calls], **self._model("toolUse"))
        for call_id, (name, _) in zip(call_ids, arguments, strict=True):
            image = made.block("image", data="iVBORw0KGgo=", mimeType=text("image/"))
            self.message(
                "toolResult",
                toolCallId=call_id,
                toolName=name,
                content=[made.block("text", text=text()), image],
                details={"diff": f"-1 {text()}\n+1 {text()}", "patch": text()},
                isError=name == "bash",
            )
        self.message("assistant", content=[], errorMessage=text("failed"), **self._model("error"))
        self.message("bashExecution", command=text(), output=text(), exitCode=3, fullOutputPath=text())
        self.message("custom", customType=text(), content=text(), display=True, details={text(): text()})
        self.message("system", content=text(), sections={text(): text()}, toolsAdded=[text()])
        self.message(text("role"), content=text())
        self.entry("custom", customType=text(), data={text(): text()})
        self.entry("custom_message", customType=text(), content=text(), display=True)
        self.entry("usage", kind=text(), provider=text(), model=text(), usage=made.usage(), note=text())
        self.entry("active_tools_change", activeToolNames=[text()])
        self.entry(text("type"), value=text())
        kept = self.message("user", content=[made.block("text", text=text("kept")), made.block(text())])
        files = {"readFiles": [text()], "modifiedFiles": [text()]}
        self.entry("compaction", summary=text(), tokensBefore=9, firstKeptEntryId=kept, details=files)
        self.entry("context_edit", targetId=kept, replacement={"content": text()})
        self.entry("branch_summary", kept, summary=text(), fromId=first, details=files)
        self.message("user", content=text("other"))
        self.message("assistant", content=[made.block("text", text=text("reply"))], **self._model("stop"))
        for target in (first, kept):
            self.entry("label", targetId=target, label=f"lab {text()}")
        self.entry("session_info", name=f"name {WHOLE} {text('name')}")
        self.lines += [
            text("no JSON").replace("\n", " ").encode("utf-8", "replace"),
            b'{"cut": "\x1b[95;51m\x9b',
        ]

    def _model(self, reason: str) -> Json:
        text = self._made.text
        return {
            "provider": text("by"),
            "model": text("model"),
            "api": text(),
            "usage": self._made.usage(),
            "stopReason": reason,
        }

    def write(self, path: Path) -> Path:
        """Write it to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(self.lines) + b"\n")
        return path


def _markdown(text: Any) -> str:  # noqa: ANN401 - what gives texts
    code = f"```{text('lang')}\n{text()}\n```\n```python\nx = '{text()}'\n```"
    table = f"| a | {text('head')} |\n|---|---|\n| b | {text()} |".replace("\n ", " ")
    return f"# {text('title')}\n\n- {text()}\n> {text()}\n`{text()}` **{text()}** [{text()}](http://x/{text()})\n{code}\n{table}"


def _line(value: Json) -> bytes:
    """Encode as JavaScript does: everything as it is, but for C0 controls and halves of characters."""
    told = json.dumps(value, ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", told).encode()


def _file_name(hostile: Hostile, *, longest: int) -> bytes:
    name = hostile.text().replace("/", "|").replace("\0", "").encode("utf-8", "replace")
    return name[:longest] + b"\xff\x9b2J\xe2\x80"  # no UTF-8


def make(sessions: Path, cwd: Path, attacks: tuple[str, ...] = ATTACKS) -> list[Path]:
    """Fill a session root, and return its files.

    The first is a usual name's, the second's is hostile, as its folder's is; the third is of version 1.
    """
    hostile = Hostile(attacks)
    folder = sessions / f"--{str(cwd).removeprefix('/').replace('/', '-')}--"
    one = HostileSession(str(cwd), hostile)
    one.fill()
    paths = [one.write(folder / "2026-03-01T10-00-00-000Z_usual.jsonl")]
    other = HostileSession(f"{cwd}/{hostile.text('gone')}", hostile, parent=str(paths[0]))
    other.fill()
    odd = sessions / os.fsdecode(b"--" + _file_name(hostile, longest=200) + b"--")
    paths.append(other.write(odd / os.fsdecode(b"-" + _file_name(hostile, longest=150) + b".jsonl")))
    paths.append(other.write(folder / os.fsdecode(b"-" + _file_name(hostile, longest=150) + b".jsonl")))
    old = HostileSession(hostile.text("/gone"), hostile, version=1)
    old.lines += [
        _line(
            {
                "type": "message",
                "timestamp": hostile.text(),
                "message": {"role": "user", "content": hostile.text()},
            }
        )
    ]
    paths.append(old.write(folder / "2026-03-01T10-00-00-000Z_old.jsonl"))
    return paths
