"""Going from the screen into Pi: for good, or there and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual.screen import Screen

from pitree.sessions.text import display, one_line
from pitree.ui.dialogs.answer import Answer
from pitree.ui.options import Options

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent import launch as pi
    from pitree.sessions.file import SessionFile

RESUME_HERE: Final = "resume"
FORK_HERE: Final = "fork"

# Bytes. The terminal takes text as one escape sequence; tmux drops those over a megabyte, others stand still.
_TERMINAL_CLIPBOARD: Final = 500_000


class Resuming(Screen[None]):
    """The part of the browser that launches Pi."""

    options: Options
    session: SessionFile | None
    session_path: Path | None

    def say(self, text: str, *, warning: bool = False) -> None:
        """Say something once; already safe."""
        raise NotImplementedError

    def action_reload(self) -> None:
        """Read everything again."""
        raise NotImplementedError

    def resume(self, prompt: str | None = None) -> None:
        """Become Pi on the highlighted session, with `prompt` as the next message; or come back from it."""
        self._launch(visit=self.options.returning, prompt=prompt)

    def action_visit(self) -> None:
        """Open Pi on the highlighted session, and come back when it ends."""
        self._launch(visit=True)

    def action_copy_command(self) -> None:
        """Copy the command that resumes the session."""
        if self.session_path is not None:
            self.copy(self._command(self.session_path))

    def _recorded_cwd(self, path: Path) -> str | None:
        """Return the folder that the session's header states, None where it is no session.

        The highlighted session may still be being read, so its header is read here: one line.
        """
        from pitree.catalog.header import read_header

        if self.session is not None and self.session.path == path:
            return None if self.session.refused_by_pi else self.session.cwd
        try:
            header = read_header(path)
        except OSError:
            return None
        cwd = None if header is None else header.get("cwd", "")
        return cwd if isinstance(cwd, str) or cwd is None else ""

    def _command(self, path: Path, prompt: str | None = None) -> str:
        from pitree.agent import launch as pi

        try:
            program = pi.find_pi(self.options.pi, self.options.environ)
        except pi.AgentNotFoundError as error:
            program = error.words
        cwd = self._recorded_cwd(path)
        folder = pi.working_directory(cwd) if cwd else None
        return pi.shell_line(pi.resume(program, path, folder or self.options.cwd, prompt))

    def copy(self, text: str) -> None:
        """Put text on the clipboard: the terminal's own, and the machine's where it has one."""
        from pitree.agent.clipboard import copy_locally

        told = f"copied: {one_line(text, 500)}"
        encoded = text.encode("utf-8", "replace")
        fits = len(encoded) <= _TERMINAL_CLIPBOARD
        if fits:
            self.app.copy_to_clipboard(encoded.decode())
            self.say(told)

        def copy_here() -> None:
            copied = copy_locally(text)
            if not fits:
                refused = "not copied: too long for the terminal, and no clipboard tool is here"
                self.app.call_from_thread(self.say, told if copied else refused, warning=not copied)

        self.run_worker(copy_here, thread=True, exit_on_error=False, group="clipboard")

    def _launch(self, *, visit: bool, prompt: str | None = None) -> None:
        from pitree.agent import launch as pi
        from pitree.ui.dialogs.choice import Choice

        path = self.session_path
        if path is None:
            self.say("No session is highlighted.")
            return
        cwd = self._recorded_cwd(path)
        if cwd is None:
            reason = "Pi does not take this file for a session."
            if not path.exists():
                again = self.options.keys.way("reload")
                reason = f"{one_line(str(path), 300)} is no longer there; {again} reads the store again."
            self.say(reason, warning=True)
            return
        if (unspeakable := pi.unspeakable(path)) is not None:
            self.say(one_line(unspeakable, 400), warning=True)
            return
        try:
            program = pi.find_pi(self.options.pi, self.options.environ)
        except pi.AgentNotFoundError as error:
            self._explain_missing_pi(str(error), self._command(path, prompt), prompt)
            return
        folder = pi.working_directory(cwd) if cwd else self.options.cwd
        if folder is not None:
            self._go(pi.resume(program, path, folder, prompt), visit=visit)
            return

        def answered(answer: str | None) -> None:
            if answer == RESUME_HERE:
                self._go(pi.resume(program, path, self.options.cwd, prompt), visit=visit)
                return
            if prompt:  # what was typed is not lost
                self.copy(prompt)
            if answer == FORK_HERE:
                self._go(self._fork(program, path), visit=visit)

        here = one_line(str(self.options.cwd), 200)
        self.app.push_screen(
            Choice(
                "The session's folder is gone",
                [
                    f"It ran in {one_line(cwd, 300)}, which does not exist any more.",
                    f"You are in {here}.",
                ],
                [
                    Answer("r", "Resume from here (Pi asks once more)", RESUME_HERE),
                    Answer("f", "Fork into here: a new session, the old one untouched", FORK_HERE),
                    Answer("n", "Not at all", ""),
                ],
            ),
            answered,
        )

    def _fork(self, program: tuple[str, ...], path: Path) -> pi.Launch:
        from pitree.agent import launch as pi

        store = self.options.store
        return pi.fork(program, path, self.options.cwd, session_dir=store.root if store.flat else None)

    def _explain_missing_pi(self, reason: str, command: str, prompt: str | None) -> None:
        from pitree.ui.dialogs.choice import Choice

        def answered(answer: str | None) -> None:
            if answer == "copy":
                self.copy(command)
            elif prompt:  # what was typed is not lost
                self.copy(prompt)

        self.app.push_screen(
            Choice(
                "Pi was not found",
                [display(reason), "", "The command to run:", "", "  " + one_line(command, 2000)],
                [Answer("c", "Copy the command", "copy"), Answer("l", "Leave it", "")],
            ),
            answered,
        )

    def _go(self, launch: pi.Launch, *, visit: bool) -> None:
        from pitree.ui.handover import hand_over

        if not visit:
            self.app.exit(launch)
            return
        ended = hand_over(self.app, launch, self.options.environ)
        if ended.refused:
            way = self.options.keys.way("tui.select.confirm")
            self.say(f"This terminal cannot be handed over; {way} resumes for good.", warning=True)
            return
        if ended.failure:
            self.say(f"Pi could not be started: {ended.failure}", warning=True)
            return
        self.action_reload()
        said = f"Pi ended with code {ended.code}." if ended.code else "Back from Pi."
        self.say(said, warning=bool(ended.code))
