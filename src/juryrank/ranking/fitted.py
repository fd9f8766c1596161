"""What a fit has found, still in codes, and what it knows about errors.

Fitted                 scores, without a likelihood: nothing is known of errors
└─ LikelihoodFit       with the objective that was minimised (CrowdBT, CrowdTCV)
└─ GaugedFit        whose scale is a convention, the gauge (Algorithm 1)
├─ PlainFit      at the optimum for a given prior, or none
├─ ChosenFit     at the optimum for scales that a sample of a part of the votes chose
└─ SampledFit    the mean of draws from the posterior
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from juryrank.inference.bootstrap import by_bootstrap
from juryrank.inference.covariance import (
    FromInformation,
    Intervals,
    Uncertainty,
    from_information,
)
from juryrank.inference.information import MOST_DENSE
from juryrank.inference.many_votes import Attenuation, TasteNoise, with_tastes
from juryrank.inference.posterior import NormalPosterior, Posterior, SampledPosterior
from juryrank.inference.sampling import Sample
from juryrank.inference.sandwich import by_sandwich
from juryrank.inference.tastes import Orders, OutlyingTaste, orders_of, outlying_tastes
from juryrank.judging.accounts import Voice
from juryrank.judging.cells import NOBODY, OneSided
from juryrank.judging.position import Allowances
from juryrank.judging.verdicts import RELIABLE, Standing, normal_standing
from juryrank.model.effects import NO_EFFECTS, EffectModel
from juryrank.model.gauge import Gauge, gauge_of, robust_gauge
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.progress import Watcher
from juryrank.ranking.direction import direction_is_sure
from juryrank.solvers.crowd import reliability_sd
from juryrank.solvers.search import mirrored, on_many_items, votes_for
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.votes import Votes

ONE_SD = 0.6826894921370859
"""The chance to be within a standard deviation of the mean of a normal distribution."""
TINY = 1e-300

Solve = Callable[[Objective], Solution]
"""Minimises an objective that is close to the one that was minimised before."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitted:
    """A solution in the scale of the answer, found without a likelihood."""

    solution: Solution
    set_aside: OneSided = NOBODY
    """Judges and items whose votes do not count."""
    voices: tuple[Voice, ...] = ()
    """Accounts that count as one judge."""
    remarks: tuple[str, ...] = ()

    @property
    def prior(self) -> Prior:
        """The prior that was used."""
        return NO_PRIOR

    @property
    def effects(self) -> EffectModel:
        """Which effects were estimated."""
        return NO_EFFECTS

    @property
    def draws(self) -> Sample | None:
        """Draws from the posterior of all votes, where the answer is made of them."""
        return None

    @property
    def typical_taste(self) -> float | None:
        """The typical size of tastes; None if there are none in the model."""
        return None

    def opinions(
        self, _votes: Votes, _confidence: float
    ) -> tuple[tuple[OutlyingTaste, ...], Orders | None]:
        """Tastes that stand out, and how judges' own orders differ, where draws tell."""
        return (), None

    def direction_is_sure(self, _solution: Solution) -> bool:
        """Whether it is clear which end is up of the solution as it is told."""
        return True

    def allowances(self) -> Allowances:
        """What was estimated of ties and sides with each judge."""
        n_judges = len(self.solution.accuracy)
        return Allowances(np.zeros(n_judges), np.full(n_judges, -np.inf))

    def posterior(self, _intervals: Intervals | None, _watch: Watcher | None) -> Posterior | None:
        """What is known after the votes; None if nothing is known of errors."""
        return None

    def widening(self, _posterior: Posterior | None) -> float | None:
        """How much wider the intervals are than from the curvature of the plain model."""
        return None

    def standing(self, _posterior: Posterior | None, _confidence: float) -> Standing | None:
        """How sure what is estimated of the judges is; None where nothing is known."""
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class LikelihoodFit(Fitted):
    """A fit that minimises an objective."""

    objective: Objective
    """With the prior that was used, and without the votes that were set aside."""
    solve: Solve
    """How it is fitted again to other weights of the same votes."""

    @property
    def prior(self) -> Prior:
        """That of the objective."""
        return self.objective.prior

    @property
    def effects(self) -> EffectModel:
        """Those of the objective."""
        return self.objective.effects

    def direction_is_sure(self, solution: Solution) -> bool:
        """Whether the votes leave no doubt."""
        return direction_is_sure(self.objective, solution)

    def posterior(self, intervals: Intervals | None, watch: Watcher | None) -> Posterior | None:
        """A normal distribution by the bootstrap, if it was asked for."""
        return self._resampled(None, watch) if intervals == "bootstrap" else None

    def _resampled(self, information: Uncertainty | None, watch: Watcher | None) -> Posterior:
        n_judges = self.objective.n_judges
        return self._normal(by_bootstrap(self.refit, n_judges, information, watch))

    def _normal(self, uncertainty: Uncertainty) -> NormalPosterior:
        found = self.solution
        return NormalPosterior(uncertainty, found.score, found.accuracy, found.effects)

    def refit(self, times: Floats) -> Floats:
        """The scores, fitted as before, when each judge's votes count so many times."""
        again = replace(self.objective, votes=self.objective.votes.reweighted(times))
        solution = self.solve(again)
        if again.accuracies_free and votes_for(again, solution.score) < 0.0:
            solution = mirrored(solution)
        return self._told(again, solution)

    def _told(self, _objective: Objective, solution: Solution) -> Floats:
        """The scores in the scale of the answer."""
        return solution.score

    def standing(self, _posterior: Posterior | None, confidence: float) -> Standing | None:
        """From the judges' votes, the scores held."""
        alone = reliability_sd(self.objective, self.solution)
        return normal_standing(self.solution.accuracy, alone, alone, confidence)


@dataclass(frozen=True, eq=False, kw_only=True)
class GaugedFit(LikelihoodFit):
    """A fit whose likelihood does not tell the common scale of scores and accuracies."""

    raw: Solution
    """The best fit of the plain model, in the objective's own scale."""
    gauge: Gauge

    def allowances(self) -> Allowances:
        """From the effects."""
        nothing, layout = np.zeros(self.objective.n_judges), self.objective.layout
        order, tie = layout.orders(self.solution.state), layout.pair_ties(self.solution.state)
        return Allowances(
            nothing + order if len(order) else nothing,
            nothing + (-np.inf if tie is None else tie),
        )

    def _told(self, objective: Objective, solution: Solution) -> Floats:
        return in_gauge(solution, self._gauge_of(objective, solution.accuracy)).score

    def _gauge_of(self, objective: Objective, accuracy: Floats) -> Gauge:
        return gauge_of(objective, accuracy, objective.choices_per_judge)

    def standing(self, posterior: Posterior | None, confidence: float) -> Standing | None:
        """Read off the posterior."""
        if posterior is None or not self.objective.accuracies_free:
            return None
        low, high = posterior.accuracy_interval(confidence)
        return Standing(
            self.solution.accuracy, low, high, posterior.accuracy_sd,
            self._own_accuracy_sd(posterior),
            posterior.accuracy_below(0.0), posterior.accuracy_below(RELIABLE),
        )  # fmt: skip

    def _own_accuracy_sd(self, posterior: Posterior) -> Floats:
        """Errors of the accuracies from the judges' votes alone: no prior, the scores held."""
        if isinstance(posterior, NormalPosterior):
            return posterior.uncertainty.own_accuracy_sd
        curvature = self.objective.curvature(self.raw.state, self.raw.accuracy).accuracy
        own = np.maximum(curvature - self.objective.prior.accuracy_precision, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / (self.gauge.scale * np.sqrt(own)))

    @cached_property
    def plain(self) -> FromInformation:
        """Errors of the best fit of the plain model, by its curvature."""
        return from_information(self.objective, self.raw, self.gauge)

    def _wider(self, posterior: Posterior) -> float | None:
        """By how much, by the median, than without tastes."""
        if self.objective.n_items > MOST_DENSE:
            return None
        try:
            plain = self.plain.errors
        except LinAlgError:
            return None
        low, high = posterior.score_interval(ONE_SD)
        width = np.sqrt(np.maximum(plain.score_variance, TINY))
        return round(float(np.median(0.5 * (high - low) / width)), 3)


class _AtOptimum(GaugedFit):
    """A fit at the optimum, where the curvature says how sure it is."""

    def posterior(self, intervals: Intervals | None, watch: Watcher | None) -> Posterior | None:
        """A normal distribution; None where the objective is flat."""
        if intervals is None:
            return None
        try:
            known = self._uncertainty(intervals)
        except LinAlgError:
            return None
        return self._resampled(known, watch) if intervals == "bootstrap" else self._normal(known)

    def _uncertainty(self, intervals: Intervals) -> Uncertainty:
        if intervals == "sandwich":
            return by_sandwich(self.objective, self.raw, self.gauge)
        return self.plain.errors


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainFit(_AtOptimum):
    """The best fit for a given prior, or none."""

    held: NDArray[np.bool_]
    """Which accuracies have no finite estimate."""

    def _normal(self, uncertainty: Uncertainty) -> NormalPosterior:
        return replace(super()._normal(uncertainty), held=self.held)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenFit(_AtOptimum):
    """The best fit with the scales of a sample, and what tastes do to it."""

    taste_sd: float | None = None
    """The typical size of tastes; None if there are none in the model."""
    taste_noise: TasteNoise | None = None
    """What tastes add to the errors, where that could be worked out,"""
    lost: Attenuation | None = None
    """and what they take off the scores."""

    @property
    def typical_taste(self) -> float | None:
        """As measured on the best fit, where it could be."""
        return self.taste_sd

    def _gauge_of(self, objective: Objective, accuracy: Floats) -> Gauge:
        return robust_gauge(objective, accuracy, objective.choices_per_judge)

    def _uncertainty(self, intervals: Intervals) -> Uncertainty:
        found = super()._uncertainty(intervals)
        if self.taste_noise is not None:
            profile = self.plain.profile
            found = with_tastes(found, profile, self.raw, self.gauge, self.taste_noise)
        if self.lost is not None:
            stretched = self.lost.factor * self.lost.derivative * found.accuracy_sd
            found = replace(found, accuracy_sd=stretched)
        return found

    def widening(self, posterior: Posterior | None) -> float | None:
        """Where tastes add to the errors."""
        if posterior is None or self.taste_noise is None:
            return None
        return self._wider(posterior)


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledFit(GaugedFit):
    """The mean of draws from the posterior of all votes, and the best fit with its scales."""

    sample: Sample

    @property
    def draws(self) -> Sample | None:
        """The sample."""
        return self.sample

    @property
    def typical_taste(self) -> float | None:
        """The median over the draws."""
        return self.sample.typical_taste if self.sample.has_tastes else None

    def opinions(
        self, votes: Votes, confidence: float
    ) -> tuple[tuple[OutlyingTaste, ...], Orders | None]:
        """Read off the draws."""
        on_many = on_many_items(self.objective)
        tastes = outlying_tastes(self.sample, votes, on_many, confidence)
        return tastes, orders_of(self.sample, confidence)

    def direction_is_sure(self, _solution: Solution) -> bool:
        """Which end is up is part of the posterior."""
        return True

    def posterior(self, _intervals: Intervals | None, _watch: Watcher | None) -> Posterior | None:
        """The draws, whether intervals are to be told or not."""
        return SampledPosterior(self.sample, self.solution.score, self.solution.accuracy)

    def _gauge_of(self, objective: Objective, accuracy: Floats) -> Gauge:
        return robust_gauge(objective, accuracy, objective.choices_per_judge)

    def widening(self, posterior: Posterior | None) -> float | None:
        """Where judges have tastes."""
        if posterior is None or not self.sample.has_tastes:
            return None
        return self._wider(posterior)


def in_gauge(solution: Solution, gauge: Gauge) -> Solution:
    """Scores that sum to 0, and a mean |accuracy| of 1."""
    score = gauge.scale * (solution.score - solution.score.mean())
    return replace(solution, score=score, accuracy=solution.accuracy / gauge.scale)
