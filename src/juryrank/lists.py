"""`Lists`: coded votes on more than two items: rankings, best k of a set, one choice from a set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Lists(NamedTuple):
    """Votes on three items or more, sorted by judge; each lists its items from the best down.

    The lists of judge ``u`` are ``start[u]`` to ``start[u + 1]``; the items of list ``k`` are
    ``item[begin[k]:begin[k + 1]]``. The first ``ranked[k]`` of them are ranked: `level` counts up
    from 0, and items of one level are tied. The others are below them, in no order, and share the
    next level (one such item is not left over: it is ranked last).
    """

    start: NDArray[np.int64]
    begin: NDArray[np.int64]
    item: NDArray[np.int32]
    level: NDArray[np.int32]
    ranked: NDArray[np.int32]
    weight: NDArray[np.float64]

    @property
    def number(self) -> int:
        """How many lists there are."""
        return len(self.ranked)


def no_lists(n_judges: int) -> Lists:
    """No votes on more than two items."""
    nothing = np.empty(0, dtype=np.int32)
    return Lists(
        start=np.zeros(n_judges + 1, dtype=np.int64),
        begin=np.zeros(1, dtype=np.int64),
        item=nothing,
        level=nothing,
        ranked=nothing,
        weight=np.empty(0),
    )
