"""Several questions at once: each is chosen as if those before it, and those out, were answered.

With the posterior's covariance ``S`` of the ``x`` of all questions, an answer of information ``w``
to question ``c`` makes of it ``S - w S_c S_c' / (1 + w S_cc)``, whatever the answer is. In terms of
the deviations ``Z`` of the draws, ``S = Z Z'``,

    Z <- Z - f (Z z) z',    z = Z_c,    f = (1 - 1 / sqrt(1 + w z'z)) / z'z.

A question's gain falls from what it is alone as ``log(1 + w S_cc)`` does. The gains chosen one
after the other then sum to about the information in all answers, ``log det(I + W S) / 2``.
"""

from __future__ import annotations

import numpy as np

from juryrank.active.gain import Outlook
from juryrank.inference.information import add_product
from juryrank.types import Floats

LEAST_VARIANCE = 1e-12


class Batch:
    """Questions to choose from, and what is left to learn from each."""

    def __init__(self, outlook: Outlook) -> None:
        self.alone = outlook.gain
        """What each question tells if nothing else is asked."""
        self._weight = outlook.weight
        self._deviation = outlook.deviation.copy(order="C")
        square = np.einsum("ck,ck->c", self._deviation, self._deviation)
        self.variance: Floats = np.maximum(square, LEAST_VARIANCE)
        """Of each question's ``x``."""
        self._answered: list[tuple[Floats, float]] = []
        self._at_first = np.log1p(self._weight * self.variance)

    @property
    def gains(self) -> Floats:
        """What each question still tells."""
        return np.asarray(self.alone * np.log1p(self._weight * self.variance) / self._at_first)

    def answer(self, question: int) -> None:
        """Count a question as answered."""
        self.condition(*self.update_of(question))

    def answer_other(self, other: Outlook) -> float:
        """Count a question as answered that is none of these; what it told comes back."""
        alone = Batch(other)
        for z, told in self._answered:
            alone.condition(z, told)
        gain = float(alone.gains[0])
        self.condition(*alone.update_of(0))
        return gain

    def update_of(self, question: int) -> tuple[Floats, float]:
        """The deviations of a question as they are now, and the information in its answer."""
        return self._deviation[question].copy(), float(self._weight[question])

    def condition(self, z: Floats, told: float) -> None:
        """Count an answer of so much information about what has these deviations."""
        square = max(float(z @ z), LEAST_VARIANCE)
        covariance = self._deviation @ z
        factor = (1.0 - 1.0 / np.sqrt(1.0 + told * square)) / square
        add_product(self._deviation, -factor, covariance, z)
        left = self.variance - told * covariance**2 / (1.0 + told * square)
        self.variance = np.maximum(left, LEAST_VARIANCE)
        self._answered.append((z, told))
