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

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from juryrank import _core
from juryrank.inference.covariance import Uncertainty
from juryrank.inference.information import MOST_DENSE, add_product, inverse_of, mirrored
from juryrank.model.gauge import Gauge, gauge_scale
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

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
NOWHERE = (-1, -1, -1, -1)
"""Where effects stand that are not looked at."""
STIFF = 1e6
"""Times the mean curvature: what holds the scale while tastes are looked at."""


class Attenuation(NamedTuple):
    """What a plain fit has lost to tastes."""

    factor: float
    """By which its scores are too small."""
    accuracy: Floats
    """The accuracies that it should have had,"""
    derivative: Floats
    """and how they move with those that it had."""


@dataclass(frozen=True, eq=False)
class TasteNoise:
    """What tastes do to the answer, in the objective's own scale."""

    variance: float
    """``w^2``."""
    weight: Floats
    """``rho`` of every judge."""
    matrix: Floats
    """``Q``; its diagonal if there are very many items, or no tastes."""
    own: Floats
    """The variance that tastes add to each accuracy."""

    @property
    def sd(self) -> float:
        """``w``."""
        return float(np.sqrt(self.variance))

    @property
    def diagonal(self) -> Floats:
        """That of ``Q``."""
        return self.matrix if self.matrix.ndim == 1 else np.diag(self.matrix)

    @property
    def is_uneven(self) -> bool:
        """Whether some judges' votes should count for less than others'."""
        return bool(self.weight.max() > UNEVEN * self.weight.min())


def _plain_at(objective: Objective, solution: Solution) -> _core.LikelihoodAt:
    """The votes on pairs at the best fit, as if nothing but scores and accuracies decided them."""
    return _core.LikelihoodAt(
        noise=objective.noise.core, pairs=objective.votes.core_pairs, lists=None, effects=None,
        indices=NOWHERE, size=objective.n_items, score=solution.score, accuracy=solution.accuracy,
    )  # fmt: skip


def taste_variance(objective: Objective, solution: Solution, guess: float) -> float:
    """``w^2`` by moments, from all votes; a guess, where too few opinions say anything of it.

    Of each opinion with several votes, with ``r`` the judge's part of the gradient,

        E[r^2 - sum of squares of single votes] = w^2 [(A_u^2)_ii - sum 2 q^2 a_u^4] (1 - 1/m_i),

    the last factor because the score was fitted to ``m_i`` judges. Opinions are weighted by
    ``(1 + w^2 (A_u)_ii)^-2``, their variances.
    """
    found = objective.over_chunks(partial(_core.taste_moments, _plain_at(objective, solution)))
    observed, shared, diagonal, item = map(np.concatenate, zip(*found, strict=True))
    fitted = 1.0 - 1.0 / np.maximum(np.bincount(item, minlength=objective.n_items), 2.0)
    expected, variance = shared * fitted[item], guess
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
    derivative = np.where(rest > least, high**2 / np.maximum(rest, least) ** 1.5, least**-0.5)
    return Attenuation(high, true(high), derivative)


def _blur(noise: Noise, taste_sd: float) -> float:
    """``2 k w^2``."""
    derivative = 0.5 * float(noise.terms(0.0)[1])
    return 2.0 * PROBIT * (2.0 * np.pi) * derivative**2 * taste_sd**2


def blurred(accuracy: Floats, noise: Noise, taste_sd: float) -> Floats:
    """The accuracies that votes show if tastes are not known: ``g / sqrt(1 + 2 k g^2 w^2)``."""
    return np.asarray(accuracy / np.sqrt(1.0 + _blur(noise, taste_sd) * accuracy**2))


def taste_noise(objective: Objective, solution: Solution, taste_sd: float) -> TasteNoise | None:
    """What tastes of about this size do to a best fit of pairs; None if it is next to nothing."""
    variance = taste_sd**2
    if variance * _largest_size(objective, solution) < NEGLIGIBLE:
        return None
    variance = taste_variance(objective, solution, variance)
    weight, own = np.ones(objective.n_judges), np.zeros(objective.n_judges)
    if variance == 0.0:
        return TasteNoise(variance, weight, np.zeros(objective.n_items), own)
    add_tastes = partial(
        _core.add_tastes, _plain_at(objective, solution), variance=variance, weight=weight, own=own,
        accuracy_curvature=objective.curvature(solution.state, solution.accuracy).accuracy,
    )  # fmt: skip
    sums = _diagonal_sums if objective.n_items > MOST_DENSE else _dense_sums
    matrix = sums(objective, add_tastes)
    return TasteNoise(variance, weight, matrix, own)


def _diagonal_sums(objective: Objective, add_tastes: Callable[..., None]) -> Floats:
    """The diagonal of ``Q``, what is profiled left out."""

    def one_chunk(first: int, last: int) -> Floats:
        diagonal = np.zeros(objective.n_items)
        add_tastes(first, last, diagonal=diagonal, dense=None)
        return diagonal

    return objective.sum_over_chunks(one_chunk)


def _dense_sums(objective: Objective, add_tastes: Callable[..., None]) -> Floats:
    """``Q``; with ``v`` and ``w`` of the core, ``-(w v' + v w')`` is what is profiled."""
    n = objective.n_items
    total, cross = np.zeros((n, n)), np.zeros((n, n), order="F")
    room = np.empty((2, JUDGES_AT_ONCE, n))
    for some, _ in objective.votes.chunks(VOTES_AT_ONCE):
        for first in range(some.start, some.stop, JUDGES_AT_ONCE):
            last = min(first + JUDGES_AT_ONCE, some.stop)
            pull, moved = room[:, : last - first]
            pull[:], moved[:] = 0.0, 0.0
            add_tastes(first, last, diagonal=None, dense=(total, pull, moved))
            # To BLAS, which has columns where we have rows, these are the transposes.
            scipy.linalg.blas.dgemm(
                1.0, moved.T, pull.T, beta=1.0, c=cross, trans_b=1, overwrite_c=1
            )
    return mirrored(total) - cross - cross.T


def _largest_size(objective: Objective, solution: Solution) -> float:
    """The largest ``size_u`` among the judges with the most votes."""
    votes = objective.votes.pairs.per_judge
    busiest = np.argsort(-votes, kind="stable")[:BUSIEST]
    enough = int(np.searchsorted(np.cumsum(votes[busiest]), VOTES_AT_ONCE)) + 1
    at = _plain_at(objective, solution)
    with objective.votes.opened():
        sizes = [_core.taste_size(at, u) for u in busiest[:enough].tolist() if votes[u]]
    return max(sizes, default=0.0)


def with_tastes(
    plain: Uncertainty,
    profile: Floats | None,
    solution: Solution,
    gauge: Gauge,
    noise: TasteNoise,
) -> Uncertainty:
    """The errors of a best fit, with what tastes add to them.

    `profile` is ``A - B C^-1 B'`` of the scores (see `juryrank.inference.information`), if ``Q`` is
    a matrix.
    """
    if noise.variance == 0.0:
        return plain
    accuracy_sd = np.sqrt(plain.accuracy_sd**2 + noise.own / gauge.scale**2)
    if profile is None:
        spread = plain.score_variance / gauge.scale**2
        added = gauge.scale**2 * noise.variance * spread**2 * np.maximum(noise.diagonal, 0.0)
        return replace(plain, score_variance=plain.score_variance + added, accuracy_sd=accuracy_sd)
    inverse = _inverse_with_scale_held(profile, solution)
    added = gauge.scale**2 * noise.variance * inverse @ noise.matrix @ inverse
    added -= added.mean(axis=0)
    added -= added.mean(axis=1, keepdims=True)
    joint = np.asarray(plain.covariance) + added
    variance = np.maximum(np.diag(joint), plain.score_variance)
    return replace(plain, score_variance=variance, covariance=joint, accuracy_sd=accuracy_sd)


def _inverse_with_scale_held(profile: Floats, solution: Solution) -> Floats:
    """``W`` of the scores with the scale, and adding a constant, held."""
    n = len(profile)
    stiff = STIFF * float(np.diag(profile).mean())
    score = solution.score - solution.score.mean()
    matrix = profile + stiff / n
    size = float(score @ score)
    if size > 0.0:
        add_product(matrix, stiff / size, score, score)
    return inverse_of(matrix).whole
