"""Starts runner/cli.py."""

import sys

from runner import cli

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
