"""Votes on two items: rows with a winner and a loser, or with two sides and an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.reading.coding import (
    MISSING,
    Coded,
    Codes,
    by_group,
    coded,
    counts,
    in_order,
    same_kind,
)
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import BOTH_BAD, SKIP, VOTE_OF, Outcomes, outcomes
from juryrank.reading.rows import (
    Complaint,
    Rules,
    bad_outcomes,
    bad_weights,
    header_again,
    judges_of,
    missing,
    na_names,
    sift,
    spelled_as,
    weights,
)
from juryrank.reading.similar_names import sentences, told
from juryrank.votes.lists import no_lists
from juryrank.votes.votes import LEFT_WON, Repeats, Votes, turn
from juryrank.votes.weights import equal_weights


def pair_votes(rows: Rows, columns: PairColumns, rules: Rules) -> Votes:
    """Code rows that each compare two items."""
    sides_given = coded(*same_kind(rows.frame[columns.left], rows.frame[columns.right]))
    items = spelled_as(sides_given, "item", rules)
    judges = judges_of(rows, columns.judge, rules, per_row=rules.judge_per_row)
    outcome = (
        None
        if columns.words is None
        else outcomes(
            rows.frame[columns.words], columns, items, rules.meanings, merge_names=rules.merge_names
        )
    )
    weight = None if columns.weight is None else weights(rows.frame[columns.weight])
    complaints = _complaints(rows, columns, rules, items, judges, outcome, weight)
    check_two_items(items.labels, items.has_missing)
    keep, left_out = sift(
        rows,
        complaints,
        rules=rules,
        same=items.codes[0] == items.codes[1],
        skipped=None if outcome is None else outcome.are(SKIP),
    )
    if keep is not None:
        judges.codes[0][~keep] = MISSING
    said = None if outcome is None else outcome.codes
    bad = None if outcome is None else outcome.are(BOTH_BAD)
    spellings = told(items.spellings, judges.spellings)
    item_labels, sides = items.labels, list(items.codes)
    repeats = None
    if rows.contexts is not None:
        repeats = _repeats(judges.codes[0], sides, said, rows.contexts)
    del sides_given, items, outcome, complaints  # so that each side can go as soon as it is sorted
    votes = _sorted_votes(item_labels, sides, judges, said, weight, rows.text, keep is None)
    return replace(
        votes,
        both_bad=0 if bad is None else int((bad if keep is None else bad & keep).sum()),
        judges_known=columns.judge is not None or rules.judge_per_row,
        sides_known=columns.outcome is not None,
        left_out=left_out,
        notices=sentences(spellings),
        spellings=spellings,
        repeats=repeats,
    )


def _complaints(
    rows: Rows,
    columns: PairColumns,
    rules: Rules,
    items: Coded,
    judges: Coded,
    outcome: Outcomes | None,
    weight: NDArray[np.float64] | None,
) -> list[Complaint]:
    sides = list(zip((columns.left, columns.right), items.codes, strict=True))
    found = []
    if outcome is not None:
        found += bad_outcomes(outcome, np.logical_or(*(codes < 0 for codes in items.codes)))
    if judges.has_missing:
        found.append(missing(str(columns.judge), judges.codes[0]))
    if items.has_missing:
        found += [missing(column, codes) for column, codes in sides]
    found += header_again(columns, items.labels, *items.codes)
    if not rules.na_is_name:
        found += na_names(judges.labels, (f"the column {columns.judge!r}", judges.codes[0]))
        found += na_names(
            items.labels, *((f"the column {column!r}", codes) for column, codes in sides)
        )
    if weight is not None and columns.weight is not None:
        found.append(bad_weights(rows.frame[columns.weight], weight))
    return found


def check_two_items(items: pl.Series, has_missing: bool) -> None:
    """Complain if there is nothing to compare."""
    if len(items) == 1 and not has_missing:
        raise InputError(f"There is only one item, {items[0]!r}: a ranking needs at least two.")


def _sorted_votes(
    item_labels: pl.Series,
    sides: list[Codes],
    judges: Coded,
    said: NDArray[np.int8] | None,
    weight: NDArray[np.float64] | None,
    numbers_are_text: bool,
    all_kept: bool,
) -> Votes:
    """Sort the votes by judge; rows without one are none.

    `sides`, the left and the right items, are used up.
    """
    (judge,) = judges.codes
    votes_of = counts(judge, len(judges.labels))
    n_items = len(item_labels)
    occurs = np.ones(n_items, np.bool_) if all_kept else _voted_on(sides, judge, n_items)
    items, item_table = in_order(item_labels, occurs, numbers_are_text)
    judge_labels, judge_table = in_order(judges.labels, votes_of > 0, numbers_are_text)
    start, first = _starts(votes_of, judge_table)
    left = by_group(sides.pop(0), item_table, judge, first)
    right = by_group(sides.pop(0), item_table, judge, first)
    if said is None:
        outcome = np.full(len(left), LEFT_WON, dtype=np.int8)
    else:
        outcome = by_group(said, VOTE_OF, judge, first)
        turn(left, right, outcome)
    return Votes(
        items=items.alias("item"),
        judges=judge_labels.alias("judge"),
        start=start,
        winner=left,
        loser=right,
        outcome=outcome,
        weight=(
            equal_weights(len(left))
            if weight is None or (weight == 1.0).all()
            else by_group(weight, None, judge, first)
        ),
        lists=no_lists(len(judge_labels)),
    )


def _repeats(
    judge: Codes, sides: Sequence[Codes], said: NDArray[np.int8] | None, contexts: pl.DataFrame
) -> Repeats | None:
    """Count the votes that are the same as earlier ones but for their contexts.

    Rows without a judge are no votes.
    """
    kept = np.flatnonzero(judge >= 0)
    left, right = (side[kept].astype(np.int64) for side in sides)
    vote = np.full(len(kept), LEFT_WON) if said is None else VOTE_OF[said[kept]]
    facts = contexts[kept].with_columns(
        pl.Series("(judge)", judge[kept]),
        pl.Series("(low)", np.minimum(left, right)),
        pl.Series("(high)", np.maximum(left, right)),
        pl.Series("(said)", np.where(left > right, -vote, vote)),
    )
    same = [name for name in facts.columns if name not in contexts.columns]
    plain = facts.select(same).n_unique()
    if plain == len(facts):
        return None
    apart = facts.n_unique() - plain
    if not apart:
        return Repeats(0, ())
    gains = {name: facts.select(*same, name).n_unique() - plain for name in contexts.columns}
    enough = [name for name, gain in gains.items() if gain == apart][:1]
    return Repeats(apart, tuple(enough or [name for name, gain in gains.items() if gain]))


def _voted_on(sides: Sequence[Codes], judge: Codes, n_items: int) -> NDArray[np.bool_]:
    """Tell which items occur in rows that have a judge."""
    kept = judge >= 0
    return np.asarray(sum(counts(side[kept], n_items) for side in sides) > 0)


def _starts(
    votes_of: NDArray[np.int64], table: Codes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the votes of each judge start, in the order of new codes, and in that of old ones."""
    there = np.flatnonzero(votes_of)
    votes = np.zeros(len(there), dtype=np.int64)
    votes[table[there]] = votes_of[there]
    start = np.concatenate(([0], np.cumsum(votes)))
    first = np.zeros(len(votes_of) + 1, dtype=np.int64)
    first[there], first[-1] = start[table[there]], start[-1]
    return start, first
