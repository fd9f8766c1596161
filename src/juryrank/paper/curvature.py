"""Second derivatives of the paper's loss: of given votes, and in expectation; convex or not.

The loss is ``sum_l w_l g(x_l)`` with ``x = a_u (s_winner - s_loser)`` and weights that sum to
``1/m`` for each of the ``m`` judges. Its Hessian has the blocks

    A = sum_l w_l g''(x_l) a_u^2 e_l e_l'             in the scores, e = e_winner - e_loser
    C = sum_{l of u} w_l g''(x_l) (s_winner - s_loser)^2    in the accuracies, a diagonal
    B = sum_{l of u} w_l (g'(x_l) + g''(x_l) x_l) e_l       mixed, one row for each judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from juryrank.model.noise import NOISES
from juryrank.model.own_noise import noise_from_log_density
from juryrank.paper.constants import Truth
from juryrank.reading import votes_from
from juryrank.simulation.simulation import simulate
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.weights import total_weight

Terms = Callable[[ArrayLike], tuple[Floats, Floats, Floats]]
"""``g``, ``g'`` and ``g''``, as `Noise.terms` gives them."""


def expected_votes(truth: Truth) -> CodedVotes:
    """Endlessly many votes on random pairs: every ordered pair, weighted with its chance."""
    n, m = len(truth.score), len(truth.accuracy)
    winner, loser = np.nonzero(~np.eye(n, dtype=np.bool_))
    gap = truth.score[winner] - truth.score[loser]
    chance = truth.noise.cdf(np.multiply.outer(truth.accuracy, gap))
    pairs = Pairs(
        np.arange(m + 1, dtype=np.int64) * len(gap),
        np.tile(winner.astype(np.int32), m),
        np.tile(loser.astype(np.int32), m),
        chance.reshape(-1) * 2.0 / (n * (n - 1) * m),
    )
    return CodedVotes.of_pairs(n, pairs)


def sampled_votes(truth: Truth, seed: int) -> CodedVotes:
    """Simulated votes, every judge with as many, each of weight 1."""
    made = simulate(
        scores=truth.score.tolist(), accuracies=truth.accuracy.tolist(), model="htm",
        noise=truth.noise, votes_per_judge=truth.votes, seed=seed,
    )  # fmt: skip
    return votes_from(made.votes).for_model()


class Hessian(NamedTuple):
    """The blocks of the Hessian; see the module."""

    score: Floats
    accuracy: Floats
    mixed: Floats

    def score_eigenvalues(self) -> Floats:
        """Those of directions in which the scores keep their sum, ascending."""
        n = len(self.score)
        basis = np.linalg.qr(np.eye(n)[:, 1:] - 1.0 / n)[0]
        return np.asarray(np.linalg.eigvalsh(basis.T @ self.score @ basis), dtype=np.float64)

    def mixed_norm(self) -> float:
        """The largest singular value of the mixed block."""
        return float(np.sqrt(np.linalg.eigvalsh(self.mixed.T @ self.mixed)[-1]))

    def joint(self) -> Floats:
        """All of it, scores first."""
        return np.block([[self.score, self.mixed.T], [self.mixed, np.diag(self.accuracy)]])


def hessian(terms: Terms, votes: CodedVotes, score: Floats, accuracy: Floats) -> Hessian:
    """The Hessian of the loss of weighted votes on pairs at given scores and accuracies."""
    wins, n, m = votes.pairs, len(score), len(accuracy)
    judge = wins.judge
    gap = score[wins.winner] - score[wins.loser]
    x = accuracy[judge] * gap
    _, gradient, curvature = terms(x)
    curvature = wins.weight * curvature
    pairs = total_weight(wins.winner * n + wins.loser, curvature * accuracy[judge] ** 2, n * n)
    pairs = pairs.reshape(n, n) + pairs.reshape(n, n).T
    crossing = wins.weight * gradient + curvature * x
    mixed = total_weight(judge * n + wins.winner, crossing, m * n)
    mixed -= total_weight(judge * n + wins.loser, crossing, m * n)
    return Hessian(
        np.diag(pairs.sum(axis=1)) - pairs,
        total_weight(judge, curvature * gap**2, m),
        mixed.reshape(m, n),
    )


# --- convexity -----------------------------------------------------------------------------------

ITEMS, JUDGES, VOTES = 6, 4, 15
POINTS = 300
LARGEST_SPREAD = 4.0
CONVEX_WITHIN = 1e-9
"""An eigenvalue is taken as negative beyond this part of the largest one."""


def _log_logistic(e: Floats) -> Floats:
    return np.asarray(-np.abs(e) - 2.0 * np.log1p(np.exp(-np.abs(e))))


def _cauchy(x: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """``F(x) = 1/2 + atan(x/2) / pi``, the difference of two Cauchy noises: not log-concave."""
    points = np.asarray(x, dtype=np.float64)
    # atan2 keeps its digits in the lower tail, where 1/2 + atan(x/2) / pi loses them.
    chance = np.arctan2(2.0, -points) / np.pi
    density = 2.0 / (np.pi * (4.0 + points**2))
    change = -2.0 * points / (4.0 + points**2) * density
    gradient = -density / chance
    return -np.log(chance), gradient, gradient**2 - change / chance


def noise_families() -> dict[str, Terms]:
    """Ours, a user's own log-concave one, and one that is not log-concave."""
    own = noise_from_log_density(_log_logistic, name="logistic")
    named: dict[str, Terms] = {name: noise.terms for name, noise in NOISES.items()}
    return named | {"own (logistic)": own.terms, "Cauchy (not log-concave)": _cauchy}


class Convexity(NamedTuple):
    """The least eigenvalues over many points, each in parts of the largest at its point."""

    score: float
    accuracy: float
    joint: float

    @property
    def holds(self) -> bool:
        """Whether the loss is convex in the scores and in the accuracies."""
        return bool(min(self.score, self.accuracy) >= -CONVEX_WITHIN)


def convexity(terms: Terms, seed: int = 0, points: int = POINTS) -> Convexity:
    """Least eigenvalues at random votes, scores and accuracies, some of these negative."""
    rng = np.random.default_rng(seed)
    return Convexity(*np.min([_least_eigenvalues(terms, rng) for _ in range(points)], axis=0))


def _least_eigenvalues(terms: Terms, rng: np.random.Generator) -> tuple[float, float, float]:
    score = rng.normal(0.0, rng.uniform(0.0, LARGEST_SPREAD), ITEMS)
    accuracy = rng.normal(0.0, 1.0, JUDGES)
    winner = rng.integers(0, ITEMS, JUDGES * VOTES, dtype=np.int32)
    loser = (winner + rng.integers(1, ITEMS, len(winner), dtype=np.int32)) % ITEMS
    start = np.arange(JUDGES + 1, dtype=np.int64) * VOTES
    votes = CodedVotes.of_pairs(ITEMS, Pairs(start, winner, loser))
    here = hessian(terms, votes, score, accuracy)
    return (
        _least_part(here.score_eigenvalues()),
        _least_part(here.accuracy),
        _least_part(np.asarray(np.linalg.eigvalsh(here.joint()), dtype=np.float64)),
    )


def _least_part(eigenvalues: Floats) -> float:
    return float(eigenvalues.min() / np.abs(eigenvalues).max())


def convexity_table(seed: int = 0) -> pl.DataFrame:
    """One row for each noise family."""
    rows = []
    for name, terms in noise_families().items():
        found = convexity(terms, seed)
        rows.append({"noise": name, **found._asdict(), "convex": found.holds})
    return pl.DataFrame(rows)
