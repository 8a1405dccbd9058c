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
        from pitree.crash import tell

        return tell(error)


if __name__ == "__main__":
    sys.exit(main())
