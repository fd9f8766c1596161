"""Columns of lists and objects: taken apart, and made of one type where they mix several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, listing
from juryrank.reading.columns import fits_some_shape
from juryrank.reading.formats import HEAD, UTF8_BOM, content_of, is_compressed
from juryrank.reading.names import known_names, plain

HALF_CHARACTER = r"\\u[dD][89a-fA-F]"
"""How JSON begins one half of a character that takes two: the other one may be missing."""


def has_half_character(value: object) -> bool:
    """Tell whether text in JSON, once decoded, has a half of a character: it is no text then."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


_LONE_HALF = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|[c-fC-F](?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]))"
)
"""It begins with what both halves have in common, so that most of a file is passed over fast."""


def check_characters(name: str, where: Path | bytes) -> None:
    """Complain about records with half of a character: polars would make names one by it."""
    if not _may_have_halves(where):
        return
    try:
        records = records_in(where)
        if len(records) == 1 and (wrapped := wrapped_in(name, records[0])) is not None:
            records = wrapped.records
    except (ValueError, RecursionError):
        return  # reading it will say what is wrong
    bad = [f"record {at:,}" for at, one in enumerate(records, start=1) if has_half_character(one)]
    if not bad:
        return
    has = "has" if len(bad) == 1 else "have"
    raise InputError(
        f"{name}: {len(bad):,} of {len(records):,} records {has} half of a character (a lone "
        f"surrogate such as \\ud83d), which is not text: {listing(bad, 3)}. A name or text was cut "
        "within a sign such as an emoji: write it whole."
    )


def _may_have_halves(where: Path | bytes) -> bool:
    if isinstance(where, bytes) or is_compressed(where):
        return _LONE_HALF.search(content_of(where)) is not None
    if not where.stat().st_size:
        return False
    # The file may be larger than memory.
    with where.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return _LONE_HALF.search(content) is not None


def flat(lists: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64], pl.Series]:
    """Give the values of lists one after the other, with the list of each and the index in it."""
    size = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    filled = size > 0
    values = (lists if filled.all() else lists.filter(filled)).explode()
    owner = np.repeat(np.arange(len(size)), size)
    index = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return owner, index, values


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


def struct_fields(dtype: object) -> set[str]:
    """The names of what is in the objects; none if it is another type."""
    return {inner.name for inner in dtype.fields} if isinstance(dtype, pl.Struct) else set()


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


def table_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str] = ()) -> pl.DataFrame:
    """Make a table of rows; the cells of a column that mixes types become text.

    Args:
        rows: The rows.
        names: Columns the table has in any case, before all others.
    """
    names = list(dict.fromkeys((*names, *(name for row in rows for name in row))))
    return pl.DataFrame([_column(name, [row.get(name) for row in rows]) for name in names])


def _column(name: str, values: list[Any]) -> pl.Series:
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return pl.Series(name, [_as_text(value) for value in values], dtype=pl.String)


def _as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, default=str)


def read_json(content: bytes) -> pl.DataFrame:
    """Read an array of objects, also one whose columns mix types."""
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
    """Decode an array of objects that have lists in lists, or columns that mix types."""
    try:
        rows = json.loads(content)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return None
        return table_of(evened_rows(rows))
    except (ValueError, TypeError, RecursionError, pl.exceptions.PolarsError):
        return None


# --- records -------------------------------------------------------------------------------------


def first_record(where: Path | bytes, head: bytes) -> dict[str, Any]:
    """Decode the first object of an array or of lines; nothing if that is no object."""
    found, _ = _first_object(where, head)
    return found


def _first_object(where: Path | bytes, head: bytes) -> tuple[dict[str, Any], bool]:
    """The first object, and whether anything but blanks follows it."""
    found = _decoded(head)
    if found is None and len(head) >= HEAD:  # it is longer than what was looked at
        found = _decoded(content_of(where))
    return found or ({}, False)


def _decoded(content: bytes) -> tuple[dict[str, Any], bool] | None:
    text = content.removeprefix(UTF8_BOM).decode(errors="replace").lstrip()
    text = text.removeprefix("[").lstrip()
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return (found, bool(text[end:].strip())) if isinstance(found, dict) else None


class Wrapped(NamedTuple):
    """Records that stand under a key of a single object: ``{"votes": [...]}``."""

    key: str
    records: list[dict[str, Any]]

    @property
    def remark(self) -> str:
        """What is said of it."""
        return f"the records under the key {self.key!r}" if self.key else "one object as a table"


def wrapped_records(name: str, where: Path | bytes, head: bytes) -> Wrapped | None:
    """Find the records of a file that is one object with a list of records in it."""
    if not head.removeprefix(UTF8_BOM).lstrip().startswith(b"{"):
        return None
    found, goes_on = _first_object(where, head)
    if goes_on:
        return None
    rows = table_in(found)
    return wrapped_in(name, found) if rows is None else Wrapped("", rows)


def wrapped_in(name: str, found: Mapping[str, Any]) -> Wrapped | None:
    """Find the key that holds a list of records; complain if several do.

    A vote may have such lists too, as of what was said in a conversation.
    """
    if fits_some_shape(list(found), {}):
        return None
    keys = [key for key, value in found.items() if _are_records(value)]
    if len(keys) > 1:
        raise InputError(
            f"{name} has several lists of records: {listing(keys)}. Save the one that holds the "
            "votes as a file of its own; if all do, such as one list for each judge, join them and "
            "write the key into every record."
        )
    return Wrapped(keys[0], list(found[keys[0]])) if keys else None


_LISTS = known_names("ranking") | known_names("options")


def table_in(found: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Find the rows of a table that is one object, in the ways in which pandas writes tables.

    That is by columns (lists, or objects by the number of the row), as a list of columns and one of
    rows, or as an object for each row, by its number.
    """
    names, rows = found.get("columns"), found.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(map(_is_list, rows)):
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    values = list(found.values())
    if not values:
        return None
    if fits_some_shape(list(found), {}):
        if _LISTS & {plain(name) for name in found}:
            return None  # a single vote may hold lists of items
        if all(_is_list(value) for value in values) and len({len(value) for value in values}) == 1:
            return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
        if all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
            return [{name: found[name][row] for name in found} for row in values[0]]
        return None
    if all(isinstance(value, dict) and fits_some_shape(list(value), {}) for value in values):
        return list(values)
    return None


def _are_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def records_in(where: Path | bytes) -> list[dict[str, Any]]:
    """Decode an array of objects, or an object per line."""
    content = content_of(where).removeprefix(UTF8_BOM)
    if not content.lstrip().startswith(b"["):
        content = b"[" + b",".join(line for line in content.splitlines() if line.strip()) + b"]"
    records = json.loads(content)
    bad = next((at for at, one in enumerate(records, start=1) if not isinstance(one, dict)), None)
    if bad is not None:
        raise ValueError(f"record {bad:,} is not an object")
    return list(records)
