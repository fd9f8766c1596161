"""What a table of unknown columns may be, told from its values: the options that would read it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from juryrank.errors import listing
from juryrank.reading.columns import columns_found, fits_some_shape
from juryrank.reading.files import MOST_ABOVE_HEADER, Part, column_types, header, read_head
from juryrank.reading.names import NAMES, known_names, plain
from juryrank.reading.outcomes import looks_like_outcome
from juryrank.reading.ratings import ratings
from juryrank.reading.sheets import SHEET
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
_JUDGES = known_names("judge")
_NO_ITEMS = _JUDGES | {"timestamp", "date", "comment", "comments"}
_KNOWN = set().union(*(known_names(role) for role in NAMES))
_SUMMARIES = {"total", "sum", "average", "avg", "mean", "median", "overall", "final"}
"""Words in the names of columns of numbers that are computed from others."""
_MARKS = known_names("rating") | {"grade", "marks", "grades"}
_BEST, _WORST = {"best", "most", "most_important"}, {"worst", "least", "least_important"}
_TRUE, _FALSE = {"true", "1", "yes", "x"}, {"false", "0", "no"}
_HOME_OR_AWAY = {"h", "d", "a"}
_NUMBERED = re.compile(r"(.*?)[\s_-]*([1-9][0-9]?)")
FEWEST_PLACES = 3
Columns = Mapping[str, pl.Series]


def ways_out(part: Part, missing: Sequence[str] = ()) -> str:
    """Say with which options a table may be read, as far as its values let one guess.

    Args:
        part: The table.
        missing: What its header does not tell; nothing if it tells nothing at all.
    """
    names = header(part)[:MOST_COLUMNS]
    types = column_types([part], names)
    kept = [name for name, dtype in types.items() if not dtype.is_nested() and dtype != pl.Object]
    columns = {column.name: column for column in read_head(part, kept, HEAD)}
    way = _way_out(columns, missing)
    if way == KINDS and (nested := [name for name in types if name not in kept]):
        way = (
            f"{listing([repr(name) for name in nested])} may hold the votes, in lists: write a row "
            f"for each of them. {KINDS}"
        )
    sheet = "".join(f"This is the {remark}." for remark in part.remarks if SHEET in remark)
    return sheet if sheet and way == KINDS else f"{way} {sheet}".strip()


def _way_out(columns: Columns, missing: Sequence[str]) -> str:
    """Say what is wrong with the table as a whole, or else which options would read it."""
    whole = _header_below(columns) or _no_header(columns) or _best_and_worst(columns)
    if whole:
        return whole
    columns = {name: column for name, column in columns.items() if not _is_about(name)}
    sides_known = list(missing) == ["outcome"]
    if sides_known and (several := _one_of_several(columns)):
        return several
    ways = [way for way in _ways(columns) if not sides_known or "--loser" not in way]
    if not ways:
        return KINDS
    return f"By the values, this may fit: {'; '.join(ways)}. {_contexts(columns)}".rstrip()


def _is_about(name: str) -> bool:
    """Whether a column tells who voted, when, and how long it took."""
    return plain(name.rsplit(".", 1)[-1]) in _NO_ITEMS or is_time(name)


# --- what is wrong with the table as a whole -----------------------------------------------------


def _header_below(columns: Columns) -> str:
    """Find the header below titles, or below another line of header.

    It is a row with more known names than the first line has; they occur in no other row, as the
    names of items may.
    """
    first = sum(plain(name) in _KNOWN for name in columns)
    rows = max((len(column) for column in columns.values()), default=0)
    for row in range(min(MOST_ABOVE_HEADER, rows)):
        cells = [column[row] for column in columns.values() if _occurs_once(column, row)]
        known = sum(plain(cell) in _KNOWN for cell in cells)
        if known > first and (known > 1 and (known > 2 or fits_some_shape(cells, {}))):
            return (
                f"The header seems to be the row {columns_found(cells)}: remove what is above it."
            )
    return ""


def _occurs_once(column: pl.Series, row: int) -> bool:
    return column[row] is not None and int((column == column[row]).sum()) == 1


def _no_header(columns: Columns) -> str:
    """See whether the first line is a vote as all others are: then its cells occur again."""
    again = sum(bool((column == name).any()) for name, column in columns.items())
    if again < 2 or 2 * again < len(columns):
        return ""
    return (
        "The first line looks like a vote, not like a header: put a header above it, such as "
        "judge,winner,loser."
    )


def _best_and_worst(columns: Columns) -> str:
    best, worst = ([n for n in columns if plain(n) in words] for words in (_BEST, _WORST))
    if not best or not worst:
        return ""
    return (
        f"{best[0]!r} and {worst[0]!r} are chosen from a set, as in best-worst scaling. Write them "
        "as pairs, a row for each, with judge, winner and loser: the best beats every other item "
        "of its set, and every other item beats the worst."
    )


def _one_of_several(columns: Columns) -> str:
    """Find columns of which one in each row is true."""
    flags = {
        name: column.str.to_lowercase().is_in(_TRUE)
        for name, column in columns.items()
        if set(column.drop_nulls().str.to_lowercase()) <= _TRUE | _FALSE
    }
    if len(flags) < 2 or not (pl.DataFrame(flags).sum_horizontal() == 1).all():
        return ""
    return (
        f"One of {listing([repr(name) for name in flags])} is true in each row: make one column of "
        "them, which says left, right or tie."
    )


# --- options that fit ----------------------------------------------------------------------------


def _names_in(columns: Columns) -> list[str]:
    return [name for name, column in columns.items() if _are_names(column)]


def _ways(columns: Columns) -> Iterator[str]:
    rankings = [name for name, column in columns.items() if _are_rankings(column)]
    numbers = [name for name, column in columns.items() if _are_ratings(column)]
    names = [name for name in _names_in(columns) if name not in rankings]
    yield from (
        f"--ranking {shlex.quote(name)} (a ranking in each cell, the best first)"
        for name in rankings
    )
    if places := _places(names):
        yield (
            f"{listing([repr(name) for name in places])} as the first place, the second and so on: "
            f"call them rank_1 to rank_{len(places)}"
        )
    yield from _pairs(columns, [name for name in names if name not in places])
    items = [name for name in names if name not in places and not is_context(name)]
    if numbers and items:
        item, (number, *others) = shlex.quote(items[-1]), _by_likelihood(numbers)
        also = f"; or {listing([repr(name) for name in others], 4)}" if others else ""
        yield f"--item {item} --rating {shlex.quote(number)} (higher is better{also})"
        yield f"--item {item} --position {shlex.quote(number)} (1 is the best)"
    own = [name for name in numbers if not _SUMMARIES & set(plain(name).split("_"))]
    if len(own) > 1:
        several = shlex.quote(",".join(own)) if len(own) <= MOST_NAMED else "COLUMN,..."
        kinds = "--cells rating or --cells position"
        if not any(_JUDGES & set(plain(name).split("_")) for name in own):
            yield f"--item-columns {several} with {kinds} (a column for each item)"
        yield f"--judge-columns {several} with {kinds} (a column for each judge)"


def _places(names: Sequence[str]) -> list[str]:
    """Find columns that are called the same but for a number, 1, 2, 3 and so on."""
    families: dict[str, list[str]] = {}
    for name in names:
        if numbered := _NUMBERED.fullmatch(name.strip()):
            family = families.setdefault(numbered[1], [])
            if int(numbered[2]) == len(family) + 1:
                family.append(name)
    largest = max(families.values(), key=len, default=[])
    return largest if len(largest) >= FEWEST_PLACES else []


def _by_likelihood(numbers: Sequence[str]) -> list[str]:
    """Put columns first whose names say that they are ratings; else the last goes first."""
    marks = [name for name in numbers if _MARKS & set(plain(name).split("_"))]
    return [*marks, *(name for name in reversed(numbers) if name not in marks)]


def _pairs(columns: Columns, names: Sequence[str]) -> Iterator[str]:
    """Find two columns with the same items, and perhaps a third that says who won."""
    values = {name: set(columns[name].drop_nulls()) for name in columns}
    for one, other in combinations(names, 2):
        every = values[one] | values[other]
        if len(values[one] & values[other]) < SHARED * len(every):
            continue
        left, right = shlex.quote(one), shlex.quote(other)
        others = {name: values[name] for name in columns if name not in (one, other)}
        third = _who_won(others, every | {one, other})
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
    named = [
        name
        for name, words in filled.items()
        if words <= items or {word.lower() for word in words} == _HOME_OR_AWAY
    ]
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
    return len(filled) > 0 and 2 * int(filled.str.contains(r"[>;\n]").sum()) > len(filled)


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
