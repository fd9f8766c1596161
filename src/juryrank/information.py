"""Second derivatives of the objective in all unknowns, without a judge x item matrix.

``A``, ``B`` and ``C`` are the blocks in the state (scores and effects), between, and in the
accuracies. ``C`` is diagonal and every judge has a column ``b_u`` of ``B`` with entries only for
what its votes are about, so ``B`` is kept as a sparse matrix, a row for each judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from juryrank import _kernels
from juryrank.arrays import Floats
from juryrank.effects import NO_EFFECTS, Layout
from juryrank.objective import Objective

MOST_DENSE = 3_000
"""With more unknowns, ``A`` is not kept as a whole matrix."""
JUDGES_AT_ONCE = 512
LEAST_BEND = 1e-12
"""An accuracy with less curvature is not determined at all; its judge is left out of the errors."""
WIDE = 8
"""Judges whose votes are about 1 / WIDE of all unknowns go through matrix products."""


class Information:
    """The blocks at one point.

    With very many unknowns some effects are taken as known: those of single judges, and with more
    than `MOST_DENSE` items all of them. `layout` is that of what is not.
    """

    def __init__(self, objective: Objective, state: Floats, accuracy: Floats) -> None:
        self.objective = objective
        self.layout = _small_enough(objective.layout)
        self.at = _places_of(self.layout, objective.layout)
        """Where the unknowns stand in the whole state."""
        self.prior = objective.state_bend(state)[self.at]
        self.bend = np.full(objective.n_judges, objective.prior.accuracy_precision)
        """``C``."""
        self.votes, self.mixed = self._blocks(state, accuracy)
        """``A`` without the prior, and ``B'``, a row for each judge."""
        known = self.bend > LEAST_BEND
        inverse = np.divide(1.0, self.bend, out=np.zeros(len(self.bend)), where=known)
        self.share = inverse if objective.accuracies_free else np.zeros(len(inverse))
        """``C^-1``, or 0 where the accuracies are known."""
        squares = self.mixed.multiply(self.mixed)
        self.diagonal = self.votes.diagonal() + self.prior - squares.T @ self.share
        """Of ``A - B C^-1 B'``."""

    @property
    def size(self) -> int:
        """How many unknowns there are, beside the accuracies."""
        return self.layout.size

    def profile_matrix(self) -> Floats:
        """``A - B C^-1 B'``, prior included."""
        matrix = np.array(self.votes)
        narrow = np.where(self._is_wide, 0.0, self.share)
        rows = self.mixed
        _kernels.subtract_squares(rows.indptr, rows.indices, rows.data, narrow, matrix)
        for judges, wide in self._wide_rows():
            matrix -= (wide.T * self.share[judges]) @ wide
        matrix[np.diag_indices(self.size)] += self.prior
        return matrix

    def times_profile_matrix(self, vector: Floats) -> Floats:
        """``(A - B C^-1 B') vector``, prior included."""
        judged = self.share * (self.mixed @ vector)
        return np.asarray(self.prior * vector + self.votes @ vector - self.mixed.T @ judged)

    def mixed_sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        return np.asarray(self.mixed.T @ factor)

    def mixed_rows(self, judges: NDArray[np.int64]) -> Floats:
        """``b_u`` of some judges, a row for each."""
        return np.asarray(self.mixed[judges].toarray())

    def mixed_squares(self, covariance: Floats) -> Floats:
        """``b_u' covariance b_u`` for every judge; a vector stands for a diagonal covariance."""
        rows = self.mixed
        if covariance.ndim == 1:
            return np.asarray(rows.multiply(rows) @ covariance)
        square = np.zeros(len(self.share))
        lengths = np.where(self._is_wide, 0, np.diff(rows.indptr))
        narrow = sparse.csr_array(rows[np.flatnonzero(lengths)])
        some = np.zeros(narrow.shape[0])
        _kernels.squares(narrow.indptr, narrow.indices, narrow.data, covariance, some)
        square[np.flatnonzero(lengths)] = some
        for judges, wide in self._wide_rows():
            square[judges] = np.einsum("ij,ij->i", wide @ covariance, wide)
        return square

    def mixed_along(self, direction: Floats) -> Floats:
        """``b_u' direction`` for every judge."""
        return np.asarray(self.mixed @ direction)

    @cached_property
    def _is_wide(self) -> NDArray[np.bool_]:
        return np.asarray(np.diff(self.mixed.indptr) * WIDE >= self.size)

    def _wide_rows(self) -> Iterator[tuple[NDArray[np.int64], Floats]]:
        wide = np.flatnonzero(self._is_wide)
        for first in range(0, len(wide), JUDGES_AT_ONCE):
            judges = wide[first : first + JUDGES_AT_ONCE]
            yield judges, self.mixed_rows(judges)

    def _blocks(
        self, state: Floats, accuracy: Floats
    ) -> tuple[Floats | sparse.csr_array, sparse.csr_array]:
        objective, n = self.objective, self.objective.n_items
        wins, lists, places = objective.wins, objective.lists, self.layout.places
        known = objective.known_to_kernels(state)
        count = np.zeros(objective.n_judges, dtype=np.int64)
        _kernels.count_places(wins, *known, places, self.size + 1, count)
        start = np.concatenate(([0], np.cumsum(count)))
        place, mixed = np.empty(start[-1], dtype=np.int32), np.empty(start[-1])
        dense = n <= MOST_DENSE
        matrix = np.zeros((self.size, self.size) if dense else (0, 0))
        stiffness = np.empty(0 if dense else len(wins.winner))
        entries = np.empty(0 if dense else int(np.sum(lists.length**2)))
        bend = np.empty(objective.n_judges)
        chained = objective.chained
        ready = chained and chained.ready(chained.places(state[:n], accuracy))
        _kernels.blocks_pass(
            objective.noise.code, wins, *known, places, ready, state[:n], accuracy,
            matrix, stiffness, entries, start, place, mixed, bend,
        )  # fmt: skip
        self.bend += bend
        rows = sparse.csr_array((mixed, place, start), shape=(objective.n_judges, self.size))
        if dense:
            return matrix, rows
        return self._sparse(stiffness, entries), rows

    def _sparse(self, stiffness: Floats, entries: Floats) -> sparse.csr_array:
        """``A`` from the parts of pairs and lists."""
        n, wins, lists = self.objective.n_items, self.objective.wins, self.objective.lists
        up, down = wins.winner, wins.loser
        length = lists.length[lists.entry_list]
        first = np.cumsum(length) - length
        column = np.arange(int(length.sum())) + np.repeat(
            lists.begin[:-1][lists.entry_list] - first, length
        )
        rows = np.concatenate((up, down, up, down, np.repeat(lists.item, length)))
        columns = np.concatenate((up, down, down, up, lists.item[column]))
        values = np.concatenate((stiffness, stiffness, -stiffness, -stiffness, entries))
        return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(n, n)))


def _small_enough(layout: Layout) -> Layout:
    """The layout without effects for which there is no room."""
    if layout.n_items > MOST_DENSE:
        return replace(layout, model=NO_EFFECTS)
    if layout.size > MOST_DENSE:
        model = replace(layout.model, ties_by_judge=False, order_by_judge=False)
        return replace(layout, model=model)
    return layout


def _places_of(small: Layout, whole: Layout) -> NDArray[np.int64]:
    """Where each unknown of the smaller layout stands in the whole one."""
    index = np.arange(whole.size)
    parts = [index[: whole.n_items]]
    for name in ("tie", "own_tie", "order", "own_order"):
        part: slice = getattr(small, name)
        if part.stop > part.start:
            parts.append(index[getattr(whole, name)])
    return np.concatenate(parts)
