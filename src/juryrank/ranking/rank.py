"""`rank`: votes in, a `Ranking` out, and how sure it is."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any, TypedDict, Unpack, get_args, overload

from juryrank.cluster.possible import Cluster, check_possible
from juryrank.cluster.scanned import ScannedVotes
from juryrank.errors import InputError, JuryrankWarning
from juryrank.inference.covariance import Intervals
from juryrank.inference.information import MOST_DENSE
from juryrank.inference.prior_scales import MOST_SAMPLED
from juryrank.inference.sampling import BRIEF, WHOLE
from juryrank.judging.one_sided import LEAST_JUDGES
from juryrank.model.noise import Noise
from juryrank.model.registry import DEFAULT_MODEL
from juryrank.progress import Progress, Watcher
from juryrank.ranking.answer import answer
from juryrank.ranking.by_value import Rankings, rank_each
from juryrank.ranking.cautions import issue
from juryrank.ranking.checkpoint import resumable
from juryrank.ranking.expected_time import long_work
from juryrank.ranking.older_progress import OfCount, OfFit, OfStep, step_of, watcher_of
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.request import Order, PriorChoice, Solver, Ties, task_of
from juryrank.ranking.task import Task
from juryrank.reading import as_votes, votes_by
from juryrank.solvers.solution import Step
from juryrank.threads import one_blas_thread
from juryrank.votes.votes import ByValue, Votes


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
    cluster: Cluster
    resume: str | os.PathLike[str] | None
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
    cluster: Cluster = None,
    resume: str | os.PathLike[str] | None = None,
    watch: OfFit | None = None,
    watch_draws: OfCount | None = None,
    watch_resamples: OfCount | None = None,
    watch_steps: OfStep | None = None,
) -> Ranking | Rankings:
    """Rank the items, and say how accurate each judge is.

    Args:
        votes: `Votes`; or the path of a file that `read_votes` can read, or a data frame that
            `votes_from` can read, without further arguments. With a cluster: what `scan_votes`
            gives, or a path that it can scan.
        model: One of `juryrank.MODELS`.
        by: A column each value of which is ranked apart, with judges of its own. `Votes` must have
            been read with the same `by`; files and data frames need not.
        noise: For the model ``htm``: a family's name, or your own from `noise_from_log_density`.
        prior: "auto" (scales chosen by the data), None (maximum likelihood), or the standard
            deviations of scores and accuracies, as two numbers or a `Prior`.
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
        cluster: A client of Dask, or the address of a scheduler, such as
            ``"tcp://scheduler:8786"``, or ``"local:8"`` for eight processes on this machine. The
            answer is the same, whatever the number of workers; what cannot be had on a cluster is
            an error.
        resume: A file that keeps, every few seconds, how far the fit is. If it is there already,
            from a call with the same votes and options that was stopped, the fit goes on from where
            that was, to the same answer; it is removed when the answer is there. For long fits by
            the profile solver.
        watch: An older name: called with (evaluation, objective, size of the gradient) while
            fitting.
        watch_draws: An older name: called with (done, in all) while the posterior is sampled.
        watch_resamples: An older name: called with (done, in all) during the bootstrap.
        watch_steps: An older name: called with what comes next, where that can take a while.

    Returns:
        A `Ranking`, or `Rankings` with one for each value of `by`; everything worth knowing stands
        in `warnings`, which are also issued as `JuryrankWarning` (as `ConvergenceWarning` if the
        solver or the sampler stopped early). One more is issued before the work begins if that is
        expected to take more than a minute.
    """
    given = dict(locals())
    tell = watcher_of(progress, watch, watch_draws, watch_resamples, watch_steps)
    if cluster is not None or isinstance(votes, ScannedVotes):
        return _rank_on(given, tell)
    if by is not None and resume is not None:
        raise InputError(
            "resume (--resume) keeps a single fit, and by (--by) makes one for each value: omit "
            "one of the two."
        )
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
    with one_blas_thread(), resumable(task, resume) as task:
        found = task.method.fit(task, _noting(steps, tell))
        if intervals is not None:
            tell(Progress("errors", "Working out how sure the answer is"))
        ranking = answer(
            task, found, intervals, confidence, tell, steps=tuple(steps), call=_call(given)
        )
    issue(ranking.warnings, [found.solution.message], stacklevel=3)
    return ranking


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
    every = [rankings[value] for value in rankings]
    unfinished = [one.warnings[-1] for one in every if not one.fit.converged]
    issue(rankings.warnings, unfinished, stacklevel=4)
    return rankings


def _rank_on(given: dict[str, Any], tell: Watcher) -> Ranking:
    """Rank on a cluster, with the other arguments of `rank` as they are given."""
    from juryrank.cluster.scan import sharded_votes  # asyncio is in there, and what Dask is asked

    votes, cluster = given["votes"], given["cluster"]
    check_possible(given)
    options = {
        name: value
        for name, value in given.items()
        if name not in ("votes", "by", "cluster", "progress") and not name.startswith("watch")
    }
    with (
        sharded_votes(votes, cluster, tell) as sharded,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always", JuryrankWarning)
        few = len(sharded) <= MOST_SAMPLED  # for which all of them come here anyway
        found = rank(sharded.fetched() if few else sharded, by=None, progress=tell, **options)
        _ = found.tastes  # they go through the votes once more, and the workers may leave now
    for one in said:
        warnings.warn(one.message, one.category, stacklevel=3)
    return replace(found, call=_call(given))


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
    decisive = _decisive()
    asked = [f"{name}={given[name]!r}" for name in decisive if given[name] != decisive[name]]
    return f"jr.rank({', '.join(['votes', *asked])})"


@cache
def _decisive() -> dict[str, Any]:
    """The arguments of `rank` that decide what the answer is, and their defaults."""
    return {
        name: parameter.default
        for name, parameter in signature(rank).parameters.items()
        if name not in ("votes", "threads", "progress", "cluster", "resume")
        and not name.startswith("watch")
    }


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
        raise InputError(f"There are no intervals called {intervals!r}. Choose from: {ways}.")
    if intervals == "sandwich" and not task.method.finds_optimum:
        raise InputError(
            "The sandwich needs the best fit, which only the profile solver finds: "
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
