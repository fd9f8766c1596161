"""Effects: what decides votes beside scores and accuracies, and where it stands in the state.

The state of a fit is one vector: the scores, then

    tie        log t_k for every size k of group that is tied somewhere,
    own tie    what is added to these for each judge (if they differ),
    order      what an item gains on the left side, added to ``accuracy * (s_left - s_right)``,
    own order  what is added to that for each judge (if they differ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from juryrank import _core
from juryrank.types import Floats

Entry = TypeVar("Entry", bound=np.generic)


@dataclass(frozen=True)
class EffectModel:
    """Which effects are estimated."""

    sizes: tuple[int, ...] = ()
    """Sizes of groups that can be tied; () if ties are no outcome."""
    ties_by_judge: bool = False
    order: bool = False
    order_by_judge: bool = False
    as_one: bool = False
    """Whether items that a ranking ties count as one; then there is one weight for all sizes."""

    @property
    def by_judge(self) -> bool:
        """Whether judges differ in some effect."""
        return self.ties_by_judge or self.order_by_judge


NO_EFFECTS = EffectModel()


@dataclass(frozen=True)
class Layout:
    """Where the effects stand in a state."""

    model: EffectModel
    n_items: int
    n_judges: int

    @property
    def tie(self) -> slice:
        """The weights of ties for all judges."""
        return slice(self.n_items, self.n_items + len(self.model.sizes))

    @property
    def own_tie(self) -> slice:
        """What is added to them for each judge."""
        return _after(self.tie, self.n_judges if self.model.ties_by_judge else 0)

    @property
    def order(self) -> slice:
        """What the left side gains with all judges."""
        return _after(self.own_tie, int(self.model.order))

    @property
    def own_order(self) -> slice:
        """What is added to that for each judge."""
        return _after(self.order, self.n_judges if self.model.order_by_judge else 0)

    @property
    def size(self) -> int:
        """How many unknowns the state has."""
        return int(self.own_order.stop)

    @property
    def indices(self) -> tuple[int, int, int, int]:
        """Where ties, own ties, order and own order begin; -1 for what is not estimated."""
        tie, own_tie, order, own_order = (
            part.start if part.stop > part.start else -1
            for part in (self.tie, self.own_tie, self.order, self.own_order)
        )
        return tie, own_tie, order, own_order

    def ties(self, state: Floats) -> Floats:
        """``log t_k``: a row for each judge, or one for all, and a column for each size."""
        tie = state[None, self.tie]
        return tie + state[self.own_tie, None] if self.model.ties_by_judge else tie

    def pair_ties(self, state: Floats) -> Floats | None:
        """The same of two items, for each judge or for all; None if they cannot be tied."""
        return self.ties(state)[:, 0] if 2 in self.model.sizes else None

    def orders(self, state: Floats) -> Floats:
        """What the left side gains: with each judge, or with all; empty if nothing."""
        order = state[self.order]
        return order + state[self.own_order] if self.model.order_by_judge else order

    def core_effects(self, state: Floats) -> _core.Effects:
        """The effects for the compiled code."""
        return _core.Effects(
            sizes=np.array(self.model.sizes, dtype=np.int64),
            tie=np.ascontiguousarray(self.ties(state)),
            order=np.ascontiguousarray(self.orders(state)),
            as_one=self.model.as_one,
        )

    def extended(self, state: Floats, other: Layout) -> Floats:
        """A state of other judges on the same items as one of these: single judges add nothing."""
        found = np.zeros(self.size)
        found[: self.n_items] = state[: self.n_items]
        found[self.tie], found[self.order] = state[other.tie], state[other.order]
        return found

    def for_judges(self, state: NDArray[Entry], judges: slice) -> NDArray[Entry]:
        """The part of a state that is about these judges alone."""
        if not self.model.by_judge:
            return state
        parts = (state[self.own_tie][judges], state[self.order], state[self.own_order][judges])
        return np.concatenate((state[: self.tie.stop], *parts))

    def indices_for(self, judges: slice) -> NDArray[np.int64]:
        """Where the unknowns of such a part stand in the whole."""
        return self.for_judges(np.arange(self.size), judges)

    def from_judges(self, found: Floats, judges: slice) -> Floats:
        """A vector or a matrix of such a part as one of the whole, with zeros for the rest."""
        if not self.model.by_judge:
            return found
        whole, at = np.zeros((self.size,) * found.ndim), self.indices_for(judges)
        whole[np.ix_(*(at,) * found.ndim)] = found
        return whole

    def totals(self, effects: Floats) -> Floats:
        """Effects as they are told: for a judge not what is added, but the sum."""
        found = effects.copy()
        for own, common in self.own_and_common():
            found[self._in_effects(own)] += effects[self._in_effects(common)][0]
        return found

    def total_variances(self, variance: Floats, joint: Floats | None) -> Floats:
        """Variances of these totals; without a `joint` covariance, parts are independent."""
        found = variance.copy()
        for own, common in self.own_and_common():
            mine, all_judges = self._in_effects(own), self._in_effects(common)
            found[mine] += variance[all_judges][0]
            if joint is not None:
                found[mine] += 2.0 * joint[all_judges, mine][0]
        return np.asarray(np.maximum(found, 0.0))

    def own_and_common(self) -> list[tuple[slice, slice]]:
        """What single judges add, and to what: ties to the weight of the smallest ones."""
        pairs = ((self.own_tie, self.tie), (self.own_order, self.order))
        return [(own, common) for own, common in pairs if own.stop > own.start]

    def _in_effects(self, part: slice) -> slice:
        return slice(part.start - self.n_items, part.stop - self.n_items)

    def add_gradients(self, gradient: Floats, tie: Floats, order: Floats, first: int = 0) -> None:
        """Add judges' derivatives, a row for each from `first` on, to the gradient of the state."""
        own = slice(first, first + len(tie))
        gradient[self.tie] += tie.sum(axis=0)
        if self.model.ties_by_judge:
            gradient[self.own_tie][own] += tie.sum(axis=1)
        if self.model.order:
            gradient[self.order] += order.sum()
        if self.model.order_by_judge:
            gradient[self.own_order][own] += order


def _after(part: slice, count: int) -> slice:
    return slice(part.stop, part.stop + count)
