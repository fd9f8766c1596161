"""Gains against sums over all outcomes, and batches against joint information."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from juryrank.active.answer import fisher
from juryrank.active.batch import Answers, Batch
from juryrank.active.beliefs import ANYONE, Questions, beliefs_about, blurred
from juryrank.active.gain import Outlook, information, of_events, outlook
from juryrank.model.noise import NOISES
from juryrank.ranking.rank import rank
from juryrank.ranking.ranking import Ranking
from juryrank.simulation.simulation import simulate
from juryrank.types import Floats

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def mutual_information(joint: Floats) -> float:
    """``sum p(x, y) log p(x, y) / p(x) p(y)``."""
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    positive = joint > 0.0
    return float(np.sum(joint[positive] * np.log(joint[positive] / apart[positive])))


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    made = simulate(6, 4, accuracies=[2.0, 1.0, 0.0, -1.0], votes_per_judge=25, seed=4)
    return rank(made.votes)


def some_chances(draws: int = 7) -> Floats:
    chances = np.random.default_rng(0).dirichlet((1.0, 1.0, 1.0), (4, draws))
    return np.moveaxis(chances, 2, 0)


def test_a_gain_is_the_information_that_answer_and_draw_share() -> None:
    chances = some_chances()
    for question, gain in enumerate(information(chances)):
        joint = chances[:, question] / chances.shape[2]
        assert gain == pytest.approx(mutual_information(joint))


def test_the_gain_for_events_is_what_the_answer_tells_of_each() -> None:
    chances = some_chances(4_000)
    events = np.random.default_rng(1).random((3, 4_000)) < 0.3
    events[0] = chances[0, 1] > 0.4
    events[2] = True
    found = of_events(chances, events)
    for question in range(4):
        told = 0.0
        for event in events:
            so = (chances[:, question] * event).sum(axis=1) / 4_000
            joint = np.column_stack((so, chances[:, question].mean(axis=1) - so))
            told += mutual_information(np.clip(joint, 0.0, 1.0))
        assert found[question] == pytest.approx(told, abs=2e-3)
    assert found[1] > 20.0 * found[0]


def test_events_that_an_answer_says_nothing_of_have_no_gain_by_chance() -> None:
    rng = np.random.default_rng(2)
    win = rng.random((300, 200))
    found = of_events(np.stack((win, 1.0 - win)), rng.random((1, 200)) < 0.5)
    # Without what is taken off, the mean would be about var p / (2 n p q) = 1 / 1200.
    assert found.mean() < 6e-4


def exact_joint_information(x: Floats, weights: Floats) -> float:
    covariance = x @ x.T
    root = np.sqrt(weights)
    return 0.5 * float(np.linalg.slogdet(np.eye(len(x)) + root[:, None] * covariance * root)[1])


def test_a_batch_sums_to_the_information_of_all_answers_together() -> None:
    rng = np.random.default_rng(3)
    deviation, weight = rng.standard_normal((5, 8)), rng.uniform(0.05, 0.25, 5)
    alone = 0.5 * np.log1p(weight * (deviation**2).sum(axis=1))
    batch, total = Batch(Outlook(alone, deviation, weight)), 0.0
    for number, question in enumerate((3, 0, 4, 3), start=1):
        total += float(batch.gains[question])
        batch.answer(question)
        asked = [3, 0, 4, 3][:number]
        assert total == pytest.approx(exact_joint_information(deviation[asked], weight[asked]))
    assert_allclose(batch.variance, (batch._deviation**2).sum(axis=1))


def test_answers_to_other_questions_count_as_those_to_its_own() -> None:
    rng = np.random.default_rng(5)
    deviation, weight, gain = rng.standard_normal((4, 6)), np.full(4, 0.2), np.ones(4)
    whole = Batch(Outlook(gain, deviation, weight))
    draws = deviation.shape[1]
    part = Batch(Outlook(gain[:2], deviation[:2], weight[:2]), Answers(draws))
    for question in (2, 3):
        other = [question]
        told = part.answer_other(Outlook(gain[other], deviation[other], weight[other]))
        assert told == pytest.approx(whole.gains[question])
        whole.answer(question)
    assert_allclose(part.gains, whole.gains[:2])


def test_conditioning_is_the_update_of_a_covariance() -> None:
    rng = np.random.default_rng(6)
    deviation, weight = rng.standard_normal((4, 9)), rng.uniform(0.1, 0.3, 4)
    batch = Batch(Outlook(np.ones(4), deviation, weight))
    batch.answer(1)
    before = deviation @ deviation.T
    column, w = before[:, 1], weight[1]
    expected = before - w * np.outer(column, column) / (1.0 + w * column[1])
    assert_allclose(batch._deviation @ batch._deviation.T, expected, atol=1e-12)


def test_a_plain_model_has_the_gain_of_all_its_draws() -> None:
    made = simulate(4, 2, votes_per_judge=20, seed=1)
    ranking = rank(made.votes, "btl")
    beliefs = beliefs_about(ranking.basis, [0])
    pairs = np.array(list(product(range(4), range(4))))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    questions = Questions(np.zeros(6, dtype=np.int64), *pairs.T)
    found = outlook(beliefs, questions, None)
    score = beliefs.scores(np.arange(4))
    win = 1.0 / (1.0 + np.exp(score[pairs[:, 1]] - score[pairs[:, 0]]))
    assert_allclose(found.gain, information(np.stack((win, 1.0 - win))), rtol=1e-9)


def test_what_a_judge_was_asked_often_tells_less(ranking: Ranking) -> None:
    """With tastes, a judge's opinion of a pair is known the better the more often it was asked."""
    rows: list[dict[str, Any]] = []
    for judge, often in (("often", 30), ("once", 1)):
        for one, other in (("a", "b"), ("c", "d"), ("b", "c"), ("a", "d"), ("b", "d")):
            for turn in range(often if {one, other} == {"a", "b"} else 4):
                won = "left" if turn % 2 == 0 else "right"
                rows.append({"judge": judge, "left": one, "right": other, "winner": won})
    for judge in ("x", "y", "z"):
        for one, other in (("a", "c"), ("b", "d"), ("a", "b"), ("c", "d"), ("a", "d"), ("b", "c")):
            rows += [{"judge": judge, "left": one, "right": other, "winner": "left"}] * 3
    import polars as pl

    found = rank(pl.DataFrame(rows))
    often, once = (
        found.next_pairs(
            1, judge=judge, target=["a", "b"], repeats=True, random_share=0.0,
            retired=["c", "d"],
        )["gain"][0]
        for judge in ("often", "once")
    )  # fmt: skip
    assert often < once
    assert ranking.fit.posterior == "sampled"


@pytest.mark.parametrize("name", list(NOISES))
def test_the_information_in_an_answer_is_that_of_its_noise(name: str) -> None:
    """By finite differences: the sum over answers of the squared derivative over the chance."""
    noise, step = NOISES[name], 1e-5
    x = np.array([-4.0, -1.3, -0.2, 0.7, 2.1, 5.0])

    def told(chances: Any) -> Floats:
        change = (chances(x + step) - chances(x - step)) / (2.0 * step)
        return np.asarray((change**2 / chances(x)).sum(axis=0))

    def decided(at: Floats) -> Floats:
        return np.stack((noise.cdf(at), noise.cdf(-at)))

    def with_ties(at: Floats) -> Floats:
        win, loss = decided(at)
        weight = np.exp(0.4) * np.sqrt(win * loss)
        return np.asarray(np.stack((win, loss, weight)) / (1.0 + weight))

    assert_allclose(fisher(noise, x), told(decided), rtol=1e-6)
    assert_allclose(fisher(noise, x, np.full(len(x), 0.4)), told(with_ties), rtol=1e-6)


def test_information_far_from_zero_is_finite() -> None:
    for noise in NOISES.values():
        assert np.isfinite(fisher(noise, np.array([-800.0, -40.0, 0.0, 40.0, 800.0]))).all()


def test_a_blurred_chance_is_the_mean_chance() -> None:
    normal, node = NOISES["normal"], np.polynomial.hermite_e.hermegauss(60)
    mean, variance = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    chance = normal.cdf(mean[:, None] + np.sqrt(variance)[:, None] * node[0]) @ node[1]
    assert_allclose(normal.cdf(blurred(normal, mean, variance)), chance / np.sqrt(2.0 * np.pi))
    logistic = NOISES["gumbel"]
    chance = logistic.cdf(mean[:, None] + np.sqrt(variance)[:, None] * node[0]) @ node[1]
    found = logistic.cdf(blurred(logistic, mean, variance))
    assert_allclose(found, chance / np.sqrt(2.0 * np.pi), atol=0.01)


def anyone(ranking: Ranking, pairs: Any) -> tuple[Any, Any]:
    beliefs = beliefs_about(ranking.basis, [ANYONE])
    one, other = np.array(pairs).T
    return beliefs, Questions(np.zeros(len(one), dtype=np.int64), one, other)


def test_of_nobody_in_particular_an_answer_tells_of_scores_alone(ranking: Ranking) -> None:
    """The judge is an average one, and its tastes are drawn for each answer."""
    beliefs, questions = anyone(ranking, [(0, 1), (0, 5), (2, 4)])
    score, spread = beliefs.scores(np.arange(6)), np.sqrt(2.0 * np.mean(beliefs.taste_sd**2))
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    win = np.zeros((3, beliefs.count))
    for at, share in zip(node, weight / weight.sum(), strict=True):
        gap = score[questions.one] - score[questions.other] + spread * float(at)
        win += share / (1.0 + np.exp(-gap))
    found = outlook(beliefs, questions, None).gain
    assert_allclose(found, information(np.stack((win, 1.0 - win))), rtol=0.1)


def test_an_answer_of_judges_who_contradict_each_other_tells_as_any() -> None:
    """When it is there, it is known whose it is."""
    made = simulate(6, 5, accuracies=[2.0, 2.0, 2.0, -2.0, -2.0], votes_per_judge=60, seed=3)
    known = rank(made.votes)
    both = known.next_pairs(1, random_share=0.0)["gain"][0]
    one = known.next_pairs(1, judge="judge-1", random_share=0.0, repeats=True)["gain"][0]
    assert both > 0.2 * one


@pytest.mark.parametrize("model", ["hbtl", "htcv"])
def test_where_little_is_open_a_gain_is_half_the_information_times_the_variance(
    model: str,
) -> None:
    made = simulate(
        5, 4, model=model, accuracies=[1.5, 1.0, 1.0, 0.5], votes_per_judge=1_500, tie=0.4, seed=6
    )
    beliefs, questions = anyone(rank(made.votes, model), list(combinations(range(5), 2)))
    found = outlook(beliefs, questions, None)
    variance = (found.deviation**2).sum(axis=1)
    assert_allclose(found.gain, 0.5 * found.weight * variance, rtol=0.1)


def test_questions_of_people_and_of_nobody_are_each_their_own(ranking: Ranking) -> None:
    beliefs = beliefs_about(ranking.basis, [0, ANYONE])
    every = np.array([0, 0, 1]), np.array([3, 2, 4])
    found = outlook(beliefs, Questions(np.array([1, 0, 1]), *every), None)
    for some, judge in (([0, 2], 1), ([1], 0)):
        one, other = (side[some] for side in every)
        alone = outlook(beliefs, Questions(np.full(len(some), judge), one, other), None)
        assert_allclose(found.gain[some], alone.gain)
        assert_allclose(found.deviation[some], alone.deviation)
        assert_allclose(found.weight[some], alone.weight)


def test_every_answer_is_counted_once_however_many_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So the time grows with the number of questions, and not with its square."""
    counted: list[float] = []
    count = Answers.count

    def counting(self: Answers, z: Floats, told: float) -> None:
        counted.append(told)
        count(self, z, told)

    monkeypatch.setattr(Answers, "count", counting)
    ranking = rank(simulate(9, 3, votes_per_judge=20, seed=1).votes)
    judges = [f"new-{number}" for number in range(40)]
    asked = ranking.next_pairs(600, judges=judges, random_share=0.3, least_views=0)
    assert len(counted) == len(asked) == 600
    counted.clear()
    ranking.next_pairs(50, judges=judges, pending=asked, least_views=0)
    assert len(counted) == 650
