"""What tastes do to a best fit: the passes over votes, against the formula with whole matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank import _core
from juryrank.inference.many_votes import NOWHERE, noise_of_tastes
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs


def objective_of(seed: int, noise: Noise = GUMBEL, *, n: int = 6, m: int = 4) -> Objective:
    """Few items, so that judges vote on the same pairs again."""
    rng = np.random.default_rng(seed)
    per_judge = rng.integers(0, 25, m)
    number = int(per_judge.sum())
    winner = rng.integers(0, n, number).astype(np.int32)
    loser = ((winner + rng.integers(1, n, number)) % n).astype(np.int32)
    weight = rng.gamma(2.0, 0.5, number) if seed % 2 else None
    pairs = Pairs(np.concatenate(([0], np.cumsum(per_judge))), winner, loser, weight)
    return Objective(CodedVotes.of_pairs(n, pairs), noise, Prior(1.0, 0.5))


def solution_of(objective: Objective, seed: int) -> Solution:
    rng = np.random.default_rng([seed, 1])
    score = rng.normal(size=objective.n_items)
    accuracy = rng.normal(1.0, 0.6, objective.n_judges)
    return Solution(score, accuracy, 0.0, converged=True, iterations=1)


class OfJudge(NamedTuple):
    """One judge's votes as whole matrices."""

    a: Floats
    single: Floats
    """``sum 2 q^2 a_u^4 z z'``."""
    residual: Floats
    alone: Floats
    votes: Floats
    pull_alone: float

    @property
    def shared(self) -> Floats:
        return np.maximum(np.diag(self.a @ self.a) - np.diag(self.single), 0.0)

    @property
    def size(self) -> float:
        own = np.diag(self.a)
        share = np.divide(self.shared, own, out=np.zeros(len(own)), where=own > 0.0)
        return float(self.votes @ share / max(self.votes.sum(), 1.0))


def of_judge(objective: Objective, solution: Solution, u: int) -> OfJudge:
    pairs, n, accuracy = objective.votes.pairs, objective.n_items, solution.accuracy[u]
    own = slice(pairs.start[u], pairs.start[u + 1])
    z = np.eye(n)[pairs.winner[own]] - np.eye(n)[pairs.loser[own]]
    gap = z @ solution.score
    _, gradient, curvature = objective.noise.terms(accuracy * gap)
    q, miss = pairs.weight[own] * curvature * accuracy**2, -pairs.weight[own] * gradient * accuracy
    return OfJudge(
        (z.T * q) @ z, (z.T * (2.0 * q**2)) @ z, miss @ z, miss**2 @ z**2, (z**2).sum(axis=0),
        float(np.sum(2.0 * (q * gap) ** 2)),
    )  # fmt: skip


def expected_noise(
    objective: Objective, solution: Solution, variance: float
) -> tuple[Floats, Floats, Floats]:
    """``rho``, ``Q`` and the variance that tastes add to accuracies, as the module says."""
    n, m = objective.n_items, objective.n_judges
    c = objective.curvature(solution.state, solution.accuracy).accuracy
    weight, q, own = np.ones(m), np.zeros((n, n)), np.zeros(m)
    for u in range(m):
        judge = of_judge(objective, solution, u)
        square = max(solution.accuracy[u] ** 2, 1e-6)
        v = judge.a @ solution.score
        k = judge.a - np.outer(v, v) / (square * c[u])
        weight[u] = 1.0 / (1.0 + variance * judge.size)
        q += weight[u] ** 2 * (k @ k - judge.single)
        own[u] = variance * max(float(v @ v) - judge.pull_alone, 0.0) / (square * c[u] ** 2)
    return weight, q, own


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([GUMBEL, NORMAL, EXPONENTIAL]))
def test_what_tastes_add_is_the_formula(seed: int, noise: Noise) -> None:
    objective = objective_of(seed, noise)
    solution = solution_of(objective, seed)
    found = noise_of_tastes(objective, solution, 0.3, judges_at_once=3)
    rough = noise_of_tastes(objective, solution, 0.3, most_dense=1)
    weight, q, own = expected_noise(objective, solution, 0.3)
    level = 1e-11 * (1.0 + np.abs(q).max())
    np.testing.assert_allclose(found.weight, weight, rtol=1e-11)
    np.testing.assert_allclose(found.matrix, q, rtol=1e-10, atol=level)
    np.testing.assert_allclose(found.own, own, rtol=1e-9, atol=1e-13)
    # With very many items, the diagonal, what is profiled left out.
    plain = np.zeros_like(q)
    for u in range(objective.n_judges):
        judge = of_judge(objective, solution, u)
        plain += weight[u] ** 2 * (judge.a @ judge.a - judge.single)
    np.testing.assert_allclose(rough.matrix, np.diag(plain), rtol=1e-10, atol=level)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_moments_and_sizes_are_the_formula(seed: int) -> None:
    objective = objective_of(seed)
    solution = solution_of(objective, seed)
    at = plain_at(objective, solution)
    found = dict(
        zip(("excess", "shared", "own", "item"), _core.taste_moments(at, 0, 4), strict=True)
    )
    order = []
    for u in range(objective.n_judges):
        judge = of_judge(objective, solution, u)
        assert _core.taste_size(at, u) == pytest.approx(judge.size, rel=1e-11, abs=1e-14)
        several = np.flatnonzero(judge.shared > 1e-12 * np.diag(judge.a) ** 2)
        excess = judge.residual**2 - judge.alone
        order += [(i, excess[i], judge.shared[i], judge.a[i, i]) for i in several]
    assert sorted(found["item"].tolist()) == sorted(i for i, *_ in order)
    for name, column in (("excess", 1), ("shared", 2), ("own", 3)):
        wanted = sorted(float(row[column]) for row in order)
        np.testing.assert_allclose(np.sort(found[name]), wanted, rtol=1e-9, atol=1e-13)


def test_an_opinion_of_one_vote_shares_nothing() -> None:
    winner, loser = np.array([0, 2], dtype=np.int32), np.array([1, 3], dtype=np.int32)
    objective = Objective(
        CodedVotes.of_pairs(4, Pairs(np.array([0, 2]), winner, loser)), GUMBEL, Prior(1.0, 0.5)
    )
    at = plain_at(objective, solution_of(objective, 1))
    assert all(len(part) == 0 for part in _core.taste_moments(at, 0, 1))
    assert _core.taste_size(at, 0) == 0.0


def plain_at(objective: Objective, solution: Solution) -> _core.LikelihoodAt:
    return _core.LikelihoodAt(
        noise=objective.noise.core, pairs=objective.votes.core_pairs, lists=None, effects=None,
        indices=NOWHERE, size=objective.n_items, score=solution.score, accuracy=solution.accuracy,
    )  # fmt: skip


def test_wrong_calls_raise() -> None:
    objective = objective_of(3)
    at = plain_at(objective, solution_of(objective, 3))
    n, m = 6, 4
    right: dict[str, Any] = {
        "at": at, "first": 1, "last": 3, "variance": 0.1, "accuracy_curvature": np.ones(m),
        "weight": np.ones(m), "own": np.ones(m), "diagonal": np.zeros(n), "dense": None,
    }  # fmt: skip
    dense = np.zeros((n, n)), np.zeros((2, n)), np.zeros((2, n))
    _core.add_tastes(**right)
    _core.add_tastes(**{**right, "diagonal": None, "dense": dense})
    wrong: list[dict[str, Any]] = [
        {"last": m + 1}, {"first": 4}, {"first": -1}, {"variance": -1.0}, {"variance": np.nan},
        {"accuracy_curvature": np.ones(m + 1)}, {"weight": np.ones(m - 1)}, {"own": np.ones(1)},
        {"diagonal": None}, {"diagonal": np.zeros(n - 1)}, {"dense": dense},
        {"diagonal": None, "dense": (np.zeros((n, n - 1)), *dense[1:])},
        {"diagonal": None, "dense": (dense[0], np.zeros((1, n)), dense[2])},
        {"diagonal": None, "dense": (dense[0], dense[1], np.zeros((2, n + 1)))},
        {"diagonal": None, "dense": dense[:2]},
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises((ValueError, TypeError)):
            _core.add_tastes(**{**right, **change})
    for call in (lambda: _core.taste_size(at, m), lambda: _core.taste_moments(at, 0, m + 1)):
        with pytest.raises(ValueError, match="judge"):
            call()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, 5e-324])
def test_any_score_is_survived(value: float) -> None:
    objective = objective_of(3)
    solution = solution_of(objective, 3)
    solution.score[0] = value
    at = plain_at(objective, solution)
    _core.taste_moments(at, 0, 4)
    _core.taste_size(at, 0)
    everything = np.zeros((6, 6)), np.zeros((4, 6)), np.zeros((4, 6))
    _core.add_tastes(
        at, 0, 4, variance=0.1, accuracy_curvature=np.ones(4), weight=np.ones(4), own=np.ones(4),
        diagonal=None, dense=everything,
    )  # fmt: skip
