"""Drawing votes: what judges are asked, and what they say.

A judge ``u`` sees ``y_i = a_u s_i + e_i`` with fresh noise and ranks by decreasing ``y``; on the
left side of a pair ``left_u`` is added. A pair with ``x = a_u (s_left - s_right) + left_u`` is tied
with probability ``t q / (1 + t q)``, ``q = sqrt(F(x) F(-x))``, and decided as ever otherwise. A
list that can have ties (Gumbel noise) is a row of choices of groups ``C``, of one or two items,
from those left, with weights

    t_|C| exp(mean of a_u s over C),    t_1 = 1,  t_2 = t.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.model.noise import Noise
from juryrank.model.registry import Model
from juryrank.types import Floats
from juryrank.votes.lists import Lists, no_lists
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes, turned
from juryrank.votes.weights import equal_weights

Codes = NDArray[np.int64]


class Truth(NamedTuple):
    """What votes are made from: scores by item; accuracy, t and left advantage by judge."""

    score: Floats
    accuracy: Floats
    tie: Floats
    left: Floats


# --- pairs ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """Votes on two items each, sorted by judge."""

    judge: Codes
    left: Codes
    right: Codes
    outcome: NDArray[np.int8]

    def frame(self, items: pl.Series, judges: pl.Series) -> pl.DataFrame:
        """As a file has them: judge, left, right, winner."""
        said = pl.Series(["right", "tie", "left"])
        return pl.DataFrame(
            {
                "judge": judges.gather(self.judge),
                "left": items.gather(self.left),
                "right": items.gather(self.right),
                "winner": said.gather(self.outcome.astype(np.int64) - RIGHT_WON),
            }
        )

    def coded(self, items: pl.Series, judges: pl.Series) -> Votes:
        """The same as `Votes`."""
        present, (left, right) = _present(self.left, self.right)
        voting, (judge,) = _present(self.judge)
        winner, loser = turned(left, right, self.outcome)
        return Votes(
            items=items.gather(present),
            judges=judges.gather(voting),
            start=_start(judge, len(voting)),
            winner=winner,
            loser=loser,
            outcome=self.outcome,
            weight=equal_weights(len(judge)),
            lists=no_lists(len(voting)),
            sides_known=True,
        )


def pairs_per_judge(items: int, judges: int, count: int, rng: np.random.Generator) -> list[Codes]:
    """Judge, left and right item of so many random pairs for each judge."""
    judge = np.repeat(np.arange(judges), count)
    left = rng.integers(0, items, len(judge))
    return [judge, left, (left + rng.integers(1, items, len(judge))) % items]


def pairs_by_density(
    items: int, judges: int, density: float, rng: np.random.Generator
) -> list[Codes]:
    """Judge, left and right item: each judge is asked each ordered pair with this chance."""
    pairs = items * (items - 1)
    asked = [np.flatnonzero(rng.random(pairs) < density) for _ in range(judges)]
    judge = np.repeat(np.arange(judges), [len(some) for some in asked])
    left, rest = np.divmod(np.concatenate(asked), items - 1)
    return [judge, left, rest + (rest >= left)]


def answered_pairs(
    model: Model, noise: Noise, truth: Truth, asked: list[Codes], rng: np.random.Generator
) -> DrawnPairs:
    """What the judges say."""
    judge, left, right = asked
    left_won = _left_won(model, noise, truth, asked, rng)
    outcome = np.where(left_won, LEFT_WON, RIGHT_WON).astype(np.int8)
    if truth.tie.any():
        gap = truth.accuracy[judge] * (truth.score[left] - truth.score[right]) + truth.left[judge]
        weight = truth.tie[judge] * np.sqrt(noise.cdf(gap) * noise.cdf(-gap))
        outcome[rng.random(len(judge)) < weight / (1.0 + weight)] = TIE
    return DrawnPairs(judge, left, right, outcome)


def _left_won(
    model: Model, noise: Noise, truth: Truth, asked: list[Codes], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether the left item wins: the judge compares what it sees, noise included."""
    judge, left, right = truth.accuracy[asked[0]], truth.score[asked[1]], truth.score[asked[2]]
    seen = noise.draw(rng, (2, len(judge)))
    if model.link == "reliability":
        as_meant = rng.random(len(judge)) < judge
        return np.asarray((left + seen[0] > right + seen[1]) == as_meant)
    return np.asarray(judge * (left - right) + truth.left[asked[0]] + seen[0] > seen[1])


# --- lists ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DrawnLists:
    """Votes on more items, sorted by judge: a row each, in the order in which they were shown."""

    judge: Codes
    item: Codes
    level: Codes
    """0 for the best, the same for tied items; the number of items for those not ranked."""

    def frame(self, items: pl.Series, judges: pl.Series) -> pl.DataFrame:
        """As a file has them: judge, ranking and, where some items were not ranked, options."""
        names = items.to_numpy()[self.item]
        rankings = [_text(*row) for row in zip(names, self.level, strict=True)]
        columns = {"judge": judges.gather(self.judge), "ranking": pl.Series(rankings)}
        if (self.level == self.level.shape[1]).any():
            columns["options"] = pl.Series([" | ".join(row) for row in names])
        return pl.DataFrame(columns)

    def coded(self, items: pl.Series, judges: pl.Series) -> Votes:
        """The same as `Votes`."""
        count, length = self.level.shape
        best_first = np.argsort(self.level, axis=1, kind="stable")
        level = np.take_along_axis(self.level, best_first, axis=1)
        ranked = (level < length).sum(axis=1)
        below = np.where(level < length, level, 0).max(axis=1, keepdims=True) + 1
        present, (item,) = _present(np.take_along_axis(self.item, best_first, axis=1).ravel())
        voting, (judge,) = _present(self.judge)
        # An item that alone is left is ranked last.
        lists = Lists(
            start=_start(judge, len(voting)),
            begin=np.arange(count + 1, dtype=np.int64) * length,
            item=item,
            level=np.minimum(level, below).ravel().astype(np.int32),
            ranked=np.where(ranked == length - 1, length, ranked).astype(np.int32),
            weight=np.ones(count),
        )
        nothing = np.empty(0, dtype=np.int32)
        return Votes(
            items=items.gather(present),
            judges=judges.gather(voting),
            start=np.zeros(len(voting) + 1, dtype=np.int64),
            winner=nothing,
            loser=nothing,
            outcome=nothing.astype(np.int8),
            weight=np.empty(0),
            lists=lists,
        )


def _text(names: NDArray[np.object_], level: Codes) -> str:
    """``a > b = c``, best first."""
    groups = [" = ".join(names[level == one]) for one in np.unique(level) if one < len(names)]
    return " > ".join(groups)


def without_replacement(items: int, length: int, count: int, rng: np.random.Generator) -> Codes:
    """Rows of different items, in random order."""
    drawn = np.empty((count, length), dtype=np.int64)
    for k in range(length):
        # The new one is drawn among those not yet drawn, counted past the ones that are.
        drawn[:, k] = rng.integers(0, items - k, count)
        for earlier in np.sort(drawn[:, :k], axis=1).T:
            drawn[:, k] += drawn[:, k] >= earlier
    return drawn


def answered_lists(
    noise: Noise, truth: Truth, judge: Codes, item: Codes, top: int, rng: np.random.Generator
) -> DrawnLists:
    """What the judges say: the best `top` of each row (or one more, if the last are tied)."""
    location = truth.accuracy[judge, None] * truth.score[item]
    if truth.tie.any():
        return DrawnLists(judge, item, _levels_with_ties(location, truth.tie[judge], top, rng))
    seen = location + noise.draw(rng, location.shape)
    level = np.argsort(np.argsort(-seen, axis=1), axis=1)
    return DrawnLists(judge, item, np.where(level < top, level, item.shape[1]))


def _levels_with_ties(location: Floats, tie: Floats, top: int, rng: np.random.Generator) -> Codes:
    """Choose group after group, each with a chance in proportion to its weight.

    The largest of (log weight + Gumbel noise) is such a choice.
    """
    count, length = location.shape
    every = np.arange(length)
    groups = [*combinations(every, 1), *combinations(every, 2)]
    member = np.array([np.isin(every, group) for group in groups])
    log_weight = location @ (member / member.sum(axis=1, keepdims=True)).T
    log_weight[:, length:] += np.log(tie)[:, None]
    level = np.full((count, length), length)
    for number in range(length):
        ranked = level < length
        unfinished = np.flatnonzero(ranked.sum(axis=1) < top)
        gone = (ranked[unfinished].astype(np.float64) @ member.T) > 0.0
        seen = log_weight[unfinished] + rng.gumbel(size=gone.shape)
        chosen = member[np.where(gone, -np.inf, seen).argmax(axis=1)]
        level[unfinished] = np.where(chosen, number, level[unfinished])
    return level


# --- codes ---------------------------------------------------------------------------------------


def _present(*codes: Codes) -> tuple[Codes, list[NDArray[np.int32]]]:
    """The codes that occur, and each as its index among them."""
    present = np.unique(np.concatenate(codes))
    return present, [np.searchsorted(present, some).astype(np.int32) for some in codes]


def _start(judge: NDArray[np.int32], judges: int) -> NDArray[np.int64]:
    """Where the votes of each judge start."""
    return np.searchsorted(judge, np.arange(judges + 1)).astype(np.int64)
