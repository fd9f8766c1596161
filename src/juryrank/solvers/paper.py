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

from juryrank.errors import InputError, require_seed
from juryrank.model.objective import Objective
from juryrank.progress import Progress, Watcher
from juryrank.solvers.solution import Solution, Trace
from juryrank.solvers.spectral import RankCentrality
from juryrank.types import Floats, finite_numbers

Order = Literal["simultaneous", "accuracy-first", "score-first"]
Loss = Literal["sum", "mean"]
Start = Literal["ones", "random", "rank-centrality"]

STARTS = ("ones", "random", "rank-centrality")
STEP_RATIO = 0.15  # of the accuracies' step to the scores', as in the paper's synthetic tables
DIVERGED = 1e6
TOLERANCE = 1e-3


@dataclass(frozen=True)
class PaperSolver:
    """Settings of Algorithm 1."""

    score_step: float | None = None
    """None: the largest step that is safe where the accuracies are 1."""
    accuracy_step: float | None = None
    """None: 0.15 times the step of the scores, or less where a judge has very many votes."""
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
        if isinstance(self.start, str) and self.start not in STARTS:
            raise InputError(f"start={self.start!r} is not one of {', '.join(STARTS)}.")
        if self.iterations < 1:
            raise InputError(f"iterations={self.iterations} must be at least 1.")
        for name, step in (("score", self.score_step), ("accuracy", self.accuracy_step)):
            if step is not None and not (np.isfinite(step) and step > 0.0):
                raise InputError(f"{name}_step={step} must be a positive number.")
        require_seed(self.seed)

    def solve(self, objective: Objective, watch: Watcher | None = None) -> Solution:
        """Run the iterations."""
        if self.loss == "mean":
            # The paper's loss: the mean over judges of the mean over each judge's votes.
            objective = replace(objective, votes=objective.votes.averaged())
        score, accuracy = self._starting_point(objective)
        steps = self._steps(objective)
        trace = [(score, accuracy, objective.gradients(score, accuracy).value)]
        for t in range(1, self.iterations + 1):
            score, accuracy, value = self._iterate(objective, score, accuracy, steps)
            if not (np.isfinite(value) and np.abs(score).max() < DIVERGED):
                raise InputError(
                    f"Algorithm 1 diverged at iteration {t}: its step of {steps[0]:g} for the "
                    f"scores or {steps[1]:g} for the accuracies is too large for these votes. "
                    "Use smaller ones: PaperSolver(score_step=..., accuracy_step=...)."
                )
            if self.keep_trace:
                trace.append((score, accuracy, value))
            if watch:
                watch(Progress("fitting", "Fitting by Algorithm 1", t, self.iterations, value))
        return self._solution(objective, score, accuracy, trace)

    def _starting_point(self, objective: Objective) -> tuple[Floats, Floats]:
        n = objective.n_items
        accuracy = objective.start_accuracy()
        if not isinstance(self.start, str):
            score = finite_numbers(self.start[0], n, "The start's scores")
            if objective.accuracies_free:
                accuracy = finite_numbers(
                    self.start[1], objective.n_judges, "The start's accuracies"
                )
        elif self.start == "ones":
            score = np.ones(n)
        elif self.start == "random":
            score = np.random.default_rng(self.seed).random(n)
        else:
            if objective.votes.has_lists:
                raise InputError("start='rank-centrality' is for votes on pairs alone: use 'ones'.")
            score = RankCentrality().solve(objective.votes).score
        return score, accuracy

    def _steps(self, objective: Objective) -> tuple[float, float]:
        if self.score_step is None:
            stiffness = objective.stiffness(objective.start_accuracy())
            score_step = 0.5 / max(float(stiffness.max()), 1e-12)
        else:
            score_step = self.score_step
        if not objective.accuracies_free:
            return score_step, 0.0
        if self.accuracy_step is not None:
            return score_step, self.accuracy_step
        busiest = float(objective.choices_per_judge.max(initial=0.0))
        curvature = float(objective.noise.terms(0.0)[2])
        safe = 0.5 / max(curvature * busiest, 1e-12)  # for gaps of about 1
        return score_step, min(STEP_RATIO * score_step, safe)

    def _iterate(
        self, objective: Objective, score: Floats, accuracy: Floats, steps: tuple[float, float]
    ) -> tuple[Floats, Floats, float]:
        """One iteration; the value is that at the point it started from."""
        old = objective.gradients(score, accuracy)
        if self.order == "accuracy-first":
            accuracy = accuracy - steps[1] * old.accuracy
            score = _centred(score - steps[0] * objective.gradients(score, accuracy).state)
        elif self.order == "score-first":
            score = _centred(score - steps[0] * old.state)
            accuracy = accuracy - steps[1] * objective.gradients(score, accuracy).accuracy
        else:
            score = _centred(score - steps[0] * old.state)
            accuracy = accuracy - steps[1] * old.accuracy
        return score, accuracy, old.value

    def _solution(
        self,
        objective: Objective,
        score: Floats,
        accuracy: Floats,
        path: list[tuple[Floats, Floats, float]],
    ) -> Solution:
        last = objective.gradients(score, accuracy)
        stiffness = np.maximum(objective.stiffness(accuracy), 1e-12)
        size = float(np.abs(_centred(last.state) / np.sqrt(stiffness)).max())
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
