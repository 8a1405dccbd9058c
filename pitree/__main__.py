"""`python -m pitree` is the `pitree` command."""

import sys

from pitree.cli import main

if __name__ == "__main__":
    sys.exit(main())
