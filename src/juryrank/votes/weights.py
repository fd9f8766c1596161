"""Weights of votes, and their sums: of each judge, of each item, of any code.

Most votes have a weight of 1. Such weights are a view of a single number (`equal_weights`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from juryrank.types import Floats
from juryrank.votes.lists import judge_codes
from juryrank.votes.storage import give_back, pieces, ranges


def total_weight(
    codes: NDArray[np.int32] | NDArray[np.int64], weight: Floats, count: int
) -> Floats:
    """Sum the weights of each code below `count`."""
    total = np.zeros(count)
    for some in pieces(len(codes)):
        total += np.bincount(codes[some], weights=weight[some], minlength=count)
        give_back(codes[some], weight[some])
    return total


def weight_per_judge(start: NDArray[np.int64], weight: Floats) -> Floats:
    """Sum the weights of each judge's votes."""
    if are_equal_weights(weight):
        return np.diff(start).astype(np.float64)
    total = np.zeros(len(start) - 1)
    for first, end in ranges(start):
        own = weight[start[first] : start[end]]
        judge = judge_codes(start[first : end + 1])
        total[first:end] = total_weight(judge, own, end - first)
    return total


def equal_weights(count: int) -> Floats:
    """Weights that are all 1, and take no memory."""
    return np.broadcast_to(np.float64(1.0), count)


def are_equal_weights(weight: Floats) -> bool:
    """Whether these are `equal_weights`."""
    return weight.strides == (0,)


def given(weight: Floats) -> Floats | None:
    """The weights; None if they are `equal_weights`."""
    return None if are_equal_weights(weight) else weight


def weights_taken(weight: Floats, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Floats:
    """Some of the weights."""
    if not are_equal_weights(weight):
        return weight[rows]
    return equal_weights(int(rows.sum()) if rows.dtype == np.bool_ else len(rows))
