"""``g = -log F`` and its derivatives, pointwise: tails, odd numbers, and calls that are wrong."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from juryrank import _core, noise_from_log_density
from juryrank.model.noise import NOISES, Noise
from juryrank.types import Floats

POINTS = np.concatenate((np.linspace(-12.0, 12.0, 97), [1e-9, -1e-9, 37.0, -37.0, 50.0, -50.0]))


def terms_of(noise: Noise, x: Floats) -> tuple[Floats, Floats, Floats]:
    found = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    _core.noise_terms(noise.core, x, *found)
    return found


def exact_terms(name: str, x: float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """From F, the density f and its derivative; F(-x) gives what is next to nothing of log F(x)."""
    t = mp.mpf(x)
    if name == "gumbel":
        below, above = 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))
        density, change = below * above, below * above * (above - below)
    elif name == "normal":
        below, above = mp.erfc(-t / 2) / 2, mp.erfc(t / 2) / 2
        density = mp.exp(-t * t / 4) / (2 * mp.sqrt(mp.pi))
        change = -t / 2 * density
    else:
        density = mp.exp(-abs(t)) / 2
        below, above = (density, 1 - density) if t < 0 else (1 - density, density)
        change = density if t < 0 else -density
    value = -mp.log1p(-above) if t > 0 else -mp.log(below)
    return value, -density / below, (density / below) ** 2 - change / below


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_terms_have_all_digits_in_both_tails(noise: Noise) -> None:
    found = np.array(terms_of(noise, POINTS))
    with mp.workdps(400):
        for k, x in enumerate(POINTS):
            value, gradient, curvature = exact_terms(noise.name, float(x))
            exact = [float(value), float(gradient), float(curvature)]
            np.testing.assert_allclose(found[:2, k], exact[:2], rtol=4e-15, err_msg=str(x))
            np.testing.assert_allclose(found[2, k], exact[2], rtol=2e-14, err_msg=str(x))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 31, 257, 1000])
def test_a_term_does_not_depend_on_how_many_there_are(count: int) -> None:
    x = np.random.default_rng(0).normal(0.0, 4.0, count)
    for noise in NOISES.values():
        together = np.array(terms_of(noise, x))
        alone = [np.ravel(terms_of(noise, x[k : k + 1])) for k in range(count)]
        np.testing.assert_allclose(together.T, np.reshape(alone, (count, 3)), rtol=2e-15)


@pytest.mark.parametrize(
    "noise", [*NOISES.values(), noise_from_log_density(lambda x: -0.5 * x**2)], ids=str
)
def test_any_number_is_taken(noise: Noise) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e200, -1e200, 5e-324, 0.0, -0.0])
    value, gradient, curvature = terms_of(noise, odd)
    assert np.isnan(value[0])
    zero = terms_of(noise, np.zeros(1))
    for part, at_zero in zip((value, gradient, curvature), zero, strict=True):
        np.testing.assert_allclose(part[-3:-1], at_zero[0], rtol=1e-14)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("x", [1e20, 1e100, 1e150])
def test_far_out_the_terms_are_their_limits(noise: Noise, x: float) -> None:
    (_, value), (above, gradient), (flat, curvature) = terms_of(noise, np.array([x, -x]))
    normal = noise.name == "normal"
    assert value == pytest.approx(0.25 * x * x if normal else x, rel=1e-14)
    assert gradient == pytest.approx(-0.5 * x if normal else -1.0, rel=1e-14)
    assert curvature == pytest.approx(0.5 if normal else 0.0, abs=1e-14)
    assert abs(above) < 1e-300
    assert abs(flat) < 1e-300


def _terms(**changed: Any) -> None:
    usual: dict[str, Any] = dict.fromkeys(("x", "value", "gradient", "curvature"), None)
    usual = {name: np.zeros(4) for name in usual} | {"noise": NOISES["normal"].core}
    _core.noise_terms(**(usual | changed))


@pytest.mark.parametrize("name", ["x", "value", "gradient", "curvature"])
@pytest.mark.parametrize(
    "wrong",
    [np.zeros(3), np.zeros(0), np.zeros(4, np.float32), np.zeros((4, 1)), np.zeros(8)[::2], None],
    ids=str,
)
def test_wrong_calls_raise(name: str, wrong: object) -> None:
    _terms()
    with pytest.raises((ValueError, TypeError)):
        _terms(**{name: wrong})


def test_what_cannot_be_written_is_not() -> None:
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    _terms(x=fixed)
    with pytest.raises((ValueError, TypeError)):
        _terms(value=fixed)
