"""CrowdBT and CrowdTCV (Chen et al. 2013): a judge is right with a probability of its own.

Judge ``u`` prefers ``i`` to ``j`` with probability ``eta_u F(d) + (1 - eta_u) F(-d)``, where
``d = s_i - s_j``. The fit alternates: L-BFGS over the scores, then each ``eta_u`` in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank import _core
from juryrank.errors import InputError
from juryrank.model.objective import Objective
from juryrank.progress import Progress, Watcher
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.weights import total_weight

LEAST_CHANCE = 1e-6
FITTING = "Fitting scores and reliabilities in turn"


@dataclass(frozen=True)
class CrowdSolver:
    """Settings of the alternating fit; the defaults are those of the paper's comparison."""

    rounds: int = 15
    tolerance: float = 1e-4
    """The largest change of a score in the last round that counts as converged."""

    def __post_init__(self) -> None:
        """Refuse a fit without a round."""
        if self.rounds < 1:
            raise InputError(f"rounds={self.rounds} must be at least 1.")

    def solve(self, objective: Objective, watch: Watcher | None = None) -> Solution:
        """Alternate between scores and reliabilities, from equal scores and full reliability."""
        score = np.zeros(objective.n_items)
        reliability = np.ones(objective.n_judges)
        noise, pairs = objective.noise.core, objective.votes.core_pairs
        change = np.inf
        for done in range(1, self.rounds + 1):
            value, new = _best_scores(objective, score, reliability)
            change = float(np.abs(new - score).max(initial=0.0))
            score = new
            _core.set_reliabilities(noise, pairs, score, reliability)
            if watch:
                watch(Progress("fitting", FITTING, done, objective=value, gradient=change))
        value, _ = _evaluated(objective, score, reliability)
        converged = change <= self.tolerance
        message = "" if converged else (
            f"The alternating fit was stopped after {self.rounds} rounds, as in the paper; in the "
            f"last one a score still moved by {change:.1g}. If it matters: CrowdSolver(rounds=100)."
        )  # fmt: skip
        return Solution(score, reliability, value, converged, self.rounds, message)


def _evaluated(objective: Objective, score: Floats, reliability: Floats) -> tuple[float, Floats]:
    """The objective and its gradient in the scores."""
    gradient = np.zeros(objective.n_items)
    noise, pairs = objective.noise.core, objective.votes.core_pairs
    value = _core.crowd_scores_pass(noise, pairs, score, reliability, gradient)
    return value + objective.state_penalty(score, gradient), gradient


def _best_scores(objective: Objective, score: Floats, reliability: Floats) -> tuple[float, Floats]:
    """Minimise over the scores, the reliabilities held."""
    from scipy.optimize import minimize  # slow to import, and other models do without

    def evaluate(s: Floats) -> tuple[float, Floats]:
        return _evaluated(objective, s, reliability)

    found = minimize(
        evaluate, score, method="L-BFGS-B", jac=True,
        options={"maxiter": 1000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-6},
    )  # fmt: skip
    return float(found.fun), np.asarray(found.x - found.x.mean())


def reliability_sd(objective: Objective, solution: Solution) -> Floats:
    """Standard error of each ``eta``, the scores held: ``1 / sqrt(sum w ((2 F(d) - 1) / p)^2)``."""
    pairs, eta = objective.votes.pairs, solution.accuracy
    judge = pairs.judge
    chance = objective.noise.cdf(solution.score[pairs.winner] - solution.score[pairs.loser])
    p = eta[judge] * chance + (1.0 - eta[judge]) * (1.0 - chance)
    pull = pairs.weight * ((2.0 * chance - 1.0) / np.maximum(p, LEAST_CHANCE)) ** 2
    information = total_weight(judge, pull, objective.n_judges)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.sqrt(information))
