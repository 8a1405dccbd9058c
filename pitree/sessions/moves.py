"""Planning a move of the leaf: what will happen, in words and in figures, before anything is written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from pitree.sessions.branching import Span, abandoned_span
from pitree.sessions.context import FAILED, OpenCall, Session, SessionContext, build_session_context
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.file import StoppedError
from pitree.sessions.plain import copy_text
from pitree.sessions.rows import NOTES
from pitree.sessions.tokens import context_tokens
from pitree.sessions.tree import Tree

Stop = Callable[[], bool]

# A call's results follow it closely; a fork below it is looked through only so far.
_MAX_RESULTS: Final = 200


class State(NamedTuple):
    """What a plan was made from: where that has changed, the plan no longer holds."""

    leaf_id: str | None
    lines: int
    """How many entries the file has, repeated ids included."""

    @classmethod
    def of(cls, tree: Tree) -> "State":
        """Return the state of a session."""
        return cls(tree.leaf_id, len(tree.entries) + len(tree.superseded))


class ContextSize(NamedTuple):
    """How large a context is; `estimated` are the tokens that no model has counted."""

    messages: int
    tokens: int
    estimated: int

    def __str__(self) -> str:
        messages = "1 message" if self.messages == 1 else f"{self.messages:,} messages"
        return f"{messages}, {'~' if self.estimated else ''}{self.tokens:,} tokens"


@dataclass(frozen=True, slots=True)
class MovePlan:
    """A move of the leaf to `target_id` (None: before the first entry), as it looks from `state`.

    `chosen_id` is the entry that was pointed at; with `before`, the target is its parent. `span` is what is
    left behind; a summary is of `summary_span`, which as in Pi ends at the chosen entry, and so does without
    what is asked anew.
    """

    chosen_id: str
    before: bool
    target_id: str | None
    sentence: str
    state: State
    span: Span
    summary_span: Span

    @property
    def changes_nothing(self) -> bool:
        """Whether the leaf is there already."""
        return self.target_id == self.state.leaf_id

    @property
    def left(self) -> int:
        """How many entries are left behind, but for those that say nothing to the model, such as labels."""
        return sum(entry.type not in NOTES for entry in self.span.entries)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a move makes of the context: its size `now` and `then`.

    `open_calls` are tool calls at the target that have no result; `sound_id` is the nearest entry without
    any, None where that is before the first entry or where the target itself is sound.
    """

    now: ContextSize
    then: ContextSize
    open_calls: tuple[OpenCall, ...]
    sound_id: str | None


class Stoppable:
    """A session whose reading ends with StoppedError as soon as `stop` says so."""

    def __init__(self, session: Session, stop: Stop | None) -> None:
        self._session = session
        self._stop = stop

    @property
    def tree(self) -> Tree:
        """The session's tree."""
        return self._session.tree

    def body(self, entry: Entry) -> JsonObject:
        """Return an entry's object."""
        if self._stop is not None and self._stop():
            raise StoppedError("planning was stopped")
        return self._session.body(entry)


def asks_anew(entry: Entry) -> bool:
    """Return whether moving to an entry means, as in Pi, to go before it and say it anew."""
    return entry.role == "user" or entry.type == "custom_message"


def plan_move(tree: Tree, entry: Entry, *, before: bool | None = None) -> MovePlan:
    """Return the plan of a move to `entry` or, with `before`, to its parent. Reads no bodies.

    Where `before` is None, it is as in Pi: before user messages and extensions' messages, to anything else.
    """
    before = asks_anew(entry) if before is None else before
    target_id = _parent_id(tree, entry) if before else entry.id
    state = State.of(tree)
    return MovePlan(
        chosen_id=entry.id,
        before=before,
        target_id=target_id,
        sentence=sentence(entry, target_id, before=before, leaf_id=state.leaf_id),
        state=state,
        span=abandoned_span(tree, state.leaf_id, target_id),
        summary_span=abandoned_span(tree, state.leaf_id, entry.id),
    )


def weigh_move(session: Session, plan: MovePlan, stop: Stop | None = None) -> Figures:
    """Return what a move makes of the context. Reads the bodies of both contexts.

    Raises StoppedError, and what `session.body` raises.
    """
    reader = Stoppable(session, stop)
    then = build_session_context(reader, plan.target_id)
    calls = tuple(then.open_calls)
    return Figures(
        now=_size(build_session_context(reader, plan.state.leaf_id)),
        then=_size(then),
        open_calls=calls,
        sound_id=nearest_sound(session.tree, plan.target_id)
        if calls and plan.target_id is not None
        else None,
    )


def prompt_of(session: Session, entry: Entry) -> str:
    """Return the text of a message that is asked anew. Raises what `session.body` raises."""
    return copy_text(session.body(entry))


def _size(context: SessionContext) -> ContextSize:
    tokens = context_tokens(context)
    return ContextSize(len(context.messages), tokens.total, tokens.estimated)


def _parent_id(tree: Tree, entry: Entry) -> str | None:
    """Return the parent as the tree has it: a missing one is none."""
    path = tree.path(entry.id)
    return path[-2].id if len(path) > 1 else None


_AFTER: Final = {
    "user": "this message, as if it had just been sent",
    "assistant": "this reply",
    "toolResult": "this tool result",
    "bashExecution": "this command",
}
_AFTER_TYPE: Final = {
    "compaction": "this compaction",
    "branch_summary": "this summary",
    "custom_message": "this message of an extension",
    "label": "this label",
    "session_info": "this name",
    "model_change": "this change of model",
    "thinking_level_change": "this change of thinking level",
}


def sentence(entry: Entry, target_id: str | None, *, before: bool, leaf_id: str | None) -> str:
    """Return what a move means, in one plain sentence."""
    if target_id == leaf_id:
        return "The conversation goes on from here already."
    if before:
        if entry.role == "user":
            what = "Ask this again differently"
        elif entry.type == "custom_message":
            what = "Go on before this message of an extension"
        else:
            what = "Go on before this entry"
        return f"{what}, with nothing before it." if target_id is None else f"{what}."
    return f"Continue after {_AFTER.get(entry.role) or _AFTER_TYPE.get(entry.type, 'this entry')}."


def nearest_sound(tree: Tree, entry_id: str) -> str | None:
    """Return the entry nearest to one at which no tool call waits for its result.

    Below it, where the results are there, else above it; None is before the first entry. Goes by the links
    alone, so what compactions and context edits leave out is counted all the same.
    """
    path = tree.path(entry_id)
    waiting: set[str] = set()
    sound: str | None = None
    for entry in path:
        _note_calls(entry, waiting)
        if not waiting:
            sound = entry.id
    if not path or not waiting:
        return sound
    position = tree.position(entry_id)
    for _ in range(_MAX_RESULTS):
        following = None if position is None else _next_result(tree, position, waiting)
        if following is None:
            return sound
        position = following
        _note_calls(tree.entries[position], waiting)
        if not waiting:
            return tree.entries[position].id
    return sound


def _note_calls(entry: Entry, waiting: set[str]) -> None:
    if entry.type == "compaction":
        waiting.clear()
    elif entry.role == "assistant" and entry.stop_reason not in FAILED:
        waiting.update(entry.calls)
    elif entry.role == "toolResult":
        waiting.difference_update(entry.calls)


def _next_result(tree: Tree, position: int, waiting: set[str]) -> int | None:
    for child in tree.children(position):
        entry = tree.entries[child]
        if entry.role == "toolResult" and waiting.intersection(entry.calls):
            return child
    return None
