"""Weights under which no judge has more votes on an item than is usual."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.judging.cells import cell_counts
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes

Weights = Callable[[CodedVotes, slice], tuple[Floats, Floats]]
"""Of the pairs and of the lists of some judges."""

LONGEST_COUNT = 1000
WEIGHTS_LOOKED_AT = 1 << 22
"""So many weights, evenly spaced, say well enough what a full one is."""


def capped(votes: CodedVotes) -> CodedVotes:
    """Weights under which no judge has more votes on an item than is usual."""
    return votes.with_weights(_capped_weights(votes))


def _capped_weights(votes: CodedVotes) -> Weights:
    usual = _usual(votes)

    def weights(some: CodedVotes, _judges: slice) -> tuple[Floats, Floats]:
        return _core.capped_weights(some.core_pairs, some.core_lists, usual)

    return weights


def _usual(votes: CodedVotes) -> float:
    """The median number of votes of a judge on an item it has voted on, times a full weight.

    Nine tenths of the weights are at most a full one: halves of ties are below it.
    """
    pairs = votes.pairs
    counts = cell_counts(votes, LONGEST_COUNT)
    median = max(np.searchsorted(np.cumsum(counts), 0.5 * counts.sum()), 1)
    if pairs.given_weight is None and not votes.has_lists:
        return float(median)
    stride = max(1, -(-pairs.number // WEIGHTS_LOOKED_AT))
    with votes.opened():
        weights = np.concatenate((pairs.weight[::stride], votes.lists.weight))
    return float(median) * float(np.quantile(weights, 0.9))


def fair_totals(votes: CodedVotes) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Per item: votes won, all its votes, with capped weights; the number of judges on it."""
    n, weigh = votes.n_items, _capped_weights(votes)
    won, number, judges = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
    for _, some in votes.chunks():
        part = some.with_weights(weigh)
        its_won, its_number, its_judges = _core.item_totals(part.core_pairs, part.core_lists)
        won += its_won
        number += its_number
        judges += its_judges
    return won, number, judges
