"""What changes sessions, on the screen: labels, names, forks, deleting, and undo."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from textual import work
from textual.geometry import Region

from pitree.sessions.errors import ChangedError, MigrationNeededError, SessionError
from pitree.sessions.text import display, one_line
from pitree.ui.dialogs.answer import Answer
from pitree.ui.following import Following
from pitree.ui.panes.sessions import SessionsPane
from pitree.ui.panes.tree import TreePane
from pitree.ui.resuming import Resuming
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.rows import SessionRow
    from pitree.changes import Changes, Done, Fork
    from pitree.journal import Deed
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile
    from pitree.ui.deed_words import Words

ASKING: Final = "asking"
"""The group of the workers that wait for a person's answers."""

_LISTED: Final = 8
_CLEARS: Final = "empty clears it"


class Outcome(Enum):
    """How writing ended."""

    DONE = auto()
    AGAIN = auto()
    LEFT = auto()


class Write(Protocol):
    """Does a change; `migrate` says whether an old file may be migrated for it."""

    def __call__(self, *, migrate: bool) -> Done: ...  # noqa: D102


class Changing(Resuming):
    """The part of the browser that changes sessions."""

    def __init__(self) -> None:
        super().__init__()
        self._made: Changes | None = None
        self._busy = False
        self._agreed_to: set[Path] = set()
        """The sessions that are changed although an agent seems to be at work on them."""

    def listed(self) -> Mapping[str, SessionRow]:
        """Return the sessions there are in the list, by location."""
        raise NotImplementedError

    async def show_new(self, path: Path) -> None:
        """Highlight a session that was not there a moment ago."""
        raise NotImplementedError

    def files_changed(self, *paths: Path) -> None:
        """Have looked at what was written, as at what others write: it is shown by following it."""
        self.post_message(Following.Changed(frozenset(paths)))

    @property
    def changes(self) -> Changes:
        """What changes the sessions of this store."""
        from pitree.changes import Changes
        from pitree.journal import Journal

        if self._made is None:
            options = self.options
            journal = Journal(options.state_dir)
            self._made = Changes(options.store, journal, read_only=options.read_only)
        return self._made

    def may_change(self) -> bool:
        """Whether a change can begin; else it is said why not."""
        if self.options.read_only:
            self.say("pitree was started with --read-only, so it changes nothing.", warning=True)
        return not self.options.read_only

    def chosen(self) -> tuple[SessionFile, Entry] | None:
        """Return the session that can be changed, and the highlighted entry; else it is said why not."""
        session, entry = self.session, self.query_one(TreePane).highlighted
        if not self.may_change():
            return None
        if session is None or entry is None:
            self.say("No entry is highlighted.")
        elif not session.complete:
            self.say("The session is still being read.")
        elif session.read_only:
            self.say(one_line(f"This session is not written to: {session.read_only}", 300), warning=True)
        else:
            return session, entry
        return None

    # ---- asking and writing

    async def choose(self, title: str, told: Sequence[str], answers: Sequence[Answer]) -> str | None:
        """Ask, and wait for the answer."""
        from pitree.ui.dialogs.choice import Choice

        return await self.app.push_screen_wait(Choice(title, told, answers))

    def running_warning(self, session: SessionFile) -> str | None:
        """Return what to warn of where an agent seems to be at work on a session, safe; else None."""
        from pitree.agent.running import being_written
        from pitree.sessions.activity import last_activity

        reason = being_written(session.cwd, last_activity(session), clock=self.options.clock)
        if reason is None:
            return None
        return f"Is Pi at work? {reason[0].upper()}{reason[1:]}. It sees this only after a restart."

    async def agreed(self, session: SessionFile) -> bool:
        """Warn of an agent at work, once for each session, and return whether to go on."""
        warning = await asyncio.to_thread(self.running_warning, session)
        if warning is None or session.path in self._agreed_to:
            return True
        answers = [Answer("w", "Write it all the same", "write"), Answer("l", "Leave it", "")]
        if await self.choose("Pi may be at work on this session", [warning], answers) != "write":
            return False
        self._agreed_to.add(session.path)
        return True

    async def write(self, write: Write) -> Outcome:
        """Make a change beside the screen, and show what came of it; ask where it cannot be made so."""
        migrate = False
        while True:
            try:
                done = await asyncio.to_thread(write, migrate=migrate)
            except MigrationNeededError as error:
                if not await self._may_migrate(str(error)):
                    return Outcome.LEFT
                migrate = True
            except ChangedError as error:
                answers = [Answer("a", "Look again", "again"), Answer("l", "Leave it", "")]
                return await self._ask_again("The session has changed", str(error), answers)
            except (SessionError, OSError) as error:
                answers = [Answer("a", "Try again", "again"), Answer("l", "Leave it", "")]
                return await self._ask_again("This could not be written", str(error), answers)
            else:
                self._show_done(done)
                return Outcome.DONE

    async def _ask_again(self, title: str, told: str, answers: Sequence[Answer]) -> Outcome:
        answer = await self.choose(title, [display(told)], answers)
        return Outcome.AGAIN if answer == "again" else Outcome.LEFT

    async def _may_migrate(self, told: str) -> bool:
        return (
            await self.choose(
                "The file is of an old version",
                [
                    display(told) + ".",
                    "",
                    "Pi does the same when it opens it. The old file goes to the trash.",
                ],
                [Answer("m", "Migrate it, and go on", "migrate"), Answer("l", "Leave it", "")],
            )
            == "migrate"
        )

    def _show_done(self, done: Done, told: str = "") -> None:
        """Say what was done, in other words where there are; they must be safe."""
        self.files_changed(done.path)
        told = told or one_line(done.text, 400)
        if done.deed is not None and done.deed.undoes is None:
            told = self._undoes(told)
        if done.problem:
            told += f" ({one_line(done.problem, 300)})"
        self.say(told, warning=bool(done.problem))

    def _undoes(self, told: str) -> str:
        """Return what was done, after the way to undo it: that is not to be cut off."""
        return f"{self.options.keys.way('undo')} undoes this: {told}"

    def _begin(self) -> bool:
        """Return whether a change can begin now: one after the other."""
        if self._busy:
            return False
        self._busy = True
        return True

    # ---- labels and names

    def action_edit_label(self) -> None:
        """Label the highlighted entry."""
        chosen = self.chosen()
        if chosen is not None and self._begin():
            self._edit_label(*chosen)

    @work(exit_on_error=False, group=ASKING)
    async def _edit_label(self, session: SessionFile, entry: Entry) -> None:
        try:
            typed: str | None = None
            while True:
                was = session.tree.label(entry.id)
                at = self._place_of_row(self.query_one(TreePane))
                typed = await self._typed("label", was if typed is None else typed, note=_CLEARS, at=at)
                if typed is None or not await self.agreed(session):
                    return
                change = partial(self.changes.label, session.path, entry.id, typed, was, known=session)
                if await self.write(change) is not Outcome.AGAIN:
                    return
                session = await self._read_anew(session)
        finally:
            self._busy = False

    def action_rename(self) -> None:
        """Name the highlighted session."""
        path = self.session_path
        if not self.may_change():
            return
        if path is None or self.session is None or not self.session.complete:
            self.say("No session is highlighted, or it is still being read.")
        elif self.session.read_only:
            self.say(one_line(f"This session is not written to: {self.session.read_only}", 300), warning=True)
        elif self._begin():
            self._rename(self.session)

    @work(exit_on_error=False, group=ASKING)
    async def _rename(self, session: SessionFile) -> None:
        try:
            typed: str | None = None
            while True:
                was = session.tree.name
                pane = self.query_one(SessionsPane)
                at = self._place_of_row(pane) if pane.display else None
                typed = await self._typed("name", was if typed is None else typed, note=_CLEARS, at=at)
                if typed is None or not await self.agreed(session):
                    return
                change = partial(self.changes.name, session.path, typed, was, known=session)
                if await self.write(change) is not Outcome.AGAIN:
                    return
                session = await self._read_anew(session)
        finally:
            self._busy = False

    async def _typed(
        self, what: str, text: str | None, *, hint: str = "", note: str = "", at: Region | None = None
    ) -> str | None:
        from pitree.ui.dialogs.typing import LineEdit

        return await self.app.push_screen_wait(LineEdit(what, text or "", hint=hint, note=note, at=at))

    @staticmethod
    def _place_of_row(pane: SessionsPane | TreePane) -> Region:
        region = pane.content_region
        """Return the line below the highlighted row, which stays readable; at the bottom the one above."""
        line = min(max(0, pane.cursor - int(pane.scroll_offset.y)), max(0, region.height - 1))
        line = line + 1 if line + 1 < region.height else max(0, line - 1)
        return Region(region.x, region.y + line, region.width, 1)

    async def _read_anew(self, session: SessionFile) -> SessionFile:
        """Return the session as it is now; as it was, where that cannot be read."""
        from pitree.sessions.file import SessionFile

        try:
            return await asyncio.to_thread(SessionFile.load, session.path)
        except (SessionError, OSError):
            return session

    # ---- forks

    def action_fork(self) -> None:
        """Fork a new session off at the highlighted entry."""
        session, entry = self.session, self.query_one(TreePane).highlighted
        if session is None or entry is None or not session.complete:
            self.say("No entry is highlighted, or the session is still being read.")
        elif self.may_change() and self._begin():
            self._fork_at(session, entry)

    def action_duplicate(self) -> None:
        """Copy the active branch into a new session."""
        if self.session_path is None:
            self.say("No session is highlighted.")
        elif self.may_change() and self._begin():
            self._write_fork(partial(self.changes.fork, self.session_path))

    @work(exit_on_error=False, group=ASKING)
    async def _fork_at(self, session: SessionFile, entry: Entry) -> None:
        from pitree.sessions.describe import describe_or_say

        own, here = session.cwd, str(self.options.cwd)
        answers = [Answer("s", one_line(f"For the session's own folder: {own}", 200), "own")]
        if own != here:
            answers.append(Answer("h", one_line(f"For this folder: {here}", 200), "here"))
        answers.append(Answer("o", "For another folder …", "other"))
        told = [
            one_line(str(describe_or_say(session, entry, entry.type)), 160),
            "",
            "The new session holds all from the beginning up to here; this one stays as it is.",
        ]
        try:
            answer = await self.choose("Fork a new session", told, answers)
            folder: Path | None = None
            if answer == "here":
                folder = self.options.cwd
            elif answer == "other":
                folder = await self._another_folder()
            if answer and (answer == "own" or folder is not None):
                await self._forked(partial(self.changes.fork, session.path, entry.id, folder))
        finally:
            self._busy = False

    async def _another_folder(self) -> Path | None:
        typed: str | None = f"{self.options.cwd}/"
        while True:
            typed = await self._typed("for the folder", typed, hint="a folder")
            if typed is None:
                return None
            folder = await asyncio.to_thread(_folder, typed)
            if folder is not None:
                return folder
            self.say(one_line(f"{typed} is no folder; give the whole path of one", 300), warning=True)

    @work(exit_on_error=False, group=ASKING)
    async def _write_fork(self, fork: Callable[[], Done]) -> None:
        try:
            await self._forked(fork)
        finally:
            self._busy = False

    async def _forked(self, fork: Callable[[], Done]) -> None:
        made: list[Path] = []

        def write(*, migrate: bool) -> Done:
            del migrate  # what is forked stays as it is
            done = fork()
            made.append(done.path)
            return done

        while await self.write(write) is Outcome.AGAIN:
            pass
        if made:
            await self.show_new(made[-1])

    # ---- deleting

    def action_delete(self) -> None:
        """Put the highlighted session, or the marked ones, into the trash."""
        rows = self.rows_to_delete()
        if not rows:
            self.say("No session is highlighted.")
        elif self.may_change() and self._begin():
            self._delete(rows)

    def rows_to_delete(self) -> list[SessionRow]:
        """Return the marked sessions, or the highlighted one."""
        sessions = self.query_one(SessionsPane)
        row = sessions.highlighted
        return sessions.marked or ([] if row is None else [row])

    @work(exit_on_error=False, group=ASKING, description=UNDESCRIBED)
    async def _delete(self, rows: Sequence[SessionRow]) -> None:
        try:
            paths = [row.path for row in rows]
            try:
                for path in paths:
                    await asyncio.to_thread(self.changes.check_deletable, path)
                forks = await asyncio.to_thread(self.changes.forks_of, paths)
            except (SessionError, OSError) as error:
                self.say(one_line(str(error), 400), warning=True)
                return
            told = await asyncio.to_thread(self._about, rows, forks)
            what = "this session" if len(rows) == 1 else f"{len(rows)} sessions"
            answers = [Answer("y", "Into the trash", "yes"), Answer("n", "Leave it", "")]
            if len(rows) > 1:  # an Enter too many is not to delete what is not even in sight
                answers = [Answer("n", "Leave them", ""), answers[0]]
            if await self.choose(f"Delete {what}?", told, answers) != "yes":
                return
            await self._delete_agreed(rows)
        finally:
            self._busy = False

    async def _delete_agreed(self, rows: Sequence[SessionRow]) -> None:
        from pitree import trash
        from pitree.ui.documents.values import plural

        gone: list[str] = []
        problem = ""
        for row in rows:
            try:
                done = await asyncio.to_thread(self.changes.delete, row.path, row.title)
                problem = problem or done.problem or ""
            except trash.TrashError as error:
                if not await self._for_good(str(error)):
                    continue
                try:
                    await asyncio.to_thread(self.changes.delete_for_good, row.path)
                except (SessionError, OSError) as failure:
                    problem = str(failure)
                    continue
            except (SessionError, OSError) as error:
                problem = str(error)
                continue
            gone.append(row.title)
        if gone:
            self.files_changed(*(row.path for row in rows))
            what = gone[0] if len(gone) == 1 else plural(len(gone), "session")
            told = self._undoes(f"deleted {what}")
        else:
            told = "Nothing was deleted."
        self.say(one_line(problem or told, 400), warning=bool(problem))

    async def _for_good(self, told: str) -> bool:
        answers = [
            Answer("l", "Leave it where it is", ""),
            Answer("r", "Remove it for good: nothing brings it back", "remove"),
        ]
        return await self.choose("It cannot be put into the trash", [display(told)], answers) == "remove"

    def _about(self, rows: Sequence[SessionRow], forks: dict[Path, list[Fork]]) -> list[str]:
        """Return what is to be told before sessions are deleted, safe to print."""
        from pitree.agent.running import being_written
        from pitree.ui.documents.values import plural

        told: list[str] = []
        for row in rows[:_LISTED]:
            told.append(one_line(row.title, 120))
            told.append(f"  {plural(row.message_count, 'message')}, {row.size:,} bytes")
            lost = len(forks.get(row.path, ()))
            if lost:
                told.append(f"  {plural(lost, 'session')} forked from it will stand alone")
            reason = being_written(row.cwd, row.modified, clock=self.options.clock)
            if reason:
                told.append(f"  ⚠ {reason}: it would write to a file that is not there any more")
        if len(rows) > _LISTED:
            told.append(f"… and {len(rows) - _LISTED} more")
        return told

    # ---- undo

    def action_undo(self) -> None:
        """Take back what was changed last."""
        if self.may_change() and self._begin():
            self._undo(None)

    def action_undo_list(self) -> None:
        """Choose from what was changed what to take back."""
        if self.may_change() and self._begin():
            self._undo_chosen()

    @work(exit_on_error=False, group=ASKING)
    async def _undo(self, deed: Deed | None) -> None:
        try:
            deeds = await asyncio.to_thread(self.changes.undoable)
            if deed is None and not deeds:
                self.say("There is nothing to undo.")
                return
            await self._take_back(deed or deeds[0])
        finally:
            self._busy = False

    @work(exit_on_error=False, group=ASKING)
    async def _undo_chosen(self) -> None:
        from pitree.ui.dialogs.deeds import Deeds

        try:
            deeds = await asyncio.to_thread(self.changes.undoable)
            if not deeds:
                self.say("There is nothing to undo.")
                return
            words = self._words()
            deed = await self.app.push_screen_wait(Deeds(deeds, words.did))
            if deed is not None:
                await self._take_back(deed)
        finally:
            self._busy = False

    def _words(self) -> Words:
        from pitree.ui.deed_words import Words

        return Words(self.listed(), self.session)

    async def _take_back(self, deed: Deed) -> None:
        words = self._words()
        try:
            done = await asyncio.to_thread(self.changes.undo, deed)
        except (SessionError, OSError) as error:
            way = self.options.keys.way("undo-list")
            told = f"{way} lists what else can be undone. Not undone: {words.did(deed)}: {error}."
            self.say(one_line(told, 500), warning=True)
            return
        self._show_done(done, words.undone(deed))
        if deed.kind == "delete":
            await self.show_new(done.path)


def _folder(typed: str) -> Path | None:
    """Return the folder of that whole path, or None."""
    try:
        folder = Path(typed).expanduser()
        return folder if folder.is_absolute() and folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None
