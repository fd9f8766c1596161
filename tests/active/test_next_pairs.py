"""Which questions are asked next: what is chosen, the rules around it, and bad calls."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import kendalltau

import juryrank as jr
from juryrank.errors import InputError, JuryrankWarning
from juryrank.ranking.ranking import Ranking

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

ITEMS = [f"item-{number}" for number in range(1, 9)]
JUDGES = [f"judge-{number}" for number in range(1, 5)]


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    made = jr.simulate(8, 4, accuracies=[2.0, 1.0, 0.5, -1.0], votes_per_judge=15, tie=0.3, seed=4)
    return jr.rank(made.votes)


def pair(row: dict[str, Any]) -> frozenset[object]:
    return frozenset((row["left"], row["right"]))


def is_sure(ranking: Ranking, left: object, right: object) -> bool:
    """Whether the order of two items is beyond any doubt."""
    return ranking.difference(left, right).p_value < 0.01


def asked_of(ranking: Ranking) -> set[tuple[object, frozenset[object]]]:
    """Judge and pair of every vote."""
    votes = ranking.votes
    left, right = votes.sides()
    return {
        (votes.judges[int(u)], frozenset((votes.items[int(i)], votes.items[int(j)])))
        for u, i, j in zip(votes.judge, left, right, strict=True)
    }


# --- no votes yet ---


@pytest.mark.parametrize("n_items", [2, 3, 7, 40])
def test_the_opening_connects_all_items_with_as_few_questions_as_can_be(n_items: int) -> None:
    questions = jr.next_pairs(list(range(n_items)), n_items - 1)
    ends = questions["left"].to_numpy(), questions["right"].to_numpy()
    graph = coo_array((np.ones(n_items - 1), ends), shape=(n_items, n_items))
    assert connected_components(graph, directed=False)[0] == 1
    assert set(questions["chosen"]) == {"opening"}


def test_the_opening_is_balanced_in_views_and_sides() -> None:
    questions = jr.next_pairs(range(30), 90)
    left = np.bincount(questions["left"].to_numpy(), minlength=30)
    right = np.bincount(questions["right"].to_numpy(), minlength=30)
    assert np.ptp(left + right) <= 2
    assert np.abs(left - right).max() <= 2
    assert len({pair(row) for row in questions.to_dicts()}) == 90


def test_the_opening_shares_questions_among_judges_up_to_what_they_can_take() -> None:
    questions = jr.next_pairs(ITEMS, 12, judges={"ana": 2, "ben": None, "eve": None})
    counts = dict(questions["judge"].value_counts().rows())
    assert counts["ana"] == 2
    assert counts["ben"] == counts["eve"] == 5


def test_two_items_and_nobody_in_particular() -> None:
    assert jr.next_pairs(["a", "b"], 1).height == 1


# --- with votes ---


def test_the_frame_is_the_same_for_the_same_seed_and_not_for_another(ranking: Ranking) -> None:
    one, same, other = (ranking.next_pairs(8, judges=JUDGES, seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
    assert one.columns == ["left", "right", "judge", "gain", "chosen", "propensity"]


def test_nobody_in_particular_and_a_new_judge_can_be_asked(ranking: Ranking) -> None:
    assert ranking.next_pairs(3)["judge"].is_null().all()
    assert set(ranking.next_pairs(3, judge="new")["judge"]) == {"new"}
    assert (ranking.next_pairs(9)["gain"] > 0.0).all()


def test_nobody_in_particular_is_asked_of_items_whose_order_is_open() -> None:
    """Of the best and the worst item only a judge's accuracy could be learnt, and there is none."""
    ranking = jr.rank(jr.datasets.llm_judges().votes)
    asked = ranking.next_pairs(5, random_share=0.0)
    sure = [pair for pair in asked.select("left", "right").rows() if is_sure(ranking, *pair)]
    assert not sure


def test_the_guesser_is_asked_least_and_cost_counts(ranking: Ranking) -> None:
    free = ranking.next_pairs(20, judges=JUDGES, random_share=0.0)
    dear = {judge: (None, 1_000.0 if judge == "judge-1" else 1.0) for judge in JUDGES}
    paid = ranking.next_pairs(20, judges=dear, random_share=0.0)
    assert (free["judge"] == "judge-1").sum() > 0
    assert (paid["judge"] == "judge-1").sum() == 0


def test_new_items_come_first_and_retired_ones_never(ranking: Ranking) -> None:
    questions = ranking.next_pairs(8, items=["new"], retired=["item-1", "item-2"])
    assert {"item-1", "item-2"}.isdisjoint({*questions["left"], *questions["right"]})
    first = questions.head(2)
    assert all("new" in pair(row) for row in first.to_dicts())
    assert set(first["chosen"]) == {"opening"}
    assert first["propensity"].is_null().all()
    assert first["gain"].is_not_null().all()


def test_what_connects_groups_comes_first() -> None:
    rows = [
        {"judge": judge, "winner": one, "loser": other}
        for judge in "xyz"
        for one, other in (("a", "b"), ("c", "d"))
    ]
    questions = jr.next_pairs(pl.DataFrame(rows), 1)
    assert len(pair(questions.row(0, named=True)) & {"a", "b"}) == 1


def test_a_propensity_is_a_chance_that_sums_to_1_over_all_that_could_be_asked() -> None:
    """With three items and one judge, each of the three pairs is asked in some seed."""
    ranking = jr.rank(jr.simulate(3, 3, votes_per_judge=12, seed=2).votes)
    by_pair: dict[frozenset[object], set[float]] = {}
    counts: dict[frozenset[object], int] = {}
    for seed in range(60):
        row = ranking.next_pairs(1, judge="new", random_share=0.6, seed=seed).row(0, named=True)
        by_pair.setdefault(pair(row), set()).add(round(row["propensity"], 12))
        counts[pair(row)] = counts.get(pair(row), 0) + 1
    assert all(len(found) == 1 for found in by_pair.values())
    assert sum(next(iter(found)) for found in by_pair.values()) == pytest.approx(1.0)
    assert max(counts.values()) == pytest.approx(60 * (0.6 / 3 + 0.4), abs=15)


def test_random_questions_are_their_share(ranking: Ranking) -> None:
    assert set(ranking.next_pairs(9, random_share=0.0)["chosen"]) == {"policy"}
    drawn = ranking.next_pairs(9, random_share=1.0)
    assert set(drawn["chosen"]) == {"random"}
    assert drawn["propensity"][0] == pytest.approx(1.0 / 28)


def test_questions_that_are_out_count_as_answered_unless_they_expired(ranking: Ranking) -> None:
    first = ranking.next_pairs(4, judge="new", random_share=0.0)
    again = ranking.next_pairs(4, judge="new", random_share=0.0, pending=first)
    pairs = {pair(row) for row in first.to_dicts()}
    assert pairs.isdisjoint({pair(row) for row in again.to_dicts()})
    both = ranking.next_pairs(8, judge="new", random_share=0.0)
    assert again["gain"].to_list() == pytest.approx(both["gain"][4:].to_list(), rel=0.25)
    expired = first.with_columns(status=pl.lit("expired"))
    assert ranking.next_pairs(4, judge="new", random_share=0.0, pending=expired).equals(first)


def test_a_skipped_question_does_not_come_again_to_who_skipped_it(ranking: Ranking) -> None:
    first = ranking.next_pairs(1, judge="new", random_share=0.0)
    skipped = first.with_columns(status=pl.lit("skipped"))
    again = ranking.next_pairs(1, judge="new", random_share=0.0, pending=skipped)
    other = ranking.next_pairs(1, judge="other", random_share=0.0, pending=skipped)
    assert pair(again.row(0, named=True)) != pair(first.row(0, named=True))
    assert "new" not in set(other["judge"])


def test_a_repeated_question_has_its_sides_swapped() -> None:
    rows = [
        {"judge": judge, "left": "a", "right": "b", "winner": won}
        for judge, won in (("x", "left"), ("y", "left"), ("z", "right"))
    ]
    ranking = jr.rank(pl.DataFrame(rows))
    with pytest.raises(InputError, match="repeats=True"):
        ranking.next_pairs(1, judge="x")
    again = ranking.next_pairs(1, judge="x", repeats=True).row(0, named=True)
    assert (again["left"], again["right"]) == ("b", "a")


def test_questions_that_are_out_come_again_only_after_all_others() -> None:
    alone = jr.rank(jr.simulate(8, 1, votes_per_judge=300, seed=2).votes, model="btl")
    assert len({pair(row) for row in alone.next_pairs(20).to_dicts()}) == 20
    asked = alone.next_pairs(20, random_share=0.0)
    more = alone.next_pairs(16, random_share=0.0, pending=asked)
    assert not {pair(row) for row in asked.to_dicts()} & {pair(row) for row in more[:8].to_dicts()}
    assert len({pair(row) for row in pl.concat([asked, more]).to_dicts()}) == 28


@pytest.mark.parametrize(
    "target", ["order", "top:3", "item:item-3", ["item-1", "item-5"], "tiers", "widths"]
)
def test_every_target_has_its_questions(ranking: Ranking, target: object) -> None:
    questions = ranking.next_pairs(5, target=target, random_share=0.0)
    assert questions.height == 5
    assert (questions["gain"] > 0.0).all()
    if target == "item:item-3":
        assert all("item-3" in pair(row) for row in questions.head(3).to_dicts())


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_rules_are_kept_whatever_they_are(ranking: Ranking, data: st.DataObject) -> None:
    judges = data.draw(st.lists(st.sampled_from([*JUDGES, "new"]), min_size=1, unique=True))
    capacity = {judge: data.draw(st.integers(0, 6)) for judge in judges}
    retired = data.draw(st.lists(st.sampled_from(ITEMS), max_size=3, unique=True))
    own = data.draw(
        st.lists(st.tuples(st.sampled_from(judges), st.sampled_from(ITEMS)), max_size=4)
    )
    most = data.draw(st.integers(15, 22))
    barred = pl.DataFrame(own, schema={"judge": pl.String, "item": pl.String}, orient="row")
    try:
        questions = ranking.next_pairs(
            12, judges=capacity, retired=retired, barred=barred, most_views=most,
            random_share=data.draw(st.sampled_from([0.0, 0.5])), seed=data.draw(st.integers(0, 9)),
        )  # fmt: skip
    except InputError:
        return
    seen = asked_of(ranking)
    views = dict(zip(ranking.votes.items, ranking.votes.times_compared.tolist(), strict=True))
    for row in questions.to_dicts():
        assert (row["judge"], pair(row)) not in seen
        seen.add((row["judge"], pair(row)))
        assert pair(row).isdisjoint(retired)
        assert all((row["judge"], item) not in own for item in pair(row))
        for item in pair(row):
            views[item] += 1
            assert views[item] <= most
    for judge, count in questions["judge"].value_counts().rows():
        assert count <= capacity[judge]


def test_barred_pairs_are_never_asked(ranking: Ranking) -> None:
    first = ranking.next_pairs(5, judge="new", random_share=0.0)
    others = ranking.next_pairs(23, judge="new", barred=first)
    barred = {pair(row) for row in first.to_dicts()}
    assert barred.isdisjoint({pair(row) for row in others.to_dicts()})


def test_sides_stay_balanced(ranking: Ranking) -> None:
    questions = ranking.next_pairs(80, judges=["n1", "n2", "n3"], random_share=0.3)
    votes = ranking.votes
    left, right = votes.sides()
    lean = {
        item: int((left == code).sum() - (right == code).sum())
        for code, item in enumerate(votes.items)
    }
    before = sum(map(abs, lean.values()))
    for row in questions.to_dicts():
        lean[row["left"]] += 1
        lean[row["right"]] -= 1
    assert max(map(abs, lean.values())) <= 3
    assert sum(map(abs, lean.values())) <= max(before, 16)


def test_many_items_have_questions_too() -> None:
    """Candidates are drawn where all pairs would be too many."""
    made = jr.simulate(1_000, 5, votes_per_judge=800, seed=1)
    ranking = jr.rank(made.votes, "btl", intervals="information")
    first = ranking.next_pairs(5, least_views=0, random_share=0.0)
    best = ranking.next_pairs(5, target="top:10", least_views=0, random_share=0.0)
    rank_of = dict(zip(ranking.items["item"], ranking.items["rank"], strict=True))
    ranks = [rank_of[item] for item in (*best["left"], *best["right"])]
    assert first.height == best.height == 5
    assert np.median(ranks) < 150


def answered(truth: dict[str, float], accuracy: dict[str, float], asked: pl.DataFrame,
             rng: np.random.Generator) -> pl.DataFrame:  # fmt: skip
    rows = []
    for row in asked.to_dicts():
        x = accuracy[row["judge"]] * (truth[row["left"]] - truth[row["right"]])
        won = "left" if rng.random() < 1.0 / (1.0 + np.exp(-x)) else "right"
        rows.append({**{name: row[name] for name in ("judge", "left", "right")}, "winner": won})
    return pl.DataFrame(rows)


def tau_after(seed: int, share: float) -> float:
    """Kendall's tau after 140 votes, asked for in batches, of judges of unequal accuracy."""
    rng = np.random.default_rng(seed)
    truth = {f"i{number:02d}": float(rng.normal()) for number in range(12)}
    accuracy = {"a": 4.0, "b": 4.0, "c": 0.3, "d": 0.3, "e": -0.2, "f": 0.0}
    votes = answered(truth, accuracy, jr.next_pairs(list(truth), 60, judges=[*accuracy]), rng)
    for batch in range(2):
        asked = jr.rank(votes, tastes=False).next_pairs(
            40, judges=[*accuracy], random_share=share, seed=batch, repeats=True
        )
        votes = pl.concat([votes, answered(truth, accuracy, asked, rng)])
    found = jr.rank(votes, tastes=False).items
    return float(kendalltau([truth[item] for item in found["item"]], found["score"])[0])


def test_the_policy_does_better_than_chance_where_judges_differ() -> None:
    """In the median: one of these begins upside down."""
    chosen, drawn = (
        np.median([tau_after(seed, share) for seed in range(5)]) for share in (0.0, 1.0)
    )
    assert chosen > drawn + 0.03


# --- bad calls ---


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"n": 0}, "at least 1"),
        ({"n": 2.5}, "at least 1"),
        ({"judge": "a", "judges": ["b"]}, "not both"),
        ({"judges": []}, "nobody"),
        ({"judges": ["a", ""]}, "without a name"),
        ({"judge": " "}, "without a name"),
        ({"items": ["new", ""]}, "without a name"),
        ({"judges": {"a": -1}}, "how many questions"),
        ({"judges": {"a": (3, 0.0)}}, "a cost above 0"),
        ({"judges": {"a": (3, 1e-320)}}, "from 1e-30 to 1e\\+30"),
        ({"judges": {"a": (3, 10**400)}}, "from 1e-30 to 1e\\+30"),
        ({"target": "top:0"}, "top:1 to top:7"),
        ({"target": "top:99"}, "top:1 to top:7"),
        ({"target": "best"}, "no target 'best'"),
        ({"target": "item:itm-3"}, "unknown items: itm-3"),
        ({"target": []}, "empty"),
        ({"items": ["new"], "retired": ["new"]}, "both in items and in retired"),
        ({"retired": ["item-77"]}, "retired names unknown items"),
        ({"retired": ITEMS[:7]}, "only one"),
        ({"retired": ITEMS}, "there are none"),
        ({"random_share": 1.5}, "between 0 and 1"),
        ({"least_views": -1}, "0 or more"),
        ({"most_views": 0}, "at least 1"),
        ({"most_views": 1}, "no question left"),
        ({"seed": -1}, "must not be negative"),
        ({"seed": None}, "seed=None must be a whole number"),
        ({"seed": 1.5}, "seed=1.5 must be a whole number"),
        ({"judge": 7}, "not of the type"),
        ({"barred": pl.DataFrame({"judge": ["judge-9"], "item": ["item-1"]})}, "neither voted"),
        (
            {"barred": pl.DataFrame({"judge": ["judge-1"], "item": ["item-9"]})},
            "1 unknown item: item-9",
        ),
        ({"barred": pl.DataFrame({"judge": ["judge-1"]})}, "judge and item"),
        ({"pending": pl.DataFrame({"left": ["item-1"]})}, "no column right"),
        (
            {"pending": {"left": [["item-1"]], "right": ["item-2"]}},
            "several values in a cell of left",
        ),
        ({"pending": {"left": ["item-1"], "right": ["item-2"], "judge": [["a"]]}}, "cell of judge"),
        ({"pending": {"left": ["item-1"], "right": ["item-2"], "status": [["out"]]}}, "of status"),
        ({"barred": {"judge": ["judge-1"], "item": [["item-2"]]}}, "a cell of item"),
        ({"pending": {"left": ["item-1", None], "right": ["item-2"] * 2}}, "no item in 1 row of"),
        (
            {"pending": {"left": ["item-1", "item-2"], "right": ["item-2"] * 2}},
            "1 question of pending has the same item on both sides, first in row 2: item-2",
        ),
        ({"judges": [7, "judge-1"]}, "1 judge is not of the type .*: 7. There, judges are text"),
        ({"items": [["a", "b"]]}, "Each item must be text or a number"),
        ({"judges": [["a", "b"]]}, "Each judge must be text or a number"),
        ({"judge": ["a", "b"]}, "Each judge must be text or a number"),
        ({"pending": pl.LazyFrame({"left": ["item-1"]})}, "a data frame, not LazyFrame"),
        (
            {"pending": pl.DataFrame({"left": ["item-1"], "right": ["item-2"], "status": ["?"]})},
            "unknown status",
        ),
    ],
)
def test_bad_calls_are_refused(ranking: Ranking, wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ranking.next_pairs(wishes.pop("n", 3), **wishes)


def test_why_nothing_is_left_to_ask_is_said(ranking: Ranking) -> None:
    bar = pl.DataFrame({"judge": ["new"] * 7, "item": ITEMS[:7]})
    asked = ranking.next_pairs(28, judge="new")
    causes: list[tuple[dict[str, Any], str]] = [
        ({"judges": {"judge-1": 0}}, "can take no more questions"),
        ({"judge": "new", "pending": asked}, "asked before or are out .*--repeats"),
        ({"judge": "new", "barred": bar}, "barred"),
        ({"most_views": 1}, "most_views=1"),
    ]
    for wishes, said in causes:
        with pytest.raises(InputError, match=said) as caught:
            ranking.next_pairs(1, **wishes)
        others = {other for _, other in causes} - {said}
        assert not any(re.search(other, str(caught.value)) for other in others)


@pytest.mark.filterwarnings("default::juryrank.errors.JuryrankWarning")
def test_items_that_look_the_same_are_said_to_count_as_different(ranking: Ranking) -> None:
    with pytest.warns(JuryrankWarning, match="look the same count as different: 'a' and 'a '"):
        jr.next_pairs(["a", "a ", "b"], 2)
    with pytest.warns(JuryrankWarning, match="different: 'item-1' and 'Item-1'"):
        ranking.next_pairs(1, judge="new", items=["Item-1"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", JuryrankWarning)
        ranking.next_pairs(1, judge="new", items=["item-1", "item-99"])


def test_strange_keywords_are_refused_by_the_name_of_the_function(ranking: Ranking) -> None:
    said = r"next_pairs\(\) got an unexpected keyword argument 'repeat'\. Did you mean 'repeats'"
    with pytest.raises(TypeError, match=said):
        ranking.next_pairs(2, repeat=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=said):
        jr.next_pairs(["a", "b"], 2, repeat=True)  # type: ignore[call-arg]


def test_all_pairs_may_be_barred(ranking: Ranking) -> None:
    barred = pl.DataFrame({"judge": ["new"] * 7, "item": ITEMS[:7]})
    with pytest.raises(InputError, match="no question left"):
        ranking.next_pairs(3, judge="new", barred=barred)


@pytest.mark.parametrize(
    ("items", "more"), [(["a", "b"], [["c", "d"]]), (pl.Series([["a", "b"], ["c"]]), None)]
)
def test_items_are_given_one_by_one(items: Any, more: Any) -> None:
    with pytest.raises(InputError, match="Each item must be text or a number"):
        jr.next_pairs(items, 2, items=more)


@pytest.mark.parametrize("items", [[], ["alone"]])
def test_there_must_be_two_items(items: list[str]) -> None:
    with pytest.raises(InputError, match="two items"):
        jr.next_pairs(items, 1)


def test_an_answer_without_errors_cannot_choose() -> None:
    votes = jr.simulate(5, 3, votes_per_judge=20, seed=1).votes
    with pytest.raises(InputError, match="must say how sure"):
        jr.rank(votes, "win-rate").next_pairs(2)


def test_an_item_at_its_limit_of_views_may_still_be_the_best() -> None:
    rows = [(judge, "a", other) for judge in ("u", "w") for other in "bcd"] + [("u", "c", "b")]
    votes = pl.DataFrame(rows, schema=["judge", "left", "right"], orient="row")
    known = jr.rank(votes.with_columns(winner=pl.lit("left")))
    barred = pl.DataFrame({"judge": ["new"], "item": ["a"]})
    limited, unlimited = (
        known.next_pairs(1, judge="new", target="top:1", random_share=0.0, **limit)
        for limit in ({"most_views": 6}, {"barred": barred})
    )
    assert limited.equals(unlimited)
    with pytest.raises(InputError, match="no question left"):
        known.next_pairs(1, judge="new", target="top:1", most_views=2)


def test_the_last_question_may_be_one_of_the_rules() -> None:
    votes = pl.DataFrame(
        {"judge": ["u", "u"], "left": ["a", "b"], "right": ["b", "c"], "winner": ["left"] * 2}
    )
    found = jr.rank(votes).next_pairs(3, judge="u")
    assert found["chosen"].to_list() == ["opening"]
    assert {*found.row(0)[:2]} == {"a", "c"}


def test_fewer_questions_than_wanted_are_said_to_be_so(ranking: Ranking) -> None:
    with pytest.warns(jr.JuryrankWarning, match="Only 28 questions of 40"):
        assert ranking.next_pairs(40, judge="new").height == 28


@pytest.mark.filterwarnings("default::juryrank.errors.JuryrankWarning")
def test_a_new_judge_with_nearly_a_known_name_may_be_a_slip() -> None:
    rows = [
        {"judge": judge, "left": one, "right": other, "winner": "left"}
        for judge in ("barbara", "judge 9")
        for one, other in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        ranking = jr.rank(pl.DataFrame(rows))
    with pytest.warns(JuryrankWarning, match="'barbra' has cast no vote.*'barbara'"):
        assert ranking.next_pairs(1, judge="barbra")["judge"].to_list() == ["barbra"]
    with pytest.warns(JuryrankWarning, match="'barbra' has cast no vote"):
        ranking.next_pairs(1, judges=["barbra", "zoe"])
    for judge, known in (
        ("Barbara", "'barbara'"),
        ("Judge 9", "'judge 9'"),
        ("judge 9 ", "'judge 9'"),
    ):
        with pytest.warns(JuryrankWarning, match=rf"Did you mean {known}\?$"):
            ranking.next_pairs(1, judge=judge)
    with warnings.catch_warnings():
        warnings.simplefilter("error", JuryrankWarning)
        for judge in ("barbara", "judge 10", "zoe"):
            ranking.next_pairs(1, judge=judge, repeats=True)


# --- judges who cost more or less ---


def test_a_judge_who_is_worth_a_higher_price_is_asked() -> None:
    """Answers of two tell many times what those of the others do, for three times the price."""
    accuracies = [2.5, 2.5, 0.3, 0.3, 0.3]
    made = jr.simulate(12, 5, accuracies=accuracies, votes_per_judge=45, seed=8)
    ranking = jr.rank(made.votes)
    asked = {
        dear: ranking.next_pairs(
            30, random_share=0.0, repeats=True,
            judges={f"judge-{at}": (None, dear if at < 3 else 1.0) for at in range(1, 6)},
        )["judge"].is_in(["judge-1", "judge-2"]).sum()
        for dear in (3.0, 300.0)
    }  # fmt: skip
    assert asked[3.0] >= 25
    assert asked[300.0] == 0
