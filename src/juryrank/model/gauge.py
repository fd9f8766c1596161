"""The gauge: the scale in which scores and accuracies are told.

``(c s, a / c)`` has the same likelihood for every ``c``: the scale is a convention. The mean
``|accuracy|``, weighted by votes, is 1: ``c = sum_u w_u |a_u|``, scores ``c (s - mean s)`` and
accuracies ``a / c``. Of a posterior, every draw is put into the same gauge before anything is read
off it, and no judge counts for more than twice the mean:

    c = sum_u k_u min(|a_u|, 2 c) / sum_u k_u.

(Of accuracies with a long tail a plain mean could hardly be estimated.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juryrank.model.objective import Objective
from juryrank.types import Floats

MOST_OF_MEAN = 2.0
"""No judge counts for more than so many times the mean in the robust gauge."""
LEAST_REST = 0.1
GAUGE_STEPS = 200
GAUGE_TOLERANCE = 1e-10


class Gauge(NamedTuple):
    """The scale of the answer, ``c = sum_u gradient_u a_u``, at the solution."""

    scale: float
    gradient: Floats
    """``w_u sign(a_u)``; zeros where the accuracies are not estimated."""


def gauge_of(objective: Objective, accuracy: Floats, counts: Floats) -> Gauge:
    """The scale in which the mean |accuracy|, weighted by counts of votes, is 1."""
    if not objective.accuracies_free:
        return Gauge(1.0, np.zeros(len(accuracy)))
    weight = counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / len(counts))
    scale = float(weight @ np.abs(accuracy))
    if scale == 0.0:
        return Gauge(1.0, np.zeros(len(accuracy)))
    return Gauge(scale, weight * np.sign(accuracy))


def gauge_scale(accuracy: Floats, counts: Floats) -> float:
    """``c``: the mean |accuracy| by votes, of no judge more than twice the mean."""
    return float(gauge_scales(accuracy[None, :], counts)[0])


def gauge_scales(accuracy: Floats, counts: Floats) -> Floats:
    """The same of every row of accuracies."""
    size = np.abs(accuracy)
    share = counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / len(counts))
    scale = size @ share
    for _ in range(GAUGE_STEPS):
        last, scale = scale, np.minimum(size, MOST_OF_MEAN * scale[:, None]) @ share
        if (last - scale <= GAUGE_TOLERANCE * last).all():
            break
    return np.where(scale == 0.0, 1.0, scale)


def robust_gauge(objective: Objective, accuracy: Floats, counts: Floats) -> Gauge:
    """The same scale around a best fit, with its derivatives in the accuracies.

    ``dc / da_u = w_u sign(a_u) / (1 - 2 sum of w over judges above 2 c)``, 0 for these judges.
    """
    if not objective.accuracies_free:
        return Gauge(1.0, np.zeros(len(accuracy)))
    scale = gauge_scale(accuracy, counts)
    share = counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / len(counts))
    below = np.abs(accuracy) < MOST_OF_MEAN * scale
    rest = max(1.0 - MOST_OF_MEAN * float(share[~below].sum()), LEAST_REST)
    return Gauge(scale, np.where(below, share * np.sign(accuracy), 0.0) / rest)
