"""The paper's theory: its constants, its contraction, its rate and its convexity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr
from scipy.stats import norm
from typer.testing import CliRunner

from juryrank.cli.app import app
from juryrank.errors import InputError
from juryrank.model.noise import EXPONENTIAL, GUMBEL, NORMAL
from juryrank.model.objective import Objective
from juryrank.model.own_noise import noise_from_log_density
from juryrank.paper import theory as study
from juryrank.paper.constants import (
    Truth,
    corollary_noise,
    corrected_constants,
    paper_constants,
)
from juryrank.paper.curvature import (
    convexity,
    convexity_table,
    expected_votes,
    hessian,
    noise_families,
    sampled_votes,
)
from juryrank.paper.growth import (
    Grid,
    asymptotic_errors,
    evenly,
    growth,
    growth_truth,
    nearest_errors,
    slopes,
)
from juryrank.paper.theory import (
    FEW,
    Case,
    Theory,
    contraction_table,
    observed_curvature,
    observed_sampling_errors,
    parts,
    shrinkage,
    theory,
)
from juryrank.progress import Progress, Watcher
from juryrank.types import Floats

NAMES = ("gumbel", "normal")


def ordinary(name: str, judges: int = 10) -> Truth:
    accuracy = np.repeat([1.0, 0.6], judges // 2)
    return Truth(corollary_noise(name), evenly(6, -0.6, 0.6), accuracy, 400)


# --- the constants -------------------------------------------------------------------------------


def test_the_corollary_of_normal_noise_leaves_out_the_root_of_two() -> None:
    x = np.linspace(-5.0, 5.0, 41)
    np.testing.assert_allclose(corollary_noise("normal").cdf(x), ndtr(x), rtol=1e-8)
    with pytest.raises(InputError, match="not for 'exponential'"):
        corollary_noise("exponential")
    with pytest.raises(InputError, match="no constants"):
        paper_constants(Truth(EXPONENTIAL, np.array([1.0, -1.0]), np.ones(2), 10))


def test_the_constants_of_gumbel_noise_are_those_of_the_paper_by_hand() -> None:
    truth = Truth(GUMBEL, np.array([1.0, 0.0, -1.0]), np.array([0.5, 1.0]), 50)
    found = paper_constants(truth)
    r, low = 0.25, np.exp(5.0) / (1.0 + np.exp(5.0)) ** 2
    assert found.radius == r
    assert found.mu1 == pytest.approx(0.0625 * low / 3)
    assert found.mu2 == pytest.approx((np.sqrt(2.0) + r) ** 2 * low / 3)
    assert found.l1 == pytest.approx(1.25**2 / 3)
    assert found.m1 == found.m2 == pytest.approx(4.0)
    smooth = max(found.l1, found.l2) ** 2 + 16.0
    assert found.step == pytest.approx(found.mu1 / (12.0 * smooth))
    assert found.rho == pytest.approx(1.0 - found.mu1**2 / (48.0 * smooth))
    assert found.epsilon2 == pytest.approx(10 / (1 + np.exp(5)) * np.sqrt(2 * np.log(12) / 100))
    more = Truth(truth.noise, truth.score, np.tile(truth.accuracy, 1000), 50)
    fewer_needed = paper_constants(more).judges_needed
    assert fewer_needed == pytest.approx(found.judges_needed, rel=1e-6)
    assert corrected_constants(more).judges_needed == np.inf


def test_the_constants_of_normal_noise_are_those_of_the_paper_by_hand() -> None:
    truth = ordinary("normal")
    found = paper_constants(truth)
    far = 5.0 * truth.c0
    ratio = norm.pdf([far, -far]) / norm.cdf([far, -far])
    low, high = ratio**2 + np.array([far, -far]) * ratio
    assert found.mu1 == pytest.approx((0.6 - truth.radius) ** 2 * low / 6, rel=1e-6)
    assert found.l1 == pytest.approx((1.0 + truth.radius) ** 2 * high / 6, rel=1e-6)
    m = (1.0 / ndtr(-far) + far * np.sqrt(2.0 * np.pi) * high) / np.sqrt(10.0 * np.pi)
    assert found.m1 == pytest.approx(m, rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_hessian_is_the_derivative_of_the_gradient(name: str) -> None:
    truth = ordinary(name)
    votes = sampled_votes(truth, seed=1).averaged()
    objective = Objective(votes, truth.noise)
    rng = np.random.default_rng(0)
    point = np.concatenate((rng.normal(size=6), rng.normal(size=10)))

    def gradient(at: Floats) -> Floats:
        gradient = objective.gradients(at[:6], at[6:])
        return np.concatenate((gradient.state, gradient.accuracy))

    step = 1e-5
    numeric = np.array(
        [(gradient(point + step * e) - gradient(point - step * e)) / (2 * step) for e in np.eye(16)]
    )
    exact = hessian(truth.noise.terms, votes, point[:6], point[6:]).joint()
    np.testing.assert_allclose(exact, numeric, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_expected_votes_are_many_votes(name: str) -> None:
    truth = ordinary(name)
    many = Truth(truth.noise, truth.score, truth.accuracy, 40_000)
    expected = hessian(truth.noise.terms, expected_votes(truth), truth.score, truth.accuracy)
    sampled = sampled_votes(many, seed=0).averaged()
    observed = hessian(truth.noise.terms, sampled, truth.score, truth.accuracy)
    np.testing.assert_allclose(observed.joint(), expected.joint(), atol=2e-3)
    gradient = Objective(expected_votes(truth), truth.noise).gradients(truth.score, truth.accuracy)
    assert np.abs(gradient.state).max() < 1e-9
    assert np.abs(gradient.accuracy).max() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_corrected_constants_bound_what_is_observed_and_those_of_the_paper_do_not(
    name: str,
) -> None:
    truth = ordinary(name, judges=40)
    corrected, stated = corrected_constants(truth), paper_constants(truth)
    seen = observed_curvature(truth, seed=0, points=30, sampled=True)
    seen |= observed_sampling_errors(truth, trials=5, seed=0)
    for lower in ("mu1", "mu2"):
        assert 0.0 < getattr(corrected, lower) <= seen[lower]
    for upper in ("l1", "l2", "m1", "m2", "epsilon1", "epsilon2", "statistical_error"):
        assert getattr(corrected, upper) >= seen[upper] > 0.0
    assert stated.mu2 > seen["mu2"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(5))
def test_no_truth_meets_the_condition_of_the_theorem(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = rng.normal(size=5)
    truth = Truth(corollary_noise(name), score - score.mean(), rng.normal(size=7), 10)
    here = hessian(truth.noise.terms, expected_votes(truth), truth.score, truth.accuracy)
    ridge = np.concatenate((truth.score, -truth.accuracy))
    assert np.abs(here.joint() @ ridge).max() < 1e-9
    mixed = here.mixed_norm()
    assert mixed >= (1.0 - 1e-9) * np.sqrt(here.score_eigenvalues()[0] * here.accuracy.min())


# --- the contraction -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_off_the_ridge_it_contracts_faster_than_promised_and_along_it_not_at_all(
    name: str,
) -> None:
    truth = ordinary(name)
    stated = paper_constants(truth)
    by_start = {start: shrinkage(truth, stated.step, start, 500) for start in study.STARTS}
    assert by_start["scores"] > by_start["accuracies"] >= stated.shrinkage > 0.0
    assert by_start["ridge"] == 0.0
    here = hessian(truth.noise.terms, expected_votes(truth), truth.score, truth.accuracy)
    slowest = np.linalg.eigvalsh(here.joint())[2]  # after the shift and the ridge
    assert by_start["accuracies"] == pytest.approx(2.0 * stated.step * slowest, rel=0.05)


def test_with_many_judges_the_promise_is_broken_off_the_ridge_too() -> None:
    pair = np.array([0.5, -0.5])
    crowd = Truth(GUMBEL, pair, np.ones(250_000), 1)
    assert paper_constants(crowd).stability < 0.25
    case = Case(study.MANY, crowd, points=5, iterations=2, is_sampled=False)
    table = contraction_table(0, [case])
    assert table["start"].to_list() == list(study.STARTS)
    assert table["holds"].to_list() == [True, False, False]


# --- the growth of the error ---------------------------------------------------------------------


def test_errors_are_taken_at_the_nearest_scale() -> None:
    truth = growth_truth(GUMBEL, (6, 4, 100))
    assert max(nearest_errors(truth, truth.score / 2.0, truth.accuracy * 2.0)) < 1e-12
    off = nearest_errors(truth, truth.score + 0.1, truth.accuracy)
    assert sum(off) <= 6 * 0.01 + 1e-9


def test_what_is_expected_falls_with_votes_and_each_judge_is_known_from_its_own() -> None:
    few, many = (asymptotic_errors(growth_truth(NORMAL, (10, 8, k))) for k in (100, 400))
    np.testing.assert_allclose(np.array(few) / np.array(many), 4.0)
    judges, more_judges = (asymptotic_errors(growth_truth(NORMAL, (10, m, 100))) for m in (20, 80))
    assert more_judges[0] / judges[0] == pytest.approx(0.25, rel=0.05)
    assert more_judges[1] / judges[1] == pytest.approx(4.0, rel=0.05)


def test_the_error_grows_as_expected_and_for_accuracies_not_as_the_bound() -> None:
    axes = {"n": (8, 16, 32), "m": (8, 16, 32), "k": (200, 400, 800)}
    grid = Grid(base={"n": 8, "m": 8, "k": 400}, axes=axes)
    seen: list[Progress] = []
    errors = growth(trials=12, seed=1, progress=seen.append, grid=grid)
    assert (seen[-1].done, seen[-1].total) == (13, 14)
    assert errors.equals(growth(trials=12, seed=1, grid=grid))
    found = slopes(errors, grid=grid)
    assert (found["slope"] - found["expected"]).abs().max() < 0.45  # type: ignore[operator]
    by_judges = found.filter(axis="m", what="accuracies")
    assert by_judges["low"].min() > 0.5  # type: ignore[operator]
    assert by_judges["bound"].max() < 0.0  # type: ignore[operator]
    assert found.filter(axis="k")["slope"].is_between(-1.5, -0.7).all()
    assert found.filter(axis="n", what="scores")["slope"].is_between(1.6, 2.8).all()
    assert (found["low"] < found["slope"]).all()
    assert (found["high"] > found["slope"]).all()


# --- convexity -----------------------------------------------------------------------------------


def test_log_concave_noises_are_convex_in_each_and_not_in_both() -> None:
    table = convexity_table(seed=2)
    assert set(table["noise"]) == set(noise_families())
    log_concave = table.filter(~pl.col("noise").str.contains("Cauchy"))
    assert len(log_concave) == 4
    assert log_concave["convex"].all()
    assert log_concave["joint"].max() < -0.1  # type: ignore[operator]


def test_the_check_fails_for_a_noise_that_is_not_log_concave() -> None:
    cauchy = noise_families()["Cauchy (not log-concave)"]
    found = convexity(cauchy, points=50)
    assert not found.holds
    assert found.score < -0.1
    assert found.accuracy < -0.1
    x = np.linspace(-6.0, 6.0, 13)
    step = 1e-5
    for derivative in (0, 1):
        numeric = (cauchy(x + step)[derivative] - cauchy(x - step)[derivative]) / (2 * step)
        np.testing.assert_allclose(cauchy(x)[derivative + 1], numeric, atol=1e-8)
    with pytest.raises(InputError, match="'cauchy'"):
        noise_from_log_density(lambda e: -np.log1p(e * e), name="cauchy")


# --- the whole study -----------------------------------------------------------------------------

SMALL = Grid(base={"n": 5, "m": 4, "k": 200}, axes={"n": (5, 8), "m": (4, 8), "k": (200, 400)})


def small_theory(trials: int, seed: int, progress: Watcher) -> Theory:
    cases = [Case(FEW, ordinary(name), 3, 50, is_sampled=True) for name in NAMES]
    return theory(trials, seed, progress, cases, SMALL)


def test_every_part_of_the_study_is_told() -> None:
    seen: list[Progress] = []
    found = small_theory(2, 0, seen.append)
    total = parts(found.cases, SMALL)
    assert [event.done for event in seen] == list(range(total))
    assert {event.total for event in seen} == {total}
    assert {event.text for event in seen} >= {"Growth of errors", f"Constants with {FEW}", "Slopes"}


def test_the_cases_of_the_paper() -> None:
    cases = study.paper_cases()
    assert [case.setting for case in cases] == [FEW, FEW, study.MANY, study.MANY]
    assert {case.setting: len(case.truth.accuracy) for case in cases} == {
        FEW: 20,
        study.MANY: 2**20,
    }


def test_the_command_shows_and_saves_the_study(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(study, "theory", small_theory)
    done = CliRunner().invoke(app, ["paper", "theory", "--trials", "2", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "M / sqrt(mu1 mu2)" in done.stdout
    assert "slopes of log squared error" in done.stdout
    text = (tmp_path / "theory.md").read_text(encoding="utf-8")
    assert "Made by `juryrank paper theory --trials 2 --seed 0" in text
    assert (tmp_path / "theory.png").read_bytes().startswith(b"\x89PNG")
    parts = pl.read_csv(tmp_path / "theory.csv", infer_schema_length=None)["part"]
    assert set(parts) == {"constants", "contraction", "error", "slope", "convexity"}
