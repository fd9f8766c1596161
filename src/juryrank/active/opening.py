"""Questions before there is anything to choose them by: connected, balanced and random.

First, groups of items that no question connects are linked one after the other in a random order,
each by its least seen item. Then the least seen items are asked about, each with one of the least
seen among a few others drawn at random. Without any votes the first links are a random path through
all items, and what follows keeps their numbers of questions within one or two of each other. What
earlier answers were plays no part.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator

import numpy as np

from juryrank.inference.opinions import Codes

TRIES = 24
"""Partners that are drawn for an item, of whom the least seen is taken."""

Ask = Callable[[int, int], bool]
"""Puts a pair to somebody; False if the rules forbid it with everybody."""


class Opening:
    """The questions that come first, among open items."""

    def __init__(
        self, items: Codes, group: Codes, views: Codes, ask: Ask, rng: np.random.Generator
    ) -> None:
        self._items = items
        self._group = group
        self._views = views
        """Of all items, by code; counts the questions of this batch, too."""
        self._ask = ask
        self._rng = rng

    def links(self) -> Iterator[tuple[int, int]]:
        """Pairs that connect all groups."""
        members: dict[int, list[int]] = {}
        order = self._rng.permutation(self._items)
        if len(np.unique(self._group[order])) < 2:
            return
        for item in order.tolist():
            members.setdefault(int(self._group[item]), []).append(item)
        groups = list(members.values())
        linked = groups[:1]
        for group in groups[1:]:
            pair = self._link(linked[-1], group) or self._link(
                [i for g in linked for i in g], group
            )
            if pair is not None:
                yield pair
            linked.append(group)

    def _link(self, one: list[int], other: list[int]) -> tuple[int, int] | None:
        """Ask about a pair between two groups: of the least seen items if the rules allow it."""
        first, second = (sorted(group, key=self._seen)[:TRIES] for group in (one, other))
        for i in first:
            for j in second:
                if self._ask(i, j):
                    return i, j
        return None

    def _seen(self, item: int) -> int:
        return int(self._views[item])

    def least_seen(self, least: int | None) -> Iterator[tuple[int, int]]:
        """Pairs about the least seen items, until all are seen so often; without end for None."""
        order = self._rng.permutation(self._items)
        if least is not None:
            order = order[self._views[order] < least]
        waiting = [(int(self._views[i]), at, i) for at, i in enumerate(order.tolist())]
        heapq.heapify(waiting)
        given_up = 0
        while waiting and given_up < len(waiting):
            views, at, item = heapq.heappop(waiting)
            if least is not None and views >= least:
                return
            if views != self._views[item]:
                heapq.heappush(waiting, (int(self._views[item]), at, item))
                continue
            pair = self._with_partner(item)
            if pair is None:
                given_up += 1
                if least is None:
                    heapq.heappush(waiting, (views, len(order) + at, item))
                continue
            given_up = 0
            yield pair
            turn = int(self._rng.integers(1 << 40))
            heapq.heappush(waiting, (int(self._views[item]), turn, item))

    def _with_partner(self, item: int) -> tuple[int, int] | None:
        some = self._rng.choice(self._items, min(TRIES, len(self._items)), replace=False)
        for partner in sorted(some.tolist(), key=self._seen):
            if partner != item and self._ask(item, partner):
                return item, partner
        if len(self._items) > TRIES:
            for partner in self._items.tolist():
                if partner != item and self._ask(item, partner):
                    return item, partner
        return None
