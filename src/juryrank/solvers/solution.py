"""`Solution`: the answer of a solver, still in codes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from juryrank.types import Floats

Step = tuple[int, float, float]
"""An evaluation: its number, the objective and the gradient's size."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of an iterative solver: row ``t`` is the state after ``t`` iterations."""

    score: Floats
    accuracy: Floats
    value: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """Scores and accuracies, and how the solver got there."""

    score: Floats
    accuracy: Floats
    value: float | None
    """The objective reached; None for methods that have none."""
    converged: bool
    iterations: int
    message: str = ""
    """If it did not converge: why, and the way out."""
    trace: Trace | None = None
    effects: Floats = field(default_factory=lambda: np.empty(0))
    """What stands in the state after the scores."""

    @property
    def state(self) -> Floats:
        """Scores and effects in one vector."""
        return np.concatenate((self.score, self.effects)) if len(self.effects) else self.score
