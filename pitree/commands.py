"""The commands that print: list, search, tree, context, show; and resume. No screen, safe for pipes."""

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NoReturn

from pitree.agent import launch as pi
from pitree.catalog.resolve import resolve_session
from pitree.catalog.rows import SessionRow, newest_first
from pitree.output import CommandError, warn, write_json, write_line
from pitree.place import Place
from pitree.sessions import javascript
from pitree.sessions.branching import file_lists
from pitree.sessions.context import ContextParts, SessionContext, build_session_context, read_part
from pitree.sessions.describe import describe_or_say
from pitree.sessions.difference import context_difference
from pitree.sessions.entries import JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.rows import Rows, visible_rows
from pitree.sessions.text import one_line
from pitree.sessions.tokens import context_tokens, estimate_tokens, parts_tokens

if TYPE_CHECKING:  # opening it brings SQLite, which most commands do not need
    from pitree.catalog.cache import Cache
    from pitree.catalog.finder import Finder

_TITLE_LENGTH = 80

# ---- list


def list_sessions(args: Namespace, place: Place) -> None:
    """Print the sessions of this folder or of the whole store, newest first."""
    query_text = " ".join(args.query)
    with closing(open_cache(args)) as cache:
        rows: Sequence[SessionRow] = read_rows(place, cache, everything=args.all)
        if query_text.strip():
            from pitree.catalog.finder import Finder

            rows = _found(Finder(cache), rows, query_text, "recent")
        if args.json:
            whole = cache.first_messages(rows)
            write_json([_session_json(row, whole.get(row.key, row.first_message)) for row in rows])
            return
    for row in rows:
        folder = f"  {one_line(row.cwd, 200)}" if args.all else ""
        mark = " ⚠" if row.damage else ""
        when = _local_time(row.modified)
        title = row.title if len(row.title) <= _TITLE_LENGTH else f"{row.title[: _TITLE_LENGTH - 1]}…"
        write_line(f"{row.id[:13]:<13}  {when:<16}  {row.message_count:>5}  {title}{mark}{folder}")
    if not rows:
        where = "the store" if args.all else f"{place.cwd}"
        hint = "" if args.all else " (--all looks everywhere)"
        warn(
            f"no sessions{' that match' if query_text else ''} in {where}{hint}; looked in {place.store.root}"
        )
        _warn_of_misread(query_text)


def search_sessions(args: Namespace, place: Place) -> None:
    """Print where in the sessions of this folder or of the whole store something was said."""
    from pitree.catalog.finder import Finder

    query_text = " ".join(args.query)
    if not query_text.strip():
        raise CommandError('nothing to search for; give words, a "phrase" or re:PATTERN')
    with closing(open_cache(args)) as cache:
        finder = Finder(cache)
        rows = _found(
            finder, read_rows(place, cache, everything=args.all), query_text, "relevance", in_tools=args.tools
        )
        found = [(row, _hits_json(finder, row, query_text, in_tools=args.tools)) for row in rows]
    if args.json:
        write_json(
            [
                {"path": os.fsdecode(row.path), "id": row.id, "name": row.name, "hits": hits}
                for row, hits in found
            ]
        )
        return
    for row, hits in found:
        write_line(f"{row.id[:13]:<13}  {_local_time(row.modified):<16}  {row.title}")
        for hit in hits:
            write_line(f"    {hit['entryId']:<8}  {hit['role']:<10}  {hit['snippet']}")
    if not found:
        where = "the store" if args.all else f"{place.cwd}"
        hint = "" if args.all else " (--all looks everywhere)"
        warn(f"nothing found in {where}{hint}; looked in {place.store.root}")
        _warn_of_misread(query_text)


def _warn_of_misread(query_text: str) -> None:
    from pitree.catalog.narrow import misread

    for told in misread(query_text):
        warn(told)


def _hits_json(finder: "Finder", row: SessionRow, query_text: str, *, in_tools: bool) -> list[JsonObject]:
    hits = finder.hits(row, query_text, in_tools=in_tools)
    ids: dict[int, str] = {}
    if not all(hit.entry_id for hit in hits):  # opening the session makes them up
        try:
            with SessionFile.load(row.path) as session:
                ids = {entry.offset: entry.id for entry in session.entries}
        except (SessionError, OSError) as error:
            warn(str(error))
    return [
        {"entryId": hit.entry_id or ids.get(hit.offset, ""), "role": hit.role, "snippet": hit.snippet}
        for hit in hits
    ]


def _found(
    finder: "Finder",
    rows: Sequence[SessionRow],
    query_text: str,
    order: Literal["relevance", "recent"],
    *,
    in_tools: bool = False,
) -> Sequence[SessionRow]:
    found = finder.find(rows, query_text, order, in_tools=in_tools)
    if found.problem:
        raise CommandError(f"search {query_text!r}: {found.problem}; correct the pattern, or leave out re:")
    return found.rows


def open_cache(args: Namespace) -> "Cache":
    """Return what was read of sessions before, unless it is not to be used."""
    from pitree.catalog.cache import Cache
    from pitree.folders import cache_dir

    return Cache(None if args.no_cache or args.demo else cache_dir())


def read_rows(place: Place, cache: "Cache", *, everything: bool) -> list[SessionRow]:
    """Return the rows of a place, newest first; what cannot be read is said on standard error."""
    from pitree.catalog.sync import update

    root = place.store.root
    if place.store.source == "--session-dir" and not root.is_dir():
        raise CommandError(f"{root} is not a folder; --session-dir names the one with the session files")
    rows: dict[str, SessionRow] = {}

    def found(new: list[SessionRow], _done: int, _total: int) -> None:
        rows.update((row.location, row) for row in new)

    done = update(place.store, cache, cwd=None if everything else str(place.cwd), on_rows=found)
    for problem in done.problems:
        warn(f"{problem.path} cannot be read: {problem.reason}")
    listed = [row for location, row in rows.items() if location in done.locations]
    if not everything:
        listed = [row for row in listed if place.store.holds_for(row.cwd, place.cwd)]
    return newest_first(listed)


def _local_time(milliseconds: float) -> str:
    """Return the minute on the clock here, or nothing where no clock shows it."""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return ""


def _session_json(row: SessionRow, first_message: str) -> JsonObject:
    return {
        "path": os.fsdecode(row.path),
        "id": row.id,
        "cwd": row.cwd,
        "name": row.name,
        "created": _iso(row.created),
        "modified": _iso(row.modified),
        "messageCount": row.message_count,
        "firstMessage": first_message,
        "parentSession": row.parent_session,
        "size": row.size,
        "damage": row.damage,
    }


def _iso(milliseconds: float | None) -> str | None:
    try:
        return None if milliseconds is None else javascript.iso_from_ms(milliseconds)
    except OverflowError:
        return None


# ---- one session


def open_session(name: str, place: Place) -> SessionFile:
    """Load the session that a path or an id names."""
    path = resolve_session(name, place.store, place.cwd)
    try:
        return SessionFile.load(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None


def print_tree(args: Namespace, place: Place) -> None:
    """Print the entry tree as it is drawn."""
    with open_session(args.file, place) as session:
        rows = visible_rows(session.tree, args.filter)
        if args.json:
            write_json(_tree_json(session, rows, args.filter))
            return
        for index in range(len(rows)):
            lead = f"{one_line(rows[index].entry.id, 36):<8}  " if args.ids else ""
            write_line(lead + _tree_line(session, rows, index))
        for damage in session.damage:
            warn(f"{session.path}, line {damage.line}: {damage.reason}")


def _tree_line(session: SessionFile, rows: Rows, index: int) -> str:
    row = rows[index]
    label = f"[{one_line(row.label, 60)}] " if row.label else ""
    warning = "⚠ " if session.tree.notes(row.entry) else ""
    mark = rows.leaf_mark(index)
    return f"{rows.lead(index)}{mark} {warning}{label}{describe_or_say(session, row.entry, row.entry.type)}"


def _tree_json(session: SessionFile, rows: Rows, filter_name: str) -> JsonObject:
    entries = []
    for row in rows:
        entry: JsonObject = {"id": row.entry.id, "parentId": row.entry.parent_id, "type": row.entry.type}
        if row.entry.role:
            entry["role"] = row.entry.role
        entry |= {"depth": row.depth, "text": str(describe_or_say(session, row.entry, row.entry.type))}
        if row.label:
            entry["label"] = row.label
        entries.append(entry | {"onPath": row.on_path})
    return {
        "header": session.header,
        "leaf": session.tree.leaf_id,
        "name": session.tree.name,
        "labels": session.tree.labels,
        "filter": filter_name,
        "damage": _damage_json(session),
        "entries": entries,
    }


def _damage_json(session: SessionFile) -> list[JsonObject]:
    return [
        {"line": damage.line, "offset": damage.offset, "reason": damage.reason}
        | ({"entryId": damage.entry_id} if damage.entry_id is not None else {})
        for damage in session.damage
    ]


def print_context(args: Namespace, place: Place) -> None:
    """Print what the model would see at the leaf, or at another entry."""
    with open_session(args.file, place) as session:
        leaf_id = session.find(args.leaf).id if args.leaf is not None else session.tree.leaf_id
        if args.changes:
            _print_changes(session, leaf_id, json=args.json)
            return
        if args.json:
            write_json(_context_json(build_session_context(session, leaf_id)))
            return
        from pitree.ui.documents.context import context_document

        for text in context_document(session, leaf_id, whole=True).texts():
            write_line(text)


def _print_changes(session: SessionFile, to_id: str | None, *, json: bool) -> None:
    """Print what leaves the context, and what comes back, when the leaf moves."""
    entry = session.tree.get(to_id)
    if entry is None:
        raise CommandError("there is no entry to move to; name one with --leaf ID")
    if json:
        write_json(_changes_json(session, entry.id))
        return
    from pitree.ui.documents.changes import changes_documents

    *_, document = changes_documents(session, entry)
    for text in document.texts():
        write_line(text)


def _changes_json(session: SessionFile, to_id: str) -> JsonObject:
    found = context_difference(session, session.tree.leaf_id, to_id)

    def side(made: ContextParts, numbers: list[int]) -> list[JsonObject]:
        messages = ((number, read_part(session, made.parts[number - 1])) for number in numbers)
        return [
            {
                "number": number,
                "entryId": made.parts[number - 1].entry.id,
                "role": message.get("role"),
                "tokens": estimate_tokens(message),
            }
            for number, message in messages
        ]

    return {
        "from": session.tree.leaf_id,
        "to": to_id,
        "ancestor": found.span.ancestor_id,
        "leaves": side(found.before, found.leaves),
        "returns": side(found.after, found.returns),
        "stays": found.stays,
        **file_lists(session, found.span).details(),
        "tokens": parts_tokens(session, found.before).total,
        "tokensThere": parts_tokens(session, found.after).total,
    }


def _context_json(context: SessionContext) -> JsonObject:
    return {
        "messages": context.messages,
        "thinkingLevel": context.thinking_level,
        "model": context.model,
        "entries": [entry.id for entry in context.entries],
        "tokens": context_tokens(context).total,
        "openEnd": [
            {"entryId": call.entry_id, "toolCallId": call.call_id, "name": call.name}
            for call in context.open_calls
        ],
        **({"gap": context.gap} if context.gap else {}),
    }


def print_entry(args: Namespace, place: Place) -> None:
    """Print one entry in full."""
    with open_session(args.file, place) as session:
        entry = session.find(args.id)
        body = session.body(entry)
        if args.json:
            write_json(body)
            return
        from pitree.ui.documents.entry import entry_document

        for text in entry_document(session, entry, whole=True).texts():
            write_line(text)


# ---- resume


def resume(args: Namespace, place: Place) -> int:
    """Become Pi on a session: the one named, or the newest of this folder."""
    if args.session is None:
        with closing(open_cache(args)) as cache:
            rows = read_rows(place, cache, everything=False)
        if not rows:
            raise CommandError(f"no session to resume in {place.cwd}; `pitree list --all` shows the others")
        path = rows[0].path
    else:
        path = resolve_session(args.session, place.store, place.cwd)
    with open_session(str(path), place) as session:
        if session.refused_by_pi:
            raise CommandError(f"{path} cannot be resumed: {session.read_only}")
        if (reason := pi.unspeakable(path)) is not None:
            raise CommandError(reason)
        recorded = session.cwd
    folder = pi.working_directory(recorded) if recorded else place.cwd
    if folder is None and not (args.here or args.fork):
        raise CommandError(
            f"the session's folder {recorded} is gone; "
            f"--here resumes it from {place.cwd}, --fork forks it into there"
        )
    if args.fork and args.prompt is not None:
        raise CommandError("a fork cannot be given a prompt; leave out --fork or the prompt")

    def launch(program: Sequence[str]) -> pi.Launch:
        if args.fork:
            root = place.store.root if place.store.flat else None
            return pi.fork(program, path, place.cwd, session_dir=root)
        return pi.resume(program, path, folder or place.cwd, args.prompt)

    try:
        program = pi.find_pi(args.pi, os.environ)
    except pi.AgentNotFoundError as error:
        command = pi.shell_line(launch(error.words))
        raise CommandError(f"{error}; the command to run is: {command}") from None
    return start(launch(program), keep_running=args.demo)


def start(launched: pi.Launch, *, keep_running: bool) -> int:
    """Become the program, or with `keep_running` wait for it and return its exit code."""
    try:
        if keep_running:
            return pi.run_child(launched, os.environ)
        _become(launched)
    except OSError as error:
        raise CommandError(f"{launched.argv[0]} could not be started: {error.strerror or error}") from None


def _become(launched: pi.Launch) -> NoReturn:
    pi.replace_process(launched, os.environ)


COMMANDS: dict[str, Callable[[Namespace, Place], int | None]] = {
    "list": list_sessions,
    "search": search_sessions,
    "tree": print_tree,
    "context": print_context,
    "show": print_entry,
    "resume": resume,
}
