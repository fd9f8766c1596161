"""Whether judges differ in how readily they tie: the data decide, before anything is fitted.

Of ``n_u`` times that judge ``u`` could have tied (once for a pair, once less than its items for a
ranking) it did so ``x_u`` times. If all tied with the same chance ``p``, then

    z = [sum_u (x_u - n_u p)^2 / (p (1 - p)) - sum_u n_u] / sqrt(2 sum_u n_u (n_u - 1))

would be standard normal (Tarone's test of binomial counts that vary too much). It is also large if
judges differ in accuracy a lot, for who sees differences clearly has fewer ties. Then judges get
tie weights of their own for nothing, which costs little: their spread is found with the rest.
"""

from __future__ import annotations

import numpy as np

from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.votes import Votes
from juryrank.votes.weights import total_weight

MORE_THAN_CHANCE = 1.645
"""What a standard normal number exceeds in one case of twenty."""


def judges_differ(votes: Votes) -> bool:
    """Whether some judges tie more readily than others, beyond chance."""
    lists, m = votes.lists, votes.n_judges
    could = votes.weight_of_pairs + total_weight(lists.judge, lists.weight * (lists.ranked - 1), m)
    tied = votes.weight_of_ties + total_weight(lists.judge, lists.weight * _ties(lists), m)
    return _tarone(tied, could) > MORE_THAN_CHANCE


def _ties(lists: Lists) -> Floats:
    """How many items of each list are tied with the one before."""
    same = np.zeros(len(lists.item), dtype=np.bool_)
    same[1:] = (np.diff(lists.level) == 0) & (np.diff(lists.entry_list) == 0)
    tied = np.bincount(lists.entry_list[same & lists.is_ranked], minlength=lists.number)
    return tied.astype(np.float64)


def _tarone(tied: Floats, could: Floats) -> float:
    """Tarone's ``z``; 0 where it says nothing."""
    share = float(tied.sum() / could.sum()) if could.any() else 0.0
    spread = 2.0 * float(np.sum(could * np.maximum(could - 1.0, 0.0)))
    if not (0.0 < share < 1.0 and spread > 0.0):
        return 0.0
    square = float(np.sum((tied - could * share) ** 2)) / (share * (1.0 - share))
    return (square - float(could.sum())) / float(np.sqrt(spread))
