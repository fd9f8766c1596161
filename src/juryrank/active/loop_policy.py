"""What the loop needs to know of the ranking so far: is it enough, and what to ask next?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import polars as pl

from juryrank.ranking.ranking import Ranking
from juryrank.reading.run_log import Label


class Taker(NamedTuple):
    """What a judge can take in the next round."""

    questions: int
    cost: float
    """Of an answer, as the share that it takes of what is left to be spent."""


class Barred(NamedTuple):
    """A pair that a judge is not to be asked about: it was refused, or it failed."""

    judge: str
    left: Label
    right: Label


@dataclass(frozen=True)
class Known:
    """What the votes so far say."""

    ranking: Ranking | None = None
    """None before the first vote."""
    leaders: tuple[Label, ...] = ()
    settled: bool = False
    """Whether what was asked for is known, however often somebody has looked."""
    share: float = 0.0
    """Which share of it is."""


class NoQuestionLeft(Exception):  # noqa: N818  nothing is wrong: all was asked
    """There is nothing to be chosen from; the message says why."""


class Policy(Protocol):
    """Looks at the votes, and chooses questions.

    Both depend on the arguments alone, so that a loop that is taken up again goes the way that it
    would have gone.
    """

    def require_possible(self, judges: Sequence[str]) -> None:
        """Complain about what makes no sense, before anything is written or asked."""

    def look(self, votes: pl.DataFrame) -> Known:
        """Tell what the votes say: judge, left, right and outcome, in the order of the questions.

        A frame without rows has no columns.
        """

    def choose(
        self,
        known: Known,
        n: int,
        takers: Mapping[str, Taker],
        barred: Sequence[Barred],
        seed: int,
    ) -> pl.DataFrame:
        """Choose at most `n` questions: left, right, judge, gain, chosen, propensity.

        Raises:
            NoQuestionLeft: No question can be chosen.
        """
