"""What is to be known: the whole order, the best few, some items, tiers, or even intervals.

A target is a set of events, each of them true or false in a draw of the scores: this item is among
the best three; this item is better than that one. A question is worth what it tells of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from juryrank.active.beliefs import Beliefs
from juryrank.errors import InputError, listing
from juryrank.hints import did_you_mean_all
from juryrank.inference.opinions import Codes
from juryrank.types import Floats

Kind = Literal["order", "top", "items", "tiers", "widths"]
MOST_EVENTS = 400
"""The most uncertain events, where there are more."""
NEIGHBOURS = 3
"""How many ranks apart items may be to decide on each other's tiers."""
LEAST_FOCUS = 0.02
FORMS = "'order', 'top:3', 'item:NAME', a list of items, 'tiers' or 'widths'"


@dataclass(frozen=True)
class Target:
    """What questions are to tell of."""

    kind: Kind = "order"
    best: int = 0
    """How many, of "top"."""
    items: tuple[int, ...] = ()
    """The codes, of "items": of a single one the rank, of several their order."""
    text: str = "order"

    @property
    def words(self) -> str:
        """What it is about, in a sentence."""
        if self.kind == "top":
            return "the best item" if self.best == 1 else f"the best {self.best}"
        if self.kind == "items":
            return self.text
        known: dict[Kind, str] = {"tiers": "every tier", "widths": "the order of all items"}
        return known.get(self.kind, "the order of all items")

    def events(self, beliefs: Beliefs, open_items: Codes) -> NDArray[np.bool_] | None:
        """Draws of the events, a row for each; None for everything that scores are about."""
        if self.kind in ("order", "widths"):
            return None
        if self.kind == "top":
            near = self._near_the_edge(beliefs, open_items)
            score = beliefs.scores(near)
            sure = int((beliefs.mean[open_items] > beliefs.mean[near].max()).sum())
            rank = (-score).argsort(axis=0).argsort(axis=0)
            return _most_uncertain(rank < self.best - sure)
        one, other = self._pairs(beliefs, open_items)
        items, at = np.unique(np.concatenate((one, other)), return_inverse=True)
        score = beliefs.scores(items)
        return _most_uncertain(score[at[: len(one)]] > score[at[len(one) :]])

    def focus(self, beliefs: Beliefs, open_items: Codes) -> Floats:
        """How much each item matters, roughly: which pairs are worth a closer look."""
        mean, spread = beliefs.mean, np.sqrt(beliefs.variance)
        if self.kind == "widths":
            return np.asarray(beliefs.variance / beliefs.variance.mean())
        if self.kind == "top":
            order = np.sort(mean[open_items])[::-1]
            edge = 0.5 * (order[self.best - 1] + order[self.best])
            return _doubt((mean - edge) / spread)
        if self.kind == "items":
            found = np.full(len(mean), LEAST_FOCUS)
            if len(self.items) == 1:
                own = self.items[0]
                found = _doubt((mean - mean[own]) / np.hypot(spread, spread[own]))
            found[list(self.items)] = 1.0
            return found
        return np.ones(len(mean))

    def _near_the_edge(self, beliefs: Beliefs, open_items: Codes) -> Codes:
        """The items next to the last of the best, so many that it matters who of them is in."""
        order = open_items[np.argsort(-beliefs.mean[open_items], kind="stable")]
        first = max(0, self.best - MOST_EVENTS // 2)
        return order[first : first + MOST_EVENTS]

    def _pairs(self, beliefs: Beliefs, open_items: Codes) -> tuple[Codes, Codes]:
        """The pairs of items whose order is asked for."""
        order = open_items[np.argsort(-beliefs.mean[open_items], kind="stable")]
        if self.kind == "tiers":
            near = [(order[:-apart], order[apart:]) for apart in range(1, NEIGHBOURS + 1)]
            return _close(beliefs, *(np.concatenate(side) for side in zip(*near, strict=True)))
        chosen = np.array(self.items)
        if len(chosen) == 1:
            others = open_items[open_items != chosen[0]]
            return _close(beliefs, np.full(len(others), chosen[0]), others)
        first, second = np.triu_indices(len(chosen), 1)
        return _close(beliefs, chosen[first], chosen[second])


def _doubt(z: Floats) -> Floats:
    """1 where it is open on which side something is, less where it is surer."""
    below = scipy.special.ndtr(z)
    return np.asarray(np.maximum(4.0 * below * (1.0 - below), LEAST_FOCUS))


def _close(beliefs: Beliefs, one: Codes, other: Codes) -> tuple[Codes, Codes]:
    """Of many pairs those whose order is the least certain, by rough standard errors."""
    gap = np.abs(beliefs.mean[one] - beliefs.mean[other])
    z = gap / np.sqrt(beliefs.variance[one] + beliefs.variance[other])
    kept = np.argsort(z, kind="stable")[:MOST_EVENTS]
    return one[kept], other[kept]


def _most_uncertain(events: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if len(events) <= MOST_EVENTS:
        return events
    doubt = np.abs(events.mean(axis=1) - 0.5)
    return events[np.argsort(doubt, kind="stable")[:MOST_EVENTS]]


def widest_first(gain: Floats, beliefs: Beliefs, one: Codes, other: Codes) -> Floats:
    """For even intervals: what a question tells counts by the variance of its items."""
    variance = beliefs.variance
    return np.asarray(gain * (variance[one] + variance[other]) / (2.0 * variance.mean()))


def target_of(asked: object, items: Sequence[object], retired: Sequence[object] = ()) -> Target:
    """Read a target, of these items (by code)."""
    kind, _, rest = asked.partition(":") if isinstance(asked, str) else ("", "", "")
    if kind in ("order", "tiers", "widths") and asked == kind:
        return Target(kind, text=kind)  # type: ignore[arg-type]
    if kind == "top":
        open_count = len(items) - len(set(retired))
        return Target("top", best=_how_many(str(asked), rest, open_count), text=str(asked))
    code = {item: at for at, item in enumerate(items)}
    by_text = {str(item): item for item in items}
    if isinstance(asked, str):
        if kind == "item" and rest:
            named = _known([by_text.get(rest, rest)], code, asked, retired)
            return Target("items", items=named, text=f"the rank of {rest}")
        raise InputError(f"There is no target {asked!r}. A target is {FORMS}.")
    if not isinstance(asked, Sequence) and not hasattr(asked, "__iter__"):
        raise InputError(f"There is no target {asked!r}. A target is {FORMS}.")
    named = _known([by_text.get(str(item), item) for item in asked], code, asked, retired)
    if not named:
        raise InputError(f"The list of items of the target is empty. A target is {FORMS}.")
    return Target("items", items=named, text=f"the order of {listing(list(asked))}")


def _how_many(asked: str, rest: str, n_items: int) -> int:
    best = int(rest) if rest.isdecimal() else 0
    if not 1 <= best < n_items:
        raise InputError(
            f"The target {asked!r} must name how many are the best: from top:1 to "
            f"top:{n_items - 1}, one less than there are items."
        )
    return best


def _known(
    named: Sequence[object], code: dict[object, int], asked: object, retired: Sequence[object]
) -> tuple[int, ...]:
    strange = [item for item in named if item not in code]
    if strange:
        hint = did_you_mean_all(strange, list(code))
        raise InputError(f"The target names unknown items: {listing(strange)}.{hint}")
    gone = [item for item in named if item in set(retired)]
    if gone:
        raise InputError(f"The target names items that are retired: {listing(gone)}.")
    if len(set(named)) < len(named):
        raise InputError(f"The target names an item twice: {asked!r}.")
    return tuple(code[item] for item in named)
