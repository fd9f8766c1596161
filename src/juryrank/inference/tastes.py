"""Tastes that stand out: who differs on what from the others, by how much, how surely."""

from __future__ import annotations

import numpy as np
import polars as pl

from juryrank.arrays import Floats
from juryrank.inference.sampling import Sample
from juryrank.votes import Votes, total_weight

FALSE_DISCOVERIES = 0.05
"""The share of tastes that are said to stand out, but have the other sign, is at most this."""
TASTES = {
    "judge": pl.String(),
    "item": pl.String(),
    "taste": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "votes": pl.Float64(),
}


def tastes_frame(found: Sample | None, votes: Votes, confidence: float) -> pl.DataFrame:
    """The tastes whose sign is known, those farthest from 0 first.

    They are told as votes show them: a backwards judge who votes for an item likes it.
    """
    if found is None or not found.has_tastes:
        labels = {"judge": votes.judges.dtype, "item": votes.items.dtype}
        return pl.DataFrame(schema=TASTES | labels)
    draws = found.taste * np.sign(found.accuracy[:: found.every])[:, found.taste_judge]
    wrong = (draws > 0.0).mean(axis=0)
    wrong = np.minimum(wrong, 1.0 - wrong)
    order = np.argsort(wrong, kind="stable")
    share = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    chosen = order[: int(np.searchsorted(share, FALSE_DISCOVERIES, side="right"))]
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(draws[:, chosen], (tail, 1.0 - tail), axis=0)
    return pl.DataFrame(
        {
            "judge": votes.judges.gather(found.taste_judge[chosen]),
            "item": votes.items.gather(found.taste_item[chosen]),
            "taste": draws[:, chosen].mean(axis=0),
            "low": low,
            "high": high,
            "votes": _votes_in(votes, found)[chosen],
        }
    ).sort(pl.col("taste").abs(), descending=True, maintain_order=True)


def _votes_in(votes: Votes, found: Sample) -> Floats:
    """The weight of each judge's votes on each item it has a taste for."""
    n = votes.n_items
    who, lists = votes.judge.astype(np.int64) * n, votes.lists
    entry = lists.judge[lists.entry_list].astype(np.int64) * n + lists.item
    key = np.concatenate((who + votes.left, who + votes.right, entry))
    weight = np.concatenate((votes.weight, votes.weight, lists.weight[lists.entry_list]))
    known = found.taste_judge * n + found.taste_item
    return total_weight(np.searchsorted(known, key), weight, len(known))
