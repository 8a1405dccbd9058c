"""What all tests share: random ones that are the same at every run, and nothing of the person's own files.

`pytest --hypothesis-profile=explore` looks further, and differently every time.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import Done, Run, Store
from hypothesis import HealthCheck, settings

from pitree.cli import main

_SLOW_MACHINES = [HealthCheck.too_slow]

settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW_MACHINES
)
settings.register_profile(
    "explore", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_SLOW_MACHINES
)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests read of sessions away from the person's own cache."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Make an empty home the only one there is, in a time zone that is the same everywhere."""
    made = tmp_path / "home"
    made.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        _settle(patched, made)
        time.tzset()
        yield made
    time.tzset()


def _settle(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for name in (
        "PI_CODING_AGENT_DIR",
        "PI_CODING_AGENT_SESSION_DIR",
        "PITREE_PI",
        "NO_COLOR",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder of one's own."""
    folder = home / "code" / "paperboy"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def pitree(work: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process."""

    def run(*arguments: str | Path) -> Done:
        capfdbinary.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    assert work == Path.cwd()
    return run


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home)
