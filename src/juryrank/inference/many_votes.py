"""Tastes where votes are too many to sample: what they add to the errors of a best fit.

Around the best fit of the plain model, judge ``u``'s votes are, with ``z = e_winner - e_loser``,
``q`` the curvature of a vote and ``a_u`` the accuracy, observations of ``z' (s + b_u)`` with
precision ``a_u^2 q``. A taste of sd ``w`` moves the judge's part of the gradient by ``K_u b_u``,

    A_u = sum q a_u^2 z z',    v_u = A_u s,    K_u = A_u - v_u v_u' / (a_u^2 C_u),

(the accuracy, with curvature ``C_u``, moves along), so that the scores have the variance

    W + w^2 W Q W,    Q = sum_u rho_u^2 [K_u K_u - sum 2 q^2 a_u^4 z z'],

where the last sum takes off what a vote has in common with itself: the noise of a single vote is
as large as it can be whatever the taste. A judge's repeated votes on an item are one opinion: its
votes get the weight ``rho_u = 1 / (1 + w^2 size_u)``, ``size_u`` the mean over its votes of
``[(A_u^2)_ii - sum 2 q^2 a_u^4] / (A_u)_ii``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from juryrank.inference.covariance import Uncertainty
from juryrank.inference.information import MOST_DENSE, Information, inverse_of
from juryrank.model.gauge import Gauge, gauge_scale
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.weights import total_weight

NEGLIGIBLE = 0.01
"""Tastes that add less than this part to the variance of any judge's votes are left out."""
UNEVEN = 1.3
"""Judges are weighted if their weights differ by this factor."""
VOTES_AT_ONCE = 500_000
BUSIEST = 8
"""So many judges with the most votes tell whether tastes matter."""
JUDGES_AT_ONCE = 512
MOMENT_ROUNDS = 5
LEAST_OPINIONS = 100.0
"""Opinions that tell of tastes, if they are to be measured by moments."""
PROBIT = 0.9
"""Of the probit curve that is as steep at 0: so much flatter is the one closest to others."""
LEAST_REST = 0.05
BISECTIONS = 50
STIFF = 1e6
"""Times the mean curvature: what holds the scale while tastes are looked at."""


class Attenuation(NamedTuple):
    """What a plain fit has lost to tastes."""

    factor: float
    """By which its scores are too small."""
    accuracy: Floats
    """The accuracies that it should have had,"""
    slope: Floats
    """and how they move with those that it had."""


@dataclass(frozen=True, eq=False)
class TasteNoise:
    """What tastes do to the answer, in the objective's own scale."""

    variance: float
    """``w^2``."""
    weight: Floats
    """``rho`` of every judge."""
    matrix: Floats
    """``Q``; its diagonal if there are very many items."""
    own: Floats
    """The variance that tastes add to each accuracy."""

    @property
    def sd(self) -> float:
        """``w``."""
        return float(np.sqrt(self.variance))

    @property
    def is_uneven(self) -> bool:
        """Whether some judges' votes should count for less than others'."""
        return bool(self.weight.max() > UNEVEN * self.weight.min())


class _SomeJudges:
    """The votes of some judges, by the opinions they are about."""

    def __init__(self, votes: CodedVotes, noise: Noise, score: Floats, accuracy: Floats) -> None:
        pairs, n = votes.pairs, votes.n_items
        self.n = n
        self.judges = votes.n_judges
        judge = np.repeat(np.arange(self.judges), pairs.per_judge)
        winner, loser = pairs.winner.astype(np.int64), pairs.loser.astype(np.int64)
        gap = score[winner] - score[loser]
        own = accuracy[judge]
        _, slope, bend = noise.terms(own * gap)
        told = pairs.weight * bend * own**2
        miss = -pairs.weight * slope * own
        cells, at = np.unique(
            np.concatenate((judge * n + winner, judge * n + loser)), return_inverse=True
        )
        self.item, self.owner = cells % n, cells // n
        self.winner, self.loser, self.told = winner, loser, told
        self.cell = at[: len(judge)], at[len(judge) :]
        rows = np.concatenate((*self.cell, *self.cell))
        columns = np.concatenate((winner, loser, loser, winner))
        values = np.concatenate((told, told, -told, -told))
        self.matrix = csr_array((values, (rows, columns)), shape=(len(cells), n))
        """``A_u`` of each judge, a row for each opinion."""
        self.votes = total_weight(rows[: 2 * len(judge)], np.ones(2 * len(judge)), len(cells))
        self.single = total_weight(rows[: 2 * len(judge)], np.tile(2.0 * told**2, 2), len(cells))
        self.residual = total_weight(self.cell[0], miss, len(cells))
        self.residual -= total_weight(self.cell[1], miss, len(cells))
        """The judge's part of the gradient in each opinion."""
        self.alone = total_weight(rows[: 2 * len(judge)], np.tile(miss**2, 2), len(cells))
        """What of its square is that of single votes."""
        self.pull: Floats = np.asarray(self.matrix @ score)
        """``v_u``."""
        alone = total_weight(judge, 2.0 * (told * gap) ** 2, self.judges)
        self.square = total_weight(self.owner, self.pull**2, self.judges) - alone

    @cached_property
    def shared(self) -> Floats:
        """``(A_u^2)_ii`` of each opinion, without what is of single votes alone."""
        square: Floats = np.asarray(self.matrix.multiply(self.matrix).sum(axis=1)).ravel()
        return np.maximum(square - self.single, 0.0)

    @cached_property
    def sizes(self) -> Floats:
        """``size_u``."""
        own = self.diagonal
        share = np.divide(self.shared, own, out=np.zeros(len(own)), where=own > 0.0)
        total = total_weight(self.owner, self.votes * share, self.judges)
        votes = total_weight(self.owner, self.votes, self.judges)
        return np.maximum(total / np.maximum(votes, 1.0), 0.0)

    @cached_property
    def diagonal(self) -> Floats:
        """``(A_u)_ii`` of each opinion."""
        told = np.concatenate((self.told, self.told))
        return total_weight(np.concatenate(self.cell), told, len(self.item))

    def add_to(self, total: Floats, weight: Floats, share: Floats) -> None:
        """Add the judges' part of ``Q``; `share` is ``1 / (a_u^2 C_u)``."""
        by_cell = self.matrix * weight[self.owner][:, None]
        single = 2.0 * (self.told * weight[self.owner[self.cell[0]]]) ** 2
        if total.ndim == 1:
            square = np.asarray(by_cell.multiply(by_cell).sum(axis=1)).ravel()
            total += total_weight(self.item, square, self.n)
            total -= total_weight(self.winner, single, self.n)
            total -= total_weight(self.loser, single, self.n)
            return
        total += (by_cell.T @ by_cell).toarray()
        self._take_off_single(total, single)
        self._take_off_profiled(total, weight, share)

    def _take_off_single(self, total: Floats, single: Floats) -> None:
        n = self.n
        between = total_weight(self.winner * n + self.loser, single, n * n).reshape(n, n)
        total += between + between.T
        total[np.diag_indices(n)] -= between.sum(axis=0) + between.sum(axis=1)

    def _take_off_profiled(self, total: Floats, weight: Floats, share: Floats) -> None:
        """``K K - A A = -k (A v) v' - k v (A v)' + k^2 |v|^2 v v'``."""
        shape = self.judges, self.n
        along = csr_array((self.pull, (self.owner, self.item)), shape=shape)
        cells = np.arange(len(self.item))
        select = csr_array((self.pull, (self.owner, cells)), shape=(self.judges, len(cells)))
        moved = select @ self.matrix
        length = total_weight(self.owner, self.pull**2, self.judges)
        for first in range(0, self.judges, JUDGES_AT_ONCE):
            some = slice(first, first + JUDGES_AT_ONCE)
            v = along[some].toarray() * weight[some, None]
            k = share[some, None]
            w = k * (moved[some].toarray() * weight[some, None] - 0.5 * k * length[some, None] * v)
            cross = w.T @ v
            total -= cross + cross.T


def _some_judges(objective: Objective, solution: Solution) -> Iterator[tuple[slice, _SomeJudges]]:
    """All judges, some at a time."""
    score, accuracy = solution.score, solution.accuracy
    for some, votes in objective.votes.chunks(VOTES_AT_ONCE):
        yield some, _SomeJudges(votes, objective.noise, score, accuracy[some])


def taste_variance(objective: Objective, solution: Solution, guess: float) -> float:
    """``w^2`` by moments, from all votes; a guess, where too few opinions say anything of it.

    Of each opinion with several votes, with ``r`` the judge's part of the gradient,

        E[r^2 - sum of squares of single votes] = w^2 [(A_u^2)_ii - sum 2 q^2 a_u^4] (1 - 1/m_i),

    the last factor because the score was fitted to ``m_i`` judges. Opinions are weighted by
    ``(1 + w^2 (A_u)_ii)^-2``, their variances.
    """
    excess, shared, own, item = [], [], [], []
    for _, votes in _some_judges(objective, solution):
        several = np.flatnonzero(votes.shared > 0.0)
        excess.append((votes.residual**2 - votes.alone)[several])
        shared.append(votes.shared[several])
        own.append(votes.diagonal[several])
        item.append(votes.item[several])
    judges = np.bincount(np.concatenate(item), minlength=objective.n_items)
    fitted = 1.0 - 1.0 / np.maximum(judges[np.concatenate(item)], 2.0)
    observed, expected = np.concatenate(excess), np.concatenate(shared) * fitted
    diagonal, variance = np.concatenate(own), guess
    for _ in range(MOMENT_ROUNDS):
        weight = (1.0 + variance * diagonal) ** -2.0
        told = weight * expected
        if float(told.sum()) ** 2 <= LEAST_OPINIONS * float(told @ told):
            return guess
        variance = max(float(weight @ observed) / float(told.sum()), 0.0)
    return variance


def attenuation(accuracy: Floats, counts: Floats, noise: Noise, taste_sd: float) -> Attenuation:
    """What a plain fit has lost to tastes, accuracies and tastes in the gauge.

    A taste makes votes noisier: averaged over tastes, ``F(g (d + b - b'))`` is about
    ``F(g d / sqrt(1 + 2 k g^2 w^2))``. So with ``l`` the factor by which scores are too small, a
    fitted accuracy is ``l g / sqrt(1 + 2 k w^2 g^2)``, and ``l`` is what brings the true ones into
    the gauge.
    """
    lost = _blur(noise, taste_sd)

    def true(factor: float) -> Floats:
        rest = np.maximum(factor**2 - lost * accuracy**2, LEAST_REST * factor**2)
        return np.asarray(accuracy / np.sqrt(rest))

    low, high = 1.0, 2.0 + float(np.sqrt(lost)) * float(np.abs(accuracy).max(initial=0.0))
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if gauge_scale(true(middle), counts) > 1.0:
            low = middle
        else:
            high = middle
    rest, least = high**2 - lost * accuracy**2, LEAST_REST * high**2
    slope_of_true = np.where(rest > least, high**2 / np.maximum(rest, least) ** 1.5, least**-0.5)
    return Attenuation(high, true(high), slope_of_true)


def _blur(noise: Noise, taste_sd: float) -> float:
    """``2 k w^2``."""
    slope = 0.5 * float(noise.terms(0.0)[1])
    return 2.0 * PROBIT * (2.0 * np.pi) * slope**2 * taste_sd**2


def blurred(accuracy: Floats, noise: Noise, taste_sd: float) -> Floats:
    """The accuracies that votes show if tastes are not known: ``g / sqrt(1 + 2 k g^2 w^2)``."""
    return np.asarray(accuracy / np.sqrt(1.0 + _blur(noise, taste_sd) * accuracy**2))


def taste_noise(objective: Objective, solution: Solution, taste_sd: float) -> TasteNoise | None:
    """What tastes of about this size do to a best fit of pairs; None if it is next to nothing."""
    n, m, variance = objective.n_items, objective.n_judges, taste_sd**2
    if variance * _largest_size(objective, solution) < NEGLIGIBLE:
        return None
    variance = taste_variance(objective, solution, variance)
    weight, own = np.ones(m), np.zeros(m)
    total = np.zeros((n, n) if n <= MOST_DENSE else n)
    bend = np.maximum(objective.curvature(solution.state, solution.accuracy).accuracy, 1e-12)
    square = np.maximum(solution.accuracy**2, 1e-6)
    for some, votes in _some_judges(objective, solution):
        weight[some] = 1.0 / (1.0 + variance * votes.sizes)
        own[some] = variance * np.maximum(votes.square, 0.0) / (square[some] * bend[some] ** 2)
        votes.add_to(total, weight[some], 1.0 / (square[some] * bend[some]))
    return TasteNoise(variance, weight, total, own)


def _largest_size(objective: Objective, solution: Solution) -> float:
    """The largest ``size_u`` among the judges with the most votes."""
    votes = objective.votes.pairs.per_judge
    busiest = np.argsort(-votes, kind="stable")[:BUSIEST]
    enough = int(np.searchsorted(np.cumsum(votes[busiest]), VOTES_AT_ONCE)) + 1

    def size(u: int) -> float:
        own, accuracy = objective.votes.of_range(u, u + 1), solution.accuracy[u : u + 1]
        return float(_SomeJudges(own, objective.noise, solution.score, accuracy).sizes[0])

    sizes = [size(u) for u in busiest[:enough].tolist() if votes[u]]
    return max(sizes, default=0.0)


def with_tastes(
    plain: Uncertainty, objective: Objective, solution: Solution, gauge: Gauge, noise: TasteNoise
) -> Uncertainty:
    """The errors of a best fit, with what tastes add to them."""
    accuracy_sd = np.sqrt(plain.accuracy_sd**2 + noise.own / gauge.scale**2)
    if noise.matrix.ndim == 1:
        spread = plain.score_variance / gauge.scale**2
        added = gauge.scale**2 * noise.variance * spread**2 * np.maximum(noise.matrix, 0.0)
        return replace(plain, score_variance=plain.score_variance + added, accuracy_sd=accuracy_sd)
    inverse = _inverse_with_scale_held(objective, solution)
    added = gauge.scale**2 * noise.variance * inverse @ noise.matrix @ inverse
    added -= added.mean(axis=0)
    added -= added.mean(axis=1, keepdims=True)
    joint = np.asarray(plain.covariance) + added
    variance = np.maximum(np.diag(joint), plain.score_variance)
    return replace(plain, score_variance=variance, covariance=joint, accuracy_sd=accuracy_sd)


def _inverse_with_scale_held(objective: Objective, solution: Solution) -> Floats:
    """``W`` of the scores with the scale, and adding a constant, held."""
    n = objective.n_items
    matrix = Information(objective, solution.state, solution.accuracy).profile_matrix()[:n, :n]
    stiff = STIFF * float(np.diag(matrix).mean())
    score = solution.score - solution.score.mean()
    matrix = matrix + stiff / n
    size = float(score @ score)
    if size > 0.0:
        matrix += stiff / size * np.outer(score, score)
    return inverse_of(np.ascontiguousarray(matrix)).whole
