"""Lists in the compiled core: formulas written out, differences, and calls that are wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lists_help import (
    as_one_loss,
    list_loss,
    made,
    objective_of,
    plain_value,
    random_point,
    random_rows,
    truth_at,
)
from scipy.special import logsumexp

import juryrank as jr
from juryrank import _core
from juryrank.inference.chain import Chain, votes_of
from juryrank.inference.opinions import opinions_of
from juryrank.model.effects import EffectModel
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.model.prior import Prior
from juryrank.types import Floats

TABLE = jr.noise_from_log_density(lambda x: -np.abs(x) - 2.0 * np.log1p(np.exp(-np.abs(x))))
NOISES = {"gumbel": GUMBEL, "normal": NORMAL, "exponential": EXPONENTIAL, "table": TABLE}
EXTREME = [0.0, 5e-324, 1e-310, 1e-3, 700.0, 1e5, 1e300, np.inf, -np.inf, np.nan]


def differences(function: Callable[[Floats], Any], at: Floats, step: float = 1e-5) -> Floats:
    """Central differences, a row for each unknown."""
    moves = step * np.eye(len(at))
    return np.array([(function(at + m) - function(at - m)) / (2.0 * step) for m in moves])


def chain_pass(noise: Noise, location: Floats, ranked: int) -> tuple[float, Floats]:
    gradient = np.full(len(location), np.nan)
    return _core.chain_pass(noise.core, location, ranked, gradient), gradient


def one_list(level: list[int], ranked: int) -> _core.ListVotes:
    n = len(level)
    return _core.ListVotes(
        start=np.array([0, 1]), begin=np.array([0, n]), item=np.arange(n, dtype=np.int32),
        level=np.array(level, dtype=np.int32), ranked=np.array([ranked], dtype=np.int32),
        weight=np.ones(1), n_items=n,
    )  # fmt: skip


# --- without ties --------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 1.0, 30.0, 2_000.0]))
def test_plackett_luce_is_a_row_of_choices(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    location, ranked = rng.normal(0.0, spread, n), int(rng.integers(1, n + 1))
    gradient, expected = np.empty(n), np.zeros(n)
    value = _core.luce_pass(location, ranked, gradient)
    loss = 0.0
    for j in range(min(ranked, n - 1)):
        loss += logsumexp(location[j:]) - location[j]
        expected[j:] += np.exp(location[j:] - logsumexp(location[j:]))
        expected[j] -= 1.0
    assert value == pytest.approx(loss, rel=1e-12, abs=1e-13)
    rounding = 4.0 * np.finfo(np.float64).eps * np.abs(location).max()  # of differences, by scipy
    np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-13 + rounding)


def exact_under_exponential_noise(location: Floats, ranked: int) -> mpmath.mpf:
    """The same integrals with polynomials in powers of ``e^-y``, in 80 digits."""
    with mpmath.workdps(80):
        m = [mpmath.mpf(float(x)) for x in location]
        k = min(ranked, len(m) - 1)
        poly = [mpmath.mpf(1)]
        for each in m[k:]:
            shifted = [mpmath.mpf(0), *(-mpmath.exp(each) * c for c in poly)]
            poly = [a + b for a, b in zip([*poly, mpmath.mpf(0)], shifted, strict=True)]
        for j in range(k - 1, -1, -1):
            end = mpmath.exp(-max(m[j:]))
            whole = [mpmath.mpf(0), *(c / (d + 1) for d, c in enumerate(poly))]
            total = sum(c * end**d for d, c in enumerate(whole))
            poly = [mpmath.exp(m[j]) * c for c in (total, *(-c for c in whole[1:]))]
        return -mpmath.log(poly[0])


@pytest.mark.parametrize("seed", range(30))
def test_exponential_noise_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    location, ranked = rng.normal(0.0, rng.choice([0.1, 1.0, 6.0]), n), int(rng.integers(1, n + 1))
    value, gradient = chain_pass(EXPONENTIAL, location, ranked)
    assert value == pytest.approx(float(exact_under_exponential_noise(location, ranked)), rel=1e-12)
    numerical = differences(lambda at: chain_pass(EXPONENTIAL, at, ranked)[0], location)
    np.testing.assert_allclose(gradient, numerical, atol=1e-5)
    assert abs(gradient.sum()) < 1e-10


@pytest.mark.parametrize("noise", [NORMAL, EXPONENTIAL])
def test_hundreds_of_items_in_the_opposite_order(noise: Noise) -> None:
    location = np.linspace(-2.0, 2.0, 450)
    value, gradient = chain_pass(noise, location, 450)
    forwards, _ = chain_pass(noise, location[::-1].copy(), 450)
    assert np.isfinite(gradient).all()
    assert forwards < float(math.lgamma(451)) < value


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("seed", range(5))
def test_gradients_and_hessians_are_those_of_the_values(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, noise = int(rng.integers(2, 8)), NOISES[name]
    location, ranked = rng.normal(0.0, rng.choice([0.3, 1.0, 4.0]), n), int(rng.integers(1, n + 1))
    value, gradient = chain_pass(noise, location, ranked)
    numerical = differences(lambda at: chain_pass(noise, at, ranked)[0], location)
    np.testing.assert_allclose(gradient, numerical, rtol=1e-5, atol=1e-5)
    hessian, values, gradients = np.empty(n * n), np.empty(1), np.empty(n)
    _core.chain_hessians(
        noise.core, one_list(list(range(n)), ranked), first=0, last=1, location=location,
        value=values, gradient=gradients, begin=np.array([0, n * n]), hessian=hessian,
    )  # fmt: skip
    assert values[0] == value
    np.testing.assert_array_equal(gradients, gradient)
    if name == "exponential":
        return  # second derivatives jump where items pass each other
    numerical = differences(lambda at: chain_pass(noise, at, ranked)[1], location, 1e-4)
    np.testing.assert_allclose(hessian.reshape(n, n), numerical, rtol=1e-5, atol=1e-5)


def test_a_long_list_under_normal_noise_has_a_hessian_that_knows_no_origin() -> None:
    n = 60
    location = np.random.default_rng(0).normal(size=n)
    hessian = np.empty(n * n)
    _core.chain_hessians(
        NORMAL.core, one_list(list(range(n)), n), first=0, last=1, location=location,
        value=np.empty(1), gradient=np.empty(n), begin=np.array([0, n * n]), hessian=hessian,
    )  # fmt: skip
    matrix = hessian.reshape(n, n)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix.sum(axis=0), 0.0, atol=1e-11)
    assert np.linalg.eigvalsh(matrix)[1] > 0.0
    step = 1e-4
    move = step * (np.arange(n) == 17)
    ahead, back = (chain_pass(NORMAL, location + s * move, n)[1] for s in (1, -1))
    np.testing.assert_allclose(matrix[17], (ahead - back) / (2.0 * step), atol=1e-6)


# --- with ties -----------------------------------------------------------------------------------


def random_groups(rng: np.random.Generator) -> tuple[list[list[int]], list[int]]:
    """Groups from the best down, and at least two items below them or none."""
    sizes = [int(rng.choice([1, 1, 2, 3])) for _ in range(int(rng.integers(1, 4)))]
    ends = np.cumsum(sizes).tolist()
    groups = [list(range(a, b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    return groups, list(range(ends[-1], ends[-1] + int(rng.choice([0, 2, 3]))))


@pytest.mark.parametrize("as_one", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_ties_against_enumeration(seed: int, as_one: bool) -> None:
    """Values, gradients and Hessians in the locations and the weights of ties."""
    rng = np.random.default_rng(seed)
    groups, rest = random_groups(rng)
    n, kinds = sum(map(len, groups)) + len(rest), 1 if as_one else 2
    sizes = np.array([2] if as_one else [2, 3], dtype=np.int64)
    level = [k for k, group in enumerate([*groups, rest]) for _ in group]
    point = np.concatenate((rng.normal(0.0, 1.5, n), rng.normal(0.0, 0.5, kinds)))

    def plain(at: Floats) -> float:
        location: dict[int | str, float] = dict(enumerate(at[:n].tolist()))
        if as_one:
            return as_one_loss(groups, rest, location, float(at[n]))
        return list_loss(groups, rest, location, dict(zip((2, 3), at[n:].tolist(), strict=True)))

    def effects(at: Floats) -> _core.Effects:
        tie = np.ascontiguousarray(at[None, n:])
        return _core.Effects(sizes=sizes, tie=tie, order=np.empty(0), as_one=as_one)

    def derivatives(at: Floats) -> tuple[Floats, Floats]:
        gradient, hessian = np.empty(n), np.empty((n + kinds, n + kinds))
        location = np.ascontiguousarray(at[:n])
        levels = np.array(level, dtype=np.int32)
        _core.list_hessian(location, levels, n - len(rest), effects(at), gradient, hessian)
        return gradient, hessian

    loss = np.empty(1)
    _core.list_losses(
        one_list(level, n - len(rest)), effects(point),
        score=point[:n], accuracy=np.ones(1), taste=np.zeros(n), loss=loss,
    )  # fmt: skip
    assert loss[0] == pytest.approx(plain(point), rel=1e-12)
    gradient, hessian = derivatives(point)
    numerical = differences(plain, point)
    np.testing.assert_allclose(gradient, numerical[:n], atol=1e-8)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-13)
    numerical = differences(lambda at: derivatives(at)[0], point)
    np.testing.assert_allclose(hessian[:, :n], numerical, atol=1e-7)
    numerical = differences(lambda at: differences(plain, at, 1e-3), point, 1e-3)
    np.testing.assert_allclose(hessian[n:, n:], numerical[n:, n:], atol=1e-4)


# --- judges with lists and pairs -----------------------------------------------------------------

MODELS = {
    "ties": EffectModel((2, 3)),
    "own ties and sides": EffectModel((2, 3), ties_by_judge=True, order=True, order_by_judge=True),
    "as one": EffectModel((2,), ties_by_judge=True, as_one=True),
}


def case(seed: int, model: EffectModel) -> tuple[jr.Votes, Objective]:
    votes = made(random_rows(seed), items=range(6))
    return votes, objective_of(votes, model)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_pass_over_lists_and_pairs_against_enumeration(name: str, seed: int) -> None:
    votes, objective = case(seed, MODELS[name])
    state, accuracy = random_point(seed, objective)
    m, size = objective.n_judges, len(state)

    def plain(at: Floats) -> float:
        return plain_value(votes, MODELS[name], truth_at(objective, at[:size], at[size:]))

    found = objective.votes_alone(state, accuracy)
    whole = np.concatenate((state, accuracy))
    assert found.value.sum() == pytest.approx(plain(whole), rel=1e-11)
    numerical = differences(plain, whole)
    np.testing.assert_allclose(np.concatenate((found.state, found.accuracy)), numerical, atol=2e-7)
    assert found.value.shape == (m,)


@pytest.mark.parametrize("noise", [NORMAL, EXPONENTIAL, TABLE], ids=lambda noise: noise.name)
def test_accuracies_are_the_best_under_any_noise(noise: Noise) -> None:
    votes = made([row for row in random_rows(1) if all(len(g) == 1 for g in row.groups)])
    objective = objective_of(votes, EffectModel(), noise=noise)
    objective = replace(objective, prior=Prior(1.5, 0.7, 5.0))
    state, accuracy = random_point(2, objective)
    found = accuracy.copy()
    value, _ = objective.profile(state, found)
    there = objective.gradients(state, found)
    assert value == pytest.approx(there.value, rel=1e-10)
    np.testing.assert_allclose(there.accuracy, 0.0, atol=1e-4)
    assert value <= objective.gradients(state, accuracy).value + 1e-12


def test_agreement_is_a_sum_over_choices() -> None:
    _, objective = case(5, EffectModel((2, 3)))
    lists, core = objective.votes.lists, objective.votes.core_lists
    assert core is not None
    score = np.random.default_rng(0).normal(size=objective.n_items)
    agreement, variance = np.empty(lists.number), np.empty(lists.number)
    _core.list_agreement(core, score, agreement, variance)
    for k in range(lists.number):
        a, b = lists.begin[k], lists.begin[k + 1]
        s, level = score[lists.item[a:b]], lists.level[a:b]
        own = np.arange(b - a) < lists.ranked[k]
        total, spread = 0.0, 0.0
        for group in np.unique(level[own]):
            left, chosen = level >= group, own & (level == group)
            if left.sum() >= 2:
                total += s[chosen].mean() - s[left].mean()
                spread += s[left].var() / chosen.sum()
        assert agreement[k] == pytest.approx(total, abs=1e-12)
        assert variance[k] == pytest.approx(spread, abs=1e-12)


# --- the sampler ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tastes", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_sampler_sees_the_likelihood_of_rankings(name: str, tastes: bool) -> None:
    _, objective = case(7, MODELS[name])
    opinions = opinions_of(objective, tastes=tastes)
    pass_over = votes_of(opinions)
    assert isinstance(pass_over, _core.Rankings)
    state, accuracy = random_point(3, opinions.objective)
    value, gradient, of_accuracy = pass_over.at(state, accuracy)
    expected = opinions.objective.votes_alone(state, accuracy)
    np.testing.assert_allclose(value, expected.value, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected.state, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(of_accuracy, expected.accuracy, rtol=1e-10, atol=1e-12)
    if not tastes:
        return
    for item in range(objective.n_items):
        cells = np.flatnonzero(opinions.item == item)
        judge = opinions.judge[cells]
        raised = state.copy()
        raised[cells] += 0.7
        change = pass_over.rise(state, accuracy, cells, judge, 0.7)
        after = pass_over.at(raised, accuracy)[0]
        np.testing.assert_allclose(change, (after - value)[judge], atol=1e-11)


@pytest.mark.parametrize("tastes", [False, True])
@pytest.mark.parametrize("spread", [1.0, 200.0])
def test_rankings_worked_on_together_are_each_what_they_are_alone(
    spread: float, tastes: bool
) -> None:
    """Of two lengths; in far apart ones some chances are too small for a number."""
    some = [jr.simulate(9, 21, votes_per_judge=2, per_vote=k, seed=k).votes for k in (4, 9)]
    objective = objective_of(jr.votes_from(pl.concat(some)), EffectModel())
    opinions = opinions_of(objective, tastes=tastes)
    pass_over = votes_of(opinions)
    assert isinstance(pass_over, _core.Rankings)
    state, accuracy = random_point(1, opinions.objective)
    expected = opinions.objective.votes_alone(spread * state, accuracy)
    for one, other in zip(pass_over.at(spread * state, accuracy), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_called_rankings_make_the_same_chain_as_compiled_ones(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Until rounding tells them apart."""

    def drawn() -> Any:
        _, objective = case(2, MODELS[name])
        start = np.random.default_rng(0).normal(0.0, 0.3, objective.layout.size)
        n, m = objective.n_items, objective.n_judges
        opinions = opinions_of(objective, tastes=True)
        chain = Chain(opinions, n, start[:n], start[n:], np.ones(m), np.ones(m), seed=1)
        return chain.draws(3)

    ours = drawn()
    monkeypatch.setattr("juryrank.inference.chain.votes_of", lambda o: o.objective.votes_alone)
    for one, other in zip(ours, drawn(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


# --- extremes, and calls that are wrong ----------------------------------------------------------


@pytest.mark.parametrize("name", NOISES)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_crashes_at_extremes(name: str, data: st.DataObject) -> None:
    location = np.array(data.draw(st.lists(st.sampled_from(EXTREME), min_size=0, max_size=6)))
    location *= np.array([data.draw(st.sampled_from([-1.0, 1.0])) for _ in location])
    ranked = data.draw(st.integers(0, len(location)))
    value, gradient = chain_pass(NOISES[name], location, ranked)
    assert value >= -1e-9 or np.isnan(value)
    assert gradient.shape == location.shape
    if len(location) < 2 or ranked == 0:
        assert value == 0.0


def lists_of(**changed: Any) -> _core.ListVotes:
    right: dict[str, Any] = {
        "start": np.array([0, 1, 2]),
        "begin": np.array([0, 3, 5]),
        "item": np.array([0, 1, 2, 2, 0], dtype=np.int32),
        "level": np.array([0, 1, 1, 0, 1], dtype=np.int32),
        "ranked": np.array([1, 2], dtype=np.int32),
        "weight": np.ones(2),
        "n_items": 3,
    }
    return _core.ListVotes(**(right | changed))


def pairs_of(**changed: Any) -> _core.PairVotes:
    right: dict[str, Any] = {
        "start": np.array([0, 1, 1]),
        "winner": np.array([0], dtype=np.int32),
        "loser": np.array([1], dtype=np.int32),
        "weight": None,
        "tied": None,
        "side": None,
        "n_items": 3,
    }
    return _core.PairVotes(**(right | changed))


NO_TIES: dict[str, Any] = {
    "sizes": np.empty(0, dtype=np.int64), "tie": np.empty((1, 0)), "order": np.empty(0),
    "as_one": False,
}  # fmt: skip


def lists_pass(**changed: Any) -> float:
    right: dict[str, Any] = {
        "noise": GUMBEL.core,
        "rule": _core.AccuracyRule(free=True, mean=1.0, precision=1.0, bound=20.0),
        "pairs": pairs_of(),
        "lists": lists_of(),
        "effects": _core.Effects(**NO_TIES),
        "likeness": None,
        "first": 0,
        "last": 2,
        "score": np.array([0.3, 0.0, -0.4]),
        "accuracy": np.ones(2),
        "score_gradient": np.zeros(3),
        "judge_value": np.empty(2),
        "accuracy_gradient": np.empty(2),
        "tie_gradient": np.empty((2, 0)),
        "order_gradient": np.empty(0),
    }
    return _core.lists_pass(**(right | changed))


def test_a_right_call_is_one() -> None:
    assert lists_pass() > 0.0
    assert lists_pass(noise=NORMAL.core, likeness=np.ones(2)) > 0.0
    assert lists_pass(score=np.array([np.nan, 0.0, np.inf])) is not None
    assert lists_pass(score=np.array([1e308, -1e308, 5e-324])) is not None
    for bad in (np.nan, np.inf, 1e308):
        lists_pass(noise=NORMAL.core, likeness=np.ones(2), score=np.array([bad, 0.0, 1.0]))


WRONG: dict[str, Callable[[], object]] = {
    "n_items": lambda: lists_of(n_items=2),
    "item": lambda: lists_of(item=np.array([0, 1, -1, 2, 0], dtype=np.int32)),
    "type of item": lambda: lists_of(item=np.array([0, 1, 2, 2, 0])),
    "begin": lambda: lists_of(begin=np.array([0, 3, 6])),
    "begin falls": lambda: lists_of(begin=np.array([0, 6, 5])),
    "start": lambda: lists_of(start=np.array([0, 1, 3])),
    "ranked": lambda: lists_of(ranked=np.array([1, 3], dtype=np.int32)),
    "weight": lambda: lists_of(weight=np.ones(3)),
    "score": lambda: lists_pass(score=np.zeros(2)),
    "type of score": lambda: lists_pass(score=np.zeros(3, dtype=np.float32)),
    "strided": lambda: lists_pass(score=np.zeros(6)[::2]),
    "accuracy": lambda: lists_pass(accuracy=np.ones(3)),
    "score_gradient": lambda: lists_pass(score_gradient=np.zeros(2)),
    "judge_value": lambda: lists_pass(judge_value=np.zeros(1)),
    "accuracy_gradient": lambda: lists_pass(accuracy_gradient=np.zeros(1)),
    "tie_gradient": lambda: lists_pass(tie_gradient=np.zeros((2, 1))),
    "order_gradient": lambda: lists_pass(order_gradient=np.zeros(1)),
    "judges": lambda: lists_pass(last=3),
    "judges turned round": lambda: lists_pass(first=2, last=1),
    "other judges": lambda: lists_pass(pairs=pairs_of(start=np.array([0, 1]))),
    "other items": lambda: lists_pass(pairs=pairs_of(n_items=4)),
    "ties without a weight": lambda: lists_pass(pairs=pairs_of(tied=np.zeros(1, dtype=np.bool_))),
    "sides": lambda: lists_pass(pairs=pairs_of(side=np.ones(1, dtype=np.int8))),
    "likeness": lambda: lists_pass(likeness=np.ones(2)),
    "no likeness": lambda: lists_pass(noise=NORMAL.core),
    "size of likeness": lambda: lists_pass(noise=NORMAL.core, likeness=np.ones(3)),
    "nothing": lambda: lists_pass(lists=None),
    "effects": lambda: lists_pass(effects=_core.Effects(**(NO_TIES | {"tie": np.empty((3, 0))}))),
    "more ranked": lambda: _core.chain_pass(NORMAL.core, np.zeros(2), 3, np.zeros(2)),
    "gradient": lambda: _core.chain_pass(NORMAL.core, np.zeros(2), 2, np.zeros(3)),
    "luce": lambda: _core.luce_pass(np.zeros(2), 2, np.zeros(3)),
    "agreement": lambda: _core.list_agreement(lists_of(), np.zeros(3), np.zeros(2), np.zeros(3)),
    "lists": lambda: _core.chain_terms(
        NORMAL.core, lists_of(), first=0, last=3, location=np.zeros(5), value=np.zeros(2),
        gradient=np.zeros(5),
    ),
    "begin of hessians": lambda: _core.chain_hessians(
        NORMAL.core, lists_of(), first=0, last=2, location=np.zeros(5), value=np.zeros(2),
        gradient=np.zeros(5), begin=np.array([0, 4, 13]), hessian=np.zeros(13),
    ),
    "hessian": lambda: _core.list_hessian(
        np.zeros(3), np.zeros(3, dtype=np.int32), 3, _core.Effects(**NO_TIES), np.zeros(3),
        np.zeros((2, 3)),
    ),
    "sampled effects": lambda: _core.Rankings(
        lists=lists_of(), pairs=None, n_effects=0, sizes=np.array([2]), as_one=False,
        effects=(3, -1, -1, -1),
    ),
    "sampled size": lambda: _core.Rankings(
        lists=lists_of(), pairs=None, n_effects=1, sizes=np.array([1]), as_one=False,
        effects=(3, -1, -1, -1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_wrong_calls_raise(call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()
