"""The command line. Nothing here or on the way to `--help` and the printing commands imports the screen."""

import os
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NoReturn, TextIO

from pitree import __version__
from pitree.commands import COMMANDS, CommandError, Place, is_utf8, place_of, read_only, start, warn
from pitree.sessions.errors import SessionError
from pitree.sessions.glimpse import Glimpse
from pitree.sessions.helper import Helper
from pitree.sessions.layout import DEFAULT_FILTER, FILTERS
from pitree.settings import SETTINGS, fill_in, read_settings

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

SCOPES: Final = ("here", "repository", "all")

Command = Callable[[Namespace, Place], int | None]

_CHANGING = ("move", "label", "name", "fork", "rm", "undo")
"""The commands that change something; their module is loaded only for them."""

_ABOUT = ("config", "version")
"""The commands about pitree itself; likewise."""

_COMPLETION = "completion"
_DOCTOR = "doctor"


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
    parser.add_argument(
        "--resume", choices=("replace", "return"), help="have Pi take pitree's place, or come back to it"
    )
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


def _screen_arguments(arguments: Sequence[str]) -> Namespace:
    parser = _screen_parser()
    args, unknown = parser.parse_known_args(arguments)
    if args.session in all_commands() and not Path(args.session).exists():
        parser.error(f"{args.session} is a command, and a command comes first: `pitree {args.session} …`")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def _command_parser(name: str) -> ArgumentParser:
    parser = _Parser(prog=f"pitree {name}", description=_described(COMMANDS[name]))
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
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return parser


def all_commands() -> tuple[str, ...]:
    """Return the names of all commands."""
    return (*COMMANDS, *_CHANGING, _DOCTOR, *_ABOUT, _COMPLETION)


def _changing_command(name: str) -> tuple[ArgumentParser, Command]:
    from pitree.writing_commands import CHANGING, add_arguments

    command = CHANGING[name]
    parser = _Parser(prog=f"pitree {name}", description=_described(command))
    _common(parser)
    add_arguments(parser, name)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
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
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return parser, check_sessions


def _about_command(name: str) -> tuple[ArgumentParser, Command]:
    from pitree.about_commands import ABOUT, add_arguments

    command = ABOUT[name]
    parser = _Parser(prog=f"pitree {name}", description=_described(command))
    _common(parser)
    add_arguments(parser, name)
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return parser, command


def _completion_command() -> tuple[ArgumentParser, Command]:
    from pitree.completion import add_arguments, print_completion

    parser = _Parser(prog=f"pitree {_COMPLETION}", description=_described(print_completion))
    add_arguments(parser)
    parsers = {name: _command(name)[0] for name in all_commands() if name != _COMPLETION}
    screen = _screen_parser()
    return parser, lambda args, _place: print_completion(args, screen, parsers | {_COMPLETION: parser})


def _command(name: str) -> tuple[ArgumentParser, Command]:
    if name in _CHANGING:
        return _changing_command(name)
    if name in _ABOUT:
        return _about_command(name)
    if name == _COMPLETION:
        return _completion_command()
    if name == _DOCTOR:
        return _doctor_command()
    return _command_parser(name), COMMANDS[name]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 could not be done, 2 a wrong call."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with ExitStack() as stack:
            name = arguments[0] if arguments else ""
            if name in all_commands():
                parser, command = _command(name)
                args = parser.parse_intermixed_args(arguments[1:])
                place = place_of(args, stack)
                _take_settings(args, place)
                code = command(args, place) or 0
            else:
                args = _screen_arguments(arguments)
                code = _screen(args, place_of(args, stack))
            if sys.stdout is not None:  # as it is where it was closed before the start
                sys.stdout.flush()
            return code
    except (CommandError, SessionError) as error:
        warn(str(error))
        return 1
    except BrokenPipeError:  # the reader went away (`| head`)
        _give_up_output()
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        warn(f"{error.filename or 'the system'}: {error.strerror or error}")
        _give_up_output()
        return 1


def _take_settings(args: Namespace, place: Place) -> None:
    """Put the settings into the arguments of a command that has use for any."""
    if not any(hasattr(args, setting.field) for setting in SETTINGS):
        return
    settings = read_settings(args, os.environ, place.cwd, with_keys=False)
    for problem in settings.problems:
        warn(problem)
    fill_in(args, settings, os.environ)


def _give_up_output() -> None:
    """Have nothing more written that cannot be written: Python would try once more at exit, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _check_terminal() -> None:
    """Raise CommandError where the screen would be nothing but litter; have it drawn in UTF-8 elsewhere."""
    if os.environ.get("TERM") == "dumb":
        raise CommandError(
            "the screen needs a terminal that can move its cursor, and TERM says that this one is dumb; "
            "`pitree list`, `tree`, `context` and `show` print (or set TERM, to xterm-256color for instance)"
        )
    encoding = sys.stdout.encoding
    if is_utf8(encoding):
        return
    if encoding.lower() not in {"ascii", "us-ascii", "ansi-x3.4-1968", "ansi_x3.4-1968", "646"}:
        raise CommandError(
            f"the screen is drawn in UTF-8, and this terminal's character set is {encoding}; in one that "
            "knows UTF-8, start it with LC_ALL=C.UTF-8; `pitree list`, `tree` and the like print in any"
        )
    if isinstance(sys.__stderr__, TextIOWrapper):  # where the screen is written to; nothing is said of UTF-8
        sys.__stderr__.reconfigure(encoding="utf-8", errors="replace")


def _ahead(file: Path) -> tuple[Helper | None, Glimpse | None]:
    """Begin to read a long session, and have its end for the first frame: the screen takes a while."""
    helper = Helper.start_for(file)
    try:
        return helper, Glimpse.of(file)
    except OSError:
        return helper, None  # reading the whole file will say why


def _screen(args: Namespace, place: Place) -> int:
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout)):
        raise CommandError(
            "the screen needs a terminal; without one there are `pitree list`, `tree`, `context`, `show`"
        )
    _check_terminal()
    from pitree.catalog.resolve import resolve_session

    file = resolve_session(args.session, place.store, place.cwd) if args.session is not None else None
    helper, glimpse = _ahead(file) if file is not None else (None, None)
    environ = dict(os.environ)  # before Textual takes NO_COLOR out of it
    # Textual draws at its own ticks, by default 60 a second: what a key changes in a second step (a message
    # from pane to pane) would wait for up to two of them.
    os.environ.setdefault("TEXTUAL_FPS", "240")
    from pitree.catalog.cache import cache_dir
    from pitree.journal import state_dir
    from pitree.ui.app import PitreeApp
    from pitree.ui.options import Options
    from pitree.ui.starting import own_options

    settings = read_settings(args, environ, place.cwd)
    if args.demo and args.scope is None:
        args.scope = "all"
    own = own_options(args, settings, environ)
    if args.demo:  # what is deleted there is to go with it, not into the person's own trash
        os.environ["XDG_DATA_HOME"] = str(place.store.root.parent / "data")
    options = Options(
        store=place.store,
        cwd=place.cwd,
        file=file,
        pi=args.pi,
        environ=environ,
        demo=args.demo,
        read_only=args.read_only,
        state_dir=None if args.demo else state_dir(),
        glimpse=glimpse,
        helper=helper,
        cache_dir=None if args.demo or args.no_cache else cache_dir(),
        poll=args.poll,
        **own,
    )
    app = PitreeApp(options)
    try:
        launched = app.run()
    finally:
        if helper is not None:
            helper.close()
    if app.failure is not None:
        from pitree.crash import tell

        return tell(app.failure, environ)
    if launched is None:
        return app.return_code or 0
    return start(launched, keep_running=args.demo)
