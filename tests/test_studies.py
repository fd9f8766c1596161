"""The studies, on a handful of data sets: their parts are right and of the right size."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from juryrank.inference.sampling import Length
from studies import accusations, attacks, jury, kinds, naming, orientation, priors, stress
from studies.coverage import save_coverage
from studies.covered import (
    DEFAULT,
    FEW_VOTES,
    OF_BEST_FIT,
    SETTINGS,
    Counts,
    Trial,
    measure,
    measured,
    study,
    summary,
)
from studies.pages import outside

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


SHORT = Length(warm_up=120, kept=120, most=120)
"""Of a chain, where coverage does not matter."""


@pytest.fixture(scope="module")
def intervals() -> pl.DataFrame:
    return measure(SETTINGS[2:4], ["hbtl"], [DEFAULT], 4, seed=1, jobs=1)


def test_coverage_is_about_right(intervals: pl.DataFrame) -> None:
    table = summary(intervals)
    assert table["setting"].n_unique() == 2
    usual = table.filter(~pl.col("what").is_in(["best judge", "all ranks"]))
    assert usual["coverage"].is_between(0.8, 1.0).all()
    assert (usual["se"] < 0.1).all()
    numbers = table.filter(pl.col("what").is_in(["scores", "differences", "accuracies"]))
    assert numbers["sd_z"].is_between(0.6, 1.6).all()
    assert numbers["slope"].is_between(0.6, 1.6).all()
    missed = numbers["too_small"] + numbers["too_large"] + numbers["coverage"]
    np.testing.assert_allclose(missed.to_numpy(), 1.0)
    ranks, together = (table.filter(pl.col("what") == what) for what in ("ranks", "all ranks"))
    assert (ranks["width"] >= 1.0).all()
    assert ranks["held"].is_between(0.95, 1.0).all()
    assert (together["intervals"] == together["data_sets"]).all()
    assert (together["coverage"] <= ranks["coverage"]).all()


def test_intervals_are_those_of_the_answer_in_its_scale() -> None:
    trial = Trial(SETTINGS[2], "hbtl", DEFAULT, 0, seed=3)
    frame, made = measured(trial), trial.simulated()
    ranking = jr.rank(made.votes, threads=1)
    first, last = ranking.items["item"][0], ranking.items["item"][-1]
    gap = ranking.difference(first, last)
    pairs = frame.filter(pl.col("what") == "differences")
    widest = pairs.sort("estimate")[-1]
    assert widest["estimate"].item() == pytest.approx(gap.difference)
    assert widest["low"].item() == pytest.approx(gap.low)
    assert widest["high"].item() == pytest.approx(gap.high)
    assert len(pairs) == 15 * 14 / 2
    scale = 0.925  # the mean of 1.85, 1.85, 1.85, 1, 0.5, 0.25, 0.1 and 0: none is above twice it
    accuracy = frame.filter(pl.col("what") == "accuracies")["truth"].to_numpy()
    np.testing.assert_allclose(np.sort(accuracy)[-2:], np.array([3.0, 4.0]) / scale)
    score = frame.filter(pl.col("what") == "scores")["truth"]
    assert score.sum() == pytest.approx(0.0, abs=1e-9)
    spread = score.std() / made.items["score"].std()  # type: ignore[operator]
    assert spread == pytest.approx(scale)


def test_all_ranks_are_covered_if_each_is(intervals: pl.DataFrame) -> None:
    ranks = intervals.filter(pl.col("what") == "ranks")
    inside = pl.col("truth").is_between(pl.col("low"), pl.col("high"))
    together = ranks.group_by("setting", "trial").agg(inside.all().alias("all"))
    found = summary(intervals).filter(pl.col("what") == "all ranks")
    for setting, share in found.select("setting", "coverage").iter_rows():
        assert share == together.filter(pl.col("setting") == setting)["all"].mean()


def test_a_truth_is_missed_on_one_side_or_the_other() -> None:
    # Scores of 2 and -2 and accuracies of 2 and 0.5; intervals from 0 to 1 miss but for the last.
    frame = pl.DataFrame(
        {
            "setting": "made-up", "model": "hbtl", "way": "posterior", "trial": [0, 0, 1, 1],
            "what": ["scores", "scores", "accuracies", "accuracies"], "estimate": 0.6,
            "low": 0.0, "high": 1.0, "truth": [2.0, -2.0, 2.0, 0.5], "held": None,
        }
    )  # fmt: skip
    found = {row["what"]: row for row in summary(frame).to_dicts()}
    assert found["scores"]["too_small"] == 1.0
    assert (found["accuracies"]["too_small"], found["accuracies"]["coverage"]) == (0.5, 0.5)
    assert found["accuracies"]["slope"] == pytest.approx((1.0 - 0.5) * -0.4 / (2 * 0.4**2))


def test_ranks_may_cover_more_than_asked_for() -> None:
    columns = {"setting": "made-up", "model": "hbtl", "coverage": 0.99, "se": 0.0}
    table = pl.DataFrame({"what": ["scores", "ranks"]}).with_columns(
        pl.lit(value).alias(name) for name, value in columns.items()
    )
    assert list(outside(table)) == ["- made-up, hbtl, scores: **99.0% ± 0.0**"]
    assert list(outside(table[1:])) == ["- none."]


def test_the_standard_error_takes_data_sets_as_draws(intervals: pl.DataFrame) -> None:
    scores = intervals.filter(pl.col("what") == "scores", pl.col("setting") == "heterogeneous")
    inside = scores.with_columns(inside=pl.col("truth").is_between(pl.col("low"), pl.col("high")))
    of_each = inside.group_by("trial").agg(pl.col("inside").mean())["inside"].to_numpy()
    row = summary(intervals).row(
        by_predicate=(pl.col("what") == "scores") & (pl.col("setting") == "heterogeneous"),
        named=True,
    )
    assert row["coverage"] == pytest.approx(of_each.mean())
    assert row["se"] == pytest.approx(of_each.std(ddof=1) / np.sqrt(len(of_each)))


def test_all_ways_share_the_votes_and_those_of_the_best_fit_its_estimates() -> None:
    ways = (DEFAULT, *OF_BEST_FIT[:2])
    frames = [measured(Trial(FEW_VOTES, "hbtl", way, 0, seed=1)) for way in ways]
    scores = (frame.filter(pl.col("what") == "scores").sort("truth") for frame in frames)
    default, information, sandwich = scores
    np.testing.assert_allclose(default["truth"], information["truth"])
    assert information["estimate"].to_list() == sandwich["estimate"].to_list()
    assert information["low"].to_list() != sandwich["low"].to_list()


def test_the_page_of_coverage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("juryrank.inference.bootstrap.RESAMPLES", 10)
    monkeypatch.setattr("juryrank.ranking.rank.WHOLE", SHORT)
    counts = Counts(data_sets=2, bootstraps=2)
    table = study(counts, jobs=1, models=["hbtl"])
    written = save_coverage(table, counts, tmp_path, "the command")
    assert [path.name for path in written] == ["coverage.csv", "coverage.md", "coverage.png"]
    kept = pl.read_csv(written[0])
    assert kept["coverage"].to_list() == pytest.approx(table["coverage"].to_list(), abs=1e-4)
    page = written[1].read_text(encoding="utf-8")
    assert "Made by `the command`" in page
    assert "nan" not in page
    default = table.filter(pl.col("way") == DEFAULT.name)
    plain = page.replace("**", "")  # bold is what is outside the limits
    for row in default.filter(pl.col("what") == "scores").iter_rows(named=True):
        assert 0.5 < row["coverage"] <= 1.0, row["setting"]
        assert f"| {row['setting']} | hbtl | {row['coverage']:.1%} ±" in plain
    assert page.count("| few votes | hbtl |") >= 5
    assert all(f"| {way.name} | hbtl | 2 |" in page for way in (DEFAULT, *OF_BEST_FIT))


# --- rankings, choices, ties and sides -----------------------------------------------------------


@pytest.fixture(scope="module")
def kinds_table() -> pl.DataFrame:
    return kinds.study(2, models=["hbtl"], jobs=1)


def test_coverage_of_all_kinds_is_about_right(kinds_table: pl.DataFrame) -> None:
    assert kinds_table["setting"].unique(maintain_order=True).to_list() == [
        kind.name for kind in kinds.KINDS
    ]
    usual = kinds_table.filter(pl.col("intervals") >= 20)
    assert usual["coverage"].is_between(0.7, 1.0).all()
    by_judge = kinds_table.filter(setting="by judge")["what"].to_list()
    assert {"tie", "judges' ties", "left side", "judges' left sides"} <= set(by_judge)


def test_the_page_of_kinds(kinds_table: pl.DataFrame, tmp_path: Path) -> None:
    written = kinds.save(kinds_table, tmp_path, "the command")
    assert all(path.stat().st_size > 1000 for path in written)
    page = written[1].read_text(encoding="utf-8")
    assert "Made by `the command`" in page
    assert "nan" not in page
    assert "| mix | hbtl |" in page


def test_effects_stand_beside_their_truth() -> None:
    by_judge = next(kind for kind in kinds.KINDS if kind.name == "by judge")
    trial = kinds.Trial(by_judge, "hbtl", 0, seed=1)
    made, votes = trial.drawn()
    ranking = jr.rank(votes, ties="davidson-by-judge", order="by-judge", threads=1)
    frame = kinds.effects_beside_truth(made, ranking)
    ties = frame.filter(what="judges' ties")
    true_ties = 0.8 * np.exp(ties["truth"].to_numpy())
    np.testing.assert_allclose(true_ties, made.judges["tie"].to_numpy())
    told = ranking.effects.filter(pl.col("effect") == "tie", pl.col("judge").is_not_null())
    np.testing.assert_allclose(0.8 * np.exp(ties["low"].to_numpy()), told["low"].to_numpy())
    sides = frame.filter(what="judges' left sides")["truth"].to_numpy()
    np.testing.assert_allclose(0.5 + sides, made.judges["left"].to_numpy())
    assert frame.filter(what="left side")["truth"].to_list() == [0.0]


def test_a_mix_has_pairs_and_rankings_of_the_same_items() -> None:
    mix = next(kind for kind in kinds.KINDS if kind.name == "mix")
    _, votes = mix.drawn("hbtl", np.random.default_rng(0))
    assert votes.n_pairs == 500
    assert votes.lists.number == 100
    assert votes.lists.item.max() < votes.n_items


# --- priors --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def held_out() -> pl.DataFrame:
    votes = jr.votes_from(jr.simulate(8, 12, votes_per_judge=40, seed=1).votes)
    data = jr.datasets.Dataset(votes, pl.DataFrame())
    points = ("0.7 and 0.35", "0.7 and 0.7", "1.4 and 0.35", "1.4 and 0.7")
    every = priors.fitters()
    return priors.held_out(
        "made-up", data, {name: every[name] for name in (*points, *priors.SAMPLED)}, seed=0
    )


def test_the_default_is_near_the_best_of_the_grid(held_out: pl.DataFrame) -> None:
    loss = dict(held_out.select("fit", "log_loss").iter_rows())
    best = priors.best_of_grid(held_out, "made-up")
    of_grid = held_out.drop_nulls("score_sd")
    assert loss[best] == of_grid["log_loss"].min()
    assert len(of_grid) == 4
    assert loss[priors.DEFAULT] < 1.03 * loss[best]
    assert loss[priors.NO_TASTES] < 1.03 * loss[best]


def test_the_page_of_priors(held_out: pl.DataFrame, tmp_path: Path) -> None:
    scales = {"made-up": priors.Found(1.0, 0.5, 0.25)}
    ordered = pl.DataFrame([priors.orders(number, seed=0) for number in (0, 3)])
    written = priors.save(held_out, scales, (0.0, 1.0), ordered, tmp_path, seed=0)
    assert all(path.stat().st_size > 500 for path in written)
    page = written[1].read_text(encoding="utf-8")
    assert "nan" not in page
    assert all(f"| made-up | {name} |" in page for name in priors.SAMPLED)
    assert "| made-up | best of the grid: " in page
    assert "| made-up | 1.00 | 0.50 | 0.25 |" in page


def test_where_votes_are_many_the_prior_of_plain_bradley_terry_decides_nothing() -> None:
    few, many = priors.orders(0, seed=0), priors.orders(3, seed=0)
    assert (few["per_item"], many["per_item"]) == (5, 40)
    assert few["agreement"] < many["agreement"]
    assert many["agreement"] > 0.99
    assert few["found"] > few["wide"]  # the scale that is found does better than none


def test_a_newcomer_seldom_outranks_300_good_votes() -> None:
    found = [priors.newcomer(number, seed=0) for number in range(6)]
    assert sum(usual for usual, _ in found) <= 1
    assert sum(wide for _, wide in found) >= 4


# --- the stress test -----------------------------------------------------------------------------


def test_the_stress_test_and_its_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("juryrank.ranking.rank.WHOLE", SHORT)
    chosen = [jury.BY_NAME[name] for name in ("c0", "gf.5")]
    rows = stress.study(chosen, data_sets=2, seed=0, jobs=1)
    assert rows["setting"].to_list() == ["c0", "c0", "gf.5", "gf.5"]
    table = stress.summary(rows)
    assert table["data_sets"].to_list() == [2, 2]
    assert table["ranks"].is_null().to_list() == [True, False]  # equal items have no true ranks
    for name in ("scores", "differences", "accuracies"):
        assert table[name].is_between(0.5, 1.0).all()
    page = "\n".join(stress.page(rows, table, "the command"))
    assert "Made by `the command`" in page
    assert "nan" not in page
    assert all(f"| {setting.name} |" in page for setting in chosen)
    stress.chart(table).save(tmp_path / "stress.png")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("study_of", "settings"),
    [
        (attacks, ["none x 100", "60 accounts x 3", "push down 4 x 100"]),
        (accusations, ["t.5 x 100", "backwards x 20"]),
        (orientation, ["honest"]),
    ],
    ids=["attacks", "accusations", "orientation"],
)
def test_pages_about_judges(study_of: ModuleType, settings: list[str], tmp_path: Path) -> None:
    trials = [naming.Trial(name, 5, 0) for name in settings]
    rows = pl.DataFrame([study_of.measured(one) for one in trials], infer_schema_length=None)
    table = study_of.summary(rows)
    assert table["setting"].to_list() == settings
    assert table["data_sets"].to_list() == [1] * len(settings)
    page = "\n".join(study_of.page(rows, table, "the command"))
    assert all(f"| {name} | " in page for name in settings)
    study_of.chart(table).save(tmp_path / "chart.png")
