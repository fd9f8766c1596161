"""How long judges take for a vote, where a column tells it: the median of each.

The times themselves are not kept, so that votes without such a column, and votes with one once
they have been read, take no more memory than before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from juryrank.reading.bookkeeping import bare_name, is_duration
from juryrank.reading.coding import labels
from juryrank.reading.columns import Columns, LongColumns, RatingColumns
from juryrank.reading.files import Part, column_types, read_rows
from juryrank.reading.rows import Rules, weights
from juryrank.votes.similar_names import looks
from juryrank.votes.votes import JudgeTimes, Votes

_CLOCK = r"^\s*(?:([0-9]+):)?([0-9]{1,2}):([0-9]{2}(?:\.[0-9]+)?)\s*$"
"""Minutes and seconds, or hours too, with colons between them."""
SECONDS = "s"
LONGEST = 1e8
"""Longer times, in whatever unit, are dates: seconds since 1970, or the like."""
_UNITS = {
    r"(?:^|_)(?:ms|msec|msecs|millis|milliseconds)(?:_|$)": 1e-3,
    r"(?:^|_)(?:s|sec|secs|seconds)(?:_|$)|inseconds$": 1.0,
    r"(?:^|_)(?:min|mins|minutes)(?:_|$)": 60.0,
}
"""Seconds in the units that names of columns tell."""


def time_column(parts: Sequence[Part], unused: Sequence[str]) -> str | None:
    """Find the column that tells how long a vote took: by its name, and as it holds numbers."""
    types = column_types(parts, [name for name in unused if is_duration(name)])
    able = (name for name, dtype in types.items() if dtype == pl.String or _is_amount(dtype))
    return next(able, None)


def _is_amount(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or isinstance(dtype, pl.Duration)


def judge_times(
    parts: Sequence[Part], columns: Columns, rules: Rules, votes: Votes, column: str
) -> JudgeTimes | None:
    """Give the median time of each judge; None if nothing tells it, or every row is a judge."""
    if rules.judge_per_row:
        return None
    rows, unit = _times(parts, columns, column)
    if not len(rows) or rows.select(pl.median("time")).item() > LONGEST:
        return None
    names = votes.judges.cast(pl.String)
    if columns.judge is None:
        rows = rows.with_columns(judge=pl.lit(names[0]))
    elif rules.merge_names:
        names, rows = looks(names), rows.with_columns(looks(rows["judge"]))
    medians = rows.group_by("judge").agg(pl.col("time").median())
    found = names.alias("judge").to_frame().join(
        medians, on="judge", how="left", maintain_order="left"
    )  # fmt: skip
    return JudgeTimes(found["time"].fill_null(np.nan).to_numpy(), unit, column)


def _times(parts: Sequence[Part], columns: Columns, column: str) -> tuple[pl.DataFrame, str]:
    """The judge and the time of every vote, and the unit of times: seconds, if that is known."""
    row = columns.id if isinstance(columns, LongColumns | RatingColumns) else None
    named = [name for name in (columns.judge, row, column) if name is not None]
    frame = read_rows(parts, named).frame.select(named)
    if isinstance(columns, LongColumns) or parts[0].before is not None:
        frame = frame.unique(maintain_order=True)  # a row for each item tells the time of all
    time, unit = _seconds(frame[column])
    judge = [] if columns.judge is None else [labels(frame[columns.judge]).cast(pl.String)]
    rows = pl.DataFrame([*(one.alias("judge") for one in judge), time.alias("time")])
    return rows.filter(pl.col("time").is_finite() & (pl.col("time") >= 0)), unit


def _by_the_clock(column: pl.Series) -> pl.Series | None:
    """Times such as 0:01:23 in seconds; None if they are written otherwise."""
    if column.dtype != pl.String or not column.str.contains(_CLOCK).any():
        return None
    hours, minutes, seconds = column.str.extract_groups(_CLOCK).struct.unnest().cast(pl.Float64)
    return hours.fill_null(0.0) * 3600 + minutes * 60 + seconds


def _seconds(column: pl.Series) -> tuple[pl.Series, str]:
    """Times in seconds, if the type or the name of the column tells the unit; else as given."""
    if isinstance(column.dtype, pl.Duration):
        return column.dt.total_microseconds() / 1e6, SECONDS
    if (clock := _by_the_clock(column)) is not None:
        return clock, SECONDS
    time = pl.Series(weights(column))
    name = bare_name(column.name)
    factor = next((size for unit, size in _UNITS.items() if re.search(unit, name)), None)
    return (time, "") if factor is None else (time * factor, SECONDS)
