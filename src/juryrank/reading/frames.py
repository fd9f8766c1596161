"""From the user's data frame, whoever made it, to rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeGuard

import polars as pl

from juryrank.errors import InputError
from juryrank.reading.conditions import LARGEST_EXACT
from juryrank.reading.exports import is_export, records_as_rows, table_as_rows
from juryrank.reading.files import Part
from juryrank.reading.headers import told_apart
from juryrank.reading.nesting import evened, evened_rows, table_in, table_of, wrapped_in
from juryrank.reading.plain import Plain
from juryrank.reading.rust_panics import without_panics

NAME = "The data frame"


def part_of(frame: object) -> Part:
    """Take a data frame of any library as rows to be read."""
    if isinstance(frame, pl.LazyFrame | pl.DataFrame):
        return Part(NAME, _rows_of(frame.lazy()))
    if not _has_columns(frame):
        kind = type(frame).__name__
        raise InputError(f"Votes cannot be taken from a value of type {kind}. {_way_out(kind)}")
    if isinstance(frame, Mapping):
        frame = _named_by_text(frame)
    if _may_be_wrapped(frame) and (wrapped := wrapped_in(NAME, frame)) is not None:
        return replace(part_of(wrapped.records), remarks=(wrapped.remark,))
    if _may_be_wrapped(frame) and (rows := table_in(frame)) is not None:
        return replace(part_of(rows), remarks=("one object as a table",))
    if _is_pandas(frame):
        frame = _dense(_columns_told_apart(_index_as_columns(frame)))
    if _is_arrow_with_twins(frame):
        frame = frame.rename_columns(told_apart(frame.schema.names))
    records = _records(frame)
    if records and is_export(records[0]):
        return Part(NAME, records_as_rows(NAME, records))
    return Part(NAME, _rows_of(_converted(frame).lazy()))


def _rows_of(scan: pl.LazyFrame) -> Plain:
    """Take a table as rows; a lazy frame may turn out to be impossible."""
    try:
        return table_as_rows(NAME, scan)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"The data frame cannot be read: {_first_line(error)}.") from error


def _way_out(kind: str) -> str:
    if "GroupBy" in kind:
        return (
            "Give the data frame as it was before it was grouped. To rank its groups separately, "
            "name the column: rank(frame, by=...)."
        )
    return (
        "Give a data frame (polars, pandas, pyarrow, duckdb), a mapping of columns or a list of "
        "rows as mappings; for files there is read_votes."
    )


def _named_by_text(columns: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The same columns, whose names may have been numbers."""
    if all(isinstance(name, str) for name in columns):
        return columns
    named = {str(name): column for name, column in columns.items()}
    if len(named) < len(columns):
        raise InputError(
            f"The mapping has {len(columns):,} columns, and as text only {len(named):,} of their "
            "names differ. Give every column a name of its own, as text."
        )
    return named


def _may_be_wrapped(frame: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a mapping need not be one of columns, all of which are lists."""
    if not isinstance(frame, Mapping):
        return False
    return len(frame) == 1 or not all(isinstance(value, list) for value in frame.values())


def _records(frame: Any) -> list[Mapping[str, Any]]:
    """Give an export, made of rows or of columns, as rows; other tables of columns are none."""
    if _is_pandas(frame):
        return list(frame.to_dict("records")) if is_export(frame.columns) else []
    if isinstance(frame, Mapping):
        columns = [list(column) for column in frame.values()] if is_export(frame) else []
        if len({len(column) for column in columns}) != 1:
            return []
        return [dict(zip(frame, row, strict=True)) for row in zip(*columns, strict=True)]
    return list(frame) if isinstance(frame, list | tuple) else []


def _is_pandas(frame: object) -> bool:
    """Whether this is a data frame of pandas, and not a column or groups of one."""
    kinds = type(frame).__mro__
    return any(kind.__name__ == "DataFrame" and _library(kind) == "pandas" for kind in kinds)


def _library(kind: type) -> str:
    return kind.__module__.split(".")[0]


def _index_as_columns(frame: Any) -> Any:
    """Make columns of what the index holds by name, as judges often are; other rows are numbers."""
    levels = range(frame.index.nlevels)
    rest = [level for level in levels if not _is_column_of_its_own(frame, level)]
    plain = frame.reset_index(rest, drop=True) if rest else frame
    return plain if len(rest) == len(levels) else plain.reset_index(allow_duplicates=True)


def _is_column_of_its_own(frame: Any, level: int) -> bool:
    """Whether a level of the index has a name, and no column repeats it."""
    name = frame.index.names[level]
    if name is None or list(frame.columns).count(name) != 1:
        return name is not None
    return not frame.index.get_level_values(level).equals(frame.set_index(name).index)


def _columns_told_apart(frame: Any) -> Any:
    """Number the columns that share a name: else the last of them would take the others' place."""
    names = [str(name) for name in frame.columns]
    return frame if len(set(names)) == len(names) else frame.set_axis(told_apart(names), axis=1)


def _dense(frame: Any) -> Any:
    """Write sparse columns out, which polars does not know."""
    sparse = {
        name: kind.subtype
        for name, kind in frame.dtypes.items()
        if type(kind).__name__ == "SparseDtype"
    }
    return frame.astype(sparse) if sparse else frame


def _is_arrow_with_twins(frame: Any) -> TypeGuard[Any]:
    """Whether this is a table of pyarrow, some of whose columns share a name."""
    is_table = _library(type(frame)) == "pyarrow" and hasattr(frame, "rename_columns")
    return is_table and len(set(frame.schema.names)) < len(frame.schema.names)


def _has_columns(frame: object) -> bool:
    if _library(type(frame)) == "pandas":
        return _is_pandas(frame)
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        return True
    if isinstance(frame, Mapping):
        return True
    return isinstance(frame, list | tuple) and all(isinstance(row, Mapping) for row in frame)


def _converted(frame: Any) -> pl.DataFrame:
    try:
        with without_panics():
            return _plainly(frame)
    except ModuleNotFoundError as error:
        raise InputError(
            f"A {_library(type(frame))} data frame needs the package "
            f"{error.name} to be converted. Install it, or save the votes as Parquet or CSV."
        ) from error
    except UnicodeEncodeError as error:
        raise InputError(
            f"The data frame has half of a character in it ({error.object[error.start]!r}, a "
            "lone surrogate), which is not text: write the whole name or text."
        ) from error
    except pl.exceptions.PanicException as error:
        raise InputError(
            "The data frame cannot be converted: polars, which is to read it, does not know the "
            "type of one of its columns, such as intervals or numbers of more than 38 digits. Make "
            "such columns text, or hand over those of the votes alone."
        ) from error
    # The frame is another library's: there is no telling what it raises.
    except Exception as error:
        raise InputError(
            f"The data frame cannot be converted: {_first_line(error)}. A column must not mix "
            "types, such as numbers and text, and all columns must be of one length."
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")


def _plainly(frame: Any) -> pl.DataFrame:
    try:
        if isinstance(frame, list | tuple):
            return pl.DataFrame([dict(row) for row in frame], infer_schema_length=None)
        return pl.DataFrame(dict(frame) if isinstance(frame, Mapping) else frame)
    except Exception:
        even = _evened(frame)
        if even is None:
            even = _by_column(frame)
        if even is None:
            raise
        return even


def _by_column(frame: Any) -> pl.DataFrame | None:
    """Convert a frame column by column; those that mix types stop the read only if they are used.

    Nothing if they are of different lengths.
    """
    if not isinstance(frame, Mapping) and not _is_pandas(frame):
        return None
    columns = {str(name): column for name, column in frame.items()}
    if len({len(column) for column in columns.values()}) != 1:
        return None
    return pl.DataFrame([_column(name, values) for name, values in columns.items()])


def _column(name: str, values: Any) -> pl.Series:
    try:
        return pl.Series(name, values)
    except UnicodeEncodeError:
        raise
    # What is raised depends on the library that the values are of.
    except Exception:
        given = list(values)
    with suppress(OverflowError, pl.exceptions.PolarsError):
        if all(value is None or type(value) is int for value in given):
            return pl.Series(name, given)
    return pl.Series(name, given, dtype=pl.Float64 if _are_numbers(given) else pl.Object)


def _are_numbers(values: list[Any]) -> bool:
    """Whether values are whole numbers and others, all of which a column of floats holds."""
    return all(
        value is None
        or type(value) is float
        or (type(value) is int and abs(value) <= LARGEST_EXACT)
        for value in values
    )


def _evened(frame: Any) -> pl.DataFrame | None:
    """Convert a frame whose lists mix items and lists of tied items; nothing if it has none."""
    if isinstance(frame, list | tuple):
        return table_of(evened_rows(frame))
    if isinstance(frame, Mapping):
        lists = {name: evened(column) for name, column in frame.items() if _has_lists(column)}
        return pl.DataFrame(dict(frame) | lists) if lists else None
    if not _is_pandas(frame):
        return None
    lists = {name: evened(column) for name, column in frame.items() if _has_lists(column)}
    rest = _by_column(frame.drop(columns=list(lists))) if lists else None
    if rest is None:
        return None
    return rest.with_columns(pl.Series(name, lists[name]) for name in lists)


def _has_lists(column: Any) -> bool:
    return any(isinstance(cell, list | tuple) for cell in column)
