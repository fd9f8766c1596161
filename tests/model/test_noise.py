from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest

from juryrank import InputError, noise_from_log_density
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NOISES, NORMAL, Noise, Tables, noise_named

TAILS = [0.0, 1e-12, 1e-3, 0.1, 0.7, 1.0, 2.5, 5.0, 10.0, 20.0, 36.0, 100.0, 700.0, 1e3, 1e4]
POINTS = [-x for x in reversed(TAILS[1:])] + TAILS


def exact_terms(name: str, x: float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """``g``, ``g'``, ``g''`` of ``-log F`` in high precision, from F, F' and F''."""
    t = mp.mpf(x)
    if name == "gumbel":
        upper = 1 / (1 + mp.exp(t))
        f = mp.exp(-abs(t)) / (1 + mp.exp(-abs(t))) ** 2
        f_gradient = -f * mp.tanh(t / 2)
    elif name == "normal":
        upper = mp.erfc(t / 2) / 2
        f = mp.exp(-t * t / 4) / (2 * mp.sqrt(mp.pi))
        f_gradient = -t / 2 * f
    else:
        upper = mp.exp(-t) / 2 if t >= 0 else 1 - mp.exp(t) / 2
        f = mp.exp(-abs(t)) / 2
        f_gradient = f if t < 0 else -f
    lower = 1 - upper
    if name == "gumbel":
        lower = 1 / (1 + mp.exp(-t))
    elif t < 0:
        lower = mp.erfc(-t / 2) / 2 if name == "normal" else mp.exp(t) / 2
    value = -mp.log1p(-upper) if t > 0 else -mp.log(lower)
    return value, -f / lower, (f / lower) ** 2 - f_gradient / lower


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("x", POINTS)
def test_value_and_derivatives_agree_with_mpmath_in_both_tails(noise: Noise, x: float) -> None:
    with mp.workdps(700):
        expected = exact_terms(noise.name, x)
        for ours, exact in zip(noise.terms(x), expected, strict=True):
            error = abs(mp.mpf(float(ours)) - exact)
            assert error <= 1e-13 * abs(exact) + mp.mpf(1e-300)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 10.0])
def test_derivatives_agree_with_finite_differences(noise: Noise, scale: float) -> None:
    x = scale * np.linspace(-3.05, 3.0, 50)
    step = 1e-5 * scale
    _, gradient, curvature = noise.terms(x)
    above, below = noise.terms(x + step), noise.terms(x - step)
    np.testing.assert_allclose(gradient, (above[0] - below[0]) / (2 * step), rtol=1e-6, atol=1e-7)
    smooth = np.abs(x) > 2 * step  # the exponential's curvature jumps at 0
    np.testing.assert_allclose(
        curvature[smooth], ((above[1] - below[1]) / (2 * step))[smooth], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_distribution_is_that_of_the_difference_of_two_draws(noise: Noise) -> None:
    drawn = noise.draw(np.random.default_rng(1), (2, 200_000))
    for x in (-2.0, -0.3, 0.0, 0.5, 1.5):
        share = np.mean(drawn[1] - drawn[0] < x)
        assert abs(share - float(noise.cdf(x))) < 4 * 0.5 / np.sqrt(200_000)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_distribution_is_symmetric(noise: Noise) -> None:
    x = np.linspace(-8, 8, 101)
    np.testing.assert_allclose(noise.cdf(x) + noise.cdf(-x), 1.0, atol=1e-14)


@pytest.mark.parametrize(
    ("log_density", "support", "known"),
    [
        (lambda e: -(e**2) / 2, (-np.inf, np.inf), NORMAL),
        (lambda e: -e - np.exp(-e), (-np.inf, np.inf), GUMBEL),
        (lambda e: -e, (0.0, np.inf), EXPONENTIAL),
    ],
    ids=["normal", "gumbel", "exponential"],
)
def test_own_noise_reproduces_the_known_families(log_density, support, known) -> None:  # type: ignore[no-untyped-def]
    own = noise_from_log_density(log_density, support=support)
    x = np.linspace(-12, 12, 2001)
    for ours, exact, tolerance in zip(
        own.terms(x), known.terms(x), (1e-6, 1e-5, 1e-3), strict=True
    ):
        assert np.max(np.abs(ours - exact) / (0.01 + np.abs(exact))) < tolerance


def test_own_noise_with_bounded_support_has_the_triangular_difference() -> None:
    uniform = noise_from_log_density(lambda e: np.zeros_like(e), support=(0.0, 1.0))
    x = np.linspace(-0.95, 0.95, 39)
    exact = np.where(x < 0, (1 + x) ** 2 / 2, 1 - (1 - x) ** 2 / 2)
    np.testing.assert_allclose(uniform.cdf(x), exact, atol=1e-8)


def test_own_noise_need_not_be_normalised_or_centred() -> None:
    shifted = noise_from_log_density(lambda e: 7.0 - (e - 30.0) ** 2 / 2)
    x = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(shifted.cdf(x), NORMAL.cdf(x), atol=1e-9)


KINKED = {
    "normal": lambda e: -(e**2) / 2,
    "laplace": lambda e: -np.abs(e),
    "asymmetric laplace": lambda e: np.where(e < 0, 5.0 * e, -e),
    "two kinks": lambda e: -np.abs(e - 1) - 2 * np.abs(e + 0.3),
    "far away": lambda e: -((e - 1000.0) ** 2) / 2,
    "tiny": lambda e: -((e / 1e-4) ** 2) / 2,
}


@pytest.mark.parametrize("name", KINKED)
def test_own_noise_is_convex_also_with_kinks_and_far_out(name: str) -> None:
    own = noise_from_log_density(KINKED[name])
    assert isinstance(own.form, Tables)
    scale = own.form.knots[-1] / 15.0
    x = scale * np.concatenate((np.linspace(-15, 15, 5001), [-1e4, -1e3, 100.0, 1e3, 1e4]))
    value, gradient, curvature = own.terms(x)
    assert np.all(np.isfinite(value) & np.isfinite(gradient))
    assert np.all(curvature * scale**2 > -1e-6)


def test_own_noise_with_a_kink_is_exact() -> None:
    own = noise_from_log_density(lambda e: -np.abs(e))
    t = np.linspace(0.0, 30.0, 601)
    np.testing.assert_allclose(own.cdf(-t), np.exp(-t) * (2.0 + t) / 4.0, rtol=1e-7)


def test_noises_survive_pickling() -> None:
    own = noise_from_log_density(lambda e: -(e**2) / 2)
    for noise in (*NOISES.values(), own):
        again = pickle.loads(pickle.dumps(noise))  # noqa: S301
        assert float(again.cdf(0.7)) == float(noise.cdf(0.7))
        drawn = again.draw(np.random.default_rng(0), (3,))
        np.testing.assert_array_equal(drawn, noise.draw(np.random.default_rng(0), (3,)))


def test_what_is_not_a_number_stays_so() -> None:
    assert all(np.isnan(noise.terms(np.nan)[0]) for noise in NOISES.values())


@pytest.mark.parametrize(
    ("log_density", "complaint"),
    [
        (
            lambda e: np.log(np.exp(-((e - 3) ** 2) / 2) + np.exp(-((e + 3) ** 2) / 2)),
            "log-concave",
        ),
        (lambda e: -np.sqrt(np.abs(e)), "log-concave"),
        (lambda e: np.zeros_like(e), "does not fall off"),
        (lambda e: np.full_like(e, np.nan), "not a number"),
    ],
    ids=["two peaks", "heavy tails", "flat", "nan"],
)
def test_impossible_noise_is_refused_with_a_reason(log_density, complaint: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=complaint):
        noise_from_log_density(log_density)


def test_unknown_noise_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="gumbel, normal, exponential"):
        noise_named("cauchy")


@pytest.mark.parametrize("noise", NOISES.values(), ids=lambda noise: noise.name)
def test_the_share_of_votes_counts_ties_as_halves(noise: Noise) -> None:
    x = np.linspace(-6.0, 6.0, 13)
    for tie in (0.1, 1.0, 20.0):
        pull = tie * np.sqrt(noise.cdf(x) * noise.cdf(-x))
        expected = (noise.cdf(x) + 0.5 * pull) / (1.0 + pull)
        np.testing.assert_allclose(noise.share(x, np.log(tie)), expected, rtol=1e-12)
    np.testing.assert_allclose(noise.share(x, -np.inf), noise.cdf(x), rtol=1e-14)
    np.testing.assert_allclose(noise.share(x, np.inf), 0.5)
