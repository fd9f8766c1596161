"""`Posterior`: what is known after the votes, as draws or as a normal distribution.

Every statement about doubt (intervals, ranks, tiers, chances, p-values) is read off it, and off
nothing else, so that no two of them can contradict each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.inference.covariance import Uncertainty
from juryrank.inference.normal import below, quantile
from juryrank.inference.opinions import Codes
from juryrank.inference.sampling import Sample
from juryrank.model.effects import Layout
from juryrank.types import Floats

Kind = Literal["sampled", "normal"]
"""Draws from the exact posterior, or from a normal distribution that is close to it."""

DRAWS = 2_000
DRAWS_OF_MANY = 500
MANY_ITEMS = 300
"""With more items fewer draws are taken from a normal posterior."""
NO_RIVAL = 1e-9
"""Items that are above the first one with no larger chance are not drawn to see which is best."""
COMPARED = 300_000_000
"""Comparisons of items with items, draw by draw, that are worth their time."""
LEAST_COMPARED = 60
MOST_COUNTED = 255
"""Draws that are counted in one byte."""
SAME_DRAWS = 1e-12
"""The share of two items' variances below which that of their difference is rounding."""
COUNTED = 5
"""Draws that say otherwise, from which on they are counted; fewer are smoothed."""


MANY = 0.4
"""The share of judges who may not vote against a ranking without doubt about which end is up."""
SAME_IN_MODE = 1e-6
"""Scores of a best fit closer than this part of their range are the same."""
TINY = 1e-9


class Gap(NamedTuple):
    """How far one item is above another, and how sure that is."""

    difference: float
    low: float
    high: float
    chance: float
    """The chance that it is above at all."""
    doubt: float
    """The chance that the order of the two is the other way round, however small."""


class Posterior(ABC):
    """Scores and accuracies, by code, and how sure they are."""

    kind: Kind
    score: Floats
    accuracy: Floats

    @abstractmethod
    def score_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Lower and upper ends of each score."""

    @abstractmethod
    def accuracy_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Lower and upper ends of each accuracy."""

    @abstractmethod
    def accuracy_below(self, limit: float) -> Floats:
        """The chance that each accuracy is below a limit."""

    @property
    @abstractmethod
    def many_disagree(self) -> float:
        """The chance that `MANY` of the judges, by number, vote against the ranking."""

    @property
    @abstractmethod
    def score_variance(self) -> Floats:
        """Squared standard errors of the scores."""

    @property
    @abstractmethod
    def accuracy_sd(self) -> Floats:
        """Standard errors of the accuracies; NaN where they are not known."""

    @abstractmethod
    def effects(self, layout: Layout, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The effects as they are told, and lower and upper ends of each."""

    @property
    def upside_down(self) -> float:
        """The chance that the ranking is upside down, as far as that is part of the posterior."""
        return 0.0

    @abstractmethod
    def chances_above(self, items: Codes) -> Floats:
        """The chance of these items, a row for each, to be truly better than each of all.

        That is if the ranking is not upside down.
        """

    @abstractmethod
    def gaps(self, items: Codes, others: Codes) -> tuple[Floats, Floats]:
        """How far items, a row for each, are above others, and the variances of that."""

    @abstractmethod
    def gap(self, i: int, j: int, confidence: float) -> Gap:
        """How far an item is above another."""

    @abstractmethod
    def score_draws(self) -> Floats:
        """Draws of all scores, a row for each."""

    @abstractmethod
    def accuracy_draws(self) -> Floats:
        """Draws of all accuracies, a row for each."""

    @abstractmethod
    def within(self, groups: Sequence[Codes]) -> Self:
        """The same, with scores relative to the mean of their group of items."""

    @abstractmethod
    def p_best(self, groups: Sequence[Codes]) -> Floats:
        """The chance of each item to be the best of its group, one group after the other."""


@dataclass(frozen=True, eq=False)
class SampledPosterior(Posterior):
    """The exact posterior, by draws."""

    sample: Sample
    score: Floats
    accuracy: Floats
    told_scores: Floats | None = None
    """Draws of the scores relative to their group's mean, if there are groups."""
    kind: Kind = "sampled"

    @property
    def upside_down(self) -> float:
        """The chance that the ranking is upside down, which it is as a whole or not at all."""
        return self.sample.upside_down

    def within(self, groups: Sequence[Codes]) -> Self:
        """Draw by draw; predictions go on to know how far apart groups may be."""
        told = centred(self.sample.score, groups)
        return replace(self, told_scores=told, score=centred(self.score, groups))

    def score_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Quantiles of the draws."""
        return _quantiles(self.score_draws(), confidence)

    def accuracy_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Quantiles of the draws."""
        return _quantiles(self.sample.accuracy, confidence)

    def accuracy_below(self, limit: float) -> Floats:
        """The share of draws."""
        return np.asarray((self.sample.accuracy < limit).mean(axis=0))

    @property
    def many_disagree(self) -> float:
        """The share of draws."""
        return float(((self.sample.accuracy < 0.0).mean(axis=1) >= MANY).mean())

    @cached_property
    def score_variance(self) -> Floats:
        """Of the draws."""
        return np.asarray(self.score_draws().var(axis=0))

    @cached_property
    def accuracy_sd(self) -> Floats:
        """Of the draws."""
        return np.asarray(self.sample.accuracy.std(axis=0))

    def effects(self, layout: Layout, confidence: float) -> tuple[Floats, Floats, Floats]:
        """Means and quantiles of the draws."""
        told = np.array([layout.totals(draw) for draw in self.sample.effects])
        return (np.asarray(told.mean(axis=0)), *_quantiles(told, confidence))

    @cached_property
    def _compared(self) -> Floats:
        """The draws that items are compared by, evenly spaced ones if there are very many items."""
        draws = self.score_draws()
        most = max(LEAST_COMPARED, COMPARED // draws.shape[1] ** 2)
        return np.asarray(draws[:: max(1, -(-len(draws) // most))])

    def chances_above(self, items: Codes) -> Floats:
        """The share of draws; the tails, of which there are few draws, as those of a normal."""
        draws = self._compared
        above = _number_above(draws, items) / len(draws)
        gap, variance = self.gaps(items, np.arange(draws.shape[1]))
        return _chances(gap, np.sqrt(variance), above, len(draws))[0]

    def gaps(self, items: Codes, others: Codes) -> tuple[Floats, Floats]:
        """The means and variances of the draws that are compared."""
        mean, square, centred = self._around_mean
        both = square[items, None] + square[others]
        variance = both - 2.0 * (centred[:, items].T @ centred[:, others]) / len(centred)
        variance[variance < SAME_DRAWS * both] = 0.0
        return mean[items, None] - mean[others], variance

    @cached_property
    def _around_mean(self) -> tuple[Floats, Floats, Floats]:
        """The mean and variance of the draws that are compared, and these less their mean."""
        mean = self._compared.mean(axis=0)
        centred = self._compared - mean
        return mean, np.mean(centred**2, axis=0), centred

    def p_best(self, groups: Sequence[Codes]) -> Floats:
        """The share of draws."""
        draws = self.score_draws()
        return np.concatenate([_shares_as_best([draws[:, items]]) for items in groups])

    def gap(self, i: int, j: int, confidence: float) -> Gap:
        """From the draws of the difference."""
        draws = self.score_draws()[:, i] - self.score_draws()[:, j]
        low, high = _quantiles(draws[:, None], confidence)
        mean, sd, share = map(np.asarray, (draws.mean(), draws.std(), (draws > 0.0).mean()))
        above, doubt = map(float, _chances(mean, sd, share, len(draws)))
        gap = float(self.score[i] - self.score[j])
        return Gap(gap, float(low[0]), float(high[0]), above, doubt)

    def score_draws(self) -> Floats:
        """The draws."""
        return self.sample.score if self.told_scores is None else self.told_scores

    def accuracy_draws(self) -> Floats:
        """The draws."""
        return self.sample.accuracy


def _shares_as_best(draws: Iterable[Floats]) -> Floats:
    """The share of rows in which each column has the largest number; some rows at a time."""
    counts = [np.bincount(np.argmax(some, axis=1), minlength=some.shape[1]) for some in draws]
    total = np.sum(counts, axis=0)
    return np.asarray(total / total.sum())


def _quantiles(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Of the draws; so far out that few draws are left, at least as far as those of a normal."""
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(draws, (tail, 1.0 - tail), axis=0)
    if tail * len(draws) < COUNTED:
        mean, half = draws.mean(axis=0), half_width(confidence) * draws.std(axis=0)
        low, high = np.minimum(low, mean - half), np.maximum(high, mean + half)
    return low, high


def _number_above(draws: Floats, items: Codes) -> NDArray[np.int64]:
    """In how many draws each of these items, a row for each, is above each of all."""
    found = np.zeros((len(items), draws.shape[1]), dtype=np.int64)
    for first in range(0, len(draws), MOST_COUNTED):
        some = np.zeros(found.shape, dtype=np.uint8)
        for draw in draws[first : first + MOST_COUNTED]:
            some += (draw[items, None] > draw).view(np.uint8)
        found += some
    return found


def _chances(mean: Floats, sd: Floats, above: Floats, count: int) -> tuple[Floats, Floats]:
    """The chance that differences are positive, and the smaller one of that and its opposite.

    Of so many draws of each, by the share of those above 0; in the tails by mean and deviation.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        smooth = scipy.special.ndtr(-np.abs(mean) / sd)
    fewer = np.minimum(above, 1.0 - above)
    few = COUNTED / count
    tail = np.where(fewer >= few, fewer, np.minimum(smooth, few))
    tail = np.where(sd > 0.0, tail, 0.5)
    return np.where(above > 0.5, 1.0 - tail, tail), tail


@dataclass(frozen=True, eq=False)
class NormalPosterior(Posterior):
    """A normal distribution around a mode."""

    uncertainty: Uncertainty
    score: Floats
    accuracy: Floats
    estimated_effects: Floats
    held: NDArray[np.bool_] | None = None
    """Which accuracies have no finite estimate."""
    kind: Kind = "normal"

    def within(self, groups: Sequence[Codes]) -> Self:
        """By the covariance, as far as the whole of it is known; differences stay what they are."""
        uncertainty, known = self.uncertainty, self.uncertainty.covariance
        if isinstance(known, np.ndarray):
            joint = centred(centred(known, groups).T, groups)
            variance = np.maximum(np.diag(joint), 0.0)
            uncertainty = replace(uncertainty, covariance=joint, score_variance=variance)
        return replace(self, uncertainty=uncertainty, score=centred(self.score, groups))

    def score_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Standard errors on either side."""
        half = half_width(confidence) * np.sqrt(self.uncertainty.score_variance)
        return self.score - half, self.score + half

    @property
    def score_variance(self) -> Floats:
        """From the curvature, the sandwich or the resamples."""
        return np.asarray(self.uncertainty.score_variance)

    @property
    def accuracy_sd(self) -> Floats:
        """From the curvature."""
        sd = self.uncertainty.accuracy_sd
        return sd if self.held is None else np.where(self.held, np.nan, sd)

    def accuracy_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Standard errors on either side."""
        half = half_width(confidence) * self.accuracy_sd
        return self.accuracy - half, self.accuracy + half

    def accuracy_below(self, limit: float) -> Floats:
        """By how many standard errors it is."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(scipy.special.ndtr((limit - self.accuracy) / self.accuracy_sd))

    @property
    def many_disagree(self) -> float:
        """As if judges were independent of each other; of some nothing is known."""
        chance = np.nan_to_num(self.accuracy_below(0.0))
        excess = float(chance.sum()) + 0.5 - MANY * len(chance)
        error = float(np.sqrt(np.sum(chance * (1.0 - chance))))
        return below(excess / error) if error > 0.0 else float(excess > 0.5)

    def effects(self, layout: Layout, confidence: float) -> tuple[Floats, Floats, Floats]:
        """Standard errors on either side."""
        told = layout.totals(self.estimated_effects)
        half = half_width(confidence) * self.uncertainty.effect_sd
        return told, told - half, told + half

    def chances_above(self, items: Codes) -> Floats:
        """By how many standard errors the scores differ."""
        gap, variance = self.gaps(items, np.arange(len(self.score)))
        z = np.divide(gap, np.sqrt(variance), out=np.zeros(gap.shape), where=variance > 0.0)
        return np.asarray(scipy.special.ndtr(z))

    def gaps(self, items: Codes, others: Codes) -> tuple[Floats, Floats]:
        """By the covariance, as far as it is known."""
        variance = self.uncertainty.difference_variances(items, others)
        return self.score[items, None] - self.score[others], variance

    def gap(self, i: int, j: int, confidence: float) -> Gap:
        """The difference, and its standard error on either side."""
        error = float(np.sqrt(self.uncertainty.difference_variance(i, j)))
        gap = float(self.score[i] - self.score[j])
        half = half_width(confidence) * error
        z = gap / error if error > 0.0 else 0.0
        return Gap(gap, gap - half, gap + half, below(z), below(-abs(z)))

    def p_best(self, groups: Sequence[Codes]) -> Floats:
        """The share of draws, of those items that may be the best at all."""
        return np.concatenate([self._p_best_of(items) for items in groups])

    def _p_best_of(self, items: Codes) -> Floats:
        first = items[[np.argmax(self.score[items])]]
        (rival,) = np.nonzero(1.0 - self.chances_above(first)[0, items] > NO_RIVAL)
        rivals, found = items[rival], np.zeros(len(items))
        errors = self.uncertainty.draws(self._number_of_draws, seed=0, items=rivals)
        found[rival] = _shares_as_best(self.score[rivals] + some for some in errors)
        return found

    def score_draws(self) -> Floats:
        """Draws from the normal, always the same."""
        errors = self.uncertainty.draws(self._number_of_draws, seed=0)
        return np.concatenate([self.score + some for some in errors])

    @property
    def _number_of_draws(self) -> int:
        return DRAWS if len(self.score) <= MANY_ITEMS else DRAWS_OF_MANY

    def accuracy_draws(self) -> Floats:
        """Draws from the normal, judge by judge."""
        shape = (self._number_of_draws, len(self.accuracy))
        errors = np.random.default_rng(1).standard_normal(shape)
        return np.asarray(self.accuracy + np.nan_to_num(self.accuracy_sd) * errors)


def centred(score: Floats, groups: Sequence[Codes]) -> Floats:
    """Scores, in the last axis, less the mean of their group."""
    score = score.copy()
    for items in groups:
        score[..., items] -= score[..., items].mean(axis=-1, keepdims=True)
    return score


def half_width(confidence: float) -> float:
    """Standard errors on either side of an estimate."""
    return -quantile(0.5 * (1.0 - confidence))


def shared_by_equals(score: Floats, mode: Floats) -> Floats:
    """Let items that the votes treat alike have the same score; means of draws differ a little.

    Such items have the same score in the best fit, but for rounding.
    """
    order = np.argsort(mode, kind="stable")
    same = SAME_IN_MODE * max(float(np.ptp(mode)), TINY)
    group = np.empty(len(mode), dtype=np.int64)
    group[order] = np.concatenate(([0], np.cumsum(np.diff(mode[order]) > same)))
    return np.asarray((np.bincount(group, score) / np.bincount(group))[group])
