"""Reading the settings file; only loaded where there is one."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pitree.agent.keybindings import WantedKeys, key_names, place_in, read_small
from pitree.sessions.text import one_line
from pitree.settings import SETTINGS, Settings


def read_file(file: Path, shown: str, settings: Settings, *, named: bool, with_keys: bool) -> Settings:
    """Return `settings` with what the file says, which messages call `shown` (safe).

    One that was `named` may be a pipe: shells give those for `<(...)`.
    """
    values: dict[str, str | bool] = {}
    places: dict[str, str] = {}
    wanted: list[WantedKeys] | None = [] if with_keys else None
    problems: list[str] = []
    text = _text(file, shown, problems, named=named)
    if text is not None:
        _check(text, shown, (values, places), wanted, problems)
    return settings._replace(
        exists=text is not None,
        values=values,
        places=places,
        keys=(*settings.keys, *(wanted or ())),
        problems=(*problems, *settings.problems),
    )


def _text(file: Path, shown: str, problems: list[str], *, named: bool) -> str | None:
    try:
        data = read_small(file, any_kind=named)
        if data is None:
            problems.append(f"{shown}: over 16 kB, so it was not read")
            return None
        return data.decode("utf-8-sig")
    except OSError as error:
        problems.append(f"{shown}: {error.strerror or error}")
    except UnicodeDecodeError as error:
        problems.append(f"{shown}: not UTF-8 (byte {error.start}), so it does not count")
    return None


def _check(
    text: str,
    shown: str,
    found: tuple[dict[str, str | bool], dict[str, str]],
    wanted: list[WantedKeys] | None,
    problems: list[str],
) -> None:
    try:
        said = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: a number of thousands of digits
        problems.append(f"{shown}: no TOML: {one_line(str(error) or 'too deep', 200)}; nothing in it counts")
        return
    values, places = found
    settings = {setting.name: setting for setting in SETTINGS}
    for name, value in said.items():
        where = place_in(shown, text, rf'^[ \t]*\[?[ \t]*["\']?{re.escape(name)}["\']?[ \t]*[=.\]]')
        setting = settings.get(name)
        if name == "keys":
            if wanted is None:
                continue
            if isinstance(value, dict):
                _check_keys(value, text, shown, wanted, problems)
            else:
                problems.append(f"{where}: keys is a table: [keys], and a line for each action below it")
        elif setting is None:
            near = get_close_matches(name.replace("_", "-"), [*settings, "keys"], n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else "; `pitree config --example` shows them all"
            problems.append(f"{where}: there is no setting {one_line(name, 60)}{hint}")
        elif setting.accepts(value):
            values[setting.field] = value
            places[setting.field] = where
        else:
            told = one_line(written(value), 60)
            usual = f"; it counts as {written(setting.usual)}" if setting.usual is not None else ""
            problems.append(f"{where}: {name} is {setting.right}, not {told}{usual}")


def _check_keys(
    table: Mapping[str, Any], text: str, shown: str, wanted: list[WantedKeys], problems: list[str]
) -> None:
    for action_id, value in _flat(table):
        last = re.escape(action_id.rpartition(".")[2])
        where = place_in(shown, text, rf'^[^#\n=]*\b{last}["\']?\s*=')
        names = key_names(value)
        if names is None:
            told = one_line(action_id, 60)
            problems.append(f'{where}: {told} takes a key such as "ctrl+x", or a list of keys')
        else:
            wanted.append(WantedKeys(action_id, names, where))


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a table holds, tables in it by dots: ids with dots need no quotes."""
    open_tables = [("", table)]
    while open_tables:
        lead, inner = open_tables.pop(0)
        for name, value in inner.items():
            if isinstance(value, dict):
                open_tables.append((f"{lead}{name}.", value))
            else:
                yield f"{lead}{name}", value


def written(value: object) -> str:
    """Return a value about as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else str(value)
