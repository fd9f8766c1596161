"""The fast solver: profile likelihood over the scores, each accuracy solved inside.

Given the scores, every judge's accuracy is a convex problem in one unknown. So the objective is
minimised over the scores alone, by L-BFGS, with the accuracies at their best for these scores.
The scores are measured in (approximate) standard errors, and the search stops when a Newton step
would move no score by more than `tolerance` of its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from juryrank.objective import Objective
from juryrank.solvers.solution import Solution, Watcher

Floats = NDArray[np.float64]

CORRECTIONS = 12


@dataclass(frozen=True)
class ProfileSolver:
    """Settings of the profile solver; the defaults need no touching."""

    tolerance: float = 1e-5
    max_iterations: int = 1000

    def solve(
        self,
        objective: Objective,
        score: Floats | None = None,
        accuracy: Floats | None = None,
        watch: Watcher | None = None,
    ) -> Solution:
        """Minimise the objective from given scores (all equal, if None) and accuracies (all 1)."""
        score = np.zeros(objective.n_items) if score is None else score
        accuracy = objective.start_accuracy() if accuracy is None else accuracy.copy()
        if not objective.has_scale:
            score = _with_unit_spread(objective, score)
        run = _Run(objective, accuracy, watch)
        first = run.evaluate(score)
        tolerance = max(self.tolerance, _rounding(first.value))
        if first.size > tolerance:
            self._minimise(run, first, tolerance)
        last = run.last
        converged = last.size <= max(tolerance, _rounding(last.value))
        message = "" if converged else _not_converged(run.evaluations, last.size, tolerance)
        best = last.score - last.score.mean()
        return Solution(best, accuracy, last.value, converged, run.evaluations, message)

    def _minimise(self, run: _Run, first: _Point, tolerance: float) -> None:
        """L-BFGS in units of (standard error x size of the first gradient).

        Its first step has length 1: in these units that is the diagonal Newton step.
        """
        unit = run.unit * float(np.linalg.norm(first.slope))

        def evaluate(steps: Floats) -> tuple[float, Floats]:
            return run.evaluate_in(unit, steps)

        result = minimize(
            evaluate,
            first.score / unit,
            method="L-BFGS-B",
            jac=True,
            options={
                "maxcor": CORRECTIONS,
                "maxiter": self.max_iterations,
                "maxfun": 10 * self.max_iterations,
                "ftol": 0.0,
                "gtol": tolerance * float(np.linalg.norm(first.slope)),
            },
        )
        run.evaluate(np.asarray(result.x) * unit)


class _Point(NamedTuple):
    """Scores, the objective there, and its gradient per standard error of each score."""

    score: Floats
    value: float
    slope: Floats

    @property
    def size(self) -> float:
        """The largest gradient: about the Newton step of a score in its standard errors."""
        return float(np.abs(self.slope).max(initial=0.0))


class _Run:
    """One search: counts evaluations and carries the accuracies from one to the next."""

    def __init__(self, objective: Objective, accuracy: Floats, watch: Watcher | None) -> None:
        self.objective = objective
        self.unit = _standard_errors(objective)
        self.accuracy = accuracy
        self.watch = watch
        self.evaluations = 0
        self.last = _Point(np.full(objective.n_items, np.nan), np.inf, np.empty(0))

    def evaluate(self, score: Floats) -> _Point:
        """The objective at the scores; asking for the same point again costs nothing."""
        if not np.array_equal(score, self.last.score):
            value, slope = self.objective.profile(score, self.accuracy)
            self.last = _Point(score, value, slope * self.unit)
            self.evaluations += 1
            if self.watch:
                self.watch(self.evaluations, value, self.last.size)
        return self.last

    def evaluate_in(self, unit: Floats, steps: Floats) -> tuple[float, Floats]:
        """The objective and its gradient, with scores in other units."""
        point = self.evaluate(steps * unit)
        return point.value, point.slope * (unit / self.unit)


def _standard_errors(objective: Objective) -> Floats:
    """Rough standard errors of the scores, from the curvature with accuracies given."""
    stiffness = objective.stiffness(objective.start_accuracy())
    return np.asarray(1.0 / np.sqrt(np.maximum(stiffness, 1e-12)))


def _with_unit_spread(objective: Objective, score: Floats) -> Floats:
    """Scores with a root mean square of 1: the likelihood has no scale of its own."""
    if not score.any():
        score = first_step(objective, np.ones(objective.n_judges))
    centred = score - score.mean()
    return np.asarray(centred / np.sqrt(np.mean(centred**2)))


def first_step(objective: Objective, accuracy: Floats) -> Floats:
    """The scores one (diagonal) Newton step away from all equal, for given accuracies."""
    zero = np.zeros(objective.n_items)
    slope = objective.slopes(zero, accuracy).score
    return np.asarray(-slope / np.maximum(objective.stiffness(accuracy), 1e-12))


def _rounding(value: float) -> float:
    """The gradient (in standard errors) below which rounding of the objective hides progress."""
    return 30.0 * float(np.sqrt(np.finfo(np.float64).eps * (1.0 + abs(value))))


def _not_converged(evaluations: int, size: float, tolerance: float) -> str:
    return (
        f"The fit did not converge: after {evaluations:,} evaluations a score would still move by "
        f"{size:.1g} of its standard error (asked for: {tolerance:.1g}). Use a prior "
        "(--prior auto), which makes the problem well-posed, or more iterations."
    )
