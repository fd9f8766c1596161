"""Cells, all votes of one judge on one item: against plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank import _core
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.lists import Lists, no_lists

N_ITEMS = 6

pair = st.tuples(
    st.integers(0, 3), st.permutations(range(N_ITEMS)), st.booleans(), st.floats(0.0, 5.0)
)
ranking = st.tuples(
    st.integers(0, 3),
    st.permutations(range(N_ITEMS)),
    st.integers(2, N_ITEMS),
    st.lists(st.booleans(), min_size=N_ITEMS, max_size=N_ITEMS),
    st.floats(0.0, 5.0),
)


def coded(pairs: list[Any], rankings: list[Any]) -> CodedVotes:
    pairs, rankings = sorted(pairs, key=lambda p: p[0]), sorted(rankings, key=lambda r: r[0])
    judges = np.arange(5)
    start = np.searchsorted([p[0] for p in pairs], judges).astype(np.int64)
    lists = no_lists(4)
    if rankings:
        level = [np.cumsum([0, *(not tied for tied in r[3][1 : r[2]])]) for r in rankings]
        lists = Lists(
            np.searchsorted([r[0] for r in rankings], judges).astype(np.int64),
            np.cumsum([0, *(r[2] for r in rankings)]).astype(np.int64),
            np.concatenate([r[1][: r[2]] for r in rankings]).astype(np.int32),
            np.concatenate(level).astype(np.int32),
            np.array([r[2] for r in rankings], dtype=np.int32),
            np.array([r[4] for r in rankings]),
        )
    return CodedVotes(
        N_ITEMS,
        Pairs(
            start,
            np.array([p[1][0] for p in pairs], dtype=np.int32),
            np.array([p[1][1] for p in pairs], dtype=np.int32),
            np.array([p[3] for p in pairs], dtype=np.float64),
            np.array([p[2] for p in pairs], dtype=np.bool_),
        ),
        lists,
    )


def told(votes: CodedVotes) -> list[tuple[int, dict[int, float], float]]:
    """Each vote: its judge, the share that each of its items has won, and its weight."""
    found = []
    pairs, lists = votes.pairs, votes.lists
    for u in range(votes.n_judges):
        for k in range(pairs.start[u], pairs.start[u + 1]):
            tied = pairs.tied is not None and pairs.tied[k]
            won = {int(pairs.winner[k]): 0.5 if tied else 1.0}
            won[int(pairs.loser[k])] = 0.5 if tied else 0.0
            found.append((u, won, float(pairs.weight[k])))
        for k in range(lists.start[u], lists.start[u + 1]):
            item = lists.item[lists.begin[k] : lists.begin[k + 1]].tolist()
            level = lists.level[lists.begin[k] : lists.begin[k + 1]].tolist()
            won = {
                i: sum((a < b) + 0.5 * (a == b) for j, b in zip(item, level, strict=True) if j != i)
                / (len(item) - 1)
                for i, a in zip(item, level, strict=True)
            }
            found.append((u, won, float(lists.weight[k])))
    return found


@settings(max_examples=80, deadline=None)
@given(st.lists(pair, max_size=40), st.lists(ranking, max_size=8), st.floats(0.5, 6.0))
def test_cells_are_those_of_plain_python(
    pairs: list[Any], rankings: list[Any], limit: float
) -> None:
    votes = coded(pairs, rankings)
    given_votes, known = told(votes), (votes.core_pairs, votes.core_lists)
    number: Counter[tuple[int, int]] = Counter()
    weight: defaultdict[tuple[int, int], float] = defaultdict(float)
    won: defaultdict[tuple[int, int], float] = defaultdict(float)
    for judge, shares, w in given_votes:
        for item, share in shares.items():
            number[judge, item] += 1
            weight[judge, item] += w
            won[judge, item] += w * share

    counts = Counter(min(count, 3) for count in number.values())
    assert _core.cell_counts(*known, 3).tolist() == [counts[k] for k in range(4)]

    factor = [
        min(1.0, limit / max(1e-300, *(weight[judge, item] for item in shares)))
        for judge, shares, _ in given_votes
    ]
    is_pair = [len(shares) == 2 for _, shares, _ in given_votes]
    of_pairs, of_lists = _core.capped_weights(*known, limit)
    capped = np.array([f * w for f, (_, _, w) in zip(factor, given_votes, strict=True)])
    # A ranking of two items stands among the lists here, and is told from a pair by its place.
    by_judge = _split(votes, capped)
    assert len(is_pair) == len(of_pairs) + len(of_lists)
    tiny = np.finfo(np.float64).tiny  # below which half of a weight is rounded up or down
    np.testing.assert_allclose(of_pairs, by_judge[0], rtol=1e-12, atol=tiny)
    np.testing.assert_allclose(of_lists, by_judge[1], rtol=1e-12, atol=tiny)

    item_won, played, judges = _core.item_totals(*known)
    for i in range(N_ITEMS):
        cells = [cell for cell in number if cell[1] == i]
        assert judges[i] == len(cells)
        assert played[i] == pytest.approx(sum(weight[cell] for cell in cells))
        assert item_won[i] == pytest.approx(sum(won[cell] for cell in cells))

    judges_of, items_of, its_won, its_weight = _core.heavy_cells(*known, limit)
    found = list(zip(judges_of.tolist(), items_of.tolist(), strict=True))
    margin = 1e-9 * (1.0 + limit)
    assert found == sorted(found)
    assert {c for c in number if weight[c] > limit + margin} <= set(found)
    assert set(found) <= {c for c in number if weight[c] > limit - margin}
    np.testing.assert_allclose(its_weight, [weight[c] for c in found], rtol=1e-12)
    np.testing.assert_allclose(its_won, [won[c] for c in found], rtol=1e-12)


def _split(votes: CodedVotes, capped: np.ndarray[Any, Any]) -> tuple[list[float], list[float]]:
    """What `told` has of each vote, of pairs and of lists."""
    of_pairs, of_lists, at = [], [], 0
    for u in range(votes.n_judges):
        pairs = int(votes.pairs.start[u + 1] - votes.pairs.start[u])
        lists = int(votes.lists.start[u + 1] - votes.lists.start[u])
        of_pairs += capped[at : at + pairs].tolist()
        of_lists += capped[at + pairs : at + pairs + lists].tolist()
        at += pairs + lists
    return of_pairs, of_lists


def test_wrong_calls_raise() -> None:
    votes = coded([(0, [0, 1], False, 1.0)], [])
    beyond = _core.PairVotes(
        start=np.array([0, 1]), winner=np.array([N_ITEMS], dtype=np.int32),
        loser=np.array([0], dtype=np.int32), weight=None, tied=None, side=None, n_items=N_ITEMS,
    )  # fmt: skip
    other = coded([], [(0, list(range(N_ITEMS)), 3, [False] * N_ITEMS, 1.0)]).lists
    of_one = _core.ListVotes(**other._replace(start=np.array([0, 1]))._asdict(), n_items=N_ITEMS)
    of_more = _core.ListVotes(**other._asdict(), n_items=N_ITEMS + 1)
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (_core.cell_counts, (3,)),
        (_core.capped_weights, (1.0,)),
        (_core.item_totals, ()),
        (_core.heavy_cells, (1.0,)),
    ]
    for call, argument in calls:
        call(votes.core_pairs, None, *argument)
        for pairs, lists in (
            (beyond, None),
            (votes.core_pairs, of_one),
            (votes.core_pairs, of_more),
        ):
            with pytest.raises(ValueError, match=r"code|judges|items"):
                call(pairs, lists, *argument)
        with pytest.raises(TypeError):
            call(votes.core_pairs, "lists", *argument)
    with pytest.raises(TypeError):
        _core.cell_counts(votes.core_pairs, None, -1)
