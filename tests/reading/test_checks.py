"""The summary a user sees before any model is fitted."""

from __future__ import annotations

import datetime as dt
import io
import json

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.reading import read_votes, votes_from
from juryrank.reading.checks import Spread, check
from juryrank.votes.votes import Votes

CSV = b"""judge,left,right,winner,weight
ann,x,y,left,1
ann,y,x,right,2
ann,y,z,left,1
bob,x,y,tie,0.5
bob,x,x,left,1
cat,z,w,z,1
cat,w,z,w,1
"""


def votes() -> Votes:
    return read_votes(io.BytesIO(CSV))


def test_counts() -> None:
    found = check(votes())
    assert (found.items, found.judges, found.votes, found.ties) == (4, 3, 6, 1)
    assert found.weight == 6.5
    assert found.votes_per_judge == Spread(1, 2.0, 3)
    assert found.votes_per_item == Spread(2, 3.0, 4)
    assert found.left_out.self_comparisons == 1


def test_a_duplicate_may_have_its_sides_swapped() -> None:
    assert check(votes()).duplicates == 1


def test_lone_judges_are_named() -> None:
    found = check(votes())
    assert found.lone_judges == 1
    assert found.first_lone_judges == ("cat",)


def test_separated_votes() -> None:
    found = check(votes())
    assert not found.can_rank_without_prior
    assert found.connection == (
        "these 2 items never lose to the other 2: x, y",
        "these 2 items never win against the other 2: w, z",
    )
    assert "decided by the prior" in found.verdict


def test_votes_that_can_rank() -> None:
    found = check(votes_from({"winner": ["a", "b", "c"], "loser": ["b", "c", "a"]}))
    assert found.can_rank_without_prior
    assert found.connection == ()
    assert found.verdict == "All 3 items are connected: the votes can rank them."
    assert not found.judges_known
    assert found.lone_judges == 0


def test_groups_never_compared() -> None:
    found = check(votes_from({"winner": ["a", "c"], "loser": ["b", "d"]}))
    assert (found.groups, found.components) == (2, 4)
    assert "2 groups that were never compared" in found.verdict


def test_everything_is_ready_for_json() -> None:
    days = [dt.date(2024, 1, day) for day in (1, 2)]
    dated = votes_from({"judge": days, "winner": ["a", "c"], "loser": ["b", "d"]})
    told = json.loads(json.dumps(check(dated).to_dict()))
    assert told["first_lone_judges"] == ["2024-01-01", "2024-01-02"]
    assert told["votes_per_judge"] == {"min": 1, "median": 1.0, "max": 1}
    assert told["left_out"]["sentences"] == []


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("jk"),
            st.sampled_from(["xy", "yx", "xz", "zy"]),
            st.sampled_from(["left", "right", "tie"]),
        ),
        min_size=1,
    )
)
def test_duplicates_are_facts_said_before(rows: list[tuple[str, str, str]]) -> None:
    facts = {
        (judge, frozenset(pair), "tie" if side == "tie" else pair[side == "right"])
        for judge, pair, side in rows
    }
    frame = pl.DataFrame(
        {
            "judge": [judge for judge, _, _ in rows],
            "left": [pair[0] for _, pair, _ in rows],
            "right": [pair[1] for _, pair, _ in rows],
            "winner": [side for _, _, side in rows],
        }
    )
    assert check(votes_from(frame)).duplicates == len(rows) - len(facts)
