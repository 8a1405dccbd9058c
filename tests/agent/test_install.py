"""Where the agent comes from, and what is said where it cannot be had."""

import json
from pathlib import Path

import pytest

from .install import MANIFEST, PI_PACKAGE, AgentUnavailable, ensure_agent

PINNED = json.loads(MANIFEST.read_text(encoding="utf-8"))["dependencies"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Choose a cache folder that does not exist yet, on a machine with no programs but those in `bin`."""
    monkeypatch.setenv("PITREE_TEST_AGENT_DIR", str(tmp_path / "cache" / "agent"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "cache" / "agent"


def stand_in_npm(tmp_path: Path, script: str) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n", encoding="utf-8")
    npm.chmod(0o755)


def fake_package(name: str, program: str, version: str) -> str:
    """Give shell lines that install a package as npm would."""
    package = f"node_modules/{name}"
    return (
        f"mkdir -p {package} node_modules/.bin\n"
        f'echo \'{{"version": "{version}"}}\' > {package}/package.json\n'
        f": > node_modules/.bin/{program}"
    )


GOOD_NPM = "\n".join(
    [
        'echo "$@" >> "$(dirname "$0")/calls"',
        'case "$*" in *node@*)',
        fake_package("node", "node", "24.1.0"),
        ";; *)",
        fake_package(PI_PACKAGE, "pi", PINNED[PI_PACKAGE]),
        ";; esac",
    ]
)


@pytest.mark.usefixtures("cache")
def test_without_npm() -> None:
    with pytest.raises(AgentUnavailable, match="no npm on PATH"):
        ensure_agent()


def test_npm_fails(cache: Path, tmp_path: Path) -> None:
    stand_in_npm(tmp_path, "seq 1 20; echo 'the network is down' >&2; exit 7")
    with pytest.raises(AgentUnavailable, match=r"exit code 7:\n14\n(.*\n)*the network is down$"):
        ensure_agent()
    assert [path.name for path in cache.parent.iterdir()] == [".agent.lock"]


def test_npm_installs_something_else(cache: Path, tmp_path: Path) -> None:
    stand_in_npm(tmp_path, GOOD_NPM.replace("24.1.0", "18.0.0"))
    with pytest.raises(AgentUnavailable, match="not complete"):
        ensure_agent()
    assert not cache.exists()


def test_node_comes_first_and_only_once(cache: Path, tmp_path: Path) -> None:
    stand_in_npm(tmp_path, GOOD_NPM)
    assert ensure_agent().root == cache
    calls = (tmp_path / "bin" / "calls").read_text(encoding="utf-8").splitlines()
    assert [f"node@{PINNED['node']}" in call for call in calls] == [True, False]
    (tmp_path / "bin" / "npm").unlink()  # from here on nothing could be installed
    assert ensure_agent().root == cache


def test_an_older_agent_of_ours_is_replaced(cache: Path, tmp_path: Path) -> None:
    stand_in_npm(tmp_path, GOOD_NPM)
    ensure_agent()
    package = cache / "node_modules" / PI_PACKAGE / "package.json"
    package.write_text('{"version": "1.5.9"}', encoding="utf-8")
    ensure_agent()
    assert json.loads(package.read_text(encoding="utf-8"))["version"] == PINNED[PI_PACKAGE]


def test_a_folder_of_somebody_else_stays(cache: Path, tmp_path: Path) -> None:
    stand_in_npm(tmp_path, GOOD_NPM)
    cache.mkdir(parents=True)
    (cache / "thesis.txt").write_text("chapter 1", encoding="utf-8")
    with pytest.raises(AgentUnavailable, match="in the way"):
        ensure_agent()
    assert (cache / "thesis.txt").read_text(encoding="utf-8") == "chapter 1"
