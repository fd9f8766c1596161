"""The options that say what to write, shared by commands; checks before the work, and saving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli.help import EXPERTS, TO_WRITE
from juryrank.cli.source import Source
from juryrank.cli.terminal.messages import show_note, show_warning
from juryrank.errors import InputError
from juryrank.writing.atomic import STDOUT, is_regular, own_stream
from juryrank.writing.destination_checks import check_savable, is_any_of
from juryrank.writing.formats import SEPARATORS, saved_as

if TYPE_CHECKING:
    import polars as pl

    from juryrank.ranking.by_value import Rankings
    from juryrank.ranking.ranking import Ranking

DEFAULT_TOP, MOST_SHOWN = 20, 10**9

AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object and nothing else on stdout.",
        rich_help_panel=TO_WRITE,
    ),
]
TableOut = Annotated[
    Path | None,
    typer.Option(
        help="Save the table: .csv, .tsv, .json, .parquet, .html, .md, .tex or .xlsx.",
        metavar="FILE",
        rich_help_panel=TO_WRITE,
    ),
]
SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In .csv and .tsv files, put an apostrophe before names that a spreadsheet would take "
        "for formulas, and show control characters as escapes.",
        rich_help_panel=EXPERTS,
    ),
]


def check_destinations(source: Source, *paths: Path | None) -> None:
    """Complain before the long work about files that could not be saved after it."""
    given = [path for path in paths if path is not None]
    for path in given:
        check_savable(path)
        if is_any_of(path, source.files):
            raise InputError(f"Saving to {str(path)!r} would overwrite the votes.")
    if len({path.resolve() for path in given}) < len(given):
        raise InputError(f"Two things cannot both be saved to {str(given[0])!r}.")


def check_tables_kept(out: Path | None, tables: Mapping[str, Path | None]) -> None:
    """Complain if the answer would overwrite a table that an option names, or be added to it."""
    if out is not None:
        check_savable(out)
    given = [(option, table) for option, table in tables.items() if table is not None]
    for option, table in given:
        if out is not None and is_any_of(out, [table]):
            raise InputError(f"Saving to {str(out)!r} would overwrite the table of {option}.")
        if is_regular(STDOUT) and own_stream(table) == STDOUT:
            raise InputError(
                f"Standard output goes to {str(table)!r}, which is the table of {option}. Send it "
                "to another file."
            )


def is_stdout(*paths: Path | None) -> bool:
    """Whether a file that was asked for is standard output, which then has nothing else."""
    return any(path is not None and own_stream(path) == STDOUT for path in paths)


def check_safe_csv(safe_csv: bool, *paths: Path | None) -> None:
    """Complain if there is no file that could be made safe."""
    if safe_csv and not any(path is not None and saved_as(path) in SEPARATORS for path in paths):
        raise InputError(
            "--safe-csv is for .csv and .tsv files, and none is written: name one with --out FILE, "
            "or omit it. Other formats do not need it."
        )


def save_table(frame: pl.DataFrame, what: str, out: Path | None, *, safe_csv: bool) -> None:
    """Save a table, if a file for it was named, and say so."""
    if out is None:
        return
    from juryrank.writing.save import save_frame

    save_frame(frame, out, safe_csv=safe_csv)
    show_note(f"Saved the {what} to {out}.")


def show_warnings(answer: Ranking | Rankings, said: Sequence[str]) -> None:
    """Show the warnings, but for what was said when the votes had been read."""
    for warning in answer.warnings:
        if warning not in said:
            show_warning(warning)
