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

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank import _core
from juryrank.inference.covariance import Uncertainty
from juryrank.inference.information import MOST_DENSE, add_product, inverse_of, mirrored
from juryrank.model.gauge import Gauge, gauge_scale
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective, ObjectivePass
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.passes import Found, Own

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
LEAST_CURVATURE = 1e-12
LEAST_SQUARE = 1e-6
"""Of an accuracy."""
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


@dataclass(frozen=True, eq=False)
class _TastePass(ObjectivePass[Found]):
    """A pass at the best fit over pairs, as if nothing but scores and accuracies decided them."""

    score: Floats

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies."""
        return ("accuracy",)

    def at(self, here: Objective, own: Own) -> _core.LikelihoodAt:
        """The votes here, for the compiled code."""
        return _core.LikelihoodAt(
            noise=here.noise.core, pairs=here.votes.core_pairs, lists=None, effects=None,
            indices=NOWHERE, size=here.n_items, score=self.score, accuracy=own["accuracy"],
        )  # fmt: skip


class Moments(NamedTuple):
    """Of opinions of several votes, those of one judge after the other."""

    observed: Floats
    """The square of the gradient without the squares of single votes."""
    shared: Floats
    """``(A_u^2)_ii - sum 2 q^2 a_u^4``."""
    diagonal: Floats
    """``(A_u)_ii``."""
    item: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TastesSeen:
    """What the votes say of tastes at a best fit."""

    moments: list[Moments]
    """In parts."""
    opinions: NDArray[np.int64]
    """How many of the opinions in there are each judge's."""
    size: Floats
    """``size_u``."""
    length: Floats
    """``|v_u|^2`` without what is of single votes."""
    curvature: Floats
    """``C_u`` without the prior, as if nothing but scores and accuracies decided votes."""


@dataclass(frozen=True, eq=False)
class _MomentsPass(_TastePass[Moments]):
    """What the votes say of tastes; what there is of each judge is written."""

    @property
    def writes(self) -> tuple[str, ...]:
        """As in `TastesSeen`."""
        return ("size", "length", "curvature", "opinions")

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Moments:
        """The compiled pass."""
        written = {name: own[name] for name in self.writes}
        return Moments(*_core.taste_moments(self.at(here, own), first, last, **written))


def tastes_seen(objective: Objective, solution: Solution) -> TastesSeen:
    """What the votes say of tastes at a best fit of pairs."""
    m = objective.n_judges
    written: dict[str, Any] = {name: np.zeros(m) for name in ("size", "length", "curvature")}
    written["opinions"] = np.zeros(m, dtype=np.int64)
    own = {"accuracy": solution.accuracy, **written}
    return TastesSeen(list(objective.over_chunks(_MomentsPass(solution.score), own)), **written)


def taste_variance(seen: TastesSeen, n_items: int, guess: float) -> float:
    """``w^2`` by moments, from all votes; a guess, where too few opinions say anything of it.

    Of each opinion with several votes, with ``r`` the judge's part of the gradient,

        E[r^2 - sum of squares of single votes] = w^2 [(A_u^2)_ii - sum 2 q^2 a_u^4] (1 - 1/m_i),

    the last factor because the score was fitted to ``m_i`` judges. Opinions are weighted by
    ``(1 + w^2 (A_u)_ii)^-2``, their variances.
    """
    judges = sum(np.bincount(part.item, minlength=n_items) for part in seen.moments)
    fitted = 1.0 - 1.0 / np.maximum(judges, 2.0)
    expected = [part.shared * fitted[part.item] for part in seen.moments]
    variance = guess
    for _ in range(MOMENT_ROUNDS):
        sums = [
            _core.moment_sums(part.observed, of_part, part.diagonal, variance)
            for part, of_part in zip(seen.moments, expected, strict=True)
        ]
        observed, told, squares = map(sum, zip(*sums, strict=True))
        if told**2 <= LEAST_OPINIONS * squares:
            return guess
        variance = max(observed / told, 0.0)
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
    seen = tastes_seen(objective, solution)
    variance = taste_variance(seen, objective.n_items, variance)
    return noise_of_tastes(objective, solution, seen, variance)


def noise_of_tastes(
    objective: Objective,
    solution: Solution,
    seen: TastesSeen,
    variance: float,
    *,
    most_dense: int = MOST_DENSE,
    judges_at_once: int = JUDGES_AT_ONCE,
) -> TasteNoise:
    """What tastes of this variance do to a best fit of pairs."""
    n, m = objective.n_items, objective.n_judges
    if variance == 0.0:
        return TasteNoise(variance, np.ones(m), np.zeros(n), np.zeros(m))
    weight = 1.0 / (1.0 + variance * seen.size)
    curvature = _accuracy_curvature(objective, solution, seen)
    square = np.maximum(solution.accuracy**2, LEAST_SQUARE)
    added = variance * seen.length / (square * np.maximum(curvature, LEAST_CURVATURE) ** 2)
    if n > most_dense:
        return TasteNoise(variance, weight, _diagonal(seen, weight, n), added)
    own = {"accuracy": solution.accuracy, "weight": weight, "curvature": curvature}
    matrix = objective.sum_over_shards(_MatrixPass(solution.score, judges_at_once), own)
    return TasteNoise(variance, weight, matrix, added)


def _accuracy_curvature(objective: Objective, solution: Solution, seen: TastesSeen) -> Floats:
    """``C_u``: known, unless ties or sides decide votes too."""
    if objective.is_plain:
        return seen.curvature + objective.prior.accuracy_precision
    return objective.curvature(solution.state, solution.accuracy).accuracy


def _diagonal(seen: TastesSeen, weight: Floats, n_items: int) -> Floats:
    """That of ``Q``, what is profiled left out."""
    diagonal, squares = np.zeros(n_items), np.repeat(weight**2, seen.opinions)
    first = 0
    for part in seen.moments:
        own = squares[first : first + len(part.item)]
        diagonal += np.bincount(part.item, own * part.shared, n_items)
        first += len(part.item)
    return diagonal


@dataclass(frozen=True, eq=False)
class _MatrixPass(_TastePass[Floats]):
    """``Q``; with ``v`` and ``w`` of the core, ``-(w v' + v w')`` is what the core left out."""

    judges_at_once: int

    @property
    def reads(self) -> tuple[str, ...]:
        """All that there is of judges."""
        return ("accuracy", "weight", "curvature")

    def numbers(self, n_items: int) -> int:
        """A matrix."""
        return n_items**2

    def __call__(self, here: Objective, _first: int, _last: int, own: Own) -> Floats:
        """Some judges after the other: of all that are here."""
        n, at = here.n_items, self.at(here, own)
        total, cross = np.zeros((n, n)), np.zeros((n, n), order="F")
        room = np.empty((2, self.judges_at_once, n))
        for some, _ in here.votes.chunks(VOTES_AT_ONCE):
            for begin in range(some.start, some.stop, self.judges_at_once):
                end = min(begin + self.judges_at_once, some.stop)
                pull, moved = room[:, : end - begin]
                count = _core.add_tastes(
                    at, begin, end, weight=own["weight"], accuracy_curvature=own["curvature"],
                    upper=total, pull=pull, moved=moved,
                )  # fmt: skip
                if not count:
                    continue
                # To BLAS, which has columns where we have rows, these are the transposes.
                scipy.linalg.blas.dgemm(
                    1.0, moved[:count].T, pull[:count].T,
                    beta=1.0, c=cross, trans_b=1, overwrite_c=1,
                )  # fmt: skip
        return mirrored(total) - cross - cross.T


def _largest_size(objective: Objective, solution: Solution) -> float:
    """The largest ``size_u`` among the judges with the most votes."""
    votes = objective.votes.pairs.per_judge
    busiest = np.argsort(-votes, kind="stable")[:BUSIEST]
    enough = int(np.searchsorted(np.cumsum(votes[busiest]), VOTES_AT_ONCE)) + 1
    looked_at = np.zeros(objective.n_judges, dtype=np.bool_)
    looked_at[[u for u in busiest[:enough].tolist() if votes[u]]] = True
    own = {"accuracy": solution.accuracy, "looked at": looked_at}
    return max(objective.over_shards(_SizePass(solution.score), own))


@dataclass(frozen=True, eq=False)
class _SizePass(_TastePass[float]):
    """The largest ``size_u`` of the judges that are looked at; 0 if none is here."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Which judges."""
        return ("accuracy", "looked at")

    def __call__(self, here: Objective, _first: int, _last: int, own: Own) -> float:
        """Judge by judge."""
        at = self.at(here, own)
        with here.votes.opened():
            sizes = [_core.taste_size(at, u) for u in np.flatnonzero(own["looked at"]).tolist()]
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
