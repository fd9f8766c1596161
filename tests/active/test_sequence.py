"""Intervals that hold at all times: the boundary of Robbins, and what is read off it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from juryrank.active.sequence import (
    TIGHTEST,
    half_width,
    information_for,
    likelihood_information,
)


def test_the_formula_has_the_known_value_where_it_is_tightest() -> None:
    width = float(half_width(np.array([TIGHTEST]), 0.05)[0])
    assert width * np.sqrt(TIGHTEST) == pytest.approx(3.656, abs=1e-3)


def test_a_walk_without_drift_is_never_settled_with_the_confidence_asked_for() -> None:
    """Watched after each of 3,000 steps, up to an information of 750."""
    rng = np.random.default_rng(0)
    walks, steps, step = 2_000, 3_000, 0.25
    known = step * np.arange(1.0, steps + 1.0, dtype=np.float64)
    limit = known * half_width(known, 0.05)
    crossed = [
        bool((np.abs(np.cumsum(rng.normal(0.0, np.sqrt(step), steps))) >= limit).any())
        for _ in range(walks)
    ]
    assert np.mean(crossed) <= 0.05
    fixed = 1.96 * np.sqrt(known)  # what an interval for one look would have claimed
    walk = np.cumsum(rng.normal(0.0, np.sqrt(step), (200, steps)), axis=1)
    assert (np.abs(walk) >= fixed).any(axis=1).mean() > 0.3


def test_the_mixture_is_a_martingale_with_the_boundary_where_it_is_one_over_alpha() -> None:
    """``E exp(m S - m^2 V / 2)`` over ``m ~ N(0, 1 / r)`` is ``1 / alpha`` on the boundary."""
    for known in (0.3, 4.0, 60.0):
        total = known * float(half_width(np.array([known]), 0.01)[0])
        m, step = np.linspace(-12.0, 12.0, 200_001, retstep=True)
        density = np.exp(-0.5 * TIGHTEST * m**2) * np.sqrt(TIGHTEST / (2.0 * np.pi))
        mixture = np.sum(np.exp(m * total - 0.5 * m**2 * known) * density) * step
        assert mixture == pytest.approx(100.0, rel=1e-3)


def test_the_inverse_finds_the_information_back() -> None:
    known = np.array([0.01, 1.0, 30.0, 1e4])
    assert_allclose(information_for(half_width(known, 0.01), 0.01), known, rtol=1e-3)


def test_the_prior_is_taken_off() -> None:
    """A posterior precision of 1 / 0.2 with a prior of variance 2 holds 4.5 of the votes."""
    assert_allclose(likelihood_information(np.array([0.2, 2.5]), 2.0), [4.5, 1e-9])
