"""What may be answered to a question, with what chances, and what an answer tells.

The judge sees the one item ``x`` above the other, in units of its own noise. The information in an
answer about ``x`` is Fisher's, the sum of ``p (d log p / dx)^2`` over the answers; without ties
``F'^2 / (F (1 - F))``, for Gumbel noise ``F (1 - F)``.
"""

from __future__ import annotations

import numpy as np
import scipy

from juryrank.model.noise import Noise
from juryrank.types import Floats

LEAST_CHANCE = 1e-300


def fisher(noise: Noise, x: Floats, tie: Floats | None = None) -> Floats:
    """The information in an answer about `x`; `tie` is the log weight of a tie, if there are ties.

    With ``g = -log F`` it is ``g'^2 F / (1 - F)`` without ties.
    """
    if tie is not None:
        return np.asarray((chances_of(noise, x, tie) * score_of(noise, x, tie) ** 2).sum(axis=0))
    value, gradient, _ = noise.terms(x)
    lost = np.minimum(np.expm1(-value), -LEAST_CHANCE)  # F - 1
    return np.asarray(gradient**2 * (1.0 + lost) / -lost)


def chances_of(noise: Noise, x: Floats, tie: Floats | None) -> Floats:
    """The chances of the answers, which are the first axis: won, lost and, if there are ties, tied.

    A tie has the chance ``T = t q / (1 + t q)`` with ``q = sqrt(F(x) F(-x))``.
    """
    if tie is None:
        win = noise.cdf(x)
        return np.stack((win, 1.0 - win))
    win, log_q = noise.cdf(x), -0.5 * (noise.terms(x)[0] + noise.terms(-x)[0])
    tied = scipy.special.expit(tie + log_q)
    return np.stack((win * (1.0 - tied), (1.0 - win) * (1.0 - tied), tied))


def score_of(noise: Noise, x: Floats, tie: Floats | None) -> Floats:
    """The derivatives of the logarithms of these chances.

    Without ties ``-g'(x)`` and ``g'(-x)``. With ties these, less ``T h`` for ``h = (log q)'``; and
    ``(1 - T) h`` of a tie.
    """
    (value, gradient, _), (other, turned, _) = noise.terms(x), noise.terms(-x)
    if tie is None:
        return np.stack((-gradient, turned))
    tied = scipy.special.expit(tie - 0.5 * (value + other))
    middle = 0.5 * (turned - gradient)
    return np.stack((-gradient - tied * middle, turned - tied * middle, (1.0 - tied) * middle))
