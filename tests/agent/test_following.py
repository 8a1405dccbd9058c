"""pitree shows the tree while the real agent works: what is on the screen is what is in the file."""

import asyncio
import json
from pathlib import Path

from ui.waiting import browser, sessions, tree, wait_until

from pitree.catalog.locations import Store
from pitree.sessions.entries import Entry
from pitree.ui.app import PitreeApp
from pitree.ui.options import Options

from .fake_model import FakeModel, run_pi
from .install import AgentPaths

PROMPTS = 4


def ids_in(file: Path) -> list[str]:
    return [json.loads(line)["id"] for line in file.read_bytes().splitlines()[1:]]


async def test_prompt_after_prompt(agent: AgentPaths, fake_model: FakeModel, tmp_path: Path) -> None:
    project = tmp_path / "project"
    store = Store(tmp_path / "sessions", flat=True, source="--session-dir")

    def prompt(number: int, *where: str) -> None:
        run_pi(agent, ["-p", *where, f"prompt {number}"], project, fake_model.agent_dir)

    project.mkdir()
    options = Options(store=store, cwd=project, everything=True, environ={"PATH": ""})
    async with PitreeApp(options).run_test(size=(140, 40)) as pilot:
        await asyncio.to_thread(prompt, 0, "--session-dir", str(store.root))
        await wait_until(pilot, lambda: sessions(pilot).highlighted is not None)
        row = sessions(pilot).highlighted
        assert row is not None
        file = row.path
        await pilot.press("tab", "ctrl+a")

        def shown() -> list[str]:
            rows = tree(pilot).rows
            return [] if rows is None else [row.entry.id for row in rows]

        def leaf() -> Entry | None:
            session = browser(pilot).session
            return None if session is None else session.tree.get(session.tree.leaf_id)

        for number in range(1, PROMPTS):
            await wait_until(pilot, lambda: shown() == ids_in(file))
            await asyncio.to_thread(prompt, number, "--session", str(file))
            await wait_until(pilot, lambda: shown() == ids_in(file))
            assert tree(pilot).highlighted is leaf(), "the highlight goes with the leaf"
            assert any(f"prompt {number}" in text for text in tree(pilot).visible_texts())
        assert sum("pong" in text for text in tree(pilot).visible_texts()) == PROMPTS
        messages = sum(json.loads(line)["type"] == "message" for line in file.read_bytes().splitlines())
        await wait_until(pilot, lambda: sessions(pilot).shown_rows[0].message_count == messages)
