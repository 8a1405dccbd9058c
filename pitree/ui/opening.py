"""What the preview hands to others: entries to the tree, texts to the clipboard, pager, editor and viewer."""

from __future__ import annotations

import base64
import binascii
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from textual.screen import Screen

from pitree.sessions.errors import SessionError
from pitree.sessions.text import one_line
from pitree.ui.options import Options
from pitree.ui.panes.preview import Preview
from pitree.ui.panes.tree import TreePane
from pitree.ui.workers import UNDESCRIBED

if TYPE_CHECKING:  # what the first picture does not need
    from pitree.agent.launch import Launch
    from pitree.agent.viewers import PrivateCopies, Reader
    from pitree.sessions.entries import JsonObject
    from pitree.ui.documents.model import Block
    from pitree.ui.panes.previewing import Wish

_NAMES: Final[dict[Reader, str]] = {"pager": "The pager", "editor": "The editor"}


class Opening(Screen[None]):
    """The part of the browser that opens elsewhere what the preview shows."""

    options: Options

    @cached_property
    def _copies(self) -> PrivateCopies:
        from pitree.agent.viewers import PrivateCopies

        return PrivateCopies()

    def on_unmount(self) -> None:
        """Remove the pictures that were opened."""
        self.remove_copies()

    def remove_copies(self) -> None:
        """Remove what was handed to other programs."""
        if "_copies" in self.__dict__:
            self._copies.remove()

    def say(self, text: str, *, warning: bool = False) -> None:
        """Say something once; already safe."""
        raise NotImplementedError

    def copy(self, text: str) -> None:
        """Put text on the clipboard."""
        raise NotImplementedError

    def on_preview_link_followed(self, event: Preview.LinkFollowed) -> None:
        """Highlight an entry that a link leads to; where the filter hides it, show it all the same."""
        event.stop()
        tree = self.query_one(TreePane)
        entry = event.session.tree.get(event.entry_id)
        if event.session is not tree.session or entry is None:
            return
        self.query_one(Preview).show(event.session, entry)
        row = None if tree.rows is None else tree.rows.row_of(entry.id)
        if tree.rows is not None and row is not None and tree.rows.entry(row) is entry:
            tree.select(entry.id)
        else:
            self.say("The tree hides this entry (filter, fold or search); the preview shows it.")

    def on_preview_copy_wanted(self, event: Preview.CopyWanted) -> None:
        """Copy a text; reading it can take its time."""
        from pitree.sessions.plain import copy_text

        event.stop()
        if event.text is not None:
            self.copy(event.text)
            return
        wish, block = event.wish, event.block

        def read() -> None:
            try:
                text = copy_text(wish.session.body(wish.entry)) if block is None else block.source.copy_text()
            except (SessionError, OSError) as error:
                self.app.call_from_thread(self.say, one_line(str(error), 300), warning=True)
                return
            if text:
                self.app.call_from_thread(self.copy, text)
            else:
                self.app.call_from_thread(self.say, "There is no text to copy here.")

        self.run_worker(read, thread=True, exit_on_error=False, group="copying")

    # ---- pager and editor

    def on_preview_reading_wanted(self, event: Preview.ReadingWanted) -> None:
        """Make a private copy of what is shown, and read it in another program."""
        from pitree.agent.launch import AgentNotFoundError
        from pitree.agent.viewers import reading_program

        event.stop()
        try:
            words = reading_program(event.reader, self.options.environ)
        except AgentNotFoundError as error:
            self.say(one_line(str(error), 300), warning=True)
            return
        wish, reader = event.wish, event.reader
        self.say("Preparing all of it …")
        self.run_worker(
            partial(self._write_copy, wish, reader, words),
            thread=True,
            exit_on_error=False,
            group="reading",
            description=UNDESCRIBED,
        )

    def _write_copy(self, wish: Wish, reader: Reader, words: tuple[str, ...]) -> None:
        from pitree.agent.launch import Launch
        from pitree.ui.panes.previewing import printed

        name = "entry.json" if wish.tab == "entry" and wish.raw else f"{wish.tab}.txt"
        try:
            text = printed(wish, lambda: not self.is_running)
            file = self._copies.write(name, text.encode("utf-8", "replace"))
        except (SessionError, OSError) as error:
            self.app.call_from_thread(self.say, one_line(str(error), 300), warning=True)
            return
        self.app.call_from_thread(
            self._read, Launch((*words, str(file)), None), reader, partial(self._copies.remove, file)
        )

    def _read(self, launch: Launch, reader: Reader, done: partial[None]) -> None:
        from pitree.ui.handover import hand_over

        try:
            ended = hand_over(self.app, launch, self.options.environ)
        finally:
            done()
        if ended.refused:
            self.say("This terminal cannot be handed over to another program.", warning=True)
        elif ended.failure:
            self.say(f"{_NAMES[reader]} could not be started: {ended.failure}", warning=True)
        else:
            self.say(
                f"{_NAMES[reader]} ended with code {ended.code}." if ended.code else "",
                warning=bool(ended.code),
            )

    # ---- images

    def on_preview_image_wanted(self, event: Preview.ImageWanted) -> None:
        """Open the first image of some blocks in the system's viewer."""
        event.stop()
        blocks = event.blocks
        self.run_worker(
            partial(self._open_image, blocks),
            thread=True,
            exit_on_error=False,
            group="viewing",
            description=UNDESCRIBED,
        )

    def _open_image(self, blocks: list[Block]) -> None:
        try:
            image = next((image for block in blocks for image in block.source.images()), None)
            told, warning = self._view(image)
        except (SessionError, OSError) as error:
            told, warning = one_line(str(error), 300), True
        self.app.call_from_thread(self.say, told, warning=warning)

    def _view(self, image: JsonObject | None) -> tuple[str, bool]:
        """Return what to say of it, and whether that is a warning."""
        from pitree.agent.viewers import image_suffix, open_in_viewer

        if image is None:
            return "No image is on the screen here.", False
        try:
            data = base64.b64decode(str(image.get("data") or ""))
        except (binascii.Error, ValueError):
            return "The image's data cannot be read.", True
        suffix = image_suffix(data)
        if suffix is None:
            return "This is no PNG, JPEG, GIF or WebP picture; nothing else is opened.", True
        problem = open_in_viewer(self._copies.write(f"image{suffix}", data), self.options.environ)
        return (f"The image was not opened: {problem}", True) if problem else ("The image was opened.", False)
