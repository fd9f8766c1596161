"""Write the reference of the command line from the commands themselves.

    python docs/reference/make_cli.py

writes cli.md beside this file; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from juryrank.cli.app import app
from juryrank.cli.source import PANEL

INTRODUCTION = """\
# Command line

You find every command and every option here, as `juryrank COMMAND --help` shows them. This page is
made from the program by `python docs/reference/make_cli.py`.

What to expect of every command:

- The answer goes to standard output; progress, notes and warnings go to standard error.
- Exit code 0: all went well. 2: something is wrong with what you gave, and the message says what
  and in which rows. 1: anything else.
- `juryrank --version` shows the version, `juryrank COMMAND --help` the options of a command.
"""
READING = f"""\
## {PANEL}

Every command that takes VOTES has these options too. [Kinds of votes](../votes.md) shows the shapes
of files that are read.
"""


def reference() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    commands = [group.get_command(typer.Context(group), name) for name in group.commands]
    parts = [INTRODUCTION, *(part for command in commands for part in _section(command)), READING]
    readers = [command for command in commands if _options(command, PANEL)]
    parts.append(_listed(_options(readers[0], PANEL)))
    return "\n".join(parts)


def _section(command: Any) -> Iterator[str]:
    summary, _, examples = command.help.partition("\n\nExample")
    yield f"## juryrank {command.name}\n\n{summary}\n"
    yield f"```\n{_usage(command)}\n```\n"
    yield _listed(_options(command, None))
    if _options(command, PANEL):
        yield f"And the options under [{PANEL.lower()}](#{_anchor(PANEL)}).\n"
    if examples:
        lines = [line.strip() for line in examples.splitlines()[1:]]
        yield "Examples:\n\n```\n" + "\n".join(lines) + "\n```\n"
    if command.epilog:
        title, _, rows = command.epilog.partition("\n")
        yield f"{title}\n\n```\n{rows.rstrip()}\n```\n"


def _usage(command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    words = [f"{param.metavar.removesuffix('...')}..." for param in arguments]
    return " ".join(["juryrank", command.name, *words, "[OPTIONS]"])


def _options(command: Any, panel: str | None) -> list[tuple[str, str]]:
    """Names and help of the parameters in one panel, in the program's order."""
    context = typer.Context(command)
    some = [param for param in command.params if param.rich_help_panel == panel]
    return [param.get_help_record(context) for param in some]


def _listed(options: list[tuple[str, str]]) -> str:
    return "\n".join(f"- `{_name(name)}`: {_help(text)}" for name, text in options) + "\n"


def _name(name: str) -> str:
    """The name with what it takes, without the signs in which versions of typer differ."""
    plain = re.sub(r" [<{\[]list\[str\][>}\]]$", "", " ".join(name.split()))
    return re.sub(r" [<\[]([^<\[]*)[>\]]$", r" \1", plain)


def _help(text: str) -> str:
    """The help with its notes, such as [default: 20; x>=1], as a sentence of its own."""
    said, _, notes = text.partition("  [")
    notes = re.sub(r"[()]", "", notes.removesuffix("]")).replace("x>=", "at least ")
    return f"{said} *{notes[0].upper()}{notes[1:]}.*" if notes else said


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(reference(), encoding="utf-8")
