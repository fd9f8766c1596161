"""Columns with several items in each cell, of any name: rankings, or sets to choose from."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from juryrank.reading.coding import labels
from juryrank.reading.list_cells import SET_SEPARATORS, VERSUS, set_cells
from juryrank.reading.outcomes import looks_like_outcome
from juryrank.votes.similar_names import looks

FEWEST_ITEMS = 2
MOST_ODD = 0.1
"""The share of rows that may not fit."""
_PARTED = rf"[{SET_SEPARATORS}]|{VERSUS}"
"""What is in every cell of text with several items."""
Items = Sequence[frozenset[str]]


@dataclass(frozen=True)
class ListColumn:
    """A column of lists: how its items look, row by row."""

    name: str
    items: Items
    is_nested: bool
    """Whether the file itself holds lists, and not text that can be taken apart."""
    has_repeats: bool
    """Whether an item occurs twice in some list."""


def list_columns(rows: pl.DataFrame) -> list[ListColumn]:
    """Find the columns that have several items in (nearly) every cell, and take them apart."""
    found = (_taken_apart(column) for column in rows if _may_be_lists(column))
    return [one for one in found if _are_lists(one.items)]


def _may_be_lists(column: pl.Series) -> bool:
    if isinstance(column.dtype, pl.List | pl.Array):
        return not column.dtype.inner.is_nested()
    if column.dtype.is_nested():
        return False
    text = labels(column)
    return text.dtype == pl.String and bool(text.str.contains(_PARTED).any())


def _taken_apart(column: pl.Series) -> ListColumn:
    entries = set_cells(column).entries
    items: list[list[str]] = [[] for _ in range(len(column))]
    for row, look in zip(entries.row, looks(entries.label.cast(pl.String)), strict=True):
        if look:
            items[row].append(look)
    distinct = [frozenset(some) for some in items]
    repeats = any(len(few) < len(all_) for few, all_ in zip(distinct, items, strict=True))
    return ListColumn(column.name, distinct, column.dtype.is_nested(), repeats)


def _are_lists(items: Items) -> bool:
    filled = [some for some in items if some]
    several = sum(len(some) >= FEWEST_ITEMS for some in filled)
    return bool(filled) and several >= (1 - MOST_ODD) * len(filled)


def choices(lists: Sequence[ListColumn], columns: Mapping[str, pl.Series]) -> Iterator[str]:
    """Give the options for a column of sets with a column beside it that names one of its items."""
    for shown in lists:
        for name, column in columns.items():
            if name != shown.name and _is_chosen(column, shown.items):
                yield (
                    f"--options {shlex.quote(shown.name)} --winner {shlex.quote(name)} (choices "
                    "from a set)"
                )


def _is_chosen(column: pl.Series, shown: Items) -> bool:
    """Whether a column names one of the row's items in (nearly) all rows, not always the same."""
    given = [
        (look, items)
        for look, items in zip(looks(column.fill_null("")), shown, strict=True)
        if look and items
    ]
    inside = sum(look in items for look, items in given)
    return len({look for look, _ in given}) > 1 and inside >= (1 - MOST_ODD) * len(given)


def pairs_in_lists(lists: Sequence[ListColumn], columns: Mapping[str, pl.Series]) -> str:
    """Say what to do with lists of two items beside a column that says which side won."""
    pairs = [one.name for one in lists if one.is_nested and _are_pairs(one.items)]
    verdicts = [name for name, column in columns.items() if _are_verdicts(column)]
    if not pairs or not verdicts:
        return ""
    return (
        f"{pairs[0]!r} holds the two items of each row, and {verdicts[0]!r} may say which of them "
        f"won: make two columns of {pairs[0]!r}, called left and right, and name the outcome with "
        f"--winner {shlex.quote(verdicts[0])}."
    )


def _are_pairs(items: Items) -> bool:
    return all(len(some) == FEWEST_ITEMS for some in items)


def _are_verdicts(column: pl.Series) -> bool:
    given = column.drop_nulls()
    meant = sum(looks_like_outcome(word) for word in given)
    return given.n_unique() > 1 and meant >= (1 - MOST_ODD) * len(given)


def rankings(lists: Sequence[ListColumn]) -> Iterator[str]:
    """Give the option for each column of lists that may be rankings: no item is in one twice."""
    for one in lists:
        if one.is_nested and not one.has_repeats:
            yield f"--ranking {shlex.quote(one.name)} (a ranking in each cell, the best first)"
