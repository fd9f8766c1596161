"""Observed against expected shares, and who agrees with whom, against plain counting."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import juryrank as jr
from juryrank.data import EXAMPLE_VOTES
from juryrank.ranking.misfit import in_few_pairs
from juryrank.types import Floats
from juryrank.votes.lists import items_looked_at, no_lists
from juryrank.votes.tallies import Tallies, agreement, signed_root_deviance, wilson

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    return jr.rank(jr.datasets.llm_judges().votes)


def test_pairs_are_what_counting_the_file_gives(ranking: jr.Ranking) -> None:
    rank = {item: k for k, item in enumerate(ranking.items["item"])}
    won: dict[tuple[str, str], float] = defaultdict(float)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for row in pl.read_csv(EXAMPLE_VOTES).iter_rows(named=True):
        a, b = row["model_a"], row["model_b"]
        share = {"model_a": 1.0, "model_b": 0.0}.get(row["winner"], 0.5)
        pair, gets = ((a, b), share) if rank[a] < rank[b] else ((b, a), 1.0 - share)
        won[pair] += gets
        seen[pair] += 1
    rows = {(row["item"], row["other"]): row for row in ranking.pairs.iter_rows(named=True)}
    assert rows.keys() == seen.keys()
    for pair, row in rows.items():
        assert row["votes"] == seen[pair]
        assert row["observed"] == pytest.approx(won[pair] / seen[pair])
    assert ranking.pairs["residual"].abs().is_sorted(descending=True)


def test_expected_shares_are_what_the_ranking_predicts(ranking: jr.Ranking) -> None:
    votes = ranking.tallies.votes
    k = np.arange(0, len(votes), 37)
    predicted = ranking.shares(
        votes.judges.gather(votes.judge[k]),
        votes.items.gather(votes.left[k]),
        votes.items.gather(votes.right[k]),
    )
    assert ranking.tallies.expected[k] == pytest.approx(predicted, abs=1e-12)


def test_residuals_count_votes_and_not_their_weights() -> None:
    frame = pl.DataFrame(
        {
            "judge": ["u", "v", "w"] * 8,
            "winner": ["a", "b", "c", "b"] * 6,
            "loser": ["b", "c", "a", "a"] * 6,
        }
    )
    plain = jr.rank(frame).tallies

    def residual(found: Tallies) -> Floats:
        return found.pairs(np.arange(3)).sort("item", "other")["residual"].to_numpy()

    for weight in (1e-200, 1e12):
        votes = replace(plain.votes, weight=np.full(len(plain.votes), weight))
        weighted = replace(plain, votes=votes)
        assert residual(weighted) == pytest.approx(residual(plain))
        bins = weighted.calibration(0.95)
        assert (bins["low"] <= bins["high"]).all()
    low, high = wilson(np.array([0.5]), np.array([1e-200]), 0.95)
    assert (low[0], high[0]) == pytest.approx((0.0, 1.0))


def test_votes_that_cancel_but_for_rounding_are_no_opinion() -> None:
    frame = pl.DataFrame(
        {
            "judge": ["u", "u", "u", "v", "w"],
            "winner": ["a", "a", "b", "a", "b"],
            "loser": ["b", "b", "a", "b", "a"],
            "weight": [0.1, 0.2, 0.3, 1.0, 1.0],
        }
    )
    found = jr.rank(frame).agreement
    codes = found.judge.tolist()
    assert found.shared[codes.index(0)].sum() == 0.0
    assert found.shared[codes.index(1), codes.index(2)] == 1.0


def test_a_fitted_model_is_calibrated_on_its_own_votes() -> None:
    made = jr.simulate(30, 40, adversaries=5, votes_per_judge=400, seed=2)
    bins = jr.rank(made.votes, prior=(1.0, 0.5)).tallies.calibration(0.95)
    assert bins["votes"].sum() == pytest.approx(16_000)
    inside = (bins["low"] < bins["expected"]) & (bins["expected"] < bins["high"])
    assert inside.sum() >= len(bins) - 1
    assert bins["expected"].is_sorted()


def test_votes_that_are_set_aside_are_not_tallied() -> None:
    made = jr.simulate(8, 6, votes_per_judge=150, seed=4).votes
    *others, last = jr.rank(made).items["item"].to_list()
    pushed = pl.DataFrame(
        {"judge": "pusher", "left": last, "right": (others * 12)[:80], "winner": "left"}
    )
    votes = pl.concat([made, pushed])
    ranking = jr.rank(votes, tastes=False)
    assert ranking.fit.set_aside == 80
    assert ranking.pairs["votes"].sum() == len(made)
    with_tastes = jr.rank(votes)
    assert with_tastes.fit.set_aside == 0
    assert with_tastes.pairs["votes"].sum() == len(votes)


def test_rankings_count_as_the_pairs_they_imply() -> None:
    frame = pl.DataFrame(
        {"judge": ["x", "y", "z"], "ranking": ["a > b > c", "b > a > c", "a > c > b"]}
    )
    pairs = jr.rank(frame).pairs
    observed = {(row["item"], row["other"]): row["observed"] for row in pairs.to_dicts()}
    assert observed["a", "c"] == 1.0
    assert observed["a", "b"] == pytest.approx(2 / 3)
    assert pairs["votes"].to_list() == [3.0, 3.0, 3.0]


@pytest.mark.parametrize(("won", "of"), [(0, 3), (5, 9), (99, 100), (50, 50)])
def test_wilsons_interval_is_scipys(won: int, of: int) -> None:
    known = binomtest(won, of).proportion_ci(0.9, method="wilson")
    low, high = wilson(np.array([won / of]), np.array([float(of)]), 0.9)
    assert (low[0], high[0]) == pytest.approx((known.low, known.high), abs=1e-12)


def test_a_residual_is_in_standard_errors_where_votes_are_many_and_small_where_few() -> None:
    many = signed_root_deviance(np.array([0.52]), np.array([0.5]), np.array([10_000.0]))
    assert many[0] == pytest.approx(0.02 / np.sqrt(0.25 / 10_000), rel=0.01)
    few = signed_root_deviance(np.array([0.0, 1.0]), np.array([0.99, 0.99]), np.array([1.0, 1.0]))
    assert few[0] == pytest.approx(-np.sqrt(-2.0 * np.log(0.01)))
    assert 0.0 < few[1] < 0.2
    assert np.isfinite(signed_root_deviance(np.array([0.0]), np.array([1.0]), np.array([5.0])))


def test_agreement_is_what_comparing_two_judges_by_hand_gives() -> None:
    frame = pl.DataFrame(
        [
            ("u", "a", "b"), ("u", "b", "c"), ("u", "a", "c"), ("u", "c", "d"),
            ("v", "a", "b"), ("v", "c", "b"), ("v", "a", "c"), ("v", "a", "d"),
            ("w", "b", "a"), ("w", "c", "a"),
        ],
        schema=["judge", "winner", "loser"],
        orient="row",
    )  # fmt: skip
    votes = jr.votes_from(frame)
    found = agreement(votes, np.array([1.0, 1.0, -1.0]))
    name = votes.judges.gather(found.judge).to_list()
    u, v, w = (name.index(judge) for judge in "uvw")
    assert found.shared[u, v] == 3
    assert found.share[u, v] == pytest.approx(2 / 3)
    assert found.shared[u, w] == 2
    assert found.share[u, w] == 0.0
    assert np.isnan(found.share[u, u])
    assert found.position[u, 0] > 0.0 > found.position[w, 0]


def test_a_map_of_judges_who_share_next_to_nothing_tells_nothing() -> None:
    sparse = jr.rank(jr.simulate(1_000, 60, votes_per_judge=100, seed=1).votes)
    assert not sparse.agreement.tells
    assert "too few pairs of items in common" in sparse.report()
    dense = jr.rank(jr.simulate(15, 60, votes_per_judge=100, seed=1).votes)
    assert dense.agreement.tells
    assert "too few pairs of items in common" not in dense.report()


def test_judges_who_all_guess_make_no_map() -> None:
    rng = np.random.default_rng(2)
    left, right = np.array([rng.choice(12, 2, replace=False) for _ in range(5_000)]).T
    frame = pl.DataFrame({"judge": np.arange(5_000) % 50, "winner": left, "loser": right})
    assert not agreement(jr.votes_from(frame), np.ones(50)).tells


def test_the_map_puts_two_camps_apart() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for judge in range(40):
        order = np.arange(12) if judge % 2 else (np.arange(12) + 6) % 12
        for _ in range(120):
            i, j = rng.choice(12, 2, replace=False)
            upper, lower = (i, j) if order[i] < order[j] else (j, i)
            rows.append((f"{'odd' if judge % 2 else 'even'}-{judge}", f"i{upper}", f"i{lower}"))
    votes = jr.votes_from(pl.DataFrame(rows, schema=["judge", "winner", "loser"], orient="row"))
    found = agreement(votes, np.ones(40))
    odd = np.array([name.startswith("odd") for name in votes.judges.gather(found.judge)])
    apart = found.position[odd].mean(axis=0) - found.position[~odd].mean(axis=0)
    within = found.position[odd].std(axis=0).max()
    assert np.linalg.norm(apart) > 5 * within


def test_of_long_rankings_the_same_items_are_looked_at() -> None:
    made = jr.simulate(60, 12, votes_per_judge=2, per_vote=50, seed=4)
    whole = jr.rank(made.votes)
    assert whole.tallies.of_each_ranking is None
    some = jr.rank(made.votes)
    few = in_few_pairs(some._basis.votes, most_pairs=5_000, most_of_entry=1)
    some._basis.__dict__["pairs"] = few
    assert some.tallies.of_each_ranking == 20
    assert 24 * 20 * 19 / 2 == len(some.tallies.votes) <= 5_000
    every = {(row["item"], row["other"]): row for row in whole.pairs.iter_rows(named=True)}
    alike = [row == every[row["item"], row["other"]] for row in some.pairs.iter_rows(named=True)]
    assert np.mean(alike) > 0.2  # some items are missing from some rankings, and others follow
    assert "only those of 20 items" in some.report()


def test_choices_from_large_sets_imply_few_pairs_all_of_which_are_looked_at() -> None:
    made = jr.simulate(60, 12, votes_per_judge=2, per_vote=50, top=1, seed=4)
    votes = jr.votes_from(made.votes)
    whole, of_each = in_few_pairs(votes, most_pairs=24 * 49, most_of_entry=0)
    assert of_each is None
    assert len(whole) == 24 * 49
    assert in_few_pairs(votes, most_pairs=24 * 49 - 1, most_of_entry=0)[1] == 49


def test_pairs_of_the_longest_rankings_can_be_counted() -> None:
    length = 60_000
    item = np.arange(length, dtype=np.int32)
    one = no_lists(1)._replace(
        start=np.array([0, 1]), begin=np.array([0, length]), item=item, level=item,
        ranked=np.array([length], dtype=np.int32), weight=np.ones(1),
    )  # fmt: skip
    assert items_looked_at(one) == 2_000  # 2000 x 1999 / 2 < 2 million
