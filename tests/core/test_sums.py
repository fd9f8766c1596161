"""Plain sums over pairs, crowds, positions and groups of rows against slow formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from juryrank import _core, noise_from_log_density
from juryrank.model.noise import NOISES, Noise
from juryrank.types import Floats

OWN = noise_from_log_density(lambda x: -0.5 * x**2 - 0.1 * x**4)
ALL = {**NOISES, "own": OWN}
N, COUNTS = 5, (4, 0, 1, 30)
M, NUMBER = len(COUNTS), sum(COUNTS)
START = np.concatenate(([0], np.cumsum(COUNTS))).astype(np.int64)
JUDGE = np.repeat(np.arange(M), COUNTS)
RNG = np.random.default_rng(0)
WINNER = RNG.integers(0, N, NUMBER).astype(np.int32)
LOSER = ((WINNER + RNG.integers(1, N, NUMBER)) % N).astype(np.int32)
WEIGHT = RNG.choice([0.5, 1.0, 3.0], NUMBER)
TIED = RNG.random(NUMBER) < 0.3
SCORE = RNG.standard_normal(N)
SHARE = RNG.random(M)


def pairs_of(**changed: Any) -> _core.PairVotes:
    usual: dict[str, Any] = {
        "start": START, "winner": WINNER, "loser": LOSER, "weight": WEIGHT, "tied": None,
        "side": None, "n_items": N,
    }  # fmt: skip
    return _core.PairVotes(**(usual | changed))


def weight_of(weighted: bool) -> Floats:
    return WEIGHT if weighted else np.ones(NUMBER)


# --- plain sums ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("first", "last"), [(0, M), (1, 3), (2, 2), (3, 4)])
def test_plain_sums_are_those_of_loops(weighted: bool, first: int, last: int) -> None:
    pairs, weight = pairs_of(weight=WEIGHT if weighted else None), weight_of(weighted)
    total, counts, share = np.zeros(N), np.zeros((N, N)), np.full(M, -1.0)
    _core.add_to_both(pairs, first, last, SHARE, total)
    _core.count_wins(pairs, first, last, counts)
    _core.set_elsewhere(pairs, first, last, share)
    wins, own = np.zeros((N, N)), (first <= JUDGE) & (last > JUDGE)
    np.add.at(wins, (WINNER[own], LOSER[own]), weight[own])
    np.testing.assert_allclose(counts, wins)
    both = np.zeros(N)
    np.add.at(both, WINNER[own], (SHARE[JUDGE] * weight)[own])
    np.add.at(both, LOSER[own], (SHARE[JUDGE] * weight)[own])
    np.testing.assert_allclose(total, both, rtol=1e-13)
    for u in range(M):
        mine = weight * (u == JUDGE)
        seen = np.bincount(WINNER, mine, N) + np.bincount(LOSER, mine, N)
        expected = 1.0 - seen.max() / mine.sum() if mine.sum() else 1.0
        assert share[u] == pytest.approx(expected if first <= u < last else -1.0)


@pytest.mark.parametrize("tied", [None, TIED])
def test_agreement_is_that_of_the_formula(tied: NDArray[np.bool_] | None) -> None:
    half = 0.5 * (SCORE[WINNER] - SCORE[LOSER])
    say, counts = RNG.random(M), SHARE
    decided = np.ones(NUMBER) if tied is None else 1.0 - tied
    found = _core.pair_agreement(pairs_of(tied=tied), 0, M, counts, say, SCORE)
    agreement = (counts * say)[JUDGE] * WEIGHT * half * decided
    variance = (counts * say**2)[JUDGE] * WEIGHT * half**2
    np.testing.assert_allclose(found, [agreement.sum(), variance.sum()], rtol=1e-12)


# --- crowds --------------------------------------------------------------------------------------


def crowd_loss(noise: Noise, score: Floats, reliability: Floats) -> Floats:
    gap, eta = score[WINNER] - score[LOSER], reliability[JUDGE]
    return np.asarray(-WEIGHT * np.log(eta * noise.cdf(gap) + (1.0 - eta) * noise.cdf(-gap)))


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
def test_crowds_are_those_of_the_formula(noise: Noise) -> None:
    gradient = np.zeros(N)
    value = _core.crowd_scores_pass(noise.core, pairs_of(), SCORE, SHARE, gradient)
    assert value == pytest.approx(crowd_loss(noise, SCORE, SHARE).sum(), rel=1e-12)
    for i, step in enumerate(1e-6 * np.eye(N)):
        ends = [crowd_loss(noise, SCORE + sign * step, SHARE).sum() for sign in (1.0, -1.0)]
        assert gradient[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("guess", [0.0, 0.3, 1.0])
def test_reliabilities_are_the_most_likely_ones(noise: Noise, guess: float) -> None:
    reliability = np.full(M, guess)
    _core.set_reliabilities(noise.core, pairs_of(), SCORE, reliability)
    assert ((reliability >= 0.0) & (reliability <= 1.0)).all()
    assert reliability[1] == guess  # no votes

    def loss(eta: float, u: int) -> float:
        own = np.where(np.arange(M) == u, eta, 0.5)
        return float(crowd_loss(noise, SCORE, own)[u == JUDGE].sum())

    for u in (0, 2, 3):
        best = minimize_scalar(loss, bounds=(0.0, 1.0), args=(u,), options={"xatol": 1e-10})
        assert loss(reliability[u], u) <= best.fun + 1e-9


# --- positions -----------------------------------------------------------------------------------


def sided(**changed: Any) -> dict[str, Any]:
    rooms = {name: np.full(M, np.nan) for name in ("excess", "information", "third", "won")}
    usual: dict[str, Any] = {
        "start": START, "left": WINNER, "right": LOSER, "weight": WEIGHT, "score": SCORE,
        "outcome": np.random.default_rng(1).integers(-1, 2, NUMBER).astype(np.int8),
        "accuracy": SHARE, "order": SHARE - 0.5, "ties_count": True, **rooms,
    }  # fmt: skip
    return usual | changed


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("ties_count", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_positions_are_those_of_the_formula(noise: Noise, ties_count: bool, weighted: bool) -> None:
    given_ones = sided(ties_count=ties_count, weight=WEIGHT if weighted else None)
    _core.position_sums(noise.core, **given_ones)
    outcome, weight = given_ones["outcome"], weight_of(weighted)
    x = SHARE[JUDGE] * (SCORE[WINNER] - SCORE[LOSER]) + (SHARE - 0.5)[JUDGE]
    share, counted = 0.5 * (1.0 + outcome), weight * ((outcome != 0) | ties_count)
    gain, loss, p = -noise.terms(x)[1], -noise.terms(-x)[1], noise.cdf(x)
    excess = share * gain - (1.0 - share) * loss
    moments = [p * gain**k + (1.0 - p) * (-loss) ** k for k in (2, 3)]
    for name, part in (
        ("excess", counted * excess), ("information", counted * moments[0]),
        ("third", counted * moments[1]), ("won", weight * share),
    ):  # fmt: skip
        expected = np.bincount(JUDGE, part, M)
        np.testing.assert_allclose(given_ones[name], expected, rtol=1e-10, atol=1e-11)


# --- groups --------------------------------------------------------------------------------------


@given(codes=st.lists(st.integers(0, 9), max_size=60))
@settings(max_examples=50, deadline=None)
def test_the_order_is_a_stable_one(codes: list[int]) -> None:
    given_ones = np.array(codes, dtype=np.int32)
    np.testing.assert_array_equal(
        _core.counting_order(given_ones, 10), np.argsort(given_ones, kind="stable")
    )


@given(group=st.lists(st.integers(-1, 4), max_size=60), seed=st.integers(0, 99))
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.int32, np.int64, np.float64, np.uint32])
@settings(max_examples=20, deadline=None)
def test_values_go_to_their_groups(kind: Any, group: list[int], seed: int) -> None:
    rng, of = np.random.default_rng(seed), np.array(group, dtype=np.int32)
    size = np.bincount(of[of >= 0], minlength=5)
    order = rng.permutation(5)  # of the groups
    first = np.empty(5, dtype=np.int64)
    first[order] = np.concatenate(([0], np.cumsum(size[order])[:-1]))
    for codes in (np.int32, np.int8, None):
        values = rng.integers(0, 100, len(of)).astype(kind)
        table = None if codes is None else rng.integers(0, 100, 7).astype(kind)
        if codes is not None:
            values = rng.integers(-7, 7, len(of)).astype(codes)
        out = np.zeros(size.sum(), dtype=kind)
        _core.scatter_by_group(values, table, of, first, out)
        meant = values if table is None else table[values]
        expected = [meant[of == g] for g in order]
        np.testing.assert_array_equal(out, np.concatenate(expected).astype(kind))


# --- odd numbers and wrong calls -----------------------------------------------------------------


@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf, 1e308, 5e-324])
@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
def test_any_number_is_taken(noise: Noise, what: float) -> None:
    score, share, pairs = SCORE.copy(), SHARE.copy(), pairs_of(tied=TIED)
    score[-1] = share[-1] = what
    _core.pair_agreement(pairs, 0, M, share, share, score)
    _core.add_to_both(pairs, 0, M, share, np.zeros(N))
    _core.crowd_scores_pass(noise.core, pairs, score, share, np.zeros(N))
    _core.set_reliabilities(noise.core, pairs, score, share)
    _core.position_sums(noise.core, **sided(score=score, accuracy=SHARE, order=share))


NOISE = NOISES["gumbel"].core
CODES = np.array([0, 2], dtype=np.int32)
FIRST = np.array([0, 1, 1], dtype=np.int64)


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.add_to_both(pairs_of(), 0, M, SHARE[1:], np.zeros(N)),
        lambda: _core.add_to_both(pairs_of(), 0, M, SHARE, np.zeros(N + 1)),
        lambda: _core.add_to_both(pairs_of(), 0, M + 1, SHARE, np.zeros(N)),
        lambda: _core.add_to_both(pairs_of(loser=LOSER - 1), 0, M, SHARE, np.zeros(N)),
        lambda: _core.count_wins(pairs_of(), 2, 1, np.zeros((N, N))),
        lambda: _core.count_wins(pairs_of(), 0, M, np.zeros((N, N + 1))),
        lambda: _core.count_wins(pairs_of(), 0, M, np.zeros((N, N)).astype(np.float32)),
        lambda: _core.count_wins(pairs_of(), 0, M, np.zeros((2 * N, N))[::2]),
        lambda: _core.count_wins(pairs_of(winner=WINNER + 1), 0, M, np.zeros((N, N))),
        lambda: _core.pair_agreement(pairs_of(), 0, M, SHARE, SHARE[1:], SCORE),
        lambda: _core.pair_agreement(pairs_of(), 0, M, SHARE, SHARE, SCORE[1:]),
        lambda: _core.set_elsewhere(pairs_of(), 0, M, np.zeros(M - 1)),
        lambda: _core.set_elsewhere(pairs_of(), -1, M, np.zeros(M)),
        lambda: _core.crowd_scores_pass(NOISE, pairs_of(), SCORE[1:], SHARE, np.zeros(N)),
        lambda: _core.crowd_scores_pass(NOISE, pairs_of(), SCORE, SHARE[1:], np.zeros(N)),
        lambda: _core.crowd_scores_pass(NOISE, pairs_of(), SCORE, SHARE, np.zeros(N - 1)),
        lambda: _core.set_reliabilities(NOISE, pairs_of(), SCORE, np.ones(M + 1)),
        lambda: _core.counting_order(CODES, 2),
        lambda: _core.counting_order(-CODES, 3),
        lambda: _core.counting_order(CODES.astype(np.int64), 3),
        lambda: _core.scatter_by_group(CODES, None, CODES, FIRST, np.zeros(2)),
        lambda: _core.scatter_by_group(CODES, None, CODES, FIRST, np.zeros(1, np.int32)),
        lambda: _core.scatter_by_group(CODES, None, CODES, FIRST[:2], np.zeros(2, np.int32)),
        lambda: _core.scatter_by_group(CODES, None, CODES, FIRST - 1, np.zeros(2, np.int32)),
        lambda: _core.scatter_by_group(CODES, None, CODES[:1], FIRST, np.zeros(2, np.int32)),
        lambda: _core.scatter_by_group(CODES, np.zeros(2), CODES, FIRST, np.zeros(2)),
        lambda: _core.scatter_by_group(-CODES, np.zeros(1), CODES, FIRST, np.zeros(2)),
        lambda: _core.scatter_by_group(np.zeros(2), np.zeros(2), CODES, FIRST, np.zeros(2)),
        lambda: _core.scatter_by_group(
            np.zeros(2, np.complex128), None, CODES, FIRST, np.zeros(2, np.complex128)
        ),
    ],
)  # fmt: skip
def test_wrong_calls_raise(call: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()


@pytest.mark.parametrize(
    "changed",
    [
        {"start": START[:-1]},
        {"start": START + 1},
        {"left": WINNER + 1},
        {"right": LOSER - 1},
        {"right": LOSER[1:]},
        {"outcome": np.zeros(NUMBER)},
        {"outcome": np.zeros(1, np.int8)},
        {"weight": WEIGHT[1:]},
        {"score": SCORE[1:]},
        {"accuracy": SHARE[1:]},
        {"order": SHARE[1:]},
        {"won": np.zeros(M - 1)},
        {"third": np.zeros(2 * M)[::2]},
        {"start": np.zeros(0, np.int64)},
    ],
)
def test_wrong_positions_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.position_sums(NOISE, **sided(**changed))
