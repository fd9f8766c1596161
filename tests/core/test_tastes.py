"""What tastes do to a best fit: the passes over votes, against the formula with whole matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from juryrank import _core
from juryrank.inference.many_votes import (
    NOWHERE,
    noise_of_tastes,
    taste_variance,
    tastes_seen,
)
from juryrank.model.effects import EffectModel
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior
from juryrank.solvers.solution import Solution
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs, Splitting


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
@pytest.mark.parametrize("n", [6, 300])
def test_what_tastes_add_is_the_formula(n: int, seed: int, noise: Noise) -> None:
    """With many items, some judges have opinions of few, and some of more of them."""
    objective = objective_of(seed, noise, n=n)
    solution = solution_of(objective, seed)
    seen = tastes_seen(objective, solution)
    found = noise_of_tastes(objective, solution, seen, 0.3, judges_at_once=3)
    rough = noise_of_tastes(objective, solution, seen, 0.3, most_dense=1)
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
    seen = tastes_seen(objective, solution)
    (found,) = seen.moments
    order = []
    for u in range(objective.n_judges):
        judge = of_judge(objective, solution, u)
        assert _core.taste_size(at, u) == pytest.approx(judge.size, rel=1e-11, abs=1e-14)
        assert seen.size[u] == _core.taste_size(at, u)
        several = np.flatnonzero(judge.shared > 1e-12 * np.diag(judge.a) ** 2)
        assert seen.opinions[u] == len(several)
        excess = judge.residual**2 - judge.alone
        order += [(i, excess[i], judge.shared[i], judge.a[i, i]) for i in several]
    assert sorted(found.item.tolist()) == sorted(i for i, *_ in order)
    for values, column in ((found.observed, 1), (found.shared, 2), (found.diagonal, 3)):
        wanted = sorted(float(row[column]) for row in order)
        np.testing.assert_allclose(np.sort(values), wanted, rtol=1e-9, atol=1e-13)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_variance_is_that_of_the_moments(seed: int) -> None:
    """Opinions of several votes, weighted by their variances, five times over; else a guess."""
    objective = objective_of(seed, m=80)
    solution = solution_of(objective, seed)
    opinions = []
    for u in range(objective.n_judges):
        judge = of_judge(objective, solution, u)
        excess, own = judge.residual**2 - judge.alone, np.diag(judge.a)
        several = np.flatnonzero(judge.shared > 1e-12 * own**2)
        opinions += [(excess[i], judge.shared[i], own[i], i) for i in several]
    excess, shared, own, item = map(np.array, zip(*opinions, strict=True))
    expected = shared * (1.0 - 1.0 / np.maximum(np.bincount(item)[item], 2.0))
    variance = 0.2
    for _ in range(5):
        weight = (1.0 + variance * own) ** -2
        told = weight * expected
        if told.sum() ** 2 <= 100.0 * (told @ told):
            variance = 0.2
            break
        variance = max((weight @ excess) / told.sum(), 0.0)
    seen = tastes_seen(objective, solution)
    assert taste_variance(seen, 6, 0.2) == pytest.approx(variance, rel=1e-9)


def test_chunks_and_threads_do_not_alter_what_is_seen() -> None:
    objective = objective_of(5, m=60)
    solution = solution_of(objective, 5)
    split = Splitting(chunks=7, votes_worth_it=1, votes_worth_threads=1)
    by_chunks = replace(objective, votes=replace(objective.votes, splitting=split), threads=3)
    whole, parts = tastes_seen(objective, solution), tastes_seen(by_chunks, solution)
    assert len(parts.moments) == 7
    for name, column in whole.moments[0]._asdict().items():
        pieces = [getattr(part, name) for part in parts.moments]
        np.testing.assert_array_equal(np.concatenate(pieces), column)
    for name in ("size", "length", "curvature", "opinions"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    one, other = (
        noise_of_tastes(objective, solution, at, 0.3, most_dense=1) for at in (whole, parts)
    )
    np.testing.assert_allclose(one.matrix, other.matrix, rtol=1e-12)


def test_accuracies_have_their_own_curvature_where_ties_decide_votes_too() -> None:
    plain = objective_of(5)
    tied = np.random.default_rng(5).random(plain.votes.pairs.number) < 0.3
    votes = replace(plain.votes, pairs=replace(plain.votes.pairs, tied=tied))
    objective = replace(plain, votes=votes, effects=EffectModel(sizes=(2,)))
    solution = replace(solution_of(objective, 5), effects=np.array([-0.5]))
    seen = tastes_seen(objective, solution)
    found = noise_of_tastes(objective, solution, seen, 0.3)
    c = objective.curvature(solution.state, solution.accuracy).accuracy
    square = np.maximum(solution.accuracy**2, 1e-6)
    np.testing.assert_allclose(found.own, 0.3 * seen.length / (square * c**2), rtol=1e-12)


def test_an_opinion_of_one_vote_shares_nothing() -> None:
    winner, loser = np.array([0, 2], dtype=np.int32), np.array([1, 3], dtype=np.int32)
    objective = Objective(
        CodedVotes.of_pairs(4, Pairs(np.array([0, 2]), winner, loser)), GUMBEL, Prior(1.0, 0.5)
    )
    at = plain_at(objective, solution_of(objective, 1))
    assert all(len(part) == 0 for part in _core.taste_moments(at, 0, 1, **of_judges(1)))
    assert _core.taste_size(at, 0) == 0.0


@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_there_is_room_for_votes_on_an_item_and_itself(n: int) -> None:
    """No reader lets them through, but arrays may have them: the gap of such a pair is 0."""
    winner, loser = np.random.default_rng(n).integers(0, n, (2, 4_000)).astype(np.int32)

    def curvature_of(some: NDArray[np.bool_]) -> float:
        pairs = Pairs(np.array([0, np.count_nonzero(some)]), winner[some], loser[some])
        objective = Objective(CodedVotes.of_pairs(n, pairs), GUMBEL, Prior(1.0, 0.5))
        found = of_judges(1)
        _core.taste_moments(plain_at(objective, solution_of(objective, n)), 0, 1, **found)
        return float(found["curvature"][0])

    every = np.ones(len(winner), dtype=np.bool_)
    assert curvature_of(every) == pytest.approx(curvature_of(winner != loser), rel=1e-12)


def of_judges(m: int) -> dict[str, Any]:
    """Where the pass writes what it finds of each judge."""
    numbers = {name: np.ones(m) for name in ("size", "length", "curvature")}
    return {**numbers, "opinions": np.ones(m, dtype=np.int64)}


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
        "at": at, "first": 1, "last": 3, "weight": np.ones(m), "accuracy_curvature": np.ones(m),
        "upper": np.zeros((n, n)), "pull": np.zeros((2, n)), "moved": np.zeros((2, n)),
    }  # fmt: skip
    _core.add_tastes(**right)
    wrong: list[dict[str, Any]] = [
        {"last": m + 1}, {"first": 4}, {"first": -1}, {"last": 2}, {"weight": np.ones(m - 1)},
        {"accuracy_curvature": np.ones(m + 1)}, {"upper": np.zeros((n, n - 1))},
        {"upper": np.zeros((n - 1, n))}, {"pull": np.zeros((1, n))},
        {"moved": np.zeros((2, n + 1))}, {"moved": None},
    ]  # fmt: skip
    for change in wrong:
        with pytest.raises((ValueError, TypeError)):
            _core.add_tastes(**{**right, **change})
    with pytest.raises(ValueError, match="judge"):
        _core.taste_size(at, m)
    with pytest.raises(ValueError, match="judge"):
        _core.taste_moments(at, 0, m + 1, **of_judges(m))
    for name, values in of_judges(m - 1).items():
        with pytest.raises(ValueError, match=name):
            _core.taste_moments(at, 0, m, **{**of_judges(m), name: values})
    three = np.ones(3)
    for expected, own in ((np.ones(2), three), (three, np.ones(4))):
        with pytest.raises(ValueError, match="entries"):
            _core.moment_sums(three, expected, own, 0.1)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, 5e-324])
def test_any_score_is_survived(value: float) -> None:
    objective = objective_of(3)
    solution = solution_of(objective, 3)
    solution.score[0] = value
    at = plain_at(objective, solution)
    _core.taste_moments(at, 0, 4, **of_judges(4))
    _core.taste_size(at, 0)
    _core.add_tastes(
        at, 0, 4, weight=np.ones(4), accuracy_curvature=np.ones(4), upper=np.zeros((6, 6)),
        pull=np.zeros((4, 6)), moved=np.zeros((4, 6)),
    )  # fmt: skip
