"""What a table of unknown columns may be, told from its values: the options that would read it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import listing
from juryrank.reading.bookkeeping import is_bookkeeping
from juryrank.reading.coding import is_opaque
from juryrank.reading.columns import RatingColumns, columns_found, fits_some_shape
from juryrank.reading.files import Part, column_types, first_cells, header, label_columns, read_head
from juryrank.reading.names import NAMES, known_names, plain, without_scale
from juryrank.reading.outcomes import looks_like_outcome
from juryrank.reading.ratings import no_rating, ratings
from juryrank.reading.rows import SUMMARIES
from juryrank.reading.sheets import SHEET
from juryrank.reading.suggested_lists import ListColumn, choices, list_columns, pairs_in_lists
from juryrank.reading.suggested_lists import rankings as rankings_in
from juryrank.reading.titles import MOST_ABOVE_HEADER
from juryrank.reading.unused import FEWEST_VALUES, LEAST_ROWS_OF_VALUE, MOST_VALUES, is_context
from juryrank.votes.similar_names import looks

HEAD = 500
"""Rows that are looked at."""
MOST_COLUMNS, MOST_NAMED = 60, 8
LARGEST_RATING, LONGEST_NAME = 100, 80
FEWEST_NUMBERED = 4
"""From so many on, numbers that go up one by one number the rows."""
MOST_WORDS = 0.25
"""The share of a column's cells that may be words, if the others are numbers."""
MOST_ODD, MOST_AGAIN, MOST_BLANK = 0.1, 0.02, 0.3
"""Shares of rows: without a meaning as outcomes, rated once more, blank in a column of names."""
LEAST_ROWS_OF_JUDGE, MOST_RATERS, MOST_COLUMNS_NAMED, MOST_CHOICES = 2, 2, 20, 3
SHARED = 0.2
"""The share of all their values that two columns of items have in common, at least."""
KINDS = (
    "Kinds of votes: pairs (--winner and --loser, or --left, --right and --winner), a row for each "
    "item (--item and --rating, or --item and --position), rankings in one column (--ranking), "
    "choices from a set (--options and --winner), a column for each item (--item-columns) or "
    "judge (--judge-columns)."
)
_JUDGES, _ITEM_NAMES = known_names("judge"), known_names("item")
_REMARKS = {
    "comment", "comments", "remark", "remarks", "note", "notes", "bemerkung", "bemerkungen",
    "kommentar", "commentaire", "commentaires", "reason", "reasons", "rationale", "feedback",
    "explanation", "why", "justification",
}  # fmt: skip
_COUNTERS = {"table", "nr", "no", "number", "row", "index", "tisch", "age", "year", "seed"}
"""Names of columns of numbers that say nothing about how good something is."""
_KNOWN = set().union(*(known_names(role) for role in NAMES))
_SUMMARIES = {"total", "sum", "average", "avg", "mean", "median", "overall", "final"}
"""Words in the names of columns of numbers that are computed from others."""
_MARKS = known_names("rating") | {"grade", "marks", "grades"}
_BEST, _WORST = {"best", "most", "most_important"}, {"worst", "least", "least_important"}
_TRUE, _FALSE = {"true", "1", "yes", "x"}, {"false", "0", "no"}
_HOME_OR_AWAY = {"h", "d", "a"}
_NUMBERED = re.compile(r"(.*?)[\s_-]*([1-9][0-9]?)")
FEWEST_RANKS = 3
Columns = Mapping[str, pl.Series]


def ways_out(part: Part, missing: Sequence[str] = ()) -> str:
    """Say with which options a table may be read, as far as its values let one guess.

    Args:
        part: The table.
        missing: What its header does not tell; nothing if it tells nothing at all.
    """
    names = header(part)[:MOST_COLUMNS]
    types = column_types([part], names)
    kept = [name for name, dtype in types.items() if not (dtype.is_nested() or is_opaque(dtype))]
    columns = {column.name: column for column in read_head(part, kept, HEAD)}
    lists = list_columns(first_cells(part, list(types), HEAD))
    way = _way_out(columns, lists, missing)
    if way == KINDS and (nested := [name for name in types if name not in kept]):
        way = (
            f"{listing([repr(name) for name in nested])} may hold the votes, in lists: write a row "
            f"for each of them. {KINDS}"
        )
    sheet = "".join(f"This is the {remark}." for remark in part.remarks if SHEET in remark)
    return sheet if sheet and way == KINDS else f"{way} {sheet}".strip()


def _way_out(columns: Columns, lists: Sequence[ListColumn], missing: Sequence[str]) -> str:
    """Say what is wrong with the table as a whole, or else which options would read it."""
    whole = _header_below(columns) or _no_header(columns) or _best_and_worst(columns)
    if whole:
        return whole
    columns = {name: column for name, column in columns.items() if not is_bookkeeping(column)}
    able = {name: column for name, column in columns.items() if not _is_judge(name)}
    if not list(choices(lists, able)) and (pairs := pairs_in_lists(lists, able)):
        return pairs
    sides_known = list(missing) == ["outcome"]
    if sides_known and (several := _one_of_several(columns)):
        return several
    ways = [way for way in _ways(columns, lists) if not sides_known or "--loser" not in way]
    if not ways:
        return KINDS
    return f"Judging by the values, this may fit: {'; '.join(ways)}. {_contexts(columns)}".rstrip()


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


def _ways(columns: Columns, lists: Sequence[ListColumn]) -> Iterator[str]:
    """Give the options that fit: only one set of them where it clearly fits best."""
    judge = _judge_option(columns)
    able = {name: column for name, column in columns.items() if not _is_judge(name)}
    if chosen := list(choices(lists, able)):
        yield from (f"{judge}{way}" for way in chosen[:MOST_CHOICES])
        return
    yield from (f"{judge}{way}" for way in rankings_in(lists))
    rankings = [name for name, column in columns.items() if _are_rankings(column)]
    yield from (
        f"{judge}--ranking {shlex.quote(name)} (a ranking in each cell, the best first)"
        for name in rankings
    )
    votes = {name: column for name, column in columns.items() if name not in rankings}
    names = [name for name, column in votes.items() if _are_names(column)]
    numbers = [name for name, column in votes.items() if _are_ratings(column)]
    ranks = [name for name in _ranks(names) if _never_twice_in_a_row(votes, _ranks(names))]
    if ranks:
        yield (
            f"{listing([repr(name) for name in ranks])} as the first rank, the second and so on: "
            f"call them rank_1 to rank_{len(ranks)}"
        )
    names = [name for name in names if name not in ranks]
    pairs = _pair_of_items(votes, names)
    if pairs is not None and (third := _who_won(votes, *pairs)):
        yield _pair_with_outcome(columns, *pairs, third)
        return
    own = _own_numbers(votes, numbers)
    if len(own) > 1 and (grid := _grid(votes, own)):
        yield grid
        return
    if numbers and (rated := _rated(votes, numbers)):
        yield rated
        return
    if pairs is not None and (scores := _numbers_beside(votes)):
        yield (
            f"if {' and '.join(map(repr, scores))} are the scores of {pairs[0]!r} and "
            f"{pairs[1]!r}, call these four columns left_score, right_score, left and right: the "
            "higher score wins"
        )
    elif pairs is not None:
        left, right = map(shlex.quote, pairs)
        yield f"{_judge_option(columns)}--winner {left} --loser {right} (pairs)"


def _numbers_beside(columns: Columns) -> list[str]:
    """Find two columns of numbers, which may be the scores of two items."""
    found = [
        name
        for name, column in columns.items()
        if len(given := column.drop_nulls())
        and np.isnan(ratings(given)).mean() <= MOST_ODD
        and given.n_unique() > FEWEST_VALUES
    ]
    return found if len(found) == 2 else []


def _judge_option(columns: Columns, but: Sequence[str] = ()) -> str:
    """Name the column of the judge, if one is called so."""
    found = [name for name in columns if _is_judge(name) and name not in but]
    return f"--judge {shlex.quote(found[0])} " if found else ""


def _is_judge(name: str) -> bool:
    return plain(without_scale(name.rsplit(".", 1)[-1])) in _JUDGES


def _never_twice_in_a_row(columns: Columns, names: Sequence[str]) -> bool:
    rows = zip(*(columns[name].to_list() for name in names), strict=True)
    filled = ([cell for cell in row if cell is not None] for row in rows)
    return all(len(set(row)) == len(row) for row in filled)


def _ranks(names: Sequence[str]) -> list[str]:
    """Find columns that are called the same but for a number, 1, 2, 3 and so on."""
    families: dict[str, list[str]] = {}
    for name in names:
        if numbered := _NUMBERED.fullmatch(name.strip()):
            family = families.setdefault(numbered[1], [])
            if int(numbered[2]) == len(family) + 1:
                family.append(name)
    largest = max(families.values(), key=len, default=[])
    return largest if len(largest) >= FEWEST_RANKS else []


def _by_likelihood(numbers: Sequence[str]) -> list[str]:
    """Put columns first whose names say that they are ratings; else the last goes first."""
    marks = [name for name in numbers if _MARKS & set(plain(without_scale(name)).split("_"))]
    return [*marks, *(name for name in reversed(numbers) if name not in marks)]


# --- pairs ---------------------------------------------------------------------------------------


def _pair_of_items(columns: Columns, names: Sequence[str]) -> tuple[str, str] | None:
    """Find two columns with the same items, which are never the same in a row."""
    for one, other in combinations([name for name in names if not _is_judge(name)], 2):
        sets = [set(columns[name].drop_nulls()) for name in (one, other)]
        if len(sets[0] & sets[1]) < SHARED * len(sets[0] | sets[1]):
            continue
        same = (columns[one] == columns[other]).fill_null(False).mean()
        if float(same) <= MOST_ODD:  # type: ignore[arg-type]
            return one, other
    return None


def _who_won(columns: Columns, left: str, right: str) -> list[str]:
    """Find the columns that name one of the row's two items, or else a side of it."""
    sides = [looks(columns[name].fill_null("")) for name in (left, right)]
    named, either = [], []
    for name, column in columns.items():
        given = column.drop_nulls()
        if name in (left, right) or not len(given) or _is_judge(name):
            continue
        word = looks(column.fill_null(""))
        is_item = (word != "") & ((word == sides[0]) | (word == sides[1]))
        words = {text.lower() for text in given.unique()}
        says_side = pl.Series([looks_like_outcome(text or "") for text in column])
        fits = int((is_item | says_side).sum())
        if int(is_item.sum()) >= (1 - MOST_ODD) * len(given) or words == _HOME_OR_AWAY:
            named.append(name)
        elif fits >= (1 - MOST_ODD) * len(given) and given.n_unique() > 1:
            either.append(name)
    return [*named, *either]


def _pair_with_outcome(columns: Columns, one: str, other: str, third: Sequence[str]) -> str:
    left, right = shlex.quote(one), shlex.quote(other)
    way = (
        f"{_judge_option(columns, (one, other, third[0]))}--left {left} --right {right} "
        f"--winner {shlex.quote(third[0])} (pairs)"
    )
    if len(third) > 1:
        judges = shlex.quote(",".join(third[:MOST_NAMED]))
        way += f"; --left {left} --right {right} --judge-columns {judges} (one for each judge)"
    return way


# --- ratings and positions -----------------------------------------------------------------------


def columns_of_raters(part: Part, columns: RatingColumns) -> list[str]:
    """Find the columns that may say who rated: with each of them no item is rated twice."""
    names = label_columns([part], [name for name in header(part) if name not in columns.used])
    head = read_head(part, [*names, *columns.used], HEAD)
    within = [name for name in (columns.item, columns.id) if name is not None]
    found = [
        name
        for name in names
        if not _is_remark(head[name])
        and not is_bookkeeping(head[name])
        and LEAST_ROWS_OF_JUDGE * head[name].drop_nulls().n_unique() <= len(head)
        and _are_apart(head, [name, *within])
    ]
    return sorted(found, key=lambda name: not _is_judge(name))[:MOST_RATERS]


def _are_apart(head: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether (nearly) no two rows are the same in these columns."""
    rows = head.select(names).drop_nulls()
    return len(rows) > 0 and rows.n_unique() >= (1 - MOST_AGAIN) * len(rows)


def _rated(columns: Columns, numbers: Sequence[str]) -> str:
    """Find who rated what: two columns of names that together tell all rows apart."""
    number, *others = _by_likelihood(numbers)
    frame = pl.DataFrame(dict(columns))
    labels = [
        name for name, column in columns.items() if name not in numbers and _are_labels(column)
    ]
    contexts = [name for name in labels if is_context(name)]
    labels = [name for name in labels if name not in contexts and not _is_remark(columns[name])]
    apart = [pair for pair in combinations(labels, 2) if _are_apart(frame, pair)]
    within: list[str] = []
    if not apart and contexts:
        apart = [p for p in combinations(labels, 2) if _are_apart(frame, [*p, contexts[0]])]
        within = contexts[:1]
    also = f"; or {listing([repr(name) for name in others], 4)}" if others else ""
    if apart:
        judge, item = _judge_and_item(min(apart, key=_strangeness))
        by = f"--judge {shlex.quote(judge)} "
    else:
        items = [name for name in labels if not _is_judge(name)]
        if not items:
            return ""
        judge, item = "", min(reversed(items), key=lambda name: plain(name) not in _ITEM_NAMES)
        by = _judge_option(columns, [item])
    groups = [frame[judge]] if judge else []
    is_position = bool(judge) and _are_positions(
        frame[number], [*groups, *map(frame.get_column, within)]
    )
    option, meaning = (
        ("position", "1 is the best") if is_position else ("rating", "higher is better")
    )
    context = "".join(f" --ranking {shlex.quote(name)}" for name in within)
    known = [name for name in (judge, item) if _is_judge(name) or plain(name) in _ITEM_NAMES]
    swap = "" if known or not judge else ", if not the other way round"
    return (
        f"{by}--item {shlex.quote(item)} --{option} {shlex.quote(number)}{context}"
        f"{_skip_bad([frame[number]])} ({meaning}{swap}{also})"
    )


def _judge_and_item(pair: tuple[str, str]) -> tuple[str, str]:
    """Tell the judge from the item by their names; else the first is the judge."""
    one, other = pair
    is_other_way = (_is_judge(other) and not _is_judge(one)) or (
        plain(one) in _ITEM_NAMES and plain(other) not in _ITEM_NAMES
    )
    return (other, one) if is_other_way else pair


def _strangeness(pair: tuple[str, str]) -> tuple[bool, bool]:
    """Put pairs first of which one is called a judge, and one an item."""
    return not any(map(_is_judge, pair)), not any(plain(name) in _ITEM_NAMES for name in pair)


def _are_positions(number: pl.Series, groups: Sequence[pl.Series]) -> bool:
    """Whether numbers are 1, 2, 3 and so on within each group."""
    frame = pl.DataFrame(
        {"number": pl.Series(ratings(number)), "judge": pl.Series(range(len(number)))}
    )
    if groups:
        keys = pl.DataFrame([group.alias(f"g{at}") for at, group in enumerate(groups)])
        frame = frame.with_columns(keys).drop_nans("number")
        parts = frame.partition_by(keys.columns)
    else:
        parts = [frame]
    return all(
        sorted(part["number"].to_list()) == list(range(1, len(part) + 1)) for part in parts
    ) and any(len(part) > 1 for part in parts)


# --- a column for each item or judge -------------------------------------------------------------


def _own_numbers(columns: Columns, numbers: Sequence[str]) -> list[str]:
    """Leave out columns that are computed from the others: totals and means."""
    named = [
        name
        for name in numbers
        if not _SUMMARIES & set(plain(name).split("_")) and plain(name) not in _COUNTERS
    ]
    while len(named) > 2 and _is_computed(columns[named[-1]], [columns[n] for n in named[:-1]]):
        named.pop()
    return named


def _is_computed(column: pl.Series, others: Sequence[pl.Series]) -> bool:
    cells = np.column_stack([ratings(other) for other in others])
    known = np.isfinite(cells).all(axis=1)
    if not known.any():
        return False
    own, total = ratings(column)[known], cells[known].sum(axis=1)
    if len(own) < FEWEST_NUMBERED or (own == own[0]).all():
        return False  # of few or equal rows, any column may be the sum of others
    return any(np.allclose(own, total / of, atol=0.051) for of in (1, len(others)))


def _grid(columns: Columns, own: Sequence[str]) -> str:
    """Say what a table with several columns of numbers is: one of items, or one of judges."""
    labels = [
        name
        for name, column in columns.items()
        if name not in own
        and len(set(column.drop_nulls())) == len(column) > 1
        and _are_labels(column, may_repeat=False)
    ]
    several = shlex.quote(",".join(own)) if len(own) <= MOST_COLUMNS_NAMED else "COLUMN,..."
    judges = [name for name in labels if _is_judge(name)]
    items = [name for name in labels if plain(name) in _ITEM_NAMES]
    cells = np.column_stack([ratings(columns[name]) for name in own])
    if not labels:
        fits = len(own) >= FEWEST_RANKS and not _has_judges(own)
        by_row = (
            f"--item-columns {several} --cells {_cells(cells)} --judge-per-row (a column for each "
            "item, a row for each judge)"
        )
        return by_row if fits and not _other_names(columns, own) else ""
    if _has_judges(own):
        judges = []
    skip = _skip_bad([columns[name] for name in own], *(columns[name] for name in labels))
    by_item = f"--item-columns {several} --cells {_cells(cells)}{skip} (a column for each item)"
    if judges:
        by_item = f"--judge {shlex.quote(judges[0])} {by_item}"
    label = shlex.quote((items or labels)[0])
    by_judge = (
        f"--judge-columns {several} --item {label} --cells {_cells(cells.T)}{skip} "
        "(a column for each judge)"
    )
    if judges and not items:
        return by_item
    return by_judge if items or _has_judges(own) else f"{by_item}; {by_judge}"


def _other_names(columns: Columns, own: Sequence[str]) -> bool:
    """Whether there are names beside columns of numbers, so that a row is not one judge's."""
    return any(_are_labels(column) for name, column in columns.items() if name not in own)


def _skip_bad(numbers: Sequence[pl.Series], *labels: pl.Series) -> str:
    """Say that rows are to be left out if some have words for ratings, or are sums of others."""
    words = any((np.isnan(ratings(one)) & ~no_rating(one)).any() for one in numbers)
    sums = any(one.str.to_lowercase().is_in(SUMMARIES).any() for one in labels)
    return " --skip-bad" if words or sums else ""


def _cells(rows: NDArray[np.float64]) -> str:
    """Tell whether every judge has given positions, that is 1, 2, 3 and so on, or ratings."""
    given = [np.sort(row[np.isfinite(row)]) for row in rows]
    is_position = all(np.array_equal(row, np.arange(1, len(row) + 1)) for row in given)
    return "position" if is_position else "rating"


def _has_judges(names: Sequence[str]) -> bool:
    return any(_JUDGES & set(plain(name).split("_")) for name in names)


def _contexts(columns: Columns) -> str:
    found = [
        name
        for name, column in columns.items()
        if is_context(name)
        and FEWEST_VALUES <= (several := column.drop_nulls().n_unique()) <= MOST_VALUES
        and LEAST_ROWS_OF_VALUE * several <= len(column)
    ]
    options = " or ".join(f"--by {shlex.quote(name)}" for name in found)
    return f"{options} ranks each value separately. " if found else ""


# --- what is in a column -------------------------------------------------------------------------


def _are_rankings(column: pl.Series) -> bool:
    filled = column.drop_nulls()
    if not len(filled) or _is_remark(column):
        return False
    return 2 * int(filled.str.contains(r"[>;\n]").sum()) > len(filled)


def _are_ratings(column: pl.Series) -> bool:
    """Whether a column has small numbers, apart from words for nothing, and does not count rows."""
    given = column.filter(~pl.Series(no_rating(column), dtype=pl.Boolean))
    if 2 * len(given) <= len(column) or plain(column.name).endswith("id"):
        return False
    number = ratings(given)
    number = number[~np.isnan(number)]
    if len(number) < (1 - MOST_WORDS) * len(given):
        return False
    if number.min() < 0 or number.max() > LARGEST_RATING:
        return False
    return len(number) < FEWEST_NUMBERED or not bool((np.diff(number) == 1).all())


def _are_names(column: pl.Series) -> bool:
    """Whether a column has short words, some of them more than once, and hardly a blank."""
    return _are_labels(column) and not _is_remark(column)


def _are_labels(column: pl.Series, *, may_repeat: bool = True) -> bool:
    filled = column.drop_nulls()
    several = filled.n_unique()
    if several < FEWEST_VALUES or (may_repeat and several == len(filled)):
        return False
    longest = filled.str.len_chars().to_numpy().max()
    words = int(np.isnan(ratings(filled)).sum())
    return bool(longest <= LONGEST_NAME and words > MOST_WORDS * len(filled))


def _is_remark(column: pl.Series) -> bool:
    """Whether a column has comments: by its name, or since it is often blank."""
    is_called = bool(_REMARKS & set(plain(column.name).split("_")))
    return is_called or column.null_count() > MOST_BLANK * len(column)
