"""Exports of other tools, known by their structure, as plain rows.

Votes may be nested in records, or an outcome may be spread over columns. What is taken out of an
export is read like any other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from juryrank.reading import argilla, label_studio
from juryrank.reading.plain import Plain, Record

_YES, _NO = ("1", "1.0", "true"), ("0", "0.0", "false")


def is_export(names: Iterable[object]) -> bool:
    """Tell by its keys whether a record may hold votes of Label Studio or Argilla."""
    known = {name for name in names if isinstance(name, str)}
    return (
        {"data", "annotations"} <= known
        or {"fields", "responses"} <= known
        or any(f"{name}.users" in known for name in known if name.endswith(".responses"))
    )


def records_as_rows(name: str, records: Sequence[Record]) -> Plain:
    """Take the votes out of the records of an export."""
    if any("annotations" in record for record in records):
        return label_studio.tasks_as_rows(name, records)
    return argilla.records_as_rows(name, records)


def table_as_rows(name: str, scan: pl.LazyFrame) -> Plain:
    """Take the votes out of a table, if it is an export; else give it as it is."""
    schema = scan.collect_schema()
    nested = [column for column, dtype in schema.items() if dtype.is_nested()]
    if is_export(nested) or any(argilla.holds_responses(column, schema) for column in schema):
        return records_as_rows(name, scan.collect().to_dicts())
    if label_studio.is_table(schema):
        return label_studio.table_as_rows(scan, schema)
    return _one_outcome(scan, schema)


def _one_outcome(scan: pl.LazyFrame, schema: pl.Schema) -> Plain:
    """Bring ``winner_model_a, winner_model_b, winner_tie``, one of which is 1, into one column."""
    sides = [name for name in schema if f"winner_{name}" in schema]
    if len(sides) != 2 or "winner" in schema:
        return Plain(scan)
    words = [word for word in (*sides, "tie") if f"winner_{word}" in schema]
    flags = [_flag(f"winner_{word}") for word in words]
    # What is neither 1 nor 0, or 1 twice, stays as it is given, and will be complained about.
    said = pl.concat_str(flags, separator=",", ignore_nulls=True)
    for word, flag in zip(words, flags, strict=True):
        others = [other.is_in(_NO) for other in flags if other is not flag]
        is_it = pl.all_horizontal(flag.is_in(_YES), *others)
        said = pl.when(is_it).then(pl.lit(word)).otherwise(said)
    is_blank = pl.all_horizontal(flag.is_null() for flag in flags)
    winner = pl.when(is_blank).then(None).otherwise(said).alias("winner")
    return Plain(scan.with_columns(winner), {"outcome": ("winner",)})


def _flag(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
