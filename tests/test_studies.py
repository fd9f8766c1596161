"""The studies, on a handful of data sets: their parts are right and of the right size."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import juryrank as jr
from studies import kinds, priors
from studies.coverage import save_coverage
from studies.covered import (
    BY_JUDGES,
    CAUSES,
    DEFAULT,
    FEW_VOTES,
    SETTINGS,
    Counts,
    Trial,
    measure,
    measured,
    study,
    summary,
)

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


@pytest.fixture(scope="module")
def intervals() -> pl.DataFrame:
    return measure(SETTINGS[2:4], ["hbtl"], [DEFAULT], 6, seed=1, jobs=1)


def test_coverage_is_about_right(intervals: pl.DataFrame) -> None:
    table = summary(intervals)
    assert table["setting"].n_unique() == 2
    usual = table.filter(pl.col("what") != "best judge")
    assert usual["coverage"].is_between(0.8, 1.0).all()
    assert (usual["se"] < 0.1).all()
    numbers = table.filter(pl.col("what").is_in(["scores", "differences", "accuracies"]))
    assert numbers["sd_z"].is_between(0.6, 1.6).all()
    assert numbers["stretch"].is_between(0.6, 1.6).all()
    missed = numbers["too_small"] + numbers["too_large"] + numbers["coverage"]
    np.testing.assert_allclose(missed.to_numpy(), 1.0)
    ranks = table.filter(pl.col("what") == "unsure ranks")
    assert (ranks["width"] >= 1.0).all()
    assert ranks["held"].is_between(0.95, 1.0).all()


def test_intervals_are_those_of_the_answer_in_its_scale() -> None:
    trial = Trial(SETTINGS[0], "hbtl", DEFAULT, 0, seed=3)
    frame, made = measured(trial), trial.simulated()
    ranking = jr.rank(made.votes)
    first, last = ranking.items["item"][0], ranking.items["item"][-1]
    gap = ranking.difference(first, last)
    pairs = frame.filter(pl.col("what") == "differences")
    widest = pairs.sort("estimate")[-1]
    assert widest["estimate"].item() == pytest.approx(gap.difference)
    assert widest["low"].item() == pytest.approx(gap.low)
    assert len(pairs) == 12 * 11 / 2
    accuracy = frame.filter(pl.col("what") == "accuracies")["truth"]
    assert accuracy.mean() == pytest.approx(1.0)
    assert accuracy.max() == pytest.approx(2.0 / made.judges["accuracy"].mean())  # type: ignore[operator]
    score = frame.filter(pl.col("what") == "scores")["truth"]
    assert score.sum() == pytest.approx(0.0, abs=1e-9)
    spread = score.std() / made.items["score"].std()  # type: ignore[operator]
    assert spread == pytest.approx(made.judges["accuracy"].mean())


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


def test_other_ways_share_the_votes_and_the_wider_prior_stretches() -> None:
    ways = (DEFAULT, BY_JUDGES[0], *CAUSES[:2])
    frames = [measured(Trial(FEW_VOTES, "hbtl", way, 0, seed=1)) for way in ways]
    scores = [frame.filter(pl.col("what") == "scores") for frame in frames]
    default, sandwich, held, doubled = (frame.sort("truth") for frame in scores)
    assert default["estimate"].to_list() == sandwich["estimate"].to_list()
    np.testing.assert_allclose(held["estimate"], default["estimate"], atol=1e-3)
    assert doubled["estimate"].std() > default["estimate"].std()  # type: ignore[operator]


def test_the_page_of_coverage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("juryrank.uncertainty.RESAMPLES", 10)
    monkeypatch.setattr("studies.covered.MODELS", ("hbtl",))
    counts = Counts(data_sets=2, bootstraps=2, causes=2)
    written = save_coverage(study(counts, jobs=1), counts, tmp_path, "the command")
    assert all(path.stat().st_size > 1000 for path in written)
    page = written[1].read_text(encoding="utf-8")
    assert "Made by `the command`" in page
    assert "nan" not in page
    assert page.count("| few votes | hbtl |") >= 5


# --- rankings, choices, ties and sides -----------------------------------------------------------


@pytest.fixture(scope="module")
def kinds_table() -> pl.DataFrame:
    return kinds.study(kinds.Counts(2, 2), models=["hbtl"], jobs=1)


def test_coverage_of_all_kinds_is_about_right(kinds_table: pl.DataFrame) -> None:
    assert kinds_table["setting"].unique(maintain_order=True).to_list() == [
        kind.name for kind in kinds.KINDS
    ]
    usual = kinds_table.filter(pl.col("intervals") >= 20, pl.col("what") != "best judge")
    assert usual["coverage"].is_between(0.7, 1.0).all()
    by_judge = kinds_table.filter(setting="by judge")["what"].to_list()
    assert {"tie", "judges' ties", "left side", "judges' left sides"} <= set(by_judge)


def test_the_page_of_kinds(kinds_table: pl.DataFrame, tmp_path: Path) -> None:
    written = kinds.save(kinds_table, kinds.Counts(2, 2), tmp_path, "the command")
    assert all(path.stat().st_size > 1000 for path in written)
    page = written[1].read_text(encoding="utf-8")
    assert "Made by `the command`" in page
    assert "nan" not in page
    assert "| mix | hbtl |" in page


def test_effects_stand_beside_their_truth() -> None:
    by_judge = next(kind for kind in kinds.KINDS if kind.name == "by judge")
    trial = kinds.Trial(by_judge, "hbtl", DEFAULT, 0, seed=1)
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


@pytest.fixture(scope="module")
def held_out() -> pl.DataFrame:
    votes = jr.votes_from(jr.simulate(8, 12, votes_per_judge=40, seed=1).votes)
    data = jr.datasets.Dataset(votes, pl.DataFrame())
    points = ("0.7 and 0.35", "0.7 and 0.7", "1.4 and 0.35", "1.4 and 0.7")
    every = priors.fitters()
    some = {name: every[name] for name in (*points, priors.CHOSEN, priors.WIDE, "btl")}
    return priors.held_out("made-up", data, some, seed=0)


def test_chosen_scales_are_near_the_best_of_the_grid(
    held_out: pl.DataFrame, tmp_path: Path
) -> None:
    found = priors.verdict(held_out, "made-up")
    assert abs(found.above) < 0.05
    loss = dict(held_out.select("fit", "log_loss").iter_rows())
    assert loss["auto"] < loss[priors.WIDE]
    written = priors.save(held_out, {"made-up": (1.0, 0.5)}, (0.0, 1.0), tmp_path, seed=0)
    assert "| made-up | auto |" in written[1].read_text(encoding="utf-8")


def test_a_newcomer_does_not_outrank_300_good_votes() -> None:
    found = [partial(priors.newcomer, seed=0)(number) for number in range(4)]
    assert not any(chosen for chosen, _ in found)
    assert sum(wide for _, wide in found) >= 2
