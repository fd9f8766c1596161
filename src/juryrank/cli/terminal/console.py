"""Where the answer goes: standard output, for people or for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType

from juryrank.writing.json_text import json_text

NARROWEST_PIPE = 80


def console(*, stderr: bool = False) -> Console:
    """Make a console that takes no text for markup and is wide enough when piped."""
    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = max(made.width, NARROWEST_PIPE)
    return made


def show(parts: Iterable[RenderableType]) -> None:
    """Print for people, part by part."""
    stdout = console()
    for part in parts:
        stdout.print(part)


def print_json(answer: dict[str, Any]) -> None:
    """Print for programs: one JSON object."""
    print_text(json_text(answer) + "\n")


def print_text(text: str) -> None:
    """Print for programs: always UTF-8, whatever the terminal would like."""
    sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
