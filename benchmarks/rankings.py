"""Rankings, whose likelihoods take far longer than those of pairs: one fit of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

import juryrank as jr
from benchmarks import outcomes
from benchmarks.measuring import measured

Row = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """Rankings of one kind, how they are ranked, and how long that may take."""

    name: str
    votes: Callable[[], pl.DataFrame]
    options: dict[str, Any]
    limit: float
    """The goal, in seconds (wall)."""


def _complete(judges: int, items: int, seed: int) -> pl.DataFrame:
    """One ranking of all items by each judge."""
    return jr.simulate(items, judges, votes_per_judge=1, per_vote=items, seed=seed).votes


def _with_ties(rankings: int, items: int, seed: int) -> pl.DataFrame:
    """Rankings of some of 20 items, two of which may be tied."""
    return jr.simulate(
        20, rankings // 10, votes_per_judge=10, per_vote=items, tie=0.5, seed=seed
    ).votes


KINDS = {
    kind.name: kind
    for kind in (
        Kind("5,000 rankings of 10 items: hbtl", lambda: _complete(5_000, 10, 1), {}, 0.8),
        Kind(
            "5,000 rankings of 10 items: htcv",
            lambda: _complete(5_000, 10, 1),
            {"model": "htcv"},
            6.0,
        ),
        Kind(
            "1,000 rankings of 5 with ties: exponential noise",
            lambda: _with_ties(1_000, 5, 2),
            {"model": "htm", "noise": "exponential"},
            5.0,
        ),
        Kind(
            "20 rankings of 300 items: htcv", lambda: _complete(20, 300, 3), {"model": "htcv"}, 20.0
        ),
    )
}


def kind_row(name: str) -> Row:
    """One fit, after a small one that loads everything."""
    kind = KINDS[name]
    jr.rank(_complete(5, 4, 1), **kind.options)
    ranking, cost = measured(lambda votes: jr.rank(votes, **kind.options), kind.votes())
    outcome = outcomes.OK if ranking.fit.converged else outcomes.NOT_CONVERGED
    return {"what": name, "cpu": cost.cpu, "wall": cost.wall, "outcome": outcome}
