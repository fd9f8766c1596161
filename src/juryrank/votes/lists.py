"""`Lists`: coded votes on more than two items: rankings, best k of a set, one choice from a set."""

from __future__ import annotations

from bisect import bisect_right
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
MOST_ORDERS = 720
"""A tie that is to count as every order of its items may have so many orders."""
MOST_PAIRS = 2_000_000
"""Pairs that rankings are broken into..."""
MOST_PAIRS_OF_ENTRY = 20
"""... or so many for each item of each ranking, if that is more."""


def judge_codes(start: NDArray[np.int64]) -> NDArray[np.int32]:
    """The judge of every vote, from where each judge's votes start."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))


class Lists(NamedTuple):
    """Votes on three items or more, sorted by judge; each lists its items from the best down.

    The lists of judge ``u`` are ``start[u]`` to ``start[u + 1]``; the items of list ``k`` are
    ``item[begin[k]:begin[k + 1]]``. The first ``ranked[k]`` of them are ranked: `level` counts up
    from 0, and items of one level are tied. The others are below them, in no order, and share the
    next level (one such item is not left over: it is ranked last).
    """

    start: NDArray[np.int64]
    begin: NDArray[np.int64]
    item: NDArray[np.int32]
    level: NDArray[np.int32]
    ranked: NDArray[np.int32]
    weight: NDArray[np.float64]

    @property
    def number(self) -> int:
        """How many lists there are."""
        return len(self.ranked)

    @property
    def length(self) -> NDArray[np.int64]:
        """The number of items of each list."""
        return np.diff(self.begin)

    @property
    def judge(self) -> NDArray[np.int32]:
        """The judge of each list."""
        return judge_codes(self.start)

    @property
    def entry_list(self) -> NDArray[np.int64]:
        """The list of each entry of `item`."""
        return np.repeat(np.arange(self.number), self.length)

    @property
    def entry_index(self) -> NDArray[np.int64]:
        """The index of each entry in its list, from 0."""
        return np.arange(len(self.item)) - np.repeat(self.begin[:-1], self.length)

    @property
    def is_ranked(self) -> Mask:
        """Which entries are ranked, and not just below those that are."""
        return np.asarray(self.entry_index < self.ranked[self.entry_list])


def no_lists(n_judges: int) -> Lists:
    """No votes on more than two items."""
    nothing = np.empty(0, dtype=np.int32)
    return Lists(
        start=np.zeros(n_judges + 1, dtype=np.int64),
        begin=np.zeros(1, dtype=np.int64),
        item=nothing,
        level=nothing,
        ranked=nothing,
        weight=np.empty(0),
    )


def begins_of(start: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of these runs begins, when they come one after the other.

    Run ``k`` is ``start[k]`` to ``start[k + 1]``.
    """
    return np.concatenate(([0], np.cumsum(start[which + 1] - start[which])))


def indices_of(start: NDArray[np.int64], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """What is in these runs, one run after the other."""
    begins = begins_of(start, which)
    return np.arange(begins[-1]) + np.repeat(start[which] - begins[:-1], np.diff(begins))


def taken(lists: Lists, which: NDArray[np.int64]) -> Lists:
    """Some of the lists, by number in ascending order (some perhaps several times)."""
    entry = indices_of(lists.begin, which)
    return Lists(
        start=np.searchsorted(which, lists.start),
        begin=begins_of(lists.begin, which),
        item=lists.item[entry],
        level=lists.level[entry],
        ranked=lists.ranked[which],
        weight=lists.weight[which],
    )


def of_range(lists: Lists, first: int, last: int) -> Lists:
    """The lists of the judges from ... to, not copied."""
    start = lists.start[first : last + 1]
    begin = lists.begin[start[0] : start[-1] + 1]
    numbers, entries = slice(start[0], start[-1]), slice(begin[0], begin[-1])
    return Lists(
        start=start - start[0],
        begin=begin - begin[0],
        item=lists.item[entries],
        level=lists.level[entries],
        ranked=lists.ranked[numbers],
        weight=lists.weight[numbers],
    )


def kept(lists: Lists, keep: Mask) -> Lists:
    """The lists that are to be kept."""
    return lists if keep.all() else taken(lists, np.flatnonzero(keep))


def without_entries(lists: Lists, drop: Mask) -> Lists:
    """The lists without some of their items; what says nothing any more is no list."""
    keep = ~drop
    entry = lists.entry_list
    length = np.bincount(entry[keep], minlength=lists.number)
    ranked = np.bincount(entry[keep & lists.is_ranked], minlength=lists.number)
    shorter = lists._replace(
        begin=np.concatenate(([0], np.cumsum(length))),
        item=lists.item[keep],
        level=lists.level[keep],
        ranked=ranked.astype(np.int32),
    )
    return kept(shorter, (length >= 2) & (ranked >= 1))


def choices(lists: Lists) -> NDArray[np.int64]:
    """How many choices each list makes: of a group from those that are left, two at least."""
    first = np.ones(len(lists.item), dtype=np.bool_)
    first[1:] = (np.diff(lists.level) != 0) | (np.diff(lists.entry_list) != 0)
    groups = np.bincount(lists.entry_list[first & lists.is_ranked], minlength=lists.number)
    # The last one is no choice if nothing else was left.
    last = lists.begin[1:] - 1
    forced = first[last] & lists.is_ranked[last] if lists.number else np.empty(0, dtype=np.bool_)
    return np.asarray(groups - forced)


def tie_sizes(lists: Lists) -> NDArray[np.int64]:
    """The sizes of groups of tied items, each once."""
    ranked = lists.is_ranked
    group = lists.entry_list[ranked] * (lists.level.max(initial=0) + 1) + lists.level[ranked]
    sizes = np.unique(np.unique(group, return_counts=True)[1])
    return sizes[sizes >= 2].astype(np.int64)


def pairs_of(lists: Lists) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Every pair of items of which a list says which is the better: list, better, worse item."""
    number, better, worse = [], [], []
    for length, ranked in np.unique(np.stack((lists.length, lists.ranked)), axis=1).T.tolist():
        which = np.flatnonzero((lists.length == length) & (lists.ranked == ranked))
        first, second = np.triu_indices(ranked, 1, length)
        upper, lower = (lists.begin[which, None] + index for index in (first, second))
        decided = lists.level[upper] != lists.level[lower]
        number.append(np.broadcast_to(which[:, None], upper.shape)[decided])
        better.append(lists.item[upper][decided])
        worse.append(lists.item[lower][decided])
    if not number:
        nothing = np.empty(0, dtype=np.int32)
        return np.empty(0, dtype=np.int64), nothing, nothing
    order = np.argsort(np.concatenate(number), kind="stable")
    joined = (np.concatenate(parts)[order] for parts in (number, better, worse))
    return next(joined), next(joined), next(joined)


def tied_pairs_of(lists: Lists) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Every pair of items that a list ties: list, one item, the other."""
    number, one, other = [], [], []
    ranked = lists.is_ranked
    for gap in range(1, int(lists.length.max(initial=1))):
        here = np.arange(len(lists.item) - gap)
        entry = lists.entry_list
        same = (entry[here] == entry[here + gap]) & (lists.level[here] == lists.level[here + gap])
        tied = here[same & ranked[here] & ranked[here + gap]]
        if not len(tied):
            break
        number.append(entry[tied])
        one.append(lists.item[tied])
        other.append(lists.item[tied + gap])
    if not number:
        nothing = np.empty(0, dtype=np.int32)
        return np.empty(0, dtype=np.int64), nothing, nothing
    return np.concatenate(number), np.concatenate(one), np.concatenate(other)


def items_looked_at(
    lists: Lists, most_pairs: int = MOST_PAIRS, most_of_entry: int = MOST_PAIRS_OF_ENTRY
) -> int | None:
    """How many items of each ranking can be looked at, lest there be too many pairs; None for all.

    A ranking of k items implies ``k (k - 1) / 2`` pairs, and a choice from k items ``k - 1``.
    """
    most = max(most_pairs, most_of_entry * len(lists.item))

    def pairs(longest: int) -> int:
        length, ranked = (np.minimum(part, longest) for part in (lists.length, lists.ranked))
        return int((ranked * (2 * length - ranked - 1) // 2).sum())

    whole = int(lists.length.max(initial=0))
    if pairs(whole) <= most:
        return None
    return bisect_right(range(whole), most, key=pairs) - 1


def shortened(lists: Lists, longest: int, n_items: int) -> Lists:
    """The lists with so many of their items at most.

    Which ones stay is decided by chance, and not by their ranks, so that what is left of a ranking
    is a ranking; and for all lists alike, so that judges still have pairs in common.
    """
    turn = np.random.default_rng(0).permutation(n_items)[lists.item]
    order = np.lexsort((turn, lists.entry_list))
    drop = np.zeros(len(order), dtype=np.bool_)
    drop[order[lists.entry_index >= longest]] = True
    return without_entries(lists, drop)


# --- ties as every order of their items ----------------------------------------------------------


def orders_of_ties(lists: Lists) -> NDArray[np.float64]:
    """In how many orders the tied items of each list can be brought."""
    orders = np.ones(lists.number)
    ranked = lists.is_ranked
    key = np.stack((lists.entry_list[ranked], lists.level[ranked]))
    groups, size = np.unique(key, axis=1, return_counts=True)
    with np.errstate(over="ignore"):  # too many to count is infinitely many
        factorial = np.cumprod(np.arange(1.0, size.max(initial=0) + 1.0))
        np.multiply.at(orders, groups[0], factorial[size - 1])
    return orders


def in_every_order(lists: Lists) -> Lists:
    """Write a list with ties as all lists without that agree with it, which share its weight.

    For two items this is half a win for each.
    """
    orders = orders_of_ties(lists).astype(np.int64)
    if (orders == 1).all():
        return lists
    repeated = taken(lists, np.repeat(np.arange(lists.number), orders))
    item, level = repeated.item.copy(), repeated.level.copy()
    first_copy = np.concatenate(([0], np.cumsum(orders)[:-1]))
    for number in np.flatnonzero(orders > 1):
        a, b = lists.begin[number], lists.begin[number + 1]
        ranked = int(lists.ranked[number])
        arranged = _arrangements(lists.item[a:b], lists.level[a:b], ranked)
        straight = np.minimum(np.arange(b - a), ranked)
        for copy, order in enumerate(arranged, start=int(first_copy[number])):
            entries = slice(repeated.begin[copy], repeated.begin[copy + 1])
            item[entries], level[entries] = order, straight
    return repeated._replace(
        item=item, level=level, weight=repeated.weight / np.repeat(orders, orders)
    )


def _arrangements(
    item: NDArray[np.int32], level: NDArray[np.int32], ranked: int
) -> list[NDArray[np.int32]]:
    """All orders of the ranked items of one list in which no level is above a better one."""
    found: list[tuple[int, ...]] = [()]
    for one in np.unique(level[:ranked]):
        group = item[:ranked][level[:ranked] == one].tolist()
        found = [(*head, *tail) for head in found for tail in permutations(group)]
    rest = item[ranked:].tolist()
    return [np.array((*head, *rest), dtype=np.int32) for head in found]
