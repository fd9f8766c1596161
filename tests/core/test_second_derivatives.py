"""Second derivatives of the likelihood, and products with them: against differences in mpmath."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank import _core
from juryrank.inference.information import Information
from juryrank.inference.matrix_free import WideInformation
from juryrank.model.effects import EffectModel
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior
from juryrank.types import Floats
from juryrank.votes.coded import CodedVotes, Pairs
from juryrank.votes.lists import Lists, no_lists

NOISES = {noise.name: noise for noise in (GUMBEL, NORMAL, EXPONENTIAL)}
STEP = mp.mpf(10) ** -12
N_ITEMS, N_JUDGES = 4, 3
PER_JUDGE = (5, 0, 6)


# --- the oracle: -log P, written down, and its differences ---------------------------------------


def minus_log_f(noise: str, x: Any) -> Any:
    """``-log F(x)`` of the difference of two noises."""
    if noise == "gumbel":
        return mp.log(1 + mp.exp(-x))
    if noise == "normal":
        return -mp.log(mp.ncdf(x / mp.sqrt(2)))
    return -mp.log(mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2)


@dataclass(frozen=True)
class Said:
    """Votes, and which effects they have."""

    objective: Objective

    def loss(self, unknowns: list[Any]) -> Any:
        """``-log P`` of all votes; the accuracies stand after the state."""
        size = self.objective.layout.size
        return mp.fsum(
            self.of_judge(u, unknowns[:size], unknowns[size + u]) for u in range(N_JUDGES)
        )

    def of_judge(self, u: int, state: list[Any], accuracy: Any) -> Any:
        layout, pairs, lists = self.objective.layout, self.objective.votes.pairs, self.lists
        tie = state[layout.tie.start] if layout.model.sizes else None
        order = state[layout.order.start] if layout.model.order else mp.mpf(0)
        if tie is not None and layout.model.ties_by_judge:
            tie += state[layout.own_tie.start + u]
        if layout.model.order_by_judge:
            order += state[layout.own_order.start + u]
        total = mp.mpf(0)
        for k in range(pairs.start[u], pairs.start[u + 1]):
            x = accuracy * (state[pairs.winner[k]] - state[pairs.loser[k]])
            x += 0 if pairs.side is None else int(pairs.side[k]) * order
            tied = None if pairs.tied is None else bool(pairs.tied[k])
            total += float(pairs.weight[k]) * self.of_pair(x, tie, tied=tied)
        for k in range(lists.start[u], lists.start[u + 1]):
            y = [accuracy * state[i] for i in lists.item[lists.begin[k] : lists.begin[k + 1]]]
            total += float(lists.weight[k]) * mp.fsum(
                mp.log(mp.fsum(mp.exp(z) for z in y[j:])) - y[j] for j in range(lists.ranked[k])
            )
        return total

    def of_pair(self, x: Any, tie: Any, *, tied: bool | None) -> Any:
        """With ``q = sqrt(F(x) F(-x))``: ``F / (1 + t q)`` or ``t q / (1 + t q)``."""
        noise = self.objective.noise.name
        if tied is None:
            return minus_log_f(noise, x)
        tq = mp.exp(tie - (minus_log_f(noise, x) + minus_log_f(noise, -x)) / 2)
        return mp.log(1 + tq) + (-mp.log(tq) if tied else minus_log_f(noise, x))

    @property
    def lists(self) -> Lists:
        return self.objective.votes.lists

    def hessian(self, state: Floats, accuracy: Floats) -> Floats:
        """All second derivatives, the accuracies after the state, by central differences."""
        with mp.workdps(50):
            at = [mp.mpf(float(x)) for x in (*state, *accuracy)]
            size = len(at)

            def moved(*moves: tuple[int, int]) -> Any:
                there = list(at)
                for i, sign in moves:
                    there[i] += sign * STEP
                return self.loss(there)

            found = np.empty((size, size))
            for i in range(size):
                for j in range(i + 1):
                    both = moved((i, 1), (j, 1)) + moved((i, -1), (j, -1))
                    one = moved((i, 1), (j, -1)) + moved((i, -1), (j, 1))
                    found[i, j] = found[j, i] = float((both - one) / (4 * STEP**2))
            return found


def votes_with(seed: int, *, weights: bool, ties: bool, sides: bool, lists: bool) -> CodedVotes:
    """A few votes of three judges, the second of whom has said nothing of pairs."""
    rng = np.random.default_rng(seed)
    start = np.concatenate(([0], np.cumsum(PER_JUDGE)))
    number = int(start[-1])
    winner = rng.integers(0, N_ITEMS, number).astype(np.int32)
    loser = ((winner + rng.integers(1, N_ITEMS, number)) % N_ITEMS).astype(np.int32)
    pairs = Pairs(
        start, winner, loser,
        rng.gamma(2.0, 1.0, number) if weights else None,
        rng.random(number) < 0.4 if ties else None,
        rng.choice(np.array([-1, 1], np.int8), number) if sides else None,
    )  # fmt: skip
    return CodedVotes(N_ITEMS, pairs, some_lists(rng) if lists else no_lists(N_JUDGES))


def some_lists(rng: np.random.Generator) -> Lists:
    """Three rankings, of the last two judges."""
    length = np.array([3, 4, 3])
    return Lists(
        start=np.array([0, 0, 1, 3]),
        begin=np.concatenate(([0], np.cumsum(length))),
        item=np.concatenate([rng.permutation(N_ITEMS)[:k] for k in length]).astype(np.int32),
        level=np.concatenate([np.arange(k) for k in length]).astype(np.int32),
        ranked=np.array([3, 4, 1], dtype=np.int32),
        weight=rng.gamma(2.0, 1.0, len(length)),
    )


def objective_of(votes: CodedVotes, noise: Noise, *, by_judge: bool) -> Objective:
    ties, sides = votes.pairs.tied is not None, votes.pairs.side is not None
    model = EffectModel(
        sizes=(2,) if ties else (), ties_by_judge=ties and by_judge,
        order=sides, order_by_judge=sides and by_judge,
    )  # fmt: skip
    return Objective(votes, noise, Prior(1.0, 0.5), effects=model)


def point_of(objective: Objective, seed: int, spread: float) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, spread, objective.layout.size), rng.normal(1.0, 0.7, N_JUDGES)


CASES = [
    (noise, ties, sides, by_judge, lists)
    for noise in NOISES
    for ties, sides, by_judge, lists in (
        (False, False, False, False),
        (True, False, False, False),
        (False, True, True, False),
        (True, True, True, False),
        (False, True, False, True),
    )
    if noise == "gumbel" or not lists
]


@pytest.mark.parametrize(("noise", "ties", "sides", "by_judge", "lists"), CASES)
def test_second_derivatives_are_those_of_the_formula(
    noise: str, *, ties: bool, sides: bool, by_judge: bool, lists: bool
) -> None:
    votes = votes_with(7, weights=True, ties=ties, sides=sides, lists=lists)
    objective = objective_of(votes, NOISES[noise], by_judge=by_judge)
    state, accuracy = point_of(objective, 8, 1.0)
    whole, size = Said(objective).hessian(state, accuracy), objective.layout.size
    a, b, c = whole[:size, :size], whole[size:, :size], np.diag(whole)[size:]
    close: Any = {"rtol": 1e-9, "atol": 1e-11}

    at, judges = objective.core_at(state, accuracy, objective.layout), np.arange(N_JUDGES)
    upper, rows, own = np.zeros((size, size)), np.zeros((N_JUDGES, size)), np.empty(N_JUDGES)
    _core.add_blocks(at, judges, upper, rows, own)
    np.testing.assert_allclose(upper, np.triu(a), **close)
    np.testing.assert_allclose(rows, b, **close)
    np.testing.assert_allclose(own, c, **close)

    share = 1.0 / (c + objective.prior.accuracy_precision)
    found = objective.curvature(state, accuracy)
    profile = a - (b.T * share) @ b + np.diag(objective.state_curvature(state))
    np.testing.assert_allclose(found.state, np.diag(profile), **close)
    np.testing.assert_allclose(1.0 / found.accuracy, share, **close)
    information = Information(objective, state, accuracy)
    np.testing.assert_allclose(information.profile_matrix(), profile, **close)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("lists", [False, True])
def test_products_are_those_with_the_matrices(*, ties: bool, lists: bool) -> None:
    votes = votes_with(3, weights=True, ties=ties and not lists, sides=True, lists=lists)
    objective = objective_of(votes, GUMBEL, by_judge=False)
    state, accuracy = point_of(objective, 4, 1.0)
    n = N_ITEMS
    at = objective.core_at(state, accuracy, objective.layout)
    size = objective.layout.size
    upper, rows, own = np.zeros((size, size)), np.zeros((N_JUDGES, size)), np.empty(N_JUDGES)
    _core.add_blocks(at, np.arange(N_JUDGES), upper, rows, own)
    a = (upper + np.triu(upper, 1).T)[:n, :n] + np.diag(objective.state_curvature(state)[:n])
    b, share = rows[:, :n], 1.0 / (own + objective.prior.accuracy_precision)
    profile = a - (b.T * share) @ b

    wide = WideInformation(objective, state, accuracy)
    vectors = np.random.default_rng(5).normal(size=(n, 5))
    np.testing.assert_allclose(wide.times_profile_matrix(vectors), profile @ vectors, rtol=1e-11)
    energies = np.einsum("ik,ij,jk->k", vectors, profile, vectors)
    np.testing.assert_allclose(wide.energies(vectors), energies, rtol=1e-11)
    factor, variance = np.array([0.3, 2.0, -1.0]), np.array([1.0, 0.1, 3.0, 0.5])
    np.testing.assert_allclose(wide.mixed_sum(factor), factor @ b, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(wide.mixed_squares(variance), b**2 @ variance, rtol=1e-11)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_sparse_rows_are_the_dense_ones(
    seed: int, weights: bool, ties: bool, sides: bool, by_judge: bool
) -> None:
    votes = votes_with(seed, weights=weights, ties=ties, sides=sides, lists=not ties)
    objective = objective_of(votes, GUMBEL, by_judge=by_judge)
    state, accuracy = point_of(objective, seed, 3.0)
    at, size = objective.core_at(state, accuracy, objective.layout), objective.layout.size
    judges = np.array([2, 0])
    upper, rows, own = np.zeros((size, size)), np.zeros((2, size)), np.empty(2)
    _core.add_blocks(at, judges, upper, rows, own)
    again = np.zeros((size, size))
    start, index, mixed, own_again = _core.sparse_blocks(at, judges, again)
    dense = np.zeros((2, size))
    for p in range(2):
        columns = index[start[p] : start[p + 1]]
        assert (np.diff(columns) > 0).all()
        dense[p, columns] = mixed[start[p] : start[p + 1]]
    np.testing.assert_array_equal(dense, rows)
    np.testing.assert_array_equal(again, upper)
    np.testing.assert_array_equal(own_again, own)

    share, rng = np.array([0.5, 0.0]), np.random.default_rng(seed)
    _core.subtract_squares((start, index, mixed), share, again)
    expected = upper - np.triu((rows.T * share) @ rows)
    np.testing.assert_allclose(again, expected, rtol=1e-12, atol=1e-12)
    root = rng.normal(size=(size, size))
    covariance, square = root @ root.T, np.empty(2)
    _core.set_squares((start, index, mixed), covariance, square)
    np.testing.assert_allclose(square, np.einsum("ui,ij,uj->u", rows, covariance, rows), rtol=1e-9)


def test_many_votes_of_a_judge_are_the_sum_of_its_blocks() -> None:
    """Votes are worked on 256 at a time: here, one judge with thousands, and one with one."""
    rng = np.random.default_rng(11)
    number = 2_000
    winner = rng.integers(0, N_ITEMS, number + 1).astype(np.int32)
    loser = ((winner + 1) % N_ITEMS).astype(np.int32)
    pairs = Pairs(np.array([0, number, number + 1]), winner, loser)
    objective = Objective(CodedVotes.of_pairs(N_ITEMS, pairs), GUMBEL, Prior(1.0, 0.5))
    score, accuracy = rng.normal(size=N_ITEMS), np.array([1.3, -0.4])
    judge = np.repeat([0, 1], [number, 1])
    gap = score[winner] - score[loser]
    p = 1.0 / (1.0 + np.exp(accuracy[judge] * gap))
    gradient, curvature = -p, p * (1.0 - p)
    z = np.eye(N_ITEMS)[winner] - np.eye(N_ITEMS)[loser]
    mixed = (gradient + accuracy[judge] * gap * curvature)[:, None] * z
    b = np.array([mixed[judge == u].sum(axis=0) for u in (0, 1)])
    c = np.bincount(judge, gap**2 * curvature)
    a = (z.T * (accuracy[judge] ** 2 * curvature)) @ z
    vectors, share = rng.normal(size=(N_ITEMS, 4)), np.array([0.7, 0.2])
    at = objective.core_at(score, accuracy, objective.layout)
    product, energy = np.zeros((N_ITEMS, 4)), np.zeros(4)
    _core.add_profile_product(at, 0, 2, share, vectors, None, product)
    _core.add_profile_energy(at, 0, 2, share, vectors, None, energy)
    whole = (a - (b.T * share) @ b) @ vectors
    np.testing.assert_allclose(product, whole, rtol=1e-10)
    np.testing.assert_allclose(energy, np.sum(vectors * whole, axis=0), rtol=1e-10)
    upper, rows, own = np.zeros((N_ITEMS, N_ITEMS)), np.zeros((2, N_ITEMS)), np.empty(2)
    _core.add_blocks(at, np.arange(2), upper, rows, own)
    np.testing.assert_allclose(upper, np.triu(a), rtol=1e-11)
    np.testing.assert_allclose(rows, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(own, c, rtol=1e-11)


# --- ends, and wrong calls -----------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 5e-324, 0.0])
@pytest.mark.parametrize("noise", NOISES)
def test_any_score_is_survived(noise: str, value: float) -> None:
    votes = votes_with(1, weights=False, ties=True, sides=True, lists=False)
    objective = objective_of(votes, NOISES[noise], by_judge=True)
    state, accuracy = point_of(objective, 2, 1.0)
    state[0] = value
    found = objective.curvature(state, accuracy)
    if abs(value) < 1.0:
        assert np.isfinite(found.state).all()
    with np.errstate(all="ignore"):
        Information(objective, state, accuracy)


def test_of_no_votes_there_is_nothing_but_the_prior() -> None:
    nothing = np.empty(0, dtype=np.int32)
    votes = CodedVotes.of_pairs(2, Pairs(np.zeros(3, dtype=np.int64), nothing, nothing))
    objective = Objective(votes, GUMBEL, Prior(1.0, 0.5))
    found = objective.curvature(np.zeros(2), np.ones(2))
    np.testing.assert_array_equal(found.accuracy, 4.0)
    np.testing.assert_array_equal(found.state, 1.0)
    assert _core.cell_counts(votes.core_pairs, None, 3).tolist() == [0, 0, 0, 0]


def parts() -> dict[str, Any]:
    objective = objective_of(
        votes_with(1, weights=True, ties=True, sides=True, lists=False), GUMBEL, by_judge=True
    )
    state, accuracy = point_of(objective, 2, 1.0)
    lists, effects = objective.core_known(state)
    return {
        "noise": objective.noise.core, "pairs": objective.votes.core_pairs, "lists": lists,
        "effects": effects, "indices": objective.layout.indices, "size": objective.layout.size,
        "score": state[:N_ITEMS], "accuracy": accuracy,
    }  # fmt: skip


LISTS = _core.ListVotes(**some_lists(np.random.default_rng(0))._asdict(), n_items=N_ITEMS)
WRONG_PARTS: list[dict[str, Any]] = [
    {"score": np.zeros(N_ITEMS + 1)},
    {"score": np.zeros(N_ITEMS, dtype=np.float32)},
    {"score": np.zeros(2 * N_ITEMS)[::2]},
    {"accuracy": np.zeros(N_JUDGES - 1)},
    {"size": 2},
    {"size": -1},
    {"indices": (0, 0, 0)},
    {"indices": (N_ITEMS, 1_000, -1, -1)},
    {"indices": (1_000, -1, -1, -1)},
    {"indices": (-1, -1, 1_000, -1)},
    {"pairs": None},
    {"noise": "gumbel"},
    {"effects": _core.Effects(
        sizes=np.array([2]), tie=np.zeros((2, 1)), order=np.zeros(1), as_one=False
    )},
    {"likeness": np.ones(3)},
    {"ready": (np.zeros(10), np.zeros(34), np.zeros(4, dtype=np.int64))},
    {"lists": LISTS, "likeness": np.ones(2)},
    {"lists": LISTS, "ready": (np.zeros(10), np.zeros(34), np.zeros(4, dtype=np.int64))},
    {"lists": LISTS, "ready": (np.zeros(10), np.zeros(34), np.array([0, 8, 24, 34]))},
    {"lists": LISTS, "ready": (np.zeros(9), np.zeros(34), np.array([0, 9, 25, 34]))},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_PARTS)
def test_a_likelihood_of_parts_that_do_not_fit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.LikelihoodAt(**{**parts(), **wrong})


def test_codes_out_of_range_are_refused_where_they_are_looked_at() -> None:
    winner, loser = np.array([0, 7], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    votes = CodedVotes.of_pairs(2, Pairs(np.array([0, 1, 2]), winner, loser))
    objective = Objective(votes, GUMBEL, Prior(1.0, 0.5))
    at = objective.core_at(np.zeros(2), np.ones(2), objective.layout)
    rows, own = np.zeros((1, 2)), np.zeros(1)
    _core.add_blocks(at, np.array([0]), None, rows, own)
    with pytest.raises(ValueError, match="code"):
        _core.add_blocks(at, np.array([1]), None, rows, own)
    with pytest.raises(ValueError, match="code"):
        objective.curvature(np.zeros(2), np.ones(2))


def calls() -> dict[str, tuple[Any, dict[str, Any], list[dict[str, Any]]]]:
    """Each function with arguments that are right, and those of them that are wrong."""
    right = parts()
    at, size = _core.LikelihoodAt(**right), right["size"]
    n, m = N_ITEMS, N_JUDGES
    rule = _core.AccuracyRule(free=True, mean=1.0, precision=1.0, bound=20.0)
    square, of_judges, vectors = np.zeros((size, size)), np.zeros(m), np.zeros((n, 4))
    sparse = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), np.ones(2)
    some = {"at": at, "first": 0, "last": m}
    judges = {"at": at, "judges": np.arange(m), "upper": square}
    wrong_judges: list[dict[str, Any]] = [
        {"judges": np.array([m])},
        {"judges": np.array([-1])},
        {"judges": np.zeros(1)},
    ]
    wrong_upper: list[dict[str, Any]] = [
        {"upper": np.zeros((size, size - 1))},
        {"upper": np.zeros((1, 1))},
    ]
    beyond: list[dict[str, Any]] = [{"first": 2, "last": 1}, {"last": m + 1}, {"first": -1}]
    wrong_rows: list[dict[str, Any]] = [
        {"rows": (np.array([0, 1, 3]), *sparse[1:])},
        {"rows": (np.array([0, 2, 1, 2]), *sparse[1:])},
        {"rows": (sparse[0], np.array([0, size], dtype=np.int32), sparse[2])},
        {"rows": (sparse[0], np.array([0, -1], dtype=np.int32), sparse[2])},
        {"rows": (*sparse[:2], np.ones(3))},
    ]
    product = {**some, "share": of_judges, "vectors": vectors, "judged": None}
    wrong_product: list[dict[str, Any]] = [
        *beyond, {"share": np.zeros(m + 1)}, {"vectors": np.zeros((n + 1, 4))},
        {"judged": np.zeros((m, 3))}, {"judged": np.zeros((m - 1, 4))},
        {"vectors": np.asfortranarray(np.zeros((n, 4)))},
    ]  # fmt: skip
    return {
        "add_curvature": (
            _core.add_curvature,
            {**some, "rule": rule, "diagonal": np.zeros(size), "accuracy_curvature": of_judges},
            [*beyond, {"diagonal": np.zeros(size - 1)}, {"accuracy_curvature": np.zeros(m - 1)}],
        ),
        "add_blocks": (
            _core.add_blocks,
            {**judges, "rows": np.zeros((m, size)), "accuracy_curvature": of_judges},
            [
                *wrong_judges, *wrong_upper, {"rows": np.zeros((m, size + 1))},
                {"rows": np.zeros((m - 1, size))}, {"accuracy_curvature": np.zeros(m - 1)},
            ],
        ),
        "sparse_blocks": (
            _core.sparse_blocks, judges, [*wrong_judges, *wrong_upper, {"entries": np.zeros(1)}],
        ),
        "subtract_squares": (
            _core.subtract_squares,
            {"rows": sparse, "share": np.zeros(2), "upper": square},
            [*wrong_rows, {"share": np.zeros(3)}, {"upper": np.zeros((size, size + 1))}],
        ),
        "set_squares": (
            _core.set_squares,
            {"rows": sparse, "covariance": square, "square": np.zeros(2)},
            [*wrong_rows, {"square": np.zeros(1)}, {"covariance": np.zeros((size, size + 1))}],
        ),
        "add_profile_product": (
            _core.add_profile_product, {**product, "product": np.zeros((n, 4))},
            [*wrong_product, {"product": np.zeros((n, 5))}],
        ),
        "add_profile_energy": (
            _core.add_profile_energy, {**product, "energy": np.zeros(4)},
            [*wrong_product, {"energy": np.zeros(5)}],
        ),
        "add_mixed_sum": (
            _core.add_mixed_sum, {**some, "factor": of_judges, "total": np.zeros(n)},
            [*beyond, {"factor": np.zeros(1)}, {"total": np.zeros(n - 1)}],
        ),
        "set_mixed_squares": (
            _core.set_mixed_squares,
            {**some, "of_lists": None, "variance": np.zeros(n), "square": of_judges},
            [
                *beyond, {"variance": np.zeros(1)}, {"square": np.zeros(1)}, {"of_lists": sparse},
                {"of_lists": (np.array([0, 0, 0, 1]), np.array([n], dtype=np.int32), np.ones(1))},
            ],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(calls()))
def test_a_wrong_call_raises(name: str) -> None:
    call, right, wrongs = calls()[name]
    call(**right)
    for wrong in wrongs:
        with pytest.raises((ValueError, TypeError)):
            call(**{**right, **wrong})


def test_the_answer_does_not_depend_on_threads() -> None:
    rng = np.random.default_rng(12)
    m, n, number = 400, 30, 120_000
    judge = np.sort(rng.integers(0, m, number))
    winner = rng.integers(0, n, number).astype(np.int32)
    loser = ((winner + rng.integers(1, n, number)) % n).astype(np.int32)
    pairs = Pairs(np.searchsorted(judge, np.arange(m + 1)), winner, loser)
    one = Objective(CodedVotes.of_pairs(n, pairs), GUMBEL, Prior(1.0, 0.5))
    four = replace(one, threads=4)
    point = rng.normal(size=n), rng.normal(1.0, 0.5, m)
    for a, b in zip(one.curvature(*point), four.curvature(*point), strict=True):
        np.testing.assert_array_equal(a, b)
