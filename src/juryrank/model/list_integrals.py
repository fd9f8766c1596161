"""Lists under noise other than Gumbel, for all judges at once.

Their probabilities are chains of integrals (see `_kernels.chain_pass`), which take far longer than
anything else, to run and to compile. So the compiled passes over votes know lists under Gumbel
noise alone; here lists are worked out many at a time and what they say is handed on. Each accuracy
is searched for as there, with second derivatives borrowed from Gumbel noise and then from secants.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank import _kernels
from juryrank._kernels import AccuracyRule, ReadyLists
from juryrank.errors import InputError
from juryrank.model.noise import Noise
from juryrank.types import Floats
from juryrank.votes.lists import Lists
from juryrank.votes.weights import total_weight

PARTS = 16
LISTS_WORTH_SPLITTING = 200
LARGEST_LEAP = 5.0
"""A secant may differ by this factor from the second derivative of the step before."""
NO_MOVE = 1e-8
"""Of an accuracy: a last step this small need not be taken."""
STEEPEST = 1e9
"""Slopes in a place are about as large as places lie apart, never by this factor larger."""

Derivatives = Callable[[NDArray[np.int64]], tuple[Floats, Floats]]
"""First and second derivatives in the accuracy of all else that some judges have voted."""


class ChainedLists:
    """Lists and the noise under which they were made."""

    def __init__(self, noise: Noise, lists: Lists, threads: int) -> None:
        self.noise = noise
        self.lists = lists
        self.threads = threads
        self.entry_list = lists.entry_list
        self.entry_judge = lists.judge[self.entry_list]
        self.value = np.empty(lists.number)
        """``-log P`` of each list, where it was worked out last."""
        self.slope = np.empty(len(lists.item))
        """Its slope in the place of each item."""

    @cached_property
    def likeness(self) -> Floats:
        """How much more each list tells about scores than it would with Gumbel noise.

        Where all places are equal, every order has the same chance and the same slopes, by
        position; the sum of their squares is the information of one such list.
        """
        kinds, first, kind = np.unique(
            np.stack((self.lists.length, self.lists.ranked)),
            axis=1,
            return_index=True,
            return_inverse=True,
        )
        zero = np.zeros(len(self.lists.item))
        usual, bend = np.empty(len(zero)), np.empty(self.lists.number)
        _kernels.luce_terms(self.lists, first, zero, zero, usual, bend)
        self.work_out(zero, first)
        ratio = np.empty(kinds.shape[1])
        for at, k in enumerate(first):
            own = slice(self.lists.begin[k], self.lists.begin[k + 1])
            ratio[at] = np.sum(self.slope[own] ** 2) / np.sum(usual[own] ** 2)
        return np.asarray(ratio[kind.ravel()])

    def work_out(self, place: Floats, which: NDArray[np.int64] | None = None) -> None:
        """Set value and slope of all, or of some lists."""
        numbers = np.arange(self.lists.number) if which is None else which

        def work(part: NDArray[np.int64]) -> None:
            _kernels.chain_terms(self.noise.code, self.lists, part, place, self.value, self.slope)

        if self.threads == 1 or len(numbers) < LISTS_WORTH_SPLITTING:
            work(numbers)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(work, np.array_split(numbers, PARTS)))
        own = slice(None) if which is None else np.isin(self.entry_list, numbers)
        self._check_slopes(place[own], self.slope[own])

    def _check_slopes(self, place: Floats, slope: Floats) -> None:
        """Refuse lists so long that rounding has left no digit of the slopes.

        A search would go on with them for hours, and find nothing.
        """
        if len(place) and np.abs(slope).max() > STEEPEST * (1.0 + np.ptp(place)):
            raise InputError(
                f"There are rankings of up to {int(self.lists.length.max()):,} items. Under "
                f"{self.noise.name} noise the chances of rankings so long cannot be worked out "
                "to any digit. Use a model with Gumbel noise (hbtl or btl), which takes rankings "
                "of any length, or take out items until they are shorter."
            )

    def places(self, score: Floats, accuracy: Floats) -> Floats:
        """``accuracy * score`` of every entry."""
        return np.asarray(accuracy[self.entry_judge] * score[self.lists.item])

    def total(self) -> float:
        """The loss of all lists."""
        return float(self.lists.weight @ self.value)

    def values_by_judge(self) -> Floats:
        """The loss of each judge's lists."""
        lists = self.lists
        return total_weight(lists.judge, lists.weight * self.value, len(lists.start) - 1)

    def by_judge(self, of_entry: Floats) -> Floats:
        """Sum over the entries of each judge's lists, weighted."""
        weight = self.lists.weight[self.entry_list]
        return total_weight(self.entry_judge, weight * of_entry, len(self.lists.start) - 1)

    def score_slope(self, accuracy: Floats, n_items: int) -> Floats:
        """The slope of the loss in the scores."""
        pull = self.lists.weight[self.entry_list] * accuracy[self.entry_judge] * self.slope
        return total_weight(self.lists.item, pull, n_items)

    def find_accuracies(
        self, rule: AccuracyRule, score: Floats, accuracy: Floats, others: Derivatives
    ) -> None:
        """Set each accuracy to its best, given the scores; lists are worked out there."""
        m = len(accuracy)
        search = np.tile([np.nan, np.nan, np.inf], (m, 1))
        done = np.zeros(m, dtype=np.bool_)
        np.clip(accuracy, -rule.bound, rule.bound, out=accuracy)
        was, slope_was, bend_was = accuracy.copy(), np.zeros(m), np.ones(m)
        judges = np.arange(m)
        for step in range(_kernels.NEWTON_STEPS):
            slope, bend = self._derivatives(rule, score, accuracy, judges, others)
            if step:
                moved = accuracy[judges] - was[judges]
                secant = (slope[judges] - slope_was[judges]) / np.where(moved, moved, 1.0)
                usual = bend_was[judges]
                usual = np.clip(secant, usual / LARGEST_LEAP, usual * LARGEST_LEAP)
                bend[judges] = np.where(moved == 0.0, bend_was[judges], usual)
            was[judges] = accuracy[judges]
            slope_was[judges], bend_was[judges] = slope[judges], bend[judges]
            _kernels.next_accuracies(rule, judges, accuracy, slope, bend, search, done)
            judges = judges[~done[judges]]
            if not len(judges):
                break
        still = np.abs(accuracy - was) <= NO_MOVE * (1.0 + np.abs(was))
        accuracy[still] = was[still]
        again = np.flatnonzero(~still[self.lists.judge])
        if len(again):
            self.work_out(self.places(score, accuracy), again)

    def _derivatives(
        self,
        rule: AccuracyRule,
        score: Floats,
        accuracy: Floats,
        judges: NDArray[np.int64],
        others: Derivatives,
    ) -> tuple[Floats, Floats]:
        """Derivatives in the accuracies of some judges; the second ones are about right."""
        lists, seen = self.lists, score[self.lists.item]
        active = np.zeros(len(accuracy), dtype=np.bool_)
        active[judges] = True
        which = np.flatnonzero(active[lists.judge])
        place = self.places(score, accuracy)
        self.work_out(place, which)
        usual, list_bend = np.empty(len(place)), np.zeros(lists.number)
        _kernels.luce_terms(lists, which, place, seen, usual, list_bend)
        slope, bend = others(judges)
        slope += self.by_judge(self.slope * seen) + rule.precision * (accuracy - rule.mean)
        weight = lists.weight * self.likeness * list_bend
        bend += np.bincount(lists.judge, weight, len(accuracy)) + rule.precision
        return slope, bend

    def ready(self, place: Floats) -> ReadyLists:
        """Slopes and, by their central differences, second derivatives in the places."""
        lists = self.lists
        length = lists.length
        begin = np.concatenate(([0], np.cumsum(length**2)))
        hessian = np.empty(int(begin[-1]))
        step = _kernels.DIFFERENCE * self.noise.code.width
        within = np.arange(len(place)) - lists.begin[self.entry_list]
        for position in range(int(length.max(initial=0))):
            which = np.flatnonzero(length > position)
            found = []
            for move in (step, -step):
                moved = place.copy()
                moved[lists.begin[which] + position] += move
                self.work_out(moved, which)
                found.append(self.slope.copy())
            entry = np.flatnonzero(length[self.entry_list] > position)
            at = self.entry_list[entry]
            row = begin[at] + position * length[at] + within[entry]
            hessian[row] = (found[0][entry] - found[1][entry]) / (2.0 * step)
        self.work_out(place)
        return ReadyLists(self.slope.copy(), _symmetric(hessian, begin, length), begin)


def _symmetric(hessian: Floats, begin: NDArray[np.int64], length: NDArray[np.int64]) -> Floats:
    """The mean of each matrix and its transpose."""
    for size in np.unique(length):
        entries = begin[:-1][length == size, None] + np.arange(size * size)
        matrix = hessian[entries].reshape(-1, size, size)
        hessian[entries] = (0.5 * (matrix + matrix.transpose(0, 2, 1))).reshape(len(entries), -1)
    return hessian
