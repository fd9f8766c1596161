"""Coded votes against votes written out one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lists_help import made, random_rows
from numerics_help import with_pairs

from juryrank.votes import storage
from juryrank.votes.cells import Cells
from juryrank.votes.coded import CodedVotes, Splitting
from juryrank.votes.passes import Own, Pass
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE

seeds = st.integers(0, 10_000)
JUDGES, ITEMS = 5, 6


class Pair(NamedTuple):
    winner: int
    loser: int
    weight: float
    tied: bool | None
    side: int | None


class Ranked(NamedTuple):
    levels: tuple[tuple[int, int], ...]
    """Items and their levels, from the best down."""
    ranked: int
    weight: float


class Said(NamedTuple):
    """What one judge said."""

    pairs: list[Pair]
    lists: list[Ranked]


def votes_of(seed: int, *, ties: bool = True, sides: bool = True) -> CodedVotes:
    rows = random_rows(seed, n_items=ITEMS, judges=JUDGES, rows=60)
    return made(rows, items=range(ITEMS)).for_model(ties=ties, sides=sides)


def in_files(votes: CodedVotes) -> CodedVotes:
    columns = {}
    for name, column in votes.pairs.columns().items():
        columns[name] = storage.new_mapped(len(column), column.dtype)
        columns[name][:] = column
    return with_pairs(votes, **columns)


def written_out(votes: CodedVotes) -> list[Said]:
    """Every vote of every judge, read off the arrays one by one."""
    pairs, lists, found = votes.pairs, votes.lists, []
    for u in range(votes.n_judges):
        own = [
            Pair(
                int(pairs.winner[k]),
                int(pairs.loser[k]),
                1.0 if pairs.given_weight is None else float(pairs.given_weight[k]),
                None if pairs.tied is None else bool(pairs.tied[k]),
                None if pairs.side is None else int(pairs.side[k]),
            )
            for k in range(pairs.start[u], pairs.start[u + 1])
        ]
        ranked = [
            Ranked(
                tuple(
                    (int(lists.item[e]), int(lists.level[e]))
                    for e in range(lists.begin[k], lists.begin[k + 1])
                ),
                int(lists.ranked[k]),
                float(lists.weight[k]),
            )
            for k in range(lists.start[u], lists.start[u + 1])
        ]
        found.append(Said(own, ranked))
    return found


@pytest.mark.parametrize("where", ["in memory", "in files"])
@settings(max_examples=25, deadline=None)
@given(seed=seeds, most=st.integers(1, 40))
def test_chunks_are_all_votes_one_after_the_other(where: str, seed: int, most: int) -> None:
    votes = votes_of(seed) if where == "in memory" else in_files(votes_of(seed))
    assert votes.in_memory == (where == "in memory")
    together: list[Said] = []
    judges: list[int] = []
    for some, part in votes.chunks(most):
        assert part.pairs.number <= most or part.n_judges == 1
        judges += range(votes.n_judges)[some]
        together += written_out(part)
    assert judges == list(range(votes.n_judges))
    assert together == written_out(votes)


@dataclass(frozen=True, eq=False)
class Bounds(Pass[CodedVotes, tuple[int, int]]):
    def __call__(self, _here: CodedVotes, first: int, last: int, _own: Own) -> tuple[int, int]:
        return first, last


@pytest.mark.parametrize("threads", [1, 3])
def test_every_judge_is_in_one_chunk_of_a_sum(threads: int) -> None:
    always = Splitting(votes_worth_it=1, votes_worth_threads=1)
    votes = replace(votes_of(1), splitting=always)
    bounds = list(votes.over_chunks(Bounds(), threads=threads))
    assert len(bounds) > 1
    assert [first for first, _ in bounds] == [0, *(last for _, last in bounds[:-1])]
    assert bounds[-1][1] == votes.n_judges


@settings(max_examples=25, deadline=None)
@given(seed=seeds, judges=st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_judges_may_be_named_several_times(seed: int, judges: list[int]) -> None:
    votes = votes_of(seed)
    judges = [u % votes.n_judges for u in judges]
    whole = written_out(votes)
    assert written_out(votes.of_judges(np.array(judges))) == [whole[u] for u in judges]


def without_by_hand(said: Said, items: set[int]) -> Said:
    pairs = [pair for pair in said.pairs if not {pair.winner, pair.loser} & items]
    lists = []
    for one in said.lists:
        kept = [(at, entry) for at, entry in enumerate(one.levels) if entry[0] not in items]
        ranked = sum(at < one.ranked for at, _ in kept)
        if len(kept) >= 2 and ranked:
            lists.append(Ranked(tuple(entry for _, entry in kept), ranked, one.weight))
    return Said(pairs, lists)


@pytest.mark.parametrize("where", ["in memory", "in files"])
@settings(max_examples=25, deadline=None)
@given(seed=seeds, cells=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=5))
def test_without_cells(where: str, seed: int, cells: set[tuple[int, int]]) -> None:
    votes = votes_of(seed) if where == "in memory" else in_files(votes_of(seed))
    named = np.array(sorted((u % votes.n_judges, i) for u, i in cells), dtype=np.int64)
    judge, item = named.reshape(-1, 2).T
    kept = votes.without(Cells(judge, item))
    assert kept.in_memory == votes.in_memory
    assert written_out(kept) == [
        without_by_hand(said, {i for v, i in named.tolist() if v == u})
        for u, said in enumerate(written_out(votes))
    ]


@pytest.mark.parametrize("weights", ["given", "all one"])
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_reweighted(weights: str, seed: int) -> None:
    votes = votes_of(seed)
    if weights == "all one":
        votes = with_pairs(votes, given_weight=None)
    times = np.linspace(0.5, 2.0, votes.n_judges)
    found = written_out(votes.reweighted(times))
    for said, again, time in zip(written_out(votes), found, times.tolist(), strict=True):
        assert again.pairs == [pair._replace(weight=pair.weight * time) for pair in said.pairs]
        assert again.lists == [one._replace(weight=one.weight * time) for one in said.lists]


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_averages_give_every_judge_the_same_weight(seed: int) -> None:
    votes = votes_of(seed)
    total = votes.averaged().votes_per_judge
    assert total == pytest.approx(np.full(votes.n_judges, 1.0 / votes.n_judges))


@pytest.mark.parametrize("sides", [True, False])
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_merged_votes_say_the_same(sides: bool, seed: int) -> None:
    votes = votes_of(seed, sides=sides)
    twice = with_pairs(
        votes,
        start=2 * votes.pairs.start,
        **{name: np.repeat(column, 2) for name, column in votes.pairs.columns().items()},
    )

    def tallies(pairs: list[Pair]) -> dict[object, float]:
        found: dict[object, float] = {}
        for pair in pairs:
            ends = [pair.winner, pair.loser]
            either_way = pair.tied and not sides
            said = (*(sorted(ends) if either_way else ends), pair.tied, pair.side)
            found[said] = found.get(said, 0.0) + pair.weight
        return found

    whole, merged = written_out(twice), written_out(twice.merged())
    for said, again in zip(whole, merged, strict=True):
        assert again.lists == said.lists
        assert tallies(again.pairs) == pytest.approx(tallies(said.pairs))
        assert len(again.pairs) == len(tallies(said.pairs))


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_recoded_by_who_has_voted_on_what(seed: int) -> None:
    votes = votes_of(seed)
    judge, item = votes.judges_and_items()
    count = Counter(zip(judge.tolist(), item.tolist(), strict=True))
    by_hand: Counter[tuple[int, int]] = Counter()
    for u, said in enumerate(written_out(votes)):
        for pair in said.pairs:
            by_hand.update([(u, pair.winner), (u, pair.loser)])
        for one in said.lists:
            by_hand.update((u, i) for i, _ in one.levels)
    assert count == by_hand
    turned = votes.recoded((ITEMS - 1 - item).astype(np.int32), ITEMS)
    again = turned.recoded((ITEMS - 1 - turned.judges_and_items()[1]).astype(np.int32), ITEMS)
    assert written_out(again) == written_out(votes)
    assert written_out(turned) != written_out(votes)


@settings(max_examples=25, deadline=None)
@given(seed=seeds, share=st.floats(0.0, 1.0))
def test_some_votes_of_some_judges(seed: int, share: float) -> None:
    votes, rng = votes_of(seed), np.random.default_rng(seed)
    judges = np.flatnonzero(rng.random(votes.n_judges) < 0.7)
    pairs = np.isin(votes.pairs.judge, judges) & (rng.random(votes.pairs.number) < share)
    lists = np.isin(votes.lists.judge, judges) & (rng.random(votes.lists.number) < share)
    found = written_out(votes.taken(np.flatnonzero(pairs), np.flatnonzero(lists), judges))
    whole = written_out(votes)
    for u, said in zip(judges.tolist(), found, strict=True):
        own, its_lists = (pairs[votes.pairs.judge == u], lists[votes.lists.judge == u])
        assert said.pairs == [p for p, kept in zip(whole[u].pairs, own, strict=True) if kept]
        assert said.lists == [k for k, kept in zip(whole[u].lists, its_lists, strict=True) if kept]


@settings(max_examples=25, deadline=None)
@given(seed=seeds, item=st.integers(0, ITEMS - 1))
def test_votes_on_an_item(seed: int, item: int) -> None:
    votes = votes_of(seed)
    for said, on in zip(written_out(votes), written_out(votes.on_item(item)), strict=True):
        assert on.pairs == [pair for pair in said.pairs if item in (pair.winner, pair.loser)]
        assert on.lists == [one for one in said.lists if item in dict(one.levels)]


def test_ties_may_become_possible_and_impossible() -> None:
    votes = votes_of(3)
    assert votes.tie_sizes == (2, 3)
    assert votes.with_ties(possible=True).pairs.tied is votes.pairs.tied
    impossible = votes.with_ties(possible=False)
    assert impossible.pairs.tied is None
    again = impossible.with_ties(possible=True).pairs.tied
    assert again is not None
    assert not again.any()
    alone = replace(
        impossible,
        lists=votes.lists._replace(level=np.arange(len(votes.lists.item), dtype=np.int32)),
    )
    assert alone.tie_sizes == ()


def test_what_is_not_there_is_none() -> None:
    votes = votes_of(1, ties=False, sides=False)
    assert votes.pairs.tied is None
    assert votes.pairs.side is None
    assert votes.pairs.columns().keys() == {"winner", "loser", "given_weight"}
    plain = with_pairs(votes, given_weight=None)
    assert plain.pairs.weight.tolist() == [1.0] * plain.pairs.number


# --- votes are kept once -------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_what_a_model_counts_is_not_a_copy(seed: int) -> None:
    votes = made(random_rows(seed, rows=60), items=range(ITEMS))
    pairs = votes.for_model(ties=True, sides=True).pairs
    assert pairs.winner is votes.winner
    assert pairs.loser is votes.loser


@pytest.mark.parametrize("sides", [True, False])
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_a_tie_is_half_a_win_for_each_side(sides: bool, seed: int) -> None:
    votes = made(random_rows(seed, rows=60), items=range(ITEMS))
    found = [pair for said in written_out(votes.for_model(sides=sides)) for pair in said.pairs]
    expected = []
    for left, right, said, weight in zip(
        votes.left.tolist(), votes.right.tolist(), votes.outcome, votes.weight, strict=True
    ):
        to_the_left = Pair(left, right, float(weight), None, 1 if sides else None)
        to_the_right = Pair(right, left, float(weight), None, -1 if sides else None)
        if said == TIE:
            halves = (to_the_right, to_the_left)
            expected += [half._replace(weight=0.5 * half.weight) for half in halves]
        else:
            expected.append(to_the_left if said == LEFT_WON else to_the_right)
    assert found == expected


@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_other_answers_to_the_same_questions(seed: int) -> None:
    votes = made(random_rows(seed, rows=60), items=range(ITEMS))
    outcome = np.random.default_rng(seed).integers(-1, 2, votes.n_pairs).astype(np.int8)
    again = votes.with_outcomes(outcome)
    assert again.left.tolist() == votes.left.tolist()
    assert again.right.tolist() == votes.right.tolist()
    won = np.where(outcome == RIGHT_WON, votes.right, votes.left)
    assert again.winner.tolist() == won.tolist()
