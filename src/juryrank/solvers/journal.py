"""The journal of a fit: what its evaluations have found, so that a stopped fit can go on.

A fit is a sequence of searches (see `juryrank.solvers.profile`), and each evaluation of a search is
decided by those before it. So what is kept of a search is what every evaluation has found,

    value, gradient            and by what state, as a digest
    curvature, accuracy        where it was measured, and after how many evaluations
    accuracy                   after the last evaluation, from which the next one starts,

and of a search that is over its solution. A fit that is done again takes what is in the journal
instead of going through the votes, arrives where it was stopped, and goes on to the same answer, to
the last bit. If something is not as it was, such as the state that an evaluation is asked for at,
what is in the journal from there on is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.model.objective import Curvature, Objective
from juryrank.solvers.solution import Solution
from juryrank.types import Floats

Found = tuple[float, Floats]
"""Value and gradient."""


class Evaluation(NamedTuple):
    """What was found at a state."""

    state: str
    """Its digest."""
    value: float
    gradient: Floats


class Measured(NamedTuple):
    """A curvature."""

    curvature: Curvature
    accuracy: Floats
    """The accuracies there."""
    after: int
    """So many evaluations."""


class Known(NamedTuple):
    """What is known of a search that is not over; it belongs together, and is never changed."""

    evaluations: tuple[Evaluation, ...] = ()
    accuracy: Floats | None = None
    """After the last of them."""
    measured: Measured | None = None

    def until(self, number: int) -> Known:
        """The same as if only so many evaluations had been made; the accuracy stays, as a guess."""
        measured = self.measured
        if measured is not None and measured.after > number:
            measured = None
        return self._replace(evaluations=self.evaluations[:number], measured=measured)


NOTHING_KNOWN = Known()


@dataclass(eq=False)
class Search:
    """One search of a journal."""

    begun: str
    """A digest of where it began."""
    known: Known = NOTHING_KNOWN
    solution: Solution | None = None
    """None while it is not over."""
    steps: list[tuple[float, float]] = field(default_factory=list)
    """Value and size of the gradient at each evaluation, as they are told."""
    keep: Callable[[], None] = lambda: None
    """Called when something has been found."""
    _at: int = 0

    def evaluated(self, objective: Objective, state: Floats, accuracy: Floats) -> Found:
        """Value and gradient of the profile; the accuracies follow when all that is known is."""
        digest, known = digest_of(state), self.known
        following = known.evaluations[self._at : self._at + 1]
        if following and following[0].state == digest:
            return self._taken(following[0], accuracy)
        if following and known.accuracy is not None:  # they are a good guess here as well
            accuracy[:] = known.accuracy
        value, gradient = objective.profile(state, accuracy)
        known = known.until(self._at)
        evaluations = (*known.evaluations, Evaluation(digest, value, gradient.copy()))
        self.known = known._replace(evaluations=evaluations, accuracy=accuracy.copy())
        self._at += 1
        self.keep()
        return value, gradient

    def _taken(self, found: Evaluation, accuracy: Floats) -> Found:
        self._at += 1
        if self._at == len(self.known.evaluations) and self.known.accuracy is not None:
            accuracy[:] = self.known.accuracy
        return found.value, found.gradient.copy()

    def curvature(self, objective: Objective, state: Floats, accuracy: Floats) -> Curvature:
        """The curvature at the last evaluation, and the accuracies there."""
        measured = self.known.measured
        if measured is not None and measured.after == self._at:
            accuracy[:] = measured.accuracy
            return measured.curvature
        found = objective.curvature(state, accuracy)
        measured = Measured(found, accuracy.copy(), self._at)
        self.known = self.known.until(self._at)._replace(measured=measured)
        self.keep()
        return found

    def end(self, solution: Solution) -> None:
        """Keep the solution, and forget how it was found."""
        self.solution = replace(solution, accuracy=solution.accuracy.copy())
        self.known = NOTHING_KNOWN
        self.keep()


class Journal:
    """The searches of a fit in their order."""

    def __init__(self, searches: list[Search], keep: Callable[[Journal], None]) -> None:
        self.searches = searches
        self._keep = keep
        self._at = 0
        for search in searches:
            search.keep = self._kept

    def next_search(self, objective: Objective, state: Floats, accuracy: Floats) -> Search:
        """What is known of the next search, if it begins here; else it is new."""
        begun = digest_of(
            state, accuracy, np.array([objective.volume, objective.votes.pairs.number]),
            said=repr(objective.prior),
        )  # fmt: skip
        if self._at == len(self.searches) or self.searches[self._at].begun != begun:
            self.searches[self._at :] = [Search(begun, keep=self._kept)]
        self._at += 1
        return self.searches[self._at - 1]

    def _kept(self) -> None:
        self._keep(self)


def digest_of(*arrays: NDArray[np.generic], said: str = "") -> str:
    """A digest of arrays, bit for bit, and of what is said beside them."""
    found = blake2b(said.encode(), digest_size=16)
    for array in arrays:
        found.update(np.ascontiguousarray(array).view(np.uint8).data)
    return found.hexdigest()
