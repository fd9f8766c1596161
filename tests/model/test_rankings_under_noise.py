"""The probability of a ranking: compiled chain of integrals against independent methods."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma, logistic, norm, uniform

from juryrank import InputError, noise_from_log_density
from juryrank.model.list_integrals import ChainedLists
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL, Noise
from juryrank.types import Floats
from juryrank.votes.lists import no_lists

OWN: dict[str, tuple[Callable[[Floats], Floats], tuple[float, float]]] = {
    "logistic": (lambda v: -v - 2.0 * np.logaddexp(0.0, -v), (-np.inf, np.inf)),
    "gamma": (lambda v: np.log(v) - v, (0.0, np.inf)),
    "uniform": (lambda v: 0.0 * v, (0.0, 1.0)),
}
BUILT_IN = {"normal": NORMAL, "gumbel": GUMBEL, "exponential": EXPONENTIAL}
NAMES = [*BUILT_IN, *OWN]
Function = Callable[[Floats], Floats]
DISTRIBUTIONS: dict[str, tuple[Function, Function]] = {
    "normal": (norm.pdf, norm.cdf),
    "gumbel": (lambda v: np.exp(-v - np.exp(-v)), lambda v: np.exp(-np.exp(-v))),
    "exponential": (
        lambda v: np.where(v >= 0, np.exp(-np.maximum(v, 0)), 0.0),
        lambda v: -np.expm1(-np.maximum(v, 0)),
    ),
    "logistic": (logistic.pdf, logistic.cdf),
    "gamma": (gamma(2).pdf, gamma(2).cdf),
    "uniform": (uniform.pdf, uniform.cdf),
}
BULK = {"normal": (-9, 9), "gumbel": (-4, 40), "exponential": (0, 38), "logistic": (-38, 38),
        "gamma": (0, 42), "uniform": (0, 1)}  # fmt: skip
SPREAD = {"uniform": 0.12, "gamma": 1.5}


@cache
def noise_called(name: str) -> Noise:
    if name in BUILT_IN:
        return BUILT_IN[name]
    log_density, support = OWN[name]
    return noise_from_log_density(log_density, name=name, support=support)


def plain_chance(name: str, location: Floats, ranked: int) -> float:
    """P by nested cumulative integrals in plain numpy: many Gauss panels, cut at all kinks.

    The integral from a panel's start to each node is one more Gauss rule on that interval, through
    values interpolated there: no integration matrix, no tilts, no scaling.
    """
    density, below = DISTRIBUTIONS[name]
    low, high = BULK[name]
    ends = np.concatenate((location + low, location + high))
    edges = np.unique(np.concatenate((ends, np.linspace(ends.min(), ends.max(), 161))))
    x, w = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(edges)[:, None]
    t = edges[:-1, None] + half * (1.0 + x)
    partial = 0.5 * (x + 1.0)[:, None] * (x + 1.0) - 1.0  # nodes of the rule from -1 to each node
    powers = np.polynomial.legendre.legvander(partial.ravel(), 15)
    interpolate = powers @ np.linalg.inv(np.polynomial.legendre.legvander(x, 15))
    running = (interpolate.reshape(16, 16, 16) * w[None, :, None]).sum(axis=1)
    running *= 0.5 * (x + 1.0)[:, None]
    ranked = min(ranked, len(location) - 1)
    lower = np.prod([below(t - m) for m in location[ranked:]], axis=0)
    total = 0.0
    for m in location[:ranked][::-1]:
        inner = density(t - m) * lower
        whole = (half * inner) @ w
        lower = half * inner @ running.T + (np.cumsum(whole) - whole)[:, None]
        total = float(whole.sum())
    return total


def chance(name: str, location: Floats, ranked: int | None = None) -> float:
    return float(np.exp(-noise_called(name).ranking_terms(location, ranked)[0]))


def random_locations(name: str, count: int, seed: int) -> Floats:
    return SPREAD.get(name, 1.0) * np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_chances_agree_with_nested_integrals(name: str, count: int) -> None:
    for seed in range(3):
        location = random_locations(name, count, seed)
        for ranked in range(1, count + 1):
            exact = plain_chance(name, location, ranked)
            assert chance(name, location, ranked) == pytest.approx(exact, abs=1e-9, rel=1e-8)


@pytest.mark.parametrize("scale", [0.1, 3.0, 50.0, 1e4])
@pytest.mark.parametrize("ranked", [1, 4, 9])
def test_gumbel_noise_gives_plackett_and_luces_product(scale: float, ranked: int) -> None:
    location = scale * np.random.default_rng(ranked).normal(size=9)
    exact = sum(logsumexp(location[j:]) - location[j] for j in range(ranked))
    value, gradient = GUMBEL.ranking_terms(location, ranked)
    assert value == pytest.approx(exact, rel=1e-11, abs=1e-11)
    shares = np.zeros(9)
    for j in range(ranked):
        shares[j:] += np.exp(location[j:] - logsumexp(location[j:]))
        shares[j] -= 1.0
    np.testing.assert_allclose(gradient, shares, atol=1e-9)


def test_three_normals_have_a_closed_form() -> None:
    # differences of neighbours of equal locations correlate by -1/2: 1/4 + asin(-1/2) / (2 pi)
    assert chance("normal", np.zeros(3)) == pytest.approx(0.25 - np.pi / 6 / (2 * np.pi), abs=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gap", [-20.0, -3.0, -0.5, -1e-3, 0.0, 0.2, 1.0, 4.0, 30.0])
def test_two_items_are_a_pair(name: str, gap: float) -> None:
    noise = noise_called(name)
    gap = gap / 40 if name == "uniform" else gap
    value, gradient = noise.ranking_terms([gap, 0.0])
    pair_value, pair_gradient, _ = noise.terms(gap)
    rel = 1e-6 if name in OWN else 1e-11  # a user's pairs are themselves a spline
    assert value == pytest.approx(float(pair_value), rel=rel, abs=1e-8)
    assert gradient[0] == pytest.approx(
        float(pair_gradient), rel=1e-4 if name in OWN else 1e-9, abs=1e-7
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [0.05, 1.0, 4.0])
def test_all_rankings_together_are_certain(name: str, scale: float) -> None:
    location = scale * random_locations(name, 4, 7)
    rankings = [np.array(p) for p in permutations(location)]
    assert sum(chance(name, p) for p in rankings) == pytest.approx(1.0, abs=1e-9)
    for ranked, repeats in ((1, 6), (2, 2)):
        total = sum(chance(name, p, ranked) for p in rankings) / repeats
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("count", "ranked"), [(3, 3), (7, 7), (7, 3), (12, 1)])
def test_gradient_and_hessian_agree_with_differences(name: str, count: int, ranked: int) -> None:
    noise, location = noise_called(name), random_locations(name, count, count + ranked)
    value, gradient = noise.ranking_terms(location, ranked)
    assert abs(gradient.sum()) < 1e-11 * (1.0 + np.abs(gradient).max())
    assert noise.ranking_terms(location + 3.7, ranked)[0] == pytest.approx(value, abs=1e-9)
    step = 1e-4 * noise.form.width
    for i in range(count):
        move = step * (np.arange(count) == i)
        ahead, back = (noise.ranking_terms(location + s * move, ranked)[0] for s in (1, -1))
        assert gradient[i] == pytest.approx((ahead - back) / (2 * step), rel=1e-5, abs=1e-5)
    lists = no_lists(1)._replace(
        start=np.array([0, 1]),
        begin=np.array([0, count]),
        item=np.arange(count, dtype=np.int32),
        level=np.arange(count, dtype=np.int32),
        ranked=np.array([ranked], dtype=np.int32),
        weight=np.ones(1),
    )
    chained = ChainedLists(noise, lists, threads=1)
    ready = chained.ready(location)
    # Not to the last bit: compiled in another order, the same sums are inlined differently.
    assert chained.value[0] == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(ready.gradient, gradient, rtol=1e-12, atol=1e-13)
    hessian = ready.hessian.reshape(count, count)
    np.testing.assert_array_equal(hessian, hessian.T)
    np.testing.assert_allclose(hessian.sum(axis=0), 0.0, atol=1e-5 * np.abs(hessian).max())
    direction = np.random.default_rng(0).normal(size=count)
    if len(noise.form.kinks):
        return  # second derivatives jump where items pass each other
    wide = 1e-3 * noise.form.width
    values = [noise.ranking_terms(location + s * wide * direction, ranked)[0] for s in (-1, 0, 1)]
    curvature = (values[0] - 2 * values[1] + values[2]) / wide**2
    assert direction @ hessian @ direction == pytest.approx(curvature, rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_equal_items_have_all_rankings_alike(name: str) -> None:
    for count in (10, 40):
        value, gradient = noise_called(name).ranking_terms(np.full(count, 0.3))
        assert value == pytest.approx(float(gammaln(count + 1)), abs=1e-7)
        assert np.isfinite(gradient).all()


def test_long_lists_stay_finite_and_right() -> None:
    for noise in BUILT_IN.values():
        assert noise.ranking_terms(np.zeros(100))[0] == pytest.approx(float(gammaln(101)), abs=1e-3)
        backwards = np.linspace(-20.0, 20.0, 100)
        value, gradient = noise.ranking_terms(backwards)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        assert noise.ranking_terms(-backwards)[0] < value
        assert noise.ranking_terms(np.zeros(200), 1)[0] == pytest.approx(np.log(200), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, 1e4])
def test_any_locations_give_a_finite_value_and_a_gradient_that_leads_back(
    name: str, scale: float
) -> None:
    noise, rng = noise_called(name), np.random.default_rng(3)
    for count, ranked in ((5, 5), (8, 3), (20, 20)):
        location = scale * rng.normal(size=count)
        value, gradient = noise.ranking_terms(location, ranked)
        assert value >= 0.0
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
        ordered = np.sort(location)[::-1]
        # -log P is convex, so its gradient towards the sorted, better locations falls no less
        better = noise.ranking_terms(ordered, ranked)[0]
        assert better <= value
        if name != "uniform":
            assert gradient @ (ordered - location) <= (better - value) * (1.0 - 1e-6) + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_the_further_out_of_order_the_less_likely(name: str) -> None:
    noise = noise_called(name)
    gaps = np.concatenate(([0.0, 0.01, 0.1, 0.3, 0.6, 0.9], np.geomspace(1.0, 1e4, 60)))
    values, gradients = [], []
    for gap in gaps:
        value, gradient = noise.ranking_terms(np.array([0.2, -gap, 0.1, 0.0, -0.1]))
        values.append(value)
        gradients.append(gradient[1])
    assert (np.diff(values) > 0.0).all()
    assert (np.array(gradients) < 0.0).all()
    # the value rises by what its own gradient says: convex, and so no line search is misled
    rise = np.diff(values) / np.diff(gaps)
    assert (rise >= -np.array(gradients[:-1]) * (1.0 - 1e-6)).all()
    assert (rise <= -np.array(gradients[1:]) * (1.0 + 1e-6)).all()


def test_normal_noise_far_out_of_order_follows_the_isotonic_regression() -> None:
    location = np.array([-3e3, 1e3, -1e3, 4e3])  # all are pooled at 250
    value, gradient = NORMAL.ranking_terms(location)
    assert value == pytest.approx(0.5 * ((location - 250.0) ** 2).sum(), rel=1e-5)
    np.testing.assert_allclose(gradient, location - 250.0, rtol=1e-2)


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(NAMES),
    location=st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=9),
    share=st.floats(0.0, 1.0),
)
def test_compiled_chain_agrees_with_plain_numpy(
    name: str, location: list[float], share: float
) -> None:
    locations = SPREAD.get(name, 1.0) * np.array(location)
    ranked = 1 + int(share * (len(location) - 1))
    exact = plain_chance(name, locations, ranked)
    assert chance(name, locations, ranked) == pytest.approx(exact, abs=1e-9)


def test_nothing_ranked_is_certain_and_wrong_input_is_named() -> None:
    assert NORMAL.ranking_terms([1.0])[0] == 0.0
    assert NORMAL.ranking_terms([1.0, 2.0], 0)[0] == 0.0
    with pytest.raises(InputError, match="finite"):
        NORMAL.ranking_terms([1.0, np.inf])
    with pytest.raises(InputError, match="cannot be ranked"):
        NORMAL.ranking_terms([1.0, 2.0], 3)
