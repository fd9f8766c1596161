"""Several questions at once: each is chosen as if those before it, and those out, were answered.

With the posterior's covariance ``S`` of the ``x`` of all questions, an answer of information ``w``
to question ``c`` makes of it ``S - w S_c S_c' / (1 + w S_cc)``, whatever the answer is. In terms of
the deviations ``Z`` of the draws, ``S = Z Z'``,

    Z <- Z - f (Z z) z',    z = Z_c,    f = (1 - 1 / sqrt(1 + w z'z)) / z'z.

So one matrix ``T``, with ``T <- T - f (T z) z'``, does to any question what all answers did.

A question's gain falls from what it is alone as ``log(1 + w S_cc)`` does. The gains chosen one
after the other then sum to about the information in all answers, ``log det(I + W S) / 2``.
"""

from __future__ import annotations

import numpy as np

from juryrank.active.gain import Outlook
from juryrank.inference.information import add_product
from juryrank.types import Floats

LEAST_VARIANCE = 1e-12


class Answers:
    """What the answers so far do to the deviations of any question: ``Z T``."""

    def __init__(self, draws: int) -> None:
        self._transform: Floats = np.eye(draws)

    def of(self, deviation: Floats) -> Floats:
        """The deviations after the answers."""
        return np.asarray(deviation @ self._transform)

    def count(self, z: Floats, told: float) -> None:
        """Count an answer of so much information about what has these deviations by now."""
        add_product(self._transform, -_factor(z, told), self._transform @ z, z)


def _factor(z: Floats, told: float) -> float:
    square = _square(z)
    return (1.0 - 1.0 / float(np.sqrt(1.0 + told * square))) / square


def _square(z: Floats) -> float:
    return max(float(z @ z), LEAST_VARIANCE)


class Batch:
    """Questions to choose from, and what is left to learn from each after the answers so far.

    Every answer to one of them is counted among `answers`, too.
    """

    def __init__(self, outlook: Outlook, answers: Answers | None = None) -> None:
        self.alone = outlook.gain
        """What each question tells if nothing else is asked."""
        self._weight = outlook.weight
        at_first = _variances(outlook.deviation)
        self._at_first = np.log1p(self._weight * at_first)
        self._answers = answers
        self._deviation = (
            outlook.deviation.copy(order="C") if answers is None else answers.of(outlook.deviation)
        )
        self.variance: Floats = at_first if answers is None else _variances(self._deviation)
        """Of each question's ``x``."""

    @property
    def gains(self) -> Floats:
        """What each question still tells."""
        return np.asarray(self.alone * np.log1p(self._weight * self.variance) / self._at_first)

    def answer(self, question: int) -> None:
        """Count a question as answered."""
        self._condition(self._deviation[question].copy(), float(self._weight[question]))

    def answer_other(self, other: Outlook) -> float:
        """Count a question as answered that is none of these; what it told comes back."""
        alone = Batch(other, self._answers)
        gain = float(alone.gains[0])
        self._condition(alone._deviation[0], float(alone._weight[0]))
        return gain

    def _condition(self, z: Floats, told: float) -> None:
        square = _square(z)
        covariance = self._deviation @ z
        if self._answers is not None:
            self._answers.count(z, told)
        add_product(self._deviation, -_factor(z, told), covariance, z)
        left = self.variance - told * covariance**2 / (1.0 + told * square)
        self.variance = np.maximum(left, LEAST_VARIANCE)


def _variances(deviation: Floats) -> Floats:
    square = np.einsum("ck,ck->c", deviation, deviation)
    return np.asarray(np.maximum(square, LEAST_VARIANCE))
