"""Tastes that stand out: who differs on what from the others, by how much, how surely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from juryrank.inference.opinions import Codes
from juryrank.inference.ranks_and_tiers import FALSE_DISCOVERIES, discoveries
from juryrank.inference.sampling import Sample
from juryrank.types import Floats
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import Votes
from juryrank.votes.weights import total_weight

TASTES = {
    "judge": pl.String(),
    "item": pl.String(),
    "taste": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "votes": pl.Float64(),
}


OUTLYING = 3.5
"""Typical tastes from which on a taste is outlying; of a thousand normal ones hardly any is so
large,"""
ON_ONE_ITEM = 0.1
"""The share of votes on other items below which all votes are on one."""
UNRELATED = 0.1
"""The correlation of a judge's opinions with the scores below which it has an order of its own."""
LEAST_OUTLYING = 1.0
"""and so much on the scale of scores, where tastes are small."""


class OutlyingTaste(NamedTuple):
    """A judge's taste for an item that is out of the ordinary."""

    judge: int
    item: int
    median: float
    """Votes that all agree put no limit on a taste, and its mean would be anything."""
    low: float
    high: float
    votes: float


def outlying_tastes(
    found: Sample, votes: Votes, elsewhere: Floats, confidence: float
) -> tuple[OutlyingTaste, ...]:
    """The tastes of judges who see an item quite differently, the largest first.

    A taste is outlying if it is beyond `OUTLYING` times the typical size of tastes. Of the judges
    at most 5 % are expected to have none: the chance of each is that of its clearest taste.
    `elsewhere` is next to nothing for judges all of whose votes are on one item.
    """
    if not found.has_tastes:
        return ()
    draws = _as_votes_show(found)
    count = weight_of_tastes(votes, found)
    for u in np.flatnonzero(elsewhere < ON_ONE_ITEM).tolist():
        own = np.flatnonzero(found.taste_judge == u)
        if len(own):
            pushed = own[np.argmax(count[own])]
            draws[:, pushed] = _discrepancy(found, u, pushed, own[own != pushed])
    limit = np.maximum(OUTLYING * found.typical_tastes[:: found.every], LEAST_OUTLYING)[:, None]
    chance = np.maximum((draws > limit).mean(axis=0), (draws < -limit).mean(axis=0))
    best = np.zeros(votes.n_judges)
    np.maximum.at(best, found.taste_judge, chance)
    odd = discoveries(1.0 - best)
    cells = np.flatnonzero(np.isin(found.taste_judge, odd) & (chance >= 1.0 - FALSE_DISCOVERIES))
    low, high = _ends(draws[:, cells], confidence)
    median = np.median(draws[:, cells], axis=0)
    order = np.argsort(-np.abs(median), kind="stable")
    count = count[cells]
    return tuple(
        OutlyingTaste(
            int(found.taste_judge[cells[k]]), int(found.taste_item[cells[k]]),
            float(median[k]), float(low[k]), float(high[k]), float(count[k]),
        )
        for k in order.tolist()
    )  # fmt: skip


class Orders(NamedTuple):
    """How far judges see the items in the order of the scores.

    It is the correlation of a judge's opinions ``m_ui``, as votes show them, with the scores
    ``s_i``, over the items it has voted on.
    """

    judge: Codes
    correlation: Floats
    low: Floats
    high: Floats
    own: Floats
    """The chance that it has an order of its own: a correlation below `UNRELATED`."""


def orders_of(found: Sample, confidence: float) -> Orders | None:
    """How far judges see the items in the same order; None if they have no tastes."""
    if not found.has_tastes:
        return None
    draws, judges = _correlations(found)
    own = (draws < UNRELATED).mean(axis=0)
    return Orders(judges, draws.mean(axis=0), *_ends(draws, confidence), own)


def _correlations(found: Sample) -> tuple[Floats, Codes]:
    """Draws of the correlation of opinions with scores, and the judges whose they are."""
    judges, begin = np.unique(found.taste_judge, return_index=True)
    size = np.diff(np.append(begin, len(found.taste_judge)))
    score = found.score[:: found.every][:, found.taste_item]
    side = np.sign(found.accuracy[:: found.every])[:, found.taste_judge]
    opinion = side * (score + found.taste)

    def centred(values: Floats) -> Floats:
        mean = np.add.reduceat(values, begin, axis=1) / size
        return np.asarray(values - np.repeat(mean, size, axis=1))

    score, opinion = centred(score), centred(opinion)
    sums = [
        np.add.reduceat(one * other, begin, axis=1)
        for one, other in ((score, opinion), (score, score), (opinion, opinion))
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(sums[0] / np.sqrt(sums[1] * sums[2])), judges


def _discrepancy(found: Sample, judge: int, pushed: int, others: Codes) -> Floats:
    """How much better an item is against its rivals in a judge's votes than by the scores.

    ``sign(g_u) (m_ui - mean m_uj) - (s_i - mean s_j)``. Where all votes of a judge are on one item,
    a taste for it cannot be told from voting backwards, but this can.
    """
    score, item = found.score[:: found.every], found.taste_item
    by_scores = score[:, item[pushed]] - score[:, item[others]].mean(axis=1)
    taste = found.taste[:, pushed] - found.taste[:, others].mean(axis=1)
    side = np.sign(found.accuracy[:: found.every, judge])
    return np.asarray(side * (by_scores + taste) - by_scores)


def _as_votes_show(found: Sample) -> Floats:
    """Tastes as votes show them: a backwards judge who votes for an item likes it."""
    side = np.sign(found.accuracy[:: found.every])[:, found.taste_judge]
    return np.asarray(found.taste * side)


def _ends(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Lower and upper ends of each column."""
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(draws, (tail, 1.0 - tail), axis=0)
    return low, high


def no_tastes(votes: Votes) -> pl.DataFrame:
    """The frame of tastes where none are known."""
    return pl.DataFrame(schema=TASTES | {"judge": votes.judges.dtype, "item": votes.items.dtype})


def tastes_frame(found: Sample, votes: Votes, weight: Floats, confidence: float) -> pl.DataFrame:
    """The tastes whose sign is known, those farthest from 0 first.

    `weight` is that of each judge's votes on each item it has a taste for.
    """
    draws = _as_votes_show(found)
    wrong = (draws > 0.0).mean(axis=0)
    chosen = discoveries(np.minimum(wrong, 1.0 - wrong))
    low, high = _ends(draws[:, chosen], confidence)
    return pl.DataFrame(
        {
            "judge": votes.judges.gather(found.taste_judge[chosen]),
            "item": votes.items.gather(found.taste_item[chosen]),
            "taste": np.median(draws[:, chosen], axis=0),
            "low": low,
            "high": high,
            "votes": weight[chosen],
        }
    ).sort(pl.col("taste").abs(), descending=True, maintain_order=True)


def weight_of_tastes(votes: Votes, found: Sample) -> Floats:
    """The weight of each judge's votes on each item it has a taste for."""
    asked = _WeightPass(found.taste_judge, found.taste_item)
    return np.concatenate(list(votes.over_shards(asked)))


@dataclass(frozen=True, eq=False)
class _WeightPass(Pass[Votes, Floats]):
    """The weight of the votes of judges on items; pairs of both, in order."""

    judge: Codes
    item: Codes

    def for_judges(self, judges: slice) -> _WeightPass:
        """What is asked of these judges."""
        own = slice(*np.searchsorted(self.judge, (judges.start, judges.stop)).tolist())
        return _WeightPass(self.judge[own] - judges.start, self.item[own])

    def __call__(self, here: Votes, _first: int, _last: int, _own: Own) -> Floats:
        """All votes here."""
        n = here.n_items
        who, lists = here.judge.astype(np.int64) * n, here.lists
        entry = lists.judge[lists.entry_list].astype(np.int64) * n + lists.item
        key = np.concatenate((*(who + side for side in here.sides()), entry))
        weight = np.concatenate((here.weight, here.weight, lists.weight[lists.entry_list]))
        known = self.judge * n + self.item
        return total_weight(np.searchsorted(known, key), weight, len(known))
