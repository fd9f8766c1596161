"""Algorithm 1 of the paper: alternating gradient descent, to the letter.

    s~      = s - score_step * dL/ds (s, a)
    s_new   = s~ - mean(s~)
    a_new   = a - accuracy_step * dL/da (s, a)

Both gradients are taken at the old point (`order="simultaneous"`). The paper's tables come from
two sequential orders: accuracies first, then scores with the new accuracies ("accuracy-first"),
and scores first, then accuracies with the new scores ("score-first").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import InputError
from juryrank.objective import Objective
from juryrank.solvers.solution import Solution, Trace, Watcher
from juryrank.solvers.spectral import RankCentrality

Floats = NDArray[np.float64]
Order = Literal["simultaneous", "accuracy-first", "score-first"]
Loss = Literal["sum", "mean"]
Start = Literal["ones", "random", "rank-centrality"]

STEP_RATIO = 0.15  # of the accuracies' step to the scores', as in the paper's synthetic tables
DIVERGED = 1e6
TOLERANCE = 1e-3


@dataclass(frozen=True)
class PaperSolver:
    """Settings of Algorithm 1."""

    score_step: float | None = None
    """None: the largest step that is safe where the accuracies are 1."""
    accuracy_step: float | None = None
    """None: 0.15 times the step of the scores."""
    iterations: int = 600
    order: Order = "simultaneous"
    loss: Loss = "sum"
    """Sum over all votes, or the mean over judges of the mean over each judge's votes."""
    start: Start | tuple[Floats, Floats] = "ones"
    """Where to start, or the scores and accuracies themselves."""
    seed: int = 0
    """For the random start."""
    keep_trace: bool = False

    def __post_init__(self) -> None:
        """Refuse words and numbers that mean nothing."""
        for name, value, known in (
            ("order", self.order, ("simultaneous", "accuracy-first", "score-first")),
            ("loss", self.loss, ("sum", "mean")),
        ):
            if value not in known:
                raise InputError(f"{name}={value!r} is not one of {', '.join(known)}.")
        if self.iterations < 1:
            raise InputError(f"iterations={self.iterations} must be at least 1.")

    def solve(self, objective: Objective, watch: Watcher | None = None) -> Solution:
        """Run the iterations."""
        if self.loss == "mean":
            objective = _mean_loss(objective)
        score, accuracy = self._starting_point(objective)
        steps = self._steps(objective)
        trace = [(score, accuracy, objective.slopes(score, accuracy).value)]
        for t in range(1, self.iterations + 1):
            score, accuracy, value = self._iterate(objective, score, accuracy, steps)
            if not np.isfinite(value) or np.abs(score).max() > DIVERGED:
                raise InputError(
                    f"Algorithm 1 diverged at iteration {t}: its step of {steps[0]:g} for the "
                    f"scores or {steps[1]:g} for the accuracies is too large for these votes. "
                    "Use smaller steps."
                )
            if self.keep_trace:
                trace.append((score, accuracy, value))
            if watch:
                watch(t, value, np.nan)
        return self._solution(objective, score, accuracy, trace)

    def _starting_point(self, objective: Objective) -> tuple[Floats, Floats]:
        n = objective.n_items
        if isinstance(self.start, tuple):
            return self.start[0].astype(np.float64), self.start[1].astype(np.float64)
        if self.start == "ones":
            return np.ones(n), objective.start_accuracy()
        if self.start == "random":
            return np.random.default_rng(self.seed).random(n), objective.start_accuracy()
        if self.start == "rank-centrality":
            return RankCentrality().solve(objective.wins, n).score, objective.start_accuracy()
        raise InputError(f"start={self.start!r} is not one of ones, random, rank-centrality.")

    def _steps(self, objective: Objective) -> tuple[float, float]:
        if self.score_step is None:
            stiffness = objective.stiffness(objective.start_accuracy())
            score_step = 0.5 / max(float(stiffness.max()), 1e-12)
        else:
            score_step = self.score_step
        accuracy_step = (
            STEP_RATIO * score_step if self.accuracy_step is None else self.accuracy_step
        )
        return score_step, accuracy_step if objective.accuracies_free else 0.0

    def _iterate(
        self, objective: Objective, score: Floats, accuracy: Floats, steps: tuple[float, float]
    ) -> tuple[Floats, Floats, float]:
        """One iteration; the value is that at the point it started from."""
        old = objective.slopes(score, accuracy)
        if self.order == "accuracy-first":
            accuracy = accuracy - steps[1] * old.accuracy
            score = _centred(score - steps[0] * objective.slopes(score, accuracy).score)
        elif self.order == "score-first":
            score = _centred(score - steps[0] * old.score)
            accuracy = accuracy - steps[1] * objective.slopes(score, accuracy).accuracy
        else:
            score = _centred(score - steps[0] * old.score)
            accuracy = accuracy - steps[1] * old.accuracy
        return score, accuracy, old.value

    def _solution(
        self,
        objective: Objective,
        score: Floats,
        accuracy: Floats,
        path: list[tuple[Floats, Floats, float]],
    ) -> Solution:
        last = objective.slopes(score, accuracy)
        stiffness = np.maximum(objective.stiffness(accuracy), 1e-12)
        size = float(np.abs(_centred(last.score) / np.sqrt(stiffness)).max())
        converged = size <= TOLERANCE
        message = "" if converged else (
            f"Algorithm 1 ended after {self.iterations:,} iterations before it converged (a score "
            f"would still move by {size:.1g} of its standard error), which acts as a "
            "regularisation. Use more iterations, or the profile solver."
        )  # fmt: skip
        trace = None
        if self.keep_trace:
            trace = Trace(
                np.array([row[0] for row in path]),
                np.array([row[1] for row in path]),
                np.array([row[2] for row in path[1:]] + [last.value]),
            )
        return Solution(score, accuracy, last.value, converged, self.iterations, message, trace)


def _centred(score: Floats) -> Floats:
    return np.asarray(score - score.mean())


def _mean_loss(objective: Objective) -> Objective:
    """The paper's loss: the mean over judges of the mean over each judge's votes."""
    wins = objective.wins
    votes = np.diff(wins.start)
    judge = np.repeat(np.arange(objective.n_judges), votes)
    total = np.bincount(judge, weights=wins.weight, minlength=objective.n_judges)
    weight = wins.weight / (total * objective.n_judges)[judge]
    return replace(objective, wins=wins._replace(weight=weight))
