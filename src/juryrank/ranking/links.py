"""From scores and what is known of a judge to the probability of a vote, for each kind of model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from juryrank.model.noise import Noise
from juryrank.model.registry import Link as Name
from juryrank.types import Floats

Values = Floats | float
SURE_AT_MOST = 0.999
"""The naive win rate never predicts with more certainty than this."""


@dataclass(frozen=True)
class Link(ABC):
    """How votes follow from the scores and from what is estimated of the judge."""

    noise: Noise

    def average_judge(self, _judge: Floats, _votes: Floats) -> float:
        """What an average judge has."""
        return 1.0

    @abstractmethod
    def chance(self, judge: Values, left: Values, right: Values) -> Floats:
        """The probability of the left item to win a vote that is not tied, sides apart."""

    def decided(
        self, judge: Floats, left: Floats, right: Floats, _order: Floats
    ) -> tuple[Floats, Floats]:
        """The probabilities of the left and of the right item to win a vote that is not tied."""
        chance = self.chance(judge, left, right)
        return chance, 1.0 - chance

    def share(
        self, judge: Floats, left: Floats, right: Floats, _order: Floats, _tie: Floats
    ) -> Floats:
        """The share of a vote that the left item is to get, a tie counting half."""
        return self.chance(judge, left, right)


class OddsLink(Link):
    """``F(a_u d)``, without ties and sides."""

    def chance(self, judge: Values, left: Values, right: Values) -> Floats:
        """``F(a_u d)``."""
        return self.noise.cdf(judge * (left - right))


class AccuracyLink(OddsLink):
    """``F(a_u d + order)``, and ties."""

    def decided(
        self, judge: Floats, left: Floats, right: Floats, order: Floats
    ) -> tuple[Floats, Floats]:
        """Both from the noise, which is more exact than what is left to 1."""
        x = judge * (left - right) + order
        return self.noise.cdf(x), self.noise.cdf(-x)

    def share(
        self, judge: Floats, left: Floats, right: Floats, order: Floats, tie: Floats
    ) -> Floats:
        """With sides and ties."""
        return self.noise.share(judge * (left - right) + order, tie)


class ReliabilityLink(Link):
    """``eta_u F(d) + (1 - eta_u) F(-d)``."""

    def average_judge(self, judge: Floats, votes: Floats) -> float:
        """The mean, weighted by votes."""
        return float(np.average(judge, weights=votes))

    def chance(self, judge: Values, left: Values, right: Values) -> Floats:
        """``eta_u F(d) + (1 - eta_u) F(-d)``."""
        gap = left - right
        return np.asarray(judge * self.noise.cdf(gap) + (1.0 - judge) * self.noise.cdf(-gap))


class ShareLink(Link):
    """``(1 + d) / 2`` for shares of votes, whoever the judge is."""

    def chance(self, _judge: Values, left: Values, right: Values) -> Floats:
        """Never quite sure."""
        share = 0.5 + 0.5 * (left - right)
        return np.asarray(np.clip(share, 1.0 - SURE_AT_MOST, SURE_AT_MOST))


LINKS: dict[Name, type[Link]] = {
    "accuracy": AccuracyLink,
    "odds": OddsLink,
    "reliability": ReliabilityLink,
    "share": ShareLink,
}
