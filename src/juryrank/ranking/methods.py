"""The ways to fit a model, by name: which objective, which solver, and what is done around it.

A new one is a class here with its entry in `METHODS`; models name the ways to fit them in
`juryrank.model.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from juryrank.inference.many_votes import attenuation, taste_noise
from juryrank.inference.posterior import shared_by_equals
from juryrank.inference.prior_scales import (
    can_be_sampled,
    prior_of,
    sampled_part,
    volume_of,
    without_small_tie_effects,
)
from juryrank.inference.sampling import Sample, sample, turned_upright
from juryrank.judging.accounts import say_of, voices_of, with_one_say
from juryrank.judging.capped_weights import capped
from juryrank.judging.cells import NOBODY, without_cells
from juryrank.judging.one_sided import find_one_sided
from juryrank.model.gauge import Gauge, gauge_of, robust_gauge
from juryrank.model.objective import LARGEST_ACCURACY, Objective
from juryrank.progress import Watcher, part_of
from juryrank.ranking.cautions import (
    not_settled,
    remarks_on_direction,
    remarks_on_effects,
    remarks_on_held,
    remarks_on_jury,
    remarks_on_sample,
)
from juryrank.ranking.fitted import (
    ChosenFit,
    Fitted,
    GaugedFit,
    LikelihoodFit,
    PlainFit,
    SampledFit,
    Solve,
    in_gauge,
)
from juryrank.ranking.task import Method, Task, require_connected, require_scale, require_strong
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import ROUGH, mirrored, search, votes_for
from juryrank.solvers.solution import Solution
from juryrank.solvers.spectral import RankCentrality
from juryrank.solvers.win_rate import WinRate
from juryrank.types import Floats

NEAR_THE_MODE = 0.8
"""About the part of a fit that the search takes."""
TASTES_LEFT_OUT = (
    "There are too many rankings to sample how judges differ in taste, so the intervals say how "
    "these judges see it, not what another jury would say."
)


# --- profile likelihood --------------------------------------------------------------------------


@dataclass(frozen=True)
class ProfileMethod(Method):
    """The posterior, or the best fit by the profile solver."""

    solver: ProfileSolver
    settings: ClassVar[type[Any]] = ProfileSolver
    estimates_effects: ClassVar[bool] = True
    finds_optimum: ClassVar[bool] = True

    def fit(self, task: Task, watch: Watcher | None = None) -> GaugedFit:
        """Sample the posterior where it can be; else the best fit."""
        objective = task.objective()
        require_connected(task)
        require_scale(task, objective)
        is_guarded = task.guard and objective.accuracies_free
        voices = voices_of(objective) if is_guarded else ()
        objective = with_one_say(objective, voices)
        is_sampled = task.chooses_scales and not task.of_mode and can_be_sampled(objective)
        if is_sampled:
            objective = replace(objective, votes=objective.votes.merged())
        found = None
        if task.chooses_scales and not is_sampled:
            found = sampled_part(objective, tastes=task.tastes, watch=watch)
            objective = replace(objective, prior=prior_of(found, objective))
            if task.unasked_ties:
                objective = without_small_tie_effects(objective)
        set_aside = NOBODY
        if is_guarded and not (is_sampled and task.tastes):
            taste = found.typical_taste if found is not None and found.has_tastes else 0.0
            rough = replace(ROUGH, journal=self.solver.journal)
            set_aside = find_one_sided(objective, taste, rough)
            objective = without_cells(objective, set_aside)
            set_aside = set_aside.with_whole_votes(say_of(voices, objective.n_judges))
        if is_sampled:
            # Judges who push an item are allowed for by tastes, but must not decide where to start.
            fair = objective
            if is_guarded and task.tastes:
                fair = replace(objective, votes=capped(objective.votes))
            start = search(fair, ROUGH, watch)
            sampled = self._sampled(task, objective, start, watch)
            return replace(sampled, set_aside=set_aside, voices=voices)
        solution = search(objective, self.solver, part_of(watch, 0.0, NEAR_THE_MODE))
        if found is not None:
            chosen = self._near_the_mode(task, objective, solution, found)
            return replace(chosen, set_aside=set_aside, voices=voices)
        return replace(self._plain(task, objective, solution), set_aside=set_aside, voices=voices)

    def _plain(self, task: Task, objective: Objective, solution: Solution) -> PlainFit:
        """The best fit with the prior that was asked for."""
        held = _held(objective, solution.accuracy)
        counts = np.where(held, 0.0, objective.choices_per_judge)
        gauge = gauge_of(objective, solution.accuracy, counts)
        gauged = in_gauge(solution, gauge)
        remarks = (
            *remarks_on_direction(objective, gauged),
            *remarks_on_held(task, gauged, held),
            *remarks_on_effects(objective, gauged),
        )
        return PlainFit(
            solution=gauged, objective=objective, solve=_from(solution), raw=solution, gauge=gauge,
            held=held, remarks=remarks,
        )  # fmt: skip

    def _near_the_mode(
        self, task: Task, objective: Objective, solution: Solution, found: Sample
    ) -> ChosenFit:
        """The best fit with the scales of a sample, its gauge balanced, and what tastes do."""
        volume = volume_of(objective, solution.state, solution.accuracy)
        objective = replace(objective, volume=volume)
        solution = self.solver.solve(objective, solution.state, solution.accuracy)
        counts = objective.choices_per_judge
        gauge, noise = robust_gauge(objective, solution.accuracy, counts), None
        remarks: tuple[str, ...] = ()
        if found.has_tastes and objective.votes.has_lists:
            remarks = (TASTES_LEFT_OUT,)
        elif found.has_tastes:
            noise = taste_noise(objective, solution, found.typical_taste / gauge.scale)
        if noise is not None and noise.is_uneven and objective.votes.in_memory:
            objective = replace(objective, votes=objective.votes.reweighted(noise.weight))
            solution = self.solver.solve(objective, solution.state, solution.accuracy)
            gauge = robust_gauge(objective, solution.accuracy, counts)
        size, lost = None, None
        if found.has_tastes and not objective.votes.has_lists:
            size = found.typical_taste if noise is None else gauge.scale * noise.sd
            lost = attenuation(solution.accuracy / gauge.scale, counts, task.noise, size)
            gauge = Gauge(lost.factor * gauge.scale, lost.factor * gauge.gradient)
        gauged = in_gauge(solution, gauge)
        if lost is not None:
            gauged = replace(gauged, accuracy=lost.accuracy)
        remarks = (
            *remarks_on_direction(objective, gauged),
            *remarks_on_jury(task, found),
            *remarks,
        )
        return ChosenFit(
            solution=gauged, objective=objective, solve=_from(solution), raw=solution, gauge=gauge,
            remarks=remarks, taste_sd=size, taste_noise=noise, lost=lost,
        )  # fmt: skip

    def _sampled(
        self, task: Task, objective: Objective, start: Solution, watch: Watcher | None
    ) -> SampledFit:
        """The posterior of all votes, and the best fit with its scales."""
        found = sample(objective, start, tastes=task.tastes, length=task.length, watch=watch)
        objective = replace(objective, prior=prior_of(found, objective))
        raw = self.solver.solve(objective, start.state, start.accuracy)
        gauge = robust_gauge(objective, raw.accuracy, objective.choices_per_judge)
        found = turned_upright(found)
        solution = Solution(
            score=shared_by_equals(found.score.mean(axis=0), raw.score),
            accuracy=np.median(found.accuracy, axis=0),  # which a long tail does not move
            value=found.loss,
            converged=found.settled,
            iterations=found.rounds,
            message="" if found.settled else not_settled(found),
            effects=found.effects.mean(axis=0),
        )
        return SampledFit(
            solution=solution, objective=objective, solve=_from(raw), raw=raw, gauge=gauge,
            remarks=remarks_on_sample(task, objective, found), sample=found,
        )  # fmt: skip


def by_profile(task: Task, watch: Watcher | None = None) -> GaugedFit:
    """Fit a task by the profile solver as it is."""
    return ProfileMethod(ProfileSolver()).fit(task, watch)


def _from(raw: Solution) -> Solve:
    """Find the best fit to other weights of the votes from the best fit to these."""
    return partial(ROUGH.solve, state=raw.state, accuracy=raw.accuracy)


def _held(objective: Objective, accuracy: Floats) -> NDArray[np.bool_]:
    """Which accuracies stand at the bound that replaces a missing prior."""
    if np.isfinite(objective.prior.accuracy_sd):
        return np.zeros(len(accuracy), dtype=np.bool_)
    return np.asarray(np.abs(accuracy) >= LARGEST_ACCURACY)


# --- other likelihoods ---------------------------------------------------------------------------


@dataclass(frozen=True)
class PaperMethod(Method):
    """Algorithm 1 of the paper, which knows the virtual node but no choice of a prior."""

    solver: PaperSolver
    settings: ClassVar[type[Any]] = PaperSolver
    chooses_prior: ClassVar[bool] = False

    def fit(self, task: Task, watch: Watcher | None = None) -> GaugedFit:
        """Run the iterations."""
        objective = task.objective()
        solution = self.solver.solve(objective, watch)
        if objective.accuracies_free and votes_for(objective, solution.score) < 0.0:
            solution = mirrored(solution)
        gauge = gauge_of(objective, solution.accuracy, objective.choices_per_judge)
        gauged = in_gauge(solution, gauge)
        return GaugedFit(
            solution=gauged, objective=objective, solve=self.solver.solve, raw=solution,
            gauge=gauge, remarks=remarks_on_direction(objective, gauged),
        )  # fmt: skip


@dataclass(frozen=True)
class CrowdMethod(Method):
    """CrowdBT and CrowdTCV: scores and reliabilities in turn."""

    solver: CrowdSolver
    settings: ClassVar[type[Any]] = CrowdSolver

    def fit(self, task: Task, watch: Watcher | None = None) -> LikelihoodFit:
        """Choose the prior's scales, if that is left to the data, and alternate."""
        require_connected(task)
        objective = task.objective()
        if task.chooses_scales:
            found = sampled_part(objective, tastes=False, watch=watch)
            objective = replace(objective, prior=prior_of(found, objective))
        solution = self.solver.solve(objective, watch)
        return LikelihoodFit(solution=solution, objective=objective, solve=self.solver.solve)


# --- without a likelihood ------------------------------------------------------------------------


@dataclass(frozen=True)
class CentralityMethod(Method):
    """Rank Centrality."""

    solver: RankCentrality
    settings: ClassVar[type[Any]] = RankCentrality

    def fit(self, task: Task, _watch: Watcher | None = None) -> Fitted:
        """The stationary distribution, if there is one."""
        require_strong(task)
        return Fitted(solution=self.solver.solve(task.coded))


@dataclass(frozen=True)
class WinRateMethod(Method):
    """The share of votes won."""

    solver: WinRate
    settings: ClassVar[type[Any]] = WinRate

    def fit(self, task: Task, _watch: Watcher | None = None) -> Fitted:
        """Count."""
        return Fitted(solution=self.solver.solve(task.coded))


METHODS: dict[str, type[Method]] = {
    "profile": ProfileMethod,
    "paper": PaperMethod,
    "crowd": CrowdMethod,
    "rank-centrality": CentralityMethod,
    "win-rate": WinRateMethod,
}
