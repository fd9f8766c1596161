"""`CodedVotes`: all votes as a model counts them, without labels: pairs, lists and weights in one.

Conventions, for ``m`` judges and ``n`` items:

- codes of items are below ``n``, and votes are sorted by judge: those of judge ``u`` stand from
  ``start[u]`` to ``start[u + 1]``, where `start` has ``m + 1`` entries;
- what is not there is None: weights that are all 1, ties that cannot be, sides that do not matter;
- values are never changed: every method that selects or weighs votes gives new ones, which share
  what they can with the old.

Votes may be larger than memory, in files that are mapped to it. Nobody else needs to know: whoever
goes through all votes does so by `chunks`, `over_chunks` or `over_shards`, which free what has been
seen (see `juryrank.votes.passes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.types import Floats, WithCore
from juryrank.votes.cells import Cells, entries_in_cells, pairs_in_cells
from juryrank.votes.lists import (
    Lists,
    begins_of,
    choices,
    in_every_order,
    indices_of,
    judge_codes,
    no_lists,
    of_range,
    taken,
    tie_sizes,
    without_entries,
)
from juryrank.votes.passes import NOTHING_OWN, Found, Own, Pass, sum_of
from juryrank.votes.storage import give_back, is_mapped, new_like, ranges
from juryrank.votes.weights import equal_weights, total_weight, weight_per_judge

Codes = NDArray[np.int64]
Items = NDArray[np.int32]
Mask = NDArray[np.bool_]
Sides = NDArray[np.int8]

LIST_ENTRY_WORK = 4
"""An item of a list takes about as long as so many votes on pairs."""
SIGNS = 3
"""A side is -1, 0 or 1."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Votes on pairs as weighted wins."""

    start: Codes
    winner: Items
    loser: Items
    given_weight: Floats | None = None
    """None: all are 1."""
    tied: Mask | None = None
    """Which of them are ties and no wins; None if votes cannot be tied."""
    side: Sides | None = None
    """1 if the winner was on the left, -1 if on the right; None if sides do not matter."""

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.winner)

    @property
    def per_judge(self) -> Codes:
        """How many there are of each judge."""
        return np.diff(self.start)

    @property
    def judge(self) -> NDArray[np.int32]:
        """The judge of each."""
        return judge_codes(self.start)

    @property
    def weight(self) -> Floats:
        """The weight of each."""
        return equal_weights(self.number) if self.given_weight is None else self.given_weight

    @property
    def is_weighted(self) -> bool:
        """Whether weights were given."""
        return self.given_weight is not None

    @property
    def can_tie(self) -> bool:
        """Whether votes can be tied."""
        return self.tied is not None

    @property
    def has_sides(self) -> bool:
        """Whether sides matter."""
        return self.side is not None

    def taken(self, rows: slice | Codes | Mask, start: Codes) -> Pairs:
        """Some of them; those of each judge begin at `start`."""
        columns = {name: column[rows] for name, column in self.columns().items()}
        return replace(self, start=start, **columns)

    def columns(self) -> dict[str, NDArray[Any]]:
        """What there is of each pair, by name."""
        names = ("winner", "loser", "given_weight", "tied", "side")
        columns = ((name, getattr(self, name)) for name in names)
        return {name: column for name, column in columns if column is not None}

    def in_order(self) -> Pairs:
        """The same with the lower code first in ties, if sides do not matter."""
        if self.tied is None or self.side is not None:
            return self
        turned = self.tied & (self.winner > self.loser)
        return replace(
            self,
            winner=np.where(turned, self.loser, self.winner),
            loser=np.where(turned, self.winner, self.loser),
        )


@dataclass(frozen=True)
class Splitting:
    """How sums over all votes are split."""

    chunks: int = 16
    """Large sums are always split into as many parts, so that threads do not change the answer,"""
    largest: int = 4_000_000
    """or into more, so that none has many more votes than this."""
    votes_worth_it: int = 100_000
    """Sums over fewer votes are not split."""
    votes_worth_threads: int = 400_000
    """With fewer, threads cost more than they gain."""


USUAL = Splitting()


def bounds_of_chunks(work: Codes, splitting: Splitting = USUAL) -> Codes:
    """The first judge of each group of judges whose votes take about as long, and the end.

    `work` is what the votes of all judges before each take, and at last of all.
    """
    most = max(splitting.chunks, int(work[-1]) // splitting.largest)
    parts = most if work[-1] >= splitting.votes_worth_it else 1
    inner = np.searchsorted(work, np.linspace(0, work[-1], parts + 1)[1:-1])
    return np.unique(np.concatenate(([0], inner, [len(work) - 1]))).astype(np.int64)


def no_pairs(n_judges: int) -> Pairs:
    """No votes on pairs."""
    nothing = np.empty(0, dtype=np.int32)
    return Pairs(np.zeros(n_judges + 1, dtype=np.int64), nothing, nothing)


@dataclass(frozen=True, eq=False)
class CodedVotes(WithCore):
    """Votes on pairs and on lists of more items, with their weights; see the module."""

    n_items: int
    pairs: Pairs
    lists: Lists
    splitting: Splitting = USUAL

    @classmethod
    def of_pairs(cls, n_items: int, pairs: Pairs) -> CodedVotes:
        """Votes on pairs alone."""
        return cls(n_items, pairs, no_lists(len(pairs.start) - 1))

    @classmethod
    def of_lists(cls, n_items: int, lists: Lists) -> CodedVotes:
        """Lists alone."""
        return cls(n_items, no_pairs(len(lists.start) - 1), lists)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return len(self.pairs.start) - 1

    @property
    def has_lists(self) -> bool:
        """Whether there are votes on more than two items."""
        return self.lists.number > 0

    @cached_property
    def in_memory(self) -> bool:
        """Whether all votes are in memory, so that there is room for a copy of them."""
        return not any(map(is_mapped, self.pairs.columns().values()))

    # --- how many ---------------------------------------------------------------------------------

    @property
    def n_entries(self) -> int:
        """How many pairs, and items in lists, there are to go through: the work of one pass."""
        return self.pairs.number + len(self.lists.item)

    @property
    def entries_per_judge(self) -> Codes:
        """The same for each judge."""
        return np.asarray(self.pairs.per_judge + np.diff(self.lists.begin[self.lists.start]))

    @cached_property
    def work_before(self) -> Codes:
        """The work that the votes of all judges before each take, in votes on pairs."""
        return self.pairs.start + LIST_ENTRY_WORK * self.lists.begin[self.lists.start]

    @property
    def votes_per_judge(self) -> Floats:
        """Total weight of each judge's votes."""
        pairs = weight_per_judge(self.pairs.start, self.pairs.weight)
        return pairs + total_weight(self.lists.judge, self.lists.weight, self.n_judges)

    @property
    def choices_per_judge(self) -> Floats:
        """Total weight of each judge's choices: one for a pair, for a list one for each group."""
        pairs = weight_per_judge(self.pairs.start, self.pairs.weight)
        weight = self.lists.weight * choices(self.lists)
        return pairs + total_weight(self.lists.judge, weight, self.n_judges)

    @property
    def tie_sizes(self) -> tuple[int, ...]:
        """The sizes of groups of tied items, each once, in order."""
        of_pairs = {2} if self.pairs.tied is not None and self.pairs.tied.any() else set()
        return tuple(sorted(of_pairs | set(tie_sizes(self.lists).tolist())))

    def judges_and_items(self) -> tuple[Codes, Items]:
        """Who has voted on what: winners, then losers, then the items of lists."""
        voted = self.pairs.judge.astype(np.int64)
        listed = self.lists.judge[self.lists.entry_list].astype(np.int64)
        item = np.concatenate((self.pairs.winner, self.pairs.loser, self.lists.item))
        return np.concatenate((voted, voted, listed)), item

    # --- going through them -----------------------------------------------------------------------

    def chunks(self, most: int | None = None) -> Iterator[tuple[slice, CodedVotes]]:
        """The votes of some judges after the other: which judges, and their votes.

        They have at most so many votes on pairs, or are one judge. When the next votes are asked
        for, the memory of these is freed if they are in a file.
        """
        bounds = ranges(self.pairs.start) if most is None else ranges(self.pairs.start, most)
        for first, last in bounds:
            yield slice(first, last), self.of_range(first, last)
            self._give_back(first, last)

    @cached_property
    def chunk_bounds(self) -> Codes:
        """Bounds of the groups of judges that are summed apart; they depend on the data alone."""
        return bounds_of_chunks(self.work_before, self.splitting)

    def over_chunks(
        self, one_chunk: Pass[CodedVotes, Found], own: Own = NOTHING_OWN, threads: int = 1
    ) -> Iterator[Found]:
        """What a pass finds of all judges, one chunk of them after the other."""

        def work(first: int, last: int) -> Found:
            found = one_chunk(self, first, last, own)
            self._give_back(first, last)
            return found

        bounds = self.chunk_bounds[:-1].tolist(), self.chunk_bounds[1:].tolist()
        are_few = self.n_entries < self.splitting.votes_worth_threads
        if threads == 1 or len(bounds[0]) == 1 or are_few:
            yield from map(work, *bounds)
        else:
            with ThreadPoolExecutor(threads) as pool:
                yield from pool.map(work, *bounds)

    def over_shards(
        self, one_shard: Pass[CodedVotes, Found], own: Own = NOTHING_OWN
    ) -> Iterator[Found]:
        """What a pass finds of the judges of each place where votes are: here is one, with all.

        Such a pass goes through the votes in parts of its own.
        """
        yield one_shard(self, 0, self.n_judges, own)

    def sum_over_chunks(
        self, one_chunk: Pass[CodedVotes, Floats], own: Own = NOTHING_OWN, threads: int = 1
    ) -> Floats:
        """The sum of what a pass finds of all judges, in a fixed order."""
        return sum_of(self.over_chunks(one_chunk, own, threads))

    def sum_over_shards(
        self, one_shard: Pass[CodedVotes, Floats], own: Own = NOTHING_OWN
    ) -> Floats:
        """The sum of what a pass finds in each place where votes are, in a fixed order."""
        return sum_of(self.over_shards(one_shard, own))

    @cached_property
    def core_pairs(self) -> _core.PairVotes:
        """The pairs for the compiled code, which checks them when it first looks at them."""
        pairs = self.pairs
        return _core.PairVotes(
            start=pairs.start, winner=pairs.winner, loser=pairs.loser, weight=pairs.given_weight,
            tied=pairs.tied, side=pairs.side, n_items=self.n_items,
        )  # fmt: skip

    @cached_property
    def core_lists(self) -> _core.ListVotes | None:
        """The lists for the compiled code; None if there are none."""
        return (
            None
            if not self.has_lists
            else _core.ListVotes(**self.lists._asdict(), n_items=self.n_items)
        )

    @contextmanager
    def opened(self) -> Iterator[None]:
        """For compiled code that looks at any of the votes: their memory is freed afterwards."""
        yield
        self._give_back(0, self.n_judges)

    def _give_back(self, first: int, last: int) -> None:
        if self.in_memory:
            return
        own = slice(self.pairs.start[first], self.pairs.start[last])
        give_back(*(column[own] for column in self.pairs.columns().values()))

    # --- some of them -----------------------------------------------------------------------------

    def of_range(self, first: int, last: int) -> CodedVotes:
        """The votes of the judges from ... to, not copied."""
        start = self.pairs.start[first : last + 1]
        pairs = self.pairs.taken(slice(start[0], start[-1]), start - start[0])
        return replace(self, pairs=pairs, lists=of_range(self.lists, first, last))

    def of_judges(self, judges: Codes) -> CodedVotes:
        """The votes of these judges, each as often as it is named, and as a judge of its own."""
        if len(judges) == 1:  # what one judge said, which may be nearly everything, is not copied
            return self.of_range(int(judges[0]), int(judges[0]) + 1)
        pairs, lists = self.pairs, self.lists
        rows, start = indices_of(pairs.start, judges), begins_of(pairs.start, judges)
        own = taken(lists, indices_of(lists.start, judges))
        return replace(
            self,
            pairs=pairs.taken(rows, start),
            lists=own._replace(start=begins_of(lists.start, judges)),
        )

    def taken(self, rows: Codes, lists: Codes, judges: Codes) -> CodedVotes:
        """Some pairs and some lists, by number, all by these judges; all in ascending order."""
        before = np.searchsorted(rows, self.pairs.start[judges])
        pairs = self.pairs.taken(rows, np.append(before, len(rows)))
        own = taken(self.lists, lists)
        self._give_back(0, self.n_judges)
        own = own._replace(start=np.append(own.start[judges], len(lists)))
        return replace(self, pairs=pairs, lists=own)

    def every(self, stride: int) -> Pairs:
        """One of so many pairs, evenly spaced."""
        return self.pairs.taken(slice(None, None, stride), -(-self.pairs.start // stride))

    def on_item(self, item: int) -> CodedVotes:
        """The votes that are on an item."""
        pairs, lists = self.pairs, self.lists
        rows = np.flatnonzero((pairs.winner == item) | (pairs.loser == item))
        about = np.unique(lists.entry_list[lists.item == item])
        start = np.searchsorted(rows, pairs.start)
        return replace(self, pairs=pairs.taken(rows, start), lists=taken(lists, about))

    def without(self, cells: Cells) -> CodedVotes:
        """The votes without those in the cells.

        A pair is dropped; from a list only the item is: what it says of the others stands.
        """
        lists = without_entries(self.lists, entries_in_cells(self.lists, cells))
        return replace(self, pairs=self._pairs_without(cells), lists=lists)

    def _pairs_without(self, cells: Cells) -> Pairs:
        pairs = self.pairs
        number = pairs.per_judge
        for u in np.unique(cells.judge).tolist():
            item = cells.item[cells.judge == u]
            inside = self.of_range(u, u + 1)._in_cells(Cells(np.zeros_like(item), item))
            number[u] -= np.count_nonzero(inside)
        start = np.concatenate(([0], np.cumsum(number)))
        kept = {
            name: new_like(pairs.winner, int(start[-1]), column.dtype)
            for name, column in pairs.columns().items()
        }
        for judges, some in self.chunks():
            here = (cells.judge >= judges.start) & (cells.judge < judges.stop)
            keep = ~some._in_cells(Cells(cells.judge[here] - judges.start, cells.item[here]))
            own = slice(start[judges.start], start[judges.stop])
            for name, column in some.pairs.columns().items():
                kept[name][own] = column[keep]
                give_back(kept[name][own])
        return replace(pairs, start=start, **kept)

    def _in_cells(self, cells: Cells) -> Mask:
        return pairs_in_cells(self.pairs.start, self.pairs.winner, self.pairs.loser, cells)

    # --- the same, told otherwise -----------------------------------------------------------------

    def reweighted(self, per_judge: Floats) -> CodedVotes:
        """Each judge's votes counting so many times."""
        return self._scaled(np.multiply, per_judge)

    def averaged(self) -> CodedVotes:
        """Weights that make sums the mean over judges of the mean over each judge's votes."""
        return self._scaled(np.divide, self.votes_per_judge * self.n_judges)

    def _scaled(self, by: Callable[[Floats, Floats], Floats], per_judge: Floats) -> CodedVotes:
        def scaled(some: CodedVotes, judges: slice) -> tuple[Floats, Floats]:
            pairs, lists, own = some.pairs, some.lists, per_judge[judges]
            each = by(pairs.weight, np.repeat(own, pairs.per_judge))
            return each, by(lists.weight, own[lists.judge])

        return self.with_weights(scaled)

    def with_weights(
        self, weigh: Callable[[CodedVotes, slice], tuple[Floats, Floats]]
    ) -> CodedVotes:
        """Weights that `weigh` gives the pairs and the lists of some judges, here and there."""
        pairs, lists = self.pairs, self.lists
        weight = new_like(pairs.winner, pairs.number, np.dtype(np.float64))
        list_weight = np.empty(lists.number)
        for judges, some in self.chunks():
            first, last = judges.start, judges.stop
            own = slice(pairs.start[first], pairs.start[last])
            weight[own], list_weight[lists.start[first] : lists.start[last]] = weigh(some, judges)
            give_back(weight[own])
        return replace(
            self,
            pairs=replace(pairs, given_weight=weight),
            lists=lists._replace(weight=list_weight),
        )

    def with_ties(self, *, possible: bool) -> CodedVotes:
        """The same if pairs can, or cannot, be tied."""
        tied = self.pairs.tied if possible else None
        if possible and tied is None:
            tied = new_like(self.pairs.winner, self.pairs.number, np.dtype(np.bool_))
        return replace(self, pairs=replace(self.pairs, tied=tied))

    def without_sides(self) -> CodedVotes:
        """The same if sides do not matter."""
        return replace(self, pairs=replace(self.pairs, side=None))

    def in_every_order(self) -> CodedVotes:
        """The same with every order of items that a list ties, sharing its weight."""
        return replace(self, lists=in_every_order(self.lists))

    def recoded(self, item: Items, n_items: int) -> CodedVotes:
        """The same about other items, given as `judges_and_items` gives them."""
        pairs, number = self.pairs, self.pairs.number
        return CodedVotes(
            n_items,
            replace(pairs, winner=item[:number], loser=item[number : 2 * number]),
            self.lists._replace(item=item[2 * number :]),
        )

    def merged(self) -> CodedVotes:
        """Pairs of a judge that say the same, as one of their weight; in an order of their own.

        So what is drawn depends neither on the order of the votes nor on how equal ones are
        written.
        """
        if not self.pairs.number:
            return self
        pairs = self.pairs.in_order()
        judge, n = pairs.judge.astype(np.int64), int(max(pairs.winner.max(), pairs.loser.max())) + 1
        said = (judge * n + pairs.winner) * n + pairs.loser
        for column in (pairs.tied, pairs.side):
            if column is not None:
                said = said * SIGNS + column
        _, first, group = np.unique(said, return_index=True, return_inverse=True)
        start = np.searchsorted(judge[first], np.arange(len(pairs.start)))
        weight = total_weight(group, pairs.weight, len(first))
        once = replace(
            pairs.taken(first, start), given_weight=None if (weight == 1.0).all() else weight
        )
        return replace(self, pairs=once)
