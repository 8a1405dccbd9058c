"""What can be said on the command line, and to which command; a command's module is loaded for it."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from pitree import __version__
from pitree.output import warn
from pitree.place import Place, read_only
from pitree.settings import RESUMES, SCOPES

_DESCRIPTION = """\
Browse the sessions of the Pi coding agent: their trees, what the model would see at any point, and back
into Pi from there.

  pitree [FILE|ID]              the screen (on that session)
  pitree list [QUERY]           sessions, newest first
  pitree search QUERY           where something was said
  pitree tree FILE              the entry tree, as drawn
  pitree context FILE           what the model would see
  pitree show FILE ID           one entry in full
  pitree resume [FILE|ID] [PROMPT]
  pitree doctor [FILE|DIR...]   what is wrong with session files; repaired copies

  pitree move FILE ID           go on from another entry
  pitree label FILE ID [TEXT]   label an entry
  pitree name FILE [TEXT]       name a session
  pitree fork FILE              copy a branch into a session of its own
  pitree rm FILE...             to the trash
  pitree undo                   take back what was changed last

  pitree config                 the settings that hold, and what is wrong with them
  pitree version                the versions and places for a report of a defect
  pitree completion SHELL       completions for bash, zsh or fish

FILE is a path, or the beginning of a session's id. `pitree COMMAND --help` tells more."""


_QUERY_HELP = """\
words, "a phrase", or re:PATTERN; narrowed by before:2026-01, after:2026-01-15, cwd:web, name:"the name",
model:opus, label:todo, and has: with branches, name, labels, damage, parent or cost"""

Command = Callable[[Namespace, Place], int | None]

_PRINTING: Final = ("list", "search", "tree", "context", "show", "resume")
_CHANGING: Final = ("move", "label", "name", "fork", "rm", "undo")
_ABOUT: Final = ("config", "version")
_COMPLETION: Final = "completion"
_DOCTOR: Final = "doctor"

ALL_COMMANDS: Final = (*_PRINTING, *_CHANGING, _DOCTOR, *_ABOUT, _COMPLETION)
"""The names of all commands; what they need is loaded only for them."""


class _Parser(ArgumentParser):
    """Errors in one line; exit code 2. Help with examples, whose text is loaded for it alone."""

    def format_help(self) -> str:
        """Return the help, examples included."""
        from pitree.help_texts import epilog

        self.formatter_class = RawDescriptionHelpFormatter
        own = self.epilog
        self.epilog = "\n\n".join(part for part in (epilog(self.prog), own) if part)
        try:
            return super().format_help()
        finally:
            self.epilog = own

    def error(self, message: str) -> NoReturn:
        warn(f"{message}; see `{self.prog} --help`")
        sys.exit(2)


def _described(command: Callable[..., object]) -> str:
    """Return the docstring of a command without its indentation."""
    return "\n".join(line.strip() for line in (command.__doc__ or "").strip().split("\n"))


def _common(parser: ArgumentParser) -> None:
    parser.add_argument("--session-dir", metavar="DIR", help="the session root, instead of Pi's own")
    parser.add_argument("--cwd", metavar="DIR", help="the folder that counts as this folder")
    parser.add_argument("--demo", action="store_true", help="work on a throw-away copy of the demo sessions")
    config = parser.add_mutually_exclusive_group()
    config.add_argument("--config", metavar="FILE", help="the settings, instead of those in the usual place")
    config.add_argument(
        "--no-config", action="store_true", help="without any settings, and without Pi's keys"
    )


def _no_cache(parser: ArgumentParser) -> None:
    parser.add_argument("--no-cache", action="store_true", help="read all sessions anew, and keep nothing")


def _json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")


def _screen_parser() -> ArgumentParser:
    parser = _Parser(prog="pitree", description=_DESCRIPTION)
    parser.add_argument("session", nargs="?", metavar="FILE|ID", help="the session to open on")
    _common(parser)
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--scope", choices=SCOPES, help="which sessions to begin with (default: as left)")
    scope.add_argument(
        "--all", action="store_const", const="all", dest="scope", help="the same as --scope all"
    )
    parser.add_argument("--pi", metavar="COMMAND", help="the program to resume with (also $PITREE_PI)")
    parser.add_argument("--resume", choices=RESUMES, help="have Pi take pitree's place, or come back to it")
    parser.add_argument("--theme", metavar="NAME", help="the colours, for this time")
    parser.add_argument(
        "--follow", action=BooleanOptionalAction, help="have a highlight on the leaf go with it, or stay"
    )
    _no_cache(parser)
    parser.add_argument(
        "--poll",
        action=BooleanOptionalAction,
        help="look at files now and then instead of waiting for events",
    )
    read_only(parser)
    parser.add_argument("--version", action="version", version=f"pitree {__version__}")
    return parser


def screen_arguments(arguments: Sequence[str]) -> Namespace:
    """Return the arguments of a call without a command; ends the program where they are wrong."""
    parser = _screen_parser()
    args, unknown = parser.parse_known_args(arguments)
    if args.session in ALL_COMMANDS and not Path(args.session).exists():
        parser.error(f"{args.session} is a command, and a command comes first: `pitree {args.session} …`")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def _printing_command(name: str) -> tuple[ArgumentParser, Command]:
    from pitree.commands import COMMANDS
    from pitree.sessions.filters import DEFAULT_FILTER, FILTERS

    command = COMMANDS[name]
    parser = _Parser(prog=f"pitree {name}", description=_described(command))
    _common(parser)
    if name in {"list", "search", "resume"}:
        _no_cache(parser)
    if name in {"list", "search"}:
        asked = "*" if name == "list" else "+"
        parser.add_argument("query", nargs=asked, metavar="QUERY", help=_QUERY_HELP)
        parser.add_argument("--all", action="store_true", help="the sessions of all folders")
    elif name == "resume":
        parser.add_argument(
            "session", nargs="?", metavar="FILE|ID", help="default: the newest of this folder"
        )
        parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to say first")
        parser.add_argument("--pi", metavar="COMMAND", help="the program to resume with (also $PITREE_PI)")
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--here", action="store_true", help="resume from this folder if the session's is gone"
        )
        where.add_argument("--fork", action="store_true", help="fork the session into this folder instead")
    else:
        parser.add_argument("file", metavar="FILE", help="a path, or the beginning of a session's id")
    if name == "search":
        parser.add_argument("--tools", action="store_true", help="what tools were told and answered, too")
    elif name == "tree":
        parser.add_argument("--filter", choices=FILTERS, default=DEFAULT_FILTER, help="which entries to show")
        parser.add_argument("--ids", action="store_true", help="each entry's id before it")
    elif name == "context":
        parser.add_argument("--leaf", metavar="ID", help="as if the leaf were there")
        parser.add_argument(
            "--changes", action="store_true", help="what a move of the leaf there takes out, and brings back"
        )
    elif name == "show":
        parser.add_argument("id", metavar="ID", help="an entry's id, or the beginning of it")
    if name != "resume":
        _json(parser)
    return parser, command


def _other_command(name: str) -> tuple[ArgumentParser, Command]:
    if name in _CHANGING:
        from pitree.writing_commands import CHANGING as COMMANDS
        from pitree.writing_commands import add_arguments
    else:
        from pitree.about_commands import ABOUT as COMMANDS
        from pitree.about_commands import add_arguments

    command = COMMANDS[name]
    parser = _Parser(prog=f"pitree {name}", description=_described(command))
    _common(parser)
    add_arguments(parser, name)
    _json(parser)
    return parser, command


def _doctor_command() -> tuple[ArgumentParser, Command]:
    from pitree.doctor_command import EPILOG, HELP, add_arguments, check_sessions

    parser = _Parser(
        prog=f"pitree {_DOCTOR}",
        description=HELP,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _common(parser)
    add_arguments(parser)
    _json(parser)
    return parser, check_sessions


def _completion_command() -> tuple[ArgumentParser, Command]:
    from pitree.completion import add_arguments, print_completion

    parser = _Parser(prog=f"pitree {_COMPLETION}", description=_described(print_completion))
    add_arguments(parser)
    parsers = {name: command_of(name)[0] for name in ALL_COMMANDS if name != _COMPLETION}
    screen = _screen_parser()
    return parser, lambda args, _place: print_completion(args, screen, parsers | {_COMPLETION: parser})


def command_of(name: str) -> tuple[ArgumentParser, Command]:
    """Return the parser of a command, and the command."""
    if name in (*_CHANGING, *_ABOUT):
        return _other_command(name)
    if name == _COMPLETION:
        return _completion_command()
    if name == _DOCTOR:
        return _doctor_command()
    return _printing_command(name)
