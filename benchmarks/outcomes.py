"""How right an answer is, and what to call a run.

- ok: the answer is at its optimum and ranks as well as can be asked.
- not converged: the program says so itself; or, for maximum likelihood, some item's score would
  still move by more than `STEP` of its standard error.
- wrong: Kendall's tau to the true scores is more than `MARGIN` below what counting wins gets.
- timed out, and failed (with the reason).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import kendalltau

Floats = NDArray[np.float64]

OK, NOT_CONVERGED, WRONG, TIMED_OUT, FAILED = (
    "ok", "not converged", "wrong", "timed out", "failed",
)  # fmt: skip
MARGIN = 0.05
STEP = 0.1
PART = 2_000_000
LONGEST_REASON = 120


class Agreement(NamedTuple):
    """Kendall's tau to the true scores: of the answer, and of the share of votes won."""

    answer: float
    wins: float


def outcome(tau: float, tau_of_wins: float, *, converged: bool | None, step: float | None) -> str:
    """What to call a run that came to an end; None: nothing is known."""
    if not np.isfinite(tau) or tau < tau_of_wins - MARGIN:
        return WRONG
    if converged is False or (step is not None and not step <= STEP):
        return NOT_CONVERGED
    return OK


def failed(reason: str) -> str:
    """What to call a run that broke, on one line."""
    line = " ".join(reason.split())
    if len(line) > LONGEST_REASON:
        line = line[: LONGEST_REASON - 3] + "..."
    return f"{FAILED}: {line}"


def agreement(scores: pl.DataFrame, truth: pl.DataFrame) -> Agreement:
    """Compare scores (item, score) with the truth, over the items that were in the votes."""
    seen = truth.filter(pl.col("seen") > 0)
    both = seen.join(scores.rename({"score": "answer"}), on="item", how="left")
    true, answer = both["score"].to_numpy(), both["answer"].to_numpy()
    share = (both["won"] / both["seen"]).to_numpy()
    complete = bool(np.isfinite(answer).all())
    return Agreement(
        float(kendalltau(true, answer).statistic) if complete else float("nan"),
        float(kendalltau(true, share).statistic),
    )


def largest_step(frame: pl.DataFrame, scores: pl.DataFrame) -> float:
    """How far the likelihood of Bradley-Terry is from its maximum.

    The largest ``|gradient| / sqrt(curvature)`` of an item: its Newton step in standard errors.
    """
    items = pl.Enum(scores["item"])
    score = scores["score"].to_numpy()
    gradient, curvature = np.zeros(len(score)), np.zeros(len(score))
    for first in range(0, len(frame), PART):
        part = frame.slice(first, PART)
        left, right = (
            part[side].cast(items).to_physical().to_numpy() for side in ("left", "right")
        )
        left_won = (part["winner"] == "left").to_numpy()
        _add_gradients(score, left, right, left_won, gradient, curvature)
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(gradient) / np.sqrt(curvature)))


def _add_gradients(
    score: Floats,
    left: NDArray[np.generic],
    right: NDArray[np.generic],
    left_won: NDArray[np.bool_],
    gradient: Floats,
    curvature: Floats,
) -> None:
    n = len(score)
    with np.errstate(over="ignore"):
        chance = 1.0 / (1.0 + np.exp(score[right] - score[left]))
    residual, spread = left_won - chance, chance * (1.0 - chance)
    gradient += np.bincount(left, residual, n) - np.bincount(right, residual, n)
    curvature += np.bincount(left, spread, n) + np.bincount(right, spread, n)
