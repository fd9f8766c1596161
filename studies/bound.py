"""How well could pairs be chosen by somebody who knows the scores? The smallest possible error.

An answer on the pair ``(i, j)`` has Fisher's information ``w`` about the gap of their scores:
``F'^2 / (F (1 - F))`` at the true gap. With a share ``p`` of all ``N`` comparisons for each pair,
the scores are known with the covariance ``C``, the pseudo-inverse of

    N sum_pairs p w (e_i - e_j) (e_i - e_j)',

which is that of the best unbiased estimates. Standardised scores know neither the mean nor the
scale, so of an error only ``P e`` is left, with ``P`` the projection on what is orthogonal to 1 and
to the scores themselves. The best design has the smallest ``tr(P C P)`` (it is A-optimal for what
is left). It is found by the multiplicative algorithm of Silvey, Titterington and Torsney (1978): a
share is multiplied by the root of what its pair tells, ``w |C^1/2 P ...|^2 = w (e_i - e_j)' C P C
(e_i - e_j)``, until no pair tells more than the mean of all. The bound is what is certainly not
beaten: the trace at the end, times the mean over the largest of what pairs tell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

STEPS = 2_000
CLOSE = 0.005
"""How far the best design may be from the trace that is not beaten."""


class Design(NamedTuple):
    """Shares of comparisons, and the trace of what scores are left unknown after a single one."""

    share: Floats
    """Of each pair, items x items; the sum over pairs is 1."""
    trace: float
    least: float
    """What no design is below."""


def best_design(weight: Floats, wanted: Floats, steps: int = STEPS) -> Design:
    """The shares with the smallest ``tr(P C P)``.

    `weight` is the information in an answer on each pair (items x items, 0 on the diagonal), and
    `wanted` the projection ``P``, whose rows sum to 0.
    """
    share = (weight > 0.0) / float((weight > 0.0).sum() / 2)
    for _ in range(steps):
        told = weight * _told(share * weight, wanted)
        trace, most = 0.5 * float((share * told).sum()), float(told.max())
        if most <= (1.0 + CLOSE) * trace:
            break
        share = share * np.sqrt(told)
        share /= 0.5 * share.sum()
    return Design(share, trace, trace * trace / most)


def covariance(information: Floats) -> Floats:
    """Of scores whose mean is 0, given the information about each gap (items x items)."""
    laplacian = np.diag(information.sum(axis=1)) - information
    n = len(laplacian)
    return np.asarray(np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n)


def _told(information: Floats, wanted: Floats) -> Floats:
    """By how much the trace falls with information about each gap."""
    known = covariance(information)
    effect = known @ wanted @ known
    own = np.diag(effect)
    return np.asarray(own[:, None] + own[None, :] - 2.0 * effect)


def shape_only(score: Floats) -> Floats:
    """The projection on what standardised scores show: neither the mean nor the scale."""
    n, centred = len(score), score - score.mean()
    return np.asarray(np.eye(n) - 1.0 / n - np.outer(centred, centred) / float(centred @ centred))


def information(score: Floats, sd: Floats) -> Floats:
    """In an answer on each pair, if the better looks better by a normal of this `sd`."""
    gap = (score[:, None] - score[None, :]) / sd
    above = ndtr(gap)
    found = np.exp(-(gap**2)) / (2.0 * np.pi * sd**2 * above * (1.0 - above))
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def least_rmse(trace: float, score: Floats, votes: int) -> float:
    """Of standardised scores, after so many comparisons.

    With the mean square ``V`` of the error ``P e`` of scores of variance 1, the correlation with
    the truth is about ``1 / sqrt(1 + V)``, and the mean square error of standardised scores twice
    what it falls short of 1.
    """
    error = trace / (votes * len(score) * score.var())
    return float(np.sqrt(2.0 - 2.0 / np.sqrt(1.0 + error)))
