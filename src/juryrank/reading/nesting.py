"""Columns of lists: taken apart, and evened out where items and lists of tied items mix."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.reading.formats import content_of


def flat(lists: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64], pl.Series]:
    """Give the values of lists one after the other, with the list of each and the place in it."""
    size = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    filled = size > 0
    values = (lists if filled.all() else lists.filter(filled)).explode()
    owner = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return owner, place, values


def never_empty(lists: pl.Series) -> pl.Series:
    """Put a missing value into every list that has none, so that it leaves a trace."""
    filled = lists.list.len().fill_null(0) > 0
    missing = pl.Series(lists.name, [[None]], dtype=lists.dtype)
    return lists if filled.all() else lists.zip_with(filled, missing.new_from_index(0, len(lists)))


def without_arrays(column: pl.Series) -> pl.Series:
    """Make lists of polars' arrays, lists of a fixed length."""
    return column.cast(_listed(column.dtype))


def _listed(dtype: pl.DataType) -> pl.DataType:
    return pl.List(_listed(inner_of(dtype))) if isinstance(dtype, pl.List | pl.Array) else dtype


def inner_of(dtype: pl.List | pl.Array) -> pl.DataType:
    """The type of what is in the lists."""
    return dtype.inner() if isinstance(dtype.inner, type) else dtype.inner


def evened(values: Iterable[Any]) -> list[Any]:
    """Make every item of every list a list of its own, if some of them are."""
    kept = list(values)
    if not any(_is_list(part) for value in kept if _is_list(value) for part in value):
        return kept
    return [
        [list(part) if _is_list(part) else [part] for part in value] if _is_list(value) else value
        for value in kept
    ]


def evened_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Even out every column of a table that is given as rows."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [dict(row) for row in rows]
    for name in names:
        having = [row for row in table if name in row]
        for row, value in zip(having, evened(row[name] for row in having), strict=True):
            row[name] = value
    return table


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def read_json(content: bytes) -> pl.DataFrame:
    """Read an array of objects; where polars sees mixed types, even its lists out first."""
    try:
        return pl.read_json(content, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        even = _evened_frame(content)
        if even is None:
            raise
        return even


def scan_ndjson(where: Path | bytes) -> pl.LazyFrame:
    """Read an object per line; where polars makes text of the lists in lists, even them out."""
    scan = pl.scan_ndjson(where, infer_schema_length=None)
    try:
        if not _has_lists_as_text(scan):
            return scan
    except pl.exceptions.PolarsError:
        pass  # the lines may mix types, or be no objects: then the scan is to say so
    lines = (line for line in content_of(where).splitlines() if line.strip())
    even = _evened_frame(b"[" + b",".join(lines) + b"]")
    return scan if even is None else even.lazy()


def _has_lists_as_text(scan: pl.LazyFrame) -> bool:
    schema = scan.collect_schema()
    lists = [name for name, dtype in schema.items() if dtype == pl.List(pl.String)]
    if not lists:
        return False
    bracketed = pl.element().str.starts_with("[") & pl.element().str.ends_with("]")
    some = pl.any_horizontal(pl.col(name).list.eval(bracketed).list.any().any() for name in lists)
    return bool(scan.select(some).collect().item())


def _evened_frame(content: bytes) -> pl.DataFrame | None:
    """Decode an array of objects that have lists in lists; nothing if it is something else."""
    try:
        rows = json.loads(content)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        table = evened_rows(rows)
        return None if table == rows else pl.DataFrame(table, infer_schema_length=None)
    except (ValueError, TypeError, RecursionError, pl.exceptions.PolarsError):
        return None
