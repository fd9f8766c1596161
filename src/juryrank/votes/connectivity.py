"""Who beat whom: whether the votes are connected well enough to rank every item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from juryrank.errors import listing
from juryrank.votes.lists import Lists, pairs_of, tied_pairs_of
from juryrank.votes.passes import Own, Pass
from juryrank.votes.storage import RANGE, give_back
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, Votes

Codes = NDArray[np.int32]
FIRST_PIECE = 16  # votes for each item
MOST_SETS = 3


@dataclass(frozen=True, eq=False)
class Connection:
    """How the items are connected in the graph with an edge from each winner to its loser.

    A tie is an edge both ways. Within a strong component every item has beaten every other one,
    directly or through others; only then do the votes alone give all of them finite scores.
    """

    group: Codes
    """For each item its weak component: items of two groups were never compared."""
    component: Codes
    """For each item its strong component, numbered so that winners come before losers."""
    edges: scipy.sparse.csr_array
    """Which component has beaten which other one."""

    @property
    def n_groups(self) -> int:
        """Number of groups that were never compared with each other."""
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def groups(self) -> list[NDArray[np.int64]]:
        """The items of each group, the largest group first."""
        members = [items.astype(np.int64) for items in _members(self.group)]
        return sorted(members, key=lambda items: (-len(items), int(items[0])))

    @property
    def n_components(self) -> int:
        """Number of strong components."""
        return int(self.component.max(initial=-1)) + 1

    @property
    def is_strong(self) -> bool:
        """Whether the votes alone can rank all items."""
        return self.n_components <= 1

    @cached_property
    def never_lose(self) -> list[Codes]:
        """The sets of items that never lose to the others of their group."""
        return self._sets(np.bincount(self.edges.indices, minlength=self.n_components) == 0)

    @cached_property
    def never_win(self) -> list[Codes]:
        """The sets of items that never win against the others of their group."""
        return self._sets(np.diff(self.edges.indptr) == 0)

    def _sets(self, chosen: NDArray[np.bool_]) -> list[Codes]:
        """Give the items of each chosen component, except those that are all of their group."""
        whole = np.bincount(self.group)
        members = _members(self.component)
        sets = (members[component] for component in np.flatnonzero(chosen))
        return [items for items in sets if len(items) < whole[self.group[items[0]]]]

    def sentences(self, labels: pl.Series) -> list[str]:
        """Say in words what keeps the votes from ranking all items; nothing if nothing does."""
        return [*self._unconnected(labels), *self.sentences_within_groups(labels)]

    def sentences_within_groups(self, labels: pl.Series) -> list[str]:
        """Say in words what keeps the votes from ranking the items of a group."""
        if self.is_strong:
            return []
        return [
            *self._one_sided(self.never_lose, "never {} to", "lose", labels),
            *self._one_sided(self.never_win, "never {} against", "win", labels),
            *self._in_between(),
        ]

    def _unconnected(self, labels: pl.Series) -> Iterator[str]:
        if self.n_groups > 1:
            groups = [listing(list(labels.gather(items))) for items in self.groups[:MOST_SETS]]
            rest = self.n_groups - len(groups)
            more = f" | and {rest:,} more" if rest else ""
            yield (
                f"{self.n_groups:,} groups of items were never compared with each other: "
                f"{' | '.join(groups)}{more}"
            )

    def _one_sided(
        self, sets: list[Codes], never: str, verb: str, labels: pl.Series
    ) -> Iterator[str]:
        single = [int(items[0]) for items in sets if len(items) == 1]
        if len(single) > 1:
            sets = [items for items in sets if len(items) > 1]
            yield f"{len(single):,} items never {verb}: {listing(list(labels.gather(single)))}"
        for items in sets[:MOST_SETS]:
            others = int((self.group == self.group[items[0]]).sum()) - len(items)
            who, does = (
                ("this item", never.format(f"{verb}s"))
                if len(items) == 1
                else (f"these {len(items):,} items", never.format(verb))
            )
            whom = "the other one" if others == 1 else f"the other {others:,}"
            yield f"{who} {does} {whom}: {listing(list(labels.gather(items)))}"
        if len(sets) > MOST_SETS:
            yield f"{len(sets) - MOST_SETS:,} more sets of items {never.format(verb)} the others"

    def _in_between(self) -> Iterator[str]:
        ends = len(self.never_lose) + len(self.never_win)
        whole_groups = self.n_groups - len({int(self.group[s[0]]) for s in self.never_lose})
        between = self.n_components - ends - whole_groups
        if between > 0:
            sets = "set of items lies" if between == 1 else "sets of items lie"
            yield f"{between:,} more {sets} in between, winning only against those below"


def linking_pairs(found: Connection, votes: Votes) -> list[tuple[int, int]]:
    """Pairs that would connect the groups: of each the item compared most, with the largest's."""
    compared = votes.times_compared
    known = [int(items[np.argmax(compared[items])]) for items in found.groups]
    return [(known[0], other) for other in known[1:]]


def connection(votes: Votes) -> Connection:
    """Find out how the items of some votes are connected."""
    graph = _Condensed(votes.n_items)
    if votes.lists.number:
        graph.add(*_links(votes.lists))
    if not graph.is_one:
        for links in votes.over_shards(_LinksPass()):
            graph.add(*links)
            if graph.is_one:
                break
    return graph.connection()


@dataclass(frozen=True, eq=False)
class _LinksPass(Pass[Votes, tuple[Codes, Codes]]):
    """Edges, as few as can be, that link items as all votes on pairs do."""

    stops_early: ClassVar[bool] = True

    def __call__(self, here: Votes, _first: int, _last: int, _own: Own) -> tuple[Codes, Codes]:
        """Until one component is left."""
        graph = _Condensed(here.n_items)
        for some in _growing_pieces(here):
            if graph.is_one:
                break
            (left, right), outcome = here.sides(some), here.outcome[some]
            left_beat, right_beat = outcome != RIGHT_WON, outcome != LEFT_WON
            graph.add(
                np.concatenate((left[left_beat], right[right_beat])),
                np.concatenate((right[left_beat], left[right_beat])),
            )
            give_back(here.winner[some], here.loser[some], outcome)
        return graph.links()


def _growing_pieces(votes: Votes) -> Iterator[slice]:
    """Split the votes into pieces, small ones first: a part of the votes often links all items."""
    begin, size = 0, FIRST_PIECE * votes.n_items
    while begin < votes.n_pairs:
        end = min(begin + min(size, RANGE), votes.n_pairs)
        yield slice(begin, end)
        begin, size = end, 2 * size


def lone_judges(votes: Votes) -> Codes:
    """Give the judges who share no pair of items with any other judge, if there are others."""
    if votes.n_judges < 2:
        return np.empty(0, dtype=np.int32)
    low, high = np.minimum(votes.winner, votes.loser), np.maximum(votes.winner, votes.loser)
    judge = votes.judge
    for number, one, other in (pairs_of(votes.lists), tied_pairs_of(votes.lists)):
        low = np.concatenate((low, np.minimum(one, other)))
        high = np.concatenate((high, np.maximum(one, other)))
        judge = np.concatenate((judge, votes.lists.judge[number]))
    seen = pl.DataFrame(
        {"pair": low.astype(np.int64) * votes.n_items + high, "judge": judge}
    ).lazy()
    shared = (
        seen.group_by("pair")
        .agg(shared=pl.col("judge").min() != pl.col("judge").max())
        .filter("shared")
    )
    sharing = seen.join(shared, on="pair", how="semi").select(pl.col("judge").unique()).collect()
    alone = (np.diff(votes.start) > 0) | (np.diff(votes.lists.start) > 0)
    alone[sharing["judge"].to_numpy()] = False
    return np.flatnonzero(alone).astype(np.int32)


def _links(lists: Lists) -> tuple[Codes, Codes]:
    """Edges that link the items of lists as all their pairs would.

    Each item has beaten the next, tied ones each other; what is not ranked has been beaten by the
    last that is.
    """
    if not lists.number:
        return lists.item, lists.item
    here = np.flatnonzero(np.diff(lists.entry_list) == 0)
    ranked = lists.is_ranked
    tied = (lists.level[here] == lists.level[here + 1]) & ranked[here + 1]
    rest = np.flatnonzero(~ranked)
    last_ranked = (lists.begin[:-1] + lists.ranked - 1)[lists.entry_list[rest]]
    down = here[ranked[here]]
    up = here[tied]
    winner = np.concatenate((down, up + 1, last_ranked))
    loser = np.concatenate((down + 1, up, rest))
    return lists.item[winner], lists.item[loser]


class _Condensed:
    """Strong components, and the edges between them, as more and more votes are seen.

    An edge within a component says nothing new and is forgotten.
    """

    def __init__(self, n_items: int) -> None:
        self.component = np.arange(n_items, dtype=np.int32)
        self.size = n_items
        self.edges = np.empty(0, dtype=np.int64)
        """Winner x size + loser, each edge once."""

    @property
    def is_one(self) -> bool:
        """Whether all items are in one component, so that no vote can change anything."""
        return self.size <= 1

    def add(self, winner: Codes, loser: Codes) -> None:
        """Add edges from winners to losers."""
        self._keep(self.component[winner], self.component[loser])
        size, merged = scipy.sparse.csgraph.connected_components(
            self._graph(), directed=True, connection="strong"
        )
        if size < self.size:
            winner, loser = merged[self._winner], merged[self._loser]
            self.component, self.size = merged[self.component], int(size)
            self.edges = np.empty(0, dtype=np.int64)
            self._keep(winner, loser)

    def _keep(self, winner: Codes, loser: Codes) -> None:
        between = winner != loser
        edge = winner[between].astype(np.int64) * self.size + loser[between]
        self.edges = np.unique(np.concatenate((self.edges, edge)))

    def links(self) -> tuple[Codes, Codes]:
        """Winners and losers that make the same components: in each, a circle of its items."""
        order = np.argsort(self.component, kind="stable").astype(np.int32)
        first = np.flatnonzero(np.diff(self.component[order], prepend=-1))
        following = np.append(order[1:], order[:1])
        following[np.append(first[1:], len(order)) - 1] = order[first]
        alone = following == order
        winner = np.concatenate((order[~alone], order[first][self._winner]))
        return winner, np.concatenate((following[~alone], order[first][self._loser]))

    @property
    def _winner(self) -> Codes:
        return (self.edges // max(self.size, 1)).astype(np.int32)

    @property
    def _loser(self) -> Codes:
        return (self.edges % max(self.size, 1)).astype(np.int32)

    def _graph(self) -> scipy.sparse.csr_array:
        ones, shape = np.ones(len(self.edges)), (self.size, self.size)
        return scipy.sparse.csr_array((ones, (self._winner, self._loser)), shape=shape)

    def connection(self) -> Connection:
        """What has been found, the sets numbered so that nothing depends on the order of votes."""
        if self.is_one:
            one = np.zeros(len(self.component), dtype=np.int32)
            return Connection(one, one, scipy.sparse.csr_array((self.size, self.size)))
        _, group = scipy.sparse.csgraph.connected_components(
            self._graph(), directed=True, connection="weak"
        )
        group = _by_first_item(group[self.component])
        self._renumber(_first_items(self.component))
        self._renumber(_winners_first(self._graph()))
        return Connection(group, self.component, self._graph())

    def _renumber(self, number: Codes) -> None:
        winner, loser = number[self._winner], number[self._loser]
        self.component, self.edges = number[self.component], np.empty(0, dtype=np.int64)
        self._keep(winner, loser)


def _first_items(labels: Codes) -> Codes:
    """The index of each set among all, by their first items."""
    _, first = np.unique(labels, return_index=True)
    return _inverse(np.argsort(first))


def _by_first_item(labels: Codes) -> Codes:
    """Number sets by their first item: scipy promises no order."""
    return _first_items(labels)[labels]


def _inverse(order: NDArray[np.int64]) -> Codes:
    index = np.empty(len(order), dtype=np.int32)
    index[order] = np.arange(len(order), dtype=np.int32)
    return index


def _winners_first(edges: scipy.sparse.csr_array) -> Codes:
    """Give each node of an acyclic graph its index in a topological order, ties by number."""
    n = len(edges.indptr) - 1
    waiting_for = np.bincount(edges.indices, minlength=n)
    ready = np.flatnonzero(waiting_for == 0)
    order = []
    while len(ready):
        order.append(ready)
        beaten, times = np.unique(edges[ready].indices, return_counts=True)
        waiting_for[beaten] -= times
        ready = beaten[waiting_for[beaten] == 0]
    return _inverse(np.concatenate(order) if order else np.empty(0, dtype=np.int64))


def _members(labels: Codes) -> list[Codes]:
    """Give the items of each set, in order."""
    order = np.argsort(labels, kind="stable").astype(np.int32)
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])
