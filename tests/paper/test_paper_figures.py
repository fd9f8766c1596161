"""The paper's figures: the numbers behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from juryrank.paper.figures import (
    accuracy_curve,
    convergence_path,
    rates,
    save_accuracy_curve,
    save_convergence,
)
from juryrank.paper.synthetic import Cell


def test_a_guesser_errs_half_the_time_and_a_backwards_judge_nearly_always() -> None:
    curve = accuracy_curve().filter(noise="gumbel")
    error = curve["error"].to_list()
    assert curve["gamma"].to_list()[::100] == [-5.0, 0.0, 5.0]
    assert error[100] == pytest.approx(0.5)
    assert error[-1] == pytest.approx(1.0 / (1.0 + np.exp(5.0)))
    assert error[0] == pytest.approx(1.0 - error[-1])


@pytest.mark.parametrize("table", ["gumbel-benign", "normal-benign"])
def test_convergence_is_linear_down_to_the_statistical_error(table: str) -> None:
    path = convergence_path(Cell(table, 0.8, 1.0, 10.0), seed=0, iterations=400)
    part = path.distance / path.distance[0]
    assert part[-1] < 1e-4
    early, late = np.log(part[20] / part[60]) / 40, np.log(part[60] / part[100]) / 40
    assert late == pytest.approx(early, rel=0.8)
    assert 0.8 < path.rate < 0.99
    assert path.score_error[-1] < 0.2
    assert path.score_error[-1] == pytest.approx(path.score_error[300], rel=1e-3)


def test_figures_are_written(tmp_path: Path) -> None:
    paths = [convergence_path(Cell("gumbel-benign", 0.8, 1.0, 10.0), seed=0, iterations=200)]
    assert len(rates(paths)) == 1
    written = [
        *save_accuracy_curve(tmp_path, "juryrank paper accuracy-curve"),
        *save_convergence(paths, tmp_path, "juryrank paper convergence"),
    ]
    assert [path.suffix for path in written] == [".csv", ".md", ".png"] * 2
    assert all(path.stat().st_size > 200 for path in written)
    assert len(pl.read_csv(tmp_path / "convergence.csv")) == 3 * 11
