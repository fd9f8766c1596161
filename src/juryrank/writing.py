"""Frames and text into files, and values into what JSON and HTML can hold."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from juryrank.errors import InputError
from juryrank.formulas import without_formulas
from juryrank.replacing import whole_file
from juryrank.saving import DOCUMENTS, SEPARATORS, check_ending, saved_as
from juryrank.typesetting import latex_table, markdown_table, shown

MOST_ROWS, LONGEST_CELL = 1_048_575, 32_767
"""What a sheet of Excel holds below its header."""
LARGEST_WHOLE = 2**53
"""Excel's numbers are floats: larger ones would come back as others."""


def save_frame(frame: pl.DataFrame, path: str | Path, *, safe_csv: bool = False) -> None:
    """Write a frame, by file ending, as one of `juryrank.saving.SAVED_AS` (JSON: as rows).

    Args:
        frame: What to write.
        path: Where to.
        safe_csv: Let no cell of a CSV or TSV file be a formula (see `juryrank.formulas`).
    """
    match check_ending(path):
        case ending if ending in SEPARATORS:
            cells = without_formulas(frame) if safe_csv else frame
            separator = SEPARATORS[ending]
            write_whole(path, lambda part: cells.write_csv(part, separator=separator))
        case ".parquet":
            write_whole(path, frame.write_parquet)
        case ".json":
            write_text(path, json.dumps(finite(frame.to_dicts()), default=str) + "\n")
        case ".html":
            write_text(path, html_table(frame))
        case _:
            save_tables({"table": frame}, path)


class Answer(Protocol):
    """A ranking, or several."""

    @property
    def items(self) -> pl.DataFrame:
        """The items."""

    @property
    def judges(self) -> pl.DataFrame:
        """The judges."""

    def to_json(self) -> str:
        """Everything as JSON."""

    def report(self) -> str:
        """The report as a page."""


def save_answer(answer: Answer, path: str | Path, *, safe_csv: bool = False) -> None:
    """Write what a format has room for: the items, with the judges, or everything."""
    match saved_as(path):
        case ending if ending in DOCUMENTS:
            save_tables({"items": answer.items, "judges": answer.judges}, path)
        case ".json":
            write_text(path, answer.to_json() + "\n")
        case ".html":
            write_text(path, answer.report())
        case _:
            save_frame(answer.items, path, safe_csv=safe_csv)


def save_tables(tables: Mapping[str, pl.DataFrame], path: str | Path) -> None:
    """Write several frames with their names as Markdown, LaTeX or an Excel workbook."""
    match check_ending(path, DOCUMENTS):
        case ".xlsx":
            write_workbook(path, tables)
        case ".md":
            write_text(path, _document(tables, "## {}\n\n", markdown_table))
        case _:
            write_text(path, _document(tables, "% {}\n", latex_table))


def _document(
    tables: Mapping[str, pl.DataFrame], heading: str, table_of: Callable[[pl.DataFrame], str]
) -> str:
    """One table after the other, each under its name if there are several."""
    if len(tables) == 1:
        return "".join(map(table_of, tables.values()))
    parts = [heading.format(name.capitalize()) + table_of(table) for name, table in tables.items()]
    return "\n".join(parts)


def write_workbook(path: str | Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write an Excel workbook with a sheet per table, in which text is text and no formula."""
    import xlsxwriter

    sheets = {name: _for_excel(path, table) for name, table in tables.items()}
    as_text = {"strings_to_formulas": False, "strings_to_urls": False}

    def write(part: Path) -> None:
        with xlsxwriter.Workbook(part, as_text) as book:
            for name, sheet in sheets.items():
                sheet.write_excel(book, name, autofit=True)

    try:
        write_whole(path, write)
    except xlsxwriter.exceptions.XlsxWriterException as error:
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
    """Write a file of text, in UTF-8."""
    content = text.encode(errors="backslashreplace")  # what is no text is no UTF-8
    write_whole(path, lambda part: part.write_bytes(content))


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let a file be written, so that it is whole or not there; complain if that cannot be done."""
    try:
        with whole_file(path) as part:
            write(part)
    except BrokenPipeError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n", 1)[0]
        raise InputError(f"Cannot write {str(path)!r}: {reason}.") from error


def json_text(answer: dict[str, Any]) -> str:
    """One JSON object; what is not a finite number becomes null."""
    return json.dumps(finite(answer), ensure_ascii=False, allow_nan=False, default=str)


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
