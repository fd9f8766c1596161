"""The policy of `run`: rank the votes so far, and ask the pairs that `next_pairs` suggests."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from juryrank.active.loop_policy import Barred, Known, Taker
from juryrank.active.next_pairs_seam import next_pairs
from juryrank.errors import JuryrankWarning
from juryrank.ranking.rank import rank
from juryrank.reading import votes_from
from juryrank.reading.run_log import Label
from juryrank.votes.votes import Votes

LEADERS = 3
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
            settled = bool(ranking.settled(self.target))
        return Known(ranking, tuple(ranking.items["item"].head(LEADERS)), settled)

    def choose(
        self,
        known: Known,
        n: int,
        takers: Mapping[str, Taker],
        barred: Sequence[Barred],
        seed: int,
    ) -> pl.DataFrame:
        """Choose questions; a judge who costs nothing is taken to cost as little as can be."""
        own = None if self.barred is None else self.barred.filter(pl.col("judge").is_in([*takers]))
        skipped = [row._asdict() for row in barred if row.judge in takers]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JuryrankWarning)
            return next_pairs(
                list(self.items) if known.ranking is None else known.ranking,
                n, judges=dict(takers), target=self.target, barred=own, items=list(self.items),
                pending=pl.DataFrame(skipped).with_columns(status=pl.lit(SKIPPED))
                if skipped else None,
                seed=seed, **self.options,
            )  # fmt: skip


def votes_of(votes: pl.DataFrame) -> Votes:
    """The votes of a journal as `rank` takes them."""
    roles = {"judge": "judge", "left": "left", "right": "right", "winner": "outcome"}
    return votes_from(votes.select(roles.values()), **roles, na_is_name=True)
