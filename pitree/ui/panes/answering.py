"""Answering keys at once, in the order in which they were pressed."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widget import Widget


class AnsweringPane(Widget):
    """A pane that does what a key is bound to as soon as it gets it, be it a key of its own or of the screen.

    Textual lets a key rise through everything around the pane before it looks for what it is bound to: by
    then the focus may be elsewhere, and keys that were pressed after it are done. People are that fast.
    """

    before_key: Callable[[events.Key], None] = staticmethod(lambda _event: None)
    """Told of every key, before anything is done with it."""

    async def on_event(self, event: events.Event) -> None:
        """Tell of a key."""
        if isinstance(event, events.Key):
            self.before_key(event)
        await super().on_event(event)

    async def on_key(self, event: events.Key) -> None:
        """Do what the key is bound to."""
        for node in (self, self.screen):
            for binding in node._bindings.key_to_bindings.get(event.key, ()):  # noqa: SLF001
                # those with priority were looked at before the key came here
                if not binding.priority and await self.app.run_action(binding.action, node):
                    event.stop()
                    event.prevent_default()
                    return
