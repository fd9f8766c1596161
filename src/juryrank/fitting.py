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
from juryrank.effects import NO_EFFECTS
from juryrank.errors import InputError, JuryrankWarning
from juryrank.guard import (
    LEAST_JUDGES,
    NOBODY,
    OneSided,
    find_one_sided,
    number_in_cells,
    without_cells,
)
from juryrank.inference.large import (
    Attenuation,
    TasteNoise,
    attenuation,
    reweighted,
    taste_noise,
    with_tastes,
)
from juryrank.inference.opinions import merged
from juryrank.inference.posterior import (
    NormalPosterior,
    Posterior,
    SampledPosterior,
    half_width,
    shared_by_equals,
)
from juryrank.inference.sampling import (
    BRIEF,
    WHOLE,
    Counter,
    Length,
    Sample,
    robust_gauge,
    sample,
    turned_upright,
)
from juryrank.inference.scales import can_be_sampled, prior_of, sampled_part, volume_of
from juryrank.information import MOST_DENSE
from juryrank.models import DEFAULT_MODEL
from juryrank.noise import Noise
from juryrank.objective import LARGEST_ACCURACY, NO_PRIOR, Objective, Prior
from juryrank.ranking import Fit, Ranking, effects_frame, make_ranking
from juryrank.reading import as_votes
from juryrank.remarks import (
    direction_is_sure,
    not_settled,
    remarks_on_direction,
    remarks_on_effects,
    remarks_on_held,
    remarks_on_judges,
    remarks_on_jury,
    remarks_on_sample,
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
)
from juryrank.verdicts import Allowances, Standing, judge_columns
from juryrank.votes import Votes

ONE_SD = 0.6826894921370859
"""The chance to be within a standard deviation of the mean of a normal distribution."""
TINY = 1e-300
TASTES_LEFT_OUT = (
    "These rankings are too many to sample how judges differ in taste, so the intervals say how "
    "these judges see it, not what another jury would say."
)
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
    tastes: bool | None = None,
    ties: Ties | None = None,
    order: Order = "none",
    intervals: Intervals | None = "posterior",
    confidence: float = 0.95,
    threads: int | None = None,
    watch: Watcher | None = None,
    watch_draws: Counter | None = None,
    watch_resamples: Counter | None = None,
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
        guard: Where judges have no tastes but accuracies of their own (profile solver): set aside
            votes with which a judge pushes a single item; False lets them count.
        tastes: Whether judges may have tastes, likings for single items of their own, whose size
            the data tell; None for hbtl, htcv and htm, False for the plain model of the paper.
        ties: "davidson" (an outcome of its own, whose weight is estimated; what None means where
            a model can), "davidson-by-judge" (some judges tie more readily), or "half" (half a win
            for each; in a ranking, every order of the tied items counts alike).
        order: Whether the left side has an advantage, to be estimated: "none", "common", or
            "by-judge", a common one and what sets each judge apart, shrunk.
        intervals: "posterior", read off the posterior as everything else; or the best fit of the
            plain model with errors from its curvature ("information"), or with judges instead of
            votes as the independent draws ("sandwich", "bootstrap"); None for none.
        confidence: The chance with which each interval should contain the truth.
        threads: How many threads to use; None for all cores. The answer is the same.
        watch: Called with (evaluation, objective, size of the gradient) while fitting.
        watch_draws: Called with (done, in all) while the posterior is sampled.
        watch_resamples: Called with (done, in all) during the bootstrap.
        watch_steps: Called with what comes next, where that can take a while.

    Returns:
        A `Ranking`; everything worth knowing about it stands in its `warnings`, which are also
        issued as `JuryrankWarning`.
    """
    given = dict(locals())
    of_mode = intervals not in ("posterior", None)
    task = task_of(
        as_votes(votes), model, noise, prior, lambda0, solver, guard=guard,
        tastes=_tastes_asked_for(tastes, intervals), ties=ties, order=order, threads=threads,
    )  # fmt: skip
    _check_intervals(task, intervals, confidence)
    steps: list[Step] = []
    with one_blas_thread():
        length = BRIEF if intervals is None else WHOLE
        found = fit(task, _noting(steps, watch), watch_draws, of_mode=of_mode, length=length)
        if watch_steps and intervals is not None:
            watch_steps("Working out how sure the answer is")
        ranking = answer(task, found, intervals, confidence, watch_resamples, tuple(steps))
    for remark in ranking.warnings:
        warnings.warn(remark, JuryrankWarning, stacklevel=2)
    return replace(ranking, call=_call(given))


def _tastes_asked_for(tastes: bool | None, intervals: Intervals | None) -> bool | None:
    """Whether judges may have tastes, which only the posterior knows."""
    if intervals in ("posterior", None):
        return tastes
    if tastes:
        raise InputError(
            f"intervals={intervals!r} are those of the plain model, and tastes=True was asked for: "
            "omit the intervals to read everything off the posterior, or the tastes."
        )
    return False


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
    """The best fit of the plain model, in the objective's own scale."""
    gauge: Gauge | None = None
    held: NDArray[np.bool_] | None = None
    """Which accuracies have no finite estimate."""
    one_sided: OneSided = NOBODY
    """Judges and items whose votes do not go together,"""
    is_set_aside: bool = True
    """and whether they do not count."""
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
    def set_aside(self) -> OneSided:
        """Judges and items whose votes do not count."""
        return self.one_sided if self.is_set_aside else NOBODY

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
    return Fitted(solver.solve(task.wins, task.votes.n_items))


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
    is_sampled = task.chooses_scales and not of_mode and can_be_sampled(objective)
    if is_sampled:
        objective = replace(objective, wins=merged(objective.wins))
    found = None
    if task.chooses_scales and not is_sampled:
        found = sampled_part(objective, tastes=task.tastes)
        objective = replace(objective, prior=prior_of(found, objective))
    one_sided = NOBODY
    if task.guard and objective.accuracies_free:
        one_sided = find_one_sided(objective)
    guarded = without_cells(objective, one_sided)
    if guarded.layout.size != objective.layout.size:  # some size of ties is gone with these votes
        guarded = objective
    if is_sampled:
        # Outlying tastes need not be set aside, but they must not decide where to start.
        start = search(guarded, ROUGH, watch)
        kept = objective if task.tastes else guarded
        return _by_sampling(task, kept, solver, start, one_sided, length, watch_draws)
    objective = guarded
    solution = search(objective, solver, watch)
    if found is not None:
        return _near_the_mode(task, objective, solver, solution, one_sided, found)
    held = _held(objective, solution.accuracy)
    gauge = gauge_of(objective, solution.accuracy, np.where(held, 0.0, objective.choices_per_judge))
    gauged = in_gauge(solution, gauge)
    remarks = (
        *remarks_on_direction(objective, gauged),
        *remarks_on_held(task, gauged, held),
        *remarks_on_effects(objective, gauged),
    )
    return Fitted(gauged, objective, solution, gauge, held, one_sided, remarks=remarks)


def _near_the_mode(
    task: Task,
    objective: Objective,
    solver: ProfileSolver,
    solution: Solution,
    one_sided: OneSided,
    found: Sample,
) -> Fitted:
    """The best fit with the scales of a sample, its gauge balanced, and what tastes do to it."""
    objective = replace(objective, volume=volume_of(objective, solution.state, solution.accuracy))
    solution = solver.solve(objective, solution.state, solution.accuracy)
    counts = objective.choices_per_judge
    gauge, noise = robust_gauge(objective, solution.accuracy, counts), None
    remarks: tuple[str, ...] = ()
    if found.has_tastes and objective.lists.number:
        remarks = (TASTES_LEFT_OUT,)
    elif found.has_tastes:
        noise = taste_noise(objective, solution, found.typical_taste / gauge.scale)
    if noise is not None and noise.is_uneven and not objective.is_mapped:
        objective = reweighted(objective, noise.weight)
        solution = solver.solve(objective, solution.state, solution.accuracy)
        gauge = robust_gauge(objective, solution.accuracy, counts)
    size, lost = None, None
    if found.has_tastes:
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
        gauged, objective, solution, gauge, None, one_sided, True, remarks, found,
        taste_sd=size, noise=noise, lost=lost,
    )  # fmt: skip


def _by_sampling(
    task: Task,
    objective: Objective,
    solver: ProfileSolver,
    start: Solution,
    one_sided: OneSided,
    length: Length,
    watch: Counter | None,
) -> Fitted:
    """The posterior of all votes, and the best fit with its scales."""
    found = sample(objective, start, tastes=task.tastes, length=length, watch=watch)
    objective = replace(objective, prior=prior_of(found, objective))
    raw = solver.solve(objective, start.state, start.accuracy)
    gauge = robust_gauge(objective, raw.accuracy, objective.choices_per_judge)
    found = turned_upright(found, raw.accuracy)
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
        solution, objective, raw, gauge, None, one_sided, not found.has_tastes, remarks, found,
        is_sampled=True, taste_sd=found.typical_taste if found.has_tastes else None,
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


def _posterior(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    watch: Counter | None,
) -> Posterior | None:
    """What is known after the votes; None if nothing is known of errors."""
    solution = found.solution
    if found.sample is not None and found.is_sampled:
        return SampledPosterior(found.sample, solution.score, solution.accuracy)
    uncertainty = None if intervals is None else _uncertainty(task, found, intervals, watch)
    if uncertainty is None:
        return None
    return NormalPosterior(
        uncertainty, solution.score, solution.accuracy, solution.effects, found.held
    )


def _uncertainty(
    task: Task, found: Fitted, intervals: Intervals, watch: Counter | None
) -> Uncertainty | None:
    """Errors of scores and accuracies around the best fit; None if nothing is known about them."""
    objective, raw, gauge = found.objective, found.raw, found.gauge
    if objective is None:
        return None
    information = None
    if raw is not None and gauge is not None and isinstance(task.solver, ProfileSolver):
        by = by_sandwich if intervals == "sandwich" else by_information
        try:
            information = by(objective, raw, gauge)
            if found.noise is not None:
                information = with_tastes(information, objective, raw, gauge, found.noise)
            if found.lost is not None:
                stretched = found.lost.factor * found.lost.slope * information.accuracy_sd
                information = replace(information, accuracy_sd=stretched)
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
        counts = again.choices_per_judge
        by = robust_gauge if task.chooses_scales else gauge_of
        return in_gauge(solution, by(again, solution.accuracy, counts)).score

    return refit


# --- the answer ----------------------------------------------------------------------------------


def answer(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    confidence: float,
    watch_resamples: Counter | None = None,
    steps: tuple[Step, ...] = (),
) -> Ranking:
    """Put a fit into words: labels, errors, verdicts, remarks."""
    solution, votes = found.solution, task.votes
    posterior = _posterior(task, found, intervals, watch_resamples)
    told = None if intervals is None else posterior
    aside = found.set_aside
    report = _fit_report(task, found, posterior, intervals, confidence, steps)
    judges = judge_columns(
        votes, task.model, task.noise, solution,
        None if intervals is None else _standing(task, found, told, confidence),
        allowances(found, votes.n_judges), found.one_sided, confidence,
    )  # fmt: skip
    sure = found.is_sampled or found.objective is None or direction_is_sure(
        found.objective, solution
    )  # fmt: skip
    ranking = make_ranking(
        votes, task.model, task.noise, solution, report, posterior, judges,
        allowances(found, votes.n_judges), aside,
        NO_EFFECTS if found.objective is None else found.objective.effects,
        direction_is_sure=sure, with_intervals=intervals is not None,
    )  # fmt: skip
    if found.objective is not None:
        layout = found.objective.layout
        effects = effects_frame(layout, votes, task.noise, solution, told, confidence)
        ranking = replace(ranking, effects=effects)
    doubts: tuple[str, ...] = ()
    if isinstance(posterior, NormalPosterior):
        doubts = posterior.uncertainty.remarks
    if posterior is None and intervals is not None and isinstance(task.solver, ProfileSolver):
        doubts = (NO_ERRORS,)
    remarks = (
        *remarks_on_votes(task), *found.remarks,
        *remarks_on_judges(ranking.judges, report.set_aside),
        *doubts, *((solution.message,) if solution.message else ()),
    )  # fmt: skip
    return replace(ranking, warnings=remarks)


def _fit_report(
    task: Task,
    found: Fitted,
    posterior: Posterior | None,
    intervals: Intervals | None,
    confidence: float,
    steps: tuple[Step, ...],
) -> Fit:
    solution, sampled = found.solution, found.sample if found.is_sampled else None
    told = None if posterior is None or intervals is None else intervals
    if told == "posterior" and not task.chooses_scales:
        told = "information"
    return Fit(
        converged=solution.converged,
        iterations=solution.iterations,
        objective=solution.value,
        votes=len(task.votes),
        left_out=task.votes.left_out.total,
        set_aside=number_in_cells(task.votes, found.set_aside),
        prior=_scales(found.prior, accuracies_free=task.accuracies_free),
        prior_chosen=task.prior is None,
        lambda0=task.lambda0,
        intervals=told,
        confidence=confidence,
        posterior=None if posterior is None else posterior.kind,
        draws=None if sampled is None else len(sampled.score),
        effective_draws=None if sampled is None else round(sampled.effective, 1),
        taste_sd=found.taste_sd,
        widening=_widening(found, posterior),
        largest_share=_largest_share(task.votes),
        steps=steps,
        trace=solution.trace,
    )


def _widening(found: Fitted, posterior: Posterior | None) -> float | None:
    """How much wider the intervals are than from the curvature of the plain model."""
    objective, raw, gauge = found.objective, found.raw, found.gauge
    if posterior is None or not (found.is_sampled or found.noise is not None):
        return None
    if found.taste_sd is None or objective is None or raw is None or gauge is None:
        return None
    if objective.n_items > MOST_DENSE:
        return None
    try:
        plain = by_information(objective, raw, gauge)
    except LinAlgError:
        return None
    low, high = posterior.score_interval(ONE_SD)
    width = np.sqrt(np.maximum(plain.score_variance, TINY))
    return round(float(np.median(0.5 * (high - low) / width)), 3)


def _largest_share(votes: Votes) -> float | None:
    count = votes.votes_per_judge
    return round(float(count.max() / count.sum()), 4) if len(count) > 1 else None


def allowances(found: Fitted, n_judges: int) -> Allowances:
    """What was estimated of ties and sides with each judge."""
    order, tie = np.zeros(n_judges), np.full(n_judges, -np.inf)
    if found.objective is not None and found.raw is not None:
        effects = found.objective.layout.effects(found.solution.state)
        if len(effects.order):
            order += effects.order
        if 2 in effects.sizes:
            tie = np.zeros(n_judges) + effects.tie[:, 0]
    return Allowances(order, tie)


def _standing(
    task: Task, found: Fitted, posterior: Posterior | None, confidence: float
) -> Standing | None:
    """How sure the accuracies are; None where nothing is known."""
    value, objective = found.solution.accuracy, found.objective
    if task.model.judges == "reliability" and objective is not None:
        alone = reliability_sd(objective, found.solution)
        half = half_width(confidence) * alone
        return Standing(value, value - half, value + half, alone, alone)
    if posterior is None or not task.accuracies_free:
        return None
    low, high = posterior.accuracy_interval(confidence)
    return Standing(value, low, high, posterior.accuracy_sd, _own_accuracy_sd(found, posterior))


def _own_accuracy_sd(found: Fitted, posterior: Posterior) -> Floats:
    """Errors of the accuracies from the judges' votes alone: no prior, the scores held."""
    if isinstance(posterior, NormalPosterior):
        return posterior.uncertainty.own_accuracy_sd
    objective, raw, gauge = found.objective, found.raw, found.gauge
    if objective is None or raw is None or gauge is None:
        return np.full(len(found.solution.accuracy), np.inf)
    bend = objective.curvature(raw.state, raw.accuracy).accuracy
    own = np.maximum(bend - objective.prior.accuracy_precision, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / (gauge.scale * np.sqrt(own)))


def _scales(prior: Prior, *, accuracies_free: bool) -> tuple[float | None, float | None] | None:
    """The scales of a prior; None for a part that is not there."""
    scales = [
        sd if np.isfinite(sd) else None
        for sd in (prior.score_sd, prior.accuracy_sd if accuracies_free else np.inf)
    ]
    return None if scales == [None, None] else (scales[0], scales[1])
