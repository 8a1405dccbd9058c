"""What the tests with the real agent share.

They are skipped, with the reason, where the agent cannot be had.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .fake_model import FakeModel
from .install import AgentPaths, AgentUnavailable, ensure_agent
from .oracle import Oracle

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "agent: drives the real Pi agent, which npm installs at the first run")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The hook sees the whole run's tests, not only this folder's.
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.agent)


@pytest.fixture(scope="session")
def agent() -> AgentPaths:
    """Install the agent once; without it skip, or fail where `$PITREE_REQUIRE_AGENT` is 1."""
    try:
        return ensure_agent()
    except AgentUnavailable as unavailable:
        reason = f"the real Pi agent is not available: {unavailable.reason}"
    if os.environ.get("PITREE_REQUIRE_AGENT") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def oracle(agent: AgentPaths, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Answer with the real agent's view of session files."""
    with Oracle(agent, tmp_path_factory.mktemp("oracle")) as asked:
        yield asked


@pytest.fixture
def fake_model(tmp_path: Path) -> Iterator[FakeModel]:
    """Serve a model on this machine, with an agent folder that makes Pi use it."""
    with FakeModel(tmp_path / "agent") as model:
        yield model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for files that live no longer than one comparison."""
    return tmp_path_factory.mktemp("files")
