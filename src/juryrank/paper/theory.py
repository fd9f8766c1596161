"""The paper's theory, checked: its constants, its contraction, its rate, its convexity.

The theorem assumes ``M1, M2 <= sqrt(mu1 mu2) / 4``, and no model meets that. ``(c s, a / c)`` has
the same loss for every ``c``, so the Hessian of the expected loss at the truth has ``(s, -a)`` in
its kernel: ``A s = B' a`` and ``B s = C a``. Hence

    M1 >= |B' a| / |a| = |A s| / |a| >= mu1 |s| / |a|
    M2 >= |B s| / |s| = |C a| / |s| >= mu2 |a| / |s|

and ``M1 M2 >= mu1 mu2``; so too for the loss of a sample, at its minimum. For the same reason
Algorithm 1 cannot contract towards the truth from everywhere around it: along the ridge
``(c s, a / c)`` it does not move at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import polars as pl

from juryrank.model.objective import Objective
from juryrank.paper.constants import (
    Constants,
    Truth,
    corollary_noise,
    corrected_constants,
    paper_constants,
)
from juryrank.paper.curvature import (
    convexity_table,
    expected_votes,
    hessian,
    sampled_votes,
)
from juryrank.paper.growth import (
    NOISE_NAMES,
    WHOLE,
    Grid,
    evenly,
    growth,
    slopes,
    squared_errors,
)
from juryrank.progress import Progress, Watcher
from juryrank.solvers.paper import PaperSolver
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes

FEW, MANY = "20 judges", "2^20 judges"
LABELS = {
    "l1": "L1",
    "l2": "L2",
    "m1": "M1",
    "m2": "M2",
    "stability": "M / sqrt(mu1 mu2)",
    "judges_needed": "judges needed",
    "radius": "radius (corollary)",
    "theorem_radius": "radius (theorem)",
    "shrinkage": "1 - rho",
    "epsilon1": "eps1",
    "epsilon2": "eps2",
    "statistical_error": "statistical error",
}
"""How the paper writes the constants, where our names differ."""
STARTS = ("scores", "accuracies", "ridge")
LOWER_BOUNDS = ("mu1", "mu2", "judges_needed")
ROUNDING = 1e-13
"""A smaller relative change of a squared distance cannot be told from none."""


@dataclass(frozen=True, eq=False)
class Case:
    """A truth at which the constants and the contraction are looked at, and how closely."""

    setting: str
    truth: Truth
    points: int
    """At how many random points of the ball around the truth the Hessian is looked at."""
    iterations: int
    """Of Algorithm 1."""
    is_sampled: bool
    """Whether votes are simulated; with one vote for each of a million judges nothing is fitted."""


@dataclass(frozen=True, eq=False)
class Theory:
    """Everything the study finds."""

    cases: tuple[Case, ...]
    grid: Grid
    constants: pl.DataFrame
    contraction: pl.DataFrame
    errors: pl.DataFrame
    """Squared errors of every trial of the growth study."""
    slopes: pl.DataFrame
    convexity: pl.DataFrame


def theory(
    trials: int,
    seed: int = 0,
    progress: Watcher | None = None,
    cases: Sequence[Case] | None = None,
    grid: Grid = WHOLE,
) -> Theory:
    """Run the whole study, at the cases of the paper if no others are given."""
    cases = paper_cases() if cases is None else tuple(cases)
    begin = _counting(progress, parts(cases, grid))
    errors = growth(trials, seed, begin, grid)
    constants = constants_table(trials, seed, cases, begin)
    contraction = contraction_table(seed, cases, begin)
    begin(Progress("study", "Slopes"))
    slopes_of_errors = slopes(errors, seed, grid)
    begin(Progress("study", "Convexity"))
    return Theory(
        cases, grid, constants, contraction, errors, slopes_of_errors, convexity_table(seed)
    )


def parts(cases: Sequence[Case], grid: Grid = WHOLE) -> int:
    """How many parts the study has: those that are told, slopes and convexity."""
    return len(NOISE_NAMES) * len(grid.settings) + len(cases) * (1 + len(STARTS)) + 2


def _counting(progress: Watcher | None, total: int) -> Watcher:
    """Count the parts of all tables together."""
    begun = count()

    def begin(part: Progress) -> None:
        if progress:
            progress(Progress("study", part.text, next(begun), total))

    return begin


def paper_cases() -> tuple[Case, ...]:
    """An ordinary setting, and one that meets the theorem's conditions by the paper's constants.

    The latter takes two items and a million judges of one accuracy; for normal noise also a
    ``C0`` of 0.3, for with the corollary's 1/2 it takes 600 million.
    """
    score, accuracy = evenly(10, -0.6, 0.6), np.repeat([1.0, 0.6], 10)
    few = [Truth(corollary_noise(name), score, accuracy, 400) for name in NOISE_NAMES]
    many = [
        Truth(corollary_noise(name), np.array([largest, -largest]), np.ones(2**20), 1)
        for name, largest in (("gumbel", 0.5), ("normal", 0.3))
    ]
    return (
        *(Case(FEW, truth, points=200, iterations=2000, is_sampled=True) for truth in few),
        *(Case(MANY, truth, points=5, iterations=2, is_sampled=False) for truth in many),
    )


# --- the constants, beside what is observed ------------------------------------------------------


def constants_table(
    trials: int, seed: int, cases: Sequence[Case], progress: Watcher | None = None
) -> pl.DataFrame:
    """Every constant: the paper's, the corrected one, and the extreme that is observed.

    The sampling errors are the largest over simulated data sets; with one vote for each of a
    million judges there is nothing to fit, so they are left out there. What is observed beside
    the judges that are needed is how many there are.
    """
    rows = []
    for case in cases:
        if progress:
            progress(Progress("study", f"Constants with {case.setting}"))
        truth = case.truth
        stated, corrected = paper_constants(truth), corrected_constants(truth)
        seen = observed_curvature(truth, seed, case.points, sampled=case.is_sampled)
        if case.is_sampled:
            seen |= observed_sampling_errors(truth, trials, seed)
        seen["judges_needed"] = float(len(truth.accuracy))
        for name in Constants._fields:
            paper_value, corrected_value = getattr(stated, name), getattr(corrected, name)
            rows.append(
                {
                    "setting": case.setting,
                    "noise": truth.noise.name,
                    "constant": LABELS.get(name, name),
                    "paper": paper_value,
                    "corrected": corrected_value,
                    "observed": seen.get(name),
                    "paper_holds": is_bounded(name, paper_value, seen.get(name)),
                    "corrected_holds": is_bounded(name, corrected_value, seen.get(name)),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def is_bounded(name: str, bound: float, observed: float | None) -> bool | None:
    """Whether what is observed lies on the right side of the constant, if that can be said."""
    if observed is None:
        return None
    return bool(bound <= observed) if name in LOWER_BOUNDS else bool(observed <= bound)


def observed_curvature(truth: Truth, seed: int, points: int, *, sampled: bool) -> dict[str, float]:
    """Extremes of the Hessian's blocks within the radius, in expectation and of one sample.

    ``stability`` is that of the expected loss at the truth alone, where it cannot be below 1.
    """
    losses = [expected_votes(truth)]
    if sampled:
        losses.append(sampled_votes(truth, seed).averaged())
    rng = np.random.default_rng(seed)
    positions = [*_extreme_points(truth), *(_random_point(truth, rng) for _ in range(points))]
    extremes = np.array(
        [_extremes(truth, votes, *position) for votes in losses for position in positions]
    )
    at_truth = _extremes(truth, losses[0], truth.score, truth.accuracy)
    least, largest = extremes.min(axis=0), extremes.max(axis=0)
    return {
        "mu1": float(least[0]),
        "mu2": float(least[2]),
        "l1": float(largest[1]),
        "l2": float(largest[3]),
        "m1": float(largest[4]),
        "m2": float(largest[4]),
        "stability": float(at_truth[4] / np.sqrt(at_truth[0] * at_truth[2])),
    }


def _extremes(truth: Truth, votes: CodedVotes, score: Floats, accuracy: Floats) -> Floats:
    """Least and largest eigenvalue in the scores, in the accuracies, and the mixed norm."""
    here = hessian(truth.noise.terms, votes, score, accuracy)
    of_scores = here.score_eigenvalues()
    of_accuracies = here.accuracy.min(), here.accuracy.max()
    return np.array([of_scores[0], of_scores[-1], *of_accuracies, here.mixed_norm()])


def _extreme_points(truth: Truth) -> Iterator[tuple[Floats, Floats]]:
    """The truth, and the scores drawn together and pulled apart as far as the radius allows."""
    stretch = truth.radius / truth.score_norm
    for factor in (1.0, 1.0 - stretch, 1.0 + stretch):
        yield truth.score * factor, truth.accuracy


def _random_point(truth: Truth, rng: np.random.Generator) -> tuple[Floats, Floats]:
    score, accuracy = rng.normal(size=len(truth.score)), rng.normal(size=len(truth.accuracy))
    score -= score.mean()
    return (
        truth.score + score * (truth.radius / np.linalg.norm(score)),
        truth.accuracy + accuracy * (truth.radius / np.linalg.norm(accuracy)),
    )


def observed_sampling_errors(truth: Truth, trials: int, seed: int) -> dict[str, float]:
    """The largest gradients at the truth and squared errors of the fit, over simulated votes."""
    found = []
    for trial in range(trials):
        draw = int(np.random.SeedSequence([seed, trial]).generate_state(1)[0])
        votes = sampled_votes(truth, draw).averaged()
        gradient = Objective(votes, truth.noise).gradients(truth.score, truth.accuracy)
        gradients = np.linalg.norm(gradient.state), np.linalg.norm(gradient.accuracy)
        found.append(np.array([*gradients, sum(squared_errors(truth, draw))]))
    names = ("epsilon1", "epsilon2", "statistical_error")
    return dict(zip(names, np.max(found, axis=0).tolist(), strict=True))


# --- the contraction -----------------------------------------------------------------------------


def contraction_table(
    seed: int, cases: Sequence[Case], progress: Watcher | None = None
) -> pl.DataFrame:
    """By what part the squared distance to the truth shrinks per iteration, beside ``1 - rho``.

    Algorithm 1 takes the theorem's steps with the paper's constants on the expected loss, where
    there is no statistical error, from half the radius away.
    """
    rows = []
    for case in cases:
        stated = paper_constants(case.truth)
        for start in STARTS:
            if progress:
                progress(Progress("study", f"Contraction with {case.setting}"))
            observed = shrinkage(case.truth, stated.step, start, case.iterations, seed)
            rows.append(
                {
                    "setting": case.setting,
                    "noise": case.truth.noise.name,
                    "start": start,
                    "promised": stated.shrinkage,
                    "observed": observed,
                    "ratio": observed / stated.shrinkage,
                    "holds": observed >= stated.shrinkage,
                }
            )
    return pl.DataFrame(rows)


def shrinkage(truth: Truth, step: float, start: str, iterations: int, seed: int = 0) -> float:
    """Part of the squared distance to the truth that one iteration of Algorithm 1 takes away."""
    objective = Objective(expected_votes(truth), truth.noise)
    begin = start_near(truth, start, seed)
    solver = PaperSolver(step, step, iterations=iterations, loss="mean", start=begin)
    end = solver.solve(objective)
    left = _squared_distance(truth, end.score, end.accuracy) / _squared_distance(truth, *begin)
    return 0.0 if abs(1.0 - left) < ROUNDING else float(-np.expm1(np.log(left) / iterations))


def start_near(truth: Truth, start: str, seed: int = 0) -> tuple[Floats, Floats]:
    """A point half the radius away from the truth (along the ridge: about that).

    Either the scores are moved at random; or the accuracies of the first two judges, who are
    alike, are pulled apart; or everything is moved along the ridge ``(c s, a / c)``.
    """
    distance = truth.radius / 2.0
    score, accuracy = truth.score.copy(), truth.accuracy.copy()
    if start == "scores":
        away = np.random.default_rng(seed).normal(size=len(score))
        away -= away.mean()
        score += away * (distance / np.linalg.norm(away))
    elif start == "accuracies":
        accuracy[:2] += np.array([1.0, -1.0]) * distance / np.sqrt(2.0)
    else:
        scale = 1.0 + distance / float(np.hypot(truth.score_norm, np.linalg.norm(accuracy)))
        score, accuracy = score * scale, accuracy / scale
    return score, accuracy


def _squared_distance(truth: Truth, score: Floats, accuracy: Floats) -> float:
    return float(np.sum((score - truth.score) ** 2) + np.sum((accuracy - truth.accuracy) ** 2))
