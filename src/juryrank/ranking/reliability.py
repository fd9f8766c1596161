"""Reliability coefficients of comparative judgement: separation, and split halves.

Both say what part of the variance of scores is not error, from 0 to 1. They are about these items:
among items that are nearly equal, the best of juries has a low one.

Where pairs were chosen by earlier votes (adaptive comparative judgement), separation is too high:
judges who toss coins have reached 0.7 to 0.89 (Bramley 2015). Split halves by judges are less
affected, as far as the halves did not choose each other's pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import InputError, JuryrankWarning, counted, require_seed
from juryrank.types import Floats

if TYPE_CHECKING:
    from juryrank.votes.votes import Votes

SPLITS = 10
QUICK = 30_000
"""Votes on pairs up to which halves are ranked within a second or two."""
LEAST_ITEMS = 3
"""A correlation of fewer items says nothing."""


@dataclass(frozen=True, eq=False)
class SplitHalves:
    """How well two halves of the judges agree, who were drawn at random and ranked apart."""

    correlation: float
    """The mean over the splits of Pearson's correlation between the halves' scores. It is that of
    half a jury with another: the formula of Spearman and Brown is not applied."""
    correlations: tuple[float, ...]
    """That of each split; NaN where the halves have fewer than three items in common."""
    judges: int

    def __repr__(self) -> str:
        return (
            f"SplitHalves({self.correlation:.3f} on average over "
            f"{counted(len(self.correlations), 'split')} of {counted(self.judges, 'judge')})"
        )


@dataclass(frozen=True, eq=False)
class Halves:
    """What it takes to rank by halves of the judges."""

    votes: Votes
    model: str
    options: Mapping[str, Any]
    """Of `rank`."""

    def split(self, splits: int, seed: int) -> SplitHalves:
        """Divide the judges at random, again and again."""
        require_seed(seed)
        count = self.votes.n_judges
        if splits < 1:
            raise InputError(f"splits={splits} must be at least 1.")
        if count < 2:
            raise InputError("One judge cannot be divided into two halves.")
        rng, found = np.random.default_rng(seed), []
        for _ in range(splits):
            first = rng.permutation(count) < count // 2
            found.append(_correlation(self.scores(first), self.scores(~first)))
        known = [value for value in found if not np.isnan(value)]
        return SplitHalves(float(np.mean(known)) if known else float("nan"), tuple(found), count)

    def scores(self, chosen: NDArray[np.bool_]) -> Floats:
        """The scores by some of the judges; NaN for items they have not voted on."""
        from juryrank.ranking.rank import rank  # it makes rankings, which have a reliability

        votes = self.votes.of_judges(chosen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)
            scores = rank(votes, self.model, **self.options).scores_of(votes.items)
        return np.where(votes.votes_per_item > 0.0, scores, np.nan)


@dataclass(frozen=True, eq=False)
class Reliability:
    """The separation reliability of a ranking; `split_halves` gives that of halves of the judges.

    Too high where pairs were chosen by earlier votes: see `juryrank.ranking.reliability`.
    """

    separation: float
    """Scale separation reliability (SSR): the part of the variance of scores that is not error.
    Negative where there is more error than variance."""
    score_sd: float
    """The standard deviation of the scores."""
    standard_error: float
    """The root of the mean squared standard error of the scores."""
    _halves: Halves = field(repr=False)

    @property
    def separation_index(self) -> float:
        """``sqrt(R / (1 - R))``: the spread of the true scores in standard errors."""
        known = max(self.separation, 0.0)
        return float(np.sqrt(known / (1.0 - known))) if known < 1.0 else float("inf")

    @property
    def is_quickly_split(self) -> bool:
        """Whether there are two judges or more, and `split_halves` takes seconds at most."""
        votes = self._halves.votes
        return votes.n_judges > 1 and not votes.lists.number and len(votes) <= QUICK

    def split_halves(self, splits: int = SPLITS, seed: int = 0) -> SplitHalves:
        """Divide the judges at random, rank by each half, and correlate the scores.

        Each half is ranked by the best fit of the same model without tastes, with the scales of the
        priors that all judges have. Items that have votes in both halves are compared.

        Args:
            splits: How often.
            seed: The same seed gives the same result.
        """
        return self._halves.split(splits, seed)

    def to_dict(self) -> dict[str, float]:
        """The numbers as a plain dictionary."""
        return {
            "separation": self.separation,
            "separation_index": self.separation_index,
            "score_sd": self.score_sd,
            "standard_error": self.standard_error,
        }

    def __repr__(self) -> str:
        return (
            f"Reliability(separation {self.separation:.3f}, separation index "
            f"{self.separation_index:.2f}; too high if pairs were chosen by earlier votes)"
        )


def separation(score: Floats, variance: Floats, *, shrunken: bool) -> float:
    """The part of the variance of scores that is not error.

    With ``V`` the variance of the scores (divided by ``n - 1``) and ``E`` the mean of their squared
    standard errors, it is

        1 - E / V         for maximum likelihood, where V = true variance + E;
        V / (V + E)       for scores that a prior has shrunken, where V + E = true variance.

    Both estimate the same: true variance over true variance plus error variance.
    """
    if len(score) < 2:
        return float("nan")
    observed, error = float(np.var(score, ddof=1)), float(np.mean(variance))
    if observed <= 0.0:
        return 0.0 if shrunken and error > 0.0 else float("nan")
    return observed / (observed + error) if shrunken else 1.0 - error / observed


def _correlation(one: Floats, other: Floats) -> float:
    both = ~(np.isnan(one) | np.isnan(other))
    if both.sum() < LEAST_ITEMS or not (np.ptp(one[both]) and np.ptp(other[both])):
        return float("nan")
    return float(np.corrcoef(one[both], other[both])[0, 1])
