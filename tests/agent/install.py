"""The real Pi agent and a Node for it, installed once into a cache folder.

Everything comes from npm: first `node`, since Pi needs a newer Node than many machines have, then Pi itself,
run by that Node. `package.json` beside this file names both versions.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = Path(__file__).with_name("package.json")
PI_PACKAGE = "@earendil-works/pi-coding-agent"
INSTALL_SECONDS = 600
SHOWN_LINES = 8
NPM_OPTIONS = (
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--omit=dev",
    "--fetch-retry-mintimeout=1000",  # without a network, say so in seconds
    "--fetch-retry-maxtimeout=5000",
)


class AgentUnavailable(Exception):  # noqa: N818 - a state of the machine, not a mistake
    """The real agent cannot be had here; the text says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class AgentPaths:
    """Where the installed agent is: `root` holds `node_modules`."""

    root: Path

    @property
    def bin(self) -> Path:
        """The folder with `node` and `pi`; first on PATH, it makes `pi` run on this `node`."""
        return self.root / "node_modules" / ".bin"

    @property
    def node(self) -> Path:
        return self.bin / "node"

    @property
    def pi(self) -> Path:
        return self.bin / "pi"

    @property
    def path_variable(self) -> str:
        """A PATH that finds this agent before any other."""
        return os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)])

    def environment(self, home: Path) -> dict[str, str]:
        """Give the variables to run the agent with: a home of its own, none of the tester's Pi settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
        return kept | {"PATH": self.path_variable, "HOME": str(home), "TZ": "UTC"}


def ensure_agent() -> AgentPaths:
    """Give the agent's paths, installing it first where it is not there yet.

    Safe beside other processes doing the same. Needs no network once it is installed.

    Raises:
        AgentUnavailable: there is no npm, npm failed, or the folder holds something else.
    """
    wanted = _wanted_versions()
    target = _cache_folder(wanted[PI_PACKAGE])
    if _is_complete(target, wanted):
        return AgentPaths(target)
    npm = shutil.which("npm")
    if npm is None:
        raise AgentUnavailable("no npm on PATH to install the Pi agent with")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AgentUnavailable(f"the agent's cache folder cannot be made: {error}") from error
    with _locked(target.with_name(f".{target.name}.lock")):
        # Another process may have finished while this one waited for the lock.
        if not _is_complete(target, wanted):
            _install(npm, target, wanted)
    return AgentPaths(target)


def _wanted_versions() -> dict[str, str]:
    dependencies = json.loads(MANIFEST.read_text(encoding="utf-8"))["dependencies"]
    return {str(name): str(version) for name, version in dependencies.items()}


def _cache_folder(version: str) -> Path:
    chosen = os.environ.get("PITREE_TEST_AGENT_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return base / "pitree-tests" / f"agent-{version}"


def _is_complete(folder: Path, wanted: dict[str, str]) -> bool:
    paths = AgentPaths(folder)
    if not (paths.node.exists() and paths.pi.exists()):
        return False
    return all(_matches(_installed_version(folder, name), version) for name, version in wanted.items())


def _installed_version(folder: Path, package: str) -> str:
    try:
        text = (folder / "node_modules" / package / "package.json").read_text(encoding="utf-8")
        manifest: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return ""
    return str(manifest.get("version", ""))


def _matches(installed: str, wanted: str) -> bool:
    return installed == wanted or installed.startswith(f"{wanted}.")


def _install(npm: str, target: Path, wanted: dict[str, str]) -> None:
    # Whoever holds the lock is the only installer: what others left half-done is rubbish.
    for left in target.parent.glob(f".{target.name}.new-*"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.new-", dir=target.parent))
    try:
        shutil.copyfile(MANIFEST, fresh / "package.json")
        _npm(npm, fresh, ["install", *NPM_OPTIONS, "--no-save", f"node@{wanted['node']}"])
        _npm(npm, fresh, ["install", *NPM_OPTIONS])
        if not _is_complete(fresh, wanted):
            raise AgentUnavailable("npm ended well, but the agent it installed is not complete")
        if (target / "package.json").exists() and _is_ours(target):
            shutil.rmtree(target)  # an older pin of ours
        try:
            fresh.rename(target)
        except OSError as error:
            raise AgentUnavailable(f"{target} is in the way of the agent's installation: {error}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("name") == "pitree-test-agent"


def _npm(npm: str, folder: Path, arguments: list[str]) -> None:
    # The second run finds the Node of the first one at the front of PATH.
    environment = {**os.environ, "PATH": AgentPaths(folder).path_variable}
    try:
        done = subprocess.run(
            [npm, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise AgentUnavailable(f"npm took more than {INSTALL_SECONDS} s") from error
    if done.returncode != 0:
        lines = done.stdout.decode("utf-8", errors="replace").strip().splitlines()
        last = "\n".join(lines[-SHOWN_LINES:])
        raise AgentUnavailable(f"npm {arguments[0]} failed with exit code {done.returncode}:\n{last}")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file at `path`; the system frees it when its holder dies."""
    if sys.platform == "win32":
        raise AgentUnavailable("the tests with the real agent need a POSIX system")
    import fcntl

    with path.open("ab") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
