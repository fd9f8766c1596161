"""The standard normal distribution, for single numbers.

`scipy.special` has the same for arrays, but takes longer to import than ranking thousands of votes.
"""

from __future__ import annotations

from math import erfc, inf, sqrt
from statistics import NormalDist


def below(x: float) -> float:
    """The chance of a number below `x`, to full relative accuracy however small it is."""
    return 0.5 * erfc(-x / sqrt(2.0))


def quantile(chance: float) -> float:
    """The number below which another one falls with this chance, at most one half."""
    return NormalDist().inv_cdf(chance) if chance > 0.0 else -inf
