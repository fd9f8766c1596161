"""Cells, all votes of one judge on one item: which they are, how many votes, the rest without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank.model.objective import Objective
from juryrank.types import Floats
from juryrank.votes.lists import Lists, tie_sizes, without_entries
from juryrank.votes.storage import give_back, new_like, ranges
from juryrank.votes.votes import NO_TIES, Votes, Wins

Mask = NDArray[np.bool_]


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

    def with_whole_votes(self, say: Floats) -> OneSided:
        """The same in votes, if those of each judge counted only so many times."""
        whole = 1.0 / say[self.judge]
        return replace(
            self, votes=whole * self.votes, won=whole * self.won, expected=whole * self.expected
        )


NOBODY = OneSided(*(np.empty(0, dtype=np.int64),) * 2, *(np.empty(0),) * 4)


def without_cells(objective: Objective, found: OneSided) -> Objective:
    """The objective when the votes of these judges on these items are set aside.

    A pair is dropped; from a list only the item is: what it says of the others stands. Where it
    was tied, the others may be a group of a size that was not tied before.
    """
    return _with_sizes_left(dropped(objective, found)) if len(found) else objective


def dropped(objective: Objective, found: OneSided) -> Objective:
    """The objective without these votes, its effects as they were."""
    lists = objective.lists
    return replace(
        objective,
        wins=_without_pairs(objective.wins, found),
        lists=without_entries(lists, entries_in_cells(lists, found)),
    )


def _without_pairs(wins: Wins, found: OneSided) -> Wins:
    """The wins that are not of these judges on these items."""
    number = np.diff(wins.start)
    for u in np.unique(found.judge):
        own = slice(wins.start[u], wins.start[u + 1])
        number[u] -= np.count_nonzero(_on_items(wins.winner[own], wins.loser[own], found, u))
    start = np.concatenate(([0], np.cumsum(number)))
    columns: dict[str, NDArray[Any]] = wins._asdict()
    there = [name for name in columns if name != "start" and len(columns[name])]
    kept: dict[str, NDArray[Any]] = {
        name: new_like(wins.winner, int(start[-1]), columns[name].dtype) for name in there
    }
    for first, end in ranges(wins.start):
        own, place = slice(wins.start[first], wins.start[end]), slice(start[first], start[end])
        here = (found.judge >= first) & (found.judge < end)
        of_these = replace(found, judge=found.judge[here] - first, item=found.item[here])
        its_start = wins.start[first : end + 1] - wins.start[first]
        keep = ~in_cells(its_start, wins.winner[own], wins.loser[own], of_these)
        for name in there:
            kept[name][place] = columns[name][own][keep]
            give_back(columns[name][own], kept[name][place])
    return wins._replace(start=start, **kept)


def _with_sizes_left(objective: Objective) -> Objective:
    """The objective with the sizes of ties that there are."""
    wins, effects = objective.wins, objective.effects
    if not effects.sizes:
        return objective
    sizes = set(tie_sizes(objective.lists).tolist()) | ({2} if wins.tied.any() else set())
    if effects.as_one and sizes:
        sizes = {2}
    tied = NO_TIES
    if 2 in sizes:
        tied = wins.tied if len(wins.tied) else np.zeros(len(wins.winner), dtype=np.bool_)
    return replace(
        objective,
        wins=wins._replace(tied=tied),
        effects=replace(
            effects,
            sizes=tuple(sorted(sizes)),
            ties_by_judge=effects.ties_by_judge and bool(sizes),
            as_one=effects.as_one and bool(sizes),
        ),
    )


def in_cells(
    start: NDArray[np.int64], one: NDArray[np.int32], other: NDArray[np.int32], found: OneSided
) -> Mask:
    """Which votes on pairs are those of these judges on these items."""
    inside = np.zeros(len(one), dtype=np.bool_)
    for u in np.unique(found.judge):
        own = slice(start[u], start[u + 1])
        inside[own] = _on_items(one[own], other[own], found, u)
    return inside


def _on_items(
    one: NDArray[np.int32], other: NDArray[np.int32], found: OneSided, judge: int
) -> Mask:
    """Which of a judge's votes on pairs are on the items found with it."""
    inside = np.zeros(len(one), dtype=np.bool_)
    for item in found.item[found.judge == judge]:
        inside |= (one == item) | (other == item)
    return inside


def entries_in_cells(lists: Lists, found: OneSided) -> Mask:
    """Which entries of lists are these items in the lists of these judges."""
    inside = np.zeros(len(lists.item), dtype=np.bool_)
    for u, i in zip(found.judge, found.item, strict=True):
        own = slice(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]])
        inside[own] |= lists.item[own] == i
    return inside


def votes_that_count(votes: Votes, found: OneSided) -> Votes:
    """The votes without those that are set aside."""
    if not len(found):
        return votes
    pairs = ~in_cells(votes.start, votes.left, votes.right, found)
    kept = votes.subset(np.concatenate((pairs, np.ones(votes.lists.number, dtype=np.bool_))))
    lists = without_entries(votes.lists, entries_in_cells(votes.lists, found))
    return replace(kept, lists=lists)


def number_in_cells(votes: Votes, found: OneSided) -> int:
    """How many votes are those of these judges on these items."""
    lists = votes.lists
    pairs = 0
    for u in np.unique(found.judge):
        own = slice(votes.start[u], votes.start[u + 1])
        pairs += int(_on_items(votes.left[own], votes.right[own], found, u).sum())
        give_back(votes.left[own], votes.right[own])
    return pairs + len(np.unique(lists.entry_list[entries_in_cells(lists, found)]))


def _some_judges(objective: Objective) -> Iterator[tuple[int, Wins, Lists]]:
    """The votes of some judges after the other, with the code of the first of them."""
    wins, lists = objective.wins, objective.lists
    for first, end in ranges(wins.start):
        some = slice(first, end + 1)
        yield first, wins._replace(start=wins.start[some]), lists._replace(start=lists.start[some])
        own = slice(wins.start[first], wins.start[end])
        give_back(wins.winner[own], wins.loser[own], wins.weight[own], wins.tied[own])


def heavy_cells(
    objective: Objective, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
    """Judges and items with so many votes at least: codes, votes won, votes."""
    found = []
    for first, wins, lists in _some_judges(objective):
        judge, *rest = _kernels.heavy_cells(wins, lists, objective.n_items, least)
        found.append((judge + first, *rest))
    judge, item, won, votes = (np.concatenate(part) for part in zip(*found, strict=True))
    return judge, item, won, votes


def cell_counts(objective: Objective, most: int) -> NDArray[np.int64]:
    """How many pairs of judge and item have 0, 1, ... `most` (or more) votes."""
    counts = np.zeros(most + 1, dtype=np.int64)
    for _, wins, lists in _some_judges(objective):
        counts += _kernels.cell_counts(wins, lists, objective.n_items, most)
    return counts
