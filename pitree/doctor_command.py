"""The command that says what is wrong with session files, and writes a repaired copy of one."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pitree.agent.running import being_written
from pitree.catalog.errors import SessionNotFoundError
from pitree.catalog.locations import Problem, Store, session_paths
from pitree.catalog.resolve import resolve_session
from pitree.output import CommandError, warn, write_json, write_line
from pitree.place import Place
from pitree.sessions.activity import last_activity
from pitree.sessions.checkup import damage, examine
from pitree.sessions.entries import JsonObject
from pitree.sessions.examined import Examined
from pitree.sessions.findings import KINDS, Finding, Severity, severity_of
from pitree.sessions.repair import Repaired, repair

# So many findings of a kind are printed of one file; the JSON has all.
_SHOWN: Final[dict[Severity, int]] = {"damage": 20, "remark": 3}
_COUNTED_EACH: Final = 20

HELP: Final = """\
Say what is wrong with session files, by line and byte, and change nothing.

Damage is what is lost, hidden from Pi, or makes it stumble; --repair writes a copy without it, and the lines
that are otherwise there to OUT.rejected, as they were. A remark is worth knowing, but no copy could mend it;
for the sessions in a folder, remarks are printed only with --strict.
The exit code is 0 without damage, 1 with some (with --strict: or a remark), 2 after a wrong call; with
--repair it is 0 once the copy is there."""

EPILOG: Final = "kinds of damage, and of remarks:\n" + "\n".join(
    f"  {kind:<20} {'' if severity_of(kind) == 'damage' else '(remark) '}{meaning}"
    for kind, meaning in KINDS.items()
)


def add_arguments(parser: ArgumentParser) -> None:
    """Tell the parser what the command takes."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE|DIR",
        help="a session, or a folder with all sessions below it (default: the store)",
    )
    parser.add_argument(
        "--repair",
        metavar="OUT",
        help="write a repaired copy of FILE to OUT, which must not be there; FILE stays as it is",
    )
    parser.add_argument("--strict", action="store_true", help="count remarks as findings, too")


def check_sessions(args: Namespace, place: Place) -> int:
    """Say what is wrong with session files, and return the exit code."""
    if "" in (*args.files, args.repair):
        warn("an empty name names no file; see `pitree doctor --help`")
        return 2
    if args.repair is not None:
        if len(args.files) != 1:
            warn("--repair takes one FILE; see `pitree doctor --help`")
            return 2
        if os.path.isdir(place.cwd / args.files[0]):  # noqa: PTH112 - Path.is_dir raises for some names
            warn(f"--repair takes one FILE, and {args.files[0]} is a folder")
            return 2
        return _repair(args, place)
    documents: list[JsonObject] = []
    progress = _Progress()
    damaged = remarked = files = 0
    for path, found, named in _checked(args.files, place, progress):
        files += 1
        bad = bool(damage(found))
        damaged += bad
        remarked += bool(found) and not bad
        if args.json:
            documents.append(_json(path, found, ok=not (found if args.strict else bad)))
        elif bad or (found and (named or args.strict)):
            progress.clear()
            _print(path, found, with_remarks=named or args.strict)
    progress.clear()
    if args.json:
        write_json(documents)
    elif files:
        write_line(_summary(files, damaged, remarked))
    else:
        where = ", ".join(args.files) or place.store.root
        warn(f"no session files; looked in {where}")
    return 1 if damaged or (args.strict and remarked) else 0


def _summary(files: int, damaged: int, remarked: int) -> str:
    checked = "1 file" if files == 1 else f"{files:,} files"
    result = f"{damaged:,} damaged" if damaged else "no damage"
    if not remarked:
        return f"{checked}: {result}"
    return f"{checked}: {result}; remarks on {remarked:,}{' others' if damaged else ''}"


# ---- which files


def _checked(
    names: list[str], place: Place, progress: "_Progress"
) -> Iterator[tuple[Path, list[Finding], bool]]:
    """Yield every file that was named or found, with its findings, and whether it was named."""
    problems: list[Problem] = []
    paths: list[tuple[Path, bool]] = []
    if not names:
        paths += _below(place.store, problems)
    for name in names:
        path = Path(os.path.abspath(place.cwd / os.path.expanduser(name)))  # noqa: PTH100, PTH111 - links stay
        if os.path.isdir(path):  # noqa: PTH112
            paths += _below(Store(path, flat=True, source=name), problems)
            continue
        try:
            paths.append((resolve_session(name, place.store, place.cwd), True))
        except SessionNotFoundError as error:
            yield path, [Finding("unreadable", 1, 0, str(error))], True
    for done, (path, named) in enumerate(paths):
        progress.tell(done, len(paths))
        yield path, examine(path, is_live=_is_live), named
    for path, reason in dict.fromkeys(problems):  # a folder is looked at for folders, and for files
        if path.suffix != ".jsonl" and not os.path.isdir(path):  # noqa: PTH112
            continue
        yield path, [Finding("unreadable", 1, 0, f"{path} cannot be read: {reason}")], False


def _below(store: Store, problems: list[Problem]) -> list[tuple[Path, bool]]:
    return sorted((file.path, False) for file in session_paths(store, nested=True, problems=problems))


def _is_live(session: Examined) -> bool:
    return being_written(session.cwd, last_activity(session)) is not None


class _Progress:
    """How far the work is, on a terminal and only there."""

    def __init__(self) -> None:
        self._shows = sys.stderr is not None and sys.stderr.isatty()
        self._shown = False

    def tell(self, done: int, total: int) -> None:
        """Say it now and then, in place of what was said last."""
        if self._shows and total > _COUNTED_EACH and done % _COUNTED_EACH == 0:
            self._write(f"\r{done:,} of {total:,} files")
            self._shown = True

    def clear(self) -> None:
        """Take away what was said."""
        if self._shown:
            self._write(f"\r{' ' * 40}\r")
            self._shown = False

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


# ---- what is printed


def _print(path: Path, found: list[Finding], *, with_remarks: bool) -> None:
    write_line(str(path))
    remarks = len(found)
    if not with_remarks:
        found = damage(found)
    remarks -= len(found)
    shown: dict[str, int] = {}
    for finding in found:
        shown[finding.kind] = shown.get(finding.kind, 0) + 1
        if shown[finding.kind] <= _SHOWN[finding.severity]:
            mark = "⚠" if finding.severity == "damage" else "·"
            where = f"line {finding.line}, byte {finding.offset}"
            write_line(f"  {mark} {where}: {finding.kind}: {finding.detail}")
    for kind, count in shown.items():
        more = count - _SHOWN[severity_of(kind)]
        if more > 0:
            write_line(f"  … and {more:,} more of {kind}; --json has them all")
    if remarks:
        write_line(f"  … and {'a remark' if remarks == 1 else f'{remarks:,} remarks'}; --strict prints them")


def _json(path: Path, found: list[Finding], *, ok: bool) -> JsonObject:
    return {
        "path": os.fsdecode(path),
        "ok": ok,
        "findings": [
            {
                "kind": finding.kind,
                "severity": finding.severity,
                "line": finding.line,
                "offset": finding.offset,
                "detail": finding.detail,
            }
            | ({"entryId": finding.entry_id} if finding.entry_id is not None else {})
            for finding in found
        ],
    }


# ---- the repaired copy


def _repair(args: Namespace, place: Place) -> int:
    path = resolve_session(args.files[0], place.store, place.cwd)
    out = Path(os.path.abspath(place.cwd / os.path.expanduser(args.repair)))  # noqa: PTH100, PTH111
    try:
        done = repair(path, out)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}") from None
    if args.json:
        write_json([_json(path, done.found, ok=not damage(done.found)) | {"repair": _repair_json(done)}])
    else:
        _print_repair(path, done)
    if done.grown:
        warn(f"{path} has changed meanwhile; the copy has what was in it before")
    for finding in done.left:
        warn(f"{out} still has damage, line {finding.line}: {finding.detail}")
    return 1 if done.left else 0


def _repair_json(done: Repaired) -> JsonObject:
    return {
        "out": os.fsdecode(done.out),
        "rejected": None if done.rejected is None else os.fsdecode(done.rejected),
        "entries": done.entries,
        "deeds": [{"line": deed.line, "offset": deed.offset, "detail": deed.detail} for deed in done.deeds],
    }


def _print_repair(path: Path, done: Repaired) -> None:
    for deed in done.deeds:
        write_line(f"line {deed.line}, byte {deed.offset}: {deed.detail}")
    entries = "1 entry" if done.entries == 1 else f"{done.entries:,} entries"
    if not done.deeds:
        write_line(f"no damage: {done.out} is the same to the byte, {entries}")
        return
    write_line(f"{done.out} has {entries} and no damage; {path} is as it was")
    if done.rejected is not None:
        write_line(f"the lines that it does not have as they were are in {done.rejected}")
