"""Tastes that stand out: who differs on what from the others, by how much, how surely."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.arrays import Floats
from juryrank.guard import LEAST_OTHERS, LEAST_VOTES, NOBODY, OneSided
from juryrank.inference.sampling import Sample
from juryrank.noise import Noise
from juryrank.solvers.solution import Solution
from juryrank.votes import Votes, total_weight

FALSE_DISCOVERIES = 0.05
"""The share of tastes that are said to stand out, but have the other sign, is at most this."""
FAR = 4.0
"""An outlier is so many times as far from the others' opinion as judges usually are,"""
LARGE = 1.5
"""and changes the judge's votes by so much (log-odds for Gumbel noise);"""
SURELY = 0.95
"""both with this chance."""

TASTES = {
    "judge": pl.String(),
    "item": pl.String(),
    "taste": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "votes": pl.Float64(),
}


def tastes_frame(found: Sample | None, votes: Votes, confidence: float) -> pl.DataFrame:
    """The tastes whose sign is known, those farthest from 0 first."""
    if found is None or not found.has_tastes:
        return pl.DataFrame(schema=TASTES)
    draws = found.taste
    wrong = (draws > 0.0).mean(axis=0)
    wrong = np.minimum(wrong, 1.0 - wrong)
    order = np.argsort(wrong, kind="stable")
    share = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
    chosen = order[: int(np.searchsorted(share, FALSE_DISCOVERIES, side="right"))]
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(draws[:, chosen].astype(np.float64), (tail, 1.0 - tail), axis=0)
    return pl.DataFrame(
        {
            "judge": votes.judges.gather(found.taste_judge[chosen]),
            "item": votes.items.gather(found.taste_item[chosen]),
            "taste": draws[:, chosen].astype(np.float64).mean(axis=0),
            "low": low,
            "high": high,
            "votes": _votes_in(votes, found)[chosen],
        }
    ).sort(pl.col("taste").abs(), descending=True, maintain_order=True)


def outlying_tastes(found: Sample, votes: Votes, noise: Noise, solution: Solution) -> OneSided:
    """Judges whose votes on one item hardly anything but a wish for it explains."""
    size = np.abs(found.taste)
    accuracy = np.abs(found.accuracy[:: found.every])[:, found.taste_judge]
    usual = FAR * found.taste_sd[:: found.every, None]
    chance = ((size > usual) & (accuracy * size > LARGE)).mean(axis=0)
    count = _votes_in(votes, found)
    judges_on = np.bincount(found.taste_item, minlength=votes.n_items)[found.taste_item]
    odd = (chance >= SURELY) & (count >= LEAST_VOTES) & (judges_on > LEAST_OTHERS)
    cells = np.flatnonzero(odd)
    if not len(cells):
        return NOBODY
    mean = found.taste[:, cells].astype(np.float64).mean(axis=0)
    cells = cells[np.argsort(-np.abs(mean), kind="stable")]
    judge, item = found.taste_judge[cells], found.taste_item[cells]
    tallies = [_tally(votes, noise, solution, u, i) for u, i in zip(judge, item, strict=True)]
    total, won, expected = (np.array(part) for part in zip(*tallies, strict=True))
    return OneSided(judge, item, total, won, expected, np.sort(-np.abs(mean)))


def _votes_in(votes: Votes, found: Sample) -> Floats:
    """The weight of each judge's votes on each item it has a taste for."""
    n = votes.n_items
    who, lists = votes.judge.astype(np.int64) * n, votes.lists
    entry = lists.judge[lists.entry_list].astype(np.int64) * n + lists.item
    key = np.concatenate((who + votes.left, who + votes.right, entry))
    weight = np.concatenate((votes.weight, votes.weight, lists.weight[lists.entry_list]))
    known = found.taste_judge * n + found.taste_item
    return total_weight(np.searchsorted(known, key), weight, len(known))


def _tally(
    votes: Votes, noise: Noise, solution: Solution, judge: int, item: int
) -> tuple[float, float, float]:
    """A judge's votes on an item: how many, how many for it, how many would be usual.

    To be in the upper half of a ranking is to win it.
    """
    own = slice(votes.start[judge], votes.start[judge + 1])
    left, right = votes.left[own], votes.right[own]
    on_left, on_right = left == item, right == item
    here = on_left | on_right
    sign = np.where(on_left, 1.0, -1.0)[here]
    weight = votes.weight[own][here]
    gap = solution.accuracy[judge] * (solution.score[left] - solution.score[right])[here]
    won = weight * 0.5 * (1.0 + sign * votes.outcome[own][here])
    usual = weight * noise.cdf(sign * gap)
    lists = _list_tally(votes, solution, judge, item)
    return (
        float(weight.sum()) + lists[0], float(won.sum()) + lists[1], float(usual.sum()) + lists[2],
    )  # fmt: skip


def _list_tally(
    votes: Votes, solution: Solution, judge: int, item: int
) -> tuple[float, float, float]:
    lists = votes.lists
    total, won, usual = 0.0, 0.0, 0.0
    for k in range(lists.start[judge], lists.start[judge + 1]):
        items: NDArray[np.int32] = lists.item[lists.begin[k] : lists.begin[k + 1]]
        place = np.flatnonzero(items == item)
        if len(place):
            score = np.sign(solution.accuracy[judge]) * solution.score[items]
            total += lists.weight[k]
            others = max(len(items) - 1, 1)
            won += lists.weight[k] * (1.0 - place[0] / others)
            usual += lists.weight[k] * float((score < score[place[0]]).sum()) / others
    return total, won, usual
