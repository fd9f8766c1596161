"""Accounts that speak with one voice count as one judge; independent judges never do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.judging.accounts import Voice, say_of, voices_of
from juryrank.model.objective import Objective
from juryrank.ranking.request import task_of
from juryrank.reading import as_votes
from studies.attacks import BY_NAME, attacked
from studies.jury import Asked, code_of

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def objective_of(votes: object, **options: object) -> Objective:
    given = {"noise": None, "prior": "auto", "lambda0": 0.0, "solver": "profile"} | options
    return task_of(as_votes(votes), "hbtl", **given).objective()  # type: ignore[arg-type]


def voices(votes: object) -> list[tuple[int | None, list[int]]]:
    return [(voice.item, voice.judges.tolist()) for voice in voices_of(objective_of(votes))]


def row_of(ranking: jr.Ranking, judge: str) -> dict[str, object]:
    return ranking.judges.row(by_predicate=pl.col("judge") == judge, named=True)


@pytest.mark.parametrize("name", ["30 accounts x 3", "60 accounts x 3", "100 accounts x 2"])
def test_accounts_on_one_item_are_found_and_do_not_move_it(name: str) -> None:
    case = attacked(BY_NAME[name], np.random.default_rng([3, len(name)]))
    ((item, judges),) = voices(case.votes.frame())
    assert item == case.target
    assert judges == case.attackers.tolist()
    ranking = jr.rank(case.votes.frame())
    rank = [code_of(one) for one in ranking.items["item"]].index(case.target)
    assert rank > 2
    assert ranking.fit.accounts_as_one == len(case.attackers)
    for u in case.attackers[:3].tolist():
        named = row_of(ranking, f"judge {u:05}")
        assert named["verdict"] == "single-item"
        assert f"only ever votes on item {case.target:05}" in str(named["reason"])
    honest = ranking.judges.filter(pl.col("judge") < f"judge {case.attackers[0]:05}")
    assert not honest["verdict"].is_in(["single-item", "one-sided", "backwards"]).any()
    assert any("only ever vote on" in warning for warning in ranking.warnings)


def test_chance_makes_no_club_of_judges_with_two_votes() -> None:
    rng = np.random.default_rng(5)
    judge = np.repeat(np.arange(1_000), 2)
    winner = rng.integers(0, 12, len(judge))
    loser = (winner + rng.integers(1, 12, len(judge))) % 12
    votes = Asked(judge, winner, loser)
    shared = (winner[::2] == winner[1::2]) | (winner[::2] == loser[1::2])
    assert shared.sum() > 100  # many have both votes on the same item
    assert voices(votes.frame()) == []


def test_judges_who_were_asked_about_one_item_each_are_no_club() -> None:
    rng = np.random.default_rng(6)
    judge = np.repeat(np.arange(60), 10)
    own = np.repeat(np.arange(60) % 12, 10)
    other = (own + rng.integers(1, 12, len(judge))) % 12
    won = rng.random(len(judge)) < 0.5
    votes = Asked(judge, np.where(won, own, other), np.where(won, other, own))
    assert voices(votes.frame()) == []


def test_exact_copies_are_found_reported_and_count_once() -> None:
    case = attacked(BY_NAME["11 copies"], np.random.default_rng(7))
    copies = [0, *case.attackers.tolist()]
    assert voices(case.votes.frame()) == [(None, copies)]
    ranking = jr.rank(case.votes.frame())
    assert row_of(ranking, "judge 00000")["verdict"] == "copy"
    assert "same votes as 11 other accounts" in str(row_of(ranking, "judge 00000")["reason"])
    assert any("cast exactly the same votes" in warning for warning in ranking.warnings)
    alone = Asked(*(part[case.votes.judge < 12] for part in (
        case.votes.judge, case.votes.winner, case.votes.loser)))  # fmt: skip
    once = jr.rank(alone.frame())
    a, b = (one.items.sort("item")["score"].to_numpy() for one in (ranking, once))
    widths = [
        float(np.mean(one.items["score_high"].to_numpy() - one.items["score_low"].to_numpy()))
        for one in (ranking, once)
    ]
    assert np.abs(a - b).max() < 0.5 * widths[1]
    assert widths[0] > 0.9 * widths[1]


def test_of_many_groups_of_copies_three_are_named() -> None:
    votes = jr.simulate(8, 5, votes_per_judge=80, seed=4).votes
    twice = pl.concat([votes, votes.with_columns(judge=pl.col("judge") + " again")])
    said = [text for text in jr.rank(twice).warnings if "account" in text]
    assert len(said) == 4
    assert said[-1] == "4 more accounts count as 2 judges for such reasons."


def test_copies_are_found_whatever_the_order_of_their_votes() -> None:
    case = attacked(BY_NAME["5 copies"], np.random.default_rng(8))
    shuffled = case.votes.frame().sample(fraction=1.0, shuffle=True, seed=1)
    assert voices(shuffled) == [(None, [0, *case.attackers.tolist()])]
    # One vote less, and it is no exact copy any more.
    last = shuffled.with_row_index().filter(pl.col("judge") == "judge 00011")["index"][0]
    fewer = shuffled.with_row_index().filter(pl.col("index") != last).drop("index")
    assert voices(fewer) == [(None, [0, 7, 8, 9, 10])]


def test_judges_who_all_agree_are_no_copies() -> None:
    """Ten careful judges answer the same twenty easy questions in the same way."""
    rng = np.random.default_rng(9)
    easy = [(a, b) for a in range(8) for b in range(a + 1, 8)]
    rows = [(u, a, b) for u in range(10) for a, b in easy]
    rows += [
        (10 + u, *sorted(rng.permutation(8)[:2].tolist())) for u in range(5) for _ in range(30)
    ]
    judge, winner, loser = np.array(rows).T
    assert voices(Asked(judge, winner, loser).frame()) == []


def test_copied_rankings_are_found_too() -> None:
    rng = np.random.default_rng(10)
    score = np.linspace(1, -1, 6)
    rows = [
        (f"judge {judge}", " > ".join(f"item {i}" for i in np.argsort(rng.gumbel(size=6) - score)))
        for judge in range(6)
        for _ in range(12)
    ]
    frame = pl.DataFrame(rows, schema=["judge", "ranking"], orient="row")
    copy = frame.filter(pl.col("judge") == "judge 2").with_columns(judge=pl.lit("judge 9"))
    assert voices(pl.concat([frame, copy])) == [(None, [2, 6])]


def test_who_counts_how_much() -> None:
    some = (Voice(np.array([1, 3])), Voice(np.array([0, 2, 4]), 7))
    np.testing.assert_allclose(say_of(some, 6), [1 / 3, 1 / 2, 1 / 3, 1 / 2, 1 / 3, 1.0])


def test_without_the_guard_everybody_counts() -> None:
    case = attacked(BY_NAME["60 accounts x 3"], np.random.default_rng(11))
    ranking = jr.rank(case.votes.frame(), guard=False, intervals=None)
    assert ranking.fit.accounts_as_one == 0
