"""The smallest error that a choice of pairs can leave, against designs that are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from studies.bound import best_design, covariance, information, least_rmse, shape_only


def centring(n: int) -> np.ndarray:
    return np.eye(n) - 1.0 / n


def test_equal_items_are_best_compared_equally_often() -> None:
    """All ``n - 1`` contrasts then have the information ``2 N w / (n - 1)``."""
    design = best_design(0.3 * (1.0 - np.eye(6)), centring(6))
    assert_allclose(design.share[np.triu_indices(6, 1)], 1.0 / 15.0)
    assert design.trace == pytest.approx(5.0 * 5.0 / (2.0 * 0.3))
    assert design.least == pytest.approx(design.trace)


def test_of_a_chain_pairs_that_tell_less_are_asked_more() -> None:
    """Two gaps, each with 2/3 of its variance in the trace: shares go by ``1 / sqrt(w)``."""
    weight = np.zeros((3, 3))
    weight[0, 1] = weight[1, 0] = 0.4
    weight[1, 2] = weight[2, 1] = 0.1
    design = best_design(weight, centring(3))
    total = 1.0 / np.sqrt(0.4) + 1.0 / np.sqrt(0.1)
    assert design.share[0, 1] == pytest.approx(1.0 / np.sqrt(0.4) / total, rel=0.01)
    assert design.least <= 2.0 / 3.0 * total**2 * (1.0 + 1e-9)
    assert design.trace == pytest.approx(2.0 / 3.0 * total**2, rel=0.005)


def test_no_other_shares_are_below_the_bound() -> None:
    rng = np.random.default_rng(1)
    score = rng.uniform(0.0, 5.0, 12)
    weight, wanted = information(score, np.full((12, 12), 1.5)), shape_only(score)
    least = best_design(weight, wanted).least
    for _ in range(50):
        share = np.triu(rng.gamma(0.3, size=(12, 12)) * np.exp(-abs(score[:, None] - score)), 1)
        share = (share + share.T) / share.sum()
        assert np.trace(wanted @ covariance(share * weight) @ wanted) > least


def test_information_is_that_of_a_coin_whose_bias_the_gap_decides() -> None:
    """At a gap of 0, ``4 F'(0)^2``."""
    found = information(np.zeros(2), np.full((2, 2), 1.4865))
    assert found[0, 1] == pytest.approx(4.0 / (2.0 * np.pi * 1.4865**2))
    assert found[0, 0] == 0.0


def test_the_error_of_standardised_scores_is_that_of_scores_with_such_errors() -> None:
    rng = np.random.default_rng(2)
    score = rng.uniform(0.0, 5.0, 200)
    error = shape_only(score) @ rng.normal(0.0, 0.3, (200, 400))
    estimate = score[:, None] + error
    standard = (estimate - estimate.mean(axis=0)) / estimate.std(axis=0)
    true = (score - score.mean()) / score.std()
    rmse = np.sqrt(((standard - true[:, None]) ** 2).mean(axis=0)).mean()
    trace = 0.3**2 * 198 * 5_000
    assert least_rmse(trace, score, 5_000) == pytest.approx(rmse, rel=0.005)
