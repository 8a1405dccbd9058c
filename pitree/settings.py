"""A person's settings: one TOML file, each setting checked, and what is wrong with it said.

Nothing is wrong enough to keep pitree from starting: what cannot be used counts as not said.
"""

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pitree.catalog.locations import agent_dir
from pitree.sessions.errors import InvalidValueError
from pitree.sessions.text import one_line

if TYPE_CHECKING:  # what reads files is loaded where there are some: most have none
    from pitree.agent.keybindings import WantedKeys

_KEYBINDINGS: Final = "keybindings.json"
_YES: Final = True
_NO: Final = False


SCOPES: Final = ("here", "repository", "all")
RESUMES: Final = ("replace", "return")
"""What `scope` and `resume` may be, on the command line as well."""


class Setting(NamedTuple):
    """A setting: its name, what it is where nobody says it, what it may be, and what it does.

    `choices` are all there are; empty where any text will do (a text) or where it is yes or no (a bool).
    """

    name: str
    usual: str | bool | None
    choices: tuple[str, ...]
    about: str

    @property
    def right(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return " or ".join(f'"{choice}"' for choice in self.choices)
        return "true or false" if isinstance(self.usual, bool) else "a text"

    @property
    def field(self) -> str:
        """What it is called in `Settings.values` and among the arguments of the command line."""
        return self.name.replace("-", "_")

    def accepts(self, value: object) -> bool:
        """Whether it may be that."""
        if isinstance(self.usual, bool):
            return isinstance(value, bool)
        return isinstance(value, str) and (value in self.choices if self.choices else bool(value.strip()))


SETTINGS: Final = (
    Setting("theme", None, (), "the colours: one of the themes in the palette; else the one chosen there"),
    Setting("pi", None, (), "the program to resume with; --pi and $PITREE_PI count for more"),
    Setting("resume", "replace", RESUMES, "whether Pi takes pitree's place, or comes back to it"),
    Setting("scope", None, SCOPES, "what to begin with; else it is as it was left"),
    Setting("follow", _YES, (), "whether a highlight on the leaf goes with it as the session grows"),
    Setting("poll", _NO, (), "whether to look at files now and then, where no events come"),
    Setting("read-only", _NO, (), "whether to refuse to change anything"),
)
"""All settings, besides the keys."""


class Settings(NamedTuple):
    """What was read of the settings.

    `file` is where they are looked for, `values` those that are said, by field, `places` their lines.
    `keys` are the wishes for keys in it and in Pi's own file (`keybindings`). `problems` are safe to print.
    """

    file: Path | None = None
    exists: bool = False
    values: Mapping[str, str | bool] = {}
    places: Mapping[str, str] = {}
    keys: "tuple[WantedKeys, ...]" = ()
    keybindings: Path | None = None
    problems: tuple[str, ...] = ()


def config_file(environ: Mapping[str, str]) -> Path:
    """Return where the settings are looked for; the file need not exist."""
    home = environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - a relative one counts as absent, as everywhere
        return Path(home, "pitree", "config.toml")
    from platformdirs import user_config_path

    return user_config_path("pitree", appauthor=False) / "config.toml"


def read_settings(
    args: Namespace, environ: Mapping[str, str], cwd: Path, *, with_keys: bool = True
) -> Settings:
    """Read the settings that `args` want: those of `--config`, else the usual ones; with `--no-config` none.

    A file named with `--config` has to be there, else that is a problem. Keys are nothing that commands need.
    """
    if args.no_config:
        return Settings()
    named = args.config is not None
    if args.config == "":
        raise InvalidValueError("--config names no file; leave it out, or say --no-config")
    file = Path(os.path.abspath(args.config)) if named else config_file(environ)  # noqa: PTH100 - links stay
    bindings = agent_dir(environ, cwd) / _KEYBINDINGS
    # the cheapest way to ask; of a link to nowhere it is told
    exists, has_bindings = named or os.path.lexists(file), with_keys and os.path.lexists(bindings)
    settings = Settings(file, keybindings=bindings if has_bindings else None)
    if has_bindings:
        from pitree.agent.keybindings import read_keybindings

        read = read_keybindings(bindings, short(bindings))
        settings = settings._replace(keys=read.wanted, problems=read.problems)
    if exists:
        from pitree.settings_file import read_file

        settings = read_file(file, short(file), settings, named=named, with_keys=with_keys)
    return settings


def short(path: Path) -> str:
    """Return a path for a message: the home directory as `~`, and safe."""
    text, home = os.fspath(path), os.path.expanduser("~")  # noqa: PTH111
    if home not in {"", "/"} and text.startswith(f"{home}/"):
        text = f"~{text[len(home) :]}"
    return one_line(text, 300)


def fill_in(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> None:
    """Put into `args` what was not said on the command line: the settings, else what is usual."""
    for setting in SETTINGS:
        if getattr(args, setting.field, ...) is not None:
            continue  # said, or nothing that this command takes
        value = settings.values.get(setting.field, setting.usual)
        if setting.name == "pi" and environ.get("PITREE_PI"):
            value = None
        setattr(args, setting.field, value)
