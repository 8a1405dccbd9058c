"""How soon the preview shows large things, and how it scrolls: run by hand, `--help` says more.

    .venv/bin/python tests/performance/previews.py

The pane runs in a Textual program without a terminal, 80x40; times are from the call that asks for something
(so they hold the 40 ms that pass before the preview begins) to the frame that shows it.

first       until something of what was asked for is drawn
complete    until the whole document is there
line, page  one line, one page further, drawn; the slowest of the 50 that follow each other
find        until what stands at the very end is found and drawn
held        Down held in a session of 10,000 entries, 60 keys a second: from the last key until the entry that
            is highlighted then is drawn, and how many documents were made on the way
"""

import argparse
import asyncio
import base64
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parents[2]
MOMENT: Final = "2026-03-01T10:00:00.000Z"
SIZE: Final = (80, 40)
KEYS_A_SECOND: Final = 60
HELD_KEYS: Final = 120
PATIENCE_SECONDS: Final = 30.0

Json = dict[str, Any]
_WORDS: Final = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "lazy",
    "dogs",
    "while",
    "reading",
    "configuration",
    "and",
    "printing",
    "results",
]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description="Measure the preview on large entries and contexts.")
    parser.add_argument("--runs", type=int, default=5, help="how often each thing is measured (default: 5)")
    parser.add_argument("--file", type=Path, help="a session of your own, instead: its leaf, in three tabs")
    args = parser.parse_args(arguments)
    sys.path[:0] = [str(ROOT)]
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(measure(Path(scratch), args.runs, args.file))


# ---- what is looked at


def words(rng: random.Random, characters: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(characters // 6))


def large_entries(rng: random.Random) -> Iterator[tuple[str, Json]]:
    """Yield what each is, and its message."""
    lines = "\n".join(words(rng, 80) for _ in range(50_000_000 // 80)) + "\nthe needle"
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": False}
    yield "a tool result of 50 MB", {**result, "content": [{"type": "text", "text": lines}]}
    encoded = base64.b64encode(rng.randbytes(2_250_000)).decode()
    yield "one line of 3 MB, base64", {"role": "user", "content": encoded + " the needle"}
    image = {"type": "image", "mimeType": "image/png", "data": encoded}
    yield "an image of 3 MB", {"role": "user", "content": [image, {"type": "text", "text": "the needle"}]}
    prose = "\n\n".join(f"## {words(rng, 30)}\n\n{words(rng, 400)}" for _ in range(16))
    code = "```python\ndef f(x):\n    return x + 1\n```\n\n"
    yield (
        "a reply of 8 kB, Markdown",
        {"role": "assistant", "content": (code + prose)[:7900] + "\n\nthe needle"},
    )


def long_context(rng: random.Random, count: int) -> Iterator[Json]:
    """Yield the messages of a conversation with tools."""
    for number in range(count // 4):
        call = {
            "type": "toolCall",
            "id": f"c{number}",
            "name": "read",
            "arguments": {"path": f"src/f{number}.py"},
        }
        spent = {
            "usage": {"totalTokens": 100 + number, "cost": {"total": 0.001}},
            "provider": "p",
            "model": "m",
        }
        said = {"type": "text", "text": words(rng, 600)}
        yield {"role": "user", "content": words(rng, 200)}
        yield {"role": "assistant", "content": [said, call], "stopReason": "toolUse", **spent}
        text = {"type": "text", "text": words(rng, 4000)}
        yield {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "read", "content": [text]}
        yield {"role": "assistant", "content": [said], "stopReason": "stop", **spent}


def write(path: Path, messages: Iterator[Json], *, fork_at: int | None = None) -> Path:
    """Write messages below each other; with `fork_at`, a second branch begins there and holds the leaf."""
    with path.open("w") as out:
        header = {"type": "session", "version": 3, "id": path.stem, "timestamp": MOMENT, "cwd": "/"}
        out.write(json.dumps(header) + "\n")
        above = None
        number = 0

        def entry(message: Json, parent: str | None) -> str:
            nonlocal number
            number += 1
            line = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": MOMENT}
            out.write(json.dumps({**line, "message": message}) + "\n")
            return str(line["id"])

        for message in messages:
            above = entry(message, above)
        if fork_at is not None:
            entry({"role": "user", "content": "another way"}, f"{fork_at:08x}")
    return path


# ---- measuring


async def measure(scratch: Path, runs: int, own: Path | None) -> None:
    """Measure everything and print it."""
    from pitree.sessions.file import SessionFile

    rng = random.Random(1)
    table: list[tuple[str, list[Json]]] = []
    if own is not None:
        session = SessionFile.load(own)
        leaf = session.tree.leaf_id or ""
        for tab in ("entry", "context", "changes"):
            rows = [await one(session, leaf, tab) for _ in range(runs)]
            table.append((f"{own.name}: {tab}", rows))
    else:
        for name, message in large_entries(rng):
            session = SessionFile.load(write(scratch / "large.jsonl", iter([message])))
            for tab in ("entry", "context"):
                rows = [await one(session, session.entries[0].id, tab) for _ in range(runs)]
                table.append((f"{name}: {tab}", rows))
        made = write(scratch / "long.jsonl", long_context(rng, 10_000), fork_at=2_000)
        session = SessionFile.load(made)
        last = session.entries[-2].id
        for tab in ("context", "changes"):
            rows = [await one(SessionFile.load(made), last, tab) for _ in range(runs)]
            table.append((f"10,000 messages, {tab}", rows))
        for tab in ("entry", "context", "changes"):
            rows = [await held(session, tab) for _ in range(runs)]
            table.append((f"10,000 messages, held: {tab}", rows))
    load = ", ".join(f"{figure:.1f}" for figure in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load}; medians of {runs} runs in ms\n")  # noqa: T201
    columns = ("first", "complete", "line", "page", "find", "held", "made")
    print("| | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))  # noqa: T201
    for title, rows in table:
        medians = {name: statistics.median(row[name] for row in rows) for name in columns if name in rows[0]}
        cells = [f"{medians[name]:.0f}" if name in medians else "" for name in columns]
        print(f"| {title} | " + " | ".join(cells) + " |")  # noqa: T201


def host() -> Any:  # noqa: ANN401 - a program with nothing but the pane
    from textual.app import App, ComposeResult

    from pitree.ui.panes.preview import Preview

    class Host(App[None]):
        CSS = "Preview { border: round $surface-lighten-2; }"

        def compose(self) -> ComposeResult:
            yield Preview()

    return Host()


async def until(happened: Callable[[], object]) -> None:
    """Wait as closely as the event loop lets one."""
    deadline = time.perf_counter() + PATIENCE_SECONDS
    while not happened():
        await asyncio.sleep(0.0005)
        if time.perf_counter() > deadline:
            raise TimeoutError("it did not come")


async def one(session: Any, entry_id: str, tab: str) -> Json:  # noqa: ANN401 - a SessionFile
    """Show an entry in a tab, scroll, find; return milliseconds by what was done."""
    from pitree.ui.panes.preview import Preview

    took: Json = {}
    async with host().run_test(size=SIZE) as pilot:
        await pilot.pause(0.1)
        pane = pilot.app.query_one(Preview)
        pane.focus()
        pane.set_reactive(Preview.tab, tab)
        before = pane.document
        began = time.perf_counter()
        pane.show(session, session.find(entry_id))
        await until(lambda: pane.document is not before)
        drawn(pane)
        took["first"] = (time.perf_counter() - began) * 1e3
        await until(lambda: pane._stop is None and not pane.document.unfinished)
        drawn(pane)
        took["complete"] = (time.perf_counter() - began) * 1e3
        for name, move in (("line", pane.action_line_down), ("page", pane.action_page_down)):
            took[name] = max(timed(move, pane) for _ in range(50))
        pane.action_first()
        began = time.perf_counter()
        pane.action_find()
        pane._look_for("needle")
        await until(lambda: pane.view.found is not None or pane._complete)
        drawn(pane)
        took["find"] = (time.perf_counter() - began) * 1e3
    return took


def timed(move: Callable[[], None], pane: Any) -> float:  # noqa: ANN401 - a Preview
    began = time.perf_counter()
    move()
    drawn(pane)
    return (time.perf_counter() - began) * 1e3


def drawn(pane: Any) -> None:  # noqa: ANN401 - a Preview
    """Draw what is on the screen, as Textual does for a frame."""
    for y in range(pane.view.page):
        pane.view.render_line(y)


async def held(session: Any, tab: str) -> Json:  # noqa: ANN401 - a SessionFile
    """Hold Down over the end of a session, and see how far behind the preview is at the end."""
    from pitree.ui.panes.preview import Preview

    made = 0
    async with host().run_test(size=SIZE) as pilot:
        await pilot.pause(0.1)
        pane = pilot.app.query_one(Preview)
        pane.set_reactive(Preview.tab, tab)
        documents = pane._maker.documents

        def counted(*arguments: Any) -> Any:  # noqa: ANN401
            nonlocal made
            made += 1
            return documents(*arguments)

        pane._maker.documents = counted
        for place in range(HELD_KEYS):
            pane.show(session, session.entries[-2 - HELD_KEYS + place])
            await asyncio.sleep(1 / KEYS_A_SECOND)
        began = time.perf_counter()
        wanted = session.entries[-2]
        pane.show(session, wanted)
        await until(lambda: pane._shown is not None and pane._shown.entry is wanted)
        drawn(pane)
        return {"held": (time.perf_counter() - began) * 1e3, "made": made}


if __name__ == "__main__":
    main()
