"""Whether a judge agrees with itself, whatever the others think.

Of three items that a judge has compared with each other, it may prefer a to b, b to c and c to a: a
circular triad. A coin gives them in a quarter of the triads, and answers a question that is asked
twice the same way half of the time. Triads are independent in pairs under a coin, and so are pairs
of answers, so that of ``n`` triads the circular ones have variance ``3n/16``, and of ``r`` pairs of
answers those that agree have ``r/4``. Half as consistent as can be is a judge with an eighth of its
triads circular and three quarters of its answers repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.votes.lists import pairs_of, taken
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import TIE, Votes

SURE = 2.326
"""Standard errors from a coin, or from half a coin, that are no accident (1 %)."""
LEAST_ASKED = 10
"""Triads and repeats below which nothing can be said."""
COIN = 0.25, 0.5
"""Circular triads, and repeated answers, of a coin,"""
HALF_A_COIN = 0.125, 0.75
"""and of a judge half as consistent as can be."""


class Consistency(NamedTuple):
    """How often a judge agrees with itself."""

    triads: int
    circular: int
    repeats: int
    """Pairs of answers to the same question,"""
    repeated: int
    """and those that agree."""

    @property
    def is_consistent(self) -> bool:
        """Surely no coin, and perhaps fully consistent."""
        return self._beyond(COIN) > SURE and self._beyond(HALF_A_COIN) > -SURE

    @property
    def is_inconsistent(self) -> bool:
        """Surely not half as consistent as can be, and perhaps a coin."""
        return self._beyond(HALF_A_COIN) < -SURE and self._beyond(COIN) < SURE

    def _beyond(self, shares: tuple[float, float]) -> float:
        """By how many standard errors the judge is more consistent than one with such shares."""
        if self.triads + self.repeats < LEAST_ASKED:
            return 0.0
        circular, repeated = shares
        more = circular * self.triads - self.circular + self.repeated - repeated * self.repeats
        variance = circular * (1.0 - circular) * self.triads
        variance += repeated * (1.0 - repeated) * self.repeats
        return float(more / np.sqrt(variance))

    def __str__(self) -> str:
        said = []
        if self.triads:
            said.append(f"{self.circular:,} of {self.triads:,} triads are circular")
        if self.repeats:
            said.append(f"{self.repeated:,} of {self.repeats:,} repeated answers agree")
        return " and ".join(said)


def consistencies_of(votes: Votes, judges: NDArray[np.bool_]) -> dict[int, Consistency]:
    """How far the votes of each of these judges agree with each other."""
    found: dict[int, Consistency] = {}
    for part in votes.over_shards(_ConsistencyPass(), {"asked": judges}):
        found |= part
    return found


@dataclass(frozen=True, eq=False)
class _ConsistencyPass(Pass[Votes, dict[int, Consistency]]):
    """Of the judges asked about, by code."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Who is asked about."""
        return ("asked",)

    def in_whole(self, found: dict[int, Consistency], judges: slice) -> dict[int, Consistency]:
        """By their codes among all."""
        return {u + judges.start: own for u, own in found.items()}

    def __call__(self, here: Votes, _first: int, _last: int, own: Own) -> dict[int, Consistency]:
        """Judge by judge."""
        return {u: consistency_of(here, u) for u in np.flatnonzero(own["asked"]).tolist()}


def consistency_of(votes: Votes, judge: int) -> Consistency:
    """How far one judge's votes agree with each other; ties say nothing here.

    A ranking cannot be circular by itself, so that of rankings only repeated pairs count.
    """
    own = slice(votes.start[judge], votes.start[judge + 1])
    decided = votes.outcome[own] != TIE
    lists = votes.lists
    _, better, worse = pairs_of(taken(lists, np.arange(lists.start[judge], lists.start[judge + 1])))
    return Consistency(
        *_core.consistency(
            winner=votes.winner[own][decided], loser=votes.loser[own][decided],
            better=better, worse=worse,
        )
    )  # fmt: skip
