"""The pass over votes on pairs against plain formulas, finite differences and scipy."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
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
KINDS = ("plain", "ties", "sides", "both")


@dataclass(frozen=True)
class Case:
    """Some votes, and what decides them."""

    noise: Noise
    start: NDArray[np.int64]
    winner: NDArray[np.int32]
    loser: NDArray[np.int32]
    weight: Floats | None
    tied: NDArray[np.bool_] | None
    side: NDArray[np.int8] | None
    score: Floats
    accuracy: Floats
    tie: Floats
    """A row for each judge, or one for all; no column if votes cannot be tied."""
    order: Floats

    @property
    def judge(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.accuracy)), np.diff(self.start))

    @property
    def pairs(self) -> _core.PairVotes:
        return _core.PairVotes(
            start=self.start, winner=self.winner, loser=self.loser, weight=self.weight,
            tied=self.tied, side=self.side, n_items=len(self.score),
        )  # fmt: skip

    @property
    def effects(self) -> _core.Effects | None:
        if self.tied is None and self.side is None:
            return None
        sizes = np.array([2][: self.tie.shape[1]], dtype=np.int64)
        return _core.Effects(sizes=sizes, tie=self.tie, order=self.order, as_one=False)

    def losses(self) -> Floats:
        """``-log P`` of every vote times its weight, as one would write it."""
        judge, m = self.judge, len(self.accuracy)
        x = self.accuracy[judge] * (self.score[self.winner] - self.score[self.loser])
        if self.side is not None:
            x = x + self.side * np.broadcast_to(self.order, m)[judge]
        won = -self.noise.terms(x)[0]
        if self.tied is not None:
            tied = np.broadcast_to(self.tie[:, 0], m)[judge]
            tied = tied + 0.5 * (won - self.noise.terms(-x)[0])
            won = np.where(self.tied, tied, won) - np.logaddexp(0.0, tied)
        return np.asarray(-won if self.weight is None else -self.weight * won)


def case_of(
    seed: int,
    noise: Noise,
    kind: str = "plain",
    *,
    weighted: bool = False,
    by_judge: bool = False,
    counts: tuple[int, ...] = (3, 0, 1, 8, 40),
    scale: float = 1.0,
) -> Case:
    rng = np.random.default_rng(seed)
    n, m, number = 6, len(counts), sum(counts)
    winner = rng.integers(0, n, number)
    ties, sides, rows = kind in ("ties", "both"), kind in ("sides", "both"), m if by_judge else 1
    return Case(
        noise=noise,
        start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        winner=winner.astype(np.int32),
        loser=((winner + rng.integers(1, n, number)) % n).astype(np.int32),
        weight=rng.choice([0.0, 0.5, 1.0, 3.0], number) if weighted else None,
        tied=rng.random(number) < 0.3 if ties else None,
        side=rng.choice([-1, 1], number).astype(np.int8) if sides else None,
        score=scale * rng.standard_normal(n),
        accuracy=rng.normal(0.8, 0.7, m),
        tie=rng.standard_normal((rows, int(ties))),
        order=rng.normal(0.0, 0.5, rows if sides else 0),
    )


@dataclass(frozen=True)
class Found:
    value: float
    accuracy: Floats
    score_gradient: Floats
    judge_value: Floats
    accuracy_gradient: Floats
    tie_gradient: Floats
    order_gradient: Floats


def arguments(case: Case, **rule: Any) -> dict[str, Any]:
    m, usual = len(case.accuracy), {"free": False, "mean": 1.0, "precision": 0.0, "bound": 20.0}
    return {
        "noise": case.noise.core,
        "rule": _core.AccuracyRule(**(usual | rule)),
        "pairs": case.pairs,
        "effects": case.effects,
        "first": 0,
        "last": m,
        "score": case.score,
        "accuracy": case.accuracy.copy(),
        "score_gradient": np.zeros(len(case.score)),
        "judge_value": np.full(m, np.nan),
        "accuracy_gradient": np.full(m, np.nan),
        "tie_gradient": np.full((m, case.tie.shape[1]), np.nan),
        "order_gradient": np.full(m if len(case.order) else 0, np.nan),
    }


def passed(case: Case, **rule: Any) -> Found:
    given_ones = arguments(case, **rule)
    value = _core.pairs_pass(**given_ones)
    names = [field.name for field in fields(Found) if field.name != "value"]
    return Found(value, **{name: given_ones[name] for name in names})


cases = st.builds(
    case_of,
    seed=st.integers(0, 10_000),
    noise=st.sampled_from([*ALL.values()]),
    kind=st.sampled_from(KINDS),
    weighted=st.booleans(),
    by_judge=st.booleans(),
    counts=st.lists(st.sampled_from([0, 1, 2, 7, 8, 9, 40]), min_size=1, max_size=5).map(tuple),
    scale=st.sampled_from([0.0, 1e-310, 0.1, 1.0, 5.0]),
)


@given(case=cases)
@settings(max_examples=150, deadline=None)
def test_the_value_is_that_of_the_formula(case: Case) -> None:
    found, losses = passed(case), case.losses()
    by_judge = np.bincount(case.judge, losses, len(case.accuracy))
    np.testing.assert_allclose(found.judge_value, by_judge, rtol=1e-12, atol=1e-12)
    assert found.value == pytest.approx(losses.sum(), rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(found.accuracy, case.accuracy)


def derivative(case: Case, name: str, index: tuple[int, ...], step: float = 1e-5) -> float:
    """Of the value in one number, by finite differences."""
    ends = []
    for sign in (1.0, -1.0):
        moved = getattr(case, name).copy()
        moved[index] += sign * step
        ends.append(replace(case, **{name: moved}).losses().sum())
    return float(ends[0] - ends[1]) / (2.0 * step)


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_finite_differences(noise: Noise, kind: str, weighted: bool) -> None:
    case = case_of(3, noise, kind, weighted=weighted, by_judge=True)
    found = passed(case)
    for name, gradient in (
        ("score", found.score_gradient), ("accuracy", found.accuracy_gradient),
        ("tie", found.tie_gradient), ("order", found.order_gradient),
    ):  # fmt: skip
        for index in np.ndindex(gradient.shape):
            expected = derivative(case, name, index)
            assert gradient[index] == pytest.approx(expected, rel=1e-6, abs=1e-7), (name, index)


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_in_accuracies_are_those_of_finite_differences(noise: Noise, kind: str) -> None:
    case = case_of(4, noise, kind, weighted=True)
    first, second = _core.pair_derivatives(
        case.noise.core, case.pairs, case.effects, case.score, case.accuracy
    )
    np.testing.assert_allclose(first, passed(case).accuracy_gradient, rtol=1e-12, atol=1e-13)
    for u in range(len(case.accuracy)):
        ends = []
        for sign in (1e-5, -1e-5):
            accuracy = case.accuracy.copy()
            accuracy[u] += sign
            ends.append(passed(replace(case, accuracy=accuracy)).accuracy_gradient[u])
        assert second[u] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", [(1, 9, 40), (4095, 4096, 4097, 8200)], ids=str)
def test_free_accuracies_are_where_value_and_prior_are_least(
    noise: Noise, kind: str, counts: tuple[int, ...]
) -> None:
    case = case_of(5, noise, kind, weighted=True, counts=counts, scale=0.7)
    found = passed(case, free=True, precision=2.0)

    def objective(a: float, u: int) -> float:
        accuracy = case.accuracy.copy()
        accuracy[u] = a
        own = replace(case, accuracy=accuracy).losses()[case.judge == u].sum()
        return float(own + 0.5 * 2.0 * (a - 1.0) ** 2)

    for u in range(len(counts)):
        best = minimize_scalar(objective, (-1.0, 1.0), args=(u,), options={"xtol": 1e-10})
        assert found.accuracy[u] == pytest.approx(best.x, abs=1e-6)
    there = passed(replace(case, accuracy=found.accuracy))
    assert found.value == pytest.approx(there.value, rel=1e-12)
    np.testing.assert_allclose(found.judge_value, there.judge_value, rtol=1e-11)
    np.testing.assert_allclose(found.score_gradient, there.score_gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        found.accuracy_gradient, there.accuracy_gradient, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(found.tie_gradient, there.tie_gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.order_gradient, there.order_gradient, rtol=1e-6, atol=1e-6)


def test_an_accuracy_that_nothing_holds_back_goes_to_its_bound() -> None:
    case = replace(
        case_of(6, NOISES["gumbel"], counts=(5,)),
        winner=np.zeros(5, np.int32), loser=np.ones(5, np.int32), score=np.arange(6.0)[::-1].copy(),
    )  # fmt: skip
    assert passed(case, free=True).accuracy == [20.0]
    turned = replace(case, winner=case.loser, loser=case.winner)
    assert passed(turned, free=True).accuracy == [-20.0]
    level = replace(case, score=np.zeros(6))
    assert passed(level, free=True, precision=1.0).accuracy == [1.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("free", [False, True])
def test_parts_of_the_judges_add_up_to_all(kind: str, free: bool) -> None:
    case = case_of(7, NOISES["normal"], kind, counts=(30, 5, 0, 5000, 12))
    whole, parts = passed(case, free=free, precision=1.0), arguments(case, free=free, precision=1.0)
    value = sum(_core.pairs_pass(**(parts | {"first": u, "last": u + 1})) for u in range(5))
    assert value == whole.value
    for name in ("accuracy", "judge_value", "accuracy_gradient", "tie_gradient", "order_gradient"):
        np.testing.assert_array_equal(parts[name], getattr(whole, name))
    np.testing.assert_allclose(parts["score_gradient"], whole.score_gradient, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
def test_a_weight_of_two_is_a_vote_twice(noise: Noise, kind: str) -> None:
    case = case_of(8, noise, kind, counts=(40,))
    twice: dict[str, Any] = {
        name: np.repeat(column, 2)
        for name in ("winner", "loser", "tied", "side")
        if (column := getattr(case, name)) is not None
    }
    one = passed(replace(case, weight=np.full(40, 2.0)), free=True, precision=1.0)
    other = passed(replace(case, start=2 * case.start, **twice), free=True, precision=1.0)
    assert one.value == pytest.approx(other.value, rel=1e-13)
    np.testing.assert_allclose(one.accuracy, other.accuracy, rtol=1e-12)
    np.testing.assert_allclose(one.score_gradient, other.score_gradient, rtol=1e-9, atol=1e-9)


# --- odd numbers and wrong calls -----------------------------------------------------------------


@pytest.mark.parametrize("what", [np.nan, np.inf, -np.inf, 1e308, -1e200, 5e-324])
@pytest.mark.parametrize("noise", ALL.values(), ids=ALL)
@pytest.mark.parametrize("free", [False, True])
def test_any_number_is_taken(what: float, noise: Noise, free: bool) -> None:
    for kind in KINDS:
        case = case_of(9, noise, kind, weighted=True)
        for name in ("score", "accuracy", "tie", "order"):
            odd = getattr(case, name).copy()
            odd.ravel()[-1:] = what
            passed(replace(case, **{name: odd}), free=free, precision=1.0)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_value_of_huge_scores_is_finite(noise: Noise) -> None:
    case = case_of(10, noise, counts=(100,))
    large = replace(case, score=1e20 * case.score)
    assert passed(large).value == pytest.approx(large.losses().sum(), rel=1e-12)


@pytest.mark.parametrize("counts", [(), (0,), (0, 0), (1,), (0, 1, 0)], ids=str)
def test_few_or_no_votes(counts: tuple[int, ...]) -> None:
    case = case_of(11, NOISES["gumbel"], "both", counts=counts)
    found = passed(case, free=True, precision=1.0)
    assert found.value == pytest.approx(found.judge_value.sum())
    assert np.isfinite(found.accuracy).all()


def wrong_arrays(right: NDArray[Any]) -> list[object]:
    rows, *columns = right.shape
    return [
        np.zeros((rows + 1, *columns)),
        np.zeros((2 * rows, *columns))[::2],
        np.zeros((*right.shape, 1)),
        right.astype(np.float32),
        None,
    ]


@pytest.mark.parametrize(
    "name",
    ["score", "accuracy", "score_gradient", "judge_value", "accuracy_gradient", "tie_gradient",
     "order_gradient"],
)  # fmt: skip
def test_wrong_arrays_are_refused(name: str) -> None:
    right = arguments(case_of(12, NOISES["gumbel"], "both"))
    _core.pairs_pass(**right)
    for wrong in wrong_arrays(right[name]):
        with pytest.raises((ValueError, TypeError)):
            _core.pairs_pass(**(right | {name: wrong}))


@pytest.mark.parametrize(
    "changed",
    [
        {"first": 3, "last": 2}, {"last": 6}, {"first": -1}, {"first": 6, "last": 6},
        {"noise": None}, {"rule": None}, {"pairs": None}, {"noise": "gumbel"}, {"effects": 3},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_calls_raise(changed: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _core.pairs_pass(**(arguments(case_of(13, NOISES["gumbel"], "both")) | changed))


@pytest.mark.parametrize("code", [-1, 6, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("name", ["winner", "loser"])
def test_codes_out_of_range_are_refused(name: str, code: int) -> None:
    case = case_of(14, NOISES["gumbel"])
    wrong = getattr(case, name).copy()
    wrong[-1] = code
    call = arguments(replace(case, **{name: wrong}))
    _core.pairs_pass(**(call | {"last": 4}))  # the last judge is not looked at
    for _ in range(2):
        with pytest.raises(ValueError, match="code"):
            _core.pairs_pass(**call)


def test_effects_of_other_judges_are_refused() -> None:
    case = case_of(15, NOISES["gumbel"], "both", by_judge=True)
    for name in ("tie", "order"):
        wrong = replace(case, **{name: getattr(case, name)[:3].copy()})
        with pytest.raises(ValueError, match="entries"):
            passed(wrong)
        with pytest.raises(ValueError, match="entries"):
            _core.pair_derivatives(
                case.noise.core, case.pairs, wrong.effects, case.score, case.accuracy
            )


def test_derivatives_of_wrong_arrays_are_refused() -> None:
    case = case_of(16, NOISES["normal"])
    for score, accuracy in ((case.score[1:], case.accuracy), (case.score, case.accuracy[1:])):
        with pytest.raises(ValueError, match="entries"):
            _core.pair_derivatives(case.noise.core, case.pairs, None, score, accuracy)
