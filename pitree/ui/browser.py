"""The screen: three panes, and what flows between them."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.worker import Worker, WorkerState

from pitree.catalog.arrange import scopes_of
from pitree.catalog.locations import session_folders
from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.ui.bars import KeyBar, StatusBar, TitleBar
from pitree.ui.following import Following
from pitree.ui.keys import GLOBAL_KEYS, USUAL_KEYS, bindings
from pitree.ui.moving import Moving
from pitree.ui.opening import Opening
from pitree.ui.options import Options
from pitree.ui.panes.preview import Preview
from pitree.ui.panes.sessions import SessionsPane, Sources
from pitree.ui.panes.tree import TreePane
from pitree.ui.reading import Picture, Reading
from pitree.ui.remarks import liveness, remark_on, short_path
from pitree.ui.state import FoldStore, ViewStore
from pitree.ui.too_small import tell_of_size

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.catalog.rows import SessionRow
    from pitree.sessions.entries import Entry
    from pitree.sessions.file import SessionFile

WIDE: Final = 140
MIDDLE: Final = 90

# Loading what watches takes a while, too: the first picture comes before it.
_FOLLOWING_AFTER_SECONDS: Final = 0.5
_PATIENCE_SECONDS: Final = 2.0

_LEAST_SAID: Final = 38
"""Columns: with less room than this beside the position, what is said takes its place."""


class Browser(Following, Moving, Opening):
    """Sessions, Tree and Preview side by side, as many as fit."""

    AUTO_FOCUS = ""  # the focus is where `focus_pane` puts it

    BINDINGS: ClassVar[list[BindingType]] = bindings(GLOBAL_KEYS)

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.session: SessionFile | None = None
        self.session_path: Path | None = None
        """The session that is shown or being read."""
        self._focused: int = 1 if options.file else 0
        self._pinned = options.file
        self._doing = ""
        self._reading = ""
        self._told: tuple[str, bool] | None = None
        self._steps_since = 0
        self._store_is_read = False
        self._kept_for: Path | None = None
        """The session whose folds, filter, search and highlight the tree has."""
        self._landed: tuple[Path, str] | None = None
        """Which session and search the tree last went to the match of."""
        self.is_shown = False
        """Whether there was a first picture."""
        self.remark = ""
        """What the status line says besides the position; safe to print."""

    def compose(self) -> ComposeResult:
        """Lay out the bars and the panes."""
        options = self.options
        kept = ViewStore(options.state_dir)
        view = kept.load()
        scope = "everything" if options.everything else options.scope
        sources = Sources(
            scopes=scopes_of(options.store, options.cwd, options.file),
            open_finder=lambda: self.finder,
            keep_view=kept.save,
            clock=options.clock,
            view=view if scope is None else replace(view, scope=scope),
        )
        sessions, tree, preview = (
            SessionsPane(sources, id="sessions"),
            TreePane(id="tree"),
            Preview(id="preview"),
        )
        tree.following = options.following
        if options.keys is not USUAL_KEYS:
            from pitree.ui.rebinding import rebind

            rebind(self, sessions, tree, preview, options.keys)
        yield TitleBar(id="title")
        with Horizontal(id="panes"):
            yield sessions
            yield tree
            yield preview
        yield StatusBar(id="status")
        yield KeyBar(id="keys")

    @property
    def panes(self) -> tuple[SessionsPane, TreePane, Preview]:
        """The panes from left to right."""
        return self.query_one(SessionsPane), self.query_one(TreePane), self.query_one(Preview)

    def on_mount(self) -> None:
        """Start reading the store, and the session that was asked for."""
        sessions, tree, preview = self.panes
        sessions.border_title, tree.border_title, preview.border_title = "Sessions", "Tree", "Preview"
        for pane in self.panes:
            pane.before_key = self._key_came
        sessions.empty_page = self._empty_page()
        tree.fold_store = FoldStore(self.options.state_dir)
        self._arrange()
        if self._pinned is not None:
            sessions.want(self._pinned)
            # the store can wait: reading both at once would delay the tree
            if self.options.glimpse is not None:
                self._take_session(self.options.glimpse, None)
            self.session_path = self._pinned
        else:
            first = self.options.first_rows
            if first is not None and first.rows:
                sessions.add_rows(first.rows, first.exists)
            self.set_timer(_FOLLOWING_AFTER_SECONDS, self.start_following)
        if self.options.problems:
            self._say_problems(self.options.problems)
        self._show_status()
        self._show_title()

    def first_shown(self) -> None:
        """Begin with what would have taken its time from the first picture."""
        if self._pinned is not None:
            self._open(self._pinned, at_once=True)
        else:
            self._read_store()

    def _say_problems(self, problems: tuple[str, ...]) -> None:
        """Say what is wrong with the settings."""
        way = self.options.keys.way("help")
        more = f" ({len(problems) - 1} more: {way})" if len(problems) > 1 else f" ({way})"
        self.say(f"⚠ {problems[0]}{more}", warning=True)

    def _empty_page(self) -> list[str]:
        from pitree.agent.launch import AgentNotFoundError, find_pi

        store = self.options.store
        try:
            find_pi(self.options.pi, self.options.environ)
            start = ["Start one with: pi"]
        except AgentNotFoundError:
            start = [
                "Pi is not here either; get it with:",
                "npm install -g @earendil-works/pi-coding-agent",
            ]
        return [
            "No Pi sessions yet.",
            f"Looked in {one_line(str(store.root), 300)}",
            f"(from {one_line(store.source, 100)})",
            "",
            *start,
            "",
            "See pitree at work with: pitree --demo",
        ]

    # ---- panes and focus

    def on_resize(self, _event: events.Resize) -> None:
        """Show as many panes as fit."""
        self._arrange()

    def _arrange(self) -> None:
        """Show the panes that fit around the focused one, and put the focus there."""
        width = self.size.width
        if width >= WIDE:
            shown = {0, 1, 2}
        elif width >= MIDDLE:
            shown = {0, 1} if self._focused == 0 else {1, 2}
        else:
            shown = {self._focused}
        panes = self.panes
        # first the focus, then what goes: a hidden widget gives its focus to whatever comes next
        panes[self._focused].display = True
        self.set_focus(panes[self._focused], scroll_visible=False)  # `focus()` would do it after the next key
        for place, pane in enumerate(panes):
            pane.display = place in shown
            pane.set_class(place == self._focused, "-active")
        self.set_class(self.size.height < 12, "-low")
        tell_of_size(self)
        keys = self.options.keys
        self.query_one(KeyBar).show(keys.panes[self._focused] + keys.everywhere)
        self._show_status()

    def focus_pane(self, place: int) -> None:
        """Go to a pane: 0 Sessions, 1 Tree, 2 Preview."""
        self._hush()
        self._focused = place
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Follow a focus that the mouse moved."""
        if event.widget is not self.focused:
            return  # old news
        for place, pane in enumerate(self.panes):
            if event.widget is pane or pane in event.widget.ancestors:
                if place != self._focused:
                    self.focus_pane(place)
                return

    @property
    def pane_title(self) -> str:
        """What the focused pane is called."""
        return ("Sessions", "Tree", "Preview")[self._focused]

    def action_next_pane(self) -> None:
        """Go to the next pane."""
        self.focus_pane((self._focused + 1) % 3)

    def action_previous_pane(self) -> None:
        """Go to the previous pane."""
        self.focus_pane((self._focused - 1) % 3)

    def action_back(self) -> None:
        """Leave the search of the focused pane, else go one pane to the left."""
        pane = self.panes[self._focused]
        if pane.can_back_out:
            pane.action_clear_search()
        elif self._focused > 0:
            self.focus_pane(self._focused - 1)
        else:
            self.say(f"{self.options.keys.way('quit')} leaves pitree.")

    def on_row_list_activated(self, event: SessionsPane.Activated) -> None:
        """Enter: resume from Sessions, move the leaf from Tree."""
        event.stop()
        if isinstance(event.rows, SessionsPane):
            self.resume()
        else:
            self.ask_to_move()

    def action_help(self) -> None:
        """Show all keys."""
        from pitree.ui.dialogs.help import Help

        self.app.push_screen(Help(self.options.keys, self._focused, self.options.problems))

    # ---- reading

    def action_reload(self) -> None:
        """Read the store and the session again."""
        self._read_store()
        if self.session_path is not None:
            self._open(self.session_path)

    def on_reading_store_read(self, event: Reading.StoreRead) -> None:
        """Show what was found so far."""
        self._doing = f"reading {event.done}/{event.total}" if event.done < event.total else ""
        self.query_one(SessionsPane).add_rows(event.rows, event.folders)
        self._show_title()

    def on_reading_store_complete(self, event: Reading.StoreComplete) -> None:
        """Forget what is no longer there; say what could not be read."""
        self._doing = ""
        self.query_one(SessionsPane).drop_missing(event.locations)
        if event.problems and not self.said:  # such as how Pi ended
            first = event.problems[0]
            self.say(
                f"{len(event.problems)} not readable: " + one_line(f"{first.path}: {first.reason}", 300),
                warning=True,
            )
        self._show_title()

    def on_sessions_pane_scope_changed(self) -> None:
        """Read the folders that are wanted now."""
        self._read_store()
        self._show_title()

    def on_sessions_pane_session_highlighted(self, event: SessionsPane.SessionHighlighted) -> None:
        """Show the highlighted session's tree."""
        if event.by_person:
            self._hush()
            self._pinned = None
        elif self._pinned is not None and (event.row is None or event.row.path != self._pinned):
            return  # the list has not come to the session that was asked for
        if event.row is None:
            self._take_session(None, None)
        elif event.row.path != self.session_path:
            self._open(event.row.path)
        else:
            self.look_at_session()

    def _open(self, path: Path, *, at_once: bool = False) -> None:
        self.session_path = path
        self.load_session(path, at_once=at_once)

    def on_reading_progress(self, event: Reading.Progress) -> None:
        """Say how far the reading is."""
        self._reading = f"reading the session: {event.percent} %"
        self._show_title()

    def _read_store(self) -> None:
        self._store_is_read = True
        sessions = self.query_one(SessionsPane)
        self.read_store(everything=sessions.everything, nested=sessions.view.nested, pinned=self._pinned)

    def on_reading_session_loaded(self, event: Reading.SessionLoaded) -> None:
        """Show the session if it is still the one that is wanted."""
        only_the_end = event.session is not None and not event.session.complete
        if not self._store_is_read and not only_the_end:
            self._read_store()
            self.start_following()
        if event.path == self.session_path:
            shown = self.session
            if only_the_end and shown is not None and shown.path == event.path:
                return  # a reading anew: more of it is on the screen already
            self._reading = "reading the session" if only_the_end else ""
            self._take_session(event.session, event.problem, event.picture)
            self._show_title()

    def _take_session(
        self, session: SessionFile | None, problem: str | None, picture: Picture | None = None
    ) -> None:
        same = self._kept_for == self.session_path
        self._kept_for = self.session_path if session is not None or problem is not None else None
        self.session = session
        self.unreadable = self.session_path if problem else None
        if session is None and problem is None:
            self.session_path = None
        if picture is None and session is not None:
            picture = Picture.of(session, self.options.keys)
        tree = self.query_one(TreePane)
        tree.show(session, picture and picture.layout, keep=same, problem=problem)
        self.remark = one_line(problem, 600) if problem else picture.remark if picture else ""
        self._show_name()
        self._land()
        self._show_status()

    def _show_name(self) -> None:
        tree = self.query_one(TreePane)
        name = self.session.tree.name if self.session is not None else None
        tree.border_title = Content(f"Tree · {one_line(name, 200)}" if name else "Tree")
        self.ticked()

    # ---- following

    def session_grew(self, entries: list[Entry]) -> None:
        """Show what was appended to the session; without entries it was damage, or is not finished."""
        if entries:
            self.query_one(TreePane).grow(entries)
        self.remark = remark_on(self.session, self.options.keys)
        self._show_name()
        self._show_status()

    def session_is_gone(self) -> None:
        """Say that the file is no longer there; what was read of it stays on the screen."""
        self.remark = "the file is gone; this is what was read of it last"
        self._show_status()

    def ticked(self) -> None:
        """Show for how long the session has been quiet."""
        now = self.options.clock()
        self.query_one(TreePane).border_subtitle = liveness(self.session, now)
        self.query_one(SessionsPane).tick(now)

    def listed(self) -> dict[str, SessionRow]:
        """Return the sessions there are in the list, by location."""
        return self.query_one(SessionsPane).rows_by_location

    def listed_folders(self) -> list[str]:
        """Return the folders whose sessions are listed."""
        sessions = self.query_one(SessionsPane)
        cwd = None if sessions.everything else str(self.options.cwd)
        return session_folders(self.options.store, cwd, nested=sessions.view.nested)

    def on_following_store_changed(self, event: Following.StoreChanged) -> None:
        """Show what came, went or changed in the store."""
        event.stop()
        self.query_one(SessionsPane).change_rows(event.rows, event.exists, event.gone)

    async def show_new(self, path: Path) -> None:
        """Highlight a session that was not there a moment ago."""
        from pitree.catalog.errors import CacheLostError
        from pitree.catalog.sync import update_folders

        rows: list[SessionRow] = []

        def look() -> dict[str, bool]:
            with contextlib.suppress(CacheLostError, OSError):  # then it is found with the next look
                update_folders(
                    [], self.finder.cache, also=[path], on_rows=lambda found, *_: rows.extend(found)
                )
            return {row.cwd: self.options.is_folder(row.cwd) for row in rows if row.cwd}

        exists = await asyncio.to_thread(look)
        sessions = self.query_one(SessionsPane)
        sessions.change_rows(rows, exists, ())
        sessions.want(path)

    def on_following_unwatched(self, event: Following.Unwatched) -> None:
        """Say that changes are found by looking alone."""
        event.stop()
        if event.reason is not None:
            reason = one_line(event.reason, 200)
            self._say_in_time(f"changes are looked for, since no events come: {reason}")

    def _say_in_time(self, text: str) -> None:
        """Warn of something that can wait until nothing else is said."""
        if self.said:
            self.set_timer(_PATIENCE_SECONDS, partial(self._say_in_time, text))
        else:
            self.say(text, warning=True)

    def action_newest(self) -> None:
        """Highlight the newest message, wherever the leaf is."""
        from pitree.sessions.activity import newest_elsewhere

        if self.session is None:
            return
        wanted = newest_elsewhere(self.session) or self.session.tree.leaf_id
        if wanted is not None:
            self.query_one(TreePane).select(wanted)
        self.focus_pane(1)

    def on_tree_view_unkept(self, event: TreePane.Unkept) -> None:
        """Say what cannot be remembered."""
        self.say(event.reason, warning=True)

    def on_tree_pane_copy_wanted(self, event: TreePane.CopyWanted) -> None:
        """Copy an entry's text."""
        from pitree.sessions.plain import copy_text

        try:
            text = copy_text(event.session.body(event.entry))
        except (SessionError, OSError) as error:
            self.say(one_line(str(error), 300), warning=True)
            return
        if text:
            self.copy(text)
        else:
            self.say("This entry has no text to copy.")

    # ---- what the panes say

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say what broke in the background: the screen goes on, but not silently."""
        if event.state is WorkerState.ERROR:
            self.say(one_line(f"{event.worker.name}: {event.worker.error!r}", 300), warning=True)

    def on_tree_view_entry_highlighted(self, event: TreePane.EntryHighlighted) -> None:
        """Show the highlighted entry."""
        event.stop()
        if event.session is self.session:
            self.query_one(Preview).show(event.session, event.entry)
            self._show_status()

    def on_tree_view_changed(self) -> None:
        """Say the new filter or search."""
        self._show_status()

    def on_sessions_pane_hit_changed(self) -> None:
        """Go to where the search matches."""
        self._land()

    def _land(self) -> None:
        """Highlight the entry in which the search matches, once for each session and search."""
        sessions, session = self.query_one(SessionsPane), self.session
        row, hit = sessions.highlighted, sessions.hit
        if session is None or not session.complete or row is None or row.location != str(session.path):
            return
        place = (session.path, sessions.query_text)
        if hit is not None and place != self._landed:
            self._landed = place
            entry = next((entry for entry in session.entries if entry.offset == hit.offset), None)
            if entry is not None:
                self.query_one(TreePane).select(entry.id)

    def on_sessions_pane_unkept(self, event: SessionsPane.Unkept) -> None:
        """Say what cannot be remembered."""
        self.say(event.reason, warning=True)

    def on_sessions_pane_changed(self) -> None:
        """Say the new position."""
        self._show_status()
        self._show_title()

    def say(self, text: str, *, warning: bool = False) -> None:
        """Say something until somebody moves on; already safe."""
        self._told = (text, warning)
        self._steps_since = 0
        self._show_status()

    @property
    def said(self) -> str:
        """What was last said, until somebody moves on; else nothing."""
        return self._told[0] if self._told else ""

    def _hush(self) -> None:
        self._told = None

    def _key_came(self, event: events.Key) -> None:
        """Hush before a pane does something; one step through a list is not moving on yet."""
        if self._told is None:
            return
        self._steps_since += 1
        steps = {name for key in self.options.keys.lists for name in key.names}
        if self._steps_since > 1 or event.key not in steps:
            self._hush()
            self._show_status()

    def _show_status(self) -> None:
        sessions, tree, _ = self.panes
        position = sessions.status if self._focused == 0 else tree.status
        said, warning = self._told or (self.remark, bool(self.remark))
        if self._told is not None and self.size.width - cell_len(position) < _LEAST_SAID:
            position = ""  # it comes back with the next step
        self.query_one(StatusBar).show(position, said, warning=warning)

    def _show_title(self) -> None:
        scope = {
            "folder": one_line(short_path(str(self.options.cwd)), 200),
            "repository": f"the repository of {one_line(short_path(str(self.options.cwd)), 200)}",
            "everything": "all folders",
        }[self.query_one(SessionsPane).view.scope]
        demo = "demo: a throw-away copy  " if self.options.demo else ""
        demo += "read-only  " if self.options.read_only else ""
        doing = "  ".join(part for part in (self._doing, self._reading) if part)
        self.query_one(TitleBar).show(demo + scope, doing)
