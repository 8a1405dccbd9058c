"""A driver for Textual that tells which modules were loaded when the first frame begins to be drawn.

Chosen with TEXTUAL_DRIVER; the names go to the file that FIRST_FRAME_MODULES names.
"""

import os
import sys
from pathlib import Path

from textual.drivers.linux_driver import LinuxDriver

# Every frame of the whole screen begins in its first cell; the very first one comes before the terminal has
# said that it wants frames marked.
FRAME_BEGINS = "\x1b[1;1H"


class FirstFrame(LinuxDriver):
    _told = False

    def write(self, data: str) -> None:
        if FRAME_BEGINS in data and not self._told:
            self._told = True
            Path(os.environ["FIRST_FRAME_MODULES"]).write_text("\n".join(sys.modules), encoding="utf-8")
        super().write(data)
