"""Columns about the row and not about the vote: its number, when it was written, how long it took.

They are never suggested as the judge, an item or the outcome, whatever their values look like.
"""

from __future__ import annotations

import re

import polars as pl

from juryrank.reading.names import plain

_INDEX = re.compile(
    r"_?index_level_[0-9]+_?|level_[0-9]+|unnamed:?_?[0-9]*(?:_level_[0-9]+)?|index|"
    r"row(?:_?(?:id|no|nr|num|number|index))?"
)
_MOMENT = re.compile(
    r"(?:\w+_)?(?:time_?stamp|date_?time|date|datum|zeitstempel|horodateur|marca_temporal|fecha|"
    r"utc|epoch|ts|hour|weekday)"
    r"|(?:\w+_)?(?:start|end|begin|finish|server|client|local)_?time"
    r"|(?:\w+_)?(?:created|updated|modified|submitted|started|ended|finished|completed|recorded|"
    r"voted|judged|rated|answered|opened|closed)(?:_(?:at|on|time|date))"
    r"|(?:start|end|recorded)date|time"
)
_DURATION = re.compile(
    r"(?:\w+_)?(?:duration|elapsed|elapsed_time|time_taken|time_spent|time_needed|time_used|"
    r"time_to_\w+|(?:response|reaction|decision|judg(?:e)?ment|completion|annotation|lead|work|"
    r"answer|vote|voting|rating|task)_?time|rt|latency|worktimeinseconds)"
    r"(?:_in)?(?:_(?:ms|msec|msecs|millis|milliseconds|s|sec|secs|seconds|min|mins|minutes))?"
    r"|(?:time_)?(?:in_)?(?:ms|milliseconds|sec|secs|seconds|minutes)"
    r"|time_s|seconds_(?:taken|spent|needed)|milliseconds_(?:taken|spent|needed)"
)
_CLOCK = r"[0-2]?[0-9][:.h][0-5][0-9](?:[:.][0-5][0-9](?:[.,][0-9]+)?)?\s*(?:[ap]\.?m\.?)?"
_DAY = (
    r"(?:[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]|[0-3]?[0-9][-/.][0-3]?[0-9][-/.]"
    r"(?:[12][0-9])?[0-9]{2})"
)
_WRITTEN_MOMENT = rf"(?i)^(?:{_DAY}(?:[T,\s]\s*{_CLOCK}.*)?|[0-2]?[0-9]:[0-5][0-9](?:[:.\s].*)?)$"
"""A date, with or without the time of day, or a time of day with a colon."""
MOST_ODD = 0.1


def is_bookkeeping(column: pl.Series) -> bool:
    """Tell by its name or its text whether a column is about the row and not about the vote."""
    return says_bookkeeping(column.name) or _are_numbers_without_name(column) or are_moments(column)


def says_bookkeeping(name: str) -> bool:
    """Tell by its name whether a column numbers the rows, or says when, or how long, one voted."""
    bare = bare_name(name)
    return any(known.fullmatch(bare) for known in (_INDEX, _MOMENT, _DURATION))


def says_moment(name: str) -> bool:
    """Tell by its name whether a column may say when something was."""
    return bool(_MOMENT.fullmatch(bare_name(name)))


def is_duration(name: str) -> bool:
    """Tell by its name whether a column may say how long a vote took."""
    return bool(_DURATION.fullmatch(bare_name(name)))


def bare_name(name: str) -> str:
    """Write a name without brackets: ``Duration (in seconds)``, ``responseTime``."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9_]", "", plain(parted))


def are_moments(column: pl.Series) -> bool:
    """Tell whether (nearly) all cells of a column of text are dates or times of day."""
    filled = column.drop_nulls()
    if filled.dtype != pl.String or not len(filled):
        return False
    return int(filled.str.contains(_WRITTEN_MOMENT).sum()) >= (1 - MOST_ODD) * len(filled)


def _are_numbers_without_name(column: pl.Series) -> bool:
    """Whether a column has no name and holds whole numbers, as the index of pandas does."""
    if column.name.strip() and not column.name.startswith("(unnamed"):
        return False
    filled = column.cast(pl.String).drop_nulls()
    return bool(filled.str.contains(r"^\s*[0-9]+\s*$").all())
