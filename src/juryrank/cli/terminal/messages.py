"""Errors, warnings and notes: lines on standard error."""

from __future__ import annotations

from rich.text import Text

from juryrank.cli.terminal.console import console
from juryrank.text import literal


def show_error(message: str) -> None:
    """Print an error to stderr."""
    _print_line(Text("Error: ", "bold red"), message)


def show_warning(message: str) -> None:
    """Print a warning to stderr."""
    _print_line(Text("Warning: ", "bold yellow"), message)


def show_note(message: str) -> None:
    """Print a line for people to stderr."""
    _print_line(Text(""), message)


def _print_line(start: Text, message: str) -> None:
    console(stderr=True).print(Text.assemble(start, literal(message)), soft_wrap=True)
