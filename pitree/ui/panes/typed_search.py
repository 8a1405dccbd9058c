"""Typing what to find in the preview: a line of text that takes keys while it is open."""

from textual import events

from pitree.ui.alt_keys import typed_text


class TypedSearch:
    """What is being typed after `/`, and whether it still is."""

    def __init__(self) -> None:
        self.text = ""
        self.is_open = False

    def open(self) -> None:
        """Begin to type something new."""
        self.text, self.is_open = "", True

    def close(self, *, forget: bool = False) -> None:
        """End the typing; keys are keys again."""
        self.is_open = False
        self.text = "" if forget else self.text

    def take(self, event: events.Key) -> bool:
        """Take a key, if it types something; it goes no further then. False for all other keys."""
        if not self.is_open:
            return False
        if event.key == "backspace":
            if not self.text:
                self.close()
            self.text = self.text[:-1]
        elif event.key == "ctrl+u":
            self.text = ""
        elif text := typed_text(event):
            self.text += text
        else:
            return False
        event.stop()
        event.prevent_default()
        return True
