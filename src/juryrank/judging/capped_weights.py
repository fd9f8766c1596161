"""Weights under which no judge has more votes on an item than is usual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.judging.cells import cell_counts
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.passes import Own, Pass

Totals = tuple[Floats, Floats, NDArray[np.int64]]

LONGEST_COUNT = 1000
WEIGHTS_LOOKED_AT = 1 << 22
"""So many weights, evenly spaced, say well enough what a full one is."""


def capped(votes: CodedVotes) -> CodedVotes:
    """Weights under which no judge has more votes on an item than is usual."""
    return votes.with_weights(_Capped(_usual(votes)))


@dataclass(frozen=True)
class _Capped:
    """Weights under which no judge has more votes on an item than the usual number."""

    usual: float

    def __call__(self, some: CodedVotes, _judges: slice) -> tuple[Floats, Floats]:
        """Of the pairs and of the lists of some judges."""
        return _core.capped_weights(some.core_pairs, some.core_lists, self.usual)


def _usual(votes: CodedVotes) -> float:
    """The median number of votes of a judge on an item it has voted on, times a full weight.

    Nine tenths of the weights are at most a full one: halves of ties are below it.
    """
    pairs = votes.pairs
    counts = cell_counts(votes, LONGEST_COUNT)
    median = max(np.searchsorted(np.cumsum(counts), 0.5 * counts.sum()), 1)
    if not pairs.is_weighted and not votes.has_lists:
        return float(median)
    stride = max(1, -(-pairs.number // WEIGHTS_LOOKED_AT))
    weights = np.concatenate(list(votes.over_shards(_SomePass(stride), {"row": pairs.start[:-1]})))
    weights = np.concatenate((weights, votes.lists.weight))
    return float(median) * float(np.quantile(weights, 0.9))


@dataclass(frozen=True, eq=False)
class _SomePass(Pass[CodedVotes, Floats]):
    """The weights of evenly spaced votes on pairs."""

    stride: int

    @property
    def reads(self) -> tuple[str, ...]:
        """Where among all votes each judge's begin."""
        return ("row",)

    def __call__(self, here: CodedVotes, _first: int, _last: int, own: Own) -> Floats:
        """Those of the judges here."""
        with here.opened():
            return np.array(here.pairs.weight[-int(own["row"][0]) % self.stride :: self.stride])


def fair_totals(votes: CodedVotes) -> Totals:
    """Per item: votes won, all its votes, with capped weights; the number of judges on it."""
    found = votes.over_shards(_TotalsPass(_Capped(_usual(votes))))
    won, number, judges = zip(*found, strict=True)
    return np.asarray(sum(won)), np.asarray(sum(number)), np.asarray(sum(judges))


@dataclass(frozen=True, eq=False)
class _TotalsPass(Pass[CodedVotes, Totals]):
    """The same of the judges of a place."""

    weigh: _Capped

    def __call__(self, here: CodedVotes, _first: int, _last: int, _own: Own) -> Totals:
        """Some judges after the other."""
        n = here.n_items
        won, number, judges = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
        for _, some in here.chunks():
            part = some.with_weights(self.weigh)
            its_won, its_number, its_judges = _core.item_totals(part.core_pairs, part.core_lists)
            won += its_won
            number += its_number
            judges += its_judges
        return won, number, judges
