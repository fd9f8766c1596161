"""A ranking: standard errors, predictions by code, and what it keeps."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import juryrank as jr
from juryrank.model.objective import Objective

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

WAYS: dict[str, dict[str, Any]] = {
    "sampled": {},
    "information": {"intervals": "information"},
    "given prior": {"prior": (1.0, 1.0), "intervals": "sandwich"},
    "bootstrap": {"model": "btl", "prior": (1.0, 1.0), "intervals": "bootstrap"},
    "Algorithm 1": {"solver": jr.PaperSolver(iterations=20), "intervals": "bootstrap"},
    "CrowdBT": {"model": "crowdbt", "prior": (1.0, 1.0)},
    "no likelihood": {"model": "win-rate"},
}


@pytest.fixture(scope="module")
def votes() -> jr.Votes:
    return jr.votes_from(jr.simulate(6, 7, votes_per_judge=30, seed=2).votes)


# --- standard errors -----------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_a_normal_interval_is_so_many_standard_errors_wide(
    votes: jr.Votes, confidence: float
) -> None:
    ranking = jr.rank(votes, intervals="information", confidence=confidence)
    errors, width = ranking.standard_errors, 2.0 * norm.ppf(0.5 * (1.0 + confidence))
    assert errors.items["item"].to_list() == ranking.items["item"].to_list()
    assert errors.judges["judge"].to_list() == ranking.judges["judge"].to_list()
    for found, table, name in (
        (errors.items, ranking.items, "score"),
        (errors.judges, ranking.judges, "accuracy"),
    ):
        wide = (table[f"{name}_high"] - table[f"{name}_low"]).to_numpy()
        np.testing.assert_allclose(width * found["standard_error"].to_numpy(), wide, rtol=1e-12)


def test_those_of_a_sampled_posterior_are_the_spread_of_its_draws(votes: jr.Votes) -> None:
    ranking = jr.rank(votes)
    errors, draws = ranking.standard_errors, ranking.posterior
    np.testing.assert_allclose(errors.items["standard_error"], draws.scores.std(axis=0))
    np.testing.assert_allclose(errors.judges["standard_error"], draws.accuracies.std(axis=0))
    mean_square = np.mean(errors.items["standard_error"].to_numpy() ** 2)
    assert ranking.reliability.standard_error == pytest.approx(np.sqrt(mean_square))


def test_standard_errors_are_on_the_scale_of_the_items(votes: jr.Votes) -> None:
    ranking = jr.rank(votes, intervals="information")
    points = ranking.scaled("elo", ("item-1", 1200.0))
    one, other = (r.standard_errors.items["standard_error"].to_numpy() for r in (ranking, points))
    np.testing.assert_allclose(other, 400.0 / np.log(10.0) * one)
    assert points.standard_errors.judges.equals(ranking.standard_errors.judges)


def test_nothing_is_said_of_errors_where_nothing_is_known(votes: jr.Votes) -> None:
    none = jr.rank(votes, intervals=None).standard_errors
    assert none.items["standard_error"].is_null().all()
    assert none.judges["standard_error"].is_null().all()
    crowd = jr.rank(votes, "crowdbt", prior=(1.0, 1.0)).standard_errors
    assert crowd.items["standard_error"].is_null().all()
    assert (crowd.judges["standard_error"].drop_nulls() > 0.0).all()
    equal = jr.rank(votes, "btl").standard_errors
    assert equal.items["standard_error"].is_not_null().all()
    assert equal.judges["standard_error"].is_null().all()


# --- what it keeps -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_ranking_does_not_keep_the_objective_alive(votes: jr.Votes, way: str) -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(thing) is Objective for thing in gc.get_objects())

    before = alive()
    ranking = jr.rank(votes, **WAYS[way])
    assert alive() == before
    assert 0.0 < float(np.max(ranking.predict(None, "item-1", "item-2"))) < 1.0


# --- predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_one_by_one_or_all_at_once_predictions_are_the_same(votes: jr.Votes, way: str) -> None:
    ranking = jr.rank(votes, **WAYS[way])
    items, judges = ranking.items["item"].to_list(), [*ranking.judges["judge"], None]
    left, right = zip(*((a, b) for a in items for b in items if a != b), strict=True)
    for judge in judges:
        at_once = np.asarray(ranking.predict(judge, left, right))
        single = [ranking.predict(judge, a, b) for a, b in zip(left, right, strict=True)]
        np.testing.assert_allclose(at_once, single, rtol=1e-12)


@pytest.mark.parametrize("way", ["sampled", "information", "CrowdBT"])
def test_votes_are_predicted_whatever_their_codes(votes: jr.Votes, way: str) -> None:
    ranking = jr.rank(votes, **WAYS[way])
    few = pl.DataFrame(
        {
            "judge": ["judge-7", "judge-2"], "left": ["item-6", "item-3"],
            "right": ["item-2", "item-6"], "winner": ["left", "right"],
        }
    )  # fmt: skip
    other = jr.votes_from(few)
    names = (other.judges.gather(other.judge), other.items.gather(other.left))
    expected = ranking.shares(*names, other.items.gather(other.right))
    np.testing.assert_allclose(ranking.shares_of(other), expected, rtol=1e-12)
