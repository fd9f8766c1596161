"""`rank`: votes in, a `Ranking` out, and how sure it is."""

from __future__ import annotations

import warnings
from dataclasses import replace
from inspect import signature
from typing import Any, TypedDict, Unpack, get_args, overload

import numpy as np

from juryrank.errors import InputError, JuryrankWarning
from juryrank.inference.covariance import (
    Intervals,
)
from juryrank.inference.information import MOST_DENSE
from juryrank.inference.many_votes import blurred
from juryrank.inference.posterior import (
    NormalPosterior,
    Posterior,
    centred,
)
from juryrank.inference.sampling import (
    BRIEF,
    WHOLE,
)
from juryrank.judging.one_sided import (
    LEAST_JUDGES,
    number_in_cells,
)
from juryrank.judging.position import Positions, positions
from juryrank.judging.verdicts import Observed, judge_columns
from juryrank.model.effects import Layout
from juryrank.model.noise import Noise
from juryrank.model.objective import Prior
from juryrank.model.registry import DEFAULT_MODEL
from juryrank.progress import Progress, Watcher
from juryrank.ranking.by_value import Rankings, rank_each
from juryrank.ranking.cautions import (
    FEW_JUDGES,
    many_judges_disagree,
    remarks_on_judges,
    remarks_on_voices,
    remarks_on_votes,
)
from juryrank.ranking.expected_time import long_work
from juryrank.ranking.fitted import Fitted
from juryrank.ranking.older_watchers import OfCount, OfFit, OfStep, step_of, watcher_of
from juryrank.ranking.ranking import Fit, Ranking, effects_frame, make_ranking
from juryrank.ranking.request import Order, PriorChoice, Solver, Ties, task_of
from juryrank.ranking.task import Task
from juryrank.reading import as_votes, votes_by
from juryrank.solvers.solution import Step
from juryrank.threads import one_blas_thread
from juryrank.votes.votes import ByValue, Votes

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
    progress: Watcher | None
    watch: OfFit | None
    watch_draws: OfCount | None
    watch_resamples: OfCount | None
    watch_steps: OfStep | None


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
    progress: Watcher | None = None,
    watch: OfFit | None = None,
    watch_draws: OfCount | None = None,
    watch_resamples: OfCount | None = None,
    watch_steps: OfStep | None = None,
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
        progress: Called with a `Progress` event again and again: which stage the work is at, and
            how much of it is done.
        watch: An older name: called with (evaluation, objective, size of the gradient) while
            fitting.
        watch_draws: An older name: called with (done, in all) while the posterior is sampled.
        watch_resamples: An older name: called with (done, in all) during the bootstrap.
        watch_steps: An older name: called with what comes next, where that can take a while.

    Returns:
        A `Ranking`, or `Rankings` with one for each value of `by`; everything worth knowing stands
        in `warnings`, which are also issued as `JuryrankWarning`. One more is issued before the
        work begins if that is expected to take more than a minute.
    """
    given = dict(locals())
    tell = watcher_of(progress, watch, watch_draws, watch_resamples, watch_steps)
    if by is not None:
        return _rank_apart(votes_by(votes, by), given, tell)
    task = task_of(
        as_votes(votes), model, noise, prior, lambda0, solver, guard=guard,
        tastes=_tastes_asked_for(tastes, intervals), ties=ties, order=order,
        of_mode=intervals not in ("posterior", None),
        length=BRIEF if intervals is None else WHOLE, threads=threads,
    )  # fmt: skip
    _check_intervals(task, intervals, confidence)
    if said := long_work(task.votes.lists, task.noise.name):
        warnings.warn(said, JuryrankWarning, stacklevel=2)
    steps: list[Step] = []
    with one_blas_thread():
        found = task.method.fit(task, _noting(steps, tell))
        if intervals is not None:
            tell(Progress("errors", "Working out how sure the answer is"))
        ranking = answer(task, found, intervals, confidence, tell, tuple(steps))
    for remark in ranking.warnings:
        warnings.warn(remark, JuryrankWarning, stacklevel=2)
    return replace(ranking, call=_call(given))


def _rank_apart(votes: ByValue, given: dict[str, Any], tell: Watcher) -> Rankings:
    """Rank each value of a column, with the other arguments of `rank` as they are given."""
    options = {
        name: value
        for name, value in given.items()
        if name not in ("votes", "by", "progress") and not name.startswith("watch")
    }

    def fit_one(what: str, own: Votes) -> Ranking:
        tell(Progress("value", what))
        return rank(own, by=None, progress=tell, **options)

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
        if name not in ("votes", "threads", "progress") and not name.startswith("watch")
    }
    asked = [f"{name}={given[name]!r}" for name in decisive if given[name] != decisive[name]]
    return f"jr.rank({', '.join(['votes', *asked])})"


def _noting(steps: list[Step], tell: Watcher) -> Watcher:
    """Keep what is told of the fit."""

    def note(event: Progress) -> None:
        if event.stage == "fitting":
            steps.append(step_of(event))
        tell(event)

    return note


# --- how sure it is ------------------------------------------------------------------------------


def _check_intervals(task: Task, intervals: Intervals | None, confidence: float) -> None:
    if not (isinstance(confidence, int | float) and 0.0 < confidence < 1.0):
        raise InputError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
    if intervals not in (*get_args(Intervals), None):
        ways = ", ".join(get_args(Intervals))
        raise InputError(f"There are no intervals called {intervals!r}. There are: {ways}.")
    if intervals == "sandwich" and not task.method.finds_optimum:
        raise InputError(
            "The sandwich needs a likelihood at its best, which only the profile solver finds: "
            "omit the solver, or use intervals='bootstrap' (--intervals bootstrap)."
        )
    if intervals == "bootstrap" and not task.model.intervals:
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


# --- the answer ----------------------------------------------------------------------------------


def answer(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    confidence: float,
    watch: Watcher | None = None,
    steps: tuple[Step, ...] = (),
) -> Ranking:
    """Put a fit into words: labels, errors, verdicts, remarks."""
    solution, votes, groups = found.solution, task.votes, task.connection.groups
    posterior = found.posterior(intervals, watch)
    if len(groups) > 1 and task.model.odds:
        solution = replace(solution, score=centred(solution.score, groups))
        posterior = None if posterior is None else posterior.within(groups)
    told = None if intervals is None else posterior
    aside = found.set_aside
    report = _fit_report(task, found, posterior, intervals, confidence, steps)
    observed = _observed(task, found, told, confidence)
    standing = None if intervals is None else found.standing(told, confidence)
    judges = judge_columns(votes, task.model, standing, observed, confidence)
    sure = not observed.orientation_in_doubt and found.direction_is_sure(solution)
    ranking = make_ranking(
        votes, task.model, task.noise, solution, report, posterior, judges,
        found.allowances(), aside, found.effects, groups,
        direction_is_sure=sure, with_intervals=intervals is not None,
    )  # fmt: skip
    layout = Layout(found.effects, votes.n_items, votes.n_judges)
    effects = effects_frame(layout, votes, task.noise, solution, told, confidence)
    ranking = replace(ranking, effects=effects)
    doubts: tuple[str, ...] = ()
    if isinstance(posterior, NormalPosterior):
        doubts = posterior.uncertainty.remarks
    if posterior is None and intervals is not None and task.method.finds_optimum:
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
    tastes, orders = ((), None) if posterior is None else found.opinions(task.votes, confidence)
    return Observed(tastes, orders, found.set_aside, found.voices, in_doubt, leans(task, found))


def leans(task: Task, found: Fitted) -> Positions | None:
    """How judges' votes lean to a side, beyond what items explain whose tastes are not known."""
    if not task.model.has_accuracies:
        return None
    seen, taste = found.solution, found.typical_taste
    if taste is not None:
        seen = replace(seen, accuracy=blurred(seen.accuracy, task.noise, taste))
    return positions(task.votes, task.noise, seen, found.allowances())


def _remarks_on_orientation(
    found: Fitted, observed: Observed, posterior: Posterior | None
) -> tuple[str, ...]:
    """Whether the ranking follows a minority of the judges."""
    close_call = found.draws is not None and found.draws.is_close_call
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
    solution, sampled = found.solution, found.draws
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
        taste_sd=found.typical_taste,
        widening=found.widening(posterior),
        largest_share=_largest_share(task.votes),
        weight=_other_weight(task.votes),
        steps=steps,
        trace=solution.trace,
    )


def _other_weight(votes: Votes) -> float | None:
    """The total weight, where it is not just the number of votes."""
    weight = float(votes.weight.sum() + votes.lists.weight.sum())
    return None if np.isclose(weight, len(votes), rtol=1e-12) else weight


def _largest_share(votes: Votes) -> float | None:
    count = votes.votes_per_judge
    return round(float(count.max() / count.sum()), 4) if len(count) > 1 else None


def _scales(prior: Prior, *, accuracies_free: bool) -> tuple[float | None, float | None] | None:
    """The scales of a prior; None for a part that is not there."""
    scales = [
        sd if np.isfinite(sd) else None
        for sd in (prior.score_sd, prior.accuracy_sd if accuracies_free else np.inf)
    ]
    return None if scales == [None, None] else (scales[0], scales[1])
