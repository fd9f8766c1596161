"""The command line: a thin layer that reads options, calls the library and shows the answer."""

from juryrank.cli.app import main

__all__ = ["main"]
