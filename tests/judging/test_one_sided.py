"""Nobody takes over: judges who push one item are found, named, and do not count."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar

import juryrank as jr
from juryrank.judging.cells import NOBODY, OneSided, without_cells
from juryrank.judging.one_sided import _accuracy_elsewhere, _first_of_each, largest_z
from juryrank.model.objective import Objective
from juryrank.ranking.request import task_of
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import Pairs

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

ITEMS = 15
SEEDS = range(5)


def honest_votes(rng: np.random.Generator, score: np.ndarray, judges: int) -> pl.DataFrame:
    left = rng.integers(0, ITEMS, 100 * judges)
    right = (left + rng.integers(1, ITEMS, len(left))) % ITEMS
    won = rng.random(len(left)) < 1.0 / (1.0 + np.exp(score[right] - score[left]))
    return frame(np.repeat(np.arange(judges), 100), "honest", left, right, won)


def frame(
    judge: np.ndarray, word: str, left: np.ndarray, right: np.ndarray, won: np.ndarray
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "judge": [f"{word}-{u}" for u in judge],
            "left": [f"item-{i:02d}" for i in left],
            "right": [f"item-{i:02d}" for i in right],
            "winner": np.where(won, "left", "right"),
        }
    )


def pushing_votes(
    rng: np.random.Generator, item: int, judges: int, votes: int, word: str = "pusher"
) -> pl.DataFrame:
    other = (item + rng.integers(1, ITEMS, votes * judges)) % ITEMS
    on_left = rng.random(len(other)) < 0.5
    left, right = np.where(on_left, item, other), np.where(on_left, other, item)
    return frame(np.repeat(np.arange(judges), votes), word, left, right, on_left)


def always_left(rng: np.random.Generator, votes: int) -> pl.DataFrame:
    left = rng.integers(0, ITEMS, votes)
    right = (left + rng.integers(1, ITEMS, votes)) % ITEMS
    return frame(np.zeros(votes, dtype=int), "lefty", left, right, np.ones(votes, dtype=bool))


def test_who_pushed_what_is_told_in_short() -> None:
    rng = np.random.default_rng(0)
    votes = pl.concat(
        (honest_votes(rng, np.linspace(2, -2, ITEMS), 5), pushing_votes(rng, 14, 1, 100))
    )
    votes = votes.with_columns(pl.exclude("winner") + "!" * 500)
    ranking = jr.rank(votes)
    (named,) = ranking.judges.filter(pl.col("verdict") == "one-sided").iter_rows(named=True)
    assert named["reason"].startswith("differs from the others on item-14!!!")
    assert len(named["reason"]) < 150
    assert max(map(len, ranking.warnings)) < 300


def rank_of(ranking: jr.Ranking, item: str) -> int:
    return ranking.items["item"].to_list().index(item)


@pytest.mark.parametrize(
    ("honest", "pushers", "votes"),
    [(5, 1, 100), (9, 3, 100), (5, 1, 1000)],
    ids=["one of six", "a ring of three of twelve", "ten times everyone's votes"],
)
def test_a_pushed_item_stays_where_honest_judges_put_it(
    honest: int, pushers: int, votes: int
) -> None:
    close = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        worst = int(score.argmin())
        fair = honest_votes(rng, score, honest)
        rigged = pl.concat([fair, pushing_votes(rng, worst, pushers, votes)])
        item = f"item-{worst:02d}"
        fairly = rank_of(jr.rank(fair, tastes=False), item)
        guarded = jr.rank(rigged, tastes=False)
        close += abs(rank_of(guarded, item) - fairly) <= 2
        one_sided = guarded.judges.filter(pl.col("verdict") == "one-sided")
        assert set(one_sided["judge"]) == {f"pusher-{u}" for u in range(pushers)}
        assert all(f"voted for {item} in {votes:,} of" in reason for reason in one_sided["reason"])
        assert guarded.fit.set_aside == votes * pushers
        assert any("one-sided" in warning and item in warning for warning in guarded.warnings)
    assert close >= 4


@pytest.mark.parametrize(
    ("honest", "pushers", "votes"),
    [(5, 1, 100), (9, 3, 100), (5, 1, 1000)],
    ids=["one of six", "a ring of three of twelve", "ten times everyone's votes"],
)
def test_with_tastes_a_pushed_item_stays_too_though_all_votes_count(
    honest: int, pushers: int, votes: int
) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        worst = int(score.argmin())
        fair = honest_votes(rng, score, honest)
        rigged = jr.rank(pl.concat([fair, pushing_votes(rng, worst, pushers, votes)]))
        item = f"item-{worst:02d}"
        assert abs(rank_of(rigged, item) - rank_of(jr.rank(fair), item)) <= 2
        named = rigged.judges.filter(pl.col("verdict") == "one-sided")["judge"]
        assert set(named) == {f"pusher-{u}" for u in range(pushers)}
        assert rigged.fit.set_aside == 0
        assert any("count as tastes of their own" in warning for warning in rigged.warnings)


def test_a_judge_who_always_votes_left_is_named_and_does_no_harm() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        fair = honest_votes(rng, score, 5)
        item = f"item-{int(score.argmin()):02d}"
        found = jr.rank(pl.concat([fair, always_left(rng, 100)]))
        assert abs(rank_of(found, item) - rank_of(jr.rank(fair), item)) <= 2
        lefty = found.judges.row(by_predicate=pl.col("judge") == "lefty-0", named=True)
        assert lefty["verdict"] == "position-biased"
        assert lefty["reason"].startswith("chose the left side in 100% of votes")
        assert any("lefty-0" in warning for warning in found.warnings)
        others = found.judges.filter(pl.col("judge") != "lefty-0")
        assert not others["verdict"].is_in(["one-sided", "position-biased"]).any()


def test_pushing_an_ordinary_item_is_found_among_many_judges() -> None:
    """Half the votes for it would be usual, and there are hundreds of pairs of judge and item."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        middle = int(np.argsort(score)[ITEMS // 2])
        rigged = pl.concat([honest_votes(rng, score, 30), pushing_votes(rng, middle, 1, 100)])
        one_sided = jr.rank(rigged).judges.filter(pl.col("verdict") == "one-sided")
        assert one_sided["judge"].to_list() == ["pusher-0"]


def test_real_judges_who_push_one_item_are_found(data: Path) -> None:
    """Two crowd workers voted for Weaver 12k in 106 of 110 and 43 of 45 votes; it is 49th."""
    found = jr.rank(jr.read_votes(data / "llmfao" / "votes.csv"), tastes=False)
    assert set(found.judges.filter(pl.col("verdict") == "one-sided")["judge"]) == {15, 70}
    assert found.fit.set_aside == 155


def test_a_judge_who_pushes_two_items_is_found() -> None:
    found, close = 0, 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        worst, second = np.argsort(score)[:2].tolist()
        fair = honest_votes(rng, score, 5)
        pushed = [pushing_votes(rng, item, 1, 100) for item in (worst, second)]
        ranking = jr.rank(pl.concat([fair, *pushed]), tastes=False)
        one_sided = ranking.judges.filter(pl.col("verdict") == "one-sided")["judge"].to_list()
        found += one_sided == ["pusher-0"]
        item = f"item-{worst:02d}"
        close += abs(rank_of(ranking, item) - rank_of(jr.rank(fair, tastes=False), item)) <= 2
    assert found >= 4
    assert close >= 4


def test_a_backwards_judge_with_most_of_the_votes_does_not_turn_the_order_round() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        score = rng.normal(size=ITEMS)
        fair = honest_votes(rng, score, 5)
        many = pl.concat([honest_votes(rng, -score, 1) for _ in range(10)])
        busy = many.with_columns(judge=pl.lit("busy"))
        ranking = jr.rank(pl.concat([fair, busy]))
        verdict = dict(ranking.judges.select("judge", "verdict").iter_rows())
        assert verdict["busy"] == "backwards"
        assert rank_of(ranking, f"item-{int(score.argmax()):02d}") < ITEMS // 2


def test_weights_of_all_votes_times_ten_accuse_nobody() -> None:
    made = jr.simulate(8, accuracies=[2, 1, 1, 0.5, -1], votes_per_judge=100, seed=1)
    frame = made.votes.with_columns(times=pl.lit(10.0))
    assert jr.rank(jr.votes_from(frame, weight="times"), intervals=None).fit.set_aside == 0


def test_pushing_an_item_down_is_found_too() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=ITEMS)
    best = int(score.argmax())
    down = pushing_votes(rng, best, 1, 100).with_columns(
        winner=pl.when(pl.col("winner") == "left").then(pl.lit("right")).otherwise(pl.lit("left"))
    )
    found = jr.rank(pl.concat([honest_votes(rng, score, 5), down]))
    assert found.judges.filter(pl.col("verdict") == "one-sided")["judge"].to_list() == ["pusher-0"]
    assert any(f"on item-{best:02d} by -" in text for text in found.warnings)
    assert rank_of(found, f"item-{best:02d}") <= 2


@pytest.mark.parametrize("model", ["hbtl", "htcv"])
def test_honest_votes_are_not_set_aside(model: str) -> None:
    """The chance to set any aside is 1 % per data set."""
    aside = 0
    for seed in range(12):
        made = jr.simulate(
            8, accuracies=[3, 2, 1, 1, 0.5, 0, -1, -2], model=model, votes_per_judge=150, seed=seed
        )
        aside += jr.rank(made.votes, model, intervals=None).fit.set_aside > 0
    assert aside <= 1


def test_guard_needs_three_judges() -> None:
    rng = np.random.default_rng(2)
    score = rng.normal(size=ITEMS)
    rigged = pl.concat([honest_votes(rng, score, 1), pushing_votes(rng, 0, 1, 100)])
    assert jr.rank(rigged).fit.set_aside == 0


def test_weighted_votes_count_as_many() -> None:
    rng = np.random.default_rng(3)
    score = rng.normal(size=ITEMS)
    worst = int(score.argmin())
    fair = honest_votes(rng, score, 5).with_columns(times=pl.lit(1.0))
    heavy = pushing_votes(rng, worst, 1, 8).with_columns(times=pl.lit(12.0))
    found = jr.rank(jr.votes_from(pl.concat([fair, heavy]), weight="times"), tastes=False)
    assert found.judges.filter(pl.col("verdict") == "one-sided")["judge"].to_list() == ["pusher-0"]
    assert found.fit.set_aside == 8


def test_a_suspect_on_every_item_does_not_cost_a_copy_of_its_votes_for_each() -> None:
    made = jr.simulate(60, accuracies=[1, 1, 1, -1], votes_per_judge=20_000, seed=1)
    votes = jr.votes_from(made.votes)
    tracemalloc.start()
    found = jr.rank(votes, intervals=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.fit.set_aside == 0
    assert peak < 25e6


def test_of_very_many_suspects_the_most_suspicious_of_each_judge_are_looked_at() -> None:
    judge = np.array([4, 1, 1, 4, 1, 7, 4])
    key = -np.array([3.0, 9.0, 5.0, 8.0, 7.0, 4.0, 6.0])
    assert _first_of_each(judge, key, 2).tolist() == [1, 3, 4, 5, 6]
    assert _first_of_each(judge, key, 9).tolist() == list(range(7))


@pytest.fixture(scope="module", params=["ties", "rankings"])
def objective(request: pytest.FixtureRequest) -> Objective:
    """Votes with weights: on pairs, some of them tied, or on sets of four."""
    more: dict[str, Any] = {"tie": 0.5} if request.param == "ties" else {"per_vote": 4}
    made = jr.simulate(12, 9, votes_per_judge=80, seed=3, **more)
    weight = pl.Series("weight", np.random.default_rng(0).uniform(0.5, 2.0, 720))
    ranking = made.votes if request.param == "rankings" else made.votes.with_columns(weight)
    return task_of(jr.votes_from(ranking), "hbtl").objective()


@pytest.fixture
def cells() -> OneSided:
    """Some judges and items, a judge with several items and an item with several judges."""
    rng = np.random.default_rng(1)
    return replace(NOBODY, judge=rng.integers(0, 9, 40), item=rng.integers(0, 12, 40))


def solution_at_random(objective: Objective) -> Solution:
    rng = np.random.default_rng(2)
    effects = objective.layout.size - objective.n_items
    return Solution(
        rng.normal(size=12), rng.normal(1.0, 1.0, 9), None, True, 1, effects=np.zeros(effects)
    )


def test_a_residual_has_the_bound_that_it_is_sifted_by(
    objective: Objective, cells: OneSided
) -> None:
    solution, accuracy = solution_at_random(objective), np.linspace(-1.0, 2.0, len(cells))
    bound = largest_z(objective, solution, accuracy, cells)
    if objective.votes.has_lists:
        assert np.isinf(bound).all()
        return
    for index, (u, i) in enumerate(zip(cells.judge, cells.item, strict=True)):
        loss = loss_of_taste(objective.votes.pairs, u, i, accuracy[index], solution.score)
        least = minimize_scalar(loss, bounds=(-20.0, 20.0), method="bounded").fun
        assert bound[index] == pytest.approx(np.sqrt(2.0 * (loss(0.0) - least)), abs=1e-4)


def loss_of_taste(
    wins: Pairs, judge: int, item: int, accuracy: float, score: Floats
) -> Callable[[float], float]:
    own = slice(*wins.start[judge : judge + 2])
    winner, loser = wins.winner[own], wins.loser[own]
    part = np.where(winner == item, 1.0, np.where(loser == item, -1.0, 0.0))
    assert wins.tied is not None
    weight, half = wins.weight[own] * np.abs(part), 0.5 * wins.tied[own]

    def loss(taste: float) -> float:
        x = accuracy * (score[winner] - score[loser]) + part * taste
        return float(weight @ ((1 - half) * np.logaddexp(0, -x) + half * np.logaddexp(0, x)))

    return loss


def test_accuracies_elsewhere_are_those_without_the_item(
    objective: Objective, cells: OneSided
) -> None:
    solution = solution_at_random(objective)
    together = _accuracy_elsewhere(objective, solution, cells)
    apart = _accuracy_elsewhere(objective, solution, cells, votes_at_once=1)
    assert together.tolist() == apart.tolist()
    for index, (u, i) in enumerate(zip(cells.judge, cells.item, strict=True)):
        asked = replace(NOBODY, judge=np.array([u]), item=np.array([i]))
        accuracy = np.ones(9)
        without_cells(objective, asked).profile(solution.state, accuracy)
        assert together[index] == pytest.approx(accuracy[u], abs=1e-6)
