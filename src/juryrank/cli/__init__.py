"""The command line: a thin layer that reads options, calls the library and shows the answer."""

from __future__ import annotations

import sys

from juryrank.errors import INTERRUPTED


def main() -> None:
    """Run the command line; an interrupt ends it quietly, even while it is being imported."""
    try:
        from juryrank.cli.starting import start

        start()
        from juryrank.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


__all__ = ["main"]
