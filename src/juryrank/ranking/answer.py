"""From a fit to the answer: labels, errors, verdicts, and what must be said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from juryrank.inference.covariance import Intervals
from juryrank.inference.many_votes import blurred
from juryrank.inference.posterior import NormalPosterior, Posterior, centred
from juryrank.judging.cells import number_in_cells
from juryrank.judging.position import Positions, positions
from juryrank.judging.verdicts import Observed, judge_columns
from juryrank.model.effects import Layout
from juryrank.model.prior import Prior
from juryrank.progress import Watcher
from juryrank.ranking.basis import Basis
from juryrank.ranking.cautions import (
    FEW_JUDGES,
    many_judges_disagree,
    remarks_on_judges,
    remarks_on_voices,
    remarks_on_votes,
)
from juryrank.ranking.fit import Fit
from juryrank.ranking.fitted import Fitted
from juryrank.ranking.frames import (
    StandardErrors,
    effects_frame,
    errors_frame,
    items_frame,
    judges_frame,
)
from juryrank.ranking.links import LINKS
from juryrank.ranking.prediction import PointPredictions
from juryrank.ranking.ranking import Ranking
from juryrank.ranking.task import Task
from juryrank.solvers.solution import Solution, Step
from juryrank.votes.votes import Votes

DISAGREEMENT = 0.15
"""The chance that many judges disagree with the ranking from which on that is said."""
NO_ERRORS = (
    "The errors of the answer could not be computed: the objective is flat around it. "
    "A prior helps: prior='auto' (--prior auto)."
)


def answer(
    task: Task,
    found: Fitted,
    intervals: Intervals | None,
    confidence: float,
    watch: Watcher | None = None,
    *,
    steps: tuple[Step, ...] = (),
    call: str = "jr.rank(votes)",
) -> Ranking:
    """Put a fit into words: labels, errors, verdicts, remarks."""
    votes, groups = task.votes, task.connection.groups
    solution, posterior = found.solution, found.posterior(intervals, watch)
    if len(groups) > 1 and task.model.odds:
        solution = replace(solution, score=centred(solution.score, groups))
        posterior = None if posterior is None else posterior.within(groups)
    told = None if intervals is None else posterior
    report = _fit_report(task, found, posterior, intervals, confidence, steps)
    observed = _observed(task, found, told, confidence)
    standing = None if intervals is None else found.standing(told, confidence)
    items, item_code = items_frame(
        votes, solution.score, told, groups, confidence,
        direction_is_sure=not observed.orientation_in_doubt and found.direction_is_sure(solution),
    )  # fmt: skip
    known = judge_columns(votes, task.model, standing, observed, confidence)
    judges, judge_code = judges_frame(votes, solution.accuracy, known)
    layout = Layout(found.effects, votes.n_items, votes.n_judges)
    return Ranking(
        model=task.model.name,
        items=items,
        judges=judges,
        effects=effects_frame(layout, votes, task.noise, solution, told, confidence),
        fit=report,
        warnings=(
            *remarks_on_votes(task), *found.remarks,
            *_remarks_on_orientation(found, observed, posterior),
            *remarks_on_voices(votes, found.voices),
            *remarks_on_judges(judges, report.set_aside),
            *_remarks_on_errors(task, intervals, posterior),
            *((solution.message,) if solution.message else ()),
        ),
        call=call,
        _basis=Basis(
            task.model, task.noise, votes, found.set_aside, found.voices, found.effects,
            _points(task, found, solution, judges), posterior, item_code, judge_code,
        ),
        _errors=StandardErrors(
            errors_frame(
                items["item"], None if told is None else np.sqrt(told.score_variance)[item_code]
            ),
            errors_frame(judges["judge"], None if standing is None else standing.sd[judge_code]),
        ),
    )  # fmt: skip


def _points(
    task: Task, found: Fitted, solution: Solution, judges: pl.DataFrame
) -> PointPredictions:
    """Predictions by the estimates."""
    link = LINKS[task.model.link](task.noise)
    average = link.average_judge(judges["accuracy"].to_numpy(), judges["votes"].to_numpy())
    return PointPredictions(link, solution.score, solution.accuracy, found.allowances(), average)


def _remarks_on_errors(
    task: Task, intervals: Intervals | None, posterior: Posterior | None
) -> tuple[str, ...]:
    """How far the errors can be relied on, and whether there are any."""
    if isinstance(posterior, NormalPosterior):
        return posterior.uncertainty.remarks
    if posterior is None and intervals is not None and task.method.finds_optimum:
        return (NO_ERRORS,)
    return ()


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
    weight = votes.total_weight
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
