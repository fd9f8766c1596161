"""Excel workbooks: a sheet per table, in which text is text and no formula."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from juryrank.errors import InputError
from juryrank.writing.atomic import write_whole

MOST_ROWS, LONGEST_CELL = 1_048_575, 32_767
"""What a sheet of Excel holds below its header."""
LARGEST_WHOLE = 2**53
"""Excel's numbers are floats: larger ones would come back as others."""


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
            f"Cannot write {str(path)!r}: an Excel sheet holds up to {MOST_ROWS:,} rows "
            f"and cells of up to {LONGEST_CELL:,} characters. Save as .csv or .parquet."
        )
    whole = [column for column in columns if column.dtype.is_integer()]
    large = [one.name for one in whole if (one.cast(pl.Float64).abs() > LARGEST_WHOLE).any()]
    floats = pl.col(pl.Float32, pl.Float64)
    return table.with_columns(
        pl.when(floats.is_finite()).then(floats), pl.col(large).cast(pl.String)
    )
