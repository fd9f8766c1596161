"""The help of the commands: names beside what they do, in groups, and what few need on request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from juryrank.cli.terminal.console import console

TO_RANK = "What to rank"
TO_WRITE = "What to write"
TO_COMPARE = "What to compare"
READING = "How votes are read"
MODELLING = "How they are modelled"
EXPERTS = "For experts"
OTHERS = "Options"
HELP = "Help"
ON_REQUEST = (READING, MODELLING, EXPERTS)
"""Groups that are shown by --help-all only."""
COMMANDS = "Commands"

INDENT = 2
WIDEST_NAME = 22
"""Of longer names, what they do stands on the next line."""
WIDEST_HELP = 100
SHORT_DEFAULT = 20
"""Shorter notes are not broken over lines."""
NO_BREAK = "\N{NO-BREAK SPACE}"


class HelpfulCommand(TyperCommand):
    """A command with this help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Print what most people need."""
        show_help(ctx, everything=False)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is given twice: only the last would count, without a word."""
        names = Counter(arg.split("=", 1)[0] for arg in args if arg.startswith("--"))
        for option in self.params:
            many = not getattr(option, "multiple", True) and not getattr(option, "is_flag", True)
            if many and sum(names[name] for name in option.opts) > 1:
                ctx.fail(f"{option.opts[0]} is given more than once, and only one can count.")
        return list(super().parse_args(ctx, args))


class HelpfulGroup(TyperGroup):
    """The program with this help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Print the commands."""
        show_help(ctx, everything=True)


def _show_all(ctx: typer.Context, asked: bool) -> None:
    if asked:
        show_help(ctx, everything=True)
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        help="Show all options: how votes are read and modelled, for experts.",
        callback=_show_all,
        is_eager=True,
        rich_help_panel=HELP,
    ),
]


def show_help(ctx: Any, *, everything: bool) -> None:
    """Print the help of a command."""
    out = console()
    for line in _lines(ctx, min(out.width, WIDEST_HELP), everything=everything):
        out.print(line, soft_wrap=True)


def _lines(ctx: Any, width: int, *, everything: bool) -> Iterator[Text | str]:
    command = ctx.command
    summary, examples = said_of(command)
    yield Text.assemble(("Usage: ", "bold"), f"{ctx.command_path} {usage(command)}")
    for paragraph in summary.split("\n\n"):
        yield ""
        yield from wrap(paragraph, width)
    for title, rows in groups_of(ctx).items():
        if everything or title not in ON_REQUEST:
            yield ""
            yield Text(title, "bold")
            yield from _rows(rows, width)
    if examples:
        yield ""
        yield Text("Examples", "bold")
        yield from (f"{' ' * INDENT}{line}" for line in examples)
    if command.epilog and everything:
        title, _, rows = command.epilog.partition("\n")
        yield ""
        yield Text(title.removesuffix(":"), "bold")
        yield from (f"{' ' * INDENT}{row}" for row in rows.splitlines())


def said_of(command: Any) -> tuple[str, list[str]]:
    """What a command does, and examples of it."""
    summary, _, examples = command.help.partition("\n\nExample")
    return summary, [line.strip() for line in examples.splitlines()[1:]]


def usage(command: Any) -> str:
    """What follows the name of a command."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    words = [f"{param.metavar.removesuffix('...')}..." for param in arguments]
    return " ".join(
        ["[OPTIONS]", *words, *(["COMMAND"] if isinstance(command, TyperGroup) else [])]
    )


def groups_of(ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """The groups of a command, in their order: names, and what they do."""
    command = ctx.command
    found: dict[str, list[tuple[str, str]]] = {}
    if isinstance(command, TyperGroup):
        names = command.list_commands(ctx)
        found[COMMANDS] = [
            (name, _first_sentence(command.get_command(ctx, name))) for name in names
        ]
    for param in command.get_params(ctx):
        found.setdefault(_group_of(param), []).append(_described(param, ctx))
    last = (*ON_REQUEST, HELP)
    first = [title for title in found if title not in last]
    return {title: found[title] for title in (*first, *last) if title in found}


def _first_sentence(command: Any) -> str:
    return said_of(command)[0].partition("\n\n")[0]


def _group_of(param: Any) -> str:
    """The group that an argument or an option belongs to."""
    return HELP if param.name == "help" else param.rich_help_panel or OTHERS


def _described(param: Any, ctx: Any) -> tuple[str, str]:
    """The name of an argument or an option with what it takes, and what it does."""
    name, text = param.get_help_record(ctx)
    return _plain_name(name), text


def _plain_name(name: str) -> str:
    """The name without the types of Python, and without the signs around a choice of words."""
    plain = re.sub(r" [<{\[]list\[str\][>}\]]$", "", " ".join(name.split()))
    return re.sub(r" [<\[]([^<\[]*)[>\]]$", r" \1", plain)


def help_and_notes(text: str) -> tuple[str, str]:
    """The help, and apart from it its notes: ``default: 20; at least 1``."""
    said, _, notes = text.partition("  [")
    return said, re.sub(r"[()]", "", notes.removesuffix("]")).replace("x>=", "at least ")


def _rows(rows: Sequence[tuple[str, str]], width: int) -> Iterator[Text]:
    """Names beside what they do, which has a column of its own."""
    fitting = [len(name) for name, _ in rows if len(name) <= WIDEST_NAME]
    column = INDENT + max(fitting, default=WIDEST_NAME) + INDENT
    for name, text in rows:
        lines = [line.replace(NO_BREAK, " ") for line in wrap(_with_default(text), width - column)]
        start = Text.assemble(" " * INDENT, (name, "cyan"))
        if len(name) <= WIDEST_NAME:
            start.append(" " * (column - INDENT - len(name)) + (lines or [""])[0])
            lines = lines[1:]
        yield start
        yield from (Text(" " * column + line) for line in lines)


def _with_default(text: str) -> str:
    """The help of an option with its default, if it has one that says something."""
    said, notes = help_and_notes(text)
    default = next((note for note in notes.split("; ") if note.startswith("default: ")), "")
    if len(default) <= SHORT_DEFAULT:
        default = default.replace(" ", NO_BREAK)
    return f"{said} [{default}]" if default else said
