"""How a vote will go by point estimates; `juryrank.inference.prediction` has the same by draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.inference.prediction import UNSEEN
from juryrank.judging.position import Allowances
from juryrank.model.objective import Objective
from juryrank.ranking.labels import Codes
from juryrank.ranking.links import Link
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import Lists
from juryrank.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class PointPredictions:
    """Predictions from scores and what was estimated of the judges, all by code."""

    link: Link
    score: Floats
    accuracy: Floats
    allowed: Allowances
    """For ties and sides, with each judge."""
    average_accuracy: float
    """That of a judge nobody has seen."""

    def decided(self, judge: Codes, left: Codes, right: Codes) -> Floats:
        """The probability of the left item to win a vote that is not tied, sides apart."""
        return self.link.chance(self._accuracies(judge), self.score[left], self.score[right])

    def decided_once(self, judge: int, left: int, right: int) -> float:
        """The same for a single vote."""
        known = self.average_accuracy if judge == UNSEEN else self.accuracy[judge]
        return float(self.link.chance(known, self.score[left], self.score[right]))

    def _accuracies(self, judge: Codes) -> Floats:
        return np.where(judge == UNSEEN, self.average_accuracy, self.accuracy[judge])

    def shares(self, judge: Codes, left: Codes, right: Codes) -> Floats:
        """The share of a vote that the left item is to get, a tie counting half."""
        return self.link.share(
            self.accuracy[judge], self.score[left], self.score[right],
            self.allowed.order[judge], self.allowed.tie[judge],
        )  # fmt: skip

    def sides(self, votes: Votes) -> tuple[Floats, Floats]:
        """The probabilities of left and right items to win votes on pairs that are not tied."""
        judge, (left, right) = votes.judge, votes.sides()
        return self.link.decided(
            self.accuracy[judge], self.score[left], self.score[right], self.allowed.order[judge]
        )

    def list_losses(self, lists: Lists, judge: Codes, item: Codes) -> Floats:
        """``-log P`` of lists without ties, whose judges and items have these codes here."""
        score, accuracy = self.score[item], self.accuracy[judge]
        objective = Objective(CodedVotes.of_lists(len(score), lists), self.link.noise)
        return objective.list_losses(score, accuracy, np.zeros(len(score)))

    def shares_of_all(self, votes: Votes, judge: Codes, item: Codes) -> Floats:
        """The shares of all votes on pairs, whose judges and items have these codes here."""
        share, who = np.empty(votes.n_pairs), votes.judge
        for some in votes.pieces():
            left, right = votes.sides(some)
            share[some] = self.shares(judge[who[some]], item[left], item[right])
        return share
