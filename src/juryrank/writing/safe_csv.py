"""Cells that a spreadsheet would take for formulas.

Excel, LibreOffice and Google Sheets compute what begins with ``=``, ``+``, ``-`` or ``@``, also
after a tab or a line break, when they open a CSV file: a name such as ``=HYPERLINK(...)`` then acts
instead of being shown. An apostrophe before it makes it text.
"""

from __future__ import annotations

import polars as pl

from juryrank.text import literal

FORMULA = (
    r"^[\s\p{Cc}\p{Cf}]*"
    r"[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}\x{FE66}\x{FE62}\x{FE63}\x{FE6B}]"
)
"""How formulas begin, perhaps after what is not seen; the last eight are the wide and small signs
of East Asian keyboards."""
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A number is no formula, whatever its sign."""
NOT_SHOWN = r"[\p{Cc}\p{Zl}\p{Zp}]"
TEXT = "'"


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before text that would be a formula; show control characters as escapes.

    Columns of numbers, and text that is a number, stay as they are.
    """
    named = frame.rename(dict(zip(frame.columns, _safe_names(frame), strict=True)))
    text = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    is_formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
    shown = (
        pl.when(text.str.contains(NOT_SHOWN))
        .then(text.map_elements(literal, return_dtype=pl.String))
        .otherwise(text)
    )
    return named.with_columns(
        pl.when(is_formula).then(pl.lit(TEXT) + shown).otherwise(shown).name.keep()
    )


def _safe_names(frame: pl.DataFrame) -> list[str]:
    """The header is made of cells too: ranked by a column, it has that column's name."""
    names = pl.Series("name", frame.columns, dtype=pl.String).to_frame()
    if names["name"].str.contains(f"{FORMULA}|{NOT_SHOWN}").any():
        return without_formulas(names)["name"].to_list()
    return frame.columns
