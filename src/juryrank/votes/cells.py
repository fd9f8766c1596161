"""Cells: all that one judge has said of one item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.votes.lists import Lists

Mask = NDArray[np.bool_]


class Cells(NamedTuple):
    """Pairs of a judge and an item, by code."""

    judge: NDArray[np.int64]
    item: NDArray[np.int64]

    def of_judges(self, judges: slice) -> Cells:
        """Those of the judges from ... to, counted from 0."""
        here = (self.judge >= judges.start) & (self.judge < judges.stop)
        return Cells(self.judge[here] - judges.start, self.item[here])


def pairs_in_cells(
    start: NDArray[np.int64], one: NDArray[np.int32], other: NDArray[np.int32], cells: Cells
) -> Mask:
    """Which votes on pairs are in the cells."""
    inside = np.zeros(len(one), dtype=np.bool_)
    for u in np.unique(cells.judge):
        own = slice(start[u], start[u + 1])
        for item in cells.item[cells.judge == u]:
            inside[own] |= (one[own] == item) | (other[own] == item)
    return inside


def entries_in_cells(lists: Lists, cells: Cells) -> Mask:
    """Which entries of lists are in the cells."""
    inside = np.zeros(len(lists.item), dtype=np.bool_)
    for u, i in zip(cells.judge, cells.item, strict=True):
        own = slice(lists.begin[lists.start[u]], lists.begin[lists.start[u + 1]])
        inside[own] |= lists.item[own] == i
    return inside
