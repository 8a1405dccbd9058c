"""The commands that change sessions: move, label, name, fork, rm, undo."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from pitree import trash
from pitree.agent import launch as pi
from pitree.agent import summary as model
from pitree.agent.running import being_written
from pitree.agent.viewers import reading_program
from pitree.catalog.resolve import resolve_session
from pitree.changes import Changes, Done, describe_deed
from pitree.commands import open_session
from pitree.folders import state_dir
from pitree.journal import Deed, Journal
from pitree.output import CommandError, warn, write_json, write_line
from pitree.place import Place, read_only
from pitree.sessions.activity import last_activity
from pitree.sessions.appending import Move, Summary
from pitree.sessions.branching import file_lists
from pitree.sessions.context import build_session_context
from pitree.sessions.entries import CURRENT_VERSION, JsonObject
from pitree.sessions.errors import ChangedError, MigrationNeededError
from pitree.sessions.file import SessionFile
from pitree.sessions.moves import ContextSize, Figures, MovePlan, asks_anew, plan_move, prompt_of, weigh_move
from pitree.sessions.outline import files_text, outline, transcript
from pitree.sessions.text import one_line


def add_arguments(parser: ArgumentParser, name: str) -> None:
    """Tell the parser what a command takes."""
    _ARGUMENTS[name](parser)
    read_only(parser)


def _file(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a path, or the beginning of a session's id")


def _appending(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--migrate", action="store_true", help="bring a file of version 1 or 2 to version 3 first"
    )


def _move_arguments(parser: ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("id", metavar="ID", help="an entry's id, or the beginning of it")
    parser.add_argument("--before", action="store_true", help="before that entry, not after it")
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--summary", metavar="TEXT", help="with this summary of what is left behind")
    words.add_argument("--summarize", action="store_true", help="with a summary that the model writes")
    words.add_argument("--outline", action="store_true", help="with an outline that no model is needed for")
    parser.add_argument("--instructions", metavar="TEXT", default="", help="what the model should mind most")
    parser.add_argument("--pi", metavar="COMMAND", help="the program to ask the model with (also $PITREE_PI)")
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=model.TIMEOUT_SECONDS,
        help="how long to wait for the model (%(default)g)",
    )
    parser.add_argument("--label", metavar="TEXT", help="label the entry, or the summary where there is one")
    parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
    parser.add_argument("--anyway", action="store_true", help="also while an agent is writing to the session")
    _appending(parser)


def _label_arguments(parser: ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("id", metavar="ID", help="an entry's id, or the beginning of it")
    parser.add_argument("text", nargs="?", default="", metavar="TEXT", help="without it the label is cleared")
    _appending(parser)


def _name_arguments(parser: ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("text", nargs="?", metavar="TEXT", help="without it the name is printed")
    parser.add_argument("--clear", action="store_true", help="take the name away")
    _appending(parser)


def _fork_arguments(parser: ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("--leaf", metavar="ID", help="up to that entry (default: the leaf)")


def _rm_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a path, or the beginning of a session's id")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--for-good", action="store_true", help="remove what cannot be put into the trash")
    parser.add_argument("--anyway", action="store_true", help="also while an agent is writing to a session")


def _undo_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="only tell what can be undone, newest first")


def _changes(args: Namespace, place: Place) -> Changes:
    changes = Changes(place.store, Journal(None if args.demo else state_dir()), read_only=args.read_only)
    changes.check_allowed()
    return changes


def _told(done: Done) -> Done:
    if done.problem is not None:
        warn(done.problem)
    return done


def _migrating(change: Callable[[], Done]) -> Done:
    try:
        return _told(change())
    except MigrationNeededError as error:
        raise CommandError(f"{error}; --migrate does that, and keeps the old file") from None
    except ChangedError as error:
        raise CommandError(str(error)) from None


# ---- move


def move(args: Namespace, place: Place) -> None:
    """Move the leaf: where the conversation goes on from. Said is what the model will see from there."""
    if args.instructions and not args.summarize:
        raise CommandError("--instructions are for the model, so they take --summarize; nothing was changed")
    changes = _changes(args, place)
    with open_session(args.file, place) as session:
        entry = session.find(args.id)
        plan = plan_move(session.tree, entry, before=args.before)
        figures = weigh_move(session, plan)
        prompt = prompt_of(session, entry) if plan.before and asks_anew(entry) else None
        wants_summary = args.summarize or args.outline or args.summary is not None
        if wants_summary and not plan.summary_span.entries:
            raise CommandError("nothing is left behind by this move, so there is nothing to summarize")
        _warn_of_open_end(figures)
        if not args.dry_run:
            _check_version(session, migrate=args.migrate)
            _check_quiet(session, anyway=args.anyway)
        summary = None if args.dry_run or not wants_summary else _summary(args, session, plan)
        path = session.path
        done: list[Done] = []
        if not args.dry_run:
            step = Move(plan.target_id, plan.state, summary)
            done.append(_migrating(lambda: changes.move(path, step, migrate=args.migrate, known=session)))
    if done:
        labelled = done[0].entry_id if summary is not None else plan.chosen_id
        if args.label is not None and labelled is not None:
            # (a summary is new, and an entry's label is read here, just before it is replaced)
            with open_session(str(path), place) as session:
                was = session.tree.label(labelled)
            done.append(
                _migrating(lambda: changes.label(path, labelled, args.label, was, migrate=args.migrate))
            )
    if args.json:
        write_json(_move_json(plan, figures, prompt) | {"path": os.fsdecode(path), "written": _ids(done)})
        return
    write_line(plan.sentence)
    left = "1 entry is" if plan.left == 1 else f"{plan.left:,} entries are"
    write_line(f"{left} left behind. Context: {figures.now} → {figures.then}")
    if prompt:
        write_line(f"The message was: {one_line(prompt, 2000)}")
    for one in done:
        write_line(one.text)


def _ids(done: Sequence[Done]) -> list[str]:
    return [one.entry_id for one in done if one.entry_id is not None]


def _move_json(plan: MovePlan, figures: Figures, prompt: str | None) -> JsonObject:
    return {
        "from": plan.state.leaf_id,
        "to": plan.target_id,
        "sentence": plan.sentence,
        "leftBehind": [entry.id for entry in plan.span.entries],
        "now": _size_json(figures.now),
        "then": _size_json(figures.then),
        "openEnd": [
            {"entryId": call.entry_id, "toolCallId": call.call_id, "name": call.name}
            for call in figures.open_calls
        ],
        "soundEntry": figures.sound_id,
        "prompt": prompt,
    }


def _size_json(size: ContextSize) -> JsonObject:
    return {"messages": size.messages, "tokens": size.tokens, "estimated": size.estimated}


def _warn_of_open_end(figures: Figures) -> None:
    calls = figures.open_calls
    if not calls:
        return
    where = "before the first entry" if figures.sound_id is None else f"at {figures.sound_id}"
    more = f" (and {len(calls) - 1} more)" if len(calls) > 1 else ""
    warn(
        f"the call of {calls[0].name or 'a tool'} in {calls[0].entry_id}{more} has no result there; "
        f"the nearest place without such a call is {where}"
    )


def _check_version(session: SessionFile, *, migrate: bool) -> None:
    """Ask for consent to a migration before a model is asked for anything."""
    if session.version < CURRENT_VERSION and not migrate:
        raise CommandError(
            f"{session.path} is of version {session.version:g}; "
            "--migrate brings it to version 3, and keeps the old file"
        )


def _check_quiet(session: SessionFile, *, anyway: bool) -> None:
    reason = being_written(session.cwd, last_activity(session))
    if reason is None:
        return
    told = f"{session.path}: {reason}; a Pi that is running does not see this until it is started again"
    if not anyway:
        raise CommandError(f"{told}, and goes on where it was; wait for it to end, or say --anyway")
    warn(told)


def _summary(args: Namespace, session: SessionFile, plan: MovePlan) -> Summary | None:
    files = file_lists(session, plan.summary_span)
    if args.summary is not None:
        return Summary(args.summary, files)
    usage = None
    if args.outline:
        text = outline(session, plan.summary_span, files)
    else:
        said = transcript(session, plan.summary_span)
        if said.left_out:
            warn(
                f"too long for the model: the first {said.left_out} of {said.messages} messages are left out"
            )
        try:
            program = pi.find_pi(args.pi, os.environ)
        except pi.AgentNotFoundError as error:
            raise CommandError(f"{error}; --outline and --summary do without a model") from None
        command = model.summary_command(program, build_session_context(session, plan.state.leaf_id).model)
        folder = pi.working_directory(session.cwd) or Path.cwd()
        prompt = model.summary_prompt(said, args.instructions)
        answer = model.ask_model(command, prompt, folder, os.environ, timeout=args.timeout)
        usage = answer.usage
        text = "\n\n".join(part for part in (answer.text, files_text(files)) if part)
    if _is_terminal():
        text = _edited(text)
    if not text.strip():
        raise CommandError("the summary is empty; nothing was changed")
    return Summary(text, files, usage)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _edited(text: str) -> str:
    """Have the person edit a text in their editor."""
    import tempfile

    editor = reading_program("editor", os.environ)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "summary.md"
        file.write_text(text, encoding="utf-8", errors="replace")
        try:
            code = pi.run_child(pi.Launch((*editor, str(file)), None), os.environ)
        except OSError as error:
            raise CommandError(f"{editor[0]} could not be started: {error.strerror or error}") from None
        if code:
            raise CommandError(f"{editor[0]} ended with code {code}; nothing was changed")
        return file.read_text(encoding="utf-8", errors="replace")


# ---- label, name, fork


def label(args: Namespace, place: Place) -> None:
    """Label an entry; without a text its label is cleared."""
    changes = _changes(args, place)
    with open_session(args.file, place) as session:
        entry_id = session.find(args.id).id
        was = session.tree.label(entry_id)
        done = _migrating(
            lambda: changes.label(session.path, entry_id, args.text, was, migrate=args.migrate, known=session)
        )
    _print(args, done)


def name(args: Namespace, place: Place) -> None:
    """Name a session; without a text the name is printed."""
    if args.clear and args.text is not None:
        raise CommandError("--clear takes no name")
    with open_session(args.file, place) as session:
        was, path = session.tree.name, session.path
        if args.text is not None or args.clear:
            changes = _changes(args, place)
            text = args.text or ""
            _print(
                args,
                _migrating(lambda: changes.name(path, text, was, migrate=args.migrate, known=session)),
            )
        elif args.json:
            write_json({"path": os.fsdecode(path), "name": was})
        elif was is not None:
            write_line(was)


def fork(args: Namespace, place: Place) -> None:
    """Copy the branch to the leaf, or to another entry, into a new session; print its path.

    The new session is for the same folder, or for the one that --cwd names.
    """
    changes = _changes(args, place)
    with open_session(args.file, Place(place.store, Path.cwd())) as session:
        leaf_id = None if args.leaf is None else session.find(args.leaf).id
        path = session.path
    folder = None if args.cwd is None else place.cwd
    if folder is not None and not folder.is_dir():
        raise CommandError(f"{folder} is not a folder; --cwd names the one that the new session is for")
    done = _told(changes.fork(path, leaf_id, folder))
    if args.json:
        _print(args, done)
    else:
        write_line(os.fsdecode(done.path))


def _print(args: Namespace, done: Done) -> None:
    if args.json:
        write_json({"path": os.fsdecode(done.path), "entryId": done.entry_id, "done": done.text})
    else:
        write_line(done.text)


# ---- rm


def remove(args: Namespace, place: Place) -> int:
    """Put sessions into the trash, after asking."""
    changes = _changes(args, place)
    paths = list(dict.fromkeys(_path_to_remove(name, place) for name in args.files))
    for path in paths:
        changes.check_deletable(path)
    forks = changes.forks_of(paths)
    facts = [_about(path, place, anyway=args.anyway) for path in paths]
    if not args.yes:
        for told, path in zip(facts, paths, strict=True):
            lost = len(forks[path])
            tail = f"; {lost} forked from it will be on {'its' if lost == 1 else 'their'} own" if lost else ""
            sys.stderr.write(one_line(told + tail, 1000) + "\n")
        _confirm("Into the trash?", "--yes does not ask")
    done, code = [], 0
    for path in paths:
        try:
            done.append(_told(changes.delete(path)))
        except trash.TrashError as error:
            if not args.for_good:
                warn(str(error))
                if not _is_terminal() or not _asked("Remove it for good? It cannot be brought back."):
                    warn(f"{path} is left where it is; --for-good removes what the trash does not take")
                    code = 1
                    continue
            done.append(changes.delete_for_good(path))
    if args.json:
        write_json([{"path": os.fsdecode(one.path), "done": one.text} for one in done])
    else:
        for one in done:
            write_line(one.text)
    return code


def _path_to_remove(name: str, place: Place) -> Path:
    path = Path(os.path.abspath(place.cwd / name))  # noqa: PTH100 - a link itself, also one that leads nowhere
    return path if path.is_symlink() else resolve_session(name, place.store, place.cwd)


def _about(path: Path, place: Place, *, anyway: bool) -> str:
    """Return what a session is, in one line; raises CommandError where an agent is writing to it."""
    if path.is_symlink() and not path.exists():
        return f"a link that leads nowhere, {path}"
    with open_session(str(path), place) as session:
        _check_quiet(session, anyway=anyway)
        messages = sum(entry.type == "message" for entry in session.entries)
        return f"{session.tree.name or session.id}: {messages} messages, {session.size:,} bytes, {path}"


def _confirm(question: str, hint: str) -> None:
    if not _is_terminal():
        raise CommandError(f"nothing is deleted without being asked for; {hint}")
    if not _asked(question):
        raise CommandError("nothing was changed")


def _asked(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


# ---- undo


def undo(args: Namespace, place: Place) -> None:
    """Take back what pitree changed last; again: what it changed before that."""
    changes = _changes(args, place)
    deeds = changes.undoable()
    if args.list:
        if args.json:
            write_json([_deed_json(deed) for deed in deeds])
            return
        for deed in deeds:
            write_line(f"{_local_minute(deed.at):<16}  {describe_deed(deed)}")
        return
    if not deeds:
        raise CommandError("there is nothing to undo")
    try:
        _print(args, _told(changes.undo(deeds[0])))
    except ChangedError as error:
        raise CommandError(str(error)) from None


def _local_minute(moment: str) -> str:
    """Return a time of the journal on the clock here, or nothing where it is none."""
    try:
        return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return ""


def _deed_json(deed: Deed) -> JsonObject:
    return {"id": deed.id, "at": deed.at, "kind": deed.kind, "path": deed.path, "did": describe_deed(deed)}


_ARGUMENTS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "move": _move_arguments,
    "label": _label_arguments,
    "name": _name_arguments,
    "fork": _fork_arguments,
    "rm": _rm_arguments,
    "undo": _undo_arguments,
}

CHANGING: Final[Mapping[str, Callable[[Namespace, Place], int | None]]] = {
    "move": move,
    "label": label,
    "name": name,
    "fork": fork,
    "rm": remove,
    "undo": undo,
}
