"""Separation reliability, split halves, infit and outfit: against formulas written out by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.ranking.reliability import separation

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")

MAXIMUM_LIKELIHOOD = {"prior": None, "intervals": "information"}


def frame(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["judge", "winner", "loser"], orient="row")


def bradley_terry(votes: pl.DataFrame) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Items, scores of maximum likelihood by Newton's method, and their covariance, sum zero."""
    items = sorted({*votes["winner"], *votes["loser"]})
    winner, loser = (np.array([items.index(name) for name in votes[column]])
                     for column in ("winner", "loser"))  # fmt: skip
    score = np.zeros(len(items))
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(score[loser] - score[winner]))
        gradient, information = np.zeros(len(items)), np.zeros((len(items), len(items)))
        for w, x, p in zip(winner, loser, chance, strict=True):
            gradient[w] += 1.0 - p
            gradient[x] -= 1.0 - p
            information[w, w] += p * (1.0 - p)
            information[x, x] += p * (1.0 - p)
            information[w, x] -= p * (1.0 - p)
            information[x, w] -= p * (1.0 - p)
        score = score + np.linalg.pinv(information) @ gradient
    return items, score, np.linalg.pinv(information)


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    made = jr.simulate(8, accuracies=[1.0] * 6, votes_per_judge=60, seed=3).votes
    left_won = pl.col("winner") == "left"
    return made.select(
        "judge",
        winner=pl.when(left_won).then("left").otherwise("right"),
        loser=pl.when(left_won).then("right").otherwise("left"),
    )


@pytest.fixture(scope="module")
def ranking(votes: pl.DataFrame) -> jr.Ranking:
    return jr.rank(votes, "btl", **MAXIMUM_LIKELIHOOD)  # type: ignore[call-overload, no-any-return]


# --- separation ----------------------------------------------------------------------------------


def test_separation_is_the_part_of_the_variance_that_is_not_error(
    votes: pl.DataFrame, ranking: jr.Ranking
) -> None:
    """``SSR = (observed variance - mean squared standard error) / observed variance``."""
    _, score, covariance = bradley_terry(votes)
    observed, error = np.var(score, ddof=1), np.mean(np.diag(covariance))
    found = ranking.reliability
    assert found.separation == pytest.approx((observed - error) / observed, rel=1e-6)
    assert found.score_sd == pytest.approx(np.sqrt(observed), rel=1e-6)
    assert found.standard_error == pytest.approx(np.sqrt(error), rel=1e-6)
    true_spread = np.sqrt(observed - error)
    assert found.separation_index == pytest.approx(true_spread / np.sqrt(error), rel=1e-6)


def test_shrunken_scores_have_the_same_reliability_by_their_own_formula() -> None:
    """A true variance of 1 and an error variance of 0.25: the reliability is 0.8 either way."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=200_000)
    seen = truth + rng.normal(scale=0.5, size=len(truth))
    unshrunken = separation(seen, np.full(len(seen), 0.25), shrunken=False)
    posterior = separation(0.8 * seen, np.full(len(seen), 0.2), shrunken=True)
    assert unshrunken == pytest.approx(0.8, abs=0.01)
    assert posterior == pytest.approx(0.8, abs=0.01)
    assert np.corrcoef(truth, seen)[0, 1] ** 2 == pytest.approx(unshrunken, abs=0.01)


def test_the_posterior_and_maximum_likelihood_agree(
    votes: pl.DataFrame, ranking: jr.Ranking
) -> None:
    of_posterior = jr.rank(votes, "btl").reliability.separation
    assert of_posterior == pytest.approx(ranking.reliability.separation, abs=0.02)


def test_separation_may_be_negative_and_needs_errors(votes: pl.DataFrame) -> None:
    assert separation(np.array([0.0, 0.1]), np.array([1.0, 1.0]), shrunken=False) < 0.0
    assert np.isnan(separation(np.array([0.0]), np.array([1.0]), shrunken=False))
    with pytest.raises(jr.InputError, match="no errors"):
        _ = jr.rank(votes, "win-rate").reliability


def test_the_coefficient_comes_with_its_caveat(ranking: jr.Ranking) -> None:
    shown = repr(ranking.reliability)
    assert shown.startswith(f"Reliability(separation {ranking.reliability.separation:.3f}, ")
    assert "too high if pairs were chosen by earlier votes" in shown


# --- split halves --------------------------------------------------------------------------------


def test_split_halves_are_correlations_of_rankings_by_halves_of_the_judges() -> None:
    """With two judges every split is the same: each ranks alone."""
    made = jr.simulate(6, accuracies=[1.0, 1.0], votes_per_judge=150, seed=5).votes
    found = jr.rank(made, "btl", prior=(1.0, 1.0)).reliability.split_halves(3)
    alone = [
        jr.rank(made.filter(pl.col("judge") == judge), "btl", prior=(1.0, 1.0)).items.sort("item")
        for judge in ("judge-1", "judge-2")
    ]
    expected = np.corrcoef(alone[0]["score"].to_numpy(), alone[1]["score"].to_numpy())[0, 1]
    assert found.correlations == pytest.approx((expected,) * 3, abs=1e-4)
    assert found.correlation == pytest.approx(expected, abs=1e-4)
    assert repr(found) == f"SplitHalves({expected:.3f} on average over 3 splits of 2 judges)"


def test_split_halves_depend_on_the_seed_only(ranking: jr.Ranking) -> None:
    one, same, other = (ranking.reliability.split_halves(4, seed) for seed in (1, 1, 2))
    assert one.correlations == same.correlations
    assert one.correlations != other.correlations
    assert 0.5 < one.correlation < 1.0


def test_judges_who_toss_coins_have_halves_that_do_not_agree() -> None:
    made = jr.simulate(12, model="btl", judges=8, score_sd=0.0, votes_per_judge=60, seed=2).votes
    assert abs(jr.rank(made, "btl").reliability.split_halves(5).correlation) < 0.5


def test_one_judge_has_no_halves() -> None:
    ranking = jr.rank(frame([("u", "a", "b"), ("u", "b", "a"), ("u", "a", "c")]), "btl")
    with pytest.raises(jr.InputError, match="One judge cannot be divided"):
        ranking.reliability.split_halves()


# --- infit and outfit ----------------------------------------------------------------------------


def test_mean_squares_of_a_case_that_can_be_done_by_hand() -> None:
    """a beats b in 3 of 4 votes, so ``p = 3/4``; a tie says nothing.

    Judge u: two votes for a, ``z^2 = q / p = 1/3`` each. Judge v: one each way, ``1/3`` and ``3``.
    """
    rows = [("u", "a", "b", "left"), ("u", "b", "a", "right"), ("v", "a", "b", "left"),
            ("v", "a", "b", "right"), ("v", "a", "b", "tie")]  # fmt: skip
    votes = pl.DataFrame(rows, schema=["judge", "left", "right", "winner"], orient="row")
    ranking = jr.rank(votes, "btl", ties="davidson", **MAXIMUM_LIKELIHOOD)  # type: ignore[call-overload]
    assert float(ranking.predict("u", "a", "b")) == pytest.approx(0.75, rel=1e-6)
    judges = {row["judge"]: row for row in ranking.misfit.judges.iter_rows(named=True)}
    assert judges["u"]["outfit"] == pytest.approx(1 / 3, rel=1e-5)
    assert judges["u"]["infit"] == pytest.approx(1 / 3, rel=1e-5)
    assert judges["v"]["outfit"] == pytest.approx((1 / 3 + 3) / 2, rel=1e-5)
    assert judges["v"]["infit"] == pytest.approx((1 / 16 + 9 / 16) / (2 * 3 / 16), rel=1e-5)
    assert [judges[judge]["votes"] for judge in "uv"] == [2, 2]
    for row in ranking.misfit.items.iter_rows(named=True):
        assert (row["votes"], row["outfit"]) == (4, pytest.approx(1.0, rel=1e-5))


def test_mean_squares_are_those_of_an_independent_fit(
    votes: pl.DataFrame, ranking: jr.Ranking
) -> None:
    items, score, _ = bradley_terry(votes)
    of = dict(zip(items, score, strict=True))
    squares: dict[str, list[tuple[float, float, float]]] = {}
    for judge, winner, loser in votes.iter_rows():
        p = 1.0 / (1.0 + np.exp(of[loser] - of[winner]))
        residual, variance = 1.0 - p, p * (1.0 - p)
        for who in (judge, winner, loser):
            squares.setdefault(who, []).append((residual**2, variance, residual**2 / variance))
    for name, table in (("judge", ranking.misfit.judges), ("item", ranking.misfit.items)):
        for row in table.iter_rows(named=True):
            residual2, variance, z2 = np.array(squares[row[name]]).T
            assert row["votes"] == len(z2)
            assert row["infit"] == pytest.approx(residual2.sum() / variance.sum(), rel=1e-5)
            assert row["outfit"] == pytest.approx(z2.mean(), rel=1e-5)


def test_weights_count_as_copies(votes: pl.DataFrame) -> None:
    half = votes.head(120)
    twice = jr.rank(pl.concat([half, half]), "btl", prior=(1.0, 1.0)).misfit.judges
    weighted = jr.rank(half.with_columns(weight=2.0), "btl", prior=(1.0, 1.0)).misfit.judges
    for column in ("votes", "infit", "outfit"):
        np.testing.assert_allclose(
            twice.sort("judge")[column], weighted.sort("judge")[column], rtol=1e-6
        )


def test_who_votes_backwards_misfits_and_who_is_careful_fits_too_well() -> None:
    made = jr.simulate(10, accuracies=[2.0, 1.0, 1.0, 1.0, -1.0], votes_per_judge=150, seed=1)
    table = jr.judges(made.votes).table
    found = {row["judge"]: row for row in table.iter_rows(named=True)}
    for statistic in ("infit", "outfit"):
        assert found["judge-5"][statistic] > 1.2
        assert found["judge-1"][statistic] < 0.9
        assert max(found, key=lambda judge: found[judge][statistic]) == "judge-5"
