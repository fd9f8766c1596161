"""Write the reference of the command line from the commands themselves.

    python docs/reference/make_cli.py

writes cli.md beside this file; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from juryrank.cli.app import app
from juryrank.cli.help import (
    HELP,
    READING,
    groups_of,
    help_and_notes,
    said_of,
    usage,
)

INTRODUCTION = """\
# Command line

You find every command and every option here. `juryrank COMMAND --help` shows what most people need,
`juryrank COMMAND --help-all` all of it. This page is made from the program by
`python docs/reference/make_cli.py`.

What to expect of every command:

- The answer goes to standard output; progress, notes and warnings go to standard error.
- Exit code 0: all went well. 2: something is wrong with what you gave, and the message says what
  and in which rows. 1: anything else.
- `juryrank --version` shows the version.
- Without votes of your own, `juryrank rank --example` shows what to expect.
"""
ABOUT_READING = f"""\
## {READING}

Every command that takes VOTES has these options too. [Kinds of votes](../votes.md) shows the shapes
of files that are read.
"""


def reference() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    commands = [group.get_command(typer.Context(group), name) for name in group.commands]
    parts = [INTRODUCTION, *(part for command in commands for part in _section(command))]
    reading = groups_of(typer.Context(commands[0]))[READING]
    return "\n".join([*parts, ABOUT_READING, _listed(reading)])


def _section(command: Any) -> Iterator[str]:
    summary, examples = said_of(command)
    yield f"## juryrank {command.name}\n\n{summary}\n"
    yield f"```\njuryrank {command.name} {usage(command)}\n```\n"
    groups = groups_of(typer.Context(command))
    for title, options in groups.items():
        if title not in (READING, HELP):
            yield f"{title}:\n\n{_listed(options)}"
    if READING in groups:
        yield f"And the options under [{READING.lower()}](#{_anchor(READING)}).\n"
    if examples:
        yield "Examples:\n\n```\n" + "\n".join(examples) + "\n```\n"
    if command.epilog:
        title, _, rows = command.epilog.partition("\n")
        yield f"{title}\n\n```\n{rows.rstrip()}\n```\n"


def _listed(options: list[tuple[str, str]]) -> str:
    return "\n".join(f"- `{name}`: {_help(text)}" for name, text in options) + "\n"


def _help(text: str) -> str:
    """The help with its notes, such as [default: 20; x>=1], as a sentence of its own."""
    said, notes = help_and_notes(text)
    return f"{said} *{notes[0].upper()}{notes[1:]}.*" if notes else said


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(reference(), encoding="utf-8")
