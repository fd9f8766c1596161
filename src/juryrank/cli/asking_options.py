"""The options that say what is to be known and who can be asked, shared by `next` and `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli.help import MODELLING
from juryrank.errors import InputError
from juryrank.model.registry import DEFAULT_MODEL, models_that

if TYPE_CHECKING:
    import polars as pl

TO_ASK = "What to ask"

Target = Annotated[
    str,
    typer.Option(
        metavar="TARGET",
        help="What to find out: order (of all items), top:3 (the best three), item:NAME (its "
        "rank), tiers, or widths (intervals of equal width).",
        rich_help_panel=TO_ASK,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        help=f"{models_that(lambda model: model.chooses_questions, 'or')}.",
        metavar="NAME",
        rich_help_panel=MODELLING,
    ),
]
MODEL = DEFAULT_MODEL


def table_at(path: Path, what: str) -> pl.DataFrame:
    """Read a table in any format that votes may have."""
    from juryrank.reading.files import header, parts_of, read_rows

    if path.is_file() and not path.stat().st_size:
        raise InputError(f"The table of {what}, {str(path)!r}, is empty: it has not even a header.")
    parts = parts_of(str(path))
    columns = header(parts[0])
    if len(parts) > 1:
        raise InputError(f"{what} must be one file: {str(path)!r} holds several.")
    return read_rows(parts, columns).frame


def split_off(text: str, sign: str) -> tuple[str, str | None]:
    """What is before the last such sign, and what is after it, if there is one."""
    before, found, after = text.rpartition(sign)
    return (before, after) if found else (text, None)
