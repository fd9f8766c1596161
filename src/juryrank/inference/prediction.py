"""How a vote will go: the mean over draws of the probability of each.

A judge who has voted on an item has a taste for it, as far as it is known; for an item that is new
to the judge, a taste is drawn, as is everything about a judge that nobody has seen.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy

from juryrank.inference.opinions import Codes
from juryrank.inference.sampling import Sample
from juryrank.model.effects import Layout
from juryrank.model.noise import Noise
from juryrank.model.objective import Objective
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import Lists

UNSEEN = -1
"""The code of a judge drawn at random, in proportion to votes."""
NUMBERS_AT_ONCE = 2_000_000
MOST_DRAWS = 400
"""Predictions are averaged over so many draws, evenly spaced,"""
MOST_DRAWS_OF_LISTS = 100
"""and those of rankings, which take longer, over so many."""
MOST_KINDS = 1_999
"""Of more items, some share the tastes that are drawn for them where they are new to a judge."""


class DrawnPredictions:
    """Predictions from a sample."""

    def __init__(self, sample: Sample, noise: Noise, layout: Layout, counts: Floats) -> None:
        self.sample = sample
        self.noise = noise
        self.layout = layout
        self.counts = counts

    @cached_property
    def _some_tastes(self) -> slice:
        """Which draws of tastes are used."""
        known = len(range(0, len(self.sample.score), self.sample.every))
        return slice(None, None, max(1, -(-known // MOST_DRAWS)))

    @cached_property
    def _draws(self) -> slice:
        """The same draws among those of everything else."""
        return slice(None, None, self.sample.every * self._some_tastes.step)

    @cached_property
    def _count(self) -> int:
        return len(self.sample.score[self._draws])

    @cached_property
    def _keys(self) -> Codes:
        """Judge and item of each taste in one number, in ascending order."""
        return self.sample.taste_judge * self.layout.n_items + self.sample.taste_item

    @cached_property
    def _fresh(self) -> Floats:
        """Tastes for items new to a judge: for each draw some; an item has one by its code.

        The draws' quantiles are evenly spread, so that few of them do.
        """
        sample, count = self.sample, self._count
        kinds = min(self.layout.n_items, MOST_KINDS)
        if not sample.has_tastes:
            return np.zeros((count, kinds))
        rng, middle = np.random.default_rng(2), (np.arange(count) + 0.5) / count
        spread = np.column_stack([rng.permutation(middle) for _ in range(kinds)])
        scale, degrees = (part[self._draws][:, None] for part in (sample.taste_sd, sample.degrees))
        return np.asarray(scale * scipy.special.stdtrit(degrees, spread))

    @cached_property
    def _somebody(self) -> Codes:
        """A judge for each draw, in proportion to votes."""
        count = self._count
        middle = np.random.default_rng(3).permutation((np.arange(count) + 0.5) / count)
        below = np.cumsum(self.counts) / self.counts.sum()
        return np.minimum(np.searchsorted(below, middle), len(self.counts) - 1)

    def _tastes(self, judge: Codes, item: Codes) -> Floats:
        """Tastes of judges for items: a row for each draw."""
        fresh = self._fresh[:, item % self._fresh.shape[1]]
        if not self.sample.has_tastes:
            return fresh
        keys = judge * self.layout.n_items + item
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = (self._keys[at] == keys) & (judge != UNSEEN)
        if not known.any():
            return fresh
        return np.where(known, self.sample.taste[self._some_tastes][:, at], fresh)

    def _accuracies(self, judge: Codes) -> Floats:
        found = self.sample.accuracy[self._draws][:, np.maximum(judge, 0)]
        if (judge == UNSEEN).any():
            found = np.where(judge == UNSEEN, self._somebodys_accuracy[:, None], found)
        return np.asarray(found)

    @cached_property
    def _somebodys_accuracy(self) -> Floats:
        """The accuracy of that judge, for each draw."""
        accuracy = self.sample.accuracy[self._draws]
        return np.asarray(accuracy[np.arange(self._count), self._somebody])

    @cached_property
    def _effects(self) -> tuple[Floats, Floats]:
        """What the left side gains, and the weight of ties: draws x judges (or 1)."""
        n = self.layout.n_items
        orders, ties = [], []
        for drawn in self.sample.effects[self._draws]:
            state = np.concatenate((np.zeros(n), drawn))
            order, tie = self.layout.orders(state), self.layout.pair_ties(state)
            orders.append(order if len(order) else np.zeros(1))
            ties.append(np.full(1, -np.inf) if tie is None else tie)
        return np.array(orders), np.array(ties)

    def decided(self, judge: Codes, left: Codes, right: Codes) -> Floats:
        """The probability of the left item to win a vote that is not tied, sides apart."""
        return self._mean(judge, left, right, shares=False)

    def decided_once(self, judge: int, left: int, right: int) -> float:
        """The same for a single vote, without what it takes to look at many."""
        gap = self._opinion(judge, left) - self._opinion(judge, right)
        known = judge != UNSEEN
        accuracy = self.sample.accuracy[self._draws, judge] if known else self._somebodys_accuracy
        return float(self.noise.cdf(accuracy * gap).mean())

    def _opinion(self, judge: int, item: int) -> Floats:
        """Score plus taste, for each draw."""
        score = self.sample.score[self._draws, item]
        if not self.sample.has_tastes:
            return score
        key = judge * self.layout.n_items + item
        at = int(np.searchsorted(self._keys, key))
        if judge != UNSEEN and at < len(self._keys) and self._keys[at] == key:
            return np.asarray(score + self.sample.taste[self._some_tastes, at])
        return np.asarray(score + self._fresh[:, item % self._fresh.shape[1]])

    def shares(self, judge: Codes, left: Codes, right: Codes) -> Floats:
        """The share of a vote that the left item is to get, a tie counting half."""
        return self._mean(judge, left, right, shares=True)

    def _mean(self, judge: Codes, left: Codes, right: Codes, *, shares: bool) -> Floats:
        found = np.empty(len(judge))
        at_once = max(1, NUMBERS_AT_ONCE // self._count)
        for first in range(0, len(judge), at_once):
            some = slice(first, first + at_once)
            found[some] = self._some(judge[some], left[some], right[some], shares=shares)
        return found

    def _some(self, judge: Codes, left: Codes, right: Codes, *, shares: bool) -> Floats:
        score = self.sample.score[self._draws]
        gap = score[:, left] + self._tastes(judge, left)
        gap -= score[:, right] + self._tastes(judge, right)
        x = self._accuracies(judge) * gap
        if not shares:
            return np.asarray(self.noise.cdf(x).mean(axis=0))
        order, tie = (_of_judges(part, judge) for part in self._effects)
        return np.asarray(self.noise.share(x + order, np.broadcast_to(tie, x.shape)).mean(axis=0))

    def list_losses(self, lists: Lists, judge: Codes, item: Codes) -> Floats:
        """``-log P`` of lists without ties: of each the judge, of each entry the item, by code."""
        of_entry = judge[lists.entry_list]
        draws = range(0, self._count, max(1, self._count // MOST_DRAWS_OF_LISTS))
        opinion = self.sample.score[self._draws][:, item] + self._tastes(of_entry, item)
        accuracy = self._accuracies(of_entry)
        alone = lists._replace(item=np.arange(len(item), dtype=np.int32))
        objective = Objective(CodedVotes.of_lists(len(item), alone), self.noise)
        ones, nothing = np.ones(objective.n_judges), np.zeros(len(item))
        losses = [objective.list_losses(accuracy[d] * opinion[d], ones, nothing) for d in draws]
        return np.asarray(np.log(len(losses)) - scipy.special.logsumexp(-np.array(losses), axis=0))


def _of_judges(by_draw: Floats, judge: Codes) -> Floats:
    return by_draw if by_draw.shape[1] == 1 else by_draw[:, np.maximum(judge, 0)]
