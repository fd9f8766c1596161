"""Infit and outfit: how far votes are from what a model expects, by item and by judge.

They are the mean squares of the literature on Rasch models and comparative judgement (Wright and
Masters 1982, Pollitt 2012). For a vote let ``p`` be the probability of what was voted and
``q = 1 - p``: then the squared residual is ``q^2``, its variance ``p q``, and the squared
standardised residual ``q / p``. With weights ``w``,

    infit = sum w q^2 / sum w p q        outfit = sum w q / p  /  sum w

Both are 1 on average where the model holds. Above 1 more votes are unexpected, below
1 fewer. The infit looks at votes between close items, the outfit is moved by single unexpected ones
between distant ones. Tied votes are left out: given that a vote is not tied, its probabilities are
those of a model without ties.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import counted
from juryrank.types import Floats
from juryrank.votes.lists import MOST_PAIRS, MOST_PAIRS_OF_ENTRY, items_looked_at, shortened
from juryrank.votes.votes import LEFT_WON, TIE, Votes
from juryrank.votes.weights import total_weight

Codes = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Misfit:
    """Infit and outfit of items and of judges, in the order of the ranking.

    `items` has the columns item, votes (decided ones, and pairs that rankings imply), infit and
    outfit, `judges` the same with judge; null where there is no such vote.
    """

    items: pl.DataFrame
    judges: pl.DataFrame

    def __repr__(self) -> str:
        items, judges = counted(len(self.items), "item"), counted(len(self.judges), "judge")
        return f"Misfit(infit and outfit of {items} and {judges})"


class MeanSquares(NamedTuple):
    """Of groups of votes; NaN where there are none."""

    votes: Floats
    infit: Floats
    outfit: Floats


class Residuals(NamedTuple):
    """The decided votes, each with the probability of what was voted."""

    votes: Votes
    decided: NDArray[np.bool_]
    weight: Floats
    likely: Floats
    """``p``"""
    unlikely: Floats
    """``q``, which is more exact than ``1 - p``."""

    def by_judge(self) -> MeanSquares:
        """The mean squares of each judge's votes."""
        return self._of_groups([self.votes.judge], self.votes.n_judges)

    def by_item(self) -> MeanSquares:
        """The mean squares of the votes that each item took part in."""
        return self._of_groups([*self.votes.sides()], self.votes.n_items)

    def _of_groups(self, groups: list[Codes], count: int) -> MeanSquares:
        parts = (
            self.weight,
            self.weight * self.unlikely**2,
            self.weight * self.likely * self.unlikely,
            self.weight * self.unlikely / np.maximum(self.likely, np.finfo(np.float64).tiny),
        )
        total, squares, variance, standardised = (
            sum(
                (total_weight(codes[self.decided], part, count) for codes in groups),
                np.zeros(count),
            )
            for part in parts
        )
        return MeanSquares(total, _ratio(squares, variance), _ratio(standardised, total))


def _ratio(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.divide(one, other, out=np.full(len(one), np.nan), where=other > 0.0))


def in_few_pairs(
    votes: Votes, most_pairs: int = MOST_PAIRS, most_of_entry: int = MOST_PAIRS_OF_ENTRY
) -> tuple[Votes, int | None]:
    """Rankings as the pairs they imply; of how many items of each, where not of all."""
    some = items_looked_at(votes.lists, most_pairs, most_of_entry)
    if some is not None:
        votes = replace(votes, lists=shortened(votes.lists, some, votes.n_items))
    return votes.in_pairs(), some


def residuals(votes: Votes, left_wins: Floats, right_wins: Floats) -> Residuals:
    """The residuals of votes on pairs, of which the probabilities are known if they are decided."""
    decided = votes.outcome != TIE
    to_the_left = votes.outcome[decided] == LEFT_WON
    left, right = left_wins[decided], right_wins[decided]
    return Residuals(
        votes,
        decided,
        np.asarray(votes.weight[decided]),
        np.where(to_the_left, left, right),
        np.where(to_the_left, right, left),
    )
