from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics_help import plain_objective, random_votes, with_pairs
from scipy.optimize import minimize_scalar

from juryrank import InputError, noise_from_log_density
from juryrank.inference.information import Information
from juryrank.model.noise import GUMBEL, NOISES, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import NO_PRIOR, Prior

PRIOR = Prior(1.3, 0.7)


def make(noise: Noise, seed: int = 0, lambda0: float = 0.4, prior: Prior = PRIOR) -> Objective:
    return Objective(random_votes(seed), noise, prior, lambda0)


def point(seed: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=6), rng.normal(0.5, 1.0, 5)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.01, 1.0, 3.0]))
def test_value_is_the_definition(noise: Noise, seed: int, scale: float) -> None:
    objective = make(noise, seed)
    score, accuracy = point(seed, scale)
    expected = plain_objective(objective.votes, noise, score, accuracy, PRIOR, 0.4)
    assert objective.gradients(score, accuracy).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scale", [0.1, 1.0, 40.0])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_no_weights_are_weights_of_one(noise: Noise, scale: float) -> None:
    votes = random_votes(3, votes=(30, 0, 1, 9_000, 600))  # one judge has more than are kept
    ones = Objective(with_pairs(votes, given_weight=np.ones(votes.pairs.number)), noise, PRIOR)
    none = replace(ones, votes=with_pairs(votes, given_weight=None))
    score, accuracy = point(8, scale)
    expected, found = ones.gradients(score, accuracy), none.gradients(score, accuracy)
    assert found.value == pytest.approx(expected.value, rel=1e-13)
    np.testing.assert_allclose(found.state, expected.state, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.accuracy, expected.accuracy, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_profile_is_the_objective_at_the_accuracies_it_finds(noise: Noise) -> None:
    votes = random_votes(4, votes=(30, 0, 1, 9_000, 600))
    objective = Objective(with_pairs(votes, given_weight=None), noise, PRIOR)
    score, accuracy = point(9)
    value, gradient = objective.profile(score, accuracy)
    there = objective.gradients(score, accuracy)
    assert value == pytest.approx(there.value, rel=1e-13)
    np.testing.assert_allclose(gradient, there.state, rtol=1e-7, atol=1e-7)
    curvature = objective.curvature(score, accuracy).accuracy
    assert np.abs(there.accuracy / np.sqrt(curvature)).max() < 1e-6


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_gradients_agree_with_finite_differences(noise: Noise) -> None:
    objective = make(noise)
    score, accuracy = point(1)
    gradients = objective.gradients(score, accuracy)
    step = 1e-6
    for i in range(6):
        move = step * np.eye(6)[i]
        up, down = (
            objective.gradients(score + move, accuracy),
            objective.gradients(score - move, accuracy),
        )
        assert gradients.state[i] == pytest.approx((up.value - down.value) / (2 * step), rel=1e-6)
    for u in range(5):
        move = step * np.eye(5)[u]
        up, down = (
            objective.gradients(score, accuracy + move),
            objective.gradients(score, accuracy - move),
        )
        assert gradients.accuracy[u] == pytest.approx(
            (up.value - down.value) / (2 * step), rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_profile_solves_every_judge_exactly(noise: Noise) -> None:
    objective = make(noise)
    score, _ = point(2)
    accuracy = np.ones(5)
    value, _ = objective.profile(score, accuracy)
    for u in range(5):

        def alone(a: float, u: int = u) -> float:
            trial = accuracy.copy()
            trial[u] = a
            return objective.gradients(score, trial).value

        best = minimize_scalar(alone, bracket=(-1.0, 2.0), tol=1e-12)
        assert accuracy[u] == pytest.approx(best.x, abs=1e-5)
        assert value <= best.fun + 1e-9


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    guess=st.sampled_from([-20.0, -1.0, 0.0, 1.0, 20.0]),
    spread=st.sampled_from([0.1, 1.0, 12.0]),
    prior=st.sampled_from([NO_PRIOR, Prior(1.0, 1.0), Prior(1.0, 0.1)]),
)
def test_profile_finds_the_best_accuracy_from_any_guess(
    noise: Noise, seed: int, guess: float, spread: float, prior: Prior
) -> None:
    objective = Objective(random_votes(seed, votes=(9, 4, 40, 1, 12)), noise, prior)
    score = spread * np.random.default_rng(seed).normal(size=6)
    accuracy = np.full(5, guess)
    objective.profile(score, accuracy)
    for u in range(5):

        def alone(a: float, u: int = u) -> float:
            trial = accuracy.copy()
            trial[u] = a
            return objective.gradients(score, trial).value

        best = minimize_scalar(alone, bounds=(-20.0, 20.0), method="bounded")
        assert alone(accuracy[u]) <= best.fun + 1e-6


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_profile_gradient_is_the_gradient_of_the_minimum(noise: Noise) -> None:
    objective = make(noise)
    score, _ = point(3)
    _, gradient = objective.profile(score, np.ones(5))
    step = 1e-5
    for i in range(6):
        move = step * np.eye(6)[i]
        up, _ = objective.profile(score + move, np.ones(5))
        down, _ = objective.profile(score - move, np.ones(5))
        assert gradient[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-5)


def test_profile_curvature_is_that_of_the_profiled_objective() -> None:
    objective = make(NORMAL)
    score, _ = point(4)
    accuracy = np.ones(5)
    objective.profile(score, accuracy)
    matrix = Information(objective, score, accuracy).profile_matrix()
    step = 1e-4
    numeric = np.empty((6, 6))
    for i in range(6):
        move = step * np.eye(6)[i]
        _, up = objective.profile(score + move, accuracy.copy())
        _, down = objective.profile(score - move, accuracy.copy())
        numeric[i] = (up - down) / (2 * step)
    np.testing.assert_allclose(matrix, numeric, rtol=1e-4, atol=1e-4)
    diagonal = objective.curvature(score, accuracy).state
    np.testing.assert_allclose(diagonal, np.diag(matrix), rtol=1e-12)


def test_curvature_in_the_accuracies_and_between_agrees_with_finite_differences() -> None:
    objective = make(GUMBEL)
    score, accuracy = point(5)
    curvature = objective.curvature(score, accuracy)
    mixed = Information(objective, score, accuracy).mixed_rows(0, 5)
    step = 1e-5
    for u in range(5):
        move = step * np.eye(5)[u]
        up, down = (
            objective.gradients(score, accuracy + move),
            objective.gradients(score, accuracy - move),
        )
        numeric = (up.accuracy[u] - down.accuracy[u]) / (2 * step)
        assert curvature.accuracy[u] == pytest.approx(numeric, rel=1e-6)
        np.testing.assert_allclose(
            mixed[u], (up.state - down.state) / (2 * step), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_objective_is_convex_in_scores_and_in_accuracies(noise: Noise, seed: int) -> None:
    objective = make(noise, seed, prior=NO_PRIOR, lambda0=0.0)
    s1, a1 = point(seed)
    s2, a2 = point(seed + 1)
    for first, second in (((s1, a1), (s2, a1)), ((s1, a1), (s1, a2))):
        middle = (0.5 * (first[0] + second[0]), 0.5 * (first[1] + second[1]))
        chord = 0.5 * (objective.gradients(*first).value + objective.gradients(*second).value)
        assert objective.gradients(*middle).value <= chord + 1e-9


def test_shift_and_scale_of_the_scores_change_nothing_in_the_likelihood() -> None:
    objective = make(GUMBEL, prior=NO_PRIOR, lambda0=0.0)
    score, accuracy = point(6)
    value = objective.gradients(score, accuracy).value
    assert objective.gradients(score + 3.0, accuracy).value == pytest.approx(value, rel=1e-12)
    assert objective.gradients(-2.0 * score, accuracy / -2.0).value == pytest.approx(
        value, rel=1e-12
    )


def test_weight_two_is_the_vote_twice() -> None:
    objective = make(GUMBEL)
    votes, wins = objective.votes, objective.votes.pairs
    doubled = replace(objective, votes=votes.reweighted(np.full(votes.n_judges, 2.0)))
    twice = with_pairs(
        votes,
        start=2 * wins.start,
        winner=np.repeat(wins.winner, 2),
        loser=np.repeat(wins.loser, 2),
        given_weight=np.repeat(wins.weight, 2),
    )
    score, accuracy = point(7)
    assert doubled.gradients(score, accuracy).value == pytest.approx(
        replace(objective, votes=twice).gradients(score, accuracy).value, rel=1e-12
    )


def test_threads_do_not_change_a_bit() -> None:
    votes = random_votes(8, n_items=40, votes=(3000,) * 50)
    score, accuracy = np.random.default_rng(0).normal(size=40), np.ones(50)
    results = [
        Objective(votes, GUMBEL, PRIOR, threads=threads).profile(score, accuracy.copy())
        for threads in (1, 2, 3)
    ]
    assert len(votes.chunk_bounds) > 2
    for value, gradient in results[1:]:
        assert value == results[0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def test_own_noise_goes_through_the_same_objective() -> None:
    own = noise_from_log_density(lambda e: -(e**2) / 2)
    score, accuracy = point(9)
    expected = make(NORMAL).gradients(score, accuracy)
    ours = make(own).gradients(score, accuracy)
    assert ours.value == pytest.approx(expected.value, rel=1e-7)
    np.testing.assert_allclose(ours.state, expected.state, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scales", [(0.0, 1.0), (1.0, -1.0), (np.nan, 1.0)])
def test_prior_scales_must_be_positive(scales: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="positive"):
        Prior(*scales)
