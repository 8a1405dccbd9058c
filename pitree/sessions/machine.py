"""What the machine has to offer."""

import os


def processors() -> int:
    """Return how many processors this program may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
