"""Make the pictures in `screenshots/` from the demo sessions. Needs Chromium, and Fira Code and Noto fonts.

Usage: python tools/screenshots.py [CHROMIUM]
"""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from html import unescape
from os import environ
from pathlib import Path

from rich.cells import cell_len

from pitree import demo
from pitree.catalog.locations import Store
from pitree.ui.app import PitreeApp
from pitree.ui.changing import ASKING
from pitree.ui.following import STANDING
from pitree.ui.options import Options

TARGET = Path(__file__).parents[1] / "screenshots"
NOW = datetime(2026, 3, 14, 18, 0, tzinfo=UTC).timestamp()
CELL = 12.2
PICTURES: dict[str, tuple[tuple[int, int], Sequence[str]]] = {
    "wide": ((150, 40), ("tab",)),
    "context": ((110, 32), ("tab", "tab", "right")),
    "changes": ((110, 32), ("tab", "alt+j", "alt+j", "tab", "left")),
    "move": ((110, 32), ("tab", "ctrl+up", "enter")),
    "narrow": ((60, 20), ("tab",)),
}


async def draw(size: tuple[int, int], keys: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / demo.ADA.name
        environ["HOME"] = str(home)
        made = demo.make(home / ".pi" / "agent", home=home)
        gone = home / demo.GONE.relative_to(demo.ADA)
        options = Options(
            store=Store(made.agent_dir / "sessions", flat=False, source="default"),
            cwd=made.cwd,
            everything=True,
            environ={"PATH": ""},
            clock=lambda: NOW,
            is_folder=lambda path: path != str(gone),
        )
        app = PitreeApp(options)
        async with app.run_test(size=size) as pilot:
            for key in ("", *keys):
                if key:
                    await pilot.press(key)
                for _ in range(5):
                    await pilot.pause(0.1)
                    standing = {STANDING, ASKING}
                    while any(worker.is_running and worker.group not in standing for worker in app.workers):
                        await pilot.pause(0.01)
            return app.export_screenshot()


def wide_characters(svg: str) -> str:
    """Correct the length of texts with characters two cells wide: the export counts characters."""

    def corrected(match: re.Match[str]) -> str:
        cells = cell_len(unescape(match[3]))
        return f'{match[1]}textLength="{cells * CELL:g}"{match[2]}{match[3]}</text>'

    return re.sub(r'(<text [^>]*)textLength="[\d.]+"([^>]*>)([^<]*)</text>', corrected, svg)


def main() -> None:
    chromium = sys.argv[1] if len(sys.argv) > 1 else "chromium"
    environ["TZ"] = "UTC"
    time.tzset()
    for name, (size, keys) in PICTURES.items():
        svg = wide_characters(asyncio.run(draw(size, keys)))
        match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        if match is None:
            raise SystemExit("the export has no size")
        width, height = (round(float(figure)) for figure in match.groups())
        with tempfile.TemporaryDirectory() as place:
            page = Path(place) / "page.html"
            page.write_text(f"<body style='margin:0;background:#fff0'>{svg}</body>", encoding="utf-8")
            command = [
                chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--disable-background-networking", "--disable-sync", "--no-first-run",
                "--default-background-color=00000000", "--force-device-scale-factor=1.5",
                f"--user-data-dir={place}/profile", f"--window-size={width},{height}",
                f"--screenshot={TARGET / name}.png", page.as_uri(),
            ]  # fmt: skip
            subprocess.run(command, check=True, capture_output=True)
        print(TARGET / f"{name}.png")


if __name__ == "__main__":
    main()
