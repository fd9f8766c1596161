"""Votes with a ranking in every row, or a set and the item chosen from it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.reading.ballots import Ballots, Entries, Names, row_numbers
from juryrank.reading.coding import labels, same_kind
from juryrank.reading.columns import ChoiceColumns, RankingColumns, WideColumns
from juryrank.reading.files import Rows
from juryrank.reading.list_cells import Cells, ranking_cells, set_cells
from juryrank.reading.outcomes import BOTH_BAD, NO_SIDE_WORDS, SKIP, UNKNOWN, as_text, meaning
from juryrank.reading.rows import (
    Complaint,
    Mask,
    Rules,
    bad_weights,
    judges_of,
    missing,
    weights,
)
from juryrank.votes.votes import TIE

_HOW_TO_WRITE = (
    "Write a > b > c, with = for ties, or a JSON list such as "
    '["a", ["b", "c"]], in which a list is a tie.'
)


def ranking_ballots(rows: Rows, columns: RankingColumns, rules: Rules) -> Ballots:
    """Take a ranking from each cell of one column."""
    column = rows.frame[columns.ranking]
    cells = ranking_cells(column, may_be_one_item=columns.options is not None)
    if columns.unread is not None:
        unread = rows.frame[columns.unread]
        bad = unread.is_not_null().to_numpy()
        complaints = [Complaint("an order that cannot be read", bad, unread)]
        names = Names("the ranking")
    else:
        complaints = [
            Complaint("an empty ranking", cells.empty, hint=_HOW_TO_WRITE),
            Complaint("a ranking that cannot be read", cells.unreadable, column, _HOW_TO_WRITE),
        ]
        names = Names("the ranking", hint=_one_item_hint(columns))
    ballots = _ballots(rows, columns, rules, cells.entries, names, complaints)
    return replace(ballots, one_item_is_no_vote=columns.unread is not None)


def _one_item_hint(columns: RankingColumns) -> str:
    if columns.options is not None:
        return "A vote needs two items or more."
    name = columns.ranking
    return (
        f"{_HOW_TO_WRITE} If the judge saw other items too, name their column with --options; if "
        f"{name!r} is the position of an item, say --position {shlex.quote(name)}."
    )


def wide_ballots(rows: Rows, columns: WideColumns, rules: Rules) -> Ballots:
    """Take each row's ranking from a column for each rank."""
    by_rank = same_kind(*(rows.frame[name] for name in columns.ranks))
    filled = np.column_stack([_is_filled(column) for column in by_rank])
    empty = ~np.logical_or.reduce(filled, axis=1)
    gap = np.logical_or.reduce(~filled[:, :-1] & filled[:, 1:], axis=1)
    where = [np.flatnonzero(column) for column in filled.T]
    entries = Entries(
        np.concatenate(where),
        np.repeat(np.arange(len(where), dtype=np.int32), [len(found) for found in where]),
        pl.concat([column.gather(found) for column, found in zip(by_rank, where, strict=True)]),
    )
    complaints = [
        Complaint("an empty ranking", empty, hint=f"Fill in {columns.ranks[0]!r} and so on."),
        Complaint(
            "an empty rank before a filled one", gap, hint="Only the last ranks may be empty."
        ),
    ]
    hint = f"A vote needs two items or more: fill in {columns.ranks[1]!r}."
    return _ballots(rows, columns, rules, entries, Names("the ranking", hint=hint), complaints)


def _is_filled(column: pl.Series) -> Mask:
    filled = column.is_not_null()
    if column.dtype == pl.String:
        filled &= column.fill_null("").str.strip_chars() != ""
    return filled.to_numpy()


def _ballots(
    rows: Rows,
    columns: RankingColumns | ChoiceColumns | WideColumns,
    rules: Rules,
    ranked: Entries,
    names: Names,
    complaints: Sequence[Complaint],
    shown: Cells | None = None,
    said: NDArray[np.int8] | None = None,
) -> Ballots:
    """Bring what every row has together: its ranking, its set, its judge, its weight."""
    judges = judges_of(rows, columns.judge, rules, per_row=rules.judge_per_row)
    found = list(complaints)
    if judges.has_missing:
        found.append(missing(str(columns.judge), judges.codes[0]))
    weight = None
    if columns.weight is not None:
        weight = weights(rows.frame[columns.weight])
        found.append(bad_weights(rows.frame[columns.weight], weight))
    if columns.options is not None:
        shown = shown or set_cells(rows.frame[columns.options])
        found += _bad_sets(rows.frame[columns.options], shown)
        names = names._replace(options=f"the column {columns.options!r}")
    return Ballots(
        ranked=ranked,
        shown=None if shown is None else shown.entries,
        of_row=row_numbers(len(rows.frame)),
        first_row=row_numbers(len(rows.frame)),
        judges=judges,
        weight=weight,
        judges_known=columns.judge is not None or rules.judge_per_row,
        names=names,
        complaints=found,
        skipped=None if said is None else said == SKIP,
        both_bad=None if said is None else said == BOTH_BAD,
    )


def _bad_sets(column: pl.Series, cells: Cells) -> list[Complaint]:
    how = "Write a | b | c or a JSON list."
    return [
        Complaint(f"nothing in the column {column.name!r}", cells.empty, hint=how),
        Complaint("a set that cannot be read", cells.unreadable, column, how),
    ]


# --- choices -----------------------------------------------------------------------------------


def choice_ballots(rows: Rows, columns: ChoiceColumns, rules: Rules) -> Ballots:
    """Take each row as one item chosen from a set, or as a tie of them all."""
    shown = set_cells(rows.frame[columns.options])
    choice = _choice(rows.frame[columns.choice], shown)
    said = _said(choice, shown.entries, rules.meanings)
    no_side = np.isin(said, (TIE, BOTH_BAD, SKIP))
    is_choice = _is_filled(choice) & ~no_side
    tied = np.flatnonzero(no_side[shown.entries.row])
    chosen = np.flatnonzero(is_choice)
    label, set_label = same_kind(choice, shown.entries.label)
    ranked = Entries(
        np.concatenate([chosen, shown.entries.row[tied]]),
        np.zeros(len(chosen) + len(tied), dtype=np.int32),
        pl.concat([label.gather(chosen), set_label.gather(tied)]),
    )
    blank = Complaint(
        f"nothing in the column {columns.choice!r}",
        ~(is_choice | no_side),
        hint="Every vote needs it: fill it in, or map it with --outcome-map.",
    )
    names = Names("the choice", hint="A choice is from two items or more.")
    return _ballots(rows, columns, rules, ranked, names, [blank], shown, said)


def _choice(column: pl.Series, shown: Cells) -> pl.Series:
    """Give the choices, without the blanks that the items of a plain set do not have either."""
    column = labels(column)
    if column.dtype != pl.String or not shown.plain_text.any():
        return column
    return column.zip_with(pl.Series(~shown.plain_text), column.str.strip_chars())


def _said(choice: pl.Series, shown: Entries, meanings: Mapping[str, int]) -> NDArray[np.int8]:
    """Tell which choices are no item but a word: what the user maps, or a tie that is no item."""
    words = as_text(choice)
    distinct = words.unique()
    mapped = _rows_saying(words, distinct, {}, meanings)
    known = _rows_saying(words, distinct, NO_SIDE_WORDS, {})
    in_question = np.flatnonzero(((mapped == UNKNOWN) & (known != UNKNOWN))[shown.row])
    row = shown.row[in_question]
    names = shown.label.gather(in_question).cast(pl.String)
    known[row[(names == words.gather(row)).fill_null(False).to_numpy()]] = UNKNOWN
    return np.where(mapped != UNKNOWN, mapped, known)


def _rows_saying(
    words: pl.Series, distinct: pl.Series, known: Mapping[str, int], meanings: Mapping[str, int]
) -> NDArray[np.int8]:
    told = [meaning(word, known, meanings) for word in distinct] if known or meanings else []
    of_word = {w: code for w, code in zip(distinct, told, strict=False) if code != UNKNOWN}
    if not of_word:
        return np.full(len(words), UNKNOWN, dtype=np.int8)
    codes = words.replace_strict(
        list(of_word), list(of_word.values()), default=UNKNOWN, return_dtype=pl.Int8
    )
    return codes.to_numpy().copy()
