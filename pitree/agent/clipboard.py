"""The clipboard of the machine that runs the program, through whatever tool it has."""

import shutil
import subprocess
from typing import Final

_TOOLS: Final = (
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("pbcopy",),
    ("clip.exe",),
)
_TIMEOUT_SECONDS: Final = 5


def copy_locally(text: str) -> bool:
    """Put `text` on the clipboard; False where no tool for it is there or works.

    Waits up to 5 s for a tool: not to be called where the screen is drawn.
    """
    for tool in _TOOLS:
        program = shutil.which(tool[0])
        if program is None:
            continue
        encoding = "utf-16-le" if tool[0] == "clip.exe" else "utf-8"
        try:
            done = subprocess.run(
                (program, *tool[1:]),
                input=text.encode(encoding, "replace"),
                # The X11 and Wayland tools stay behind to serve the text: a pipe to them would never end.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            continue
        if done.returncode == 0:
            return True
    return False
