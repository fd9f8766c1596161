"""Second derivatives of the objective in all scores and accuracies, without a judge x item matrix.

``A``, ``B`` and ``C`` are the blocks in the scores, between, and in the accuracies. ``C`` is
diagonal and every judge has a column ``b_u`` of ``B`` with entries only for the items it voted on,
so what is needed of them is summed judge by judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank.arrays import Floats
from juryrank.objective import Objective

JUDGES_AT_ONCE = 512
LEAST_BEND = 1e-12
"""An accuracy with less curvature is not determined at all; its judge is left out of the errors."""
WIDE = 8
"""Judges with at least (items / WIDE) votes go through matrix products, others entry by entry."""


class Information:
    """The blocks at one point, vote by vote."""

    def __init__(self, objective: Objective, score: Floats, accuracy: Floats) -> None:
        self.objective = objective
        self.wins = objective.wins
        self.score = score
        votes = len(self.wins.winner)
        self.stiffness, self.mixed = np.empty(votes), np.empty(votes)
        _kernels.vote_bends(
            objective.noise.code, self.wins, score, accuracy, self.stiffness, self.mixed
        )
        curvature = objective.curvature(score, accuracy)
        self.diagonal = curvature.score
        """Of ``A - B C^-1 B'``."""
        self.bend = curvature.accuracy
        """``C``."""
        known = self.bend > LEAST_BEND
        inverse = np.divide(1.0, self.bend, out=np.zeros(len(self.bend)), where=known)
        self.share = inverse if objective.accuracies_free else np.zeros(len(inverse))
        """``C^-1``, or 0 where the accuracies are known."""

    @cached_property
    def _is_wide(self) -> NDArray[np.bool_]:
        return np.asarray(np.diff(self.wins.start) * WIDE >= len(self.score))

    def profile_matrix(self) -> Floats:
        """``A - B C^-1 B'``, prior included."""
        n = len(self.score)
        matrix = np.zeros((n, n))
        narrow = np.where(self._is_wide, 0.0, self.share)
        _kernels.add_profile_curvature(self.wins, self.stiffness, self.mixed, narrow, matrix)
        for judges, rows in self._wide_rows():
            matrix -= (rows.T * self.share[judges]) @ rows
        matrix[np.diag_indices(n)] += self.objective.score_bend(self.score)
        return matrix

    def times_profile_matrix(self, vector: Floats) -> Floats:
        """``(A - B C^-1 B') vector``, prior included."""
        product = self.objective.score_bend(self.score) * vector
        _kernels.profile_curvature_times(
            self.wins, self.stiffness, self.mixed, self.share, vector, product
        )
        return np.asarray(product)

    def mixed_sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        total = np.zeros(len(self.score))
        _kernels.mixed_sum(self.wins, self.mixed, factor, total)
        return total

    def mixed_rows(self, judges: NDArray[np.int64]) -> Floats:
        """``b_u`` of some judges, a row for each."""
        rows = np.zeros((len(judges), len(self.score)))
        _kernels.mixed_rows(self.wins, self.mixed, judges, rows)
        return rows

    def mixed_squares(self, covariance: Floats) -> Floats:
        """``b_u' covariance b_u`` for every judge; a vector stands for a diagonal covariance."""
        square = np.zeros(len(self.share))
        if covariance.ndim == 1:
            nothing = np.zeros(len(square), dtype=np.bool_)
            _kernels.mixed_squares(
                self.wins, self.mixed, nothing, np.empty((0, 0)), covariance, square
            )
            return square
        variance = np.diag(covariance).copy()
        _kernels.mixed_squares(self.wins, self.mixed, self._is_wide, covariance, variance, square)
        for judges, rows in self._wide_rows():
            square[judges] = np.einsum("ij,ij->i", rows @ covariance, rows)
        return square

    def mixed_along(self, direction: Floats) -> Floats:
        """``b_u' direction`` for every judge."""
        gap = direction[self.wins.winner] - direction[self.wins.loser]
        total = np.concatenate(([0.0], np.cumsum(self.mixed * gap)))
        return np.asarray(np.diff(total[self.wins.start]))

    def _wide_rows(self) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        wide = np.flatnonzero(self._is_wide)
        for first in range(0, len(wide), JUDGES_AT_ONCE):
            judges = wide[first : first + JUDGES_AT_ONCE]
            yield judges, self.mixed_rows(judges)
