"""Runs the command line: `python -m runner`."""

import sys

from runner.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
