"""Second derivatives where there are too many items for a matrix of them.

``A - B C^-1 B'`` (see `juryrank.inference.information`) is known by what it does to vectors. What
pairs add to that is worked out from the votes each time; only for lists are there (sparse)
matrices. Effects are taken as known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank import _core
from juryrank.inference.information import shares
from juryrank.model.effects import NO_EFFECTS, Layout
from juryrank.model.objective import AtState, Objective
from juryrank.types import Floats
from juryrank.votes.coded import no_pairs
from juryrank.votes.lists import Lists
from juryrank.votes.passes import Found, Own

LANES = 4
"""Numbers that a processor adds at a time: of vectors there should be a multiple of it."""


class WideInformation:
    """What can be asked of the second derivatives at one point."""

    def __init__(self, objective: Objective, state: Floats, accuracy: Floats) -> None:
        self.objective = objective
        self.state, self.accuracy = state, accuracy
        self.prior = objective.state_curvature(state)[: self.size]
        self.curvature = objective.curvature(state, accuracy)
        self.lists = _list_blocks(objective, state, accuracy) if objective.votes.has_lists else None
        self.accuracy_curvature = self._accuracy_curvature()
        """``C``."""
        self.share = shares(objective, self.accuracy_curvature)
        """``C^-1``, or 0 where the accuracies are known."""

    @property
    def size(self) -> int:
        """How many unknowns there are, beside the accuracies."""
        return self.objective.n_items

    @property
    def diagonal(self) -> Floats:
        """Of ``A - B C^-1 B'``, prior included."""
        return self.curvature.state[: self.size]

    def times_profile_matrix(self, vectors: Floats) -> Floats:
        """``(A - B C^-1 B') vectors``, prior included; they are columns."""
        count, vectors, lists = vectors.shape[1], _in_lanes(vectors), self.lists
        judged = None if lists is None else lists.mixed @ vectors
        found = self.objective.sum_over_chunks(
            _ProductPass(self.state, vectors), self._own | _if_known("judged", judged)
        )
        found += self.prior[:, None] * vectors
        if lists is not None and judged is not None:
            found += lists.votes @ vectors - lists.mixed.T @ (self.share[:, None] * judged)
        return found[:, :count]

    def energies(self, vectors: Floats) -> Floats:
        """``v' (A - B C^-1 B') v``, prior included, for each column ``v``.

        Half the work of the product, for which the votes are gone through twice.
        """
        count, vectors, lists = vectors.shape[1], _in_lanes(vectors), self.lists
        judged = None if lists is None else lists.mixed @ vectors
        energies = self.objective.sum_over_chunks(
            _EnergyPass(self.state, vectors), self._own | _if_known("judged", judged)
        )
        found = energies + self.prior @ vectors**2
        if lists is not None:
            found += np.sum(vectors * (lists.votes @ vectors), axis=0)
        return found[:count]

    def mixed_sum(self, factor: Floats) -> Floats:
        """``sum_u factor_u b_u``."""
        own = self._own | {"factor": factor}
        found = self.objective.sum_over_chunks(_MixedSumPass(self.state), own)
        return found if self.lists is None else found + self.lists.mixed.T @ factor

    def mixed_squares(self, variance: Floats) -> Floats:
        """``sum_i b_ui^2 variance_i`` for every judge."""
        own = self._own | {"square": np.empty(self.objective.n_judges)}
        rows = None if self.lists is None else self.lists.for_core
        for _ in self.objective.over_chunks(_SquaresPass(self.state, variance, rows), own):
            pass
        return own["square"]

    @property
    def _own(self) -> Own:
        return {"accuracy": self.accuracy, "share": self.share}

    def _accuracy_curvature(self) -> Floats:
        """``C``; the curvature has it exactly for pairs alone."""
        objective = self.objective
        if self.lists is None:
            return self.curvature.accuracy
        _, accuracy_curvature = _core.pair_derivatives(
            objective.noise.core, objective.votes.core_pairs, objective.core_known(self.state)[1],
            self.state[: self.size], self.accuracy,
        )  # fmt: skip
        return (
            accuracy_curvature + self.lists.accuracy_curvature + objective.prior.accuracy_precision
        )


# --- passes over the votes -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _WidePass(AtState[Found]):
    """A pass of second derivatives, of which scores alone are not known."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies, and how far they follow."""
        return ("accuracy", "share")

    def at(self, here: Objective, own: Own) -> _core.LikelihoodAt:
        """The votes here, for the compiled code."""
        return here.core_at(self.state, own["accuracy"], _scores_alone(here))


@dataclass(frozen=True, eq=False)
class _ProductPass(_WidePass[Floats]):
    """``(A - B C^-1 B') vectors`` of the votes."""

    vectors: Floats

    def numbers(self, _n_items: int) -> int:
        """As many as in the vectors."""
        return self.vectors.size

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        product, judged = np.zeros(self.vectors.shape), own.get("judged")
        _core.add_profile_product(
            self.at(here, own), first, last, own["share"], self.vectors, judged, product
        )
        return product


@dataclass(frozen=True, eq=False)
class _EnergyPass(_WidePass[Floats]):
    """``v' (A - B C^-1 B') v`` of the votes, for each column ``v``."""

    vectors: Floats

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        energy, judged = np.zeros(self.vectors.shape[1]), own.get("judged")
        _core.add_profile_energy(
            self.at(here, own), first, last, own["share"], self.vectors, judged, energy
        )
        return energy


@dataclass(frozen=True, eq=False)
class _MixedSumPass(_WidePass[Floats]):
    """``sum_u factor_u b_u``."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The factors, too."""
        return ("accuracy", "factor")

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> Floats:
        """The compiled pass."""
        total = np.zeros(here.n_items)
        _core.add_mixed_sum(self.at(here, own), first, last, own["factor"], total)
        return total


@dataclass(frozen=True, eq=False)
class _SquaresPass(_WidePass[None]):
    """``sum_i b_ui^2 variance_i``; `rows` are what lists add to ``b_u``."""

    variance: Floats
    rows: tuple[NDArray[np.int64], NDArray[np.int32], Floats] | None

    @property
    def reads(self) -> tuple[str, ...]:
        """The accuracies."""
        return ("accuracy",)

    @property
    def writes(self) -> tuple[str, ...]:
        """The sums."""
        return ("square",)

    def __call__(self, here: Objective, first: int, last: int, own: Own) -> None:
        """The compiled pass."""
        _core.set_mixed_squares(
            self.at(here, own), first, last, self.rows, self.variance, own["square"]
        )


def _if_known(name: str, array: Floats | None) -> Own:
    return {} if array is None else {name: array}


def _in_lanes(vectors: Floats) -> Floats:
    """The columns, and as many of zeros after them as fill the lanes."""
    n, count = vectors.shape
    filled = np.zeros((n, count + (-count % LANES if count > 1 else 0)))
    filled[:, :count] = vectors
    return filled


@dataclass(frozen=True)
class _ListBlocks:
    """The parts of lists in ``A``, in ``B'`` (a row for each judge) and in ``C``."""

    votes: scipy.sparse.csr_array
    mixed: scipy.sparse.csr_array
    accuracy_curvature: Floats

    @property
    def for_core(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats]:
        """``B'`` for the compiled code."""
        rows = self.mixed
        return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data


def _scores_alone(objective: Objective) -> Layout:
    """The layout of what is not known: scores, and no effects."""
    return replace(objective.layout, model=NO_EFFECTS)


def _list_blocks(objective: Objective, state: Floats, accuracy: Floats) -> _ListBlocks:
    n, m, lists = objective.n_items, objective.n_judges, objective.votes.lists
    chained = objective.chained
    ready = None if chained is None else chained.ready(chained.locations(state[:n], accuracy))
    entries = np.empty(int(np.sum(lists.length**2)))
    without_pairs = replace(objective, votes=replace(objective.votes, pairs=no_pairs(m)))
    at = without_pairs.core_at(state, accuracy, _scores_alone(objective), ready=ready)
    start, index, mixed, accuracy_curvature = _core.sparse_blocks(at, np.arange(m), None, entries)
    rows = scipy.sparse.csr_array((mixed, index, start), shape=(m, n))
    return _ListBlocks(_sparse(lists, entries, n), rows, accuracy_curvature)


def _sparse(lists: Lists, entries: Floats, n: int) -> scipy.sparse.csr_array:
    """``A`` from the entries of each list for its items, row by row."""
    length = lists.length[lists.entry_list]
    first = np.cumsum(length) - length
    column = np.arange(int(length.sum())) + np.repeat(
        lists.begin[:-1][lists.entry_list] - first, length
    )
    indices = np.repeat(lists.item, length), lists.item[column]
    return scipy.sparse.csr_array(scipy.sparse.coo_array((entries, indices), shape=(n, n)))
