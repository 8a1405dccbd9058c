"""Completions for shells, generated from the parsers of the command line."""

from argparse import Action, ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any, Final

from pitree.output import write_line

SHELLS: Final = ("bash", "zsh", "fish")

_FILES: Final = frozenset({"config"})
_FOLDERS: Final = frozenset({"session_dir", "cwd"})
_SESSIONS: Final = frozenset({"file", "files", "session"})

# Ids come from files that anybody may have written, and Bash evaluates what it is given as words: only what
# looks like one of Pi's own ids gets there.
_IDS: Final = r"pitree list --all 2>/dev/null | sed -n 's/^\([0-9a-f]\{8\}-[0-9a-f]\{4\}\) .*/\1/p'"

_SESSION: Final[dict[str, Any]] = {
    "bash": "_pitree_session_file",
    "zsh": "_pitree_session",
    "fish": "(__pitree_session)",
    "preamble": {
        "bash": f"""
# a file, or from the second letter on the id of a session
_pitree_session_file() {{
  compgen -f -- "$1"
  [ "${{#1}}" -lt 2 ] || compgen -W "$({_IDS})" -- "$1"
}}
""",
        "zsh": f"""
# a file, or from the second letter on the id of a session
_pitree_session() {{
  _files
  (( ${{#PREFIX}} < 2 )) || compadd -- $({_IDS})
}}
""",
        "fish": f"""
# a file, or from the second letter on the id of a session
function __pitree_session
  set -l typed (commandline -ct)
  __fish_complete_path "$typed"
  if test (string length -- "$typed") -ge 2
    {_IDS}
  end
end
""",
    },
}


def add_arguments(parser: ArgumentParser) -> None:
    """Tell the parser what the command takes."""
    parser.add_argument("shell", choices=SHELLS, help="the shell to print them for")
    parser.set_defaults(demo=False, session_dir=None, cwd=None)  # it works nowhere


def print_completion(args: Namespace, screen: ArgumentParser, commands: Mapping[str, ArgumentParser]) -> None:
    """Print completions for a shell: what can come next on a command line of pitree."""
    for line in script(args.shell, screen, commands).split("\n"):
        write_line("\t".join(line.split("\t")))


def script(shell: str, screen: ArgumentParser, commands: Mapping[str, ArgumentParser]) -> str:
    """Return the script for a shell; `screen` is the parser without a command, the others are by name."""
    import shtab

    from pitree.ui.themes import THEMES

    whole = ArgumentParser(prog="pitree", add_help=False)
    for action in screen._actions:  # noqa: SLF001 - there is no other way to ask a parser
        if action.option_strings:
            if action.dest == "theme":
                action.choices = THEMES
            _tell(action)
            whole._add_action(action)  # noqa: SLF001
    several = whole.add_subparsers(metavar="COMMAND")
    for name, parser in commands.items():
        for action in parser._actions:  # noqa: SLF001
            _tell(action)
        about = (parser.description or name).partition("\n")[0].rstrip(".")
        several.add_parser(name, parents=[parser], add_help=False, help=about)
    made: str = shtab.complete(whole, shell)
    return made


def _tell(action: Action) -> None:
    """Say what completes an argument, where that is not a choice of a few words."""
    import shtab

    complete = None
    if action.dest in _SESSIONS:
        complete = _SESSION
    elif action.dest in _FILES:
        complete = shtab.FILE
    elif action.dest in _FOLDERS:
        complete = shtab.DIRECTORY
    if complete is not None:
        action.complete = complete  # type: ignore[attr-defined] # shtab's own attribute
