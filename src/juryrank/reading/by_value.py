"""Votes to be ranked apart by the value of a column: the rows of each value are read alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, counted
from juryrank.reading.coding import Coded, coded, in_order, labels, whole_numbers
from juryrank.reading.columns import column_named
from juryrank.reading.files import Part, Rows, header
from juryrank.reading.grids import COUNTS
from juryrank.reading.rows import (
    MOST_CASES,
    BadRowsError,
    Cases,
    Rules,
    Value,
    missing,
    na_names,
    refuse,
    sift,
)
from juryrank.votes.concat import joined_votes, named_apart
from juryrank.votes.similar_names import looks
from juryrank.votes.votes import ByValue, LeftOut, Votes, in_natural_order

Ints = NDArray[np.int64]
MOST_VALUES = 50


def column_to_rank_by(parts: Sequence[Part], wanted: str) -> str:
    """Find the column each value of which is ranked apart."""
    for part in parts:
        kind = "a PrefLib file" if part.format == "preflib" else part.before and part.before.kind
        if kind in ("a PrefLib file", COUNTS):
            raise InputError(
                f"{part.name} is {kind}: its rows have no column {wanted!r} to rank by. Omit --by "
                "(by=...), or give the votes as rows that have it."
            )
    found = [column_named(part.name, header(part), wanted, "what to rank by") for part in parts]
    if len(set(found)) > 1:
        raise InputError(
            f"The column to rank by is called {found[0]!r} in {parts[0].name} and "
            f"{next(name for name in found if name != found[0])!r} in another file. Make it the "
            "same in all files."
        )
    return found[0]


def votes_by_value(
    rows: Rows,
    column: str,
    rules: Rules,
    read: Callable[[Rows], Votes],
    *,
    judges_are_numbers: bool,
) -> Votes:
    """Read the rows of each value of a column alone.

    The votes of all values together have those of each beside them, as `Votes.by`.

    Args:
        rows: The rows of all values, with the column.
        column: The column.
        rules: How the user wants rows to be taken.
        read: Makes votes of rows.
        judges_are_numbers: Whether judges are rankings that are numbered anew for each value, so
            that those of the same number are not the same.
    """
    found, left_out = _values(rows, column, rules)
    of: dict[object, Votes | str] = {}
    bad: list[tuple[Ints, BadRowsError]] = []
    for code, value in enumerate(found.labels.to_list()):
        own = np.flatnonzero(found.codes[0] == code)
        try:
            of[value] = read(rows.taken(own))
        except BadRowsError as error:
            bad.append((own, error))
        except InputError as error:
            of[value] = str(error)
    if bad:
        refuse(_together(bad, len(rows.frame)), rows.row_name)
    by = ByValue(column, of, left_out.sentences)
    if not by.votes:
        raise by.nothing_to_rank()
    several = by.votes.items()
    if judges_are_numbers:
        several = {value: named_apart(votes, value) for value, votes in several}.items()
    every = joined_votes(*(votes for _, votes in several), merge_names=rules.merge_names)
    if rules.merge_names:
        by = by.mapped(lambda own: _spelled_as(own, every))
    lost = (f"Without {column} {value}: {error}" for value, error in by.errors.items())
    return replace(
        every, left_out=every.left_out + left_out, notices=(*every.notices, *lost), by=by
    )


def _spelled_as(votes: Votes, every: Votes) -> Votes:
    """Write the names of one value's votes as those of all values are."""
    return replace(
        votes,
        items=_as_in(votes.items, every.items),
        judges=_as_in(votes.judges, every.judges),
    )


def _as_in(names: pl.Series, known: pl.Series) -> pl.Series:
    """Write names as those that look the same are written elsewhere, if they are there."""
    if names.dtype != pl.String or known.dtype != pl.String:
        return names
    spelling = dict(zip(looks(known), known, strict=True))
    spelled = (spelling.get(look, name) for look, name in zip(looks(names), names, strict=True))
    return pl.Series(names.name, spelled, dtype=pl.String)


def _values(rows: Rows, column: str, rules: Rules) -> tuple[Coded, LeftOut]:
    """The values in their natural order and the one of every row, and what has none."""
    given = labels(rows.frame[column])
    found = coded(given if (numbers := whole_numbers(given)) is None else numbers)
    (codes,) = found.codes
    complaints = [replace(missing(column, codes), hint="It says what to rank by: fill it in.")]
    if not rules.na_is_name:
        complaints += na_names(found.labels, (f"the column {column!r}", codes))
    keep, left_out = sift(rows, complaints, rules=rules)
    if keep is not None:
        codes = np.where(keep, codes, np.int32(-1))
    occurs = np.bincount(codes[codes >= 0], minlength=len(found.labels)) > 0
    values, table = in_order(found.labels, occurs, rows.text)
    _check_number(column, len(values), int((codes >= 0).sum()))
    order = in_natural_order(values.to_list())
    rank = np.argsort(order)
    codes = np.where(codes >= 0, rank[np.maximum(table[codes], 0)], -1).astype(np.int32)
    # The other rows are counted value by value.
    return Coded(values.gather(order), (codes,)), replace(left_out, rows=left_out.total)


def _check_number(column: str, values: int, rows: int) -> None:
    if values == rows > 1:
        raise InputError(
            f"The column {column!r} has a different value in each of its {rows:,} rows, so that "
            "there is nothing to rank in any of them. Rank by a column whose values many votes "
            "share."
        )
    if values > MOST_VALUES:
        raise InputError(
            f"The column {column!r} has {counted(values, 'distinct value')} in {rows:,} rows, and "
            f"at most {MOST_VALUES} are ranked separately. Rank by a column with fewer values, or "
            f"keep some of them with --where (where=...)."
        )


# --- what is wrong with the rows of several values -----------------------------------------------


@dataclass
class _Sum:
    """The same complaint about rows of several values."""

    cases: Cases
    first: list[tuple[int, object]]
    values: list[Value]


def _together(bad: Sequence[tuple[Ints, BadRowsError]], of: int) -> list[Cases]:
    """Add up what is wrong with the rows of each value, which are such-and-such of all rows."""
    sums: dict[str, _Sum] = {}
    for own, error in bad:
        for cases in error.found:
            known = sums.setdefault(cases.what, _Sum(cases.none(), [], []))
            known.cases = replace(known.cases, count=known.cases.count + cases.count, of=of)
            known.first += [(int(own[row]), value) for row, value in cases.first]
            known.values += [one._replace(first=int(own[one.first])) for one in cases.values]
    return [
        replace(
            one.cases,
            first=tuple(sorted(one.first, key=lambda case: case[0])[:MOST_CASES]),
            values=_added(one.values),
        )
        for one in sums.values()
    ]


def _added(values: Sequence[Value]) -> tuple[Value, ...]:
    found: dict[str, Value] = {}
    for text, rows, first in values:
        before = found.get(text, Value(text, 0, first))
        found[text] = Value(text, before.rows + rows, min(before.first, first))
    return tuple(found.values())
