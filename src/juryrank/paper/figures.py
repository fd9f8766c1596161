"""The paper's two figures: errors against accuracy, and the convergence of Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from juryrank.charts.library import altair
from juryrank.model.noise import noise_named
from juryrank.model.objective import Objective
from juryrank.paper.pictures import save_study
from juryrank.paper.synthetic import SCORES, STEP_OF_ACCURACIES, STEP_OF_SCORES, Cell
from juryrank.reading import votes_from
from juryrank.simulation.simulation import simulate
from juryrank.solvers.paper import PaperSolver
from juryrank.solvers.profile import ProfileSolver
from juryrank.solvers.solution import Trace
from juryrank.threads import one_blas_thread
from juryrank.types import Floats

# --- the probability of error against the accuracy -----------------------------------------------


def accuracy_curve() -> pl.DataFrame:
    """The chance that a judge errs on two items with scores 0 and 1, for accuracies -5 to 5."""
    gamma = np.linspace(-5.0, 5.0, 201)
    return pl.concat(
        pl.DataFrame({"noise": name, "gamma": gamma, "error": noise_named(name).cdf(-gamma)})
        for name in ("gumbel", "normal")
    )


def save_accuracy_curve(folder: Path, command: str) -> list[Path]:
    """Write accuracy-curve.csv, .md and .png; the files written."""
    alt = altair()
    curve = accuracy_curve()
    chart = alt.Chart(curve, width=480, height=200, title="Chance of an error, scores 0 and 1")
    lines = chart.mark_line().encode(x="gamma:Q", y="error:Q", color="noise:N")
    page = [
        "# accuracy-curve",
        "",
        f"Made by `{command}`. The chance that a judge of accuracy gamma prefers the item of score "
        "0 to the one of score 1: near 0 for a careful judge, one half for one who guesses, near 1 "
        "for one who votes backwards.",
        "",
        "![Chance of an error](accuracy-curve.png)",
    ]
    return save_study(folder, "accuracy-curve", curve, page, lines)


# --- convergence ---------------------------------------------------------------------------------

ITERATIONS = 3000
SETTINGS = ((0.4, 2.5), (0.8, 2.5), (0.4, 10.0), (0.8, 10.0))
"""Pairs of alpha and gamma_a; gamma_b is 1."""
RATE_BETWEEN = (0.3, 1e-5)
"""The rate is fitted while the distance to the limit falls between these parts of its start."""
SHOWN_EVERY = 20
SERIES = ("error of scores", "error of accuracies", "distance to the limit")


@dataclass(frozen=True, eq=False)
class Descent:
    """The path of Algorithm 1 in one setting, everything with a mean |accuracy| of 1."""

    cell: Cell
    score_error: Floats
    """Relative distance to the true scores after each iteration."""
    accuracy_error: Floats
    distance: Floats
    """Distance of scores and accuracies to the maximum of the likelihood."""

    @property
    def rate(self) -> float:
        """Factor by which the distance to the limit falls in one iteration (fitted)."""
        part = self.distance / self.distance[0]
        inside = np.flatnonzero((part < RATE_BETWEEN[0]) & (part > RATE_BETWEEN[1]))
        slope, _ = np.polyfit(inside, np.log(part[inside]), 1)
        return float(np.exp(slope))


def convergence_path(cell: Cell, seed: int, iterations: int = ITERATIONS) -> Descent:
    """Run Algorithm 1, as it stands in the paper, on one simulated data set."""
    truth = (SCORES - SCORES.mean(), np.array(cell.accuracies()))
    made = simulate(
        scores=SCORES.tolist(), accuracies=truth[1].tolist(), model="htm", noise=cell.noise,
        density=cell.alpha, seed=seed,
    )  # fmt: skip
    votes = votes_from(made.votes)
    objective = Objective(votes.for_model(), noise_named(cell.noise))
    step = STEP_OF_SCORES[cell.noise]
    solver = PaperSolver(step, STEP_OF_ACCURACIES, iterations=iterations, keep_trace=True)
    with one_blas_thread():
        trace = cast(Trace, solver.solve(objective).trace)
        limit = ProfileSolver(tolerance=1e-9).solve(objective, truth[0])
    states = [_gauged(s, a) for s, a in zip(trace.score, trace.accuracy, strict=True)]
    best, true = _gauged(limit.score, limit.accuracy), _gauged(*truth)
    return Descent(
        cell,
        np.array([_relative(state[0], true[0]) for state in states]),
        np.array([_relative(state[1], true[1]) for state in states]),
        np.array([_distance(state, best) for state in states]),
    )


def _gauged(score: Floats, accuracy: Floats) -> tuple[Floats, Floats]:
    scale = float(np.abs(accuracy).mean())
    return (score - score.mean()) * scale, accuracy / scale


def _distance(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> float:
    apart = np.concatenate((one[0] - other[0], one[1] - other[1]))
    return float(np.linalg.norm(apart))


def _relative(found: Floats, true: Floats) -> float:
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


def convergence(seed: int = 0, iterations: int = ITERATIONS) -> list[Descent]:
    """The paths for both noises and several densities and accuracies, all judges honest."""
    cells = [
        Cell(f"{noise}-benign", alpha, 1.0, gamma_a)
        for noise in ("gumbel", "normal")
        for alpha, gamma_a in SETTINGS
    ]
    return [convergence_path(cell, seed, iterations) for cell in cells]


def rates(paths: list[Descent]) -> pl.DataFrame:
    """One row for each path: the fitted rate and the error that is left at the end."""
    return pl.DataFrame(
        [
            {
                "noise": path.cell.noise,
                "alpha": path.cell.alpha,
                "gamma_a": path.cell.gamma_a,
                "gamma_b": path.cell.gamma_b,
                "rate": path.rate,
                "score_error_left": float(path.score_error[-1]),
                "accuracy_error_left": float(path.accuracy_error[-1]),
            }
            for path in paths
        ]
    )


def save_convergence(paths: list[Descent], folder: Path, command: str) -> list[Path]:
    """Write convergence.csv, .md and .png; the files written."""
    curves = pl.concat(_curves(path) for path in paths)
    table = rates(paths)
    page = [
        "# convergence",
        "",
        f"Made by `{command}`. Algorithm 1 as it stands in the paper (both gradients at the old "
        "point), on one simulated data set for each setting, all judges honest. Errors are "
        "relative to the true values, everything scaled to a mean accuracy of 1. The distance to "
        "the maximum of the likelihood falls by the factor `rate` in each iteration (fitted on the "
        "straight part of its logarithm); the error against the truth falls with it until only the "
        "statistical error is left.",
        "",
        "![Errors against iterations](convergence.png)",
        "",
        "| " + " | ".join(table.columns) + " |",
        "|" + "---|" * len(table.columns),
        *("| " + " | ".join(_cell(value) for value in row) + " |" for row in table.iter_rows()),
    ]
    return save_study(folder, "convergence", curves, page, _convergence_chart(curves))


def _curves(path: Descent) -> pl.DataFrame:
    shown = np.arange(0, len(path.distance), SHOWN_EVERY)
    values = (path.score_error, path.accuracy_error, path.distance / path.distance[0])
    series = dict(zip(SERIES, values, strict=True))
    return pl.concat(
        pl.DataFrame(
            {
                "noise": path.cell.noise,
                "setting": f"alpha {path.cell.alpha:g}, gamma_a {path.cell.gamma_a:g}",
                "what": name,
                "iteration": shown,
                "value": curve[shown],
            }
        )
        for name, curve in series.items()
    )


def _convergence_chart(curves: pl.DataFrame) -> Any:
    alt = altair()
    visible = curves.filter(pl.col("value") > 1e-9)
    return (
        alt.Chart(visible, width=230, height=170)
        .mark_line()
        .encode(
            x=alt.X("iteration:Q"),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(type="log")),
            color=alt.Color("setting:N", title=None),
            row=alt.Row("noise:N", title=None),
            column=alt.Column("what:N", title=None, sort=list(SERIES)),
        )
        .resolve_scale(y="independent")
    )


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def curve_lines(curve: pl.DataFrame) -> Iterator[tuple[str, list[str]]]:
    """The accuracy curve at whole accuracies, a row for each noise."""
    for (noise,), rows in curve.group_by(["noise"], maintain_order=True):
        whole = rows.filter(pl.col("gamma") == pl.col("gamma").round())
        yield str(noise), [f"{value:.2f}" for value in whole["error"]]
