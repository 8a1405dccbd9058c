"""Large sessions to measure on, the same on every machine: made once, kept in a cache folder.

`big` is shaped like a long working session: 100,000 entries of 2.3 kB on average, some up to 100 kB, one in
a hundred of them beginning a branch. The others are shapes that quadratic or recursive code does not survive.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

ENTRIES: Final = 100_000
NESTED: Final = 10_000
START: Final = 1_760_000_000
# Part of the cache folder's name: another number makes everybody generate the files anew.
_EDITION: Final = 1

_STOCK: Final = (
    "the a of to in and is that for it as with on be this are or from by which when one two all each only "
    "parser token buffer stream cursor window screen branch merge commit patch review change rename remove "
    "insert update delete select filter search index cache folder file path line column byte string number "
    "list table queue stack tree node leaf root parent child label entry session message reply prompt model "
    "context compaction summary tool call result command shell script server client request response socket "
    "thread worker lock timer signal event handler listener callback promise future task schedule retry "
    "timeout error warning failure exception trace assert expect mock fixture snapshot coverage lint format "
    "build bundle release version upgrade migrate schema column query transaction rollback replica shard "
    "because should would could before after again never always maybe instead without inside outside"
)
_WORDS: Final = _STOCK.split()
_TOOLS: Final = ("bash", "bash", "bash", "edit", "read", "read", "write")
# What replies consist of, and how often.
_REPLIES: Final[dict[tuple[str, ...], int]] = {
    ("call",): 42,
    ("text", "call"): 40,
    ("thinking", "text", "call"): 7,
    ("call", "call"): 3,
    ("text",): 6,
    (): 2,
}

Json = dict[str, Any]


class _Writer:
    """Writes entries that hang on one another, with the ids and times of a repeatable die."""

    def __init__(
        self, path: Path, seed: int, *, start: float = START, cwd: str = "/", parent: Path | None = None
    ) -> None:
        self.rng = random.Random(seed)
        self.ids: list[str] = []
        self.parent: str | None = None
        self._taken: set[str] = set()
        self._now = float(start)
        self._out = path.open("wb")
        identity = f"{self.rng.getrandbits(128):032x}"
        dashed = "-".join((identity[:8], identity[8:12], identity[12:16], identity[16:20], identity[20:]))
        # a folder that is there wherever this runs: Pi asks about one that is gone
        header = {"type": "session", "version": 3, "id": dashed, "timestamp": self._iso(), "cwd": cwd}
        self._line(header if parent is None else {**header, "parentSession": str(parent)})

    def _iso(self) -> str:
        return datetime.fromtimestamp(self._now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def _line(self, value: Json) -> None:
        self._out.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")

    def add(self, kind: str, **fields: object) -> str:
        self._now += self.rng.random() * 20 + 1
        while (entry_id := f"{self.rng.getrandbits(32):08x}") in self._taken:
            pass
        self._taken.add(entry_id)
        self._line(
            {"type": kind, "id": entry_id, "parentId": self.parent, "timestamp": self._iso(), **fields}
        )
        self.ids.append(entry_id)
        self.parent = entry_id
        return entry_id

    def message(self, role: str, content: object, **fields: object) -> str:
        message = {"role": role, "content": content, **fields, "timestamp": int(self._now * 1000)}
        return self.add("message", message=message)

    def user(self, text: str) -> str:
        return self.message("user", [{"type": "text", "text": text}])

    def close(self) -> None:
        self._out.close()


class _Talk:
    """Texts of all lengths, out of a fixed stock, as an agent's conversation has them."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._shares = (list(_REPLIES), list(_REPLIES.values()))
        self._prompts = [self._text(30, 1.0) for _ in range(60)]
        self._replies = [self._text(45, 0.9) for _ in range(300)]
        self._results = [self._text(243, 1.2) for _ in range(500)]
        self._arguments = [self._text(175, 1.35) for _ in range(400)]

    def _text(self, words: int, spread: float) -> str:
        """Return about `words` words: the median; the mean is well above it."""
        count = min(14_000, max(1, int(self._rng.lognormvariate(0, spread) * words)))
        chosen = self._rng.choices(_WORDS, k=count)
        return "".join(word + ("\n" if place % 13 == 12 else " ") for place, word in enumerate(chosen))

    def prompt(self) -> str:
        return self._rng.choice(self._prompts)

    def result(self) -> str:
        return self._rng.choice(self._results)

    def reply(self) -> tuple[list[Json], list[tuple[str, str]]]:
        """Return the blocks of a reply, and id and tool of each call among them."""
        blocks: list[Json] = []
        calls: list[tuple[str, str]] = []
        for kind in self._rng.choices(*self._shares)[0]:
            if kind == "call":
                call_id, tool = f"toolu_{self._rng.getrandbits(96):024x}", self._rng.choice(_TOOLS)
                name = "command" if tool == "bash" else "path"
                arguments = {name: self._rng.choice(self._replies)[:80].replace("\n", " ")}
                if tool in {"edit", "write"}:
                    arguments["content"] = self._rng.choice(self._arguments)
                blocks.append({"type": "toolCall", "id": call_id, "name": tool, "arguments": arguments})
                calls.append((call_id, tool))
            elif kind == "thinking":
                blocks.append(
                    {
                        "type": "thinking",
                        "thinking": self._rng.choice(self._arguments),
                        "thinkingSignature": "",
                    }
                )
            else:
                blocks.append({"type": "text", "text": self._rng.choice(self._replies)})
        return blocks, calls


_USAGE: Final = {
    "input": 12,
    "output": 340,
    "cacheRead": 90_000,
    "cacheWrite": 1_200,
    "totalTokens": 91_552,
    "cost": {"input": 0.00006, "output": 0.0085, "cacheRead": 0.045, "cacheWrite": 0.0075, "total": 0.06106},
}
_MODEL: Final = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-opus-4-5"}


def _talk(made: _Writer, talk: _Talk, entries: int) -> None:
    """Write a conversation of so many entries."""
    rng = made.rng
    made.add("model_change", provider="anthropic", modelId="claude-opus-4-5")
    made.add("thinking_level_change", thinkingLevel="off")
    calls: list[tuple[str, str]] = []
    while len(made.ids) < entries:
        if rng.random() < 0.01:
            made.parent, calls = rng.choice(made.ids), []
        if calls:
            call_id, tool = calls.pop(0)
            block = {"type": "text", "text": talk.result()}
            made.message(
                "toolResult", [block], toolCallId=call_id, toolName=tool, isError=rng.random() < 0.03
            )
        elif rng.random() < 0.12:
            made.user(talk.prompt())
        else:
            blocks, calls = talk.reply()
            reason = "toolUse" if calls else "stop" if blocks else "aborted"
            made.message("assistant", blocks, **_MODEL, usage=_USAGE, stopReason=reason)
        if rng.random() < 0.002:
            made.add("label", targetId=rng.choice(made.ids), label=f"checkpoint {len(made.ids)}")
        if rng.random() < 0.0005:
            kept = made.ids[-min(20, len(made.ids))]
            made.add(
                "compaction", summary="What was done. " * 60, firstKeptEntryId=kept, tokensBefore=150_000
            )


def write_big(path: Path) -> None:
    """Write the session of 100,000 entries: 1 % begin a branch, with labels and compactions in between."""
    made = _Writer(path, 7)
    _talk(made, _Talk(made.rng), ENTRIES)
    made.user("the last word")
    made.close()


def write_chain(path: Path) -> None:
    """Write 100,000 messages, each the answer to the one before."""
    made = _Writer(path, 8)
    for number in range(ENTRIES):
        made.user(f"link {number}")
    made.close()


def write_fan(path: Path) -> None:
    """Write one message with 99,999 answers."""
    made = _Writer(path, 9)
    root = made.user("all hang on this")
    for number in range(1, ENTRIES):
        made.parent = root
        made.user(f"blade {number}")
    made.close()


def write_forks(path: Path) -> None:
    """Write 10,000 forks in each other: at every level one branch ends and the other one forks again."""
    made = _Writer(path, 10)
    made.user("the trunk")
    for number in range(NESTED):
        fork = made.parent
        made.user(f"dead end {number}")
        made.parent = fork
        made.user(f"fork {number}")
    made.close()


SHAPES: Final[dict[str, Callable[[Path], None]]] = {
    "big": write_big,
    "chain": write_chain,
    "fan": write_fan,
    "forks": write_forks,
}


def made_store(count: int, messages: int) -> Path:
    """Return an agent directory with so many sessions, about so many messages long: the median.

    They are spread over 40 working directories, a third has a name, a tenth was forked from another one. It
    is made where it is not there yet.
    """
    folder = cache_folder() / f"store-{count}-{messages}"
    if not folder.exists():
        fresh = folder.with_name(f"{folder.name}.new")
        rng = random.Random(count)
        talk = _Talk(rng)
        now, paths = float(START), list[Path]()
        for number in range(count):
            now += rng.random() * 3600
            cwd = f"/home/ada/code/project-{rng.randrange(40):02d}"
            stamp = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")[:-3]
            place = Path("sessions") / f"-{cwd.replace('/', '-')}--" / f"{stamp}Z_{number:08x}.jsonl"
            (fresh / place).parent.mkdir(parents=True, exist_ok=True)
            parent = folder / rng.choice(paths) if paths and rng.random() < 0.1 else None
            made = _Writer(fresh / place, number, start=now, cwd=cwd, parent=parent)
            _talk(made, talk, max(3, int(rng.lognormvariate(0, 1) * messages)))
            if rng.random() < 0.3:
                made.add("session_info", name=f"Task {number}")
            made.close()
            paths.append(place)
        fresh.rename(folder)
    return folder


def cache_folder() -> Path:
    """Return where the sessions are kept: `$PITREE_BENCHMARK_DIR`, else below the cache folder."""
    chosen = os.environ.get("PITREE_BENCHMARK_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return base / "pitree-tests" / f"benchmark-{_EDITION}"


def made_sessions() -> Iterator[tuple[str, Path]]:
    """Yield each shape's name and file, which is made first where it is not there yet."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for name, write in SHAPES.items():
        path = folder / f"{name}.jsonl"
        if not path.exists():
            fresh = path.with_suffix(".new")
            write(fresh)
            fresh.replace(path)
        yield name, path
