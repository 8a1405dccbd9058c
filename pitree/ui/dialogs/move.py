"""The dialog for moving the leaf: what it means, what it costs, and the ways to do it."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

from textual import work
from textual.content import Content
from textual.widgets import OptionList

from pitree.sessions.context import blocks_of
from pitree.sessions.describe import describe_or_say
from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.moves import Figures, MovePlan, asks_anew, plan_move, weigh_move
from pitree.sessions.text import one_line
from pitree.ui.dialogs.framed import Framed, option


class Wish(NamedTuple):
    """What somebody wants: `kind` is go, resume, ask, model, outline, write, or sound.

    For sound, `sound_id` is the entry to go to instead.
    """

    kind: str
    plan: MovePlan
    sound_id: str | None = None


class _Way(NamedTuple):
    letter: str
    text: str
    kind: str
    before: bool


class MoveDialog(Framed[Wish | None]):
    """Tell of a move and ask how; the result is the wish, None for Esc. `warnings` must be safe."""

    WIDEST = 84

    def __init__(
        self, session: SessionFile, entry: Entry, warnings: Sequence[str] = (), *, before: bool | None = None
    ) -> None:
        what = describe_or_say(session, entry, entry.type)
        super().__init__("Move the leaf", about=one_line(str(what), 160))
        self._session = session
        self._entry = entry
        self._warnings = warnings
        anew = asks_anew(entry) if before is None else before
        self._plans = {way: plan_move(session.tree, entry, before=way) for way in (True, False)}
        self._ways = self._ways_for(anew=anew)
        self._figures: dict[bool, Figures | str] = {}
        self._stop = threading.Event()

    def _ways_for(self, *, anew: bool) -> list[_Way]:
        plan = self._plans[anew]
        ways: list[_Way] = []
        if anew:
            ways.append(_Way("e", "Edit it, and ask it again in Pi", "ask", before=True))
            if not plan.changes_nothing:
                ways.append(_Way("g", "Go before it", "go", before=True))
            if not self._plans[False].changes_nothing:
                ways.append(_Way("a", "Go after it", "go", before=False))
        else:
            if not plan.changes_nothing:
                ways.append(_Way("g", "Go there", "go", before=False))
            text = "Resume in Pi" if plan.changes_nothing else "Go there, and resume in Pi"
            ways.append(_Way("p", text, "resume", before=False))
        if plan.summary_span.entries and not plan.changes_nothing:
            where = "before it" if anew else "there"
            ways += [
                _Way("m", f"Go {where} with a summary that the model writes", "model", anew),
                _Way("o", "… with an outline, made without a model", "outline", anew),
                _Way("w", "… with a summary that you write", "write", anew),
            ]
        return ways

    @property
    def settled(self) -> bool:
        """Whether all figures are there."""
        return len(self._figures) == len({way.before for way in self._ways})

    @property
    def offered(self) -> list[tuple[str, str]]:
        """Return the letters and texts of the ways."""
        return [(way.letter, way.text) for way in self._ways]

    def on_mount(self) -> None:
        """Begin to weigh."""
        self._weigh()

    def on_unmount(self) -> None:
        """Let no reading go on for nobody."""
        self._stop.set()

    @work(thread=True, exit_on_error=False, group="weighing")
    def _weigh(self) -> None:
        for before in dict.fromkeys(way.before for way in self._ways):
            figures: Figures | str
            try:
                figures = weigh_move(self._session, self._plans[before], self._stop.is_set)
            except StoppedError:
                return
            except (SessionError, OSError) as error:
                figures = one_line(str(error), 300)
            if self._stop.is_set():
                return
            self.app.call_from_thread(self._take, before, figures)

    def _take(self, before: bool, figures: Figures | str) -> None:
        self._figures[before] = figures
        offered = any(way.kind == "sound" for way in self._ways)
        if isinstance(figures, Figures) and figures.sound_id is not None and not offered:
            sound = self._session.tree.get(figures.sound_id)
            if sound is not None:
                what = describe_or_say(self._session, sound, sound.type)
                way = _Way(
                    "n", one_line(f"Go to the nearest sound place instead: {what}", 70), "sound", before
                )
                self._ways.append(way)
                self.query_one(OptionList).add_option(option(way.letter, way.text))
        self.show_told()

    # ---- what is told

    def on_option_list_option_highlighted(self) -> None:
        """Tell of the highlighted way."""
        self.show_told()

    def told(self) -> Content:
        """Return what the highlighted way means."""
        way = self._ways[self.query_one(OptionList).highlighted or 0]
        plan = self._plans[way.before]
        parts: list[Content | str | tuple[str, str]] = [
            (plan.sentence + "\n", "bold"),
            f"{_left(plan)}\n",
        ]
        figures = self._figures.get(way.before)
        if figures is None:
            parts.append("Context now:   …\nContext then:  …")
        elif isinstance(figures, str):
            parts.append((f"⚠ The context cannot be worked out: {figures}", "$text-warning"))
        else:
            parts += [f"Context now:   {figures.now}\n", f"Context then:  {figures.then}"]
            parts += [(f"\n⚠ {told}", "$text-warning") for told in _open_ends(figures)]
        if way.kind == "ask" and self._has_images():
            parts.append(("\n⚠ Its images are not sent again.", "$text-warning"))
        parts += [(f"\n⚠ {warning}", "$text-warning") for warning in self._warnings]
        return Content.assemble(*parts)

    def _has_images(self) -> bool:
        try:
            body = self._session.body(self._entry)
        except (SessionError, OSError):
            return False
        message = body.get("message", body)
        content = message.get("content") if isinstance(message, dict) else None
        return any(block.get("type") == "image" for block in blocks_of(content))

    # ---- choosing

    def choose(self, place: int) -> None:
        """End with the wish for a way."""
        way = self._ways[place]
        figures = self._figures.get(way.before)
        sound = figures.sound_id if isinstance(figures, Figures) else None
        self.dismiss(Wish(way.kind, self._plans[way.before], sound))


def _left(plan: MovePlan) -> str:
    if not plan.left:
        return "Nothing is left behind."
    return "1 entry is left behind." if plan.left == 1 else f"{plan.left:,} entries are left behind."


def _open_ends(figures: Figures) -> list[str]:
    calls = figures.open_calls
    if not calls:
        return []
    name = one_line(calls[0].name, 40) or "a tool"
    more = f" (and {len(calls) - 1} more)" if len(calls) > 1 else ""
    return [f"The call of {name}{more} has no result there: an open end, which a model may refuse."]
