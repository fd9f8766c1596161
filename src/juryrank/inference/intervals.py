"""What the tables say of doubt, read off the posterior: intervals, ranks, tiers, differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.errors import percent
from juryrank.inference.posterior import Gap, Posterior
from juryrank.inference.ranks_and_tiers import claims, no_claims
from juryrank.model.points import Scale, ScaleName

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
    """Two-sided: twice the chance that the order is the other way round."""
    chance_better: float
    """The chance that the item is truly the better one."""
    scale: ScaleName = "model"
    """What the difference is measured on."""

    def __repr__(self) -> str:
        return f"Difference({self})"

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


def item_columns(
    posterior: Posterior | None,
    orders: Sequence[Codes],
    rank: Codes,
    confidence: float,
    *,
    direction_is_sure: bool,
) -> dict[str, pl.Series]:
    """What is known of the items beyond their scores; nulls where nothing is.

    Each of `orders` has the items of a group, best first; ranks are those within it.
    """
    order = np.concatenate(orders)
    names = ("score_low", "score_high", "rank_low", "rank_high", "p_best", "tier")
    if posterior is None:
        whole = ("rank_low", "rank_high", "tier")
        return {
            name: pl.Series([None] * len(order), dtype=pl.Int64 if name in whole else pl.Float64)
            for name in names
        }
    low, high = posterior.score_interval(confidence)
    known = direction_is_sure
    claimed = claims(posterior, orders, confidence) if known else no_claims(orders)
    columns = (
        low[order],
        high[order],
        np.minimum(claimed.rank_low, rank),
        np.maximum(claimed.rank_high, rank),
        posterior.p_best(orders),
        claimed.tier,
    )
    return {name: pl.Series(column) for name, column in zip(names, columns, strict=True)}


def difference(
    labels: tuple[object, object], gap: Gap, confidence: float, scale: Scale
) -> Difference:
    """Compare two items, whose `gap` is on the model's own scale."""
    return Difference(
        *labels,
        difference=scale.unit * gap.difference,
        low=scale.unit * gap.low,
        high=scale.unit * gap.high,
        confidence=confidence,
        p_value=min(2.0 * gap.doubt, 1.0),
        chance_better=gap.chance,
        scale=scale.name,
    )
