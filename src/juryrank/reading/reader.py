"""`read_votes` and `votes_from`: rows in, `Votes` out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import IO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.lists import no_lists
from juryrank.reading.coding import (
    Coded,
    blank_twins,
    coded,
    labels,
    order_by,
    ordered,
    same_kind,
)
from juryrank.reading.columns import Columns, choose
from juryrank.reading.files import Part, Rows, header, parts_of, read_rows
from juryrank.reading.frames import part_of
from juryrank.reading.outcomes import Outcomes, checked_map, outcomes
from juryrank.reading.rows import (
    Complaint,
    bad_outcomes,
    bad_weights,
    missing,
    sift,
    weights,
)
from juryrank.votes import LEFT_WON, LeftOut, Votes

NO_JUDGE = "(all)"


def read_votes(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    format: str | None = None,  # noqa: A002  the word users know
    judge: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    weight: str | None = None,
    outcome_map: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> Votes:
    """Read votes from a file.

    Args:
        source: A file of CSV, TSV, NDJSON, JSON, Parquet or Arrow IPC, also compressed as ``.gz``
            or ``.zst``; a folder or glob of such files; ``-`` for standard input; an open file.
        format: The format, if it cannot be told from the content and the ending.
        judge: The column of judges, if its name does not say so. Without such a column all votes
            are one judge's.
        winner: The column of winners, or of outcomes where there are left and right items.
        loser: The column of losers.
        left: The column of items shown on the left.
        right: The column of items shown on the right.
        weight: The column of weights, positive numbers.
        outcome_map: What the words in the outcome column mean: left, right, tie or skip.
        skip_bad: Leave bad rows out and count them, instead of raising an error.

    Raises:
        InputError: The source cannot be read or holds bad rows; the message says which.
    """
    asked = {"judge": judge, "winner": winner, "loser": loser}
    asked |= {"left": left, "right": right, "weight": weight}
    return _votes(parts_of(source, format), asked, outcome_map, skip_bad)


def votes_from(
    frame: object,
    *,
    judge: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    left: str | None = None,
    right: str | None = None,
    weight: str | None = None,
    outcome_map: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> Votes:
    """Take votes from a data frame.

    Args:
        frame: A data frame of polars, pandas, pyarrow, duckdb or any library with the Arrow
            PyCapsule interface; a mapping of columns; or a list of rows as mappings.
        judge: As for `read_votes`, and so are all further arguments.
        winner: The column of winners or outcomes.
        loser: The column of losers.
        left: The column of items shown on the left.
        right: The column of items shown on the right.
        weight: The column of weights.
        outcome_map: What the words in the outcome column mean.
        skip_bad: Leave bad rows out and count them, instead of raising an error.

    Raises:
        InputError: The frame holds no votes or bad rows; the message says which.
    """
    asked = {"judge": judge, "winner": winner, "loser": loser}
    asked |= {"left": left, "right": right, "weight": weight}
    return _votes([part_of(frame)], asked, outcome_map, skip_bad)


def as_votes(votes: Votes | object) -> Votes:
    """Give votes back as they are, or take them from a data frame."""
    return votes if isinstance(votes, Votes) else votes_from(votes)


def _votes(
    parts: Sequence[Part],
    asked: Mapping[str, str | None],
    outcome_map: Mapping[str, str] | None,
    skip_bad: bool,
) -> Votes:
    meanings = checked_map(outcome_map)
    columns = _columns(parts, asked)
    if meanings and columns.outcome is None:
        raise InputError(
            f"There is no outcome column to map: {columns.left!r} always beats {columns.right!r}. "
            "Leave the outcome map out, or name the columns of the left and right item."
        )
    rows = read_rows(parts, columns.used)
    if not len(rows.frame):
        raise InputError(f"{parts[0].name} has a header but no votes.")
    return _coded_votes(rows, columns, meanings, skip_bad)


def _columns(parts: Sequence[Part], asked: Mapping[str, str | None]) -> Columns:
    found = [choose(part.name, header(part), asked) for part in parts]
    for part, columns in zip(parts, found, strict=True):
        if columns != found[0]:
            raise InputError(
                f"{parts[0].name} and {part.name} have different columns: "
                f"{', '.join(found[0].used)}; {', '.join(columns.used)}."
            )
    return found[0]


def _coded_votes(
    rows: Rows, columns: Columns, meanings: Mapping[str, int], skip_bad: bool
) -> Votes:
    items = coded(*same_kind(rows.frame[columns.left], rows.frame[columns.right]))
    judges = _judges(rows, columns)
    outcome = (
        None
        if columns.outcome is None
        else outcomes(rows.frame[columns.outcome], columns, items, meanings)
    )
    weight = None if columns.weight is None else weights(rows.frame[columns.weight])
    complaints = _complaints(rows, columns, items, judges, outcome, weight)
    left, right = items.codes
    _check_two_items(items)
    keep, left_out = sift(rows, complaints, left == right, outcome, skip_bad)
    won = None if outcome is None else outcome.codes
    if keep is not None:
        items = Coded(items.labels, (left[keep], right[keep]))
        judges = Coded(judges.labels, (judges.codes[0][keep],))
        won = None if won is None else won[keep]
        weight = None if weight is None else weight[keep]
    items, judges = ordered(items, rows.text), ordered(judges, rows.text)
    votes = _sorted_votes(items, judges, won, weight, columns.judge is not None, left_out)
    odd = (blank_twins(items.labels), blank_twins(judges.labels))
    return replace(votes, notices=tuple(notice for notice in odd if notice))


def _judges(rows: Rows, columns: Columns) -> Coded:
    if columns.judge is None:
        return Coded(pl.Series([NO_JUDGE]), (np.zeros(len(rows.frame), dtype=np.int32),))
    return coded(labels(rows.frame[columns.judge]))


def _complaints(
    rows: Rows,
    columns: Columns,
    items: Coded,
    judges: Coded,
    outcome: Outcomes | None,
    weight: NDArray[np.float64] | None,
) -> list[Complaint]:
    found = [] if outcome is None else bad_outcomes(outcome)
    if judges.has_missing:
        found.append(missing(str(columns.judge), judges.codes[0]))
    if items.has_missing:
        sides = zip((columns.left, columns.right), items.codes, strict=True)
        found += [missing(column, codes) for column, codes in sides]
    if weight is not None and columns.weight is not None:
        found.append(bad_weights(rows.frame[columns.weight], weight))
    return found


def _check_two_items(items: Coded) -> None:
    if len(items.labels) == 1 and not items.has_missing:
        raise InputError(
            f"There is only one item, {items.labels[0]!r}: a ranking needs at least two."
        )


def _sorted_votes(
    items: Coded,
    judges: Coded,
    outcome: NDArray[np.int8] | None,
    weight: NDArray[np.float64] | None,
    judges_known: bool,
    left_out: LeftOut,
) -> Votes:
    (judge,) = judges.codes
    left, right = items.codes
    order = order_by(judge, len(judges.labels))
    if order is not None:
        left, right = left[order], right[order]
        outcome = None if outcome is None else outcome[order]
        weight = None if weight is None else weight[order]
    return Votes(
        items=items.labels.alias("item"),
        judges=judges.labels.alias("judge"),
        start=np.concatenate(([0], np.cumsum(np.bincount(judge)))),
        left=left,
        right=right,
        outcome=np.full(len(left), LEFT_WON, dtype=np.int8) if outcome is None else outcome,
        weight=np.ones(len(left)) if weight is None else weight,
        lists=no_lists(len(judges.labels)),
        sides_known=outcome is not None,
        judges_known=judges_known,
        left_out=left_out,
    )
