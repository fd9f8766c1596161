"""Intervals: against the inverse of the whole information matrix, and against simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.errors import InputError
from juryrank.inference import covariance as module
from juryrank.inference.covariance import by_information
from juryrank.inference.sandwich import moves_of_judges
from juryrank.model.gauge import gauge_of, gauge_scale, robust_gauge
from juryrank.model.objective import Objective
from juryrank.ranking.fitted import GaugedFit
from juryrank.ranking.methods import by_profile
from juryrank.ranking.request import PriorChoice, task_of
from juryrank.types import Floats

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

ScaleOf = Callable[[Floats, Floats], float]
"""The unit of scores, of accuracies and numbers of votes."""

ACCURACIES = [2.0, 1.5, 1.0, 1.0, 0.5, -1.0]


def fitted(prior: PriorChoice = "auto", model: str = "hbtl", lambda0: float = 0.0) -> GaugedFit:
    made = jr.simulate(9, accuracies=ACCURACIES, votes_per_judge=120, seed=3)
    votes = jr.votes_from(made.votes)
    return by_profile(task_of(votes, model, None, prior, lambda0, threads=1))


def parts(found: GaugedFit) -> tuple[Objective, Floats, Floats, Floats]:
    counts = found.objective.votes.pairs.per_judge.astype(float)
    return found.objective, found.raw.score, found.raw.accuracy, counts


def mean_size(accuracy: Floats, counts: Floats) -> float:
    return float(np.average(np.abs(accuracy), weights=counts))


def answer_of(theta: Floats, n: int, counts: Floats, scale_of: ScaleOf = mean_size) -> Floats:
    """The answer's scores and accuracies, from the solver's."""
    score, accuracy = theta[:n], theta[n:]
    scale = scale_of(accuracy, counts)
    return np.concatenate((scale * (score - score.mean()), accuracy / scale))


def numerical_jacobian(function: Callable[[Floats], Floats], at: Floats) -> Floats:
    step = 1e-5 * np.eye(len(at))
    return np.array([(function(at + h) - function(at - h)) / 2e-5 for h in step]).T


def covariance_by_brute_force(found: GaugedFit, scale_of: ScaleOf) -> Floats:
    """Differentiate the gradient and the answer numerically, and invert everything at once."""
    objective, score, accuracy, counts = parts(found)
    n = len(score)

    def gradient(theta: Floats) -> Floats:
        gradients = objective.gradients(theta[:n], theta[n:].copy())
        return np.concatenate((gradients.state, gradients.accuracy))

    theta = np.concatenate((score, accuracy))
    hessian = numerical_jacobian(gradient, theta)
    jacobian = numerical_jacobian(lambda t: answer_of(t, n, counts, scale_of), theta)
    # What the likelihood leaves open has no effect on the answer: hold it.
    if not objective.lambda0:
        hessian[:n, :n] += 1.0
    if not objective.has_scale:
        ridge = np.concatenate((score, -accuracy))
        hessian += np.outer(ridge, ridge)
    return np.asarray(jacobian @ np.linalg.inv(hessian) @ jacobian.T)


def assert_errors_are_those_of_brute_force(found: GaugedFit, scale_of: ScaleOf = mean_size) -> None:
    objective, score, accuracy, counts = parts(found)
    gauge = (robust_gauge if scale_of is gauge_scale else gauge_of)(objective, accuracy, counts)
    errors = by_information(objective, found.raw, gauge)
    expected = covariance_by_brute_force(found, scale_of)
    n = len(score)
    found_covariance = np.array([errors.covariances(i) for i in range(n)])
    np.testing.assert_allclose(found_covariance, expected[:n, :n], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(errors.accuracy_sd, np.sqrt(np.diag(expected)[n:]), rtol=1e-3)


@pytest.mark.parametrize("model", ["hbtl", "htcv"])
@pytest.mark.parametrize("prior", ["auto", (0.7, 0.4), None])
def test_errors_are_those_of_the_whole_information_matrix(prior: PriorChoice, model: str) -> None:
    assert_errors_are_those_of_brute_force(fitted(prior, model))


def test_no_judge_counts_above_twice_the_mean_in_the_unit_of_scores() -> None:
    made = jr.simulate(9, accuracies=[6.0, 1.0, 1.0, 0.5, -0.5], votes_per_judge=120, seed=3)
    found = by_profile(task_of(jr.votes_from(made.votes), "hbtl", None, (1.0, 2.0), threads=1))
    _, _, accuracy, counts = parts(found)
    scale = gauge_scale(accuracy, counts)
    capped = np.minimum(np.abs(accuracy), 2.0 * scale)
    assert (capped < np.abs(accuracy)).any()
    assert scale == pytest.approx(np.average(capped, weights=counts))
    assert_errors_are_those_of_brute_force(found, gauge_scale)


def test_the_virtual_node_counts() -> None:
    assert_errors_are_those_of_brute_force(fitted((np.inf, 0.5), lambda0=2.0))


def test_many_items_are_solved_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = jr.simulate(200, 40, adversaries=4, votes_per_judge=300, seed=3)
    votes = jr.votes_from(made.votes)
    whole = jr.rank(votes, prior=(1.0, 1.0))
    monkeypatch.setattr(by_information, "__defaults__", (100,))
    wide = jr.rank(votes, prior=(1.0, 1.0))
    assert any("extrapolated" in warning for warning in wide.warnings)
    assert wide.items["item"].to_list() == whole.items["item"].to_list()
    width = (wide.items["score_high"] - wide.items["score_low"]).to_numpy()
    exact = (whole.items["score_high"] - whole.items["score_low"]).to_numpy()
    np.testing.assert_allclose(width[:20], exact[:20], rtol=1e-4)
    np.testing.assert_allclose(width, exact, rtol=0.06)
    judges = (wide.judges["accuracy_high"] - wide.judges["accuracy_low"]).to_numpy()
    np.testing.assert_allclose(
        judges, (whole.judges["accuracy_high"] - whole.judges["accuracy_low"]).to_numpy(), rtol=0.06
    )
    item = whole.items["item"]
    for first, last in ((0, 150), (100, 101), (199, 60)):
        one, other = (ranking.difference(item[first], item[last]) for ranking in (wide, whole))
        assert one.high - one.low == pytest.approx(other.high - other.low, rel=1e-6)
    # Ranks hardly depend on how errors go together.
    gap = (wide.items["rank_high"] - whole.items["rank_high"]).abs().to_numpy()
    assert gap.mean() < 2.0


def test_sandwich_agrees_with_information_where_the_model_is_true() -> None:
    rng = np.random.default_rng(1)
    accuracies = rng.lognormal(0.0, 0.3, 400).tolist()
    made = jr.simulate(8, accuracies=accuracies, votes_per_judge=25, seed=2)
    votes = jr.votes_from(made.votes)
    plain, sandwich, bootstrap = (
        jr.rank(votes, intervals=way) for way in ("information", "sandwich", "bootstrap")
    )
    widths = [
        (found.items["score_high"] - found.items["score_low"]).to_numpy()
        for found in (plain, sandwich, bootstrap)
    ]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.3)
    np.testing.assert_allclose(widths[2], widths[1], rtol=0.25)
    assert plain.judges["accuracy_low"].to_list() == pytest.approx(
        sandwich.judges["accuracy_low"].to_list()
    )


@pytest.mark.parametrize("way", ["sandwich", "bootstrap"])
def test_judges_who_all_vote_alike_do_not_say_how_judges_differ(way: Literal["sandwich"]) -> None:
    votes = pl.DataFrame({"judge": ["a", "b", "c"], "winner": "A", "loser": "B"})
    with pytest.raises(InputError, match="so much alike"):
        jr.rank(votes, intervals=way)
    assert jr.rank(votes, intervals="information").difference("A", "B").p_value > 0.05


def test_sandwich_is_wider_where_judges_repeat_themselves() -> None:
    """Each judge says everything five times: five times the votes, no more knowledge."""
    made = jr.simulate(8, 60, votes_per_judge=25, seed=2, accuracies=[1.0] * 60)
    once = jr.rank(jr.votes_from(made.votes), "btl", intervals="sandwich")
    frame = made.votes.with_columns(times=5)
    plain = jr.rank(jr.votes_from(frame, weight="times"), "btl")
    clustered = jr.rank(jr.votes_from(frame, weight="times"), "btl", intervals="sandwich")
    width = [
        float((found.items["score_high"] - found.items["score_low"]).mean())  # type: ignore[arg-type]
        for found in (once, plain, clustered)
    ]
    assert width[2] == pytest.approx(width[0], rel=0.15)
    assert width[1] < 0.6 * width[2]


def test_leaving_a_judge_out_to_first_order() -> None:
    found = fitted((0.7, 0.4))
    objective, _, _, _ = parts(found)
    moved = moves_of_judges(objective, found.raw, found.gauge)(5)
    times = np.where(np.arange(objective.n_judges) < 5, 1.0, 0.99)
    again = replace(objective, votes=objective.votes.reweighted(times))
    solution = jr.ProfileSolver(tolerance=1e-9).solve(again, found.raw.score, found.raw.accuracy)
    counts = objective.votes.pairs.per_judge.astype(float)
    counts[5] *= 0.99
    change = answer_of(np.concatenate((solution.score, solution.accuracy)), 9, counts)[:9]
    np.testing.assert_allclose(found.solution.score - change, 0.01 * moved, atol=3e-5)


# --- what users see ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ranking() -> jr.Ranking:
    scores = [2.0, 1.9, 0.0, 0.0, -2.0, -4.0]
    made = jr.simulate(scores=scores, accuracies=[1.0] * 8, votes_per_judge=100, seed=1)
    return jr.rank(made.votes)


def test_ranks_tiers_and_the_best(ranking: jr.Ranking) -> None:
    items = ranking.items
    assert items["p_best"].sum() == pytest.approx(1.0)
    assert items["p_best"][0] > items["p_best"][1] > 0.05
    assert items["tier"].to_list() == [1, 1, 2, 2, 3, 4]
    assert ((items["rank_low"] <= items["rank"]) & (items["rank"] <= items["rank_high"])).all()
    assert items["rank_low"].to_list() == [1, 1, 3, 3, 5, 6]
    assert items["rank_high"].to_list() == [2, 2, 4, 4, 5, 6]
    assert (items["score_low"] < items["score"]).all()


def test_more_confidence_is_wider_and_joins_tiers() -> None:
    made = jr.simulate(10, 5, votes_per_judge=60, seed=4)
    ways: list[tuple[PriorChoice, float]] = [((1.0, 1.0), 1e-4), ("auto", 0.4)]
    for prior, tolerance in ways:
        narrow, wide = (jr.rank(made.votes, prior=prior, confidence=c) for c in (0.5, 0.999))
        widths = [(r.items["score_high"] - r.items["score_low"]).to_numpy() for r in (narrow, wide)]
        np.testing.assert_allclose(widths[1] / widths[0], 3.2905 / 0.67449, rtol=tolerance)
        assert narrow.items["tier"].max() > wide.items["tier"].max()  # type: ignore[operator]


def test_confidence_is_told_as_it_was_asked_for() -> None:
    made = jr.simulate(3, 3, votes_per_judge=20, seed=4)
    for confidence, said in ((0.95, "95%"), (0.995, "99.5%"), (0.99999, "99.999%")):
        gap = jr.rank(made.votes, confidence=confidence).difference("item-1", "item-2")
        assert f"with {said} confidence" in str(gap)


def test_equal_items_are_in_one_tier() -> None:
    """5 % of data sets may have another; with no signal at all accuracies fit the noise."""
    split = 0
    for seed in range(20):
        made = jr.simulate(scores=[0.0] * 8, accuracies=[1.0] * 6, votes_per_judge=80, seed=seed)
        tiers = jr.rank(made.votes).items["tier"].to_list()
        split += max(tiers) > 1
    assert split <= 2


def test_difference(ranking: jr.Ranking) -> None:
    first, second, *_, last = ranking.items["item"].to_list()
    clear, close = ranking.difference(first, last), ranking.difference(first, second)
    assert clear.p_value < 1e-6
    assert clear.chance_better > 0.999
    assert clear.low > 0.0
    assert close.p_value > 0.05
    assert close.low < 0.0 < close.high
    assert "with a chance of over 99.9%" in str(clear)
    assert "with a chance of under 0.1%" in str(ranking.difference(last, first))
    back = ranking.difference(second, first)
    assert back.difference == pytest.approx(-close.difference)
    assert back.p_value == pytest.approx(close.p_value)
    assert back.chance_better == pytest.approx(1.0 - close.chance_better)
    assert ranking.difference(first, first).difference == 0.0
    with pytest.raises(InputError, match="not in the votes: nobody"):
        ranking.difference(first, "nobody")


def test_models_without_errors_say_so() -> None:
    made = jr.simulate(5, 4, seed=2)
    found = jr.rank(made.votes, "win-rate")
    assert found.items["score_low"].null_count() == len(found.items)
    with pytest.raises(InputError, match="no errors to compare with"):
        found.difference("item-1", "item-2")
    with pytest.raises(InputError, match="has no intervals"):
        jr.rank(made.votes, "win-rate", intervals="bootstrap")
    with pytest.raises(InputError, match="only the profile solver"):
        jr.rank(made.votes, "crowdbt", intervals="sandwich")
    assert (
        jr.rank(made.votes, "crowdbt", intervals="bootstrap").items["score_low"].null_count() == 0
    )


def test_bad_settings_are_refused() -> None:
    made = jr.simulate(5, 2, seed=2)
    with pytest.raises(InputError, match="confidence=95 must lie between 0 and 1"):
        jr.rank(made.votes, confidence=95)
    with pytest.raises(InputError, match="no intervals called 'exact'"):
        jr.rank(made.votes, intervals="exact")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="there are only 2"):
        jr.rank(made.votes, intervals="sandwich")


@pytest.mark.parametrize("model", ["hbtl", "htcv"])
def test_intervals_cover(model: str) -> None:
    """A fast look; the study of coverage has many more data sets."""
    inside: dict[str, list[bool]] = {"score": [], "accuracy": [], "rank": []}
    for seed in range(15):
        made = jr.simulate(
            10, accuracies=[2, 1.5, 1.2, 1, 0.8, 0.6, 0.5, -1], model=model, votes_per_judge=100,
            seed=seed,
        )  # fmt: skip
        found = jr.rank(made.votes, model)
        scale = float(made.judges["accuracy"].abs().mean())  # type: ignore[arg-type]
        items = made.items.with_row_index("true_rank", offset=1).join(found.items, on="item")
        true = items["score"].to_numpy() * scale
        true = true - true.mean()
        inside["score"] += list(
            (items["score_low"].to_numpy() <= true) & (true <= items["score_high"].to_numpy())
        )
        true_rank = items["true_rank"]
        inside["rank"] += list((items["rank_low"] <= true_rank) & (true_rank <= items["rank_high"]))
        judges = made.judges.join(found.judges, on="judge")
        right = judges["accuracy"] / scale
        inside["accuracy"] += list(
            (judges["accuracy_low"] <= right) & (right <= judges["accuracy_high"])
        )
    for what, cases in inside.items():
        # Those of ranks are to hold all together, so single ones hardly ever fail.
        assert 0.90 < np.mean(cases) < 0.99 or (what == "rank" and np.mean(cases) >= 0.99), what


def test_there_are_errors_where_items_are_equal() -> None:
    made = jr.simulate(scores=[0.0] * 8, accuracies=[1.0] * 6, votes_per_judge=80, seed=4)
    assert jr.rank(made.votes).items["score_low"].null_count() == 0


def test_draws_have_the_covariance_they_are_drawn_from() -> None:
    objective, _, accuracy, counts = parts(found := fitted())
    errors = by_information(objective, found.raw, gauge_of(objective, accuracy, counts))
    joint = np.array([errors.covariances(i) for i in range(9)])
    few = module.from_joint(
        joint[:, :2] @ joint[:2, :], errors.accuracy_sd, errors.own_accuracy_sd, np.empty(0)
    )
    for known in (errors, few):
        whole = np.array([known.covariances(i) for i in range(9)])
        drawn = np.cov(np.concatenate(list(known.draws(200_000, seed=1))).T)
        np.testing.assert_allclose(drawn, whole, atol=0.02 * np.diag(whole).max())
