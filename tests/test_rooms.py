"""Which room knows which, and what must not be loaded on the way to the first line printed."""

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import pitree

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 120.0

SCREEN = {"textual", "rich", "pitree.ui.app"}
# Each of these costs a start more than reading a small store does, and few starts need them.
LATE = {"humanize", "regex", "watchfiles", "send2trash", "asyncio", "hypothesis"}


def loaded(script: str, folder: Path) -> set[str]:
    """Run a script in a fresh process and give the modules that it has loaded."""
    told = folder / "modules"
    tell = f"import sys; open({str(told)!r}, 'w').write('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\n{tell}"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return set(told.read_text().split("\n"))


def loaded_by_command(arguments: list[str], code: int, folder: Path) -> set[str]:
    """Run a command of pitree in a fresh process, see that it ends with `code`, and give its modules."""
    script = f"""
import pitree.cli
try:
    code = pitree.cli.main({arguments!r})
except SystemExit as ended:
    code = ended.code
assert code == {code}, code
"""
    return loaded(script, folder)


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    modules = loaded("import pitree", tmp_path)
    assert {name for name in modules if name.startswith("pitree")} == {"pitree"}
    assert not modules & (SCREEN | LATE)


CORE = sorted(
    module.name
    for room in ("sessions", "catalog", "agent", "demo")
    for module in pkgutil.walk_packages([str(ROOT / "pitree" / room)], f"pitree.{room}.")
)


def test_the_core_knows_no_screen(tmp_path: Path) -> None:
    assert "pitree.sessions.tree" in CORE
    assert "pitree.catalog.scan" in CORE
    modules = loaded(f"import {', '.join([*CORE, 'pitree.demo', 'pitree.writing_commands'])}", tmp_path)
    assert not modules & SCREEN
    assert not {name for name in modules if name.startswith("pitree.ui")}


def test_the_rooms_below_do_not_load_those_above(tmp_path: Path) -> None:
    modules = loaded(
        f"import {', '.join(name for name in CORE if name.startswith('pitree.sessions'))}", tmp_path
    )
    rooms = {".".join(name.split(".")[:2]) for name in modules if name.startswith("pitree.")}
    assert rooms == {"pitree.sessions"}


COMMANDS: dict[str, tuple[list[str], int]] = {
    "--version": (["--version"], 0),
    "--help": (["--help"], 0),
    "version": (["version"], 0),
    "list": (["list", "--demo", "--all"], 0),
    "list --json": (["list", "--demo", "--json"], 0),
    "tree": (["tree", "019ceb8b", "--demo"], 0),
    "tree --json": (["tree", "019ceb8b", "--demo", "--json"], 0),
    "context --json": (["context", "019ceb8b", "--demo", "--json"], 0),
    "show --json": (["show", "1027c4d1", "00000002", "--demo", "--json"], 0),
    "resume": (["resume", "--demo", "--pi", "/nowhere/pi"], 1),
    "name": (["name", "019ceb8b", "Tea", "--demo"], 0),
    "label": (["label", "019ceb8b", "03061e60", "tea", "--demo", "--json"], 0),
    "move": (["move", "1027c4d1", "00000002", "--demo", "--dry-run"], 0),
    "an error": (["tree", "nowhere"], 1),
    "a wrong call": (["tree"], 2),
    "no terminal": (["--demo"], 1),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_printing_loads_no_screen(command: str, tmp_path: Path) -> None:
    modules = loaded_by_command(*COMMANDS[command], tmp_path)
    assert "pitree.cli" in modules
    assert not modules & (SCREEN | LATE)
    assert not {name for name in modules if name.startswith("pitree.ui")}


STARTING = """
import os
from pathlib import Path
import pitree.ui.app
from pitree.parsers import screen_arguments
from pitree.settings import read_settings
from pitree.ui.starting import own_options
args = screen_arguments([])
own_options(args, read_settings(args, os.environ, Path.cwd()), os.environ)
"""
# What only reading a person's own settings and keys needs.
OF_SETTINGS = {
    *("pitree.settings_file", "pitree.agent.keybindings", "pitree.ui.own_keys", "pitree.ui.rebinding"),
    *("pitree.ui.themes", "pitree.ui.palette", "tomllib"),
}


def test_without_settings_nothing_is_loaded_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    assert not loaded(STARTING, tmp_path) & OF_SETTINGS
    settings = tmp_path / ".config" / "pitree" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('theme = "nord"\n[keys]\nundo = "f9"')
    assert {"pitree.settings_file", "pitree.ui.own_keys", "tomllib"} <= loaded(STARTING, tmp_path)


@pytest.mark.parametrize("command", [["show", "1027c4d1", "00000002"], ["context", "019ceb8b"]])
def test_documents_are_printed_without_a_screen_too(command: list[str], tmp_path: Path) -> None:
    # (how wide a character is, they ask a small part of Rich)
    modules = loaded_by_command([*command, "--demo"], 0, tmp_path)
    assert not modules & {"textual", "rich.console", "pitree.ui.app"}


def test_the_import_rules_hold() -> None:
    script = Path(sys.executable).with_name("lint-imports")
    if not script.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run(
        [script, "--no-cache"], cwd=ROOT, capture_output=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"Contracts: 2 kept, 0 broken" in done.stdout


def test_the_version_is_the_projects() -> None:
    assert f'version = "{pitree.__version__}"' in (ROOT / "pyproject.toml").read_text()
