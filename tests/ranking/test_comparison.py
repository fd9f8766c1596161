from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import juryrank as jr
from juryrank.ranking.comparison import COMPARED, Comparison


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    made = jr.simulate(12, 20, adversaries=6, votes_per_judge=60, seed=2)
    return jr.compare(jr.votes_from(made.votes))


def test_every_model_is_compared_best_first(comparison: Comparison) -> None:
    assert set(comparison.table["model"]) == set(COMPARED)
    assert comparison.table["log_loss"].is_sorted()
    assert comparison.table["worse_by"][0] == 0.0
    assert (comparison.table["note"] == "").all()


def test_backwards_judges_are_predicted_by_accuracies_alone(comparison: Comparison) -> None:
    loss = dict(zip(comparison.table["model"], comparison.table["log_loss"], strict=True))
    assert loss["hbtl"] < loss["btl"] - 0.05
    assert loss["hbtl"] < np.log(2) - 0.05
    assert comparison.table["model"][0].removesuffix("-no-tastes") in (
        "hbtl", "htcv", "crowdbt", "crowdtcv",
    )  # fmt: skip


def test_log_loss_and_correct_are_those_of_the_held_out_votes() -> None:
    votes = jr.votes_from(jr.simulate(5, 4, votes_per_judge=30, seed=1).votes)
    compared = jr.compare(votes, ["btl"], folds=3, seed=7)
    fold = np.random.default_rng(7).permutation(len(votes)) % 3
    losses, right = [], []
    for k in range(3):
        ranking = jr.rank(votes.subset(fold != k), "btl", intervals=None)
        for v in np.flatnonzero(fold == k):
            left, other = votes.items[int(votes.left[v])], votes.items[int(votes.right[v])]
            chance = float(ranking.predict(None, left, other))
            won = chance if votes.outcome[v] == 1 else 1.0 - chance
            losses.append(-np.log(won))
            right.append(won > 0.5)
    assert compared.table["log_loss"][0] == pytest.approx(np.mean(losses), rel=1e-9)
    assert compared.table["correct"][0] == pytest.approx(np.mean(right), rel=1e-9)


def test_a_model_that_cannot_be_fitted_says_why() -> None:
    chain = {"judge": ["u"] * 4, "winner": list("aabb"), "loser": list("bccc")}
    table = jr.compare(jr.votes_from(chain), ["rank-centrality", "btl"], folds=2).table
    assert table["model"].to_list() == ["btl", "rank-centrality"]
    assert "could not be fitted on 2 of 2 folds: Rank Centrality needs" in table["note"][1]
    assert table["log_loss"][1] is None


def test_same_seed_same_table_and_progress_is_reported() -> None:
    votes = jr.votes_from(jr.simulate(5, 4, votes_per_judge=30, seed=1).votes)
    seen: list[tuple[int, int, str]] = []
    one = jr.compare(votes, ["btl", "hbtl"], watch=lambda *news: seen.append(news))
    assert one.table.equals(jr.compare(votes, ["btl", "hbtl"]).table)
    assert [done for done, _, _ in seen] == list(range(10))
    assert {total for _, total, _ in seen} == {10}


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"folds": 1}, "between 2"),
        ({"folds": 10_000}, "between 2"),
        ({"models": ["hbtl", "nope"]}, "no model called 'nope'"),
        ({"models": ["btl", "btl"]}, "once"),
        ({"seed": -1}, "negative"),
    ],
)
def test_the_impossible_is_refused(wrong: dict[str, object], complaint: str) -> None:
    votes = jr.votes_from(jr.simulate(5, 4, votes_per_judge=30, seed=1).votes)
    with pytest.raises(jr.InputError, match=complaint):
        jr.compare(votes, **wrong)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
@pytest.mark.parametrize(
    ("folder", "ours", "most"),
    [("reading_level", "hbtl-no-tastes", 0.5015), ("country_population", "hbtl", 0.4920)],
)
def test_held_out_log_loss_on_real_data_beats_plain_bradley_terry(
    data: Path, folder: str, ours: str, most: float
) -> None:
    """With tastes Reading Level is predicted better still, but takes minutes."""
    votes = jr.read_votes(data / folder / "votes.csv")
    table = jr.compare(votes, [ours, "btl", "win-rate"]).table
    assert table["model"][0] == ours
    assert table["log_loss"][0] < most


def test_ties_in_rankings_do_not_speak_against_models_that_make_them_an_outcome() -> None:
    made = jr.simulate(8, 8, model="btl", per_vote=4, tie=1.5, votes_per_judge=60, seed=5)
    table = jr.compare(made.coded(), ["btl", "tcv"], folds=3, threads=1).table
    loss = dict(table.select("model", "log_loss").iter_rows())
    assert loss["btl"] < loss["tcv"] + 0.02


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ([], "models is empty: name a model to compare, or omit it"),
        (iter(()), "models is empty"),
        (3, "models must be the name of a model, or several, not 3"),
        ("", "There is no model called ''"),
        ([None], "There is no model called None"),
        ([["btl"]], r"There is no model called \['btl'\]"),
        (["btl", "btl"], "Each model can be compared once, not btl, btl"),
    ],
)
def test_models_that_are_none(models: object, said: str) -> None:
    votes = jr.votes_from({"winner": ["a", "b", "a"], "loser": ["b", "a", "b"]})
    with pytest.raises(jr.InputError, match=said):
        jr.compare(votes, models, folds=2)  # type: ignore[arg-type]


def test_models_may_come_one_after_the_other() -> None:
    votes = jr.votes_from({"winner": ["a", "b", "a"], "loser": ["b", "a", "b"]})
    models = iter(["btl", "win-rate"])
    assert len(jr.compare(votes, models, folds=2).table) == 2  # type: ignore[arg-type]
