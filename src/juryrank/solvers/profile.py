"""The fast solver: profile likelihood over the scores, each accuracy solved inside.

Given the scores, every judge's accuracy is a convex problem in one unknown. So the objective is
minimised over the state alone (the scores, and effects where there are any), by L-BFGS, with the
accuracies at their best for it. The unknowns are measured in (approximate) standard errors, and the
search stops when a Newton step in any one of them would move it by no more than `tolerance` of its
standard error.

Two things are measured apart. Along ``(c s, a / c)`` the likelihood does not change and only the
prior holds the scale, so that the curvature there, known in closed form, is far smaller than that
of single scores tells. And what all judges have in common, ``c``, and what each adds, ``d_u``, are
nearly the same to the votes: if they tell ``d_u`` with the information ``I_u`` beside the precision
``p`` of its prior, ``c`` moves with ``d_u`` following by ``-I_u / (I_u + p)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from juryrank.errors import InputError
from juryrank.model.objective import Curvature, Objective
from juryrank.progress import Progress, Watcher
from juryrank.solvers.journal import Journal, Search
from juryrank.solvers.lbfgs import minimised
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

CORRECTIONS = 12
COARSE = 1.0
"""From a cold start, go so far (in standard errors) before measuring the curvature."""
LEAST_CURVATURE = 0.02
"""Of that at equal scores; far from the optimum the profile can be flat or concave."""
LEAST_OF_SCALE = 1e-6
"""Of the curvature that single scores tell, along the common scale."""


class Followers(NamedTuple):
    """An effect of all judges, and by how much what each of them adds gives way to it."""

    common: int
    own: slice
    share: Floats


class Metric(NamedTuple):
    """Units in which every direction has a curvature of about 1: ``unit (I + (gain - 1) v v')``."""

    unit: Floats
    along: Floats
    """``v``, the common scale, in these units; zeros if nothing is known of it."""
    gain: float = 1.0
    followers: tuple[Followers, ...] = ()

    def stretched(self, steps: Floats) -> Floats:
        """``(I + (gain - 1) v v') steps``."""
        return np.asarray(steps + (self.gain - 1.0) * float(self.along @ steps) * self.along)

    def move(self, steps: Floats) -> Floats:
        """The move of the state that so many units make."""
        moved = np.asarray(self.unit * self.stretched(steps))
        for common, own, share in self.followers:
            moved[own] -= share * moved[common]
        return moved

    def gradient(self, gradient: Floats) -> Floats:
        """The gradient per unit."""
        per_unit = self.unit * gradient
        for common, own, share in self.followers:
            per_unit[common] -= self.unit[common] * float(share @ gradient[own])
        return self.stretched(per_unit)


@dataclass(frozen=True)
class ProfileSolver:
    """Settings of the profile solver; the defaults need no touching."""

    tolerance: float = 1e-6
    max_iterations: int = 1000
    journal: Journal | None = field(default=None, repr=False, compare=False)
    """What was found before the fit was stopped, and where to keep what is found."""

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
        curvature: Curvature | None = None,
    ) -> Solution:
        """Minimise the objective from a given state (all equal, if None) and accuracies (all 1).

        Giving both says that they are near the optimum already; the curvature near there is worked
        out if it is not given.
        """
        cold = accuracy is None
        state = objective.start_state() if state is None else state
        accuracy = objective.start_accuracy() if accuracy is None else accuracy.copy()
        if not objective.has_scale and not state[: objective.n_items].any():
            state = first_step(objective, accuracy)
        kept = (
            None if self.journal is None else self.journal.next_search(objective, state, accuracy)
        )
        if kept is not None and kept.solution is not None:
            _tell_again(kept, watch)
            return kept.solution
        run = _Run(objective, state, accuracy, watch, kept, self.tolerance)
        if cold:
            self._minimise(run, COARSE)
        run.measure_anew(curvature)
        tolerance = max(self.tolerance, _rounding(run.value))
        self._minimise(run, tolerance)
        converged = run.size <= max(tolerance, _rounding(run.value))
        message = "" if converged else self._not_converged(run)
        best, n = run.scaled(run.state)[0], objective.n_items
        score = best[:n] - best[:n].mean()
        solution = Solution(
            score, accuracy, run.value, converged, run.evaluations, message, effects=best[n:]
        )
        if kept is not None:
            kept.end(solution)
        return solution

    def _minimise(self, run: _Run, tolerance: float) -> None:
        """L-BFGS in units of (standard error x size of the first gradient), from where the run is.

        Its first step has length 1: in these units that is the diagonal Newton step.
        """
        if run.size <= tolerance:
            return
        stretch, origin = float(np.linalg.norm(run.metric.gradient(run.gradient))), run.state

        def evaluate(steps: Floats) -> tuple[float, Floats]:
            run.evaluate(origin + run.metric.move(stretch * steps))
            return run.value, stretch * run.metric.gradient(run.gradient)

        best = minimised(
            evaluate,
            np.zeros(len(origin)),
            tolerance=tolerance * stretch,
            max_iterations=self.max_iterations,
            memory=CORRECTIONS,
        )
        run.evaluate(origin + run.metric.move(stretch * best.position))

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
        self,
        objective: Objective,
        state: Floats,
        accuracy: Floats,
        watch: Watcher | None,
        kept: Search | None,
        tolerance: float,
    ) -> None:
        self.objective = objective
        self.accuracy = accuracy
        self.watch = watch
        self.kept = kept
        self.evaluations = 0
        self._way = _Way(tolerance)
        self.state = np.full_like(state, np.nan)
        self.stiffness = np.maximum(objective.start_stiffness, 1e-12)
        self.metric = Metric(1.0 / np.sqrt(self.stiffness), np.zeros(len(state)))
        self.evaluate(state)

    def evaluate(self, state: Floats) -> None:
        """Go to this state; the accuracies follow. Staying costs nothing."""
        if np.array_equal(state, self.state):
            return
        self.state = state
        scaled, spread = self.scaled(state)
        self.value, self.gradient = self._profile(scaled)
        if not self.objective.has_scale:
            n = self.objective.n_items
            gradient, score = self.gradient[:n], scaled[:n]
            self.gradient[:n] = (gradient - score * float(np.mean(gradient * score))) / spread
        self.evaluations += 1
        if self.watch or self.kept:
            self._tell(self.size)

    def _profile(self, state: Floats) -> tuple[float, Floats]:
        if self.kept is None:
            return self.objective.profile(state, self.accuracy)
        return self.kept.evaluated(self.objective, state, self.accuracy)

    def _tell(self, size: float) -> None:
        part = self._way.part(size, _rounding(self.value))
        if self.kept:
            self.kept.steps[self.evaluations - 1 :] = [(self.value, size)]
        if self.watch:
            self.watch(_evaluation(self.evaluations, self.value, size, part))

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
        return float(np.abs(self.metric.gradient(self.gradient)).max(initial=0.0))

    def measure_anew(self, curvature: Curvature | None = None) -> None:
        """Take the standard errors from the curvature here, where it is not degenerate."""
        n = self.objective.n_items
        if not self.state[:n].any():
            return
        scaled, spread = self.scaled(self.state)
        here = curvature or self._curvature(scaled)
        single = here.state.copy()
        single[:n] /= spread**2
        followers = self._followers(single)
        least = LEAST_CURVATURE * self.stiffness
        for follower in followers:
            least[follower.common] = 0.0
        unit = 1.0 / np.sqrt(np.maximum(single, least))
        self.metric = self._with_scale(unit, here.accuracy)._replace(followers=followers)

    def _curvature(self, state: Floats) -> Curvature:
        if self.kept is None:
            return self.objective.curvature(state, self.accuracy)
        return self.kept.curvature(self.objective, state, self.accuracy)

    def _followers(self, curvature: Floats) -> tuple[Followers, ...]:
        """What gives way to common effects; their `curvature` becomes what it is then."""
        found, prior = [], self.objective.prior_precision
        for own, common in self.objective.layout.own_and_common():
            if common.stop - common.start > 1:  # a judge adds the same to ties of every size
                continue
            told = np.maximum(curvature[own] - prior[own], 0.0)
            share = told / (told + prior[own])
            curvature[common] = prior[common] + float(told @ (1.0 - share))
            found.append(Followers(common.start, own, share))
        return tuple(found)

    def _with_scale(self, unit: Floats, accuracy_curvature: Floats) -> Metric:
        """Units in which the common scale, too, has a curvature of 1."""
        n, along = self.objective.n_items, np.zeros(len(unit))
        along[:n] = self.state[:n] / unit[:n]
        square = float(along @ along)
        if not (self.objective.accuracies_free and self.objective.has_scale and square > 0.0):
            return Metric(unit, np.zeros(len(unit)))
        curvature = self.objective.scale_curvature(self.state, self.accuracy, accuracy_curvature)
        share = min(max(curvature / square, LEAST_OF_SCALE), 1.0)
        return Metric(unit, along / np.sqrt(square), 1.0 / np.sqrt(share))


class _Way:
    """How far a search has got: its gradient falls about geometrically."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._first: float | None = None
        self._done = 0.0

    def part(self, size: float, rounding: float) -> float:
        """About which part of the way is behind, for the size that the gradient has now."""
        end = max(self._tolerance, rounding)
        if self._first is None:
            self._first = max(size, end)
        whole = math.log(self._first / end)
        if whole > 0.0 and size > 0.0:
            self._done = min(max(self._done, 1.0 - math.log(size / end) / whole), 1.0)
        return self._done


def _evaluation(number: int, value: float, size: float, part: float) -> Progress:
    return Progress("fitting", "Fitting", number, objective=value, gradient=size, part=part)


def _tell_again(search: Search, watch: Watcher | None) -> None:
    """Tell of a search that is over."""
    for number, (value, size) in enumerate(search.steps, start=1):
        if watch:
            watch(_evaluation(number, value, size, 1.0))


def first_step(objective: Objective, accuracy: Floats) -> Floats:
    """The state one (diagonal) Newton step away from all equal, for given accuracies."""
    gradient = objective.gradients(objective.start_state(), accuracy).state
    return np.asarray(-gradient / np.maximum(objective.stiffness(accuracy), 1e-12))


def _rounding(value: float) -> float:
    """The gradient (in standard errors) below which rounding of the objective hides progress."""
    return 10.0 * float(np.sqrt(np.finfo(np.float64).eps * (1.0 + abs(value))))
