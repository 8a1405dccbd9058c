"""Moving the leaf on the screen: the dialog, the words that go with it, the write, and on into Pi."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from textual import work

from pitree.sessions.errors import SessionError
from pitree.sessions.text import display, one_line
from pitree.ui.changing import ASKING, Changing, Outcome
from pitree.ui.dialogs.answer import Answer

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent import summary as model
    from pitree.sessions.appending import Summary
    from pitree.sessions.branching import FileLists, Span
    from pitree.sessions.entries import Entry, JsonObject
    from pitree.sessions.file import SessionFile
    from pitree.sessions.moves import MovePlan
    from pitree.ui.dialogs.move import Wish

# Bytes. The system hands a program no longer argument than 128 KiB.
_MAX_PROMPT = 120_000


class _Words(msgspec.Struct):
    """What was typed so far, so that no way out of a dialog loses it."""

    prompt: str | None = None
    summary: Summary | None = None


class Moving(Changing):
    """The part of the browser that moves the leaf."""

    def ask_to_move(self) -> None:
        """Ask how to move the leaf to the highlighted entry."""
        chosen = self.chosen()
        if chosen is not None and self._begin():
            self._move(*chosen)

    @work(exit_on_error=False, group=ASKING)
    async def _move(self, session: SessionFile, entry: Entry) -> None:
        try:
            await self._ask_and_move(session, entry)
        except (SessionError, OSError) as error:
            self.say(one_line(str(error), 400), warning=True)
        finally:
            self._busy = False

    async def _ask_and_move(self, session: SessionFile, entry: Entry) -> None:
        from pitree.ui.dialogs.move import MoveDialog

        words = _Words()
        before: bool | None = None
        while True:
            warnings = await asyncio.to_thread(self._warnings, session)
            wish = await self.app.push_screen_wait(MoveDialog(session, entry, warnings, before=before))
            if wish is None:
                return
            if wish.kind == "sound":
                sound = session.tree.get(wish.sound_id)
                entry, before = sound or entry, False
                continue
            into_pi = wish.kind in {"ask", "resume"}
            # first without a word typed in vain; then once more, since typing takes its time
            writes = into_pi and not (wish.kind == "resume" and wish.plan.changes_nothing)
            with_pi = not writes or await self._pi_is_there(wish.plan, words)
            if with_pi and wish.kind == "ask":
                if not await self._edit_prompt(session, entry, words):
                    continue
                with_pi = await self._pi_is_there(wish.plan, words)
            if with_pi is None:
                continue
            if wish.kind in {"model", "outline", "write"} and not await self._edit_summary(
                session, wish, words
            ):
                continue
            outcome = await self._write_move(session, wish, words)
            if outcome is Outcome.LEFT:
                return
            if outcome is Outcome.DONE:
                prompt = (words.prompt or "").strip() or None if wish.kind == "ask" else None
                if into_pi and with_pi:
                    self.resume(prompt)
                elif prompt:
                    self.copy(prompt)
                return
            session = await self._read_anew(session)
            self.files_changed(session.path)
            found = session.tree.get(entry.id)
            if found is None:
                self.say("That entry is no longer in the session.", warning=True)
                return
            entry = found

    async def _pi_is_there(self, plan: MovePlan, words: _Words) -> bool | None:
        """Look for Pi before anything is written for it.

        False is to move without it, what was typed being copied; None is back to the dialog.
        """
        from pitree.agent import launch as pi

        try:
            await asyncio.to_thread(pi.find_pi, self.options.pi, self.options.environ)
        except pi.AgentNotFoundError as error:
            if plan.changes_nothing and words.prompt is None:
                told, answers = "There is nothing to move, either: the leaf is there already.", []
            else:
                told = "Nothing was moved yet, and nothing written."
                what = "Only copy it" if plan.changes_nothing else "Move the leaf, without Pi"
                if words.prompt is not None and not plan.changes_nothing:
                    what += "; what you typed is copied"
                answers = [Answer("g", what, "go")]
            answers.append(Answer("l", "Leave it", ""))
            answer = await self.choose("Pi was not found", [told, "", display(str(error))], answers)
            return False if answer == "go" else None
        return True

    def _warnings(self, session: SessionFile) -> list[str]:
        from pitree.sessions.entries import CURRENT_VERSION

        told = []
        running = self.running_warning(session)
        if running is not None:
            told.append(f"{running} Until then it goes on where it was.")
        if session.version < CURRENT_VERSION:
            told.append(f"The file is of version {session.version:g}; it will be migrated, if you agree.")
        return told

    async def _write_move(self, session: SessionFile, wish: Wish, words: _Words) -> Outcome:
        from pitree.sessions.appending import Move

        plan = wish.plan
        summary = words.summary if wish.kind in {"model", "outline", "write"} else None
        if plan.changes_nothing and summary is None:
            return Outcome.DONE
        move = Move(plan.target_id, plan.state, summary)
        change = partial(self.changes.move, session.path, move, known=session)
        return await self.write(change)

    # ---- the words

    async def _edit_prompt(self, session: SessionFile, entry: Entry, words: _Words) -> bool:
        """Have the message edited that is asked again; False is back to the dialog."""
        from pitree.sessions.moves import prompt_of
        from pitree.ui.dialogs.typing import TextEditor

        text = words.prompt
        if text is None:
            text = await asyncio.to_thread(prompt_of, session, entry)
        notes = ""
        while True:
            verb = "moves the leaf and sends this in Pi"
            typed = await self.app.push_screen_wait(TextEditor("Ask it again", text, verb=verb, notes=notes))
            if typed is None:
                return False
            words.prompt = text = typed
            size = len(typed.encode("utf-8", "replace"))
            if size <= _MAX_PROMPT:
                return True
            notes = f"{size:,} bytes are more than Pi can be started with ({_MAX_PROMPT:,}): shorten it."

    async def _edit_summary(self, session: SessionFile, wish: Wish, words: _Words) -> bool:
        """Have a summary made and edited; False is back to the dialog."""
        from pitree.sessions.appending import Summary
        from pitree.sessions.branching import file_lists
        from pitree.sessions.outline import files_text, outline
        from pitree.ui.dialogs.typing import TextEditor

        plan, usage, notes = wish.plan, None, ""
        if words.summary is not None:
            files, text, usage = words.summary.files, words.summary.text, words.summary.usage
        else:
            files = await asyncio.to_thread(file_lists, session, plan.summary_span)
            text = files_text(files)
            kind: str | None = wish.kind
            if kind == "model":
                answer = await self._ask_model(session, plan)
                if isinstance(answer, _Asked):
                    text, usage, notes = answer.with_files(files), answer.usage, answer.notes
                else:
                    kind = answer
            if kind == "outline":
                text = await asyncio.to_thread(outline, session, plan.summary_span, files)
            elif kind is None:
                return False
        typed = await self.app.push_screen_wait(
            TextEditor("Summary of what is left", text, verb="moves the leaf and writes this", notes=notes)
        )
        if typed is None or not typed.strip():
            words.summary = None
            return False
        words.summary = Summary(typed, files, usage)
        return True

    async def _ask_model(self, session: SessionFile, plan: MovePlan) -> _Asked | str | None:
        """Return what the model wrote, or which other way was chosen instead: outline, write, or none."""
        from pitree.agent import launch as pi
        from pitree.agent import summary as model
        from pitree.ui.dialogs.waiting import Waiting

        try:
            program = pi.find_pi(self.options.pi, self.options.environ)
        except pi.AgentNotFoundError as error:
            return await self._other_way(str(error))
        instructions = await self._typed(
            "mind most", "", hint="what the summary should mind most, if anything"
        )
        if instructions is None:
            return None
        prompt, told, named = await asyncio.to_thread(_prompt, session, plan.summary_span, instructions)
        command = model.summary_command(program, named)
        folder = pi.working_directory(session.cwd) or self.options.cwd

        def ask(stop: model.Stop, progress: model.Progress) -> model.ModelSummary:
            return model.ask_model(
                command, prompt, folder, self.options.environ, stop=stop, progress=progress
            )

        about = f"{_model_name(named)} writes a summary of {told}"
        answer = await self.app.push_screen_wait(Waiting("Asking the model", about, ask))
        if isinstance(answer, model.SummaryError):
            return await self._other_way(str(answer))
        return None if answer is None else _Asked(answer, told if "left out" in told else "")

    async def _other_way(self, told: str) -> str | None:
        answers = [
            Answer("o", "Begin with an outline instead", "outline"),
            Answer("w", "Write it yourself", "write"),
            Answer("l", "Leave it", ""),
        ]
        return await self.choose("The model wrote no summary", [one_line(told, 600)], answers) or None


class _Asked(msgspec.Struct, frozen=True):
    """What a model wrote, and what to say of it."""

    answer: model.ModelSummary
    notes: str

    @property
    def usage(self) -> JsonObject | None:
        return self.answer.usage

    def with_files(self, files: FileLists) -> str:
        from pitree.sessions.outline import files_text

        return "\n\n".join(part for part in (self.answer.text, files_text(files)) if part)


def _prompt(session: SessionFile, span: Span, instructions: str) -> tuple[str, str, JsonObject | None]:
    """Return what the model is asked, what of, and which model."""
    from pitree.agent import summary as model
    from pitree.sessions.context import build_session_context
    from pitree.sessions.outline import transcript

    said = transcript(session, span)
    told = f"{said.messages} messages"
    if said.left_out:
        kept = said.messages - said.left_out
        told = f"the last {kept} of {said.messages} messages; those before are left out, as too many at once"
    named = build_session_context(session, span.from_id).model
    return model.summary_prompt(said, instructions), told, named


def _model_name(named: JsonObject | None) -> str:
    name = "" if named is None else named.get("modelId")
    return one_line(name, 60) if isinstance(name, str) and name else "Pi's own model"
