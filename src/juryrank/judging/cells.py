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
    lists, number = votes.lists, 0
    for some in votes.chunks():
        first, last = some.judges.start, some.judges.stop
        here = (found.judge >= first) & (found.judge < last)
        cells = Cells(found.judge[here] - first, found.item[here])
        number += int(pairs_in_cells(some.start, some.left, some.right, cells).sum())
    return number + len(np.unique(lists.entry_list[entries_in_cells(lists, found.cells)]))


def heavy_cells(
    votes: CodedVotes, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Judges and items with so many votes at least: codes, votes won, votes."""
    found = []
    for judges, some in votes.chunks():
        judge, *rest = _core.heavy_cells(some.core_pairs, some.core_lists, least)
        found.append((judge + judges.start, *rest))
    judge, item, won, number = (np.concatenate(part) for part in zip(*found, strict=True))
    return judge, item, won, number


def cell_counts(votes: CodedVotes, most: int) -> NDArray[np.int64]:
    """How many pairs of judge and item have 0, 1, ... `most` (or more) votes."""
    counts = np.zeros(most + 1, dtype=np.int64)
    for _, some in votes.chunks():
        counts += _core.cell_counts(some.core_pairs, some.core_lists, most)
    return counts
