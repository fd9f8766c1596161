"""How sure the answer is: covariance of scores and accuracies, in the scale of the answer.

With ``A``, ``B``, ``C`` the blocks of second derivatives of the objective in scores (and effects,
where there are any) and accuracies (``C`` is diagonal: given the scores, judges do not depend on
each other), the posterior is close to normal with

    cov(s)    = W = (A - B C^-1 B')^-1,
    cov(a)    = C^-1 + C^-1 B' W B C^-1,
    cov(s, a) = -W B C^-1.

The answer has scores ``c (s - mean s)`` and accuracies ``a / c`` with ``c = sum_u w_u |a_u|``, the
mean weighted by votes; its covariance follows by the derivatives of these two. They do not change
along ``s + const`` and ``(c s, a / c)``, the directions the likelihood leaves open, so whatever
stiffness is put on these to invert the matrix has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Literal, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.inference.conjugate_gradients import System, solved
from juryrank.inference.information import MOST_DENSE, Information, Inverse, add_product, inverse_of
from juryrank.inference.matrix_free import WideInformation
from juryrank.model.gauge import Gauge
from juryrank.model.objective import Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

Intervals = Literal["posterior", "information", "sandwich", "bootstrap"]

EXACT_ITEMS = 20
"""Of so many of the best items the errors are then exact."""
PROBED_ITEMS = 20
"""From so many other items the errors of the rest are extrapolated."""
VARIANCE_TOLERANCE = 1e-5
"""Relative, of the errors that are not extrapolated."""
SCALE_TOLERANCE = 1e-8
"""Of the variance of the scale; its covariances are known to the root of it."""
COLUMN_TOLERANCE = 1e-11
"""Of the variance of an item that is asked about, and its root of the covariances with others."""
NUMBERS_AT_ONCE = 500_000
"""Of the vectors that are solved for together, and of what is drawn."""
LEAST_AT_ONCE = 8
LEAST_CURVATURE = 1e-12
LEAST_SHARE = 0.01
"""Of the variance by the information, below which that by differences between judges is none."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Errors of scores and accuracies as the answer gives them, by the codes of the votes."""

    score_variance: Floats
    accuracy_sd: Floats
    """NaN where an accuracy was not estimated, inf where the votes say nothing of it."""
    own_accuracy_sd: Floats
    """Errors of the accuracies from the judges' votes alone: no prior, the scores held."""
    covariance: Floats | _Columns
    """Of the scores: the whole, or with very many items a way to get one column of it."""
    effect_sd: Floats = field(default_factory=lambda: np.empty(0))
    """Errors of the effects, as `Layout.totals` tells them."""
    remarks: tuple[str, ...] = ()

    def covariances(self, i: int) -> Floats:
        """The covariances of one item's score with all scores."""
        whole = self.covariance
        return whole.column(i) if isinstance(whole, _Columns) else np.asarray(whole[i])

    def difference_variance(self, i: int, j: int) -> float:
        """The variance of the difference between two items' scores."""
        own, other = self.covariances(i), self.covariances(j)
        return max(float(own[i] + other[j] - own[j] - other[i]), 0.0)

    def difference_variances(self, items: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        """Those of the differences between these items' scores and others', a row for each of them.

        They are rough with very many items: variances are extrapolated, covariances not solved for.
        """
        whole = self.covariance
        if isinstance(whole, _Columns):
            covariances = whole.rough(items, others)
        else:
            covariances = whole[np.ix_(items, others)]
        found = self.score_variance[items, None] + self.score_variance[others] - 2.0 * covariances
        found[items[:, None] == others] = 0.0
        return np.asarray(np.maximum(found, 0.0))

    def draws(
        self, count: int, seed: int, items: NDArray[np.int64] | None = None
    ) -> Iterator[Floats]:
        """Errors of all scores, drawn from the (joint, where it is known) covariance.

        They come some at a time, a row for each draw. Of some items only, they are without what
        these have in common.
        """
        variance = self.score_variance if items is None else self.score_variance[items]
        rng, n = np.random.default_rng(seed), len(variance)
        root = self._root(items)
        at_once = max(NUMBERS_AT_ONCE // n, 1)
        for first in range(0, count, at_once):
            normal = rng.standard_normal((min(at_once, count - first), n))
            if root is None:
                yield np.asarray(normal * np.sqrt(variance))
            else:
                drawn = normal @ root.T
                yield np.asarray(drawn - drawn.mean(axis=1, keepdims=True))

    def draws_of(self, items: NDArray[np.int64], count: int, seed: int) -> Floats:
        """Errors of the scores of some items, a row for each draw."""
        normal = np.random.default_rng(seed).standard_normal((count, len(items)))
        if isinstance(self.covariance, _Columns):
            return np.asarray(normal * np.sqrt(self.score_variance[items]))
        value, vector = np.linalg.eigh(self.covariance[np.ix_(items, items)])
        return np.asarray(normal @ (vector * np.sqrt(np.maximum(value, 0.0))).T)

    def _root(self, items: NDArray[np.int64] | None) -> Floats | None:
        """``R`` with ``R R'`` the covariance but for what adds to all scores alike; None for none.

        Scores sum to 0: what is added for a Cholesky factor is to be taken away from the draws.
        """
        if isinstance(self.covariance, _Columns):
            return None
        known = self.covariance if items is None else self.covariance[np.ix_(items, items)]
        try:
            raised = known + float(self.score_variance.mean())
            # In place: there is one more matrix of items by items then, and not three.
            root = scipy.linalg.cholesky(raised.T, lower=True, overwrite_a=True, check_finite=False)
            return np.asarray(root, dtype=np.float64)
        except np.linalg.LinAlgError:  # of fewer judges than items, by the sandwich
            value, vector = np.linalg.eigh(known)
            return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))


def from_joint(
    joint: Floats, accuracy_sd: Floats, own_accuracy_sd: Floats, effect_sd: Floats
) -> Uncertainty:
    """Uncertainty from the whole covariance of the scores."""
    variance = np.maximum(np.diag(joint), 0.0)
    return Uncertainty(variance, accuracy_sd, own_accuracy_sd, joint, effect_sd)


def require_differences(joint: Floats, information: Uncertainty) -> None:
    """Refuse errors by how judges differ where their votes hardly do: these would be next to 0."""
    variance = float(np.median(np.diag(joint)))
    if variance < LEAST_SHARE * float(np.median(information.score_variance)):
        raise InputError(
            "The judges' votes are so much alike that they do not say how far other judges would "
            "differ: intervals from differences between judges would have next to no width. Use "
            "intervals='posterior' or intervals='information' (--intervals posterior)."
        )


def by_information(
    objective: Objective,
    solution: Solution,
    gauge: Gauge,
    most_dense: int = MOST_DENSE,
    *,
    blocks: Callable[[Objective, Floats, Floats], Information] = Information,
) -> Uncertainty:
    """Errors from the observed information; raises `LinAlgError` where it is not positive.

    With more than `most_dense` items its matrix is never held as a whole; else `blocks` makes it.
    """
    if objective.n_items > most_dense:
        return _wide(Parts(objective, solution, gauge, WideInformation))
    parts = Parts(objective, solution, gauge, blocks)
    return errors_from_inverse(parts, inverse_of_parts(parts))


@dataclass(frozen=True, eq=False)
class FromInformation:
    """Errors from the observed information, and what they come from."""

    errors: Uncertainty
    blocks: Information | None
    """None if there are too many items."""

    @cached_property
    def profile(self) -> Floats | None:
        """``A - B C^-1 B'`` of the scores."""
        if self.blocks is None:
            return None
        n = self.blocks.objective.n_items
        return np.ascontiguousarray(self.blocks.profile_matrix()[:n, :n])


def from_information(objective: Objective, solution: Solution, gauge: Gauge) -> FromInformation:
    """As `by_information`, with what else is known then."""
    made: list[Information] = []

    def blocks(*point: *tuple[Objective, Floats, Floats]) -> Information:
        made.append(Information(*point))
        return made[0]

    errors = by_information(objective, solution, gauge, blocks=blocks)
    return FromInformation(errors, made[0] if made else None)


Blocks = TypeVar("Blocks", Information, WideInformation)


class Parts(Generic[Blocks]):
    """What both ways of inverting need: the blocks, and the gauge."""

    def __init__(
        self,
        objective: Objective,
        solution: Solution,
        gauge: Gauge,
        blocks: Callable[[Objective, Floats, Floats], Blocks],
    ) -> None:
        self.objective = objective
        self.score = solution.score - solution.score.mean()
        self.state = np.concatenate((self.score, solution.effects))
        self.accuracy = solution.accuracy
        self.gauge = gauge
        self.blocks: Blocks = blocks(objective, self.state, self.accuracy)
        self.diagonal: Floats = self.blocks.diagonal
        self.share: Floats = self.blocks.share
        effects = np.zeros(self.blocks.size - len(self.score))
        self.along = np.concatenate((self.score, effects))
        """How the unknowns of the answer move with its scale: scores, but no effects."""
        self.stretch = np.concatenate((np.full(len(self.score), gauge.scale), effects + 1.0))
        """What the unknowns are multiplied by in the answer."""
        self.level = np.concatenate((np.ones(len(self.score)), effects))
        """Adding a constant to all scores."""

    @cached_property
    def open_stiffness(self) -> float:
        """What is put on the directions that the objective leaves open."""
        return float(self.diagonal[: len(self.score)].mean()) / len(self.score)

    @property
    def level_stiffness(self) -> float:
        """What is put on adding a constant to all scores; the virtual node has its own."""
        return 0.0 if self.objective.lambda0 else self.open_stiffness

    @cached_property
    def scale_pull(self) -> Floats:
        """``q = B C^-1 gradient``: how the scale moves with the scores, ``dc = ... - q' ds``."""
        return self.blocks.mixed_sum(self.share * self.gauge.gradient)

    def centred(self, unknowns: Floats) -> Floats:
        """The unknowns (along the last axis) with scores that sum to 0."""
        n = len(self.score)
        return np.asarray(unknowns - unknowns[..., :n].mean(axis=-1, keepdims=True) * self.level)

    def in_gauge(self, whole: Floats, with_scale: Floats, scale_variance: float) -> Floats:
        """Make of ``W``, in place, the covariance of the answer's unknowns.

        `with_scale` is ``P W q``.
        """
        n = len(self.score)
        add_product(whole, -1.0, whole[:, :n].mean(axis=1), self.level)
        add_product(whole, -1.0, self.level, whole[:n].mean(axis=0))
        whole *= self.stretch[:, None]
        whole *= self.stretch
        half = self.stretch * with_scale - 0.5 * scale_variance * self.along
        add_product(whole, -1.0, half, self.along)
        add_product(whole, -1.0, self.along, half)
        return whole

    def scale_variance(self, with_scale: Floats) -> float:
        """``var(c) = sum gradient^2 / C + q' W q``."""
        direct = float(np.sum(self.gauge.gradient**2 * self.share))
        return direct + float(self.scale_pull @ with_scale)

    def accuracy_sd(self, square: Floats, along: Floats, scale_variance: float) -> Floats:
        """Standard errors of ``a / c``; inf where nothing is known.

        `square` and `along` are ``b_u' W b_u`` and ``b_u' W q``. A `scale_variance` of 0 stands for
        a scale that is held.
        """
        c, a, share = self.gauge.scale, self.accuracy, self.share
        found = (share + share**2 * square) / c**2
        if scale_variance > 0.0:
            with_c = self.gauge.gradient * share + share * along
            found += a**2 * scale_variance / c**4 - 2.0 * a * with_c / c**3
        return np.where(share > 0.0, np.sqrt(np.maximum(found, 0.0)), np.inf)

    def own_accuracy_sd(self) -> Floats:
        """``1 / (c sqrt(C_u - prior))``; infinite where the votes say nothing."""
        own = np.maximum(
            self.blocks.accuracy_curvature - self.objective.prior.accuracy_precision, 0.0
        )
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.gauge.scale * np.sqrt(own)))


def errors_from_inverse(parts: Parts[Information], inverse: Inverse) -> Uncertainty:
    """What follows from the inverse, which becomes the covariance of the answer."""
    n = len(parts.score)
    with_scale = inverse.whole @ parts.scale_pull
    scale_variance = parts.scale_variance(with_scale)
    if parts.objective.accuracies_free:
        forms = parts.blocks.mixed_forms(inverse, with_scale)
        accuracy_sd = parts.accuracy_sd(*forms, scale_variance)
    else:
        accuracy_sd = np.full(len(parts.accuracy), np.nan)
    joint = parts.in_gauge(inverse.whole, parts.centred(with_scale), scale_variance)
    return from_joint(joint[:n, :n], accuracy_sd, parts.own_accuracy_sd(), _effect_sd(parts, joint))


def _effect_sd(parts: Parts[Information], joint: Floats) -> Floats:
    """Errors of all effects, as they are told; some may have been taken as known.

    Those have the errors that they would have if all else were held.
    """
    n, whole = len(parts.score), parts.objective.layout
    if whole.size == n:
        return np.empty(0)
    if parts.blocks.size == whole.size:
        variance, together = np.diag(joint)[n:], joint[n:, n:]
        return np.asarray(np.sqrt(whole.total_variances(variance, together)))
    held = parts.objective.curvature(parts.state, parts.accuracy).state[n:]
    variance = 1.0 / np.maximum(held, LEAST_CURVATURE)
    variance[parts.blocks.at[n:] - n] = np.diag(joint)[n:]
    return np.asarray(np.sqrt(whole.total_variances(variance, None)))


def inverse_of_parts(parts: Parts[Information]) -> Inverse:
    """``W``, the open directions held."""
    matrix = parts.blocks.profile_matrix()
    add_product(matrix, parts.level_stiffness, parts.level, parts.level)
    if not parts.objective.has_scale:
        add_product(matrix, parts.open_stiffness, parts.along, parts.along)
    return inverse_of(matrix)


def _wide(parts: Parts[WideInformation]) -> Uncertainty:
    """Exact errors for the best items and for whoever is asked about; the rest extrapolated.

    In the scale of the answer, the variance of item ``i`` is near ``c^2 / (A - B C^-1 B')_ii``. How
    near is solved for on some items and taken to be the same for the rest.
    """
    n = len(parts.score)
    best = np.argsort(-parts.score, kind="stable")
    probed = best[np.linspace(EXACT_ITEMS, n - 1, PROBED_ITEMS).astype(np.int64)]
    solved_for = np.unique(np.concatenate((best[:EXACT_ITEMS], probed)))
    columns = _Columns(parts, solved_for)
    exact = np.zeros(n)
    exact[solved_for] = columns.variance
    ratio = exact[probed] * parts.diagonal[probed]
    variance = float(np.median(ratio)) / parts.diagonal
    variance[solved_for] = columns.variance
    remark = (
        f"With {n:,} items the errors are exact for the best {EXACT_ITEMS} and for differences you "
        f"ask about; the others' are extrapolated from {PROBED_ITEMS} more (whose variances "
        f"scatter by {np.std(ratio) / np.median(ratio):.1%} around the rule), and ranks are drawn "
        "as if independent."
    )
    if parts.objective.accuracies_free:
        # With the scale held, errors of so many scores hardly depend on each other.
        square = parts.blocks.mixed_squares(variance / parts.gauge.scale**2)
        accuracy_sd = parts.accuracy_sd(square, np.zeros(len(square)), 0.0)
    else:
        accuracy_sd = np.full(len(parts.accuracy), np.nan)
    held = np.maximum(parts.blocks.curvature.state[n:], LEAST_CURVATURE)
    effect_sd = np.sqrt(parts.objective.layout.total_variances(1.0 / held, None))
    return Uncertainty(
        variance, accuracy_sd, parts.own_accuracy_sd(), columns, effect_sd, (remark,)
    )


class _Columns:
    """The covariance of the answer's scores, by conjugate gradients: of it what is asked for.

    The solver's scores have variances far larger than those of the answer in one direction, that
    of the scale, ``s``: the likelihood leaves it open. With it, and with that of adding a constant,
    the search for everything else takes a few steps.
    """

    def __init__(self, parts: Parts[WideInformation], items: NDArray[np.int64]) -> None:
        self.parts = parts
        self.scale_stiffness = 0.0 if parts.objective.has_scale else parts.open_stiffness
        self.system = self._system()
        n = len(parts.score)
        right = np.column_stack((parts.scale_pull, _units(n, items)))
        is_scale = np.arange(right.shape[1]) == 0
        tolerance = np.where(is_scale, SCALE_TOLERANCE, VARIANCE_TOLERANCE)
        at_once = max(LEAST_AT_ONCE, NUMBERS_AT_ONCE // n)
        groups = [slice(a, a + at_once) for a in range(0, right.shape[1], at_once)]
        found = [
            solved(self.system, right[:, some], is_scale[some], tolerance[some]) for some in groups
        ]
        self.with_scale = _centred(found[0][0][:, 0])
        self.scale_variance = parts.scale_variance(self.with_scale)
        own = np.concatenate([form for _, form in found])[1:]
        c, s = parts.gauge.scale, parts.score[items]
        cross = 2.0 * c * s * self.with_scale[items]
        self.variance = c**2 * own - cross + self.scale_variance * s**2
        """Of the items."""

    def column(self, i: int) -> Floats:
        """The covariances of one score with all."""
        right = _units(len(self.parts.score), np.array([i]))
        found, _ = solved(self.system, right, np.array([True]), np.array([COLUMN_TOLERANCE]))
        return self._in_gauge(i, found[:, 0])

    def rough(self, items: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        """The covariances of some items with others, without a search; not those of an item itself.

        They have a few factors (see `System.rough_factors`).
        """
        one, other = self._rough_factors
        return np.asarray(one[items] @ other[others].T)

    @cached_property
    def _rough_factors(self) -> tuple[Floats, Floats]:
        """``F`` and ``G``: the rough covariances of different items are ``F G'``.

        Centred in rows and columns, the diagonal ``d`` has ``-(d_i + d_j - mean d) / n`` elsewhere.
        """
        c, s, n = self.parts.gauge.scale, self.parts.score[:, None], len(self.parts.score)
        one, other = (_centred(part) for part in self.system.rough_factors())
        own = 1.0 / self.system.diagonal[:, None]
        own = (own - 0.5 * own.mean()) / n
        every, scale = np.ones_like(s), self.with_scale[:, None]
        return (
            np.hstack(
                (c**2 * one, -(c**2) * own, every, -c * s, self.scale_variance * s - c * scale)
            ),
            np.hstack((other, every, -(c**2) * own, scale, s)),
        )

    def _in_gauge(self, i: int, own: Floats) -> Floats:
        """A column of the answer's covariance from one of the solver's."""
        c, s = self.parts.gauge.scale, self.parts.score
        cross = self.with_scale * s[i] + self.with_scale[i] * s
        return np.asarray(c**2 * _centred(own) - c * cross + self.scale_variance * s[i] * s)

    def _system(self) -> System:
        """``A - B C^-1 B'``, the open directions held."""
        parts, n = self.parts, len(self.parts.score)
        level = np.ones((n, 1))
        # Adding a constant to all scores changes no vote.
        image = parts.blocks.prior[:, None] + parts.level_stiffness * n
        if parts.objective.accuracies_free and parts.score.any():
            along = parts.score[:, None]
            level, image = np.hstack((level, along)), np.hstack((image, self._times(along)))
        return System(self._times, self._energies, parts.diagonal, level, image)

    def _times(self, vectors: Floats) -> Floats:
        parts, along = self.parts, self.parts.score @ vectors
        product = parts.blocks.times_profile_matrix(vectors)
        product += parts.level_stiffness * vectors.sum(axis=0)
        return np.asarray(product + self.scale_stiffness * np.outer(parts.score, along))

    def _energies(self, vectors: Floats) -> Floats:
        parts, along = self.parts, self.parts.score @ vectors
        energy = parts.blocks.energies(vectors) + parts.level_stiffness * vectors.sum(axis=0) ** 2
        return np.asarray(energy + self.scale_stiffness * along**2)


def _units(n: int, items: NDArray[np.int64]) -> Floats:
    """A column for each item: 1 for it and 0 for others, centred."""
    vectors = np.full((n, len(items)), -1.0 / n)
    vectors[items, np.arange(len(items))] += 1.0
    return vectors


def _centred(vectors: Floats) -> Floats:
    return np.asarray(vectors - vectors.mean(axis=0))
