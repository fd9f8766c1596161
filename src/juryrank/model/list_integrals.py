"""Lists under noise other than Gumbel, whose probabilities are chains of integrals.

See `_core/list_integrals.hpp` for the integrals, and `_core/list_sums.cpp` for the search for the
accuracies, whose second derivatives are borrowed from Gumbel noise at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.errors import InputError
from juryrank.model.noise import Noise
from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.passes import Found

PARTS = 16
WORTH_SPLITTING = 1_000.0
"""Microseconds of work, about, from which on it is done in parts,"""
WORTH_THREADS = 10_000.0
"""and by threads: starting them takes about a thousand."""
CROWD = 20.0
"""Items of a list from which on there are more panels the more items there are."""
STEEPEST = 1e9
"""Gradients in a location are about as large as locations lie apart, never so many times more."""
Codes = NDArray[np.int64]


class ReadyLists(NamedTuple):
    """Derivatives of ``-log P`` of lists in their locations; none has ties."""

    gradient: Floats
    """An entry for each item of each list."""
    hessian: Floats
    """Items x items for each list, one after the other."""
    begin: Codes
    """Where those of each list begin."""


class ChainedLists:
    """Lists and the noise under which they were made."""

    def __init__(self, noise: Noise, lists: Lists, threads: int) -> None:
        self.noise = noise
        self.lists = lists
        self.threads = threads
        n_items = int(lists.item.max(initial=-1)) + 1
        self.core = _core.ListVotes(**lists._asdict(), n_items=n_items)
        self.value = np.empty(lists.number)
        """``-log P`` of each list, where it was worked out last."""
        self.gradient = np.empty(len(lists.item))
        """Its gradient in the location of each item."""

    @cached_property
    def likeness(self) -> Floats:
        """How much more each list tells about scores than it would with Gumbel noise.

        Where all locations are equal, every order has the same chance and the same gradient, by
        position; the sum of its squares is the information of one such list.
        """
        kinds, kind = np.unique(
            np.stack((self.lists.length, self.lists.ranked)), axis=1, return_inverse=True
        )
        ratio = np.empty(kinds.shape[1])
        for at, (length, ranked) in enumerate(kinds.T.tolist()):
            equal, own, usual = np.zeros(length), np.empty(length), np.empty(length)
            _core.chain_pass(self.noise.core, equal, ranked, own)
            _core.luce_pass(equal, ranked, usual)
            ratio[at] = np.sum(own**2) / np.sum(usual**2)
        return np.asarray(ratio[kind.ravel()])

    def over_judges(self, one_chunk: Callable[[int, int], Found]) -> Iterator[Found]:
        """What `one_chunk` finds for the judges from ... to, one chunk after the other."""
        yield from self._over_parts(one_chunk, _bounds(self._work_before[self.lists.start]))

    def check(self, gradient: Floats, score: Floats, accuracy: Floats) -> None:
        """Refuse lists so long that rounding has left no digit of their gradient in the scores.

        A search would go on with it for hours, and find nothing.
        """
        largest = float(np.abs(accuracy).max(initial=1.0))
        usual = float(self.lists.weight.sum()) * largest * (1.0 + largest * float(np.ptp(score)))
        if np.abs(gradient).max(initial=0.0) > STEEPEST * usual:
            raise InputError(
                f"There are rankings of up to {int(self.lists.length.max()):,} items. Under "
                f"{self.noise.name} noise the chances of rankings so long cannot be computed "
                "accurately. Use a model with Gumbel noise (hbtl or btl), which takes rankings "
                "of any length, or remove items until they are shorter."
            )

    def work_out(self, location: Floats) -> None:
        """Set value and gradient of all lists, with each item at the location of its entry."""

        def work(first: int, last: int) -> None:
            _core.chain_terms(
                self.noise.core, self.core, first=first, last=last,
                location=location, value=self.value, gradient=self.gradient,
            )  # fmt: skip

        list(self._over_parts(work, _bounds(self._work_before)))

    def locations(self, score: Floats, accuracy: Floats) -> Floats:
        """``accuracy * score`` of every entry."""
        judge = self.lists.judge[self.lists.entry_list]
        return np.asarray(accuracy[judge] * score[self.lists.item])

    def ready(self, location: Floats) -> ReadyLists:
        """Gradients and, by their central differences, second derivatives in the locations."""
        begin = np.concatenate(([0], np.cumsum(self.lists.length**2)))
        hessian = np.empty(int(begin[-1]))

        def work(first: int, last: int) -> None:
            _core.chain_hessians(
                self.noise.core, self.core, first=first, last=last, location=location,
                value=self.value, gradient=self.gradient, begin=begin, hessian=hessian,
            )  # fmt: skip

        list(self._over_parts(work, _bounds(self._work_before)))
        return ReadyLists(self.gradient.copy(), hessian, begin)

    @cached_property
    def _work_before(self) -> Floats:
        """About how many microseconds all lists before each take."""
        length = self.lists.length
        return np.concatenate(([0.0], np.cumsum(length * (1.0 + length / CROWD))))

    def _over_parts(self, work: Callable[[int, int], Found], bounds: Codes) -> Iterator[Found]:
        ends = bounds[:-1].tolist(), bounds[1:].tolist()
        if self.threads == 1 or self._work_before[-1] < WORTH_THREADS:
            yield from map(work, *ends)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from pool.map(work, *ends)


def _bounds(work: Floats) -> Codes:
    """Bounds of parts that take about as long, where so much work comes before each.

    They depend on the data alone, so that sums are the same for every number of threads.
    """
    parts = PARTS if work[-1] >= WORTH_SPLITTING else 1
    inner = np.searchsorted(work, np.linspace(0.0, work[-1], parts + 1)[1:-1])
    return np.unique(np.concatenate(([0], inner, [len(work) - 1]))).astype(np.int64)
