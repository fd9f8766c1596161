"""Scores in points: what they mean, and that nothing else changes with the scale."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import laplace, logistic, norm
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.data import EXAMPLE_VOTES
from juryrank.ranking.comparison import compare_fits

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = str(EXAMPLE_VOTES)
POINTS = ("score", "score_low", "score_high")


@pytest.fixture(scope="module")
def votes() -> jr.Votes:
    return jr.read_votes(EXAMPLE)


@pytest.fixture(scope="module")
def plain(votes: jr.Votes) -> jr.Ranking:
    return jr.rank(votes)


@pytest.fixture(scope="module")
def elo(plain: jr.Ranking) -> jr.Ranking:
    return plain.scaled("elo")


def test_points_are_those_of_elo(votes: jr.Votes) -> None:
    elo = jr.rank(votes, prior=(1.0, 1.0)).scaled("elo")
    points = dict(elo.items.select("item", "score").iter_rows())
    for one, other in combinations(points, 2):
        expected = 1.0 / (1.0 + 10.0 ** ((points[other] - points[one]) / 400.0))
        assert elo.predict(None, one, other) == pytest.approx(expected, abs=1e-12)
    assert np.mean(list(points.values())) == pytest.approx(1000.0)


DIFFERENCES = {
    "gumbel": logistic(),
    "normal": norm(scale=np.sqrt(2.0)),
    "exponential": laplace(),
}
"""The distribution of the difference of two noises."""


@pytest.mark.parametrize("noise", DIFFERENCES)
def test_points_are_worth_as_much_at_even_odds_with_every_noise(
    votes: jr.Votes, noise: str
) -> None:
    unit = jr.rank(votes, "htm", noise=noise, intervals=None).scaled("elo").scale.unit
    by_points = np.log(10.0) / 400.0 / 4.0  # how steep 1 / (1 + 10^(-x / 400)) is at 0
    assert DIFFERENCES[noise].pdf(0.0) / unit == pytest.approx(by_points)


def test_an_anchor_moves_all_items_alike(elo: jr.Ranking, plain: jr.Ranking) -> None:
    anchored = plain.scaled("elo", anchor=("Hazel", 250))
    assert anchored.scale.anchor == ("Hazel", 250.0)
    found = dict(anchored.items.select("item", "score").iter_rows())
    assert found["Hazel"] == pytest.approx(250.0)
    shift = anchored.items.select(POINTS).to_numpy() - elo.items.select(POINTS).to_numpy()
    assert shift == pytest.approx(shift[0, 0])
    assert anchored.scale.average == pytest.approx(1000.0 + shift[0, 0])
    assert elo.scaled("elo", anchor=("Hazel", 250)).items.equals(anchored.items)


def test_everything_but_the_points_stays(
    votes: jr.Votes, elo: jr.Ranking, plain: jr.Ranking
) -> None:
    assert elo.items.drop(POINTS).equals(plain.items.drop(POINTS))
    assert elo.judges is plain.judges
    assert elo.fit is plain.fit
    assert elo.predict("ana", "Aster", "Hazel") == plain.predict("ana", "Aster", "Hazel")
    sides = votes.items.gather(votes.left), votes.items.gather(votes.right)
    who = votes.judges.gather(votes.judge)
    np.testing.assert_array_equal(elo.shares(who, *sides), plain.shares(who, *sides))
    np.testing.assert_array_equal(elo.scores_of(votes.items), plain.scores_of(votes.items))
    assert elo.scaled("model").items.equals(plain.items)


def test_differences_are_points_too(elo: jr.Ranking, plain: jr.Ranking) -> None:
    points, scores = elo.difference("Aster", "Birch"), plain.difference("Aster", "Birch")
    for name in ("difference", "low", "high"):
        assert getattr(points, name) == pytest.approx(getattr(scores, name) * 400.0 / np.log(10.0))
    both = dict(elo.items.select("item", "score").iter_rows())
    assert points.difference == pytest.approx(both["Aster"] - both["Birch"])
    assert (points.p_value, points.chance_better) == (scores.p_value, scores.chance_better)
    assert (points.scale, scores.scale) == ("elo", "model")
    told = f"{points.difference:+.0f} ({points.low:+.0f} to {points.high:+.0f}"
    assert str(points).startswith(f"Aster - Birch: {told} with 95% confidence)")


def test_files_and_json_are_on_the_scale(elo: jr.Ranking, tmp_path: Path) -> None:
    elo.save(tmp_path / "elo.csv")
    elo.save(tmp_path / "elo.md")
    assert pl.read_csv(tmp_path / "elo.csv")["score"][0] == pytest.approx(elo.items["score"][0])
    score, low, high = elo.items.select(POINTS).row(0)
    row = f"| 1 | Aster | {score:.1f} | {low:.1f} | {high:.1f} |"
    assert row in (tmp_path / "elo.md").read_text()
    answer = json.loads(elo.scaled("elo", anchor=("Elm", 5)).to_json())
    assert answer["scale"]["name"] == "elo"
    assert answer["scale"]["anchor"] == {"item": "Elm", "points": 5.0}
    assert answer["items"][4]["score"] == pytest.approx(5.0)
    shown = ["1", f"{score:.0f}", f"{low:.0f},", f"{high:.0f}", "Aster"]
    assert repr(elo).splitlines()[2].split() == shown


def test_without_intervals_there_are_none(votes: jr.Votes) -> None:
    elo = jr.rank(votes, "crowdbt").scaled("elo")
    assert elo.items["score_low"].is_null().all()
    assert elo.items["score"].mean() == pytest.approx(1000.0)


def test_scaled_rankings_predict_held_out_rankings_as_well() -> None:
    votes = jr.votes_from({"ranking": ["a > b > c", "b > a > c", "a > c > b", "a > b > c"] * 3})
    fits = {
        "plain": lambda some: jr.rank(some, "btl", intervals=None),
        "elo": lambda some: jr.rank(some, "btl", intervals=None).scaled("elo"),
    }
    losses = compare_fits(votes, fits, folds=2).table["log_loss"]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("model", ["rank-centrality", "win-rate"])
def test_models_without_odds(model: str) -> None:
    votes = {"judge": ["u"] * 3, "winner": ["a", "b", "c"], "loser": ["b", "c", "a"]}
    ranking = jr.rank(votes, model)
    with pytest.raises(jr.InputError, match=rf"The scores of {model} say nothing about odds"):
        ranking.scaled("elo")


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        (("Astr", 1000), "'Astr' is not an item in the votes. Did you mean 'Aster'"),
        (("Aster", "1000"), "must be a number"),
        (("Aster", float("nan")), "must be a number"),
        (("Aster", 1e300), "at most 1,000,000,000"),
        (("Aster", 10**400), "at most 1,000,000,000"),
        (("Aster",), "must be an item and its points"),
        ("Aster", "must be an item and its points"),
    ],
)
def test_bad_anchors(plain: jr.Ranking, anchor: object, said: str) -> None:
    with pytest.raises(jr.InputError) as caught:
        plain.scaled("elo", anchor=anchor)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_bad_scales(plain: jr.Ranking) -> None:
    with pytest.raises(jr.InputError, match=r"no scale 'glicko'\. Scales: model, elo"):
        plain.scaled("glicko")
    with pytest.raises(jr.InputError, match="An anchor is for the scale elo"):
        plain.scaled("model", anchor=("Aster", 1000))


# --- the command line ----------------------------------------------------------------------------


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "100"})


def test_the_table_shows_whole_points(elo: jr.Ranking) -> None:
    shown = run("rank", EXAMPLE, "--scale", "elo", "--versus", "Aster", "Birch").stdout
    line = next(line for line in shown.splitlines() if "Aster" in line)
    score, low, high = (f"{points:.0f}" for points in elo.items.select(POINTS).row(0))
    assert line.split()[:6] == ["1", "Aster", score, low, "to", high]
    best, worst = (
        next(row for row in shown.splitlines() if name in row) for name in ("Ast", "Haz")
    )
    assert best.index("│") == worst.index("│")  # bars start at the average item
    assert "━" not in best[: best.index("│")]
    assert "━" not in worst[worst.index("│") :]
    assert "400 are odds of ten to one, and the average item has 1000." in shown
    gap = elo.difference("Aster", "Birch")
    assert f"Aster - Birch: {gap.difference:+.0f} ({gap.low:+.0f} to {gap.high:+.0f}" in shown


def test_an_anchor_may_have_any_name() -> None:
    text = "winner,loser\na=b,c\nc,a=b\na=b,7\n7,c\n"
    shown = run("rank", "-", "--scale", "elo", "--anchor", "a=b=1500", "--json", stdin=text)
    scores = {row["item"]: row["score"] for row in json.loads(shown.stdout)["items"]}
    assert scores["a=b"] == pytest.approx(1500.0)
    numbers = "winner,loser\n1,2\n2,1\n1,3\n3,2\n"
    shown = run("rank", "-", "--scale", "elo", "--anchor", "3=-20.5", stdin=numbers)
    assert "3 has -20.5. Intervals are relative to the average item" in " ".join(
        shown.stdout.split()
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scale", "elo", "--anchor", "Aster"), "must be ITEM=POINTS"),
        (("--scale", "elo", "--anchor", "Aster=best"), "must be ITEM=POINTS"),
        (("--scale", "elo", "--anchor", "Aster=nan"), "must be ITEM=POINTS"),
        (("--scale", "elo", "--anchor", "Astr=1"), "Did you mean 'Aster'?"),
        (("--anchor", "Aster=1000"), "An anchor is for the scale elo"),
        (("--scale", "elo", "--model", "win-rate"), "say nothing about odds"),
    ],
)
def test_what_cannot_be_scaled_is_refused_before_the_fit(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("juryrank.cli.rank._fitted", lambda *_, **__: pytest.fail("fitted"))
    result = run("rank", EXAMPLE, *options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_report_and_pictures_tell_points_too(elo: jr.Ranking, plain: jr.Ranking) -> None:
    ranking = elo
    assert ">Aster</td>" in ranking.report()
    assert f'">{ranking.items["score"][0]:.0f}</td>' in ranking.report()
    assert "400 are odds of ten to one" in ranking.report()
    spec = json.dumps(ranking.plot.items().to_dict())
    assert '"at": 1000.0' in spec
    assert '"format": ".0f"' in spec
    assert ranking.tallies.expected == pytest.approx(plain.tallies.expected)
