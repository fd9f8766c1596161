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

**No refit for every round.** Near a fit the votes say of each unknown, apart from its prior, about
as much as a normal observation of precision (curvature - prior's precision): from these the fit
for any other prior is foreseen, and the fixed point found, without going over the votes. Only where
the prior has moved far is the fit repeated and the fixed point found anew.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

import numpy as np

from juryrank.arrays import Floats
from juryrank.objective import Curvature, Objective, Prior
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.solution import Solution

EFFECT_SD = 5.0
"""Log-odds: hardly any limit on ties and on the advantage of a side, but all votes may be alike."""
FIRST_GUESS = Prior(1.0, 1.0, effect_sd=EFFECT_SD)
SCORE_SD_RANGE = (0.02, 50.0)
EFFECT_SD_RANGE = (0.03, 5.0)
ACCURACY_SD_RANGE = (0.03, 5.0)
CLOSE_ENOUGH = 0.001
MAX_ROUNDS = 1000
FORESEEABLE = 0.1
"""A relative change of the scales for which what was foreseen is as good as a new fit."""
FARTHEST = 3.0
"""The factor by which scales may change before the fit is repeated."""
LEAST_SAID = 0.02
"""The votes are taken to say at least so much of an unknown, as a share of the prior."""
MAX_REFITS = 20
LEAST_DETERMINED = 0.01  # of all scores, of all accuracies
TINY = 1e-300
BALANCING_STEPS = 20
USUAL_SPREAD = 0.5
"""The spread of accuracies to expect of judges about whom little is known."""


@dataclass(frozen=True, eq=False)
class Foreseen:
    """The prior that the data choose, and the fit to begin with under it."""

    objective: Objective
    state: Floats
    accuracy: Floats
    curvature: Curvature
    evaluations: int = 0
    remark: str = ""


def choose_scales(objective: Objective, solution: Solution, solver: ProfileSolver) -> Foreseen:
    """Better prior scales, from a solution with the objective's own."""
    evaluations = 0
    for _ in range(MAX_REFITS):
        found, settled = _foreseen(objective, solution)
        moved = _distance(found.objective.prior, objective.prior)
        objective = found.objective
        if settled and moved < FORESEEABLE:
            break
        solution = solver.solve(objective, found.state, found.accuracy, curvature=found.curvature)
        evaluations += solution.iterations
    else:
        settled = False
    return replace(found, evaluations=evaluations, remark=_remark(objective.prior, settled))


def _remark(prior: Prior, settled: bool) -> str:
    if prior.score_sd == SCORE_SD_RANGE[1]:
        return (
            f"The votes put hardly any limit on the scores, whose prior scale was held at "
            f"{prior.score_sd:g}. If weights are large, are they really counts of votes?"
        )
    if not settled:
        return (
            f"The prior scales were still moving when the search for them ended; they stand at "
            f"{prior.score_sd:.3g} (scores) and {prior.accuracy_sd:.3g} (accuracies). To fix them, "
            "use prior=(SIGMA, TAU) (--prior SIGMA,TAU)."
        )
    return ""


def prior_for_more_judges(sample: Objective, n_judges: int) -> Prior:
    """The prior of a sample of judges, with its scores' scale balanced for all judges."""
    n = sample.n_items
    more = np.sqrt(max(n, sample.n_judges) / max(n, n_judges)) if sample.accuracies_free else 1.0
    return replace(sample.prior, score_sd=sample.prior.score_sd * float(more))


@dataclass(frozen=True, eq=False)
class _Said:
    """What the votes say of unknowns, apart from their prior: precisions, and these times means.

    `unit` is what the unknowns have been divided by since.
    """

    precision: Floats
    weighted: Floats

    def mean(self, prior_mean: float, prior_precision: Floats | float, unit: float) -> Floats:
        """The unknowns' means together with a prior."""
        own = self.precision * unit**2
        sum_of_both = self.weighted * unit + prior_precision * prior_mean
        return np.asarray(sum_of_both / np.maximum(own + prior_precision, TINY))

    def determined(self, prior_precision: float, unit: float) -> float:
        """How many of the unknowns the votes determine rather than the prior."""
        own = self.precision * unit**2
        count = float(np.sum(own / np.maximum(own + prior_precision, TINY)))
        return max(count, LEAST_DETERMINED * len(own))


def _said(value: Floats, curvature: Floats, prior_mean: float, prior_precision: Floats) -> _Said:
    """What the votes say, from the unknowns at their best and the curvature there."""
    own = np.maximum(curvature - prior_precision, LEAST_SAID * prior_precision)
    return _Said(own, own * value + prior_precision * (value - prior_mean))


def _foreseen(objective: Objective, solution: Solution) -> tuple[Foreseen, bool]:
    """The fixed point of the prior around a solution, and whether it was found."""
    told = _Told(objective, solution)
    prior, scale, settled = objective.prior, 1.0, False
    for _ in range(MAX_ROUNDS):
        better, mean = told.better(prior, scale)
        better = _not_far(better, objective.prior)
        settled = _distance(better, prior) < CLOSE_ENOUGH
        prior, scale = better, told.balanced(better, scale * mean)
        if settled:
            break
    state, accuracy, curvature = told.fit(prior, scale)
    return Foreseen(replace(objective, prior=prior), state, accuracy, curvature), settled


class _Told:
    """What the votes say of all unknowns, around one solution.

    `scale` is what scores are multiplied by and accuracies divided by.
    """

    def __init__(self, objective: Objective, solution: Solution) -> None:
        state, accuracy = solution.state, solution.accuracy
        curvature = objective.curvature(state, accuracy)
        bend, precision = objective.state_bend(state), objective.prior.accuracy_precision
        self.objective = objective
        self.state = _said(state, curvature.state, 0.0, bend)
        self.score = self._part(slice(0, objective.n_items))
        self.accuracy = _said(accuracy, curvature.accuracy, 1.0, np.full(len(accuracy), precision))
        self.node = bend - objective.prior_precision
        """What the virtual node adds to the prior's precision of each unknown."""

    def _part(self, part: slice) -> _Said:
        return _Said(self.state.precision[part], self.state.weighted[part])

    def _scores(self, prior: Prior, scale: float) -> Floats:
        precision = prior.score_precision + self.node[: self.objective.n_items]
        return self.score.mean(0.0, precision, 1.0 / scale)

    def _accuracies(self, prior: Prior, scale: float) -> Floats:
        return self.accuracy.mean(1.0, prior.accuracy_precision, scale)

    def better(self, old: Prior, scale: float) -> tuple[Prior, float]:
        """The next prior, and the mean accuracy, which goes over to the scores."""
        score = self._scores(old, scale)
        determined_scores = self.score.determined(old.score_precision, 1.0 / scale)
        spreads = replace(old, **self._own_spreads(old))
        if not self.objective.accuracies_free:
            square = _mean_square(score, determined_scores)
            return replace(spreads, score_sd=_score_sd(square, old)), 1.0
        accuracy = self._accuracies(old, scale)
        mean = max(
            float(accuracy.mean()), float(np.sqrt(np.mean(accuracy**2))) / ACCURACY_SD_RANGE[1]
        )
        determined_accuracies = self.accuracy.determined(old.accuracy_precision, scale)
        squares = float(np.sum((accuracy / mean - 1.0) ** 2))
        spread = (squares + USUAL_SPREAD**2) / (determined_accuracies + 1.0)
        square = _mean_square(score, max(determined_scores, determined_accuracies))
        accuracy_sd = _within(np.sqrt(spread), ACCURACY_SD_RANGE)
        score_sd = _score_sd(square * mean**2, old)
        return replace(spreads, score_sd=score_sd, accuracy_sd=accuracy_sd), mean

    def _own_spreads(self, old: Prior) -> dict[str, float]:
        """Better spreads of what sets single judges apart in ties and sides."""
        layout, spreads = self.objective.layout, {}
        for name, part in (("tie_sd", layout.own_tie), ("order_sd", layout.own_order)):
            if part.stop > part.start:
                precision, own = float(getattr(old, name)) ** -2, self._part(part)
                value = own.mean(0.0, precision, 1.0)
                square = float(value @ value) + USUAL_SPREAD**2
                spread = np.sqrt(square / (own.determined(precision, 1.0) + 1.0))
                spreads[name] = _within(spread, EFFECT_SD_RANGE)
        return spreads

    def balanced(self, prior: Prior, scale: float) -> float:
        """The scale at which the prior, which alone decides about it, is at its best.

        Newton steps in ``log c``; the slope of the prior in it is
        ``sum s^2 / S^2 - sum a (a - 1) / T^2``.
        """
        if not (self.objective.accuracies_free and np.isfinite(prior.accuracy_sd)):
            return scale
        p, n = prior.accuracy_precision, self.objective.n_items
        for _ in range(BALANCING_STEPS):
            score, accuracy = self._scores(prior, scale), self._accuracies(prior, scale)
            pull = float((prior.score_precision + self.node[:n]) @ (score * score))
            slope = pull - p * float(accuracy @ (accuracy - 1.0))
            known = self.accuracy.precision * scale**2
            rigid = accuracy * (2.0 * accuracy - 1.0)
            yielding = p * (2.0 * accuracy - 1.0) ** 2 / (known + p)
            bend = 2.0 * pull + p * float(np.sum(rigid - yielding))
            step = -slope / bend if bend > 0.0 else -np.sign(slope)
            scale *= float(np.exp(np.clip(step, -1.0, 1.0)))
            if abs(step) < CLOSE_ENOUGH:
                break
        return scale

    def fit(self, prior: Prior, scale: float) -> tuple[Floats, Floats, Curvature]:
        """State, accuracies and curvature to expect under a prior."""
        chosen, n = replace(self.objective, prior=prior), self.objective.n_items
        precision = chosen.prior_precision + self.node
        state = self.state.mean(0.0, precision, 1.0)
        state[:n] = self._scores(prior, scale)
        bend = self.state.precision + precision
        bend[:n] = self.state.precision[:n] / scale**2 + precision[:n]
        own = self.accuracy.precision * scale**2 + prior.accuracy_precision
        if not self.objective.accuracies_free:
            return state, self.objective.start_accuracy(), Curvature(bend, own)
        return state, self._accuracies(prior, scale), Curvature(bend, own)


def _mean_square(score: Floats, determined: float) -> float:
    """Mean square of the scores; one more, of 1, keeps a handful of votes from shrinking all."""
    return (float(score @ score) + 1.0) / (determined + 1.0)


def _score_sd(square: float, old: Prior) -> float:
    """The scale of the scores; none if they have no prior."""
    return _within(np.sqrt(square), SCORE_SD_RANGE) if np.isfinite(old.score_sd) else np.inf


def _not_far(new: Prior, old: Prior) -> Prior:
    """The new scales, each within a factor of `FARTHEST` of the old one."""
    pairs = zip(astuple(new), astuple(old), strict=True)
    return Prior(*(_within(one, (other / FARTHEST, other * FARTHEST)) for one, other in pairs))


def _within(value: float, bounds: tuple[float, float]) -> float:
    return float(np.clip(value, *bounds))


def _distance(new: Prior, old: Prior) -> float:
    """The largest relative change of a scale."""
    pairs = zip(astuple(new), astuple(old), strict=True)
    return max(abs(np.log(one / other)) if np.isfinite(one) else 0.0 for one, other in pairs)
