"""Rankings with one row per item: the rows of a judge, of an id, or of both, are one ranking."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.ballots import Ballots, Entries, Ints, Names, row_numbers
from juryrank.reading.coding import Coded, coded, labels
from juryrank.reading.columns import LongColumns
from juryrank.reading.files import Rows
from juryrank.reading.names import rank_of
from juryrank.reading.rows import (
    MOST_CASES,
    Complaint,
    Mask,
    Rules,
    bad_weights,
    judges_of,
    missing,
    weights,
)

LARGEST_POSITION = 1e9
_MARKED_NUMBER = re.compile(r"(?:#|no\.?\s*|nr\.?\s*)?([1-9][0-9]{0,8})\s*[.)º°ª]?", re.IGNORECASE)


def long_ballots(rows: Rows, columns: LongColumns, rules: Rules) -> Ballots:
    """Take rankings from rows of an item and its position."""
    if columns.judge is None and columns.id is None:
        several = "If each file is one judge's, say --judge-per-file (judge_per_file=True). "
        raise InputError(
            f"Nothing says which ranking each row with {columns.item!r} and {columns.position!r} "
            f"belongs to. {several if len(rows.names) > 1 else ''}"
            "Name the column of the judge with --judge (judge=...), or that of the "
            "ranking's id with --ranking (ranking=...)."
        )
    judges = judges_of(rows, columns.judge, rules, per_row=False)
    ids = None if columns.id is None else coded(labels(rows.frame[columns.id]))
    of_row, first_row = grouped(judges, ids)
    position = _positions(rows.frame[columns.position])
    level, gaps = _levels(of_row, position)
    found = [missing(str(columns.judge), judges.codes[0])] if judges.has_missing else []
    if ids is not None and ids.has_missing:
        found.append(missing(str(columns.id), ids.codes[0]))
    found += _bad_positions(rows.frame[columns.position], position, gaps)
    weight = None
    if columns.weight is not None:
        every = weights(rows.frame[columns.weight])
        found += _bad_weights(rows.frame[columns.weight], every, of_row, first_row)
        weight = every[first_row]
    hint = "A ranking is all rows of one judge, or of one ranking of a judge, and has two or more."
    return Ballots(
        ranked=Entries(row_numbers(len(of_row)), level, rows.frame[columns.item]),
        shown=None,
        of_row=of_row,
        first_row=first_row,
        judges=_judges(judges, first_row, rules.judge_per_row),
        weight=weight,
        judges_known=columns.judge is not None or rules.judge_per_row,
        names=Names("one ranking", hint=hint),
        complaints=found,
    )


def grouped(judges: Coded, ids: Coded | None) -> tuple[Ints, Ints]:
    """Number the rankings by their first row; -1 for rows without a judge or an id."""
    key = judges.codes[0].astype(np.int64)
    lost = key < 0
    if ids is not None:
        key = key * max(len(ids.labels), 1) + ids.codes[0]
        lost |= ids.codes[0] < 0
    key[lost] = -1
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    first_rows = np.sort(first[key[first] >= 0])
    number = np.full(len(first), -1, dtype=np.int64)
    number[group[first_rows]] = np.arange(len(first_rows))
    return number[group], first_rows


def _judges(judges: Coded, first_row: Ints, per_row: bool) -> Coded:
    if per_row:
        numbers = np.arange(len(first_row), dtype=np.int32)
        return Coded(pl.Series(numbers.astype(np.int64) + 1), (numbers,))
    return Coded(judges.labels, (judges.codes[0][first_row],))


def _positions(column: pl.Series) -> NDArray[np.float64]:
    """Take positions as numbers, NaN for what is no positive number, whole or with a half."""
    number = weights(column)
    if labels(column).dtype == pl.String and np.isnan(number).any():
        number = np.where(np.isnan(number), _ordinals(labels(column)), number)
    with np.errstate(invalid="ignore"):
        good = (number >= 1) & (number <= LARGEST_POSITION) & (2 * number == np.floor(2 * number))
    return np.where(good, number, np.nan)


def _ordinals(column: pl.Series) -> NDArray[np.float64]:
    """Take ``1st``, ``2nd place``, ``third``, ``4.`` and ``#5`` as numbers, NaN for the rest."""
    texts = column.drop_nulls().unique()
    known = pl.Series([_ordinal(text) for text in texts], dtype=pl.Float64)
    numbers = column.replace_strict(texts, known, default=None, return_dtype=pl.Float64)
    return numbers.fill_null(np.nan).to_numpy()


def _ordinal(text: str) -> float | None:
    if marked := _MARKED_NUMBER.fullmatch(text.strip()):
        return float(marked[1])
    return rank_of(text).number or None


def _levels(of_row: Ints, position: NDArray[np.float64]) -> tuple[NDArray[np.int32], Mask]:
    """Give the level of every row, and the rows at which a ranking has a gap.

    After a tie the next position may go on by one (1, 2, 2, 3) or by the number of tied items
    (1, 2, 2, 4), or tied items may have their mean position (1, 2.5, 2.5, 4), but in one ranking
    always the same way.
    """
    level = np.zeros(len(of_row), dtype=np.int32)
    gaps = np.zeros(len(of_row), dtype=np.bool_)
    broken = np.unique(of_row[np.isnan(position)])
    rows = np.flatnonzero((of_row >= 0) & ~np.isin(of_row, broken))
    if not len(rows):
        return level, gaps
    rows = rows[np.lexsort((position[rows], of_row[rows]))]
    ballot, given = of_row[rows], position[rows]
    new_ballot = np.diff(ballot, prepend=-1) != 0
    new_level = new_ballot | (np.diff(given, prepend=0) != 0)
    at = np.arange(len(rows))
    begin = np.maximum.accumulate(np.where(new_ballot, at, 0))
    counted = np.cumsum(new_level)
    dense = counted - counted[begin] + 1
    sparse = np.maximum.accumulate(np.where(new_level, at, 0)) - begin + 1
    size = np.bincount(counted)[counted]
    not_dense, not_sparse = given != dense, given != sparse
    not_mean = given != sparse + (size - 1) / 2
    number = int(of_row.max()) + 1
    neither = np.logical_and.reduce(
        [_any(ballot, wrong, number) for wrong in (not_dense, not_sparse, not_mean)]
    )
    off = np.flatnonzero(not_sparse & not_mean & neither[ballot])
    _, first = np.unique(ballot[off], return_index=True)
    gaps[rows[off[first]]] = True
    level[rows] = dense - 1
    return level, gaps


def _any(ballot: Ints, flag: Mask, number: int) -> Mask:
    return np.bincount(ballot, weights=flag, minlength=number) > 0


def _bad_positions(column: pl.Series, position: NDArray[np.float64], gaps: Mask) -> list[Complaint]:
    given = labels(column).cast(pl.String)
    return [
        Complaint(
            "a position that is not a positive whole number",
            np.isnan(position),
            given,
            "The best item has position 1; tied ones may have their mean, such as 1.5.",
        ),
        Complaint(
            "a position after a gap in its ranking",
            gaps,
            {int(row): given[int(row)] for row in np.flatnonzero(gaps)[:MOST_CASES]},
            "Positions are 1, 2, 3 and so on; with ties 1, 2, 2, 4 or 1, 2, 2, 3 or "
            "1, 2.5, 2.5, 4. If they are "
            "ratings, of which higher is better, say --rating instead of --position (of a survey "
            "with a column for each item: --cells rating).",
        ),
    ]


def _bad_weights(
    column: pl.Series, weight: NDArray[np.float64], of_row: Ints, first_row: Ints
) -> list[Complaint]:
    bad = bad_weights(column, weight)
    other = np.zeros(len(weight), dtype=np.bool_)
    grouped = of_row >= 0
    other[grouped] = weight[grouped] != weight[first_row[of_row[grouped]]]
    return [
        bad,
        Complaint(
            "another weight than the first row of their ranking",
            other & ~bad.bad,
            labels(column).cast(pl.String),
            "A ranking has one weight.",
        ),
    ]
