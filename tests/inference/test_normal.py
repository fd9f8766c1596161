from __future__ import annotations

import math

import pytest
from scipy.special import ndtr, ndtri

from juryrank.inference.normal import below, quantile


@pytest.mark.parametrize("x", [-37.0, -8.0, -1.96, -1e-9, 0.0, 0.5, 3.0, 40.0])
def test_chances_are_those_of_scipy(x: float) -> None:
    assert below(x) == pytest.approx(float(ndtr(x)), rel=1e-13)


@pytest.mark.parametrize("chance", [1e-300, 1e-20, 5e-14, 0.001, 0.025, 0.3, 0.5])
def test_quantiles_are_those_of_scipy(chance: float) -> None:
    assert quantile(chance) == pytest.approx(float(ndtri(chance)), rel=1e-13)


def test_nothing_is_below_everything() -> None:
    assert below(-math.inf) == 0.0
    assert quantile(0.0) == -math.inf
