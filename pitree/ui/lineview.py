"""Long lists, drawn a line at a time: only the lines on the screen are ever made.

Textual's own lists build every row up front (seconds at 100,000) and its Tree recurses per level; here a
row costs nothing until it is drawn, and a drawn one is kept.
"""

from textwrap import wrap
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.dom import NoScreen
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pitree.ui.keys import LIST_KEYS, USUAL_KEYS, KeyTable, bindings

_KEPT_STRIPS: Final = 512
_MARGIN: Final = 2


class LineView(ScrollView, can_focus=True):
    """A scrolling view of lines: a subclass says how many there are and draws one."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LIST_KEYS)

    keys: KeyTable = USUAL_KEYS
    """The person's keys."""

    DEFAULT_CSS = """
    LineView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._strips: LRUCache[object, Strip] = LRUCache(_KEPT_STRIPS)
        self._styles: dict[str, Style] = {}
        self.placeholder: list[str] = []
        """What to say where there are no lines; already safe to print."""

    # ---- for subclasses

    def tell(self, message: Message) -> None:
        """Post a message that the screen takes; what it says is then in the same frame as what changed here.

        Going up from pane to pane it would come after that frame, a frame more for each key.
        """
        try:
            self.screen.post_message(message)
        except NoScreen:  # not yet, or no more
            self.post_message(message)

    def line_strip(self, index: int, width: int) -> Strip:
        """Return line `index`, at most `width` cells; it is kept until `redraw`."""
        raise NotImplementedError

    def line_key(self, index: int) -> object:
        """Return what the look of a line depends on besides its index and the width."""
        return index

    def style(self, name: str) -> Style:
        """Return the style of a component class, without a background unless it sets one itself."""
        style = self._styles.get(name)
        if style is None:
            # the partial style forgets that a colour is translucent, the whole one lays it on our background
            own = self.get_component_rich_style(name, partial=True)
            whole = self.get_component_rich_style(name)
            style = own + Style(
                color=whole.color if own.color else None, bgcolor=whole.bgcolor if own.bgcolor else None
            )
            self._styles[name] = style
        return style

    @property
    def _own_style(self) -> Style:
        style = self._styles.get("")
        if style is None:  # Textual works it out from all the widgets around at every call
            style = self._styles[""] = self.rich_style
        return style

    def set_line_count(self, count: int) -> None:
        """Say how many lines there are; what is on the screen is drawn anew."""
        self.virtual_size = Size(0, count)
        self.redraw()

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return self.virtual_size.height

    @property
    def page(self) -> int:
        """How many lines fit on the screen, at least 1."""
        return max(1, self.scrollable_content_region.height)

    def redraw(self) -> None:
        """Forget every drawn line and draw the visible ones anew."""
        self._strips.clear()
        self.refresh()

    # ---- Textual's side

    def notify_style_update(self) -> None:
        """Drop what was drawn in the old colours."""
        super().notify_style_update()
        self._styles.clear()
        self._strips.clear()

    def render_line(self, y: int) -> Strip:
        """Return the strip at row `y` of the widget."""
        width = self.scrollable_content_region.width
        index = int(self.scroll_offset.y) + y
        if not 0 <= index < self.line_count:
            told = [] if self.line_count else self._placeholder_lines(width - _MARGIN * 2)
            if 0 <= y - 1 < len(told):
                text = Strip([Segment(" " * _MARGIN + told[y - 1], Style(dim=True))])
                return text.adjust_cell_length(width).apply_style(self.rich_style)
            return Strip.blank(width, self.rich_style)
        key = (self.line_key(index), width)
        strip = self._strips.get(key)
        if strip is None:
            strip = self.line_strip(index, width).adjust_cell_length(width)
            strip = strip.apply_style(self._own_style).apply_offsets(0, index)
            self._strips[key] = strip
        return strip

    def _placeholder_lines(self, width: int) -> list[str]:
        """Return what is said where there are no lines, each line in as many as it needs."""
        return [
            part
            for line in self.placeholder
            for part in (wrap(line, max(1, width), break_on_hyphens=False) or [""])
        ]

    def _jump(self, y: int) -> None:
        self.scroll_to(y=max(0, y), animate=False, force=True, immediate=True)

    def action_line_up(self) -> None:
        """Scroll one line up."""
        self._jump(int(self.scroll_offset.y) - 1)

    def action_line_down(self) -> None:
        """Scroll one line down."""
        self._jump(int(self.scroll_offset.y) + 1)

    def action_page_up(self) -> None:
        """Scroll one page up."""
        self._jump(int(self.scroll_offset.y) - self.page)

    def action_page_down(self) -> None:
        """Scroll one page down."""
        self._jump(int(self.scroll_offset.y) + self.page)

    def action_first(self) -> None:
        """Scroll to the first line."""
        self._jump(0)

    def action_last(self) -> None:
        """Scroll to the last line."""
        self._jump(self.line_count)


class _AboutRow(Message):
    """Something about a row of a list."""

    def __init__(self, rows: "RowList", index: int) -> None:
        super().__init__()
        self.rows = rows
        self.index = index

    @property
    def control(self) -> "RowList":
        """The list."""
        return self.rows


class RowList(LineView):
    """A list with a highlighted row. The keys go round at the ends, as in Pi's own lists."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row--cursor", "row--cursor-blurred"}

    DEFAULT_CSS = """
    RowList > .row--cursor { background: $primary 38%; text-style: bold; }
    RowList > .row--cursor-blurred { background: $foreground 12%; }
    """

    cursor: reactive[int] = reactive(0, repaint=False, init=False)
    """The highlighted row; -1 never, 0 also for an empty list."""

    _center = False

    class Highlighted(_AboutRow):
        """The highlight moved to another row."""

    class Activated(_AboutRow):
        """Enter or a double click on the highlighted row."""

    def line_key(self, index: int) -> object:
        """Add whether the row is highlighted, and how."""
        return (index, index == self.cursor and (1 + self.has_focus))

    def line_strip(self, index: int, width: int) -> Strip:
        """Draw a row, and the highlight over it."""
        strip = self.row_strip(index, width).adjust_cell_length(width)
        if index == self.cursor:
            return strip.apply_style(self.style("row--cursor" if self.has_focus else "row--cursor-blurred"))
        return strip

    def row_strip(self, index: int, width: int) -> Strip:
        """Return row `index` without highlight, at most `width` cells."""
        raise NotImplementedError

    def validate_cursor(self, cursor: int) -> int:
        """Keep the highlight on a row."""
        return max(0, min(cursor, self.line_count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw the two rows that change, and keep the new one in sight."""
        self.refresh_lines_at(old, new)
        self.keep_in_sight()
        if self.line_count:
            self.post_message(self.Highlighted(self, new))

    def refresh_lines_at(self, *indexes: int) -> None:
        """Draw some rows anew, where they are on the screen."""
        for index in indexes:
            self.refresh_line(index)

    def keep_in_sight(self) -> None:
        """Scroll as little as needed to show the highlighted row."""
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True, immediate=True)

    def set_rows(self, count: int, cursor: int, *, center: bool = False) -> None:
        """Take other content with the highlight on `cursor`; no `Highlighted` follows.

        The highlight stays where it is on the screen, or with `center` goes to the middle.
        """
        place = self.cursor - int(self.scroll_offset.y)
        self.set_line_count(count)
        cursor = self.validate_cursor(cursor)
        self.set_reactive(RowList.cursor, cursor)
        self._center = center and self.size.height == 0  # not on the screen yet
        if self.is_mounted and self.page > 1:
            place = self.page // 2 if center else max(0, min(place, self.page - 1))
            self._jump(cursor - place)
            self.keep_in_sight()

    def on_focus(self) -> None:
        """Show the highlight as active."""
        self.refresh_lines_at(self.cursor)

    def on_blur(self) -> None:
        """Show the highlight as resting."""
        self.refresh_lines_at(self.cursor)

    def on_resize(self) -> None:
        """Keep the place."""
        self.redraw()
        if self._center and self.size.height:
            self._center = False
            self._jump(self.cursor - self.page // 2)
        self.keep_in_sight()

    def action_line_up(self) -> None:
        """Move the highlight up; from the first row to the last."""
        self.cursor = self.cursor - 1 if self.cursor else self.line_count - 1

    def action_line_down(self) -> None:
        """Move the highlight down; from the last row to the first."""
        self.cursor = self.cursor + 1 if self.cursor < self.line_count - 1 else 0

    def action_page_up(self) -> None:
        """Move the highlight a page up."""
        self.cursor -= self.page

    def action_page_down(self) -> None:
        """Move the highlight a page down."""
        self.cursor += self.page

    def action_first(self) -> None:
        """Move the highlight to the first row."""
        self.cursor = 0

    def action_last(self) -> None:
        """Move the highlight to the last row."""
        self.cursor = self.line_count - 1

    def action_activate(self) -> None:
        """Act on the highlighted row."""
        if self.line_count:
            self.post_message(self.Activated(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked row; a double click acts on it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = int(self.scroll_offset.y) + offset.y
        if index < self.line_count:
            self.cursor = index
            if event.chain == 2:
                self.action_activate()
