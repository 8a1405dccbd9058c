"""Screens on the demo store, with everything fixed that could make two runs differ."""

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SerializableData

from pitree import demo
from pitree.catalog.locations import Store
from pitree.ui.app import PitreeApp
from pitree.ui.options import Options

NOW = datetime(2026, 3, 14, 18, 0, tzinfo=UTC).timestamp()
SNAPSHOTS = Path(__file__).parents[2] / "snapshots"

AppFactory = Callable[..., PitreeApp]


class _Pictures(SVGImageSnapshotExtension):
    """SVG files in `snapshots/`, one a picture, with the ids that differ on every change left out."""

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(SNAPSHOTS / test_location.basename)

    def serialize(self, data: SerializableData, **_: object) -> bytes:
        svg = re.sub(r"@font-face \{.*?\}\s*", "", str(data), flags=re.DOTALL)  # fonts to be downloaded
        return re.sub(r"terminal-\d+-", "terminal-", svg).encode()


@pytest.fixture(autouse=True)
def _fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TEXTUAL_THEME", "COLORTERM", "PITREE_PI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv("HOME", str(demo.ADA))


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(_Pictures)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Copy the demo store with its own paths: nothing in it depends on the machine."""
    made = demo.make(tmp_path / "agent", rewrite=False)
    return Store(made.agent_dir / "sessions", flat=False, source="default")


@pytest.fixture
def app(store: Store) -> AppFactory:
    def make(**options: object) -> PitreeApp:
        given: dict[str, object] = {
            "store": store,
            "cwd": Path(demo.START),
            "environ": {"PATH": ""},
            "clock": lambda: NOW,
            "is_folder": lambda path: path != str(demo.GONE),
        }
        return PitreeApp(Options(**(given | options)))  # type: ignore[arg-type]

    return make


def as_family(store: Store) -> None:
    """Have the fork say where its parent is now."""
    for path in store.root.glob("*/*.jsonl"):
        content = path.read_bytes()
        facts = path.stat()
        path.write_bytes(content.replace(b'"/home/ada/.pi/agent/sessions', f'"{store.root}'.encode(), 1))
        os.utime(path, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
