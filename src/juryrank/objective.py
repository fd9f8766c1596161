"""The objective: votes x noise x prior. Value, gradient and curvature, as sums over judges.

The objective is the negative log posterior, summed over votes (never averaged):

    J(s, a) = sum_u sum_{k of u} w_k g(a_u (s_winner - s_loser))           votes
            + lambda0 sum_i [g(s_i) + g(-s_i)]                             the paper's virtual node
            + sum_i s_i^2 / (2 score_sd^2)                                 prior on the scores
            + sum_u (a_u - 1)^2 / (2 accuracy_sd^2)                        prior on the accuracies

with ``g = -log F`` of the noise, ``s`` the scores and ``a`` the accuracies.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank._kernels import AccuracyRule
from juryrank.arrays import Floats
from juryrank.errors import InputError
from juryrank.noise import Noise
from juryrank.votes import Wins, total_weight

CHUNKS = 16
"""Large sums are always split into as many parts, so that threads do not change the answer."""
VOTES_WORTH_SPLITTING = 100_000
LARGEST_ACCURACY = 20.0
"""Without a prior an accuracy is held within this bound (for scores with a spread of about 1)."""


@dataclass(frozen=True)
class Prior:
    """``score ~ N(0, score_sd^2)`` and ``accuracy ~ N(1, accuracy_sd^2)``, independently."""

    score_sd: float = np.inf
    accuracy_sd: float = np.inf

    def __post_init__(self) -> None:
        """Refuse scales that are not positive, or absurd."""
        for scale in (self.score_sd, self.accuracy_sd):
            if not (1e-6 <= scale <= 1e6 or scale == np.inf):
                raise InputError(
                    "The scales of a prior must be positive numbers between 1e-6 and 1e6, not "
                    f"{self.score_sd:g} (scores) and {self.accuracy_sd:g} (accuracies)."
                )

    @property
    def score_precision(self) -> float:
        """``1 / score_sd^2``."""
        return float(1.0 / self.score_sd**2)

    @property
    def accuracy_precision(self) -> float:
        """``1 / accuracy_sd^2``."""
        return float(1.0 / self.accuracy_sd**2)


NO_PRIOR = Prior()


class Slopes(NamedTuple):
    """The objective at one point, with its gradient."""

    value: float
    score: Floats
    accuracy: Floats


class Curvature(NamedTuple):
    """Second derivatives at one point, the free accuracies profiled out of those of the scores.

    With the blocks ``A``, ``B``, ``C``: `score` is the diagonal of ``A - B C^-1 B'``, `accuracy` is
    ``C``.
    """

    score: Floats
    accuracy: Floats


@dataclass(frozen=True, eq=False)
class Objective:
    """Votes, noise and prior together; see the module for the formula."""

    wins: Wins
    n_items: int
    noise: Noise
    prior: Prior = NO_PRIOR
    lambda0: float = 0.0
    fixed_accuracy: Floats | None = None
    """Accuracies that are known; None if they are to be estimated."""
    threads: int = 1

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return len(self.wins.start) - 1

    @property
    def accuracies_free(self) -> bool:
        """Whether accuracies are estimated."""
        return self.fixed_accuracy is None

    @property
    def has_scale(self) -> bool:
        """Whether something else than the likelihood decides between ``(c s, a / c)``."""
        return not self.accuracies_free or np.isfinite(self.prior.accuracy_sd)

    @cached_property
    def rule(self) -> AccuracyRule:
        """What the compiled code must know of the accuracies."""
        bound = LARGEST_ACCURACY if np.isinf(self.prior.accuracy_sd) else 1e6
        return AccuracyRule(self.accuracies_free, 1.0, self.prior.accuracy_precision, float(bound))

    @cached_property
    def chunks(self) -> NDArray[np.int64]:
        """Bounds of the groups of judges that are summed apart; they depend on the data alone."""
        votes = len(self.wins.winner)
        parts = CHUNKS if votes >= VOTES_WORTH_SPLITTING else 1
        inner = np.searchsorted(self.wins.start, np.linspace(0, votes, parts + 1)[1:-1])
        return np.unique(np.concatenate(([0], inner, [self.n_judges]))).astype(np.int64)

    def start_accuracy(self) -> Floats:
        """The accuracies to start from: the known ones, or 1 for everybody."""
        if self.fixed_accuracy is None:
            return np.ones(self.n_judges)
        return self.fixed_accuracy.copy()

    def profile(self, score: Floats, accuracy: Floats) -> tuple[float, Floats]:
        """``min_a J(score, a)`` and its gradient in the scores.

        `accuracy` is the guess the search starts from and becomes the minimiser. By the envelope
        theorem the gradient of the minimum is the partial gradient at the minimiser.
        """
        value, slope, _ = self._sum_over_judges(self.rule, score, accuracy)
        value += self.score_penalty(score, slope) + self.accuracy_penalty(accuracy)
        return value, slope

    def slopes(self, score: Floats, accuracy: Floats) -> Slopes:
        """``J(score, accuracy)`` and its partial gradients."""
        held = self.rule._replace(free=False)
        value, score_slope, accuracy_slope = self._sum_over_judges(held, score, accuracy)
        value += self.score_penalty(score, score_slope) + self.accuracy_penalty(accuracy)
        if self.accuracies_free:
            accuracy_slope += self.prior.accuracy_precision * (accuracy - 1.0)
        return Slopes(value, score_slope, accuracy_slope)

    def curvature(self, score: Floats, accuracy: Floats) -> Curvature:
        """Second derivatives in each score and each accuracy."""
        diagonal, accuracy_bend = np.zeros(self.n_items), np.empty(self.n_judges)
        _kernels.curvature_pass(
            self.noise.code, self.rule, self.wins, score, accuracy, diagonal, accuracy_bend
        )
        return Curvature(diagonal + self.score_bend(score), accuracy_bend)

    def stiffness(self, accuracy: Floats) -> Floats:
        """Second derivative in each score where all scores are equal, the accuracies held.

        All gaps are 0 there: ``g''(0) sum w a_u^2`` over the votes of the item, plus the prior.
        """
        wins = self.wins
        pull = wins.weight * np.repeat(accuracy**2, np.diff(wins.start))
        votes = total_weight(wins.winner, pull, self.n_items)
        votes += total_weight(wins.loser, pull, self.n_items)
        bend = float(self.noise.terms(0.0)[2])
        return bend * votes + self.prior.score_precision + 2.0 * self.lambda0 * bend

    def _sum_over_judges(
        self, rule: AccuracyRule, score: Floats, accuracy: Floats
    ) -> tuple[float, Floats, Floats]:
        """The votes' part: value and gradients, summed over chunks in a fixed order."""
        accuracy_slope = np.empty(self.n_judges)
        bounds = list(zip(self.chunks[:-1], self.chunks[1:], strict=True))

        def one_chunk(bound: tuple[int, int]) -> tuple[float, Floats]:
            slope = np.zeros(self.n_items)
            value = _kernels.votes_pass(
                self.noise.code, rule, self.wins, bound[0], bound[1],
                score, accuracy, slope, accuracy_slope,
            )  # fmt: skip
            return float(value), slope

        if self.threads == 1 or len(bounds) == 1:
            parts = [one_chunk(bound) for bound in bounds]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                parts = list(pool.map(one_chunk, bounds))
        value = sum(part for part, _ in parts)
        return value, np.add.reduce([slope for _, slope in parts]), accuracy_slope

    def score_penalty(self, score: Floats, score_slope: Floats) -> float:
        """Prior and virtual node of the scores: the value; the gradient is added to the slope."""
        value = 0.5 * self.prior.score_precision * float(score @ score)
        score_slope += self.prior.score_precision * score
        if self.lambda0:
            terms, slopes, _ = self.noise.terms(np.stack((score, -score)))
            value += self.lambda0 * float(terms.sum())
            score_slope += self.lambda0 * (slopes[0] - slopes[1])
        return value

    def score_bend(self, score: Floats) -> Floats:
        """Second derivatives of prior and virtual node in each score."""
        bend = np.full(len(score), self.prior.score_precision)
        if self.lambda0:
            bend += self.lambda0 * self.noise.terms(np.stack((score, -score)))[2].sum(axis=0)
        return bend

    def accuracy_penalty(self, accuracy: Floats) -> float:
        """Prior of the accuracies, where they are free."""
        if not self.accuracies_free:
            return 0.0
        distance = accuracy - 1.0
        return 0.5 * self.prior.accuracy_precision * float(distance @ distance)
