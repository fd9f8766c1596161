"""Weights under which no judge has more votes on an item than is usual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank.judging.cells import cell_counts
from juryrank.model.objective import Objective
from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.storage import give_back, new_like, ranges
from juryrank.votes.votes import Wins, wins_taken

LONGEST_COUNT = 1000
WEIGHTS_LOOKED_AT = 1 << 22
"""So many weights, evenly spaced, say well enough what a full one is."""


class _CappedPart(NamedTuple):
    """The votes of some judges, with weights that are capped."""

    wins: Wins
    lists: Lists
    """All lists, of which these judges' count."""
    pairs_at: slice
    lists_at: slice


def _capped_parts(objective: Objective) -> Iterator[_CappedPart]:
    """Votes with weights under which no judge has more on an item than is usual."""
    wins, lists, usual = objective.wins, objective.lists, _usual(objective)
    for first, end in ranges(wins.start):
        own = slice(wins.start[first], wins.start[end])
        its_lists = slice(lists.start[first], lists.start[end])
        some = wins_taken(wins, own, wins.start[first : end + 1] - wins.start[first])
        among = lists._replace(start=lists.start[first : end + 1])
        weight, of_lists = _kernels.capped_weights(some, among, objective.n_items, usual)
        capped = some._replace(given_weight=weight), among._replace(weight=of_lists)
        yield _CappedPart(*capped, own, its_lists)
        give_back(wins.winner[own], wins.loser[own], wins.weight[own])


def capped(objective: Objective) -> Objective:
    """Weights under which no judge has more votes on an item than is usual."""
    wins, lists = objective.wins, objective.lists
    weight = new_like(wins.winner, len(wins.winner), np.dtype(np.float64))
    list_weight = lists.weight.copy()
    for part in _capped_parts(objective):
        weight[part.pairs_at] = part.wins.given_weight
        list_weight[part.lists_at] = part.lists.weight[part.lists_at]
        give_back(weight[part.pairs_at])
    return replace(
        objective, wins=wins._replace(given_weight=weight), lists=lists._replace(weight=list_weight)
    )


def _usual(objective: Objective) -> float:
    """The median number of votes of a judge on an item it has voted on, times a full weight.

    Nine tenths of the weights are at most a full one: halves of ties are below it.
    """
    wins, lists = objective.wins, objective.lists
    counts = cell_counts(objective, LONGEST_COUNT)
    median = max(np.searchsorted(np.cumsum(counts), 0.5 * counts.sum()), 1)
    if not len(wins.given_weight) and not len(lists.weight):
        return float(median)
    stride = max(1, -(-len(wins.winner) // WEIGHTS_LOOKED_AT))
    weights = np.concatenate((wins.weight[::stride], lists.weight))
    give_back(wins.weight)
    return float(median) * float(np.quantile(weights, 0.9))


def fair_totals(objective: Objective) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Per item: votes won, all its votes, with capped weights; the number of judges on it."""
    n = objective.n_items
    won, votes, judges = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
    for part in _capped_parts(objective):
        its_won, its_votes, its_judges = _kernels.item_totals(part.wins, part.lists, n)
        won += its_won
        votes += its_votes
        judges += its_judges
    return won, votes, judges
