"""Whether a judge's votes lean to one side, beyond what the items explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.inference.normal import quantile
from juryrank.model.noise import Noise
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import Votes
from juryrank.votes.weights import given

LEAST_POSITION_BIAS = 0.1
"""The share of votes moved to one side that is worth a word."""
LEAST_SKEW = 1e-5
MISTAKEN = 0.02
"""The chance that any honest judge at all is called position-biased."""


class Allowances(NamedTuple):
    """What has been allowed for with each judge, beside scores and accuracies."""

    order: Floats
    """The advantage of the left side."""
    tie: Floats
    """The logarithm of the weight of a tie of two items; minus infinity if ties are no outcome."""


@dataclass(frozen=True, eq=False)
class Positions:
    """How each judge's votes lean to the left or the right side, beyond what the items explain."""

    left_share: Floats
    bias: Floats
    """The log-odds (for Gumbel noise) that the left side gains: one step towards the best fit."""
    z: Floats
    moved: Floats
    """The share of votes that went left (or, if negative, right) without reason."""


def positions(
    votes: Votes, noise: Noise, solution: Solution, allowed: Allowances
) -> Positions | None:
    """Measure the lean of every judge; None if it is not known which item was on the left."""
    if not votes.sides_known:
        return None
    m, ties_count = votes.n_judges, bool(np.isneginf(allowed.tie).all())
    own = {
        "accuracy": solution.accuracy, "order": allowed.order,
        **{name: np.empty(m) for name in _SumsPass.SUMS},
    }  # fmt: skip
    for _ in votes.over_shards(_SumsPass(noise, solution.score, ties_count), own):
        pass
    excess, information, third, won = (own[name] for name in _SumsPass.SUMS)
    count = votes.weight_of_pairs
    share = np.divide(won, count, out=np.full(len(count), np.nan), where=count > 0.0)
    # One vote's worth of information at even odds keeps the bias of few votes near 0.
    bias = excess / (information + float(noise.terms(0.0)[1]) ** 2)
    z = unlikely_excess(excess, information, third)
    # At even odds a win adds |g'(0)| to the gradient and is half a vote more than expected.
    half_votes = -2.0 * float(noise.terms(0.0)[1]) * count
    moved = np.divide(excess, half_votes, out=np.zeros(len(count)), where=count > 0.0)
    return Positions(share, bias, z, moved)


@dataclass(frozen=True, eq=False)
class _SumsPass(Pass[Votes, None]):
    """What is summed over the votes of each judge."""

    noise: Noise
    score: Floats
    ties_count: bool
    SUMS: ClassVar[tuple[str, ...]] = ("excess", "information", "third", "won")

    @property
    def reads(self) -> tuple[str, ...]:
        """What is known of each judge."""
        return ("accuracy", "order")

    @property
    def writes(self) -> tuple[str, ...]:
        """The sums."""
        return self.SUMS

    def __call__(self, here: Votes, _first: int, _last: int, own: Own) -> None:
        """Some judges after the other."""
        for some in here.chunks():
            mine = {name: values[some.judges] for name, values in own.items()}
            _core.position_sums(
                self.noise.core, start=some.start, left=some.left, right=some.right,
                outcome=some.outcome, weight=given(some.weight), score=self.score,
                ties_count=self.ties_count, **mine,
            )  # fmt: skip


def unlikely_excess(excess: Floats, variance: Floats, third: Floats) -> Floats:
    """How far an excess is from 0, in standard errors of a normal number that is as unlikely.

    With ``u = third excess / variance^2`` it is

        excess / sqrt(variance) x sqrt(2 ((1 + u) log(1 + u) - u)) / u,

    which is what large deviations of a Poisson count are worth. Else a single vote for the worse
    of two items would count as many standard errors. Where the excess is on the short side of the
    distribution (``u < 0``) the first factor is left as it is.
    """
    known = variance > 0.0
    z = np.divide(excess, np.sqrt(variance), out=np.zeros(len(excess)), where=known)
    u = np.divide(third * excess, variance**2, out=np.zeros(len(excess)), where=known)
    u = np.maximum(u, LEAST_SKEW)  # near 0 the second factor is 1, but for rounding
    return np.asarray(z * np.sqrt(2.0 * ((1.0 + u) * np.log1p(u) - u)) / u)


def surely(z: Floats, judges: int) -> NDArray[np.bool_]:
    """Which of so many judges are so far off that chance would hardly do it to any of them."""
    return np.asarray(np.abs(z) > -quantile(0.5 * MISTAKEN / max(judges, 1)))


def position_biased(lean: Positions) -> NDArray[np.bool_]:
    """Which judges lean to one side, surely and by so much that it matters."""
    return surely(lean.z, len(lean.z)) & (np.abs(lean.moved) >= LEAST_POSITION_BIAS)


def position_reason(lean: Positions, u: int) -> str:
    """What such a judge did."""
    side, share = ("left", lean.left_share[u]) if lean.z[u] > 0.0 else (
        "right", 1.0 - lean.left_share[u],
    )  # fmt: skip
    return f"chose the {side} side in {share:.0%} of votes, more than the items explain"
