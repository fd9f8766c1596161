"""Votes on two items: rows with a winner and a loser, or with two sides and an outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.lists import no_lists
from juryrank.reading.coding import Coded, coded, notices, order_by, ordered, same_kind
from juryrank.reading.columns import PairColumns
from juryrank.reading.files import Rows
from juryrank.reading.outcomes import BOTH_BAD, SKIP, Outcomes, outcomes
from juryrank.reading.rows import (
    Complaint,
    Rules,
    bad_outcomes,
    bad_weights,
    judges_of,
    missing,
    sift,
    weights,
)
from juryrank.votes import LEFT_WON, TIE, Votes, ones


def pair_votes(rows: Rows, columns: PairColumns, rules: Rules) -> Votes:
    """Code rows that each compare two items."""
    items = coded(*same_kind(rows.frame[columns.left], rows.frame[columns.right]))
    judges = judges_of(rows, columns.judge, rules.judge_per_row)
    outcome = (
        None
        if columns.outcome is None
        else outcomes(rows.frame[columns.outcome], columns, items, rules.meanings)
    )
    weight = None if columns.weight is None else weights(rows.frame[columns.weight])
    complaints = _complaints(rows, columns, items, judges, outcome, weight)
    left, right = items.codes
    _check_two_items(items)
    won = None if outcome is None else outcome.codes
    skipped = None if won is None else won == SKIP
    keep, left_out = sift(
        rows, complaints, skip_bad=rules.skip_bad, same=left == right, skipped=skipped
    )
    if keep is not None:
        items = Coded(items.labels, (left[keep], right[keep]))
        judges = Coded(judges.labels, (judges.codes[0][keep],))
        won = None if won is None else won[keep]
        weight = None if weight is None else weight[keep]
    items, judges = ordered(items, rows.text), ordered(judges, rows.text)
    votes = _sorted_votes(items, judges, won, weight)
    return replace(
        votes,
        judges_known=columns.judge is not None or rules.judge_per_row,
        left_out=left_out,
        notices=notices(items.labels, judges.labels),
    )


def _complaints(
    rows: Rows,
    columns: PairColumns,
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
) -> Votes:
    (judge,) = judges.codes
    left, right = items.codes
    order = order_by(judge, len(judges.labels))
    if order is not None:
        left, right = left[order], right[order]
        outcome = None if outcome is None else outcome[order]
        weight = None if weight is None else weight[order]
    both_bad = 0
    if outcome is not None:
        bad = outcome == BOTH_BAD
        both_bad = int(bad.sum())
        outcome = np.where(bad, np.int8(TIE), outcome)
    return Votes(
        items=items.labels.alias("item"),
        judges=judges.labels.alias("judge"),
        start=np.concatenate(([0], np.cumsum(np.bincount(judge)))),
        left=left,
        right=right,
        outcome=np.full(len(left), LEFT_WON, dtype=np.int8) if outcome is None else outcome,
        weight=ones(len(left)) if weight is None else weight,
        lists=no_lists(len(judges.labels)),
        both_bad=both_bad,
        sides_known=outcome is not None,
    )
