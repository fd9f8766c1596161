"""The Cramer-Rao bound, and how close our default comes to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from juryrank.inference.information import Information
from juryrank.model.noise import GUMBEL, NORMAL, Noise
from juryrank.model.objective import Objective
from juryrank.paper.efficiency import bound, efficiency, save_efficiency, true_values
from juryrank.reading import votes_from
from juryrank.simulation.simulation import simulate


@pytest.mark.parametrize(("noise", "model"), [(GUMBEL, "hbtl"), (NORMAL, "htcv")])
def test_the_bound_is_that_of_the_observed_information_of_many_votes(
    noise: Noise, model: str
) -> None:
    score, accuracy = true_values()
    made = simulate(
        scores=score.tolist(), accuracies=accuracy.tolist(), model=model, votes_per_judge=50_000
    )
    votes = votes_from(made.votes)
    objective = Objective(votes.for_model(), noise)
    blocks = Information(objective, score, accuracy)
    mixed = blocks.mixed_rows(0, len(accuracy))
    full = np.block(
        [
            [blocks.profile_matrix() + mixed.T / blocks.accuracy_curvature @ mixed, mixed.T],
            [mixed, np.diag(blocks.accuracy_curvature)],
        ]
    )
    n = len(score)
    fixed = np.zeros((2, len(full)))
    fixed[0, :n], fixed[1, n:] = 1.0, np.sign(accuracy)
    bordered = np.block([[full, fixed.T], [fixed, np.zeros((2, 2))]])
    variance = np.diag(np.linalg.inv(bordered))[: len(full)]
    expected = np.sqrt(variance[:n].mean()), np.sqrt(variance[n:].mean())
    np.testing.assert_allclose(bound(noise, 50_000), expected, rtol=0.02)


def test_the_bound_falls_with_the_root_of_the_votes() -> None:
    few, many = bound(GUMBEL, 100), bound(GUMBEL, 400)
    np.testing.assert_allclose(np.array(few) / np.array(many), 2.0)


def test_our_default_comes_close_to_the_bound(tmp_path: Path) -> None:
    table = efficiency(trials=25, seed=3, votes_per_judge=(400,))
    assert len(table) == 4
    assert table["ratio"].is_between(0.8, 1.25).all()
    written = save_efficiency(table, tmp_path, "juryrank paper efficiency")
    assert all(path.stat().st_size > 200 for path in written)
