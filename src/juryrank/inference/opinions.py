"""Opinions: what each judge thinks of each item it has seen, ``m_ui = s_i + b_ui``.

With a taste ``b_ui`` of every judge for every item, a judge's votes are about its opinions as, in
the plain model, they are about the scores. So votes are coded anew, by opinions instead of items,
and everything that knows votes (pairs, ties, sides, rankings, every noise) works as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import choices
from juryrank.votes.weights import total_weight

Codes = NDArray[np.int64]

MOST_IN_MATRIX = 1 << 24
"""Lists x items up to which the information of lists is worked out with a matrix of them."""
KEPT_BITS = 20
"""Of a number that is rounded: about six digits."""
OF_A_TIE = 0.1
"""About what a vote tells of how readily its judge ties."""


@dataclass(frozen=True, eq=False)
class Opinions:
    """Who has an opinion of what; in the plain model, all judges have the scores in common."""

    item: Codes
    judge: Codes
    """Empty in the plain model."""
    objective: Objective
    """Votes about opinions, without a prior."""

    @property
    def tastes(self) -> int:
        """How many tastes there are."""
        return len(self.judge)

    def __len__(self) -> int:
        return len(self.item)


def opinions_of(objective: Objective, *, tastes: bool) -> Opinions:
    """The opinions that votes are about."""
    plain = replace(objective, prior=NO_PRIOR, lambda0=0.0)
    n = objective.n_items
    if not tastes:
        return Opinions(np.arange(n), np.empty(0, dtype=np.int64), plain)
    who, what = plain.votes.judges_and_items()
    known, inverse = np.unique(who * n + what, return_inverse=True)
    code: NDArray[np.int32] = inverse.astype(np.int32)
    recoded = replace(plain, votes=plain.votes.recoded(code, len(known)))
    return Opinions(known % n, known // n, recoded)


class Juries(NamedTuple):
    """Judges and items that hang together: who has voted on an item is in its jury.

    Nothing that a jury says is about the items of another; each may have its own end up.
    """

    item: Codes
    judge: Codes
    number: int

    def most(self, of_judges: Floats) -> Floats:
        """For each judge the largest such number of its jury."""
        most = np.zeros(self.number)
        np.maximum.at(most, self.judge, of_judges)
        return most[self.judge]


def juries_of(opinions: Opinions, n_items: int) -> Juries:
    """The jury of each item, and of each judge."""
    m = opinions.objective.n_judges
    who, opinion = opinions.objective.votes.judges_and_items()
    what = opinions.item[opinion]
    size = n_items + m
    seen = scipy.sparse.coo_array(
        (np.ones(len(who), dtype=np.int8), (what, n_items + who)), (size, size)
    )
    number, jury = scipy.sparse.csgraph.connected_components(seen, directed=False)
    return Juries(jury[:n_items].astype(np.int64), jury[n_items:].astype(np.int64), int(number))


def rounded(values: Floats) -> Floats:
    """To six digits of each, and none below 1e-6: what is the same but for rounding is the same."""
    fraction, exponent = np.frexp(values)
    bits = np.minimum(KEPT_BITS, KEPT_BITS + exponent)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits))


@dataclass(frozen=True, eq=False)
class Precision:
    """About how much votes tell of each unknown where the others are held: second derivatives."""

    opinion: Floats
    accuracy: Floats
    tie: Floats
    """Of each judge's own weight of ties."""
    order: Floats
    """Of what the left side gains with each judge."""
    score: Floats
    """Items x items, or a diagonal."""


class VoteInformation:
    """About how much each vote tells; enough to choose the steps of a sampler by."""

    def __init__(self, opinions: Opinions, n_items: int) -> None:
        self.opinions = opinions
        self.n_items = n_items
        objective = opinions.objective
        self.votes: CodedVotes = objective.votes
        lists = self.votes.lists
        self.pair_judge = self.votes.pairs.judge.astype(np.int64)
        self.entry_list = lists.entry_list
        self.entry_judge = lists.judge[self.entry_list]
        self.list_size = np.maximum(lists.length, 2)
        share = choices(lists) * 4.0 / self.list_size * (1.0 - 1.0 / self.list_size)
        self.list_weight = lists.weight * share * float(objective.noise.terms(0.0)[2])

    def at(self, opinion: Floats, accuracy: Floats, *, dense: bool) -> Precision:
        """The information at one point; of the scores, a diagonal unless it is to be dense."""
        objective = self.opinions.objective
        pairs, lists, m = self.votes.pairs, self.votes.lists, self.votes.n_judges
        gap = opinion[pairs.winner] - opinion[pairs.loser]
        own = accuracy[self.pair_judge]
        # Last digits differ from CPU to CPU, and the steps of a sampler would with them.
        told = rounded(pairs.weight * objective.noise.terms(own * gap)[2])
        of_pair, size = told * own**2, len(opinion)
        entry_weight = self.list_weight[self.entry_list]
        of_entry = entry_weight * accuracy[self.entry_judge] ** 2
        by_opinion = total_weight(pairs.winner, of_pair, size)
        by_opinion += total_weight(pairs.loser, of_pair, size)
        by_opinion += total_weight(lists.item, of_entry, size)
        spread = opinion[lists.item] - self._list_means(opinion)[self.entry_list]
        by_accuracy = total_weight(self.pair_judge, told * gap**2, m)
        by_accuracy += total_weight(self.entry_judge, entry_weight * spread**2, m)
        return Precision(
            by_opinion,
            by_accuracy,
            OF_A_TIE * objective.choices_per_judge,
            total_weight(self.pair_judge, told, m),
            self._of_scores(of_pair, of_entry, by_opinion, dense=dense),
        )

    def _list_means(self, opinion: Floats) -> Floats:
        lists = self.votes.lists
        total = total_weight(self.entry_list, opinion[lists.item], lists.number)
        return np.asarray(total / self.list_size)

    def _of_scores(
        self, of_pair: Floats, of_entry: Floats, by_opinion: Floats, *, dense: bool
    ) -> Floats:
        """Second derivatives in the scores, the opinions moving with them."""
        item, n = self.opinions.item, self.n_items
        diagonal = total_weight(item, by_opinion, n)
        if not dense:
            return diagonal
        pairs = self.votes.pairs
        key = item[pairs.winner] * n + item[pairs.loser]
        between = total_weight(key, of_pair, n * n).reshape(n, n)
        matrix = np.diag(diagonal) - between - between.T
        return matrix - self._of_lists(of_entry) if self.votes.has_lists else matrix

    def _of_lists(self, of_entry: Floats) -> Floats:
        """What choosing from the same set takes off: a choice is between its items."""
        item, n, lists = self.opinions.item, self.n_items, self.votes.lists
        if lists.number * n > MOST_IN_MATRIX:
            return np.zeros((n, n))
        rows = np.zeros((lists.number, n))
        share = of_entry / self.list_size[self.entry_list]
        rows[self.entry_list, item[lists.item]] = np.sqrt(share)
        return np.asarray(rows.T @ rows)
