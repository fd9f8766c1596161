"""Prior scales chosen by the data.

The evidence of the prior ``score ~ N(0, S^2)``, ``accuracy ~ N(1, T^2)`` is maximised by MacKay's
fixed point: with the posterior variances ``V`` (from the curvature's diagonal), the numbers of
well-determined scores and accuracies are

    nu_s = n - sum V_i / S^2,      nu_a = m - sum V_u / T^2,

and each scale becomes the root of (sum of squares) / (number of well-determined). To the scores
one more is added, with a square of 1, and to the accuracies one that is off by `USUAL_SPREAD`: they
keep a handful of votes from shrinking everything, or from calling all judges equal.

One direction needs care. ``(c s, a / c)`` has the same likelihood, so only the prior sets the
scale ``c``, and at the joint mode it is out of balance: the more numerous side shrinks. Hence
(1) the accuracies' spread is taken relative to their mean, and the scores are multiplied by that
mean, in every round; (2) where judges outnumber items, ``S`` is set so that the mode keeps the
mean accuracy at 1, where a judge without votes is put: ``S^2 = sum s^2 / max(nu_s, nu_a)``.
"""

from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np

from juryrank.arrays import Floats
from juryrank.objective import Objective, Prior
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.solution import Solution

EFFECT_SD = 5.0
"""Log-odds: hardly any limit on ties and on the advantage of a side, but all votes may be alike."""
FIRST_GUESS = Prior(1.0, 1.0, effect_sd=EFFECT_SD)
SCORE_SD_RANGE = (0.02, 50.0)
EFFECT_SD_RANGE = (0.03, 5.0)
ACCURACY_SD_RANGE = (0.03, 5.0)
CLOSE_ENOUGH = 0.01
MAX_ROUNDS = 60
LEAST_DETERMINED = 0.01  # of all scores, of all accuracies
USUAL_SPREAD = 0.5
"""The spread of accuracies to expect of judges about whom little is known."""


def choose_scales(
    objective: Objective, solution: Solution, solver: ProfileSolver
) -> tuple[Objective, Solution, str]:
    """Refit with better and better prior scales, from a solution with the objective's own.

    Returns the objective with the prior chosen, its solution, and a remark if there is one.
    """
    evaluations, settled = 0, False
    for _ in range(MAX_ROUNDS):
        prior, mean = _better_prior(objective, solution)
        settled = _distance(prior, objective.prior) < CLOSE_ENOUGH
        objective = replace(objective, prior=prior)
        state = solution.state.copy()
        state[: objective.n_items] *= mean
        solution = solver.solve(objective, state, solution.accuracy / mean)
        evaluations += solution.iterations
        if settled:
            break
    solution = replace(solution, iterations=evaluations)
    return objective, solution, _remark(objective.prior, settled)


def _remark(prior: Prior, settled: bool) -> str:
    if prior.score_sd == SCORE_SD_RANGE[1]:
        return (
            f"The votes put hardly any limit on the scores, whose prior scale was held at "
            f"{prior.score_sd:g}. If weights are large, are they really counts of votes?"
        )
    if not settled:
        return (
            f"The prior scales were still moving after {MAX_ROUNDS} rounds; they stand at "
            f"{prior.score_sd:.3g} (scores) and {prior.accuracy_sd:.3g} (accuracies). To fix them, "
            "use prior=(SIGMA, TAU) (--prior SIGMA,TAU)."
        )
    return ""


def prior_for_more_judges(sample: Objective, n_judges: int) -> Prior:
    """The prior of a sample of judges, with its scores' scale balanced for all judges."""
    n = sample.n_items
    more = np.sqrt(max(n, sample.n_judges) / max(n, n_judges)) if sample.accuracies_free else 1.0
    return replace(sample.prior, score_sd=sample.prior.score_sd * float(more))


def _better_prior(objective: Objective, solution: Solution) -> tuple[Prior, float]:
    """The next prior, and the mean accuracy, which goes over to the scores."""
    old, score, accuracy = objective.prior, solution.score, solution.accuracy
    curvature = objective.curvature(solution.state, accuracy)
    old = _with_effects(objective, solution.state, curvature.state)
    determined_scores = _determined(curvature.state[: objective.n_items], old.score_precision)
    if not objective.accuracies_free:
        score_square = _mean_square(score, determined_scores)
        return replace(old, score_sd=_score_sd(score_square, old)), 1.0
    mean = max(float(accuracy.mean()), float(np.sqrt(np.mean(accuracy**2))) / ACCURACY_SD_RANGE[1])
    determined_accuracies = _determined(curvature.accuracy, old.accuracy_precision)
    squares = float(np.sum((accuracy / mean - 1.0) ** 2))
    spread = (squares + USUAL_SPREAD**2) / (determined_accuracies + 1.0)
    score_square = _mean_square(score, max(determined_scores, determined_accuracies))
    accuracy_sd = _within(np.sqrt(spread), ACCURACY_SD_RANGE)
    score_sd = _score_sd(score_square * mean**2, old)
    return replace(old, score_sd=score_sd, accuracy_sd=accuracy_sd), mean


def _with_effects(objective: Objective, state: Floats, curvature: Floats) -> Prior:
    """The prior with better spreads of what sets single judges apart in ties and sides."""
    prior, layout = objective.prior, objective.layout
    spreads = {}
    for name, own in (("tie_sd", layout.own_tie), ("order_sd", layout.own_order)):
        if own.stop > own.start:
            determined = _determined(curvature[own], float(getattr(prior, name)) ** -2)
            square = (float(state[own] @ state[own]) + USUAL_SPREAD**2) / (determined + 1.0)
            spreads[name] = _within(np.sqrt(square), EFFECT_SD_RANGE)
    return replace(prior, **spreads)


def _mean_square(score: Floats, determined: float) -> float:
    """Mean square of the scores; one more, of 1, keeps a handful of votes from shrinking all."""
    return (float(score @ score) + 1.0) / (determined + 1.0)


def _score_sd(square: float, old: Prior) -> float:
    """The scale of the scores; none if they have no prior."""
    return _within(np.sqrt(square), SCORE_SD_RANGE) if np.isfinite(old.score_sd) else np.inf


def _determined(curvature: Floats, precision: float) -> float:
    """How many of the unknowns the votes determine rather than the prior."""
    count = len(curvature) - float(np.sum(precision / np.maximum(curvature, precision + 1e-300)))
    return max(count, LEAST_DETERMINED * len(curvature))


def _within(value: float, bounds: tuple[float, float]) -> float:
    return float(np.clip(value, *bounds))


def _distance(new: Prior, old: Prior) -> float:
    """The largest relative change of a scale."""
    pairs = zip(astuple(new), astuple(old), strict=True)
    return max(abs(np.log(one / other)) if np.isfinite(one) else 0.0 for one, other in pairs)
