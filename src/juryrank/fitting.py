"""`rank`: votes in, a `Ranking` out. Which objective, which solver, and how sure it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, get_args

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from juryrank.arrays import Floats
from juryrank.asking import (
    Order,
    PriorChoice,
    Solver,
    Task,
    Ties,
    require_connected,
    require_scale,
    require_strong,
    task_of,
)
from juryrank.errors import InputError, JuryrankWarning
from juryrank.guard import (
    LEAST_JUDGES,
    NOBODY,
    OneSided,
    find_one_sided,
    number_in_cells,
    without_cells,
)
from juryrank.information import MOST_DENSE
from juryrank.models import DEFAULT_MODEL
from juryrank.noise import Noise
from juryrank.objective import LARGEST_ACCURACY, NO_PRIOR, Objective, Prior
from juryrank.ranking import Fit, Ranking, effects_frame, make_ranking
from juryrank.reading import as_votes
from juryrank.remarks import (
    direction_is_sure,
    remarks_on_direction,
    remarks_on_effects,
    remarks_on_held,
    remarks_on_judges,
    remarks_on_votes,
)
from juryrank.solvers.crowd import CrowdSolver, reliability_sd
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import ROUGH, mirrored, search, votes_for
from juryrank.solvers.solution import Solution, Step, Watcher
from juryrank.solvers.spectral import RankCentrality
from juryrank.threads import one_blas_thread
from juryrank.uncertainty import (
    Gauge,
    Intervals,
    Uncertainty,
    by_bootstrap,
    by_information,
    by_sandwich,
    gauge_of,
    widened,
)
from juryrank.verdicts import Allowances, judge_columns
from juryrank.votes import Votes

NO_ERRORS = (
    "The errors of the answer could not be computed: the objective is flat around it. "
    "A prior helps: prior='auto' (--prior auto)."
)


def rank(
    votes: Votes | object,
    model: str = DEFAULT_MODEL,
    *,
    noise: str | Noise | None = None,
    prior: PriorChoice = "auto",
    lambda0: float = 0.0,
    solver: Solver = "profile",
    guard: bool = True,
    ties: Ties | None = None,
    order: Order = "none",
    intervals: Intervals | None = "information",
    confidence: float = 0.95,
    threads: int | None = None,
    watch: Watcher | None = None,
    watch_resamples: Callable[[int, int], None] | None = None,
    watch_steps: Callable[[str], None] | None = None,
) -> Ranking:
    """Rank the items, and say how accurate each judge is.

    Args:
        votes: `Votes`, or a data frame that `votes_from` can read.
        model: One of `juryrank.models.MODELS`.
        noise: For the model ``htm``: a family's name, or your own from `noise_from_log_density`.
        prior: "auto" (scales chosen by the data), None (maximum likelihood), or the standard
            deviations of scores and accuracies.
        lambda0: Weight of the paper's virtual node; it takes the place of the scores' prior.
        solver: "profile" (fast), "paper" (Algorithm 1), or one of these with settings.
        guard: Set aside votes with which a judge pushes a single item (where accuracies are
            estimated by the profile solver); False lets them count.
        ties: "davidson" (an outcome of its own, whose weight is estimated; what None means where
            a model can), "davidson-by-judge" (some judges tie more readily), or "half" (half a win
            for each; in a ranking, every order of the tied items counts alike).
        order: Whether the left side has an advantage, to be estimated: "none", "common", or
            "by-judge", a common one and what sets each judge apart, shrunk.
        intervals: Errors from the curvature of the objective ("information"), or with judges
            instead of votes as the independent draws ("sandwich", "bootstrap"); None for none.
        confidence: The chance with which each interval shall cover.
        threads: How many threads to use; None for all cores. The answer is the same.
        watch: Called with (evaluation, objective, size of the gradient) while fitting.
        watch_resamples: Called with (done, in all) during the bootstrap.
        watch_steps: Called with what comes next, where that can take a while.

    Returns:
        A `Ranking`; everything worth knowing about it stands in its `warnings`, which are also
        issued as `JuryrankWarning`.
    """
    given = dict(locals())
    task = task_of(
        as_votes(votes), model, noise, prior, lambda0, solver,
        guard=guard, ties=ties, order=order, threads=threads,
    )  # fmt: skip
    _check_intervals(task, intervals, confidence)
    steps: list[Step] = []
    with one_blas_thread():
        found = fit(task, _noting(steps, watch))
        if watch_steps and intervals is not None:
            watch_steps("Working out how sure the answer is")
        ranking = answer(task, found, intervals, confidence, watch_resamples, tuple(steps))
    for remark in ranking.warnings:
        warnings.warn(remark, JuryrankWarning, stacklevel=2)
    return replace(ranking, call=_call(given))


def _call(given: dict[str, Any]) -> str:
    """The call of `rank` with these arguments, without those that decide nothing."""
    decisive = {
        name: parameter.default
        for name, parameter in signature(rank).parameters.items()
        if name not in ("votes", "threads") and not name.startswith("watch")
    }
    asked = [f"{name}={given[name]!r}" for name in decisive if given[name] != decisive[name]]
    return f"jr.rank({', '.join(['votes', *asked])})"


def _noting(steps: list[Step], watch: Watcher | None) -> Watcher:
    """Keep what a watcher is told."""

    def note(*step: Any) -> None:
        steps.append(step)
        if watch:
            watch(*step)

    return note


@dataclass(frozen=True, eq=False)
class Fitted:
    """A solution in the scale of the answer, and how it was found."""

    solution: Solution
    objective: Objective | None = None
    """With the prior that was used, and without the votes that were set aside."""
    raw: Solution | None = None
    """The solution in the objective's own scale."""
    gauge: Gauge | None = None
    held: NDArray[np.bool_] | None = None
    """Which accuracies have no finite estimate."""
    one_sided: OneSided = NOBODY
    remarks: tuple[str, ...] = ()

    @property
    def prior(self) -> Prior:
        """The prior that was used."""
        return NO_PRIOR if self.objective is None else self.objective.prior


# --- the methods ---------------------------------------------------------------------------------


def fit(task: Task, watch: Watcher | None = None) -> Fitted:
    """Find scores and accuracies."""
    solver = task.solver
    if isinstance(solver, ProfileSolver):
        return _by_profile(task, solver, watch)
    if isinstance(solver, PaperSolver):
        return _by_paper(task, solver, watch)
    if isinstance(solver, CrowdSolver):
        return _by_crowd(task, solver, watch)
    if isinstance(solver, RankCentrality):
        require_strong(task)
    return Fitted(solver.solve(task.wins, task.votes.n_items))


def _by_profile(task: Task, solver: ProfileSolver, watch: Watcher | None) -> Fitted:
    objective = task.objective()
    require_connected(task)
    require_scale(task, objective)
    choose_prior = task.prior is None
    one_sided = NOBODY
    if task.guard and objective.accuracies_free:
        one_sided = find_one_sided(objective, choose_prior=choose_prior)
        objective = without_cells(objective, one_sided)
    objective, solution = search(objective, solver, choose_prior=choose_prior, watch=watch)
    held = _held(objective, solution.accuracy)
    gauge = gauge_of(objective, solution.accuracy, np.where(held, 0.0, objective.choices_per_judge))
    gauged = in_gauge(solution, gauge)
    remarks = (
        *remarks_on_direction(objective, gauged),
        *remarks_on_held(task, gauged, held),
        *remarks_on_effects(objective, gauged),
    )
    return Fitted(gauged, objective, solution, gauge, held, one_sided, remarks)


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
    if task.prior is None:
        objective, _ = search(objective, ROUGH, choose_prior=True)
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


# --- how sure it is ------------------------------------------------------------------------------


def _check_intervals(task: Task, intervals: Intervals | None, confidence: float) -> None:
    if not (isinstance(confidence, int | float) and 0.0 < confidence < 1.0):
        raise InputError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
    if intervals not in (*get_args(Intervals), None):
        ways = ", ".join(get_args(Intervals))
        raise InputError(f"There are no intervals called {intervals!r}. There are: {ways}.")
    profile = isinstance(task.solver, ProfileSolver)
    if intervals == "sandwich" and not profile:
        raise InputError(
            "The sandwich needs a likelihood at its best, which only the profile solver finds: "
            "leave the solver away, or use intervals='bootstrap' (--intervals bootstrap)."
        )
    if intervals == "bootstrap" and task.model.method not in ("likelihood", "crowd"):
        raise InputError(f"The model {task.model.name!r} has no intervals.")
    if intervals in ("sandwich", "bootstrap") and task.votes.n_items > MOST_DENSE:
        raise InputError(
            f"{intervals} needs the covariance of all {task.votes.n_items:,} items at once, and is "
            f"only for up to {MOST_DENSE:,}: use intervals='information' "
            "(--intervals information)."
        )
    if intervals in ("sandwich", "bootstrap") and task.votes.n_judges < LEAST_JUDGES:
        raise InputError(
            f"{intervals} takes judges as the independent draws, and there are only "
            f"{task.votes.n_judges}: use intervals='information' (--intervals information)."
        )


def _uncertainty(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    watch: Callable[[int, int], None] | None,
) -> Uncertainty | None:
    """Errors of scores and accuracies; None if nothing is known about them."""
    objective, raw, gauge = found.objective, found.raw, found.gauge
    if intervals is None or objective is None:
        return None
    information = None
    if raw is not None and gauge is not None and isinstance(task.solver, ProfileSolver):
        by = by_sandwich if intervals == "sandwich" else by_information
        try:
            wider = widened(objective, raw) if task.prior is None else objective
            information = by(wider, raw, gauge)
        except LinAlgError:
            # The minimum for one prior need not be one for a wider prior.
            try:
                information = by(objective, raw, gauge)
            except LinAlgError:
                return None
    if intervals != "bootstrap":
        return information
    refit = refit_with(task, found, objective)
    return by_bootstrap(refit, task.votes.n_judges, information, watch)


def refit_with(task: Task, found: Fitted, objective: Objective) -> Callable[[Floats], Floats]:
    """Fit again, as before, when each judge's votes count so many times."""
    wins, lists = objective.wins, objective.lists

    def refit(times: Floats) -> Floats:
        weight = wins.weight * np.repeat(times, np.diff(wins.start))
        again = replace(
            objective,
            wins=wins._replace(given_weight=weight),
            lists=lists._replace(weight=lists.weight * times[lists.judge]),
        )
        if isinstance(task.solver, ProfileSolver) and found.raw is not None:
            solution = ROUGH.solve(again, found.raw.state, found.raw.accuracy)
        elif isinstance(task.solver, PaperSolver | CrowdSolver):
            solution = task.solver.solve(again)
        if again.accuracies_free and votes_for(again, solution.score) < 0.0:
            solution = mirrored(solution)
        if found.gauge is None:
            return solution.score
        gauge = gauge_of(again, solution.accuracy, again.choices_per_judge)
        return in_gauge(solution, gauge).score

    return refit


# --- the answer ----------------------------------------------------------------------------------


def answer(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    confidence: float,
    watch_resamples: Callable[[int, int], None] | None = None,
    steps: tuple[Step, ...] = (),
) -> Ranking:
    """Put a fit into words: labels, errors, verdicts, remarks."""
    solution, votes = found.solution, task.votes
    uncertainty = _uncertainty(task, found, intervals, watch_resamples)
    aside = number_in_cells(votes, found.one_sided)
    report = Fit(
        converged=solution.converged,
        iterations=solution.iterations,
        objective=solution.value,
        votes=len(task.votes),
        left_out=task.votes.left_out.total,
        set_aside=aside,
        prior=_scales(found.prior, accuracies_free=task.accuracies_free),
        prior_chosen=task.prior is None,
        lambda0=task.lambda0,
        intervals=None if uncertainty is None else intervals,
        confidence=confidence,
        steps=steps,
        trace=solution.trace,
    )
    judges = judge_columns(
        votes, task.model, task.noise, solution,
        None if intervals is None else _accuracy_errors(task, found, uncertainty),
        allowances(found, votes.n_judges), found.one_sided, confidence,
    )  # fmt: skip
    sure = found.objective is None or direction_is_sure(found.objective, solution)
    ranking = make_ranking(
        votes, task.model, task.noise, solution, report, uncertainty, judges,
        allowances(found, votes.n_judges), found.one_sided, direction_is_sure=sure,
    )  # fmt: skip
    if found.objective is not None:
        effects = effects_frame(
            found.objective.layout, votes, task.noise, solution, uncertainty, confidence
        )
        ranking = replace(ranking, effects=effects)
    doubts = () if uncertainty is None else uncertainty.remarks
    if uncertainty is None and intervals is not None and isinstance(task.solver, ProfileSolver):
        doubts = (NO_ERRORS,)
    remarks = (
        *remarks_on_votes(task), *found.remarks, *remarks_on_judges(ranking.judges, aside),
        *doubts, *((solution.message,) if solution.message else ()),
    )  # fmt: skip
    return replace(ranking, warnings=remarks)


def allowances(found: Fitted, n_judges: int) -> Allowances:
    """What was estimated of ties and sides with each judge."""
    order, tie = np.zeros(n_judges), np.full(n_judges, -np.inf)
    if found.objective is not None and found.raw is not None:
        effects = found.objective.layout.effects(found.raw.state)
        if len(effects.order):
            order += effects.order
        if 2 in effects.sizes:
            tie = np.zeros(n_judges) + effects.tie[:, 0]
    return Allowances(order, tie)


def _accuracy_errors(
    task: Task, found: Fitted, uncertainty: Uncertainty | None
) -> tuple[Floats, Floats] | None:
    """Errors of the accuracies, and those from votes alone; None where nothing is known."""
    if task.model.judges == "reliability" and found.objective is not None:
        alone = reliability_sd(found.objective, found.solution)
        return alone, alone
    if uncertainty is None or not task.accuracies_free:
        return None
    sd = uncertainty.accuracy_sd
    known = sd if found.held is None else np.where(found.held, np.nan, sd)
    return known, uncertainty.own_accuracy_sd


def _scales(prior: Prior, *, accuracies_free: bool) -> tuple[float | None, float | None] | None:
    """The scales of a prior; None for a part that is not there."""
    scales = [
        sd if np.isfinite(sd) else None
        for sd in (prior.score_sd, prior.accuracy_sd if accuracies_free else np.inf)
    ]
    return None if scales == [None, None] else (scales[0], scales[1])
