"""How close our default comes to the best any estimator can do: the Cramer-Rao bound.

The expected information of ``k`` votes of each judge on random ordered pairs, at the true scores
and accuracies, with ``x = a_u (s_i - s_j)`` and ``f = F'``, is

    J = k sum_u mean_{i != j} f(x)^2 / (F(x) F(-x)) grad x grad x'.

Scores that sum to 0 and a mean |accuracy| of 1 are two linear constraints; with ``U`` a basis of
the directions they leave free, no unbiased estimator has a smaller covariance than
``U (U' J U)^-1 U'``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from scipy.linalg import null_space

from juryrank.charts.library import altair
from juryrank.errors import JuryrankWarning
from juryrank.model.noise import Noise, noise_named
from juryrank.paper.pictures import save_study
from juryrank.progress import Progress, Watcher
from juryrank.ranking.rank import rank
from juryrank.simulation.simulation import simulate
from juryrank.types import Floats

MODELS = {"hbtl": "gumbel", "htcv": "normal"}
VOTES_PER_JUDGE = (50, 100, 200, 400, 800, 1600, 3200)
TRIALS = 60
ITEMS = 12
ACCURACIES = np.array([2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.5, -1.0])


def true_values() -> tuple[Floats, Floats]:
    """Scores and accuracies, scaled as our answers are."""
    scale = float(np.abs(ACCURACIES).mean())
    score = np.linspace(-1.0, 1.0, ITEMS) * scale
    return score, ACCURACIES / scale


def bound(noise: Noise, votes: int) -> tuple[float, float]:
    """The smallest possible root mean square errors of scores and of accuracies."""
    score, accuracy = true_values()
    n, m = len(score), len(accuracy)
    information = np.zeros((n + m, n + m))
    left, right = np.nonzero(~np.eye(n, dtype=np.bool_))
    gap = score[left] - score[right]
    rows = np.arange(len(gap))
    for u in range(m):
        value, gradient, _ = noise.terms(accuracy[u] * gap)
        chance = np.exp(-value)
        weight = (gradient * chance) ** 2 / (chance * (1.0 - chance))
        gradient = np.zeros((len(gap), n + m))
        gradient[rows, left] = accuracy[u]
        gradient[rows, right] = -accuracy[u]
        gradient[:, n + u] = gap
        information += votes / len(gap) * (gradient.T * weight) @ gradient
    fixed = np.zeros((2, n + m))
    fixed[0, :n] = 1.0
    fixed[1, n:] = np.sign(accuracy)
    free = null_space(fixed)
    covariance = free @ np.linalg.inv(free.T @ information @ free) @ free.T
    variance = np.diag(covariance)
    return float(np.sqrt(variance[:n].mean())), float(np.sqrt(variance[n:].mean()))


def efficiency(
    trials: int = TRIALS,
    seed: int = 0,
    progress: Watcher | None = None,
    votes_per_judge: Sequence[int] = VOTES_PER_JUDGE,
) -> pl.DataFrame:
    """Root mean square errors of our default for growing numbers of votes, beside the bound."""
    settings = [(model, votes) for model in MODELS for votes in votes_per_judge]
    rows = []
    for number, (model, votes) in enumerate(settings):
        if progress:
            progress(Progress("study", "Efficiency", number, len(settings)))
        errors = np.array([_errors(model, votes, seed, trial) for trial in range(trials)])
        best = bound(noise_named(MODELS[model]), votes)
        for what, mean_square, least in zip(
            ("scores", "accuracies"), errors.mean(axis=0), best, strict=True
        ):
            rmse = float(np.sqrt(mean_square))
            row = {"model": model, "votes_per_judge": votes, "what": what, "rmse": rmse}
            rows.append(row | {"bound": least, "ratio": rmse / least, "trials": trials})
    return pl.DataFrame(rows)


def _errors(model: str, votes: int, seed: int, trial: int) -> tuple[float, float]:
    """Mean square errors of scores and accuracies in one simulated data set."""
    score, accuracy = true_values()
    draw = int(np.random.SeedSequence([seed, votes, trial]).generate_state(1)[0])
    made = simulate(
        scores=score.tolist(), accuracies=accuracy.tolist(), model=model, votes_per_judge=votes,
        seed=draw,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        ranking = rank(made.votes, model, tastes=False, intervals="information", threads=1)
    found_score = ranking.items.sort("item")["score"].to_numpy()
    found_accuracy = ranking.judges.sort("judge")["accuracy"].to_numpy()
    return float(np.mean((found_score - score) ** 2)), float(
        np.mean((found_accuracy - accuracy) ** 2)
    )


def save_efficiency(table: pl.DataFrame, folder: Path, command: str) -> list[Path]:
    """Write efficiency.csv, .md and .png; the files written."""
    alt = altair()
    chart = (
        alt.Chart(table, width=320, height=220, title="Root mean square error / Cramer-Rao bound")
        .mark_line(point=True)
        .encode(
            x=alt.X("votes_per_judge:Q", scale=alt.Scale(type="log")),
            y=alt.Y("ratio:Q", scale=alt.Scale(zero=False)),
            color=alt.Color("model:N", title=None),
            column=alt.Column("what:N", title=None),
        )
    )
    page = [
        "# efficiency",
        "",
        f"Made by `{command}`. Root mean square errors of our default (its model told, its prior "
        f"chosen by the data) over {table['trials'][0]} simulated data sets of {ITEMS} items and "
        f"{len(ACCURACIES)} judges, one of them backwards, beside the Cramer-Rao bound. A ratio of "
        "1 is the best an unbiased estimator can do; with few votes the prior's shrinkage can do "
        "better.",
        "",
        "![Ratio against votes](efficiency.png)",
        "",
        "| model | votes per judge | what | error | bound | ratio |",
        "|---|---|---|---|---|---|",
        *(
            f"| {row['model']} | {row['votes_per_judge']} | {row['what']} | {row['rmse']:.4f} | "
            f"{row['bound']:.4f} | {row['ratio']:.2f} |"
            for row in table.iter_rows(named=True)
        ),
    ]
    return save_study(folder, "efficiency", table, page, chart)
