"""What is settled, and how many more votes it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import InputError
from juryrank.ranking.ranking import Ranking

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    made = jr.simulate(6, 5, accuracies=[1.5, 1.5, 1.0, 1.0, 1.0], votes_per_judge=90, seed=3)
    return jr.rank(made.votes)


def test_settled_tells_every_pair_that_decides(ranking: Ranking) -> None:
    settled = ranking.settled("top:2")
    assert settled.pairs.height == 8
    best = set(ranking.items["item"][:2])
    assert set(settled.pairs["item"]) == best
    assert settled.done == bool(settled.pairs["settled"].all()) == bool(settled)
    low, high = settled.pairs["low"], settled.pairs["high"]
    assert (((low > 0.0) | (high < 0.0)) == settled.pairs["settled"]).all()
    assert ranking.settled("order").pairs.height == 5
    one = ranking.settled(f"item:{ranking.items['item'][1]}").pairs
    assert one.height == 5
    assert one["item"][0] == ranking.items["item"][0]


def test_settled_is_more_careful_than_one_look(ranking: Ranking) -> None:
    for row in ranking.settled("order").pairs.to_dicts():
        ordinary = ranking.difference(row["item"], row["other"])
        assert row["high"] - row["low"] > ordinary.high - ordinary.low


def test_clear_gaps_are_settled_and_equal_items_never(ranking: Ranking) -> None:
    best, worst = ranking.items["item"][0], ranking.items["item"][-1]
    assert ranking.settled([best, worst])
    assert str(ranking.settled([best, worst])).startswith("Settled: ")
    assert ranking.plan([best, worst]).settled
    rows = [
        {"judge": judge, "left": one, "right": other, "winner": won}
        for judge in "abcdef"
        for one, other in (("x", "y"), ("y", "z"), ("x", "z"))
        for won in ("left", "right") * 5
    ]
    equal = jr.rank(pl.DataFrame(rows))
    plan = equal.plan("top:1", most=200)
    assert not equal.settled("top:1")
    assert plan.votes_median is None
    assert plan.reachable is not None
    assert plan.reachable < 0.5
    assert "look equal" in str(plan)


def test_a_plan_has_a_range_and_a_price(ranking: Ranking) -> None:
    plan = ranking.plan("top:1", cost=0.5)
    low, median, high = (
        np.inf if votes is None else votes
        for votes in (plan.votes_low, plan.votes_median, plan.votes_high)
    )
    assert low <= median <= high
    assert plan.cost_per_vote == pytest.approx(0.5)
    assert ranking.plan("top:1").price == (None, None, None)
    assert "votes" in repr(plan) or "Settled" in repr(plan)
    assert plan._repr_html_().startswith("<p>")
    assert set(plan.to_dict()) >= {"votes_median", "reachable", "unsettled"}


def test_closer_items_need_more_votes(ranking: Ranking) -> None:
    order = ranking.items.sort("rank")["item"].to_list()
    gaps = -np.diff(ranking.items.sort("rank")["score"].to_numpy())
    near, far = int(np.argmin(gaps)), int(np.argmax(gaps))

    def needed(at: int) -> float:
        plan = ranking.plan([order[at], order[at + 1]])
        return np.inf if plan.votes_median is None else plan.votes_median

    assert needed(far) < needed(near)


def test_a_plan_ends_where_the_questions_do(ranking: Ranking) -> None:
    """Six items, so 15 pairs; all five judges have seen all of them, some of them often."""
    judges = ranking.votes.judges.to_list()
    again = ranking.plan("order")
    assert again.repeats
    assert again.questions_left is None
    assert "repeats" not in str(again)
    never = ranking.plan("order", repeats=False)
    assert never.questions_left == 0
    assert never.votes_median is None
    assert "No question is left to ask" in str(never)
    assert "--repeats" in str(never)
    few = ranking.plan("order", judges={judges[0]: 4, judges[1]: 3})
    assert few.questions_left == 7
    assert few.to_dict()["questions_left"] == 7
    new = ranking.plan("order", judges=["new"], repeats=False)
    assert new.questions_left == 15


def test_a_plan_says_whose_questions_it_counts_as_one(ranking: Ranking) -> None:
    judges = ranking.votes.judges.to_list()
    assert ranking.plan("top:1", cost=0.1).cost_of_one == ()
    plan = ranking.plan("tiers", cost={judges[0]: 0.1})
    assert list(plan.cost_of_one) == judges[1:]
    assert plan.to_dict()["cost_of_one"] == judges[1:]
    close = ranking.plan(ranking.items["item"][:2].to_list(), cost={judges[0]: 0.1}, most=10**6)
    assert close.settled or "without a cost, counts as 1" in str(close)


def test_judges_with_a_cost_may_be_written_as_text() -> None:
    number = pl.col("judge").str.extract("([0-9]+)").cast(pl.Int64)
    numbered = jr.rank(jr.simulate(6, 5, votes_per_judge=9, seed=3).votes.with_columns(number))
    as_text, as_number = (numbered.plan("order", cost={one: 2.0}) for one in ("1", 1))
    assert as_text.cost_of_one == as_number.cost_of_one == (2, 3, 4, 5)
    assert str(as_text) == str(as_number)
    with pytest.raises(InputError, match="cost names a judge more than once: 1"):
        numbered.plan("order", cost={"1": 2.0, 1: 3.0})


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"most": 0}, "at least 1"),
        ({"target": "top:6"}, "top:1 to top:5"),
        ({"judges": []}, "nobody"),
        ({"judges": "ana"}, "a list of judges"),
        ({"cost": -1.0}, "above 0"),
        ({"cost": 1e308}, "from 1e-30 to 1e\\+30"),
        ({"cost": float("nan")}, "above 0"),
        ({"cost": "0.02"}, "a number, or a mapping"),
        ({"cost": {"nobody": 1.0}}, "not asked"),
    ],
)
def test_bad_calls_are_refused(ranking: Ranking, wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranking.plan(**wishes)


def test_coins_watched_after_every_batch_settle_nothing() -> None:
    """Judges toss coins about pairs that the policy chooses; somebody looks after each batch."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        asked = jr.next_pairs(list("abcdef"), 30, judges=list("uvw"), seed=seed)
        votes = asked.select("judge", "left", "right")
        for batch in range(4):
            won = pl.Series(rng.choice(["left", "right"], len(votes)))
            votes = votes.with_columns(winner=won if batch == 0 else pl.coalesce("winner", won))
            ranking = jr.rank(votes)
            assert not ranking.settled("order").pairs["settled"].any()
            assert not ranking.settled("top:1")
            more = ranking.next_pairs(15, judges=list("uvw"), repeats=True, seed=seed)
            fresh = more.select("judge", "left", "right").with_columns(
                winner=pl.lit(None, dtype=pl.String)
            )
            votes = pl.concat([votes, fresh])


# --- where votes do not tell ---


def unanimous(items: int, judges: int, votes_each: int) -> pl.DataFrame:
    """Every judge prefers the earlier item of every pair, so many times."""
    pairs = [(i, j) for i in range(items) for j in range(i + 1, items)]
    rows = [(f"judge-{u}", f"i{i}", f"i{j}") for u in range(judges) for i, j in pairs]
    return pl.DataFrame(rows * votes_each, schema=["judge", "winner", "loser"], orient="row")


@pytest.mark.parametrize("votes", [unanimous(2, 20, 10), unanimous(6, 10, 1)])
def test_votes_that_all_agree_are_not_promised_to_settle_anything(votes: pl.DataFrame) -> None:
    ranking = jr.rank(votes)
    plan, settled = ranking.plan("top:1", repeats=True), ranking.settled("top:1")
    assert not plan.settled
    assert not settled
    for said in (str(plan), str(settled)):
        assert "hardly ever contradict that i0 is above i1" in said
        assert "go by ranks and tiers" in said
    assert settled.pairs["agreed"].all()


def test_items_of_which_little_is_known_do_not_look_equal() -> None:
    said = str(jr.rank(unanimous(2, 1, 1)).plan("order", repeats=True))
    assert "look equal" not in said
    assert "i0 and i1 are the closest" in said


def test_no_question_that_is_left_is_said_with_the_way_out() -> None:
    pair = pl.DataFrame(
        {"judge": ["a", "b", "c"], "winner": ["A", "B", "A"], "loser": ["B", "A", "B"]}
    )
    said = str(jr.rank(pair).plan("order", repeats=False))
    assert "No question is left to ask" in said
    assert "juryrank plan --repeats" in said


def test_a_judge_may_take_more_questions_than_can_be_counted() -> None:
    ranking = jr.rank(jr.simulate(6, 3, votes_per_judge=40, seed=1).votes)
    assert len(ranking.next_pairs(3, judges={"judge-1": 10**30}, repeats=True)) == 3


# --- groups that no vote connects ---


@pytest.fixture(scope="module")
def unconnected() -> Ranking:
    """Pairs of a better and a worse item, which nobody has compared with those of other pairs."""
    rows = [
        {"judge": judge, "winner": f"a{group}", "loser": f"b{group}"}
        for group in range(12)
        for judge in ("u", "v", "w")
    ]
    return jr.rank(pl.DataFrame(rows))


@pytest.mark.parametrize("target", ["top:1", "order", "tiers", "item:a3", ["a1", "b2"]])
def test_no_votes_are_promised_to_settle_what_no_vote_connects(
    target: object, unconnected: Ranking
) -> None:
    plan, settled = unconnected.plan(target, cost=0.5), unconnected.settled(target)
    assert not plan.settled
    assert not settled
    assert (plan.votes_low, plan.votes_median, plan.votes_high) == (None, None, None)
    assert plan.price == (None, None, None)
    assert plan.reachable is None
    assert plan.groups == settled.groups == plan.to_dict()["groups"] == 12
    for said in (str(plan), str(settled)):
        assert "12 groups of items were never compared with each other" in said
        assert "11 questions would connect them: 'juryrank next'" in said
        assert "more votes" not in said
    across = settled.pairs.filter(pl.col("gap").is_null())
    assert across["low"].is_infinite().all()
    assert not across["settled"].any()
    assert plan.unsettled.height


def test_the_questions_that_connect_groups_are_as_many_as_the_plan_says(
    unconnected: Ranking,
) -> None:
    asked = unconnected.next_pairs(11, judges=["new"])
    group = {name: int(name[1:]) for name in unconnected.votes.items}
    graph = np.eye(12, dtype=int)
    for left, right, *_ in asked.rows():
        graph[group[left], group[right]] = graph[group[right], group[left]] = 1
    assert (np.linalg.matrix_power(graph, 11) > 0).all()


def test_items_of_one_group_are_planned_as_ever(unconnected: Ranking) -> None:
    plan = unconnected.plan(["a1", "b1"], repeats=True)
    assert plan.groups == 1
    assert "never compared" not in str(plan)
    assert "never compared" not in str(unconnected.settled(["a1", "b1"]))
