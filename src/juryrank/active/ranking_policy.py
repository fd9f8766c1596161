"""The policy of `run`: rank the votes so far, and ask the pairs that `next_pairs` suggests."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from juryrank.active.loop_policy import Barred, Known, NoQuestionLeft, Taker
from juryrank.active.questions import next_pairs
from juryrank.errors import InputError, JuryrankWarning
from juryrank.model.registry import model_named, models_that
from juryrank.ranking.rank import rank
from juryrank.reading import votes_from
from juryrank.reading.run_log import Label
from juryrank.votes.votes import Votes

LEADERS = 3
MUCH_CHEAPER = 100.0
SKIPPED = "skipped"
"""How `next_pairs` calls questions that a judge did not answer, and is not to get again."""


@dataclass(frozen=True)
class RankingPolicy:
    """Asks what tells most about a target, by the posterior of a model."""

    items: tuple[Label, ...]
    target: Any
    model: str
    barred: pl.DataFrame | None
    """What judges may not see: judge and item, or judge, left and right."""
    options: Mapping[str, Any]
    """Further arguments of `next_pairs`."""

    def require_possible(self, judges: Sequence[str]) -> None:
        """Complain about a target or an option that makes no sense, before anything is written."""
        model = model_named(self.model)
        if not model.chooses_questions:
            known = models_that(lambda one: one.chooses_questions, "or")
            raise InputError(
                "To choose questions, the model must say how sure it is of each vote, and "
                f"{model.name!r} does not. Rank by {known}."
            )
        next_pairs(
            list(self.items), 1, judges=list(judges), target=self.target, barred=self.barred,
            **self.options,
        )  # fmt: skip

    def look(self, votes: pl.DataFrame) -> Known:
        """Rank the votes; what must be said about the ranking is said at the end."""
        if not len(votes):
            return Known()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)
            ranking = rank(votes_of(votes), self.model)
        leaders = tuple(ranking.items["item"].head(LEADERS))
        if ranking.groups or len(ranking.items) < len(self.items):
            return Known(ranking, leaders)
        found = ranking.settled(self.target)
        return Known(ranking, leaders, settled=found.done, share=found.share)

    def choose(
        self,
        known: Known,
        n: int,
        takers: Mapping[str, Taker],
        barred: Sequence[Barred],
        seed: int,
    ) -> pl.DataFrame:
        """Choose questions by the ranking; before there is one, such that all items are linked."""
        skipped = pl.DataFrame(barred, orient="row", schema=list(Barred._fields))
        wishes = {
            "judges": dict(zip(takers, _comparable(takers.values()), strict=True)),
            "target": self.target,
            "items": list(self.items),
            "pending": skipped.with_columns(status=pl.lit(SKIPPED)) if barred else None,
            "barred": self._barred_of(takers),
            "seed": seed,
            **self.options,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)
            try:
                if known.ranking is None:
                    return next_pairs(list(self.items), n, **wishes)
                return known.ranking.next_pairs(n, **wishes)
            except InputError as error:  # the wishes were found possible before
                raise NoQuestionLeft(str(error)) from error

    def _barred_of(self, judges: Collection[str]) -> pl.DataFrame | None:
        """What these may not see: of others, who cannot be asked, nothing needs to be said."""
        if self.barred is None or "judge" not in self.barred.columns:
            return self.barred
        return self.barred.filter(pl.col("judge").is_in(list(judges)))


def _comparable(takers: Collection[Taker]) -> list[Taker]:
    """With costs that are all positive, as gains for their costs are compared.

    What is free is much cheaper than everything that is not, but not beyond all measure: a vote of
    a guesser is not worth having even then.
    """
    positive = [taker.cost for taker in takers if taker.cost > 0.0]
    least = min(positive) / MUCH_CHEAPER if positive else 1.0
    return [taker if taker.cost > 0.0 else taker._replace(cost=least) for taker in takers]


def votes_of(votes: pl.DataFrame) -> Votes:
    """The votes of a journal as `rank` takes them."""
    return votes_from(
        votes.select("judge", "left", "right", "outcome"), judge="judge", left="left",
        right="right", winner="outcome", na_is_name=True,
    )  # fmt: skip
