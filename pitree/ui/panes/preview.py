"""The Preview pane: the highlighted entry in full, or what the model would see there."""

from functools import partial
from typing import ClassVar, Final, Literal, NamedTuple, get_args

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from pitree.sessions.entries import Entry
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.text import one_line
from pitree.ui.documents.context import context_document
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.layout import Layout
from pitree.ui.documents.model import STYLE_NAMES, Document, notice
from pitree.ui.keys import PREVIEW_KEYS, bindings
from pitree.ui.lineview import LineView

Tab = Literal["entry", "context"]

TABS: Final[tuple[Tab, ...]] = get_args(Tab)

# Long enough to pass over what a held key only touches, too short to be noticed.
_DEBOUNCE_SECONDS: Final = 0.04
# From here on it is said that something is being read.
_PATIENCE_SECONDS: Final = 0.3

_NOTHING: Final = "Highlight an entry to see what it holds, and what the model would see there."
