"""Juries for the stress test: a simulator of its own, apart from the package's `simulate`.

Every judge has an accuracy and, for every item, a taste; votes are on pairs. Nothing here is used
by the package, and nothing of the package is used here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Rng = np.random.Generator

T3_SCALE = 0.9188
"""Of t3 noise: the difference of two is then as steep at 0 as with Gumbel noise."""


def log_normal(sd: float) -> Callable[[Rng, int], Floats]:
    """Accuracies around 1, with a tail."""
    return lambda rng, count: np.exp(rng.normal(0.0, sd, count))


def equal(_rng: Rng, count: int) -> Floats:
    """Accuracies of 1."""
    return np.ones(count)


def some_times(factor: float, share: float) -> Callable[[Rng, int], Floats]:
    """Log-normal accuracies, those of the first so many judges multiplied by a factor."""

    def drawn(rng: Rng, count: int) -> Floats:
        first = np.arange(count) < round(share * count)
        return np.asarray(np.exp(rng.normal(0.0, 0.5, count)) * np.where(first, factor, 1.0))

    return drawn


def by_rank(judges: int, votes: int) -> Codes:
    """Votes of each judge in proportion to 1/1, 1/2, 1/3, ..."""
    share = 1.0 / np.arange(1, judges + 1)
    counts: Codes = np.maximum(1, np.round(votes * share / share.sum())).astype(np.int64)
    return counts


@dataclass(frozen=True)
class Setting:
    """A kind of jury, and how it is asked."""

    name: str
    what: str
    items: int = 20
    judges: int = 30
    votes: int | Codes = 60
    """Of each judge."""
    score_sd: float = 1.0
    accuracies: Callable[[Rng, int], Floats] = field(default_factory=lambda: log_normal(0.5))
    taste_sd: float = 0.0
    items_seen: int | None = None
    """How many items each judge sees; None for all."""
    noise: str = "gumbel"
    pairing: str = "random"
    few: bool = False
    """Whether votes are so few, or items so equal, that intervals may cover up to 99 %."""


@dataclass(frozen=True, eq=False)
class Jury:
    """True scores, accuracies and tastes."""

    score: Floats
    accuracy: Floats
    taste: Floats
    noise: str

    def answers(self, judge: Codes, one: Codes, other: Codes, rng: Rng) -> NDArray[np.bool_]:
        """Whether the judge prefers the first of two items."""
        taste = self.taste[judge, one] - self.taste[judge, other]
        gap = self.accuracy[judge] * (self.score[one] - self.score[other] + taste)
        if self.noise == "t3":
            error = T3_SCALE * (rng.standard_t(3, len(gap)) - rng.standard_t(3, len(gap)))
        else:
            error = rng.logistic(0.0, 1.0, len(gap))
        return np.asarray(gap + error > 0.0)


@dataclass(frozen=True, eq=False)
class Asked:
    """Votes: who, on what, and what won."""

    judge: Codes
    winner: Codes
    loser: Codes

    def frame(self) -> pl.DataFrame:
        """The votes as people have them."""
        columns: dict[str, Any] = {"judge": _names("judge", self.judge)}
        columns["winner"] = _names("item", self.winner)
        columns["loser"] = _names("item", self.loser)
        return pl.DataFrame(columns)

    def shown(self, rng: Rng) -> pl.DataFrame:
        """The votes with the sides on which the items were shown, by lot."""
        frame, left = self.frame(), pl.Series(rng.random(len(self.judge)) < 0.5)
        return frame.select(
            "judge",
            left=pl.when(left).then("winner").otherwise("loser"),
            right=pl.when(left).then("loser").otherwise("winner"),
            winner=pl.when(left).then(pl.lit("left")).otherwise(pl.lit("right")),
        )


def _names(what: str, codes: Codes) -> pl.Series:
    return pl.Series([f"{what} {code:05}" for code in codes.tolist()])


def code_of(name: object) -> int:
    """The code of an item or judge by its name."""
    return int(str(name).rsplit(" ", 1)[1])


def drawn(setting: Setting, rng: Rng) -> tuple[Jury, Asked]:
    """A jury, and its votes."""
    n, m = setting.items, setting.judges
    taste = rng.normal(0.0, setting.taste_sd, (m, n)) if setting.taste_sd else np.zeros((m, n))
    score = rng.normal(0.0, setting.score_sd, n)
    jury = Jury(score, setting.accuracies(rng, m), taste, setting.noise)
    if setting.pairing == "swiss":
        return jury, _swiss(jury, int(np.sum(np.broadcast_to(setting.votes, m))), rng)
    judge = np.repeat(np.arange(m), setting.votes)
    return jury, asked(jury, judge, setting.items_seen, rng)


def asked(jury: Jury, judge: Codes, items_seen: int | None, rng: Rng) -> Asked:
    """Votes of these judges on random pairs."""
    m, n = jury.taste.shape
    seen = items_seen or n
    first = rng.integers(0, seen, len(judge))
    second = (first + rng.integers(1, seen, len(judge))) % seen
    if items_seen is None:
        one, other = first, second
    else:
        shown = np.array([rng.permutation(n)[:seen] for _ in range(m)])
        one, other = shown[judge, first], shown[judge, second]
    won = jury.answers(judge, one, other, rng)
    return Asked(judge, np.where(won, one, other), np.where(won, other, one))


def _swiss(jury: Jury, votes: int, rng: Rng) -> Asked:
    """Rounds in which items meet others with about as many wins."""
    m, n = jury.taste.shape
    wins, rounds = np.zeros(n), []
    for _ in range(votes // (n // 2)):
        order = np.lexsort(np.stack((rng.random(n), -wins)))[: 2 * (n // 2)]
        one, other = order[::2], order[1::2]
        judge = rng.integers(0, m, len(one))
        won = jury.answers(judge, one, other, rng)
        rounds.append(Asked(judge, np.where(won, one, other), np.where(won, other, one)))
        np.add.at(wins, rounds[-1].winner, 1.0)
    parts = (
        np.concatenate([getattr(some, name) for some in rounds])
        for name in ("judge", "winner", "loser")
    )
    return Asked(*parts)


UNEVEN = np.array([1000] * 12 + [8] * 27)

SETTINGS = (
    Setting("100 x 20 x 20", "100 items, 20 judges x 20 votes", 100, 20, 20, few=True),
    Setting("30 x 10 x 15", "30 items (sd .8), 10 judges x 15 votes", 30, 10, 15, 0.8, few=True),
    Setting("168 x 100 x 12", "168 items (sd .7), 100 equal judges x 12 votes", 168, 100, 12, 0.7,
            equal, few=True),
    Setting("a5", "100 judges x 5 votes", judges=100, votes=5),
    Setting("a10", "100 judges x 10 votes", judges=100, votes=10),
    Setting("b", "50 judges, 3,000 votes in proportion to 1/rank", judges=50,
            votes=by_rank(50, 3_000)),
    Setting("b2", "200 judges, 1,500 votes in proportion to 1/rank", judges=200,
            votes=by_rank(200, 1_500)),
    Setting("uneven", "200 items; equal judges, 12 x 1,000 votes and 27 x 8", 200, 39, UNEVEN,
            accuracies=equal),
    Setting("c", "nearly equal items (sd .05); 20 judges x 50 votes", 20, 20, 50, 0.05, few=True),
    Setting("c0", "equal items; 20 judges x 50 votes", 20, 20, 50, 0.0, few=True),
    Setting("d", "200 items, 40 judges x 50 votes", 200, 40, 50, few=True),
    Setting("e", "30 % backwards; 30 judges x 40 votes", votes=40,
            accuracies=some_times(-1.0, 0.3)),
    Setting("f", "30 % guessing; 30 judges x 40 votes", votes=40, accuracies=some_times(0.0, 0.3)),
    Setting("g.5", "tastes of sd .5; 30 judges x 60 votes", taste_sd=0.5),
    Setting("g1", "tastes of sd 1; 30 judges x 60 votes", taste_sd=1.0),
    Setting("gf0", "no tastes; 12 items, 8 judges x 300 votes", 12, 8, 300),
    Setting("gf.5", "tastes of sd .5; 12 items, 8 judges x 300 votes", 12, 8, 300, taste_sd=0.5),
    Setting("gf1", "tastes of sd 1; 12 items, 8 judges x 300 votes", 12, 8, 300, taste_sd=1.0),
    Setting("gf.5, 5 judges", "tastes of sd .5; 12 items, 5 judges x 300 votes", 12, 5, 300,
            taste_sd=0.5),
    Setting("gf.5, one heavy", "tastes of sd .5; 12 items, 8 judges, one with 40 % of 2,400 votes",
            12, 8, np.array([960] + [206] * 7), taste_sd=0.5),
    Setting("gm.5", "tastes of sd .5; 100 judges x 60 votes", judges=100, taste_sd=0.5),
    Setting("h", "t3 noise; 30 judges x 60 votes", noise="t3"),
    Setting("i", "Swiss pairing; 30 judges, 1,200 votes", votes=40, pairing="swiss"),
    Setting("j", "log-normal(0, 1) accuracies; 15 items, 20 judges x 60 votes", 15, 20,
            accuracies=log_normal(1.0)),
    Setting("few items", "judges see 3 items each; 30 judges x 15 votes", votes=15, items_seen=3),
    Setting("few items, t1", "judges see 4 items each, tastes of sd 1; 30 judges x 30 votes",
            votes=30, items_seen=4, taste_sd=1.0),
)  # fmt: skip
BY_NAME = {setting.name: setting for setting in SETTINGS}
