"""Frames and text into files, and values into what JSON and HTML can hold."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from juryrank.errors import InputError
from juryrank.saving import DOCUMENTS, check_ending
from juryrank.typesetting import latex_table, markdown_table, shown

MOST_ROWS, LONGEST_CELL = 1_048_575, 32_767
"""What a sheet of Excel holds below its header."""
LARGEST_WHOLE = 2**53
"""Excel's numbers are floats: larger ones would come back as others."""


def save_frame(frame: pl.DataFrame, path: str | Path) -> None:
    """Write a frame, by file ending, as one of `juryrank.saving.SAVED_AS` (JSON: as rows)."""
    writers: dict[str, Callable[[], object]] = {
        ".csv": lambda: frame.write_csv(path),
        ".tsv": lambda: frame.write_csv(path, separator="\t"),
        ".json": lambda: write_text(path, json.dumps(finite(frame.to_dicts()), default=str) + "\n"),
        ".parquet": lambda: frame.write_parquet(path),
        ".html": lambda: write_text(path, html_table(frame)),
        ".md": lambda: write_text(path, markdown_table(frame)),
        ".tex": lambda: write_text(path, latex_table(frame)),
        ".xlsx": lambda: write_workbook(path, {"table": frame}),
    }
    write = writers[check_ending(path)]
    try:
        write()
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise InputError(f"Cannot write {str(path)!r}: {reason}.") from error


def save_tables(tables: Mapping[str, pl.DataFrame], path: str | Path) -> None:
    """Write several frames with their names as Markdown, LaTeX or an Excel workbook."""
    match check_ending(path, DOCUMENTS):
        case ".xlsx":
            write_workbook(path, tables)
        case ".md":
            parts = [f"## {name.capitalize()}\n\n{markdown_table(t)}" for name, t in tables.items()]
            write_text(path, "\n".join(parts))
        case _:
            parts = [f"% {name.capitalize()}\n{latex_table(t)}" for name, t in tables.items()]
            write_text(path, "\n".join(parts))


def write_workbook(path: str | Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write an Excel workbook with a sheet per table, in which text is text and no formula."""
    import xlsxwriter

    sheets = {name: _for_excel(path, table) for name, table in tables.items()}
    as_text = {"strings_to_formulas": False, "strings_to_urls": False}
    try:
        with xlsxwriter.Workbook(path, as_text) as book:
            for name, sheet in sheets.items():
                sheet.write_excel(book, name, autofit=True)
    except (OSError, xlsxwriter.exceptions.XlsxWriterException) as error:
        raise InputError(f"Cannot write {str(path)!r}: {error}.") from error


def _for_excel(path: str | Path, table: pl.DataFrame) -> pl.DataFrame:
    """Give what a sheet can hold: finite numbers, and none of more digits than it keeps."""
    columns = table.get_columns()
    text = [column for column in columns if column.dtype == pl.String]
    too_long = any((column.str.len_chars() > LONGEST_CELL).any() for column in text)
    if len(table) > MOST_ROWS or too_long:
        raise InputError(
            f"Cannot write {str(path)!r}: a sheet of Excel holds {MOST_ROWS:,} rows and cells of "
            f"{LONGEST_CELL:,} characters. Save as .csv or .parquet."
        )
    whole = [column for column in columns if column.dtype.is_integer()]
    large = [one.name for one in whole if (one.cast(pl.Float64).abs() > LARGEST_WHOLE).any()]
    floats = pl.col(pl.Float32, pl.Float64)
    return table.with_columns(
        pl.when(floats.is_finite()).then(floats), pl.col(large).cast(pl.String)
    )


def write_text(path: str | Path, text: str) -> None:
    """Write a file; complain if that cannot be done."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {str(path)!r}: {error.strerror or error}.") from error


def finite(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def html_table(frame: pl.DataFrame) -> str:
    """A plain HTML table, every label escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in frame.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{html.escape(shown(cell))}</td>" for cell in row) + "</tr>\n"
        for row in frame.iter_rows()
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
