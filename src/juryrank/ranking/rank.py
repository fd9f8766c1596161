"""`rank`: votes in, a `Ranking` out, and how sure it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.linalg import LinAlgError

from juryrank.errors import InputError, JuryrankWarning
from juryrank.inference.bootstrap import by_bootstrap
from juryrank.inference.covariance import Intervals, Uncertainty, by_information
from juryrank.inference.information import MOST_DENSE
from juryrank.inference.many_votes import blurred, with_tastes
from juryrank.inference.posterior import (
    NormalPosterior,
    Posterior,
    SampledPosterior,
    centred,
)
from juryrank.inference.sampling import BRIEF, WHOLE, Counter
from juryrank.inference.sandwich import by_sandwich
from juryrank.inference.tastes import (
    Orders,
    OutlyingTaste,
    orders_of,
    outlying_tastes,
)
from juryrank.judging.cells import number_in_cells
from juryrank.judging.one_sided import LEAST_JUDGES
from juryrank.judging.position import Allowances, Positions, positions
from juryrank.judging.verdicts import RELIABLE, Observed, Standing, judge_columns, normal_standing
from juryrank.model.effects import NO_EFFECTS
from juryrank.model.noise import Noise
from juryrank.model.prior import Prior
from juryrank.model.registry import DEFAULT_MODEL
from juryrank.ranking.by_value import Rankings, rank_each
from juryrank.ranking.cautions import (
    FEW_JUDGES,
    direction_is_sure,
    many_judges_disagree,
    remarks_on_judges,
    remarks_on_voices,
    remarks_on_votes,
)
from juryrank.ranking.expected_time import long_work
from juryrank.ranking.fit import Fitted, fit, refit_with
from juryrank.ranking.ranking import Fit, Ranking, effects_frame, make_ranking
from juryrank.ranking.request import (
    Order,
    PriorChoice,
    Solver,
    Task,
    Ties,
    task_of,
)
from juryrank.reading import as_votes, votes_by
from juryrank.solvers.crowd import reliability_sd
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.search import on_many_items
from juryrank.solvers.solution import Step, Watcher
from juryrank.threads import one_blas_thread
from juryrank.types import Floats
from juryrank.votes.votes import ByValue, Votes

ONE_SD = 0.6826894921370859
"""The chance to be within a standard deviation of the mean of a normal distribution."""
TINY = 1e-300
DISAGREEMENT = 0.15
"""The chance that many judges disagree with the ranking from which on that is said."""
NO_ERRORS = (
    "The errors of the answer could not be computed: the objective is flat around it. "
    "A prior helps: prior='auto' (--prior auto)."
)


class RankOptions(TypedDict, total=False):
    """The keywords of `rank`, but for `by`."""

    noise: str | Noise | None
    prior: PriorChoice
    lambda0: float
    solver: Solver
    guard: bool
    tastes: bool | None
    ties: Ties | None
    order: Order
    intervals: Intervals | None
    confidence: float
    threads: int | None
    watch: Watcher | None
    watch_draws: Counter | None
    watch_resamples: Counter | None
    watch_steps: Callable[[str], None] | None


@overload
def rank(
    votes: Votes | object,
    model: str = ...,
    *,
    by: None = None,
    **options: Unpack[RankOptions],
) -> Ranking: ...


@overload
def rank(
    votes: Votes | object,
    model: str = ...,
    *,
    by: str,
    **options: Unpack[RankOptions],
) -> Rankings: ...


def rank(
    votes: Votes | object,
    model: str = DEFAULT_MODEL,
    *,
    by: str | None = None,
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
) -> Ranking | Rankings:
    """Rank the items, and say how accurate each judge is.

    Args:
        votes: `Votes`, or a data frame that `votes_from` can read.
        model: One of `juryrank.model.registry.MODELS`.
        by: A column each value of which is ranked apart, with judges of its own. `Votes` must have
            been read with the same `by`; data frames need not.
        noise: For the model ``htm``: a family's name, or your own from `noise_from_log_density`.
        prior: "auto" (scales chosen by the data), None (maximum likelihood), or the standard
            deviations of scores and accuracies.
        lambda0: Weight of the paper's virtual node; it takes the place of the scores' prior.
        solver: "profile" (fast), "paper" (Algorithm 1), or one of these with settings.
        guard: Let accounts that speak with one voice count as one judge and, where judges have no
            tastes but accuracies of their own, set aside votes with which a judge pushes a single
            item (profile solver); False lets all votes count.
        tastes: Whether judges may have tastes, likings for single items of their own, whose size
            the data tell; None for hbtl, htcv and htm, False for the plain model of the paper.
        ties: None (an outcome of its own where a model can, with a weight for each judge if the
            data say that they differ; in a ranking, tied items count as one); "davidson" (one
            weight; in a ranking, by Davidson-Luce), "davidson-by-judge" (a weight for each judge),
            or "half" (half a win for each; in a ranking, every order of the tied items counts
            alike).
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
        A `Ranking`, or `Rankings` with one for each value of `by`; everything worth knowing stands
        in `warnings`, which are also issued as `JuryrankWarning`. One more is issued before the
        work begins if that is expected to take more than a minute.
    """
    given = dict(locals())
    if by is not None:
        return _rank_apart(votes_by(votes, by), given)
    of_mode = intervals not in ("posterior", None)
    task = task_of(
        as_votes(votes), model, noise, prior, lambda0, solver, guard=guard,
        tastes=_tastes_asked_for(tastes, intervals), ties=ties, order=order, threads=threads,
    )  # fmt: skip
    _check_intervals(task, intervals, confidence)
    if said := long_work(task.votes.lists, task.noise.name):
        warnings.warn(said, JuryrankWarning, stacklevel=2)
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


def _rank_apart(votes: ByValue, given: dict[str, Any]) -> Rankings:
    """Rank each value of a column, with the other arguments of `rank` as they are given."""
    options = {name: value for name, value in given.items() if name not in ("votes", "by")}
    say = options["watch_steps"]

    def fit_one(what: str, own: Votes) -> Ranking:
        if say:
            say(what)
        return rank(own, by=None, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)  # they come with their values below
        rankings = rank_each(votes, fit_one, _call(given))
    for remark in rankings.warnings:
        warnings.warn(remark, JuryrankWarning, stacklevel=3)
    return rankings


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
            "omit the solver, or use intervals='bootstrap' (--intervals bootstrap)."
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
    solution, votes, groups = found.solution, task.votes, task.connection.groups
    posterior = _posterior(task, found, intervals, watch_resamples)
    if len(groups) > 1 and task.model.method in ("likelihood", "crowd"):
        solution = replace(solution, score=centred(solution.score, groups))
        posterior = None if posterior is None else posterior.within(groups)
    told = None if intervals is None else posterior
    aside = found.set_aside
    report = _fit_report(task, found, posterior, intervals, confidence, steps)
    observed = _observed(task, found, told, confidence)
    standing = None if intervals is None else _standing(task, found, told, confidence)
    judges = judge_columns(votes, task.model, standing, observed, confidence)
    sure = not observed.orientation_in_doubt and (
        found.is_sampled or found.objective is None or direction_is_sure(found.objective, solution)
    )
    ranking = make_ranking(
        votes, task.model, task.noise, solution, report, posterior, judges,
        allowances(found, votes.n_judges), aside,
        NO_EFFECTS if found.objective is None else found.objective.effects, groups,
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
        *_remarks_on_orientation(found, observed, posterior),
        *remarks_on_voices(votes, found.voices),
        *remarks_on_judges(ranking.judges, report.set_aside),
        *doubts, *((solution.message,) if solution.message else ()),
    )  # fmt: skip
    return replace(ranking, warnings=remarks)


def _observed(
    task: Task, found: Fitted, posterior: Posterior | None, confidence: float
) -> Observed:
    """What is noticed of the judges beside their accuracies."""
    in_doubt = False
    if posterior is not None and task.accuracies_free and task.votes.n_judges >= FEW_JUDGES:
        in_doubt = posterior.many_disagree >= DISAGREEMENT
    tastes: tuple[OutlyingTaste, ...] = ()
    orders: Orders | None = None
    objective, sample = found.objective, found.sample
    if posterior is not None and found.is_sampled and objective is not None and sample is not None:
        tastes = outlying_tastes(sample, task.votes, on_many_items(objective), confidence)
        orders = orders_of(sample, confidence)
    return Observed(tastes, orders, found.set_aside, found.voices, in_doubt, leans(task, found))


def leans(task: Task, found: Fitted) -> Positions | None:
    """How judges' votes lean to a side, beyond what items explain whose tastes are not known."""
    if task.model.judges != "accuracy":
        return None
    seen = found.solution
    if found.taste_sd is not None:
        seen = replace(seen, accuracy=blurred(seen.accuracy, task.noise, found.taste_sd))
    return positions(task.votes, task.noise, seen, allowances(found, task.votes.n_judges))


def _remarks_on_orientation(
    found: Fitted, observed: Observed, posterior: Posterior | None
) -> tuple[str, ...]:
    """Whether the ranking follows a minority of the judges."""
    close_call = found.is_sampled and found.sample is not None and found.sample.is_close_call
    if not observed.orientation_in_doubt or posterior is None or close_call:
        return ()
    return (many_judges_disagree(posterior.many_disagree),)


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
        accounts_as_one=sum(len(voice.judges) for voice in found.voices),
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
        weight=_other_weight(task.votes),
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


def _other_weight(votes: Votes) -> float | None:
    """The total weight, where it is not just the number of votes."""
    weight = float(votes.weight.sum() + votes.lists.weight.sum())
    return None if np.isclose(weight, len(votes), rtol=1e-12) else weight


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
        return normal_standing(value, alone, alone, confidence)
    if posterior is None or not task.accuracies_free:
        return None
    low, high = posterior.accuracy_interval(confidence)
    return Standing(
        value, low, high, posterior.accuracy_sd, _own_accuracy_sd(found, posterior),
        posterior.accuracy_below(0.0), posterior.accuracy_below(RELIABLE),
    )  # fmt: skip


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
