"""The command line. Nothing here or on the way to `--help` and the printing commands imports the screen."""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pitree.output import CommandError, is_utf8, warn
from pitree.parsers import ALL_COMMANDS, command_of, screen_arguments
from pitree.place import Place, place_of
from pitree.sessions.errors import SessionError

if TYPE_CHECKING:  # what the screen's start can wait for
    from pitree.sessions.glimpse import Glimpse
    from pitree.sessions.helper import Helper
    from pitree.ui.app import PitreeApp


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 could not be done, 2 a wrong call."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with ExitStack() as stack:
            name = arguments[0] if arguments else ""
            if name in ALL_COMMANDS:
                gc.enable()
                parser, command = command_of(name)
                args = parser.parse_intermixed_args(arguments[1:])
                place = place_of(args, stack)
                _take_settings(args, place)
                code = command(args, place) or 0
            else:
                args = screen_arguments(arguments)
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
    from pitree.settings import SETTINGS, fill_in, read_settings

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


def _ahead(file: Path) -> "tuple[Helper | None, Glimpse | None]":
    """Begin to read a long session, and have its end for the first frame: the screen takes a while."""
    from pitree.sessions.glimpse import Glimpse
    from pitree.sessions.helper import Helper

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
    file, helper, glimpse = None, None, None
    if args.session is not None:
        from pitree.catalog.errors import SessionNotFoundError
        from pitree.catalog.resolve import resolve_session

        try:
            file = resolve_session(args.session, place.store, place.cwd)
        except SessionNotFoundError as error:
            raise CommandError(f"{error}{_meant(args.session)}") from None
        helper, glimpse = _ahead(file)
    try:
        app = _app(args, place, file, helper, glimpse)
        launched = app.run()
    finally:
        if helper is not None:
            helper.close()
    if app.failure is not None:
        from pitree.crash import tell

        return tell(app.failure, app.options.environ)
    if launched is None:
        return app.return_code or 0
    from pitree.commands import start

    return start(launched, keep_running=args.demo)


def _meant(word: str) -> str:
    """Return which command may have been meant by a word that names no session."""
    from difflib import get_close_matches

    near = get_close_matches(word, ALL_COMMANDS, 1)
    return f"; or did you mean `pitree {near[0]}`?" if near else ""


def _app(
    args: Namespace, place: Place, file: Path | None, helper: "Helper | None", glimpse: "Glimpse | None"
) -> "PitreeApp":
    """Make the screen; what it shows first is read while Textual is loaded, which takes longest."""
    from pitree.folders import cache_dir, state_dir
    from pitree.settings import read_settings
    from pitree.ui.ahead import SCOPES, FirstRows
    from pitree.ui.state import ViewStore

    environ = dict(os.environ)  # before Textual takes NO_COLOR out of it
    # Textual draws at its own ticks, by default 60 a second: what a key changes in a second step (a message
    # from pane to pane) would wait for up to two of them.
    os.environ.setdefault("TEXTUAL_FPS", "240")
    settings = read_settings(args, environ, place.cwd)
    if args.demo and args.scope is None:
        args.scope = "all"
    kept_in = None if args.demo else state_dir()
    cache = None if args.demo or args.no_cache else cache_dir()
    first_rows = None
    if file is None and cache is not None:
        scope = SCOPES[args.scope or settings.values.get("scope")]
        first_rows = FirstRows(place.store, place.cwd, cache, ViewStore(kept_in), scope=scope)
    if args.demo:  # what is deleted there is to go with it, not into the person's own trash
        os.environ["XDG_DATA_HOME"] = str(place.store.root.parent / "data")
    from pitree.ui.app import PitreeApp
    from pitree.ui.options import Options
    from pitree.ui.starting import own_options

    own = own_options(args, settings, environ)  # fills `args` in, too
    return PitreeApp(
        Options(
            store=place.store,
            cwd=place.cwd,
            file=file,
            pi=args.pi,
            environ=environ,
            demo=args.demo,
            read_only=args.read_only,
            state_dir=kept_in,
            glimpse=glimpse,
            helper=helper,
            cache_dir=cache,
            first_rows=first_rows,
            poll=args.poll,
            **own,
        )
    )
