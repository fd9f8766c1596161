"""The prior: what is known of scores, accuracies and effects before the votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.errors import InputError


@dataclass(frozen=True)
class Prior:
    """``score ~ N(0, score_sd^2)`` and ``accuracy ~ N(1, accuracy_sd^2)``, independently."""

    score_sd: float = np.inf
    accuracy_sd: float = np.inf
    effect_sd: float = np.inf
    """Of the weights of ties (as logarithms) and of the left side's advantage, around 0."""
    tie_sd: float = 1.0
    """Of what single judges add to the weights of ties."""
    order_sd: float = 1.0
    """Of what single judges add to the left side's advantage."""

    def __post_init__(self) -> None:
        """Refuse scales that are not positive, or absurd."""
        for scale in (self.score_sd, self.accuracy_sd):
            if not (1e-6 <= scale <= 1e6 or scale == np.inf):
                raise InputError(
                    "The scales of a prior must be positive numbers between 1e-6 and 1e6, not "
                    f"{self.score_sd:g} (scores) and {self.accuracy_sd:g} (accuracies)."
                )

    @property
    def score_precision(self) -> float:
        """``1 / score_sd^2``."""
        return float(1.0 / self.score_sd**2)

    @property
    def accuracy_precision(self) -> float:
        """``1 / accuracy_sd^2``."""
        return float(1.0 / self.accuracy_sd**2)


NO_PRIOR = Prior()
EFFECT_SD = 5.0
"""Log-odds: hardly any limit on ties and on the advantage of a side, but all votes may be alike."""
FIRST_GUESS = Prior(1.0, 1.0, effect_sd=EFFECT_SD)
"""What a search begins with where the data are to choose."""
