"""The commands about pitree itself: config and version."""

import os
import platform
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from pitree import __version__
from pitree.folders import cache_dir, state_dir
from pitree.output import warn, write_json, write_line
from pitree.place import Place
from pitree.sessions.errors import LineError
from pitree.sessions.jsonl import parse_value
from pitree.sessions.text import one_line
from pitree.settings import SETTINGS, Settings, read_settings, short
from pitree.settings_file import written

_LIBRARIES: Final = ("textual", "rich", "orjson", "msgspec", "watchfiles", "regex")
_PI_PACKAGE: Final = "@earendil-works/pi-coding-agent"
_MOST_FOLDERS_UP: Final = 5


def add_arguments(parser: ArgumentParser, name: str) -> None:
    """Tell the parser what a command takes."""
    if name == "config":
        parser.add_argument(
            "--example", action="store_true", help="a settings file with everything in it, as it usually is"
        )


# ---- config


def print_config(args: Namespace, place: Place) -> int:
    """Print the settings that hold, a person's own keys, and what is wrong with either."""
    if args.example:
        for line in example():
            write_line(line)
        return 0
    from pitree.ui.own_keys import own_keys
    from pitree.ui.themes import check_theme

    settings = read_settings(args, os.environ, place.cwd)
    merged = own_keys(settings.keys)
    problems = [*settings.problems, *check_theme(None, settings), *merged.problems]
    ids = dict.fromkeys(wish.id for wish in settings.keys)
    keys = {key.id: list(key.all_shown) for section in merged.table for key in section if key.id in ids}
    if args.json:
        write_json(
            {
                "file": os.fspath(settings.file) if settings.file else None,
                "exists": settings.exists,
                "keybindings": os.fspath(settings.keybindings) if settings.keybindings else None,
                "settings": {one.name: settings.values.get(one.field, one.usual) for one in SETTINGS},
                "keys": keys,
                "problems": problems,
                "notes": merged.notes,
            }
        )
    else:
        for line in _told(settings, keys):
            write_line(line)
        for note in merged.notes:
            write_line(f"note: {note}")
        for problem in problems:
            warn(problem)
    return 1 if problems else 0


def _told(settings: Settings, keys: Mapping[str, list[str]]) -> Iterator[str]:
    if settings.file is None:
        yield "settings: none are wanted (--no-config)"
    else:
        there = "" if settings.exists else " (not there, so everything is as usual)"
        yield f"settings: {short(settings.file)}{there}"
    if settings.keybindings is not None:
        yield f"Pi's keys: {short(settings.keybindings)}"
    for setting in SETTINGS:
        said = setting.field in settings.values
        value = settings.values.get(setting.field, setting.usual)
        shown = "not said" if value is None else one_line(written(value), 200)
        yield f"{setting.name} = {shown}{'' if said or value is None else '  (as usual)'}"
    for action_id, names in keys.items():
        yield f"key {action_id}: {', '.join(names) or 'none'}"


_THEME_EXAMPLE: Final = {"theme": "nord", "pi": "pi", "scope": "here"}


def example() -> Iterator[str]:
    """Yield the lines of a settings file that says what holds without one, all of it commented out."""
    from pitree.ui.keys import SECTIONS, USUAL_KEYS
    from pitree.ui.own_keys import written_key

    yield "# Settings of pitree, as they are without this file. The command line counts for more."
    for setting in SETTINGS:
        yield ""
        yield f"# {setting.about[0].upper()}{setting.about[1:]}."
        if setting.choices:
            yield f"# One of {', '.join(written(choice) for choice in setting.choices)}."
        usual = setting.usual if setting.usual is not None else _THEME_EXAMPLE[setting.name]
        yield f"# {setting.name} = {written(usual)}"
    yield ""
    yield "# Keys are written as in Pi: ctrl, shift, alt or super, a plus, and the key. One, or a list; []"
    yield "# for none. Actions that Pi has, too, take theirs from Pi's keybindings.json where it says any."
    yield "[keys]"
    shown: set[str] = set()
    for title, keys in zip(SECTIONS, USUAL_KEYS, strict=True):
        yield ""
        yield f"# {title}"
        for key in keys:
            names = list(dict.fromkeys(map(written_key, key.names)))
            value = written(names[0]) if len(names) == 1 else f"[{', '.join(map(written, names))}]"
            if key.id in shown:
                yield f"# {key.help}: {key.id}, as above."
                continue
            yield f"# {key.help}."
            yield f"# {key.id} = {value}"
            shown.add(key.id)


# ---- version


def print_version(args: Namespace, place: Place) -> None:
    """Print the versions that matter in a report of a defect, and where things are."""
    settings = read_settings(args, os.environ, place.cwd, with_keys=False)
    facts = dict(_facts(place, settings))
    if args.json:
        write_json(facts)
        return
    for name, value in facts.items():
        write_line(f"{name + ':':<14}{value}")


def _facts(place: Place, settings: Settings) -> Iterator[tuple[str, str]]:
    yield "pitree", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    for name in _LIBRARIES:
        yield name, _library(name)
    yield "platform", one_line(platform.platform(), 200)
    yield "locale", _locale()
    yield "terminal", _terminal(os.environ)
    yield "Pi", _pi(settings)
    yield "store", f"{short(place.store.root)} ({one_line(place.store.source, 100)})"
    if settings.file is not None:
        yield "settings", f"{short(settings.file)}{'' if settings.exists else ' (not there)'}"
    yield "state", short(state_dir())
    yield "cache", short(cache_dir())


def _library(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _locale() -> str:
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    said = next((f"{name}={os.environ[name]}" for name in names if os.environ.get(name)), "none")
    return one_line(f"{said}, {sys.getfilesystemencoding()}", 100)


def _terminal(environ: Mapping[str, str]) -> str:
    parts = [environ.get("TERM") or "TERM is not set"]
    program = environ.get("TERM_PROGRAM")
    if program:
        parts.append(f"{program} {environ.get('TERM_PROGRAM_VERSION', '')}".strip())
    if environ.get("COLORTERM"):
        parts.append(environ["COLORTERM"])
    multiplexers = {"TMUX": "in tmux", "STY": "in screen", "ZELLIJ": "in zellij"}
    parts += [told for name, told in multiplexers.items() if environ.get(name)]
    if environ.get("SSH_CONNECTION"):
        parts.append("over ssh")
    parts += [name for name in ("NO_COLOR", "TEXTUAL_DISABLE_KITTY_KEY") if environ.get(name)]
    size = shutil.get_terminal_size((0, 0))
    if all(size):
        parts.append(f"{size.columns}x{size.lines}")
    return one_line(", ".join(parts), 300)


def _pi(settings: Settings) -> str:
    from pitree.agent.launch import AgentNotFoundError, find_pi

    said = None if os.environ.get("PITREE_PI") else settings.values.get("pi")
    try:
        program = find_pi(None if said is None else str(said), os.environ)[0]
    except AgentNotFoundError as error:
        return one_line(f"not found: {error}", 300)
    path = Path(shutil.which(program) or program)  # found, as it was a moment ago
    return f"{pi_version(path) or 'of a version that cannot be told'} ({short(path)})"


def pi_version(program: Path) -> str | None:
    """Return the version of the Pi that `program` starts, by the package that it is in; None without one."""
    try:
        folder = program.resolve().parent
    except (OSError, RuntimeError):
        return None
    for above in (folder, *folder.parents[:_MOST_FOLDERS_UP]):
        try:
            package = parse_value((above / "package.json").read_bytes())
        except (OSError, ValueError, LineError):
            continue
        if isinstance(package, dict) and package.get("name") == _PI_PACKAGE:
            version: Any = package.get("version")
            return one_line(version, 40) if isinstance(version, str) else None
    return None


ABOUT: Final[Mapping[str, Callable[[Namespace, Place], int | None]]] = {
    "config": print_config,
    "version": print_version,
}
