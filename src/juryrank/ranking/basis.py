"""What an answer rests on, by code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from juryrank.inference.posterior import Posterior, SampledPosterior
from juryrank.inference.prediction import DrawnPredictions
from juryrank.inference.tastes import no_tastes, tastes_frame, weight_of_tastes
from juryrank.judging.accounts import Voice
from juryrank.judging.cells import OneSided, votes_that_count
from juryrank.model.effects import EffectModel, Layout
from juryrank.model.noise import Noise
from juryrank.model.registry import Model
from juryrank.ranking.labels import Codes
from juryrank.ranking.misfit import in_few_pairs
from juryrank.ranking.prediction import PointPredictions
from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.votes import Votes


@dataclass(frozen=True, eq=False)
class Basis:
    """The votes, and what they say of whom, by code."""

    model: Model
    noise: Noise
    votes: Votes
    one_sided: OneSided
    """What of the votes does not count,"""
    voices: tuple[Voice, ...]
    """and which accounts count as one judge."""
    effects: EffectModel
    points: PointPredictions
    """Scores and accuracies, on the model's own scale."""
    posterior: Posterior | None
    """None if nothing is known of errors."""
    item_code: Codes
    """The codes of the items, best first,"""
    judge_code: Codes
    """and of the judges."""

    @cached_property
    def drawn(self) -> DrawnPredictions | None:
        """Predictions by draws; None if there are none."""
        if not isinstance(self.posterior, SampledPosterior):
            return None
        votes = self.votes
        layout = Layout(self.effects, votes.n_items, votes.n_judges)
        return DrawnPredictions(self.posterior.sample, self.noise, layout, votes.votes_per_judge)

    @property
    def predictions(self) -> DrawnPredictions | PointPredictions:
        """By draws where there are any."""
        return self.points if self.drawn is None else self.drawn

    def tastes(self, confidence: float) -> pl.DataFrame:
        """The tastes that stand out."""
        if not isinstance(self.posterior, SampledPosterior) or self._weight_of_tastes is None:
            return no_tastes(self.votes)
        sample = self.posterior.sample
        return tastes_frame(sample, self.votes, self._weight_of_tastes, confidence)

    @cached_property
    def _weight_of_tastes(self) -> Floats | None:
        """Of each judge's votes on each item it has a taste for; None if there are no tastes."""
        known = self.posterior
        if not isinstance(known, SampledPosterior) or not known.sample.has_tastes:
            return None
        return weight_of_tastes(self.votes, known.sample)

    def shares_of(self, votes: Votes, judge: Codes, item: Codes) -> Floats:
        """The share that left items are to get of votes whose judges and items have these codes."""
        if self.drawn is None:
            return self.points.shares_of_all(votes, judge, item)
        left, right = votes.sides()
        return self.drawn.shares(judge[votes.judge], item[left], item[right])

    def list_losses(self, lists: Lists, judge: Codes, item: Codes) -> Floats:
        """``-log P`` of lists without ties, whose judges and items have these codes."""
        if self.drawn is None:
            return self.points.list_losses(lists, judge, item)
        return self.drawn.list_losses(lists, judge[lists.judge], item[lists.item])

    @cached_property
    def pairs(self) -> tuple[Votes, int | None]:
        """The votes that count, in pairs; of how many items of each ranking, where not of all."""
        return in_few_pairs(votes_that_count(self.votes, self.one_sided))
