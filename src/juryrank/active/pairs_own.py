"""What a pair has of its own: what its judges agree on beyond the scores of its items.

Two texts may have been compared on one prompt only, or one item may beat another for reasons that
count against no third. Judges then see the gap ``s_i - s_j + d_ij``, the same ``d_ij``, of variance
``v``, for all of them. However many votes there are on the pair, they cannot tell more of the
scores than ``1 / v``: with ``P`` the information in them about what is seen, ``P / (1 + v P)``.
An answer of information ``w`` adds to this

    w / ((1 + v P) (1 + v (P + w))).

``v`` is measured by moments. With ``R_u`` judge ``u``'s part of the gradient of the
log-likelihood in the gap of a pair, and ``J_u`` its information,

    E[(sum R_u)^2 - sum R_u^2] = v [(sum J_u)^2 - sum J_u^2],

as different judges have nothing in common but what the pair has; accounts that count as one judge
are one here, too. It holds for draws of a posterior, as votes and a draw are distributed like votes
and the truth. Pairs have the weights ``(1 + v sum J_u)^-2``. Of an estimate with the standard
error ``e``, the part ``1 - (2 e / v)^2`` is believed, or nothing if that is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.active.answer import fisher, score_of
from juryrank.inference.opinions import Codes
from juryrank.model.noise import Noise
from juryrank.types import Floats
from juryrank.votes.votes import TIE

ROUNDS = 20
SURE = 2.0
"""Standard errors, below which nothing is believed."""
LEAST_PAIRS = 10
"""Pairs with several judges, below which nothing is said."""


@dataclass(frozen=True, eq=False)
class PairsOwn:
    """What the votes say of pairs beyond the scores."""

    variance: float
    """``v``."""
    pair: Codes
    """The pairs with votes in ascending order, `n_items` times the lower code plus the other,"""
    told: Floats
    """and what their votes tell of what is seen."""
    n_items: int

    def share(self, one: Codes, other: Codes, weight: Floats) -> Floats:
        """Of what answers of this information tell of such gaps, the part that is of scores."""
        if not self.variance:
            return np.ones(len(one))
        told = self.variance * self._told_of(one, other)
        return np.asarray(1.0 / ((1.0 + told) * (1.0 + told + self.variance * weight)))

    def _told_of(self, one: Codes, other: Codes) -> Floats:
        low, high = np.minimum(one, other), np.maximum(one, other)
        key = low * self.n_items + high
        at = np.minimum(np.searchsorted(self.pair, key), len(self.pair) - 1)
        known = (self.pair[at] == key) & (high < self.n_items)
        return np.where(known, self.told[at], 0.0)


NOTHING_OWN = PairsOwn(0.0, np.empty(0, dtype=np.int64), np.empty(0), 0)


@dataclass(frozen=True, eq=False)
class VotesOnPairs:
    """Votes on pairs, by code."""

    judge: NDArray[np.int32]
    voice: NDArray[np.int32]
    """The same for all accounts that count as one judge."""
    winner: NDArray[np.int32]
    """Of a tie, the left one."""
    loser: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: Floats
    n_items: int

    @property
    def pair(self) -> Codes:
        """As `PairsOwn` counts pairs."""
        low, high = np.minimum(self.winner, self.loser), np.maximum(self.winner, self.loser)
        return np.asarray(low.astype(np.int64) * self.n_items + high)

    def taken(self, some: NDArray[np.bool_]) -> VotesOnPairs:
        """Some of them."""
        return VotesOnPairs(
            self.judge[some], self.voice[some], self.winner[some], self.loser[some],
            self.outcome[some], self.weight[some], self.n_items,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sights:
    """How the judges of votes see the two items, votes x draws."""

    x: Floats
    """How far the winner is above the loser, in units of the judge's noise."""
    accuracy: Floats
    tie: Floats | None
    """``log t``, if two items can be tied."""


def pairs_own(
    votes: VotesOnPairs, noise: Noise, seen: Callable[[VotesOnPairs], Sights]
) -> PairsOwn:
    """What pairs have of their own."""
    pair = votes.pair
    shared = votes.taken(_with_several_judges(pair, votes.voice))
    if not len(shared.judge):
        return NOTHING_OWN
    variance = _variance(shared, *_derivatives(shared, noise, seen(shared)))
    if not variance:
        return NOTHING_OWN
    known, told = _sums_by(pair, _derivatives(votes, noise, seen(votes))[1])
    return PairsOwn(variance, known, told.mean(axis=1), votes.n_items)


def _with_several_judges(pair: Codes, judge: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which votes are on pairs that several judges have voted on; none if these are few."""
    found = np.zeros(len(pair), dtype=np.bool_)
    if not len(pair):
        return found
    order = np.lexsort((judge, pair))
    new_pair = np.diff(pair[order], prepend=-1) != 0
    new_judge = np.diff(judge[order], prepend=-1) != 0
    begin = np.flatnonzero(new_pair)
    several = np.add.reduceat(new_pair | new_judge, begin, dtype=np.int64) > 1
    if np.count_nonzero(several) >= LEAST_PAIRS:
        found[order] = np.repeat(several, np.diff(begin, append=len(pair)))
    return found


def _derivatives(votes: VotesOnPairs, noise: Noise, seen: Sights) -> tuple[Floats, Floats]:
    """Of each vote's log-likelihood in the gap of its pair: the first, and the information."""
    weight, tied = votes.weight[:, None], votes.outcome[:, None] == TIE
    answers = score_of(noise, seen.x, seen.tie)
    # If ties have no chance, one is half of each.
    of_ties = 0.5 * (answers[0] + answers[1]) if seen.tie is None else answers[2]
    gradient = weight * seen.accuracy * np.where(tied, of_ties, answers[0])
    turned = (votes.winner > votes.loser)[:, None]
    told = weight * seen.accuracy**2 * fisher(noise, seen.x, seen.tie)
    return np.where(turned, -gradient, gradient), told


def _variance(votes: VotesOnPairs, gradient: Floats, told: Floats) -> float:
    """``v``, as far as it is believed."""
    m = 1 + int(votes.voice.max())
    cell, gradient, told = _sums_by(votes.pair * m + votes.voice, gradient, told)
    _, whole, all_told, squares, squares_told = _sums_by(
        cell // m, gradient, told, gradient**2, told**2
    )
    observed = (whole**2 - squares).mean(axis=1)
    expected = (all_told**2 - squares_told).mean(axis=1)
    precision, variance = all_told.mean(axis=1), 0.0
    for _ in range(ROUNDS):
        weight = 1.0 / (1.0 + variance * precision) ** 2
        total = max(float(weight @ expected), np.finfo(np.float64).tiny)
        variance = max(float(weight @ observed) / total, 0.0)
    error = float(np.sqrt(np.sum((weight * observed) ** 2))) / total
    return variance * max(1.0 - (SURE * error / variance) ** 2, 0.0) if variance else 0.0


def _sums_by(code: Codes, *rows: Floats) -> tuple[Any, ...]:
    """The codes there are, in order, and the sums of their rows."""
    order = np.argsort(code, kind="stable")
    code = code[order]
    begin = np.flatnonzero(np.diff(code, prepend=-1))
    return code[begin], *(np.add.reduceat(some[order], begin) for some in rows)
