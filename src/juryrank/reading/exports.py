"""Exports of other tools, known by their structure, as plain rows.

Votes may be nested in records, or an outcome may be spread over columns. What is taken out of an
export is read like any other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from juryrank.reading import argilla, label_studio
from juryrank.reading.columns import fits_some_shape
from juryrank.reading.names import known_names, plain
from juryrank.reading.nesting import struct_fields
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
    scan = _opened(scan, schema)
    return _with_judges_as_text(_one_outcome(scan, scan.collect_schema()))


def _opened(scan: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """Make a column of everything in objects, ``answer.model``, unless the others are the votes."""
    objects = {name: struct_fields(dtype) for name, dtype in schema.items()}
    plainly = [name for name, fields in objects.items() if not fields]
    if len(plainly) == len(schema) or fits_some_shape(plainly, {}):
        return scan
    columns = [
        column
        for name, fields in objects.items()
        for column in (
            [pl.col(name).struct.field(inner).alias(f"{name}.{inner}") for inner in sorted(fields)]
            or [pl.col(name)]
        )
    ]
    names = [column.meta.output_name() for column in columns]
    if len(set(names)) < len(names):
        return scan
    opened = scan.select(columns)
    return _opened(opened, opened.collect_schema())


def _with_judges_as_text(plainly: Plain) -> Plain:
    """Make one name of lists that name the judge, such as ``["gpt-4", "pair-v2"]`` of MT-Bench."""
    schema = plainly.scan.collect_schema()
    known = known_names("judge")
    lists = [
        name
        for name, dtype in schema.items()
        if dtype == pl.List(pl.String) and plain(name) in known
    ]
    if not lists:
        return plainly
    scan = plainly.scan.with_columns(pl.col(lists).list.join(", "))
    return replace(plainly, scan=scan, remark=f"each list in {', '.join(lists)} as one name")


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
