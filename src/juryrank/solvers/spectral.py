"""Spectral methods: Rank Centrality, and the judges' agreement as a starting point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from juryrank.errors import JuryrankError
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes
from juryrank.votes.lists import pairs_of, taken

LARGEST_DENSE = 1500
FEW_JUDGES = 50
VOTES_FOR_AGREEMENT = 200_000


@dataclass(frozen=True)
class RankCentrality:
    """Negahban, Oh and Shah (2017): the stationary distribution of a walk towards the winners.

    From item ``i`` the walk goes to ``j`` with probability (share of the votes between them that
    ``j`` won) / (largest number of items any item was compared with), else it stays. The score
    is the logarithm of the stationary probability. The who-beat-whom graph must be strongly
    connected.
    """

    largest_dense: int = LARGEST_DENSE
    """Items up to which the distribution is found by elimination, and not by iterating."""

    def solve(self, votes: CodedVotes) -> Solution:
        """Scores by Rank Centrality of the votes on pairs; all judges count alike."""
        walk = _walk(votes)
        stationary = _stationary(walk, self.largest_dense)
        residual = float(np.abs((stationary @ walk) / stationary - 1.0).max())
        score = np.log(stationary)
        converged = residual < 1e-6
        message = "" if converged else (
            f"Rank Centrality stopped with a relative residual of {residual:.1g}: the scores of "
            "items that hardly ever win are not reliable. Use the model btl."
        )  # fmt: skip
        equal = np.ones(votes.n_judges)
        return Solution(score - score.mean(), equal, None, converged, 1, message)


def _walk(votes: CodedVotes) -> scipy.sparse.csr_array:
    """The transition matrix; row = from."""
    pairs, n = votes.pairs, votes.n_items
    beaten_by = scipy.sparse.coo_array(
        (pairs.weight, (pairs.loser, pairs.winner)), shape=(n, n)
    ).tocsr()
    compared = beaten_by + beaten_by.T
    inverse = compared.copy()
    inverse.data = 1.0 / inverse.data
    share = beaten_by.multiply(inverse).tocsr()
    busiest = max(int(np.diff(compared.indptr).max()), 1)
    moves = share / busiest
    return scipy.sparse.csr_array(moves + scipy.sparse.diags_array(1.0 - moves.sum(axis=1)))


def _stationary(walk: scipy.sparse.csr_array, largest_dense: int) -> Floats:
    """The probability vector ``p`` with ``p walk = p``."""
    n = walk.shape[0]
    if n <= largest_dense:
        return _eliminated(walk.toarray())
    try:
        _, vectors = scipy.sparse.linalg.eigs(
            walk.T, k=1, which="LM", v0=np.full(n, 1.0 / n), tol=1e-14, maxiter=20 * n
        )
    except scipy.sparse.linalg.ArpackError as error:
        raise JuryrankError(
            f"Rank Centrality did not converge on {n:,} items ({error}). Use the model btl."
        ) from error
    weights = np.abs(vectors[:, 0].real)
    return np.asarray(np.maximum(weights, np.finfo(np.float64).tiny) / weights.sum())


def _eliminated(walk: Floats) -> Floats:
    """Stationary distribution by state reduction (Grassmann, Taksar and Heyman, 1985).

    It never subtracts, so that even tiny probabilities come out to full relative accuracy.
    """
    n = len(walk)
    for k in range(n - 1, 0, -1):
        walk[:k, k] /= walk[k, :k].sum()
        walk[:k, :k] += np.outer(walk[:k, k], walk[k, :k])
    weights = np.ones(n)
    for k in range(1, n):
        weights[k] = weights[:k] @ walk[:k, k]
    return np.asarray(weights / weights.sum())


def agreement_accuracy(votes: CodedVotes) -> Floats | None:
    """A first guess at the accuracies from who agrees with whom, without any scores.

    Let ``x_u(p)`` be judge ``u``'s net vote on the pair ``p``. Judges with accuracies of equal sign
    agree on shared pairs, so the leading eigenvector of ``sum_p x_u(p) x_v(p)``, ``u != v``, has
    the signs (and roughly the sizes) of the accuracies, up to one common sign, which is taken
    so that most votes count as honest. None if no two judges share a pair.
    """
    net, n_judges = _net_votes(votes), votes.n_judges
    own = np.asarray(net.multiply(net).sum(axis=1)).ravel()

    def agreement(v: Floats) -> Floats:
        return np.asarray(net @ (net.T @ v) - own * v)

    opinions = np.diff(net.indptr).astype(np.float64)
    guess = np.sqrt(opinions + 1.0)
    if not np.abs(agreement(guess)).any():
        return None
    if n_judges <= FEW_JUDGES:
        leading = np.linalg.eigh((net @ net.T).toarray() - np.diag(own))[1][:, -1]
    else:
        operator = scipy.sparse.linalg.LinearOperator(
            (n_judges, n_judges), matvec=agreement, dtype=np.float64
        )
        leading = scipy.sparse.linalg.eigsh(operator, k=1, which="LA", v0=guess, tol=1e-3)[1][:, 0]
    accuracy = leading / np.maximum(np.sqrt(opinions), 1.0)
    accuracy *= np.sign(accuracy @ opinions) or 1.0
    size = float(np.average(np.abs(accuracy), weights=opinions))
    return np.asarray(accuracy / size) if size > 0.0 else None


def _net_votes(votes: CodedVotes) -> scipy.sparse.csr_array:
    """Judges x pairs: votes for the item with the lower code minus votes against it.

    A list counts as the pairs it implies. Above `VOTES_FOR_AGREEMENT` votes, every k-th vote is
    enough for a starting point.
    """
    lists = votes.lists
    pairs = votes.every(max(1, -(-votes.pairs.number // VOTES_FOR_AGREEMENT)))
    implied = int(np.sum(lists.length * (lists.length - 1) // 2))
    some = taken(lists, np.arange(0, lists.number, max(1, -(-implied // VOTES_FOR_AGREEMENT))))
    number, better, worse = pairs_of(some)
    judge = np.concatenate((pairs.judge, some.judge[number]))
    winner = np.concatenate((pairs.winner, better)).astype(np.int64)
    loser = np.concatenate((pairs.loser, worse)).astype(np.int64)
    weight = np.concatenate((pairs.weight, some.weight[number]))
    if pairs.tied is not None:
        weight[: pairs.number][pairs.tied] = 0.0
    pair = np.minimum(winner, loser) * votes.n_items + np.maximum(winner, loser)
    _, column = np.unique(pair, return_inverse=True)
    sign = np.where(winner < loser, 1.0, -1.0) * weight
    width = int(column.max(initial=-1)) + 1
    net = scipy.sparse.coo_array((sign, (judge, column)), shape=(votes.n_judges, width))
    return scipy.sparse.csr_array(net.tocsr())
