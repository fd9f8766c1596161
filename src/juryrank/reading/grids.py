"""Tables with a column for each item or pair, made long: surveys, and tables of counts.

A survey has a row for each judge and cells with positions or ratings, or with the winner of a pair.
A table of counts has a row for each item too, and cells that say how often one beat the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError, counted, listing
from juryrank.hints import did_you_mean_all
from juryrank.reading.by_judge import BY_JUDGE, made_by_judge
from juryrank.reading.columns import columns_found, fits_some_shape, sides_in
from juryrank.reading.crosstables import cross_table, made_of_results
from juryrank.reading.files import Before, Part, header, read_rows
from juryrank.reading.names import COUNTED_TIES, COUNTED_WINS, in_brackets, plain, rank_of
from juryrank.reading.plain import ROW_NAME, Plain, left_out_of
from juryrank.reading.rows import answered, filled, weights
from juryrank.reading.scores import made_of_scores, scores_in

Floats = NDArray[np.float64]
ITEM, ROW = "(item)", "(row)"
WINNER, LOSER, COUNT = "(winner)", "(loser)", "(count)"
SURVEY, COUNTS = "a survey with a column for each item", "a table of counts, item by item"
CELLS = {"position": "(position)", "rating": "(rating)"}
MOST_COLUMNS = 5000
TOTALS = ("total", "totals", "sum", "all")
NOTHING = ("-", "\u2013", "\u2014", "x", "X", "NA", "nan", "NaN")
"""What stands for no count, as on the diagonal: also dashes."""
BY_PAIR = "a survey with a column for each pair of items"
LEFT, RIGHT = "(left)", "(right)"
_VERSUS = re.compile(r"(.+?)\s+(?:vs\.?|versus)\s+(.+)", re.IGNORECASE)
_ABOUT_POSITIONS = re.compile(r"\b(?:rank\w*|order\w*|prefer\w*|sort)\b", re.IGNORECASE)
_ABOUT_RATINGS = re.compile(
    r"\b(?:rat(?:e|ed|ing|ings)|scores?|stars?|points?|grades?|how (?:good|well|much|likely))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Grid:
    """What the user says about tables with a column for each item."""

    item_columns: tuple[str, ...] = ()
    """The columns, or the question that several have before their brackets."""
    cells: str | None = None
    """Whether the cells are positions or ratings."""
    judge_columns: tuple[str, ...] = ()
    """The columns of judges, where each has one."""
    winners: str = "rows"
    """In a table of counts, whose items the counted wins are: those of the rows or columns."""


def made_long(part: Part, asked: Mapping[str, str | None], grid: Grid) -> Part:
    """Make a table with a column for each item one with a row for each; others stay as they are."""
    long = _made_long(part, asked, grid)
    kind = "" if long.before is None else long.before.kind
    if grid.judge_columns and kind != BY_JUDGE:
        raise InputError(f"{part.name} is an export: it has no columns of judges.")
    if grid.item_columns and kind != SURVEY:
        raise InputError(f"{part.name} is an export: it has no columns of items.")
    if grid.cells is not None and kind not in (SURVEY, BY_JUDGE):
        raise InputError(f"{part.name} has no column for each item: omit --cells (cells=...).")
    if grid.winners != "rows" and kind != COUNTS:
        raise InputError(f"{part.name} is not a table of counts: omit --counts (counts=...).")
    return long


def _made_long(part: Part, asked: Mapping[str, str | None], grid: Grid) -> Part:
    if part.plain.names_rows or part.format == "preflib":
        return part
    names = header(part)
    if grid.judge_columns or grid.item_columns:
        return _as_named(part, names, asked, grid)
    if not part.plain.hints and (games := scores_in(part, names, asked)) is not None:
        return made_of_scores(part, names, *games)
    if fits_some_shape(names, part.plain.hints):
        return part
    if (counted := _counted_wins(names)) and not asked["winner"] and not asked["weight"]:
        sides = sides_in(names, asked)
        if sides is not None:
            return _wins(part, names, sides, counted)
    if any(column for role, column in asked.items() if role not in ("judge", "weight")):
        return part
    return _by_its_names(part, names, grid)


def _by_its_names(part: Part, names: Sequence[str], grid: Grid) -> Part:
    """Make a table long whose columns are named after items or pairs."""
    if len(pairs := _pairs_in(names)) > 1:
        return _by_pair(part, names, pairs)
    if questions := _questions(names):
        return _survey(part, names, _only_question(part.name, questions), grid)
    if part.kept is None and (table := cross_table(part, names)) is not None:
        return made_of_results(part, table)
    if 3 <= len(names) <= MOST_COLUMNS and _is_count_table(replace(part, kept=None), names):
        if part.kept is not None:
            raise InputError(
                f"{part.name} is {COUNTS}: its rows are items and cannot be left out one by one. "
                "Omit --where (where=...)."
            )
        return _counts(part, names, grid.winners)
    return part


def _as_named(
    part: Part, names: Sequence[str], asked: Mapping[str, str | None], grid: Grid
) -> Part:
    """Make a table long whose columns of judges or items the user names."""
    if grid.item_columns:
        return _survey(part, names, _named(part.name, names, grid.item_columns), grid)
    columns = _named(part.name, names, grid.judge_columns, "judges", "--judge-columns")
    return made_by_judge(part, names, columns, asked, grid.cells)


# --- surveys -------------------------------------------------------------------------------------


def _questions(names: Sequence[str]) -> dict[str, list[str]]:
    """Find columns such as ``Rate the drinks [Tea]``, by their question."""
    found: dict[str, list[str]] = {}
    for name in names:
        if (parts := in_brackets(name)) and not rank_of(name).number:
            found.setdefault(parts[1], []).append(name)
    return {question: columns for question, columns in found.items() if len(columns) > 1}


def _only_question(source: str, questions: Mapping[str, list[str]]) -> list[str]:
    if len(questions) > 1:
        raise InputError(
            f"{source} has {len(questions)} questions with a column for each item: "
            f"{listing([repr(question) for question in questions])}. Choose one with "
            "--item-columns QUESTION (item_columns=[...])."
        )
    return next(iter(questions.values()))


def _named(
    source: str,
    names: Sequence[str],
    wanted: Sequence[str],
    whose: str = "items",
    option: str = "--item-columns",
) -> list[str]:
    """Find the columns the user names: one by one, with commas between them, or by question."""
    found: list[str] = []
    unknown: list[str] = []
    for name in wanted:
        # A question may have commas in it.
        several = [name] if _columns_of(name, names) else name.split(",")
        for one in several:
            columns = _columns_of(one.strip(), names)
            found += columns
            unknown += [] if columns else [one.strip()]
    if unknown:
        raise InputError(
            f"{source} has no column {listing([repr(name) for name in unknown])}, asked for as "
            f"columns of {whose}. Columns found: {columns_found(names)}."
            f"{did_you_mean_all(unknown, names)}"
        )
    if len(set(found)) < 2:
        raise InputError(f"Name at least two columns of {whose} with {option}.")
    return list(dict.fromkeys(found))


def _columns_of(wanted: str, names: Sequence[str]) -> list[str]:
    """Find the columns of a question, or the one column or item of that name."""
    if of_question := _questions(names).get(wanted):
        return of_question
    exact = [name for name in names if wanted in (name, _item_of(name))]
    return exact or [name for name in names if plain(name) == plain(wanted)]


def _item_of(column: str) -> str:
    parts = in_brackets(column)
    return parts[2] if parts else column


def _survey(part: Part, names: Sequence[str], columns: Sequence[str], grid: Grid) -> Part:
    """Make a row of every answer; a row of the survey is a ranking or a context."""
    rows = read_rows([part], names)
    frame, numbers = rows.frame, rows.numbers
    rest = [name for name in names if name not in columns]
    text = [answered(frame[column]) for column in columns]
    cells = grid.cells or _kind(part.name, columns, text)
    answers = pl.concat(
        frame.select(*rest, numbers.alias(ROW)).with_columns(
            pl.lit(_item_of(column)).alias(ITEM),
            pl.Series(CELLS[cells], _values(answer, cells)),
            pl.Series(ROW_NAME, [f"row {row:,}, column {column}" for row in numbers]),
        )
        for column, answer in zip(columns, text, strict=True)
    )
    answers = answers.filter(pl.col(CELLS[cells]).is_not_null()).sort(ROW, maintain_order=True)
    with_answer = set(answers[ROW])
    silent = [f"row {row:,}" for row in numbers if row not in with_answer]
    left_out = left_out_of(part.name, silent, len(frame), "rows", "without any answer")
    hints = {**part.plain.hints, "item": (ITEM,), cells: (CELLS[cells],), "id": (ROW,)}
    shown = listing([_item_of(column) for column in columns], 4)
    said = {
        "position": "positions",
        "rating": "ratings",
    }[cells]
    return replace(
        part,
        plain=Plain(answers.lazy(), hints, names_rows=True, left_out=left_out),
        remarks=(*part.remarks, f"{len(columns)} columns of items ({shown}) with {said}"),
        before=Before(SURVEY, len(frame), ROW),
        kept=None,
    )


def _pairs_in(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Find columns that are named after two items, such as ``Which is better? [Tea vs Milk]``."""
    parted = {name: _VERSUS.fullmatch(_item_of(name).strip()) for name in names}
    return {name: (pair[1], pair[2]) for name, pair in parted.items() if pair}


def _by_pair(part: Part, names: Sequence[str], pairs: Mapping[str, tuple[str, str]]) -> Part:
    """Make a vote of every answer: the cell says which of the two items of its column won."""
    read = read_rows([part], names)
    votes = pl.concat(
        read.frame.with_columns(
            pl.lit(left).alias(LEFT),
            pl.lit(right).alias(RIGHT),
            filled(read.frame[column]).alias(WINNER),
            pl.Series(ROW_NAME, [f"row {row:,}, column {column}" for row in read.numbers]),
        ).drop(list(pairs))  # only now: without any column, a frame has no rows
        for column, (left, right) in pairs.items()
    )
    given = votes.filter(pl.col(WINNER).is_not_null())
    if not len(given):
        raise InputError(f"{part.name} has no votes: all cells of the pairs are empty.")
    empty = len(votes) - len(given)
    blank = f", {counted(empty, 'empty cell')}" if empty else ""
    hints = {**part.plain.hints, "left": (LEFT,), "right": (RIGHT,), "outcome": (WINNER,)}
    shown = listing([f"{left} against {right}" for left, right in pairs.values()], 3)
    return replace(
        part,
        plain=Plain(given.lazy(), hints, names_rows=True),
        remarks=(*part.remarks, f"{len(pairs)} columns of pairs ({shown}){blank}"),
        before=Before(BY_PAIR, len(read.frame)),
        kept=None,
    )


def _kind(source: str, columns: Sequence[str], answers: Sequence[pl.Series]) -> str:
    """Tell whether the cells are positions or ratings: by their words, or by the question's."""
    parts = in_brackets(columns[0])
    question = parts[1] if parts else ""
    given = pl.concat([answer.rename("") for answer in answers]).drop_nulls().unique()
    if len(given) and all(rank_of(answer).number for answer in given):
        return "position"
    about = [
        kind
        for kind, words in (("position", _ABOUT_POSITIONS), ("rating", _ABOUT_RATINGS))
        if words.search(question)
    ]
    if len(about) == 1:
        return about[0]
    raise InputError(
        f"{source} has a column for each item ({listing([_item_of(c) for c in columns], 3)}), and "
        "nothing says what the numbers in them are. Say --cells position if 1 is the best, or "
        "--cells rating if higher is better (cells=...)."
    )


def _values(answer: pl.Series, cells: str) -> pl.Series:
    """Write positions as numbers, whatever way they are given; ratings stay as they are."""
    if cells == "rating":
        return answer
    distinct = answer.drop_nulls().unique().to_list()
    numbers = {text: str(number) for text in distinct if (number := rank_of(text).number)}
    return answer.replace(numbers)


# --- tables of counts ----------------------------------------------------------------------------


def _is_count_table(part: Part, names: Sequence[str]) -> bool:
    """Tell whether the first column has the names of all others, each once."""
    of_row = read_rows([part], names[:1]).frame[names[0]]
    if of_row.dtype.is_nested():
        return False
    first = _without_total(of_row.cast(pl.String).to_list())
    return len(set(first)) == len(first) and sorted(first) == sorted(_without_total(names[1:]))


def _without_total(names: Sequence[str | None]) -> list[str]:
    """Strip the names of items, and leave out a last one that is a total."""
    bare = [(name or "").strip() for name in names]
    return bare[:-1] if bare and bare[-1].lower() in TOTALS else bare


def _counts(part: Part, names: Sequence[str], winners: str) -> Part:
    """Make a vote of every cell that is not empty or 0, with the count as its weight."""
    items = _without_total(names[1:])
    frame = read_rows([part], names).frame.head(len(items))
    of_row = frame[names[0]].cast(pl.String).str.strip_chars()
    columns = names[1 : len(items) + 1]
    counts = np.column_stack([_numbers(part.name, of_row, frame[name]) for name in columns])
    in_order = counts[np.argsort([items.index(item) for item in of_row])]
    _check_not_shares(part.name, in_order)
    row, column = np.nonzero(counts)
    ends = of_row.gather(row), pl.Series([items[at] for at in column], dtype=pl.String)
    winner, loser = ends if winners == "rows" else ends[::-1]
    frame = pl.DataFrame(
        {
            WINNER: winner,
            LOSER: loser,
            COUNT: counts[row, column],
            ROW_NAME: [
                f"row {r + 1:,}, column {items[c]}" for r, c in zip(row, column, strict=True)
            ],
        }
    )
    if not len(frame):
        raise InputError(f"{part.name} is a table of counts that are all 0: there are no votes.")
    hints = {"winner": (WINNER,), "loser": (LOSER,), "weight": (COUNT,)}
    other = "columns" if winners == "rows" else "rows"
    remark = (
        f"how often the item of the {winners.removesuffix('s')} beat that of the "
        f"{other.removesuffix('s')} (else --counts {other})"
    )
    return replace(
        part,
        plain=Plain(frame.lazy(), hints, names_rows=True, notices=tuple(_doubts(in_order))),
        remarks=(*part.remarks, remark),
        before=Before(COUNTS, len(items)),
    )


def _counted_wins(names: Sequence[str]) -> dict[str, str]:
    """Find columns that count the wins of the left and right item, and ties: ``win1, win2``."""
    known = {plain(name): name for name in names}
    for left, right in COUNTED_WINS:
        if left in known and right in known:
            found = {known[left]: "left", known[right]: "right"}
            return found | {known[tie]: "tie" for tie in COUNTED_TIES if tie in known}
    return {}


def _wins(
    part: Part, names: Sequence[str], sides: tuple[str, str], counted: Mapping[str, str]
) -> Part:
    """Make a vote of every count that is not 0."""
    read = read_rows([part], names)
    frame = read.frame
    rest = [name for name in names if name not in counted]
    rows = pl.Series([f"{row:,}" for row in read.numbers], dtype=pl.String)
    votes = pl.concat(
        frame.select(rest).with_columns(
            pl.lit(outcome).alias(WINNER),
            pl.Series(COUNT, _numbers(part.name, rows, frame[column])),
            ("row " + rows + f", column {column}").alias(ROW_NAME),
        )
        for column, outcome in counted.items()
    ).filter(pl.col(COUNT) > 0)
    left, right = sides
    hints = {"left": (left,), "right": (right,), "outcome": (WINNER,), "weight": (COUNT,)}
    return replace(
        part,
        plain=Plain(votes.lazy(), hints, names_rows=True),
        remarks=(*part.remarks, f"wins counted in {', '.join(counted)}"),
        before=Before("counts of wins of two items", len(frame)),
        kept=None,
    )


def _numbers(source: str, of_row: pl.Series, column: pl.Series) -> Floats:
    text = filled(column)
    text = text.set(text.is_in(NOTHING), None)
    number = weights(text)
    bad = np.isnan(number) & text.is_not_null().to_numpy() | (number < 0)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"{source} is a table of counts with a cell that is no count: {text[at]!r} in the row "
            f"of {of_row[at]!r}, column {column.name!r}. Write how often one item beat the other."
        )
    return np.nan_to_num(number)


def _check_not_shares(source: str, counts: Floats) -> None:
    """Refuse shares of wins: how many votes they stand for is not known."""
    of_both = _of_both(counts)
    has_parts = bool((counts != np.round(counts)).any())
    if has_parts and len(of_both) and np.isclose(of_both, 1, atol=0.02).all():
        raise InputError(
            f"{source} is a table of shares of wins, which do not tell how many votes there were. "
            "Give counts: how often each item beat each other."
        )


def _of_both(counts: Floats) -> Floats:
    """The wins of every two items that were compared, together."""
    both = (counts + counts.T)[np.triu_indices(len(counts), 1)]
    return both[both > 0]


def _doubts(counts: Floats) -> Iterator[str]:
    """Say what makes it doubtful that the cells are counts of wins."""
    of_both = _of_both(counts)
    if len(of_both) > 2 and np.isclose(of_both, 100, atol=0.5).all():
        yield (
            "Every pair of items in the table has 100 wins in all: if these are percentages and "
            "not counts, the intervals are those of 100 votes on each pair."
        )
    if len(of_both) > 2 and (counts == counts.T).all():
        yield (
            "The table of counts is symmetric: if it says how often items were compared, and not "
            "how often each won, the ranking means nothing."
        )
