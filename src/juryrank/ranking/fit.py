"""The fit: which objective, which solver; and what was found, still in codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from juryrank.inference.many_votes import (
    Attenuation,
    TasteNoise,
    attenuation,
    taste_noise,
)
from juryrank.inference.posterior import (
    shared_by_equals,
)
from juryrank.inference.prior_scales import (
    can_be_sampled,
    prior_of,
    sampled_part,
    volume_of,
    without_small_tie_effects,
)
from juryrank.inference.sampling import WHOLE, Counter, Length, Sample, sample, turned_upright
from juryrank.judging.accounts import Voice, say_of, voices_of, with_one_say
from juryrank.judging.capped_weights import capped
from juryrank.judging.cells import NOBODY, OneSided, without_cells
from juryrank.judging.one_sided import find_one_sided
from juryrank.model.gauge import Gauge, gauge_of, robust_gauge
from juryrank.model.objective import LARGEST_ACCURACY, Objective
from juryrank.model.prior import NO_PRIOR, Prior
from juryrank.ranking.cautions import (
    not_settled,
    remarks_on_direction,
    remarks_on_effects,
    remarks_on_held,
    remarks_on_jury,
    remarks_on_sample,
)
from juryrank.ranking.request import (
    Task,
    require_connected,
    require_scale,
    require_strong,
)
from juryrank.solvers.crowd import CrowdSolver
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import ROUGH, mirrored, search, votes_for
from juryrank.solvers.solution import Solution, Watcher
from juryrank.solvers.spectral import RankCentrality
from juryrank.types import Floats

TASTES_LEFT_OUT = (
    "These rankings are too many to sample how judges differ in taste, so the intervals say how "
    "these judges see it, not what another jury would say."
)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A solution in the scale of the answer, and how it was found."""

    solution: Solution
    objective: Objective | None = None
    """With the prior that was used, and without the votes that were set aside."""
    raw: Solution | None = None
    """The best fit of the plain model, in the objective's own scale."""
    gauge: Gauge | None = None
    held: NDArray[np.bool_] | None = None
    """Which accuracies have no finite estimate."""
    set_aside: OneSided = NOBODY
    """Judges and items whose votes do not count."""
    voices: tuple[Voice, ...] = ()
    """Accounts that count as one judge."""
    remarks: tuple[str, ...] = ()
    sample: Sample | None = None
    """Draws from the posterior: of all votes if the solution is their mean, else of a part."""
    is_sampled: bool = False
    taste_sd: float | None = None
    """The typical size of tastes; None if there are none in the model."""
    noise: TasteNoise | None = None
    """What tastes add to the errors of a best fit,"""
    lost: Attenuation | None = None
    """and what they take off its scores."""

    @property
    def prior(self) -> Prior:
        """The prior that was used."""
        return NO_PRIOR if self.objective is None else self.objective.prior


# --- the methods ---------------------------------------------------------------------------------


def fit(
    task: Task,
    watch: Watcher | None = None,
    watch_draws: Counter | None = None,
    *,
    of_mode: bool = False,
    length: Length = WHOLE,
) -> Fitted:
    """Find scores and accuracies: the posterior's or, if asked for, those of the best fit."""
    solver = task.solver
    if isinstance(solver, ProfileSolver):
        return _by_profile(task, solver, watch, watch_draws, length, of_mode=of_mode)
    if isinstance(solver, PaperSolver):
        return _by_paper(task, solver, watch)
    if isinstance(solver, CrowdSolver):
        return _by_crowd(task, solver, watch)
    if isinstance(solver, RankCentrality):
        require_strong(task)
    return Fitted(solver.solve(task.coded))


def _by_profile(
    task: Task,
    solver: ProfileSolver,
    watch: Watcher | None,
    watch_draws: Counter | None,
    length: Length,
    *,
    of_mode: bool,
) -> Fitted:
    objective = task.objective()
    require_connected(task)
    require_scale(task, objective)
    is_guarded = task.guard and objective.accuracies_free
    voices = voices_of(objective) if is_guarded else ()
    objective = with_one_say(objective, voices)
    is_sampled = task.chooses_scales and not of_mode and can_be_sampled(objective)
    if is_sampled:
        objective = replace(objective, votes=objective.votes.merged())
    found = None
    if task.chooses_scales and not is_sampled:
        found = sampled_part(objective, tastes=task.tastes)
        objective = replace(objective, prior=prior_of(found, objective))
        if task.unasked_ties:
            objective = without_small_tie_effects(objective)
    set_aside = NOBODY
    if is_guarded and not (is_sampled and task.tastes):
        taste = found.typical_taste if found is not None and found.has_tastes else 0.0
        set_aside = find_one_sided(objective, taste)
        objective = without_cells(objective, set_aside)
        set_aside = set_aside.with_whole_votes(say_of(voices, objective.n_judges))
    if is_sampled:
        # Judges who push an item are allowed for by tastes, but must not decide where to start.
        fair = objective
        if is_guarded and task.tastes:
            fair = replace(objective, votes=capped(objective.votes))
        start = search(fair, ROUGH, watch)
        fitted = _by_sampling(task, objective, solver, start, length, watch_draws)
        return replace(fitted, set_aside=set_aside, voices=voices)
    solution = search(objective, solver, watch)
    if found is not None:
        fitted = _near_the_mode(task, objective, solver, solution, found)
        return replace(fitted, set_aside=set_aside, voices=voices)
    held = _held(objective, solution.accuracy)
    gauge = gauge_of(objective, solution.accuracy, np.where(held, 0.0, objective.choices_per_judge))
    gauged = in_gauge(solution, gauge)
    remarks = (
        *remarks_on_direction(objective, gauged),
        *remarks_on_held(task, gauged, held),
        *remarks_on_effects(objective, gauged),
    )
    return Fitted(gauged, objective, solution, gauge, held, set_aside, voices, remarks)


def _near_the_mode(
    task: Task,
    objective: Objective,
    solver: ProfileSolver,
    solution: Solution,
    found: Sample,
) -> Fitted:
    """The best fit with the scales of a sample, its gauge balanced, and what tastes do to it."""
    objective = replace(objective, volume=volume_of(objective, solution.state, solution.accuracy))
    solution = solver.solve(objective, solution.state, solution.accuracy)
    counts = objective.choices_per_judge
    gauge, noise = robust_gauge(objective, solution.accuracy, counts), None
    remarks: tuple[str, ...] = ()
    if found.has_tastes and objective.votes.has_lists:
        remarks = (TASTES_LEFT_OUT,)
    elif found.has_tastes:
        noise = taste_noise(objective, solution, found.typical_taste / gauge.scale)
    if noise is not None and noise.is_uneven and objective.votes.in_memory:
        objective = replace(objective, votes=objective.votes.reweighted(noise.weight))
        solution = solver.solve(objective, solution.state, solution.accuracy)
        gauge = robust_gauge(objective, solution.accuracy, counts)
    size, lost = None, None
    if found.has_tastes and not objective.votes.has_lists:
        size = found.typical_taste if noise is None else gauge.scale * noise.sd
        lost = attenuation(solution.accuracy / gauge.scale, counts, task.noise, size)
        gauge = Gauge(lost.factor * gauge.scale, lost.factor * gauge.slope)
    gauged = in_gauge(solution, gauge)
    if lost is not None:
        gauged = replace(gauged, accuracy=lost.accuracy)
    remarks = (
        *remarks_on_direction(objective, gauged),
        *remarks_on_jury(task, found),
        *remarks,
    )
    return Fitted(
        gauged, objective, solution, gauge, remarks=remarks, sample=found,
        taste_sd=size, noise=noise, lost=lost,
    )  # fmt: skip


def _by_sampling(
    task: Task,
    objective: Objective,
    solver: ProfileSolver,
    start: Solution,
    length: Length,
    watch: Counter | None,
) -> Fitted:
    """The posterior of all votes, and the best fit with its scales."""
    found = sample(objective, start, tastes=task.tastes, length=length, watch=watch)
    objective = replace(objective, prior=prior_of(found, objective))
    raw = solver.solve(objective, start.state, start.accuracy)
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
    remarks = remarks_on_sample(task, objective, found)
    return Fitted(
        solution, objective, raw, gauge, remarks=remarks, sample=found, is_sampled=True,
        taste_sd=found.typical_taste if found.has_tastes else None,
    )  # fmt: skip


def _by_paper(task: Task, solver: PaperSolver, watch: Watcher | None) -> Fitted:
    objective = task.objective()
    solution = solver.solve(objective, watch)
    if objective.accuracies_free and votes_for(objective, solution.score) < 0.0:
        solution = mirrored(solution)
    gauge = gauge_of(objective, solution.accuracy, objective.choices_per_judge)
    gauged = in_gauge(solution, gauge)
    return Fitted(
        gauged, objective, solution, gauge, remarks=remarks_on_direction(objective, gauged)
    )


def _by_crowd(task: Task, solver: CrowdSolver, watch: Watcher | None) -> Fitted:
    require_connected(task)
    objective = task.objective()
    if task.chooses_scales:
        found = sampled_part(objective, tastes=False)
        objective = replace(objective, prior=prior_of(found, objective))
    return Fitted(solver.solve(objective, watch), objective)


def _held(objective: Objective, accuracy: Floats) -> NDArray[np.bool_]:
    """Which accuracies stand at the bound that replaces a missing prior."""
    if np.isfinite(objective.prior.accuracy_sd):
        return np.zeros(len(accuracy), dtype=np.bool_)
    return np.asarray(np.abs(accuracy) >= LARGEST_ACCURACY)


def in_gauge(solution: Solution, gauge: Gauge) -> Solution:
    """Scores that sum to 0, and a mean |accuracy| of 1."""
    score = gauge.scale * (solution.score - solution.score.mean())
    return replace(solution, score=score, accuracy=solution.accuracy / gauge.scale)


def refit_with(task: Task, found: Fitted, objective: Objective) -> Callable[[Floats], Floats]:
    """Fit again, as before, when each judge's votes count so many times."""

    def refit(times: Floats) -> Floats:
        again = replace(objective, votes=objective.votes.reweighted(times))
        if isinstance(task.solver, ProfileSolver) and found.raw is not None:
            solution = ROUGH.solve(again, found.raw.state, found.raw.accuracy)
        elif isinstance(task.solver, PaperSolver | CrowdSolver):
            solution = task.solver.solve(again)
        if again.accuracies_free and votes_for(again, solution.score) < 0.0:
            solution = mirrored(solution)
        if found.gauge is None:
            return solution.score
        counts = again.choices_per_judge
        by = robust_gauge if task.chooses_scales else gauge_of
        return in_gauge(solution, by(again, solution.accuracy, counts)).score

    return refit
