"""Intervals, rank intervals, tiers and differences, from the covariance of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.arrays import Floats
from juryrank.errors import percent
from juryrank.normal import below, quantile
from juryrank.scaling import Scale, ScaleName
from juryrank.uncertainty import Uncertainty

DRAWS = 2_000
DRAWS_OF_MANY = 500
MANY_ITEMS = 300

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Difference:
    """How much better one item is than another, and how sure that is."""

    item: object
    other: object
    difference: float
    """Score of the item minus score of the other."""
    low: float
    high: float
    confidence: float
    p_value: float
    """Two-sided: the chance of so large a difference if there were none."""
    chance_better: float
    """The chance that the item is truly the better one."""
    scale: ScaleName = "model"
    """What the difference is measured on."""

    def __str__(self) -> str:
        decimals = 3 if self.scale == "model" else 0
        gap, low, high = (
            f"{value:+z.{decimals}f}" for value in (self.difference, self.low, self.high)
        )
        return (
            f"{self.item} - {self.other}: {gap} "
            f"({low} to {high} with {percent(self.confidence)} confidence), "
            f"p = {self.p_value:.2g}; {self.item} is the better one with a chance of "
            f"{_chance_in_words(self.chance_better)}"
        )


def _chance_in_words(chance: float) -> str:
    """A chance in percent that is never rounded to a certainty."""
    if chance > 0.999:
        return "over 99.9%"
    return "under 0.1%" if chance < 0.001 else f"{chance:.1%}"


def half_width(confidence: float) -> float:
    """Standard errors on either side of an estimate."""
    return -quantile(0.5 * (1.0 - confidence))


def item_columns(
    score: Floats,
    order: Codes,
    rank: Codes,
    uncertainty: Uncertainty | None,
    confidence: float,
    *,
    direction_is_sure: bool,
) -> dict[str, pl.Series]:
    """What is known of the items beyond their scores, best first; nulls where nothing is."""
    names = ("score_low", "score_high", "rank_low", "rank_high", "p_best", "tier")
    if uncertainty is None:
        whole = ("rank_low", "rank_high", "tier")
        return {
            name: pl.Series([None] * len(order), dtype=pl.Int64 if name in whole else pl.Float64)
            for name in names
        }
    half = half_width(confidence) * np.sqrt(uncertainty.score_variance[order])
    low, high, p_best = _places(score, uncertainty, confidence)
    columns = (
        score[order] - half,
        score[order] + half,
        np.minimum(low[order], rank),
        np.maximum(high[order], rank),
        p_best[order],
        _tiers(score, order, uncertainty, confidence)
        if direction_is_sure
        else np.ones(len(order), dtype=np.int64),
    )
    return {name: pl.Series(column) for name, column in zip(names, columns, strict=True)}


def _places(
    score: Floats, uncertainty: Uncertainty, confidence: float
) -> tuple[Codes, Codes, Floats]:
    """Lowest and highest plausible rank of each item, and its chance to be the best."""
    n = len(score)
    count = DRAWS if n <= MANY_ITEMS else DRAWS_OF_MANY
    place, done = np.empty((count, n), dtype=np.int32), 0
    ranks = np.arange(1, n + 1, dtype=np.int32)[None, :]
    for errors in uncertainty.draws(count, seed=0):
        order = np.argsort(-(score + errors), axis=1)
        np.put_along_axis(place[done : done + len(errors)], order, ranks, axis=1)
        done += len(errors)
    tail = 0.5 * (1.0 - confidence)
    low = np.quantile(place, tail, axis=0, method="lower").astype(np.int64)
    high = np.quantile(place, 1.0 - tail, axis=0, method="higher").astype(np.int64)
    return low, high, np.asarray((place == 1).mean(axis=0))


def _tiers(score: Floats, order: Codes, uncertainty: Uncertainty, confidence: float) -> Codes:
    """Group the items, from the best down.

    An item opens a new tier if it is surely worse than the first one of the tier above: by more
    standard errors of their difference than chance would give to any of the n (n - 1) / 2 pairs
    (Bonferroni).
    """
    n = len(order)
    far = half_width(1.0 - (1.0 - confidence) / max(n * (n - 1) / 2, 1.0))
    tier = np.ones(n, dtype=np.int64)
    first = 0
    while first < n:
        top = int(order[first])
        error = np.sqrt(uncertainty.difference_variances(top)[order[first:]])
        surely_worse = np.flatnonzero(score[top] - score[order[first:]] > far * error)
        # An error of 0 with a difference of 0 is the item itself, or an exact tie.
        surely_worse = surely_worse[surely_worse > 0]
        if not len(surely_worse):
            break
        first += int(surely_worse[0])
        tier[first:] += 1
    return tier


def difference(
    labels: tuple[object, object],
    codes: tuple[int, int],
    gap: float,
    uncertainty: Uncertainty,
    confidence: float,
    scale: Scale,
) -> Difference:
    """Compare two items, whose `gap` is on the model's own scale."""
    i, j = codes
    error = float(np.sqrt(uncertainty.difference_variance(i, j)))
    z = gap / error if error > 0.0 else 0.0
    half = half_width(confidence) * error
    return Difference(
        *labels,
        difference=scale.unit * gap,
        low=scale.unit * (gap - half),
        high=scale.unit * (gap + half),
        confidence=confidence,
        p_value=2.0 * below(-abs(z)),
        chance_better=below(z),
        scale=scale.name,
    )
