"""Whether a judge agrees with itself, counted: against plain Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank import _core

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] != p[1]))


@settings(max_examples=200, deadline=None)
@given(pairs, pairs)
def test_counts_are_those_of_plain_python(
    voted: list[tuple[int, int]], implied: list[tuple[int, int]]
) -> None:
    def beats(i: int, j: int) -> bool:
        return voted.count((i, j)) > voted.count((j, i))

    triads = circular = 0
    for three in combinations(range(7), 3):
        if not all(beats(i, j) or beats(j, i) for i, j in combinations(three, 2)):
            continue
        triads += 1
        circular += all(sum(beats(i, j) for j in three) == 1 for i in three)
    both = voted + implied
    answers = [(a, b) for a, b in combinations(both, 2) if set(a) == set(b)]
    repeated = sum(a == b for a, b in answers)

    def column(of: list[tuple[int, int]], which: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.array([pair[which] for pair in of], dtype=np.int32)

    found = _core.consistency(
        winner=column(voted, 0), loser=column(voted, 1),
        better=column(implied, 0), worse=column(implied, 1),
    )  # fmt: skip
    assert found == (triads, circular, len(answers), repeated)


def test_wrong_calls_raise() -> None:
    one, two = np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)
    with pytest.raises(ValueError, match="loser"):
        _core.consistency(winner=one, loser=two, better=one, worse=one)
    with pytest.raises(ValueError, match="worse"):
        _core.consistency(winner=one, loser=one, better=two, worse=one)
    with pytest.raises(TypeError):
        _core.consistency(winner=np.zeros(1), loser=one, better=one, worse=one)  # type: ignore[arg-type]
