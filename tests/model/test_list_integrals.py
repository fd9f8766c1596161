"""Lists under noise other than Gumbel: derivatives, accuracies, errors, orthants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from lists_help import Row, made
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

import juryrank as jr
from juryrank import _core
from juryrank.inference.information import Information
from juryrank.model.effects import EffectModel
from juryrank.model.list_integrals import ChainedLists
from juryrank.model.noise import GUMBEL, NORMAL
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior

JUDGES, ITEMS = 4, 6


def random_votes(seed: int) -> jr.Votes:
    """Pairs with ties, rankings, best few and choices, some with weights."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in range(JUDGES):
        for _ in range(6):
            size = int(rng.integers(2, 6))
            items = [int(i) for i in rng.permutation(ITEMS)[:size]]
            ranked = size if size == 2 else int(rng.integers(1, size + 1))
            groups = [[item] for item in items[:ranked]]
            if size == 2 and rng.random() < 0.3:
                groups = [items]
            rows.append(Row(judge, groups, items[ranked:], weight=float(rng.integers(1, 3))))
    return made(rows, items=range(ITEMS))


def objective_of(seed: int, effects: EffectModel) -> Objective:
    votes = random_votes(seed)
    return Objective(
        votes.for_model(ties=2 in effects.sizes, sides=effects.order),
        NORMAL, Prior(1.5, 0.7, 5.0), effects=effects,
    )  # fmt: skip


def point(objective: Objective, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.8, objective.layout.size), rng.normal(0.8, 0.8, JUDGES)


MODELS = [EffectModel(), EffectModel((2,), order=True), EffectModel((2,), True, True, True)]


@pytest.mark.parametrize("effects", MODELS, ids=["plain", "common", "by judge"])
def test_all_derivatives_against_finite_differences(effects: EffectModel) -> None:
    objective = objective_of(1, effects)
    state, accuracy = point(objective, 2)
    n, step = len(state), 1e-4
    here = objective.gradients(state, accuracy)
    gradient, hessian = np.empty(n + JUDGES), np.empty((n + JUDGES, n + JUDGES))
    for i in range(n + JUDGES):
        move = step * (np.arange(n + JUDGES) == i)
        up, down = (
            objective.gradients(state + s * move[:n], accuracy + s * move[n:]) for s in (1, -1)
        )
        gradient[i] = (up.value - down.value) / (2 * step)
        ahead, back = (np.concatenate((at.state, at.accuracy)) for at in (up, down))
        hessian[i] = (ahead - back) / (2 * step)
    np.testing.assert_allclose(np.concatenate((here.state, here.accuracy)), gradient, atol=1e-6)
    blocks = Information(objective, state, accuracy)
    mixed = blocks.mixed_rows(0, JUDGES)
    within = blocks.profile_matrix() + mixed.T * blocks.share @ mixed
    np.testing.assert_allclose(within, hessian[:n, :n], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mixed, hessian[n:, :n], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        blocks.accuracy_curvature, np.diag(hessian)[n:], rtol=1e-5, atol=1e-5
    )


def test_gradients_of_judges_add_up() -> None:
    objective = replace(objective_of(3, MODELS[1]), prior=Prior())
    state, accuracy = point(objective, 4)
    rows, own = objective.gradients_by_judge(0, JUDGES, state, accuracy)
    whole = objective.gradients(state, accuracy)
    np.testing.assert_allclose(rows.sum(axis=0), whole.state, atol=1e-10)
    np.testing.assert_allclose(own, whole.accuracy, atol=1e-10)
    some, _ = objective.gradients_by_judge(1, 3, state, accuracy)
    np.testing.assert_allclose(some, rows[1:3], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_accuracies_are_the_best_for_the_scores(seed: int) -> None:
    objective = objective_of(seed, MODELS[0])
    state, accuracy = point(objective, seed)
    found = accuracy.copy()
    value, _ = objective.profile(state, found)
    assert value == pytest.approx(objective.gradients(state, found).value, abs=1e-9)
    for u in range(JUDGES):

        def loss(a: float, u: int = u) -> float:
            return objective.gradients(state, np.where(np.arange(JUDGES) == u, a, found)).value

        best = minimize_scalar(loss, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-9})
        assert loss(float(found[u])) <= best.fun + 1e-9


def test_gumbel_noise_by_the_chain_is_plackett_luce() -> None:
    lists = random_votes(5).lists
    score, accuracy = np.linspace(-1, 1, ITEMS), np.array([1.0, 2.0, 0.3, -1.0])
    chained = ChainedLists(GUMBEL, lists, threads=1)
    np.testing.assert_allclose(chained.likeness, 1.0, rtol=1e-9)
    chained.work_out(chained.locations(score, accuracy))
    plain = Objective(random_votes(5).for_model(), GUMBEL)
    np.testing.assert_allclose(
        chained.value, plain.list_losses(score, accuracy, np.zeros(ITEMS)), rtol=1e-10
    )


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_normal_noise_against_orthant_probabilities(size: int) -> None:
    """Adjacent differences of normal numbers are normal: their orthant is the ranking."""
    location = np.random.default_rng(size).normal(0.0, 0.7, size)
    differences = np.eye(size - 1, size) - np.eye(size - 1, size, k=1)
    orthant = multivariate_normal.cdf(
        np.zeros(size - 1), -differences @ location, differences @ differences.T,
        maxpts=20_000_000, abseps=1e-10, releps=1e-10,
    )  # fmt: skip
    chance = float(np.exp(-NORMAL.ranking_terms(location)[0]))
    assert chance == pytest.approx(float(orthant), abs=1e-9)


def test_recovery_of_rankings_under_normal_noise() -> None:
    simulated = jr.simulate(10, 8, model="htcv", per_vote=5, votes_per_judge=40, seed=4,
                            adversaries=2)  # fmt: skip
    votes = simulated.coded()
    found, again = (jr.rank(votes, "htcv", tastes=False, threads=threads) for threads in (1, 2))
    assert found.to_json() == again.to_json()
    truth = dict(simulated.items.iter_rows())
    scores = [truth[item] for item in found.items["item"]]
    assert np.corrcoef(scores, found.items["score"].to_numpy())[0, 1] > 0.97
    backwards = found.judges.filter(found.judges["verdict"] == "backwards")
    assert sorted(backwards["judge"]) == ["judge-1", "judge-2"]


def test_gradients_without_any_digit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = jr.simulate(10, 8, model="htcv", per_vote=5, votes_per_judge=4, seed=4).votes
    usual = _core.lists_pass

    def rounded_away(**given: Any) -> float:
        value = usual(**given)
        given["score_gradient"][3] = -1e60
        return value

    monkeypatch.setattr(_core, "lists_pass", rounded_away)
    with pytest.raises(
        jr.InputError, match=r"cannot be computed accurately.* Use a model with Gumbel"
    ):
        jr.rank(votes, "htcv", prior=(1.0, 1.0))
