from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import juryrank as jr
from juryrank.noise import GUMBEL, NORMAL


def test_same_seed_same_votes() -> None:
    one, other = jr.simulate(seed=3), jr.simulate(seed=3)
    assert one.votes.equals(other.votes)
    assert not one.votes.equals(jr.simulate(seed=4).votes)


def test_votes_per_judge_and_labels() -> None:
    made = jr.simulate(12, 3, votes_per_judge=40)
    assert made.votes["judge"].value_counts()["count"].to_list() == [40, 40, 40]
    assert set(made.votes.columns) == {"judge", "left", "right", "winner"}
    assert made.items["item"].n_unique() == 12
    assert "item-07" in made.items["item"]
    assert (made.votes["left"] != made.votes["right"]).all()
    assert made.items["score"].is_sorted(descending=True)


def test_density_asks_every_ordered_pair_with_its_probability() -> None:
    full = jr.simulate(6, 2, density=1.0)
    assert len(full.votes) == 2 * 30
    assert full.votes.select("judge", "left", "right").n_unique() == 60
    assert len(jr.simulate(40, 10, density=0.25).votes) == pytest.approx(0.25 * 15_600, rel=0.05)


@pytest.mark.parametrize(
    ("model", "accuracy", "expected"),
    [
        ("hbtl", 1.5, float(GUMBEL.cdf(1.5))),
        ("hbtl", -1.5, float(GUMBEL.cdf(-1.5))),
        ("htcv", 2.0, float(NORMAL.cdf(2.0))),
        ("crowdbt", 0.8, 0.8 * float(GUMBEL.cdf(1.0)) + 0.2 * float(GUMBEL.cdf(-1.0))),
        ("crowdtcv", 0.3, 0.3 * float(NORMAL.cdf(1.0)) + 0.7 * float(NORMAL.cdf(-1.0))),
        ("btl", 1.0, float(GUMBEL.cdf(1.0))),
    ],
)
def test_votes_follow_the_probability_of_the_model(
    model: str, accuracy: float, expected: float
) -> None:
    made = jr.simulate(
        2, 1, model=model, scores=[1.0, 0.0], accuracies=[accuracy], votes_per_judge=40_000
    )
    first_won = (made.votes["left"] == "item-1") == (made.votes["winner"] == "left")
    assert first_won.to_numpy().mean() == pytest.approx(expected, abs=4 * 0.5 / 200)


def test_adversaries_are_the_first_judges() -> None:
    made = jr.simulate(judges=5, adversaries=2)
    assert np.sign(made.judges["accuracy"].to_numpy()).tolist() == [-1, -1, 1, 1, 1]
    reliability = jr.simulate(judges=5, adversaries=2, model="crowdbt").judges["accuracy"]
    assert (reliability < 0.5).to_list() == [True, True, False, False, False]


def test_counts_follow_the_values_that_are_given() -> None:
    made = jr.simulate(scores=[2.0, 1.0, 0.0], accuracies=[1.0, 2.0])
    assert (len(made.items), len(made.judges)) == (3, 2)


def test_rank_recovers_what_was_simulated() -> None:
    made = jr.simulate(15, 12, adversaries=3, votes_per_judge=3000, seed=8)
    ranking = jr.rank(made.votes)
    truth = dict(made.items.iter_rows())
    score = np.array([truth[item] for item in ranking.items["item"]])
    assert np.corrcoef(score, ranking.items["score"])[0, 1] > 0.998
    accuracy = dict(made.judges.iter_rows())
    true_accuracy = np.array([accuracy[judge] for judge in ranking.judges["judge"]])
    assert np.corrcoef(true_accuracy, ranking.judges["accuracy"])[0, 1] > 0.99


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"items": 1}, "need 2 and 1"),
        ({"judges": 0}, "need 2 and 1"),
        ({"adversaries": 11}, "impossible"),
        ({"model": "btl", "adversaries": 1}, "no adversaries"),
        ({"model": "win-rate"}, "simulate btl instead"),
        ({"density": 0.5, "votes_per_judge": 5}, "not both"),
        ({"density": 1.5}, "not above 1"),
        ({"votes_per_judge": 0}, "at least 1"),
        ({"judges": 10, "accuracies": [1.0]}, "must be 10 finite numbers"),
        ({"items": 3, "scores": 3.0}, "must be 3 finite numbers"),
        ({"accuracies": [np.nan] * 10}, "must be 10 finite numbers"),
        ({"model": "crowdbt", "accuracies": [2.0] * 10}, "between 0 and 1"),
        ({"model": "btl", "accuracies": [1.0] * 9 + [2.0]}, "same accuracy"),
        ({"noise": "normal"}, "use model='htm'"),
        ({"score_sd": -1.0}, "not negative"),
        ({"seed": -1}, "not be negative"),
    ],
)
def test_the_impossible_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(jr.InputError, match=complaint):
        jr.simulate(**wrong)
