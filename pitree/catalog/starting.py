"""Starting the processes that read sessions; light, so that one can be started before anything is loaded."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def start_reader(cache_file: Path) -> "subprocess.Popen[bytes] | None":
    """Start a process that reads sessions into a cache, as `pitree.catalog.readers` has it; None without."""
    # -P: what lies in the working directory is not to be run
    command = [sys.executable, "-P", "-m", "pitree.catalog.readers", os.fspath(cache_file)]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet)
    except OSError:
        return None


def end_reader(process: "subprocess.Popen[bytes]") -> None:
    """End such a process, whatever it does."""
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # it did not get what was still on its way
                stream.close()
    process.wait()
