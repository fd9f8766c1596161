"""Slow and obvious twins of the compiled code, and simulated votes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.model.noise import Noise
from juryrank.model.prior import Prior
from juryrank.votes.coded import CodedVotes, Pairs

Floats = NDArray[np.float64]


def minus_log_f(noise: Noise, x: float) -> float:
    """``-log F(x)`` from the textbook formula, for moderate x."""
    formula = {
        "gumbel": lambda: math.log1p(math.exp(-x)),
        "normal": lambda: -math.log(0.5 * math.erfc(-x / 2.0)),
        "exponential": lambda: -math.log(0.5 * math.exp(x) if x < 0 else 1.0 - 0.5 * math.exp(-x)),
    }
    return float(formula[noise.name]())


def plain_objective(
    votes: CodedVotes, noise: Noise, score: Floats, accuracy: Floats, prior: Prior, lambda0: float
) -> float:
    """The objective, straight from its definition."""
    total, wins = 0.0, votes.pairs
    for u in range(votes.n_judges):
        for k in range(wins.start[u], wins.start[u + 1]):
            gap = score[wins.winner[k]] - score[wins.loser[k]]
            total += wins.weight[k] * minus_log_f(noise, float(accuracy[u] * gap))
    for s in score:
        total += lambda0 * (minus_log_f(noise, float(s)) + minus_log_f(noise, float(-s)))
    total += float(np.sum(score**2)) / (2.0 * prior.score_sd**2)
    total += float(np.sum((accuracy - 1.0) ** 2)) / (2.0 * prior.accuracy_sd**2)
    return total


def random_votes(
    seed: int, n_items: int = 6, votes: tuple[int, ...] = (30, 0, 1, 300, 25)
) -> CodedVotes:
    """Arbitrary weighted votes; one judge has none, one fills more than a block."""
    rng = np.random.default_rng(seed)
    total = sum(votes)
    winner = rng.integers(0, n_items, total).astype(np.int32)
    loser = ((winner + rng.integers(1, n_items, total)) % n_items).astype(np.int32)
    start = np.concatenate(([0], np.cumsum(votes))).astype(np.int64)
    pairs = Pairs(start, winner, loser, rng.uniform(0.5, 2.0, total))
    return CodedVotes.of_pairs(n_items, pairs)


def model_votes(seed: int, score: Floats, accuracy: Floats, votes: int, noise: Noise) -> CodedVotes:
    """Votes that follow the model, the same number from each judge."""
    rng = np.random.default_rng(seed)
    judge = np.repeat(np.arange(len(accuracy)), votes)
    left = rng.integers(0, len(score), len(judge))
    right = (left + rng.integers(1, len(score), len(judge))) % len(score)
    left_won = rng.random(len(judge)) < noise.cdf(accuracy[judge] * (score[left] - score[right]))
    start = np.arange(0, len(judge) + 1, votes, dtype=np.int64)
    pairs = Pairs(
        start,
        np.where(left_won, left, right).astype(np.int32),
        np.where(left_won, right, left).astype(np.int32),
        np.ones(len(judge)),
    )
    return CodedVotes.of_pairs(len(score), pairs)


def with_pairs(votes: CodedVotes, **changes: Any) -> CodedVotes:
    """The votes with other columns of pairs."""
    return replace(votes, pairs=replace(votes.pairs, **changes))
