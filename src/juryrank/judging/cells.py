"""Cells, all votes of one judge on one item: which they are, how many votes, the rest without."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.model.objective import Objective
from juryrank.types import Floats
from juryrank.votes.cells import Cells, entries_in_cells, pairs_in_cells
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import without_entries
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class OneSided:
    """Judges and items (by code) whose votes do not go together, the clearest first."""

    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    votes: Floats
    won: Floats
    expected: Floats
    """How many of the votes the item should have won."""
    z: Floats

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def cells(self) -> Cells:
        """Which they are."""
        return Cells(self.judge, self.item)

    def with_whole_votes(self, say: Floats) -> OneSided:
        """The same in votes, if those of each judge counted only so many times."""
        whole = 1.0 / say[self.judge]
        return replace(
            self, votes=whole * self.votes, won=whole * self.won, expected=whole * self.expected
        )


NOBODY = OneSided(*(np.empty(0, dtype=np.int64),) * 2, *(np.empty(0),) * 4)


def without_cells(objective: Objective, found: OneSided) -> Objective:
    """The objective when the votes of these judges on these items are set aside.

    Where an item was tied in a list, the others may be a group of a size that was not tied before.
    """
    if not len(found):
        return objective
    return _with_sizes_left(replace(objective, votes=objective.votes.without(found.cells)))


def _with_sizes_left(objective: Objective) -> Objective:
    """The objective with the sizes of ties that there are."""
    votes, effects = objective.votes, objective.effects
    if not effects.sizes:
        return objective
    sizes = votes.tie_sizes
    if effects.as_one and sizes:
        sizes = (2,)
    return replace(
        objective,
        votes=votes.with_ties(possible=2 in sizes),
        effects=replace(
            effects,
            sizes=sizes,
            ties_by_judge=effects.ties_by_judge and bool(sizes),
            as_one=effects.as_one and bool(sizes),
        ),
    )


def votes_that_count(votes: Votes, found: OneSided) -> Votes:
    """The votes without those that are set aside."""
    if not len(found):
        return votes
    pairs = ~pairs_in_cells(votes.start, votes.winner, votes.loser, found.cells)
    kept = votes.subset(np.concatenate((pairs, np.ones(votes.lists.number, dtype=np.bool_))))
    lists = without_entries(votes.lists, entries_in_cells(votes.lists, found.cells))
    return replace(kept, lists=lists)


def number_in_cells(votes: Votes, found: OneSided) -> int:
    """How many votes are those of these judges on these items."""
    if not len(found):
        return 0
    lists, number = votes.lists, sum(votes.over_shards(_NumberPass(found.cells)))
    return number + len(np.unique(lists.entry_list[entries_in_cells(lists, found.cells)]))


@dataclass(frozen=True, eq=False)
class _NumberPass(Pass[Votes, int]):
    """How many votes on pairs are in cells."""

    cells: Cells

    def for_judges(self, judges: slice) -> _NumberPass:
        """The cells of these judges."""
        return _NumberPass(self.cells.of_judges(judges))

    def __call__(self, here: Votes, _first: int, _last: int, _own: Own) -> int:
        """Some judges after the other."""
        number = 0
        for some in here.chunks():
            cells = self.cells.of_judges(some.judges)
            number += int(pairs_in_cells(some.start, some.left, some.right, cells).sum())
        return number


HeavyCells = tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]


def heavy_cells(votes: CodedVotes, least: float) -> HeavyCells:
    """Judges and items with so many votes at least: codes, votes won, votes."""
    found = votes.over_shards(_HeavyPass(least))
    judge, item, won, number = (np.concatenate(part) for part in zip(*found, strict=True))
    return judge, item, won, number


@dataclass(frozen=True, eq=False)
class _HeavyPass(Pass[CodedVotes, HeavyCells]):
    """Judges and items with many votes."""

    least: float

    def in_whole(self, found: HeavyCells, judges: slice) -> HeavyCells:
        """Judges by their codes among all."""
        return (found[0] + judges.start, *found[1:])

    def __call__(self, here: CodedVotes, _first: int, _last: int, _own: Own) -> HeavyCells:
        """Some judges after the other."""
        found = []
        for judges, some in here.chunks():
            judge, *rest = _core.heavy_cells(some.core_pairs, some.core_lists, self.least)
            found.append((judge + judges.start, *rest))
        judge, item, won, number = (np.concatenate(part) for part in zip(*found, strict=True))
        return judge, item, won, number


def cell_counts(votes: CodedVotes, most: int) -> NDArray[np.int64]:
    """How many pairs of judge and item have 0, 1, ... `most` (or more) votes."""
    return np.asarray(sum(votes.over_shards(_CountsPass(most))))


@dataclass(frozen=True, eq=False)
class _CountsPass(Pass[CodedVotes, NDArray[np.int64]]):
    """The same of the judges of a place."""

    most: int

    def __call__(self, here: CodedVotes, _first: int, _last: int, _own: Own) -> NDArray[np.int64]:
        """Some judges after the other."""
        counts = np.zeros(self.most + 1, dtype=np.int64)
        for _, some in here.chunks():
            counts += _core.cell_counts(some.core_pairs, some.core_lists, self.most)
        return counts
