"""Intervals that hold at all times together, however often somebody looks.

Let ``S`` be a sum whose variance has grown to ``V`` around a mean of 0. For every ``r > 0``

    P(|S| >= sqrt((V + r) log((V + r) / (r a^2))) at any V) <= a

(Robbins 1970: the mixture of likelihood ratios over normal means of variance ``1 / r`` is a
martingale, which exceeds ``1 / a`` with a chance of at most ``a``). For a gap estimated with the
information ``V``, the estimate times ``V`` is such a sum about the true gap: it is within

    sqrt((V + r) log((V + r) / (r a^2))) / V

of the estimate at all times. At ``V = r`` and ``a = 0.05`` that is 3.66 standard errors, where an
interval for one look has 1.96. It is tightest near ``V = r``; ``r = 1`` is about the information at
which gaps of one or two are settled.
"""

from __future__ import annotations

import numpy as np

from juryrank.types import Floats

TIGHTEST = 1.0
"""The information ``r`` near which intervals are tightest; it may not depend on the votes."""
LEAST_INFORMATION = 1e-9
GRID = np.geomspace(1e-6, 1e9, 3_000)


def half_width(information: Floats, allowed: float) -> Floats:
    """Of gaps known with such information, wrong at any time with a chance of `allowed`."""
    known = np.maximum(information, LEAST_INFORMATION)
    log = np.log((known + TIGHTEST) / TIGHTEST) - 2.0 * np.log(allowed)
    return np.asarray(np.sqrt((known + TIGHTEST) * log) / known)


def information_for(gap: Floats, allowed: float) -> Floats:
    """The information at which gaps of this size are settled: the inverse of `half_width`."""
    width = half_width(GRID, allowed)[::-1]
    log = np.interp(np.log(np.maximum(gap, width[0])), np.log(width), np.log(GRID)[::-1])
    return np.asarray(np.exp(log))


def likelihood_information(variance: Floats, prior: float) -> Floats:
    """What votes alone tell: the precision after them less that of the prior."""
    known = 1.0 / np.maximum(variance, LEAST_INFORMATION) - 1.0 / prior
    return np.asarray(np.maximum(known, LEAST_INFORMATION))
