"""The fast solver: profile likelihood over the scores, each accuracy solved inside.

Given the scores, every judge's accuracy is a convex problem in one unknown. So the objective is
minimised over the state alone (the scores, and effects where there are any), by L-BFGS, with the
accuracies at their best for it. The unknowns are measured in (approximate) standard errors, and the
search stops when a Newton step in any one of them would move it by no more than `tolerance` of its
standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from juryrank.arrays import Floats
from juryrank.errors import InputError
from juryrank.objective import Objective
from juryrank.solvers.solution import Solution, Watcher

CORRECTIONS = 12
COARSE = 1.0
"""From a cold start, go so far (in standard errors) before measuring the curvature."""
LEAST_CURVATURE = 0.02
"""Of that at equal scores; far from the optimum the profile can be flat or bent the wrong way."""


@dataclass(frozen=True)
class ProfileSolver:
    """Settings of the profile solver; the defaults need no touching."""

    tolerance: float = 1e-6
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if not self.tolerance > 0.0 or self.max_iterations < 1:
            raise InputError("ProfileSolver needs a positive tolerance and at least 1 iteration.")

    def solve(
        self,
        objective: Objective,
        state: Floats | None = None,
        accuracy: Floats | None = None,
        watch: Watcher | None = None,
    ) -> Solution:
        """Minimise the objective from a given state (all equal, if None) and accuracies (all 1).

        Giving both says that they are near the optimum already.
        """
        cold = accuracy is None
        state = objective.start_state() if state is None else state
        accuracy = objective.start_accuracy() if accuracy is None else accuracy.copy()
        if not objective.has_scale and not state[: objective.n_items].any():
            state = first_step(objective, accuracy)
        run = _Run(objective, state, accuracy, watch)
        if cold:
            self._minimise(run, COARSE)
        run.measure_anew()
        tolerance = max(self.tolerance, _rounding(run.value))
        self._minimise(run, tolerance)
        converged = run.size <= max(tolerance, _rounding(run.value))
        message = "" if converged else self._not_converged(run)
        best, n = run.scaled(run.state)[0], objective.n_items
        score = best[:n] - best[:n].mean()
        return Solution(
            score, accuracy, run.value, converged, run.evaluations, message, effects=best[n:]
        )

    def _minimise(self, run: _Run, tolerance: float) -> None:
        """L-BFGS in units of (standard error x size of the first gradient).

        Its first step has length 1: in these units that is the diagonal Newton step.
        """
        if run.size <= tolerance:
            return
        stretch = float(np.linalg.norm(run.slope * run.unit))
        unit = run.unit * stretch

        def evaluate(steps: Floats) -> tuple[float, Floats]:
            run.evaluate(steps * unit)
            return run.value, run.slope * unit

        result = minimize(
            evaluate,
            run.state / unit,
            method="L-BFGS-B",
            jac=True,
            options={
                "maxcor": CORRECTIONS,
                "maxiter": self.max_iterations,
                "maxfun": 10 * self.max_iterations,
                "ftol": 0.0,
                "gtol": tolerance * stretch,
            },
        )
        run.evaluate(np.asarray(result.x) * unit)

    def _not_converged(self, run: _Run) -> str:
        way_out = "Allow more: ProfileSolver(max_iterations=...)."
        if np.isinf(run.objective.prior.score_sd):
            way_out = "A prior makes the problem well-posed: prior='auto' (--prior auto)."
        return (
            f"The fit did not converge: after {run.evaluations:,} evaluations a score would still "
            f"move by {run.size:.1g} of its standard error (asked for: {self.tolerance:.1g}). "
            f"{way_out}"
        )


class _Run:
    """One search: where it is, in which units it measures, how much work it has done."""

    def __init__(
        self, objective: Objective, state: Floats, accuracy: Floats, watch: Watcher | None
    ) -> None:
        self.objective = objective
        self.accuracy = accuracy
        self.watch = watch
        self.evaluations = 0
        self.state = np.full_like(state, np.nan)
        self.stiffness = np.maximum(objective.stiffness(objective.start_accuracy()), 1e-12)
        self.unit = 1.0 / np.sqrt(self.stiffness)
        self.evaluate(state)

    def evaluate(self, state: Floats) -> None:
        """Go to this state; the accuracies follow. Staying costs nothing."""
        if np.array_equal(state, self.state):
            return
        self.state = state
        scaled, spread = self.scaled(state)
        self.value, self.slope = self.objective.profile(scaled, self.accuracy)
        if not self.objective.has_scale:
            n = self.objective.n_items
            slope, score = self.slope[:n], scaled[:n]
            self.slope[:n] = (slope - score * float(np.mean(slope * score))) / spread
        self.evaluations += 1
        if self.watch:
            self.watch(self.evaluations, self.value, self.size)

    def scaled(self, state: Floats) -> tuple[Floats, float]:
        """The state to evaluate at, and the spread its scores were divided by.

        Where only the likelihood speaks, scores of any scale are as good: take a spread of 1.
        """
        score = state[: self.objective.n_items]
        if self.objective.has_scale or not score.any():
            return state, 1.0
        centred = score - score.mean()
        spread = float(np.sqrt(np.mean(centred**2))) or 1.0
        return np.concatenate((centred / spread, state[len(score) :])), spread

    @property
    def size(self) -> float:
        """The largest gradient: about the Newton step of an unknown in its standard errors."""
        return float(np.abs(self.slope * self.unit).max(initial=0.0))

    def measure_anew(self) -> None:
        """Take the standard errors from the curvature here, where it is not degenerate."""
        n = self.objective.n_items
        if self.state[:n].any():
            scaled, spread = self.scaled(self.state)
            here = self.objective.curvature(scaled, self.accuracy).state
            here[:n] /= spread**2
            self.unit = 1.0 / np.sqrt(np.maximum(here, LEAST_CURVATURE * self.stiffness))


def first_step(objective: Objective, accuracy: Floats) -> Floats:
    """The state one (diagonal) Newton step away from all equal, for given accuracies."""
    slope = objective.slopes(objective.start_state(), accuracy).state
    return np.asarray(-slope / np.maximum(objective.stiffness(accuracy), 1e-12))


def _rounding(value: float) -> float:
    """The gradient (in standard errors) below which rounding of the objective hides progress."""
    return 10.0 * float(np.sqrt(np.finfo(np.float64).eps * (1.0 + abs(value))))
