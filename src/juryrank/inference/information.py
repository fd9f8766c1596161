"""Second derivatives of the objective in all unknowns, without a judge x item matrix.

``A``, ``B`` and ``C`` are the blocks in the state (scores and effects), between, and in the
accuracies. ``C`` is diagonal and every judge has a column ``b_u`` of ``B``, with entries only for
what its votes are about. All ``b_u`` together would take more room than the votes: they are worked
out for some judges, used and forgotten, as often as they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank import _core
from juryrank.model.effects import Layout
from juryrank.model.objective import AtState, Objective
from juryrank.types import Floats
from juryrank.votes.passes import Found, Own
from juryrank.votes.weights import total_weight

Judges = NDArray[np.int64]

MOST_DENSE = 3_000
"""With more unknowns, ``A`` is not kept as a whole matrix."""
MIRRORED_AT_ONCE = 64
"""Rows of a triangle that fit into the nearest memory."""
LEAST_ACCURACY_CURVATURE = 1e-12
"""An accuracy with less curvature is not determined at all; its judge is left out of the errors."""


class Portions(NamedTuple):
    """How many ``b_u`` are worked out at a time, and how."""

    numbers: int = 1 << 20
    """At most so many numbers of them."""
    wide: int = 10
    """Judges whose votes may be about 1 / wide of all unknowns go through matrix products."""


USUAL = Portions()


class Inverse(NamedTuple):
    """The inverse of a positive matrix, ``R' R``."""

    root: Floats | None
    """``R``, a lower triangle; what stands above its diagonal has no meaning. None of a part."""
    whole: Floats

    def of(self, unknowns: Judges) -> Inverse:
        """The part of it that is about some unknowns."""
        return Inverse(None, np.ascontiguousarray(self.whole[np.ix_(unknowns, unknowns)]))


class Information:
    """The blocks at one point.

    With more than `most_dense` unknowns the effects of single judges are taken as known. `layout`
    is that of what is not.
    """

    def __init__(
        self,
        objective: Objective,
        state: Floats,
        accuracy: Floats,
        most_dense: int = MOST_DENSE,
        portions: Portions = USUAL,
    ) -> None:
        self.objective = objective
        self.portions = portions
        self.layout = _small_enough(objective.layout, most_dense)
        self.at = indices_of(self.layout, objective.layout)
        """Where the unknowns stand in the whole state."""
        self.state, self.accuracy = state, accuracy
        own = self._own | {
            "curvature": np.full(objective.n_judges, objective.prior.accuracy_precision),
            "share": np.zeros(objective.n_judges),
        }
        self._upper = objective.sum_over_shards(_UpperPass(state, self.layout, portions), own)
        self._upper[np.diag_indices(self.size)] += objective.state_curvature(state)[self.at]
        """``A - B C^-1 B'``, prior included; its upper triangle."""
        self.accuracy_curvature = own["curvature"]
        """``C``."""
        self.share = own["share"]
        """``C^-1``, or 0 where the accuracies are known."""

    @property
    def _own(self) -> Own:
        return {"accuracy": self.accuracy}

    @property
    def size(self) -> int:
        """How many unknowns there are, beside the accuracies."""
        return self.layout.size

    @property
    def diagonal(self) -> Floats:
        """Of ``A - B C^-1 B'``, prior included."""
        return np.diag(self._upper)

    def profile_matrix(self) -> Floats:
        """``A - B C^-1 B'``, prior included."""
        return mirrored(self._upper.copy())

    def mixed_sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        own = self._own | {"factor": factor}
        one_shard = _MixedSumPass(self.state, self.layout, self.portions)
        return self.objective.sum_over_shards(one_shard, own)

    def mixed_rows(self, first: int, last: int) -> Floats:
        """``b_u`` of some judges, a row for each."""
        blocks = _Blocks(self.objective, self.layout, self.portions, self.state, self.accuracy)
        return blocks.dense_rows(np.arange(first, last), None, blocks.room(last - first)).rows

    def mixed_forms(self, inverse: Inverse, direction: Floats) -> tuple[Floats, Floats]:
        """``b_u' inverse b_u`` and ``b_u' direction`` for every judge."""
        own = self._own | {"square": np.empty(len(self.share)), "along": np.empty(len(self.share))}
        one_shard = _FormsPass(self.state, self.layout, self.portions, inverse, direction)
        for _ in self.objective.over_shards(one_shard, own):
            pass
        return own["square"], own["along"]


class _Blocks:
    """``b_u`` and ``C_u`` of the judges that are here, some at a time."""

    def __init__(
        self,
        objective: Objective,
        layout: Layout,
        portions: Portions,
        state: Floats,
        accuracy: Floats,
    ) -> None:
        self.objective, self.layout, self.portions = objective, layout, portions
        self.state, self.accuracy = state, accuracy

    @property
    def size(self) -> int:
        """How many unknowns there are, beside the accuracies."""
        return self.layout.size

    def room(self, judges: int) -> Floats:
        """For the rows of so many judges."""
        return np.empty((judges, self.size))

    def rows(self, matrix: Floats | None = None) -> Iterator[_DenseRows | _SparseRows]:
        """``b_u`` of all judges, some at a time; ``A`` is added to the matrix, if there is one.

        What has been given is gone when the next is.
        """
        is_wide = self._most_unknowns * self.portions.wide >= self.size
        wide, narrow = np.flatnonzero(is_wide), np.flatnonzero(~is_wide)
        at_once = max(self.portions.numbers // self.size, 1)
        # Always the same memory: to get new pages from the system takes longer than to fill them.
        room = self.room(min(at_once, len(wide)))
        for first in range(0, len(wide), at_once):
            yield self.dense_rows(wide[first : first + at_once], matrix, room)
        group = np.cumsum(self._most_unknowns[narrow]) // self.portions.numbers
        for number in np.unique(group):
            yield self._sparse_rows(narrow[group == number], matrix)

    @cached_property
    def _most_unknowns(self) -> Judges:
        """How many unknowns each judge's votes can be about."""
        votes, model = self.objective.votes, self.layout.model
        items = votes.pairs.per_judge + votes.entries_per_judge
        return np.asarray(items + len(model.sizes) + 3)

    def dense_rows(self, judges: Judges, matrix: Floats | None, room: Floats) -> _DenseRows:
        """Those of some judges, as rows of a matrix."""
        rows, accuracy_curvature = room[: len(judges)], np.empty(len(judges))
        rows[:] = 0.0
        with self.objective.votes.opened():
            _core.add_blocks(self._core_at, judges, matrix, rows, accuracy_curvature)
        return _DenseRows(judges, accuracy_curvature, rows)

    def _sparse_rows(self, judges: Judges, matrix: Floats | None) -> _SparseRows:
        with self.objective.votes.opened():
            start, column, value, accuracy_curvature = _core.sparse_blocks(
                self._core_at, judges, matrix
            )
        return _SparseRows(
            judges, accuracy_curvature, SparseMatrix(start, column, value, self.size)
        )

    @cached_property
    def _core_at(self) -> _core.LikelihoodAt:
        objective, chained = self.objective, self.objective.chained
        score = self.state[: objective.n_items]
        ready = None if chained is None else chained.ready(chained.locations(score, self.accuracy))
        return objective.core_at(self.state, self.accuracy, self.layout, ready=ready)


# --- passes over the votes -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BlocksPass(AtState[Found]):
    """A pass of the blocks, with the layout of what is not known."""

    layout: Layout
    portions: Portions

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies."""
        return ("accuracy",)

    def blocks(self, here: Objective, own: Own) -> _Blocks:
        """Those of the judges here."""
        return _Blocks(here, self.layout, self.portions, self.state, own["accuracy"])

    def for_layout(self, layout: Layout, judges: slice) -> BlocksPass[Found]:
        """With the parts of state and layout that are about these judges."""
        if not layout.model.by_judge:
            return self
        few = replace(self.layout, n_judges=judges.stop - judges.start)
        return replace(self, state=layout.for_judges(self.state, judges), layout=few)


@dataclass(frozen=True, eq=False)
class _UpperPass(BlocksPass[Floats]):
    """``A - B C^-1 B'`` without the prior; ``C`` and ``C^-1`` are written."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The curvature, too, that the prior gives to accuracies."""
        return ("accuracy", *self.writes)

    @property
    def writes(self) -> tuple[str, ...]:
        """``C`` and ``C^-1``."""
        return ("curvature", "share")

    def numbers(self, _n_items: int) -> int:
        """A matrix."""
        return self.layout.size**2

    def in_layout(self, found: Floats, _layout: Layout, judges: slice) -> Floats:
        """Zeros for what is about other judges."""
        return self.layout.from_judges(found, judges)

    def __call__(self, here: Objective, _first: int, _last: int, own: Own) -> Floats:
        """Some judges after the other."""
        upper = np.zeros((self.layout.size, self.layout.size))
        for some in self.blocks(here, own).rows(upper):
            own["curvature"][some.judges] += some.accuracy_curvature
            share = shares(here, own["curvature"][some.judges])
            own["share"][some.judges] = share
            if here.accuracies_free:
                some.subtract_squares(share, upper)
        return upper


@dataclass(frozen=True, eq=False)
class _MixedSumPass(BlocksPass[Floats]):
    """``sum_u factor_u b_u``."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The factors, too."""
        return ("accuracy", "factor")

    def in_layout(self, found: Floats, _layout: Layout, judges: slice) -> Floats:
        """Zeros for what is about other judges."""
        return self.layout.from_judges(found, judges)

    def __call__(self, here: Objective, _first: int, _last: int, own: Own) -> Floats:
        """Some judges after the other."""
        total = np.zeros(self.layout.size)
        for some in self.blocks(here, own).rows():
            total += some.sum(own["factor"][some.judges])
        return total


@dataclass(frozen=True, eq=False)
class _FormsPass(BlocksPass[None]):
    """``b_u' inverse b_u`` and ``b_u' direction`` for every judge."""

    inverse: Inverse
    direction: Floats

    @property
    def writes(self) -> tuple[str, ...]:
        """Both."""
        return ("square", "along")

    def for_layout(self, layout: Layout, judges: slice) -> _FormsPass:
        """With the parts that are about these judges."""
        part = BlocksPass.for_layout(self, layout, judges)
        found = replace(self, state=part.state, layout=part.layout)
        if not self.layout.model.by_judge:
            return self if part is self else found
        at = self.layout.indices_for(judges)
        return replace(found, inverse=self.inverse.of(at), direction=self.direction[at])

    def __call__(self, here: Objective, _first: int, _last: int, own: Own) -> None:
        """Some judges after the other."""
        for some in self.blocks(here, own).rows():
            own["along"][some.judges] = some.times(self.direction)
            own["square"][some.judges] = some.squares(self.inverse)


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A row for each judge; the entries of a row, with their columns ascending, one after another.

    Those of the p-th row are from ``start[p]`` to ``start[p + 1]``.
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: Floats
    n_columns: int

    @property
    def for_core(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """The same for the compiled code."""
        return self.start, self.column, self.value

    def times(self, vector: Floats) -> Floats:
        """The product with a vector."""
        return total_weight(self._row, self.value * vector[self.column], len(self.start) - 1)

    def transposed_times(self, vector: Floats) -> Floats:
        """The product of the transpose with a vector."""
        return total_weight(self.column, self.value * vector[self._row], self.n_columns)

    @property
    def _row(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


@dataclass(frozen=True)
class _DenseRows:
    """``b_u`` of some judges, a row for each, and the votes' part of their ``C_u``."""

    judges: Judges
    accuracy_curvature: Floats
    rows: Floats

    def subtract_squares(self, share: Floats, upper: Floats) -> None:
        """Subtract ``sum_u share_u b_u b_u'`` from an upper triangle; the rows are spoilt."""
        rows = self.rows
        rows *= np.sqrt(share)[:, None]
        # To BLAS, which has columns where we have rows, an upper triangle is a lower one.
        scipy.linalg.blas.dsyrk(-1.0, rows.T, beta=1.0, c=upper.T, lower=1, overwrite_c=1)

    def times(self, direction: Floats) -> Floats:
        """``b_u' direction``."""
        return np.asarray(self.rows @ direction)

    def sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        return np.asarray(self.rows.T @ factor)

    def squares(self, inverse: Inverse) -> Floats:
        """``b_u' inverse b_u``, as ``|R b_u|^2`` where ``R`` is known; the rows are spoilt."""
        if inverse.root is None:
            return np.asarray(np.einsum("ui,ui->u", self.rows @ inverse.whole, self.rows))
        found = scipy.linalg.blas.dtrmm(1.0, inverse.root, self.rows.T, lower=1, overwrite_b=1)
        return np.asarray(np.einsum("iu,iu->u", found, found))


@dataclass(frozen=True)
class _SparseRows:
    """The same for judges whose votes are about few unknowns."""

    judges: Judges
    accuracy_curvature: Floats
    rows: SparseMatrix

    def subtract_squares(self, share: Floats, upper: Floats) -> None:
        """Subtract ``sum_u share_u b_u b_u'`` from an upper triangle."""
        _core.subtract_squares(self.rows.for_core, share, upper)

    def times(self, direction: Floats) -> Floats:
        """``b_u' direction``."""
        return self.rows.times(direction)

    def sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        return self.rows.transposed_times(factor)

    def squares(self, inverse: Inverse) -> Floats:
        """``b_u' inverse b_u``."""
        found = np.empty(len(self.judges))
        _core.set_squares(self.rows.for_core, inverse.whole, found)
        return found


def inverse_of(matrix: Floats) -> Inverse:
    """The inverse of a symmetric matrix, which is spoilt.

    Raises `np.linalg.LinAlgError` where it is not positive.
    """
    factor, failed = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    root, _ = scipy.linalg.lapack.dtrtri(factor, lower=1, overwrite_c=1)
    whole, _ = scipy.linalg.lapack.dlauum(root, lower=1)
    return Inverse(root, mirrored(whole.T))


def shares(objective: Objective, accuracy_curvature: Floats) -> Floats:
    """``C^-1`` of some judges, or 0 where the accuracies are known."""
    found = np.zeros(len(accuracy_curvature))
    if not objective.accuracies_free:
        return found
    return np.divide(
        1.0, accuracy_curvature, out=found, where=accuracy_curvature > LEAST_ACCURACY_CURVATURE
    )


def add_product(matrix: Floats, factor: float, rows: Floats, columns: Floats) -> None:
    """Add ``factor rows columns'`` to a matrix, in place."""
    # To BLAS, which has columns where we have rows, the matrix is its transpose.
    scipy.linalg.blas.dger(factor, columns, rows, a=matrix.T, overwrite_a=1)


def mirrored(upper: Floats) -> Floats:
    """Make a matrix symmetric by its upper triangle, in place and block by block."""
    for first in range(0, len(upper), MIRRORED_AT_ONCE):
        own = slice(first, first + MIRRORED_AT_ONCE)
        corner = upper[own, own]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
        upper[own.stop :, own] = upper[own, own.stop :].T
    return upper


def _small_enough(layout: Layout, most: int) -> Layout:
    """The layout without effects for which there is no room."""
    if layout.size <= most:
        return layout
    model = replace(layout.model, ties_by_judge=False, order_by_judge=False)
    return replace(layout, model=model)


def indices_of(small: Layout, whole: Layout) -> NDArray[np.int64]:
    """Where each unknown of the smaller layout stands in the whole one."""
    index = np.arange(whole.size)
    parts = [index[: whole.n_items]]
    for name in ("tie", "own_tie", "order", "own_order"):
        part: slice = getattr(small, name)
        if part.stop > part.start:
            parts.append(index[getattr(whole, name)])
    return np.concatenate(parts)
