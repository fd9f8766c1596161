"""What a table of unknown columns may be, told from its values: the options that would read it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from juryrank.reading.files import Part, column_types, header, read_head
from juryrank.reading.names import known_names, plain
from juryrank.reading.outcomes import looks_like_outcome
from juryrank.reading.ratings import ratings
from juryrank.reading.times import is_time
from juryrank.reading.unused import FEWEST_VALUES, MOST_VALUES, is_context

HEAD = 500
"""Rows that are looked at."""
MOST_COLUMNS, MOST_NAMED = 60, 8
LARGEST_RATING, LONGEST_NAME = 100, 80
FEWEST_NUMBERED = 4
"""From so many on, numbers that go up one by one number the rows."""
SHARED = 0.2
"""The share of all their values that two columns of items have in common, at least."""
KINDS = (
    "Kinds of votes: pairs (--winner and --loser, or --left, --right and --winner), a row for each "
    "item (--item and --rating, or --item and --position), rankings in one column (--ranking), "
    "choices from a set (--options and --winner), a column for each item (--item-columns) or "
    "judge (--judge-columns)."
)
_NO_ITEMS = known_names("judge") | {"timestamp", "date", "comment", "comments"}
Columns = Mapping[str, pl.Series]


def ways_out(part: Part) -> str:
    """Say with which options a table may be read, as far as its values let one guess."""
    names = [name for name in header(part)[:MOST_COLUMNS] if not _is_about(name)]
    types = column_types([part], names)
    kept = [name for name, dtype in types.items() if not dtype.is_nested() and dtype != pl.Object]
    columns = {column.name: column for column in read_head(part, kept, HEAD)}
    ways = list(_ways(columns))
    if not ways:
        return KINDS
    return f"By the values, this may fit: {'; '.join(ways)}. {_contexts(columns)}".rstrip()


def _is_about(name: str) -> bool:
    """Whether a column tells who voted, when, and how long it took."""
    return plain(name) in _NO_ITEMS or is_time(name)


def _ways(columns: Columns) -> Iterator[str]:
    rankings = [name for name, column in columns.items() if _are_rankings(column)]
    numbers = [name for name, column in columns.items() if _are_ratings(column)]
    names = [name for name, column in columns.items() if _are_names(column)]
    yield from (f"--ranking {shlex.quote(name)} (a ranking in each cell)" for name in rankings)
    yield from _pairs(columns, [name for name in names if name not in rankings])
    items = [name for name in names if name not in rankings and not is_context(name)]
    if numbers and items:
        item, number = shlex.quote(items[-1]), shlex.quote(numbers[-1])
        yield f"--item {item} --rating {number} (higher is better)"
        yield f"--item {item} --position {number} (1 is the best)"
    if len(numbers) > 1:
        several = shlex.quote(",".join(numbers)) if len(numbers) <= MOST_NAMED else "COLUMN,..."
        kinds = "--cells rating or --cells position"
        yield f"--item-columns {several} with {kinds} (a column for each item)"
        yield f"--judge-columns {several} with {kinds} (a column for each judge)"


def _pairs(columns: Columns, names: Sequence[str]) -> Iterator[str]:
    """Find two columns with the same items, and perhaps a third that says who won."""
    values = {name: set(columns[name].drop_nulls()) for name in columns}
    for one, other in combinations(names, 2):
        every = values[one] | values[other]
        if len(values[one] & values[other]) < SHARED * len(every):
            continue
        left, right = shlex.quote(one), shlex.quote(other)
        others = {name: values[name] for name in columns if name not in (one, other)}
        third = _who_won(others, every)
        if third:
            yield f"--left {left} --right {right} --winner {shlex.quote(third[0])} (pairs)"
        if len(third) > 1:
            judges = shlex.quote(",".join(third[:MOST_NAMED]))
            yield f"--left {left} --right {right} --judge-columns {judges} (one for each judge)"
        yield f"--winner {left} --loser {right} (pairs)"
        return


def _who_won(values: Mapping[str, set[str]], items: set[str]) -> list[str]:
    """Find the columns that name one of the two items; then those that may also name a side."""
    filled = {name: words for name, words in values.items() if words}
    named = [name for name, words in filled.items() if words <= items]
    either = [
        name
        for name, words in filled.items()
        if all(word in items or looks_like_outcome(word) for word in words)
    ]
    return list(dict.fromkeys((*named, *either)))


def _contexts(columns: Columns) -> str:
    found = [
        name
        for name, column in columns.items()
        if is_context(name) and FEWEST_VALUES <= column.drop_nulls().n_unique() <= MOST_VALUES
    ]
    options = " or ".join(f"--by {shlex.quote(name)}" for name in found)
    return f"{options} ranks each value apart. " if found else ""


def _are_rankings(column: pl.Series) -> bool:
    filled = column.drop_nulls()
    return len(filled) > 0 and 2 * int(filled.str.contains(">", literal=True).sum()) > len(filled)


def _are_ratings(column: pl.Series) -> bool:
    """Whether a column has small numbers, and does not number the rows."""
    filled = column.drop_nulls()
    if not len(filled) or plain(column.name).endswith("id"):
        return False
    number = ratings(filled)
    if np.isnan(number).any() or number.min() < 0 or number.max() > LARGEST_RATING:
        return False
    return len(number) < FEWEST_NUMBERED or not bool((np.diff(number) == 1).all())


def _are_names(column: pl.Series) -> bool:
    """Whether a column has short words, some of them more than once."""
    filled = column.drop_nulls()
    several = filled.n_unique()
    if several < FEWEST_VALUES or several == len(filled):
        return False
    longest = filled.str.len_chars().to_numpy().max()
    return bool(longest <= LONGEST_NAME and np.isnan(ratings(filled)).any())
