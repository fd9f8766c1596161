"""Who beat whom, against slow and obvious definitions."""

from __future__ import annotations

from itertools import combinations, product

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.reading import votes_from
from juryrank.votes.connectivity import Connection, connection, lone_judges
from juryrank.votes.votes import LEFT_WON, RIGHT_WON, TIE, Votes

VOTES = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.integers(0, 6),
        st.sampled_from(["left", "right", "tie"]),
        st.sampled_from("abcd"),
    ).filter(lambda vote: vote[0] != vote[1]),
    min_size=1,
    max_size=12,
)


def votes_of(rows: list[tuple[int, int, str, str]]) -> Votes:
    frame = pl.DataFrame(rows, schema=["left", "right", "winner", "judge"], orient="row")
    return votes_from(frame)


def wins(*pairs: str) -> Votes:
    """Write 'ab' for a beats b."""
    return votes_from({"winner": [pair[0] for pair in pairs], "loser": [pair[1] for pair in pairs]})


def said(votes: Votes) -> list[str]:
    return connection(votes).sentences(votes.items)


def reachable(votes: Votes) -> list[list[bool]]:
    """Who beat whom, directly or through others, by Warshall's algorithm."""
    n = votes.n_items
    beat = [[i == j for j in range(n)] for i in range(n)]
    for left, right, outcome in zip(votes.left, votes.right, votes.outcome, strict=True):
        beat[left][right] |= outcome in (LEFT_WON, TIE)
        beat[right][left] |= outcome in (RIGHT_WON, TIE)
    for k, i, j in product(range(n), repeat=3):
        beat[i][j] |= beat[i][k] and beat[k][j]
    return beat


@settings(max_examples=200, deadline=None)
@given(VOTES)
def test_components_are_who_reaches_whom(rows: list[tuple[int, int, str, str]]) -> None:
    votes = votes_of(rows)
    found, beat = connection(votes), reachable(votes)
    for i, j in combinations(range(votes.n_items), 2):
        together = beat[i][j] and beat[j][i]
        assert (found.component[i] == found.component[j]) == together
        if beat[i][j] and not together:
            assert found.component[i] < found.component[j]
        if beat[i][j] or beat[j][i]:
            assert found.group[i] == found.group[j]
    assert found.is_strong == all(map(all, beat))
    assert bool(found.sentences(votes.items)) != found.is_strong


@settings(max_examples=200, deadline=None)
@given(VOTES)
def test_sets_that_never_lose_or_win(rows: list[tuple[int, int, str, str]]) -> None:
    votes = votes_of(rows)
    found, beat = connection(votes), reachable(votes)
    everyone = range(votes.n_items)
    for items in found.never_lose:
        assert not any(beat[j][i] for i in items for j in everyone if j not in items)
    for items in found.never_win:
        assert not any(beat[i][j] for i in items for j in everyone if j not in items)


def test_items_that_hang_together_need_no_words() -> None:
    assert said(wins("ab", "bc", "ca")) == []


def test_sets_are_named() -> None:
    votes = wins("ab", "bc", "ca", "ad", "de", "ed")
    assert said(votes) == [
        "these 3 items never lose to the other 2: a, b, c",
        "these 2 items never win against the other 3: d, e",
    ]


def test_single_items_and_those_in_between() -> None:
    assert said(wins("ab", "bc")) == [
        "this item never loses to the other 2: a",
        "this item never wins against the other 2: c",
        "1 more set of items lies in between, winning only against those below",
    ]


def test_groups_never_compared() -> None:
    assert said(wins("ab", "ba", "cd", "dc")) == [
        "2 groups of items were never compared with each other: a, b | c, d"
    ]


def test_single_items_are_named_together() -> None:
    assert said(wins("az", "bz", "cz", "dz", "ez", "fz")) == [
        "6 items never lose: a, b, c, d, e and 1 more",
        "this item never wins against the other 6: z",
    ]


def test_many_sets_are_counted() -> None:
    pairs = [pair for a, b in ("ab", "cd", "ef", "gh", "ij") for pair in (a + b, b + a, a + "z")]
    sentences = said(wins(*pairs))
    assert "these 2 items never lose to the other 9: a, b" in sentences
    assert "2 more sets of items never lose to the others" in sentences
    assert len(sentences) == 5


def test_a_tie_connects_both_ways() -> None:
    assert connection(votes_of([(0, 1, "tie", "a")])).is_strong


def test_numbering_is_by_winners_then_by_label() -> None:
    found: Connection = connection(wins("xy", "ab"))
    assert found.group.tolist() == [0, 0, 1, 1]
    assert found.component.tolist() == [0, 2, 1, 3]


@settings(max_examples=200, deadline=None)
@given(VOTES)
def test_lone_judges(rows: list[tuple[int, int, str, str]]) -> None:
    votes = votes_of(rows)
    pairs = {judge: {frozenset(r[:2]) for r in rows if r[3] == judge} for judge in "abcd"}
    want = [
        judge
        for judge in votes.judges
        if not any(pairs[judge] & pairs[other] for other in "abcd" if other != judge)
    ]
    assert votes.judges.gather(lone_judges(votes)).to_list() == (want if votes.n_judges > 1 else [])
