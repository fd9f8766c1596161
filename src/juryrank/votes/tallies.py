"""What the votes that count say of pairs of items and of pairs of judges, beside the answer.

Rankings are taken as the pairs they imply; long ones are shortened first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from juryrank.threads import one_blas_thread
from juryrank.types import Floats
from juryrank.votes.votes import Votes
from juryrank.votes.weights import total_weight

BINS = 10
"""Of the chance that the favourite wins, from one half to one."""
MOST_ON_MAP = 500
"""Judges on the map of who agrees with whom, those with the most votes."""
LARGEST_RESIDUAL = 1e3
"""In standard errors; what was impossible would be infinitely surprising."""
CLEARLY = 1.5
"""So much larger than by chance the leading eigenvalue of agreement has to be."""
ROUNDING = 1e-9
"""A smaller part of the weight of votes that cancel each other is no opinion."""
FEW_SHARED = 4.0
"""Agreement on so many shared pairs of items counts half."""


@dataclass(frozen=True, eq=False)
class Tallies:
    """Votes on pairs, and the share of each that the answer gives to the item on the left."""

    votes: Votes
    expected: Floats
    """A tie counts half."""
    of_each_ranking: int | None = None
    """So many items of each ranking were looked at, where not all were."""

    @property
    def won(self) -> Floats:
        """What the item on the left got: 1, 0, or a half."""
        return np.asarray(0.5 * (1.0 + self.votes.outcome), dtype=np.float64)

    def pairs(self, rank: NDArray[np.int64]) -> pl.DataFrame:
        """One row for each pair of items that were compared.

        `rank` is the rank of each item (by code) in the ranking; the better one comes first.
        Columns: item and other (codes), votes, observed and expected (the share of votes the item
        got, and should have got), and residual, in standard errors: the root of the deviance

            2 n [y log(y / p) + (1 - y) log((1 - y) / (1 - p))]

        with the sign of ``y - p``, where ``y`` was observed, ``p`` expected and ``n`` is the
        effective number of votes ``(sum w)^2 / sum w^2``. It stays small for few votes, where a
        difference over its standard error would not.
        """
        (left, right), weight = self.votes.sides(), self.votes.weight
        turned = rank[left] > rank[right]
        better, worse = np.where(turned, right, left), np.where(turned, left, right)
        key = better.astype(np.int64) * self.votes.n_items + worse
        pairs, pair = np.unique(key, return_inverse=True)
        # Summed one after the other: the answer must not depend on the number of threads.
        total, won, predicted = (
            np.bincount(pair, weights=part, minlength=len(pairs))
            for part in (
                weight, weight * np.where(turned, 1.0 - self.won, self.won),
                weight * np.where(turned, 1.0 - self.expected, self.expected),
            )
        )  # fmt: skip
        observed, expected = won / total, predicted / total
        number = np.bincount(pair, minlength=len(pairs))
        relative = weight / (total / number)[pair]  # the squares of tiny weights would be 0
        effective = number**2 / np.bincount(pair, weights=relative**2, minlength=len(pairs))
        return pl.DataFrame(
            {
                "item": pairs // self.votes.n_items,
                "other": pairs % self.votes.n_items,
                "votes": total,
                "observed": observed,
                "expected": expected,
                "residual": signed_root_deviance(observed, expected, effective),
            }
        ).sort(pl.col("residual").abs(), "item", "other", descending=[True, False, False])

    def records(self) -> tuple[Floats, Floats]:
        """How often each item (by code) was compared, and the share of that it won.

        A tie counts half; the share of an item that was never compared is NaN.
        """
        votes, n = self.votes, self.votes.n_items
        sides = [*zip(votes.sides(), (self.won, 1.0 - self.won), strict=True)]
        compared = sum((total_weight(item, votes.weight, n) for item, _ in sides), np.zeros(n))
        won = sum((total_weight(item, votes.weight * part, n) for item, part in sides), np.zeros(n))
        return compared, np.divide(won, compared, out=np.full(n, np.nan), where=compared > 0.0)

    def calibration(self, confidence: float) -> pl.DataFrame:
        """How often favourites win, beside how often they should, in bins of that chance.

        Columns: votes, expected (the mean chance of the favourite), observed, low and high (by
        Wilson's formula).
        """
        chance = np.maximum(self.expected, 1.0 - self.expected)
        won = np.where(self.expected < 0.5, 1.0 - self.won, self.won)
        step = np.minimum(((chance - 0.5) * 2 * BINS).astype(np.int32), BINS - 1)
        weight = self.votes.weight
        count = total_weight(step, weight, BINS)
        some = count > 0.0
        expected, observed = (
            total_weight(step, weight * part, BINS)[some] / count[some] for part in (chance, won)
        )
        low, high = wilson(observed, count[some], confidence)
        columns = {"votes": count[some], "expected": expected, "observed": observed}
        return pl.DataFrame(columns | {"low": low, "high": high})


def signed_root_deviance(observed: Floats, expected: Floats, count: Floats) -> Floats:
    """How far shares of so many votes are from what was expected, in standard errors."""
    observed = np.clip(observed, 0.0, 1.0)
    divergence = scipy.special.rel_entr(observed, expected) + scipy.special.rel_entr(
        1.0 - observed, 1.0 - expected
    )
    root = np.sqrt(2.0 * count * np.maximum(divergence, 0.0))
    return np.asarray(np.sign(observed - expected) * np.minimum(root, LARGEST_RESIDUAL))


def wilson(share: Floats, count: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval for a share of so many votes."""
    z2 = float(scipy.special.ndtri(0.5 * (1.0 + confidence))) ** 2
    # Nothing is divided by the count alone, of which weights may make next to nothing.
    centre = (share * count + 0.5 * z2) / (count + z2)
    half = np.sqrt(z2 * (share * (1.0 - share) * count + 0.25 * z2)) / (count + z2)
    return centre - half, centre + half


class Agreement(NamedTuple):
    """Who agrees with whom: judges by code, those with the most votes."""

    judge: NDArray[np.int64]
    shared: Floats
    """Pairs of items on which both judges have an opinion."""
    share: Floats
    """The part of them on which they agree; NaN where they share none."""
    position: Floats
    """A point in the plane for each judge: those who agree are close, guessers in the middle."""

    @property
    def tells(self) -> bool:
        """Whether the points of many judges show more than chance would.

        Of judges who vote by chance the likeness ``(agreed - disagreed) / (shared + 4)`` has the
        variance ``shared / (shared + 4)^2``, and the largest eigenvalue is about twice the root of
        its sum over a row (Wigner's law). The first coordinate has to be clearly longer.
        """
        variance = self.shared / (self.shared + FEW_SHARED) ** 2
        by_chance = 2.0 * np.sqrt(variance.sum(axis=1).mean())
        return bool((self.position[:, 0] ** 2).sum() > CLEARLY * by_chance)


def agreement(votes: Votes, accuracy: Floats) -> Agreement:
    """Compare each judge with each other on the pairs of items on which both have an opinion.

    A judge's opinion is what most of its votes on a pair say. The coordinates are the two leading
    eigenvectors of ``(agreed - disagreed) / (shared + 4)``, each times the root of its eigenvalue;
    the first is turned so that accurate judges are on the right.
    """
    most = np.argsort(-votes.votes_per_judge, kind="stable")[:MOST_ON_MAP]
    opinion = _opinions(votes)[most]
    told = abs(opinion)
    shared = np.asarray((told @ told.T).toarray(), dtype=np.float64)
    net = np.asarray((opinion @ opinion.T).toarray(), dtype=np.float64)
    np.fill_diagonal(shared, 0.0)
    np.fill_diagonal(net, 0.0)
    share = np.divide(0.5 * (shared + net), shared, out=np.full_like(net, np.nan), where=shared > 0)
    return Agreement(most, shared, share, _plane(net / (shared + FEW_SHARED), accuracy[most]))


def _opinions(votes: Votes) -> scipy.sparse.csr_array:
    """Judges x pairs of items: 1, 0 or -1 for the item of lower code."""
    pair, said = votes.unordered()
    _, column = np.unique(pair, return_inverse=True)
    shape = votes.n_judges, int(column.max(initial=-1)) + 1
    net, heard = (
        scipy.sparse.coo_array((part, (votes.judge, column)), shape=shape).tocsr()
        for part in (said * votes.weight, votes.weight)
    )
    net.data = np.where(np.abs(net.data) > ROUNDING * heard.data, np.sign(net.data), 0.0)
    net.eliminate_zeros()
    return scipy.sparse.csr_array(net)


def _plane(likeness: Floats, accuracy: Floats) -> Floats:
    """Two coordinates for each judge."""
    if len(likeness) < 3:
        return np.column_stack((accuracy, np.zeros(len(accuracy))))
    count = len(likeness)
    with one_blas_thread():
        value, vector = scipy.linalg.eigh(likeness, subset_by_index=[count - 2, count - 1])
    position = vector[:, ::-1] * np.sqrt(np.maximum(value[::-1], 0.0))
    turn = np.where([position[:, 0] @ accuracy < 0.0, position[:, 1].sum() < 0.0], -1.0, 1.0)
    return np.asarray(position * turn)
