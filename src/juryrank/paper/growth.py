"""How the squared error grows with items, judges and votes, beside ``n^2 log(m n^2) / (m k)``.

The error is the theorem's, ``|s - s*|^2 + |a - a*|^2``, summed over items and over judges, of the
maximum of the likelihood, where Algorithm 1 converges to. ``(c s, a / c)`` has the same
likelihood for every ``c``, so the error is taken at the ``c`` for which it is smallest: no other
scale makes the theorem look better.

What to expect: with ``J`` the information of the ``m k`` votes, singular along the common shift
of the scores and along ``(s*, -a*)``, the nearest point has the covariance ``J^+`` (the
pseudo-inverse) where votes are many. Its trace over the scores goes like ``n^2 / (m k)``, and that
over the accuracies like ``m / k``, for each judge is known from its own ``k`` votes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.optimize import minimize_scalar

from juryrank.model.noise import Noise, noise_named
from juryrank.model.objective import Objective
from juryrank.paper.constants import Truth
from juryrank.paper.curvature import expected_votes, hessian, sampled_votes
from juryrank.progress import Progress, Watcher
from juryrank.solvers.profile import ProfileSolver
from juryrank.threads import one_blas_thread
from juryrank.types import Floats

NOISE_NAMES = ("gumbel", "normal")
WHATS = ("scores", "accuracies", "both")
RESAMPLES = 2000
INTERVAL = (0.025, 0.975)
WIDEST_SCALE = 3.0
"""The scale ``c`` is looked for between ``e^-3`` and ``e^3``."""

Setting = tuple[int, int, int]


@dataclass(frozen=True)
class Grid:
    """The settings ``(n, m, k)``: one of them varies at a time, the others are as in the base."""

    base: Mapping[str, int]
    axes: Mapping[str, tuple[int, ...]]

    def settings_of(self, axis: str) -> list[Setting]:
        """The settings in which one of them varies."""
        chosen = [{**self.base, axis: value} for value in self.axes[axis]]
        return [(setting["n"], setting["m"], setting["k"]) for setting in chosen]

    @property
    def settings(self) -> list[Setting]:
        """Every setting once."""
        every = (setting for axis in self.axes for setting in self.settings_of(axis))
        return list(dict.fromkeys(every))


WHOLE = Grid(
    base={"n": 20, "m": 20, "k": 1000},
    axes={
        "n": (5, 10, 20, 40, 80),
        "m": (5, 10, 20, 40, 80),
        "k": (250, 500, 1000, 2000, 4000),
    },
)


def evenly(count: int, low: float, high: float) -> Floats:
    """The midpoints of equal parts of an interval, so that their spread hardly varies."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def growth_truth(noise: Noise, setting: Setting) -> Truth:
    """Scores evenly between -1 and 1, accuracies evenly between 1/2 and 3/2."""
    n, m, k = setting
    return Truth(noise, evenly(n, -1.0, 1.0), evenly(m, 0.5, 1.5), k)


def squared_errors(truth: Truth, seed: int) -> tuple[float, float]:
    """Squared errors of scores and accuracies of one unregularised fit to simulated votes."""
    objective = Objective(sampled_votes(truth, seed), truth.noise)
    found = ProfileSolver().solve(objective, truth.score)
    return nearest_errors(truth, found.score, found.accuracy)


def nearest_errors(truth: Truth, score: Floats, accuracy: Floats) -> tuple[float, float]:
    """``|c s - s*|^2`` and ``|a / c - a*|^2`` for the ``c`` with the smallest sum."""

    def errors(log_scale: float) -> tuple[float, float]:
        scale = float(np.exp(log_scale))
        return (
            float(np.sum((scale * score - truth.score) ** 2)),
            float(np.sum((accuracy / scale - truth.accuracy) ** 2)),
        )

    best = minimize_scalar(
        lambda log_scale: sum(errors(log_scale)), bounds=(-WIDEST_SCALE, WIDEST_SCALE),
        method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return errors(float(best.x))


def asymptotic_errors(truth: Truth) -> tuple[float, float]:
    """What the errors come to where votes are many: the traces of ``J^+``."""
    here = hessian(truth.noise.terms, expected_votes(truth), truth.score, truth.accuracy)
    information = len(truth.accuracy) * truth.votes * here.joint()
    variance = np.diag(np.linalg.pinv(information, rcond=1e-9, hermitian=True))
    n = len(truth.score)
    return float(variance[:n].sum()), float(variance[n:].sum())


def rate(setting: Setting) -> float:
    """``n^2 log(m n^2) / (m k)``."""
    n, m, k = setting
    return float(n**2 * np.log(m * n**2) / (m * k))


def growth(
    trials: int, seed: int = 0, progress: Watcher | None = None, grid: Grid = WHOLE
) -> pl.DataFrame:
    """The squared errors of every trial in every setting, for both noises."""
    jobs = [(name, setting) for name in NOISE_NAMES for setting in grid.settings]
    rows = []
    for number, (name, setting) in enumerate(jobs):
        if progress:
            progress(Progress("study", "Growth of errors", number, len(jobs)))
        truth = growth_truth(noise_named(name), setting)
        sizes = dict(zip("nmk", setting, strict=True))
        for trial in range(trials):
            key = [seed, NOISE_NAMES.index(name), *setting, trial]
            draw = int(np.random.SeedSequence(key).generate_state(1)[0])
            with one_blas_thread():
                scores, accuracies = squared_errors(truth, draw)
            errors = {"scores": scores, "accuracies": accuracies, "both": scores + accuracies}
            rows.append({"noise": name, **sizes, "trial": trial, **errors})
    return pl.DataFrame(rows)


def mean_errors(trials: pl.DataFrame, grid: Grid = WHOLE) -> pl.DataFrame:
    """Mean errors by axis and setting, beside what is expected and the theorem's rate."""
    rows = []
    for name in NOISE_NAMES:
        for axis in grid.axes:
            for setting in grid.settings_of(axis):
                expected = asymptotic_errors(growth_truth(noise_named(name), setting))
                for what, expectation in zip(WHATS, (*expected, sum(expected)), strict=True):
                    key = {"noise": name, "axis": axis, **dict(zip("nmk", setting, strict=True))}
                    errors = _errors(trials, name, setting, what)
                    numbers = {"error": float(errors.mean()), "expected": expectation}
                    rows.append(key | {"what": what, **numbers, "rate": rate(setting)})
    return pl.DataFrame(rows)


def slopes(trials: pl.DataFrame, seed: int = 0, grid: Grid = WHOLE) -> pl.DataFrame:
    """Slopes of log error on log n, log m and log k, with 95 % intervals.

    The intervals come from trials drawn again with replacement within each setting. Beside them
    stand the slopes of the theorem's rate and of the expected error on the same grid.
    """
    rng = np.random.default_rng(seed)
    means = mean_errors(trials, grid)
    rows = []
    for name in NOISE_NAMES:
        for axis, values in grid.axes.items():
            settings = grid.settings_of(axis)
            for what in WHATS:
                columns = [_errors(trials, name, setting, what) for setting in settings]
                again = np.array([_resampled_means(errors, rng) for errors in columns])
                low, high = np.quantile(_slope(values, again), INTERVAL)
                here = means.filter(noise=name, axis=axis, what=what)
                rows.append(
                    {
                        "noise": name,
                        "axis": axis,
                        "what": what,
                        "slope": float(_slope(values, here["error"].to_numpy())),
                        "low": float(low),
                        "high": float(high),
                        "bound": float(_slope(values, here["rate"].to_numpy())),
                        "expected": float(_slope(values, here["expected"].to_numpy())),
                    }
                )
    return pl.DataFrame(rows)


def _errors(trials: pl.DataFrame, name: str, setting: Setting, what: str) -> Floats:
    n, m, k = setting
    return trials.filter(noise=name, n=n, m=m, k=k)[what].to_numpy()


def _resampled_means(errors: Floats, rng: np.random.Generator) -> Floats:
    drawn = rng.integers(0, len(errors), (RESAMPLES, len(errors)))
    return np.asarray(errors[drawn].mean(axis=1))


def _slope(along: tuple[int, ...], errors: Floats) -> Floats:
    """Least-squares slope of log error along the log of an axis, for each column of errors."""
    return np.asarray(np.polyfit(np.log(along), np.log(errors), 1)[0])
