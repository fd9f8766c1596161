"""Spreadsheets: `.xlsx`, `.xls`, `.ods` and their kin, read by calamine."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from juryrank.errors import InputError, listing
from juryrank.reading.formats import content_of
from juryrank.reading.headers import told_apart
from juryrank.reading.titles import lines_above_header, said_of_titles

FIRST_ROWS = 500
"""Rows in which the header is looked for, or what is in it."""
SHEET = "(--sheet)"
"""Ends what is said of a sheet that was chosen because it is the first."""


class Sheet(NamedTuple):
    """The rows of a sheet as text, and what to say about how it was chosen."""

    rows: pl.DataFrame
    remark: str = ""
    title: str = ""
    """What to say about lines above the header."""


def read_sheet(name: str, where: Path | bytes, wanted: str | None) -> Sheet:
    """Read a sheet, the first unless another is wanted; its header may stand below titles."""
    content = content_of(where)
    with _complaining():
        names = list(_fastexcel().read_excel(content).sheet_names)
    if not names:
        raise InputError(f"{name} is a spreadsheet without sheets: there are no votes in it.")
    sheet = names[0] if wanted is None else _chosen(name, names, wanted)
    try:
        with _complaining():
            cells = pl.read_excel(
                io.BytesIO(content),
                sheet_name=sheet,
                engine="calamine",
                has_header=False,  # so that columns of the same name are told apart as in CSV
                infer_schema_length=0,
            )
    except pl.exceptions.NoDataError as error:
        raise _empty(name, sheet, names) from error
    above = lines_above_header(cells.head(FIRST_ROWS).rows())
    header = [str(cell or "") for cell in cells.row(above)]
    rows = cells.slice(above + 1).rename(dict(zip(cells.columns, told_apart(header), strict=True)))
    others = [other for other in names if other != sheet]
    remark = f"first sheet {sheet!r}, not {listing([repr(other) for other in others])} {SHEET}"
    title = said_of_titles(cells.head(above).rows()) if above else ""
    return Sheet(rows, remark if others and wanted is None else "", title)


def _fastexcel() -> Any:
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InputError(
            "Reading Excel and OpenDocument files needs the package fastexcel: "
            "pip install fastexcel. Or save the sheet as CSV."
        ) from None
    return fastexcel


@contextmanager
def _complaining() -> Iterator[None]:
    """Let what the package finds wrong be wrong values, as it is of other formats."""
    try:
        yield
    except _fastexcel().FastExcelError as error:
        raise ValueError(str(error)) from error


def _chosen(name: str, names: Sequence[str], wanted: str) -> str:
    alike = [sheet for sheet in names if sheet.strip().lower() == wanted.strip().lower()]
    if wanted in names or len(alike) == 1:
        return wanted if wanted in names else alike[0]
    raise InputError(f"{name} has no sheet {wanted!r}. Its sheets: {listing(names, 20)}.")


def _empty(name: str, sheet: str, names: Sequence[str]) -> InputError:
    others = [other for other in names if other != sheet]
    hint = f" Choose another with --sheet: {listing(others)}." if others else ""
    return InputError(f"{name} is empty: the sheet {sheet!r} has no votes in it.{hint}")
