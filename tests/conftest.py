"""What all tests share: random ones that are the same at every run, and nothing of the person's own files.

`pytest --hypothesis-profile=explore` looks further, and differently every time.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_SLOW_MACHINES = [HealthCheck.too_slow]

settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW_MACHINES
)
settings.register_profile(
    "explore", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_SLOW_MACHINES
)
settings.load_profile("steady")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty home the only one there is, in a time zone that is the same everywhere."""
    made = tmp_path / "home"
    made.mkdir()
    for name in ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PITREE_PI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made))
    monkeypatch.setenv("TZ", "UTC")
    return made
