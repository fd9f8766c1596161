"""Claims: which items are surely better than which, all of them together.

A pair is claimed if the chance that its order is wrong is small enough: with all pairs sorted by
that chance, as many are claimed as keep the expected number of wrong claims within ``1 -
confidence``; the chance that the whole ranking is upside down counts once, for all of them. So all
claims hold together with that confidence. The plausible ranks of an item, and
the tiers, follow from the claims alone and cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from juryrank.inference.opinions import Codes
from juryrank.inference.posterior import Posterior
from juryrank.types import Floats

FALSE_DISCOVERIES = 0.05
"""Of single statements, about tastes or judges, so many are expected to be wrong."""
CHANCES_AT_ONCE = 100_000
"""Chances that are worked out at once: few enough to stay in the cache."""
MOST_SORTED = 3_000
"""With more items, every claim has the same small share of the whole chance of an error."""
ROWS, COLUMNS = 512, 2_048
"""Of the gaps between so many items that are looked at together."""


class Claims(NamedTuple):
    """What follows from the claims, for the items from the best down."""

    rank_low: Codes
    rank_high: Codes
    tier: Codes


def claims(posterior: Posterior, orders: Sequence[Codes], confidence: float) -> Claims:
    """Plausible ranks and tiers within groups of items.

    Each of `orders` has the codes of one group's items, best first. The claims of all groups hold
    together.
    """
    allowed = 1.0 - confidence - posterior.upside_down
    if allowed <= 0.0:
        return no_claims(orders)
    if sum(map(len, orders)) <= MOST_SORTED:
        rows = [list(_wrong(posterior, order)) for order in orders]
        limit = _limit(np.concatenate([row for group in rows for row in group]), allowed)
        return _joined([_following(len(group), group, limit) for group in rows])
    each = allowed / sum(len(order) * (len(order) - 1) / 2 for order in orders)
    return _joined([_of_many(posterior, order, each) for order in orders])


def no_claims(orders: Sequence[Codes]) -> Claims:
    """What follows where nothing can be claimed."""
    nothing = [np.zeros(len(order), dtype=np.int64) for order in orders]
    ends = [np.full(len(order), len(order)) for order in orders]
    return _joined([_claims(none, none, end) for none, end in zip(nothing, ends, strict=True)])


def _joined(groups: Sequence[Claims]) -> Claims:
    """One after the other."""
    return Claims(*(np.concatenate(parts) for parts in zip(*groups, strict=True)))


def _following(n: int, rows: Iterable[Floats], limit: float) -> Claims:
    """What follows from the chances of being wrong, a row for each item from the best down."""
    above = np.zeros(n, dtype=np.int64)
    below = np.zeros(n, dtype=np.int64)
    first = np.full(n, n)
    for index, wrong in enumerate(rows):
        worse = wrong <= limit
        below[index] = int(worse.sum())
        above[index + 1 :] += worse
        if below[index]:
            first[index] = 1 + index + int(worse.argmax())
    return _claims(above, below, first)


def _claims(above: Codes, below: Codes, first: Codes) -> Claims:
    """How many are above and below each item, and which is the first of those below."""
    n = len(above)
    tier, best = np.ones(n, dtype=np.int64), 0
    while best < n:
        best = int(first[best])
        tier[best:] += 1
    return Claims(1 + above, n - below, tier)


def _of_many(posterior: Posterior, order: Codes, limit: float) -> Claims:
    """What follows if a pair is claimed with so small a chance of being wrong: that of a normal."""
    n, square = len(order), float(scipy.special.ndtri(limit)) ** 2
    score = posterior.score[order]
    above, below = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    first = np.full(n, n)
    for top in range(0, n, ROWS):
        rows = slice(top, min(top + ROWS, n))
        for left in range(top, n, COLUMNS):
            columns = slice(left, min(left + COLUMNS, n))
            gap, variance = posterior.gaps(order[rows], order[columns])
            sure = (gap > 0.0) & (variance > 0.0) & (gap**2 >= square * variance)
            # Where scores are the same there is no order to be right or wrong about.
            sure &= score[rows, None] > score[columns]
            above[columns] += sure.sum(axis=0)
            below[rows] += sure.sum(axis=1)
            found = np.where(sure.any(axis=1), left + sure.argmax(axis=1), n)
            first[rows] = np.minimum(first[rows], found)
    return _claims(above, below, first)


def _wrong(posterior: Posterior, order: Codes) -> Iterator[Floats]:
    """The chances that an item is not better than each that comes after it, item by item."""
    score = posterior.score[order]
    at_once = max(1, CHANCES_AT_ONCE // len(posterior.score))
    for first in range(0, len(order), at_once):
        some = posterior.chances_above(order[first : first + at_once])[:, order]
        for index, chance in enumerate(some, first):
            # Where scores are the same there is no order to be right or wrong about.
            same = score[index] == score[index + 1 :]
            yield np.where(same, 1.0, 1.0 - chance[index + 1 :])


def _limit(wrong: Floats, allowed: float) -> float:
    """The largest chance of being wrong with which a pair is claimed."""
    likely = np.sort(wrong[wrong <= allowed])
    fits = int(np.searchsorted(np.cumsum(likely), allowed, side="right"))
    if fits < len(likely):  # of pairs with the same chance all are claimed, or none
        fits = int(np.searchsorted(likely, likely[fits], side="left"))
    return float(likely[fits - 1]) if fits else -1.0


def discoveries(false: Floats) -> Codes:
    """As many as possible of which at most 5 % are expected to be false, the surest first.

    `false` has the chance of each to be so.
    """
    order = np.argsort(false, kind="stable")
    share = np.cumsum(false[order]) / np.arange(1, len(order) + 1)
    return np.asarray(order[: int(np.searchsorted(share, FALSE_DISCOVERIES, side="right"))])
