"""Runs pitree: the script of that name, and `python -m pitree`."""

import gc
import sys


def main() -> int:
    """Run the command line and return its exit code; Ctrl+C is no error at any moment, loading included."""
    # While hundreds of modules are loaded there is no garbage, and looking for it would take a tenth of the
    # time; who works on begins it.
    gc.disable()
    try:
        from pitree.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not for the terminal
        if _is_interruption(error):
            return 130
        from pitree.crash import tell

        return tell(error)


def _is_interruption(error: BaseException) -> bool:
    """Return whether an error is what became of Ctrl+C: Python wraps what happens while a class is made."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


if __name__ == "__main__":
    sys.exit(main())
