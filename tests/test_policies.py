"""Ways to choose pairs that the study of them compares with the package's own."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import entr, expit
from scipy.stats import norm

import juryrank as jr
from studies.policies import (
    PSEUDO_VOTES,
    Answer,
    CrowdBt,
    EqualCounts,
    HybridMst,
    HybridMstProgram,
    Policy,
    Question,
    Quicksort,
    Random,
    Study,
    Swiss,
    bradley_terry,
    mutual_information,
    program_in,
    spanning_tree,
)
from studies.replayed import COLUMNS, Asked, Fitted, Pool
from studies.running import kept_results


def answered(policy: Policy, votes: int, items: int = 8, judges: int = 3) -> Study:
    """A study in which the item of the higher code always wins."""
    study, rng = Study(items, judges), np.random.default_rng(1)
    while len(study.answers) < votes:
        asked = policy.ask(study, 5, rng)
        study.answers += [Answer(one, one.left > one.right) for one in asked]
    return study


@pytest.mark.parametrize("policy", [Random, EqualCounts, Swiss, Quicksort, HybridMst, CrowdBt])
def test_questions_are_about_two_items_and_a_judge(policy: type[Policy]) -> None:
    study = answered(policy(), 60)
    asked = [answer.question for answer in study.answers]
    assert all(0 <= q.judge < 3 and 0 <= q.left < 8 and 0 <= q.right < 8 for q in asked)
    assert all(q.left != q.right for q in asked)
    if policy is not CrowdBt:
        assert [q.judge for q in asked[:6]] == [0, 1, 2, 0, 1, 2]


def test_equal_counts_are_equal() -> None:
    study = answered(EqualCounts(), 28)
    met = study.wins + study.wins.T
    assert np.ptp(met.sum(axis=1)) <= 1
    assert met.max() <= 2.0


def test_quicksort_sorts() -> None:
    """In one run every pair that is next to each other in the order has met."""
    study = answered(Quicksort(), 1)
    policy, rng = Quicksort(), np.random.default_rng(2)
    study.answers.clear()
    while True:
        asked = policy.ask(study, 1, rng)
        met = study.wins + study.wins.T
        if study.answers and len(asked) == 7:
            break
        study.answers += [Answer(one, one.left > one.right) for one in asked]
    assert all(met[k, k + 1] == 1.0 for k in range(7))


def test_information_of_an_answer_about_a_normal_log_odds() -> None:
    def integral(f: object) -> float:
        return float(quad(lambda x: f(x) * norm.pdf(x, 0.7, 1.3), -12.0, 12.0)[0])  # type: ignore[operator]

    expected = integral(expit)
    entropy = integral(lambda x: entr(expit(x)) + entr(1.0 - expit(x)))
    found = mutual_information(np.array([0.7]), np.array([1.3]))[0]
    assert found == pytest.approx(entr(expected) + entr(1.0 - expected) - entropy, abs=1e-8)


def test_bradley_terry_explains_the_number_of_wins() -> None:
    wins = np.random.default_rng(3).integers(1, 9, (5, 5)) * (1.0 - np.eye(5))
    score, covariance = bradley_terry(wins)
    chance = expit(score[:, None] - score[None, :])
    expected = ((wins + wins.T) * chance).sum(axis=1)
    np.testing.assert_allclose(expected, wins.sum(axis=1), rtol=1e-7)
    np.testing.assert_allclose(covariance.sum(axis=1), 0.0, atol=1e-9)


def test_a_tree_has_most_of_the_gain() -> None:
    gain = np.ones((4, 4))
    gain[0, 1] = gain[1, 2] = gain[2, 3] = 5.0
    assert sorted(spanning_tree(gain)) == [(0, 1), (1, 2), (2, 3)]


def test_what_crowd_bt_learns_of_a_judge_and_of_items() -> None:
    """After one vote, against sums over what the judge may have meant."""
    study = Study(2, 1)
    policy = CrowdBt(gamma=0.0)
    rng = np.random.default_rng(4)
    asked = policy.ask(study, 1, rng)[0]
    study.answers.append(Answer(asked, left_won=True))
    policy.ask(study, 1, rng)
    meant, right, wrong = 0.5, 10.0, 1.0
    said = (meant * right + (1.0 - meant) * wrong) / (right + wrong)
    first = (meant * right * (right + 1.0) + (1.0 - meant) * right * wrong) / (
        said * (right + wrong) * (right + wrong + 1.0)
    )
    found = policy.accuracy_of(0)
    assert found == pytest.approx(first, rel=1e-12)
    assert policy.mean_of(asked.left) == pytest.approx(right / (right + wrong) - 0.5)


def test_a_program_of_others_sees_the_wins_and_half_a_vote_each_way() -> None:
    seen: list[Any] = []

    class Program(ModuleType):
        def GeneratePlaylist_Hybrid_MST(self, wins: Any) -> Any:  # noqa: N802
            seen.append(wins)
            return np.array([[0, 1], [1, 2]])

    study = Study(3, 1, [Answer(Question(0, 2, 0), left_won=True)])
    asked = HybridMstProgram(Program("theirs")).ask(study, 1, np.random.default_rng(0))
    assert [{one.left, one.right} for one in asked] == [{0, 1}, {1, 2}]
    assert seen[0][2, 0] == 1.0 + PSEUDO_VOTES
    assert seen[0][0, 2] == PSEUDO_VOTES
    assert not np.diag(seen[0]).any()


def test_a_program_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert program_in(tmp_path, "asap_cpu") is None
    (tmp_path / "theirs.py").write_text("answer = 42\n")
    found = program_in(tmp_path, "theirs")
    assert found is not None
    assert found.answer == 42


def test_what_a_file_keeps_is_not_run_again(tmp_path: Path) -> None:
    run: list[tuple[int, int]] = []

    def squared(key: tuple[int, int]) -> list[int]:
        run.append(key)
        return [key[0] ** 2]

    file = str(tmp_path / "trials.jsonl")
    assert kept_results(squared, [(0, 1), (0, 2)], "Test", 1, file) == [[0], [0]]
    assert kept_results(squared, [(0, 2), (3, 1)], "Test", 1, file) == [[0], [9]]
    assert run == [(0, 1), (0, 2), (3, 1)]


def test_a_replayed_vote_is_given_out_once() -> None:
    rows = [("x", "y", "left"), ("y", "x", "left"), ("y", "z", "tie")]
    votes = pl.DataFrame(rows, schema=["left", "right", "winner"], orient="row")
    pool = Pool(votes, np.random.default_rng(0))
    assert pool.used_up.select("left", "right").rows() == [("x", "z")]
    for _ in range(3):
        pool.answer("x", "y")
    assert len(pool.known) == 2
    assert set(pool.used_up.select("left", "right").rows()) == {("x", "y"), ("x", "z")}


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_simulated_judges_answer_as_the_model_that_was_fitted() -> None:
    made = jr.simulate(5, 3, accuracies=[2.0, 1.0, 0.5], votes_per_judge=200, tie=0.5, seed=1)
    fitted = Fitted(made.votes.select(COLUMNS), np.random.default_rng(2))
    best, worst = max(fitted.items, key=fitted.score.get), min(fitted.items, key=fitted.score.get)  # type: ignore[arg-type]
    said = [fitted.answer("judge-1", best, worst) for _ in range(300)]
    assert said.count("left") > 200
    near = [fitted.answer("judge-3", best, worst) for _ in range(300)]
    assert near.count("tie") > said.count("tie")
    asked = Asked(fitted)
    for _ in range(4):
        asked.answer(best, worst)
    assert asked.known.columns == list(COLUMNS)
    assert len(asked.known) == len(asked.given) == 4
