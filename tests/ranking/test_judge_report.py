"""The table of judges, and the test of whether they differ."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, norm
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.errors import InputError
from juryrank.judging.position import unlikely_excess
from juryrank.ranking import judge_report as judging
from juryrank.ranking.judge_report import Effort, report_on
from juryrank.ranking.request import task_of

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})


@pytest.fixture(scope="module")
def simulated() -> pl.DataFrame:
    made = jr.simulate(10, accuracies=[1.5, 1.5, 1.2, 1.0, 0.0, -1.5], votes_per_judge=200, seed=1)
    few = made.votes.filter(pl.col("judge") == "judge-1").head(3)
    return pl.concat([made.votes, few.with_columns(judge=pl.lit("newcomer"))])


@pytest.fixture(scope="module")
def report(simulated: pl.DataFrame) -> jr.JudgeReport:
    return jr.judges(simulated)


def row(report: jr.JudgeReport, judge: str) -> dict[str, object]:
    return report.table.row(by_predicate=pl.col("judge") == judge, named=True)


def test_what_needs_attention_comes_first(report: jr.JudgeReport) -> None:
    verdicts = report.table["verdict"].to_list()
    assert verdicts == [
        "backwards", "inconsistent", "too few votes to tell", "reliable", "reliable", "reliable",
        "reliable",
    ]  # fmt: skip
    assert row(report, "newcomer")["verdict"] == "too few votes to tell"


def test_a_newcomer_is_not_known_as_a_judge_of_many_votes_is(report: jr.JudgeReport) -> None:
    """Three right votes are no proof."""
    newcomer, known = row(report, "newcomer"), row(report, "judge-1")
    assert newcomer["accuracy_low"] < 0.5 < known["accuracy_low"]  # type: ignore[operator]
    assert newcomer["accuracy_high"] > known["accuracy_high"]  # type: ignore[operator]
    assert newcomer["verdict"] == "too few votes to tell"


def test_agreement_and_the_chance_of_voting_backwards(report: jr.JudgeReport) -> None:
    agreement = dict(report.table.select("judge", "agreement").iter_rows())
    assert agreement["judge-1"] > 0.7
    assert 0.4 < agreement["judge-5"] < 0.6
    assert agreement["judge-6"] < 0.35
    backwards = dict(report.table.select("judge", "p_backwards").iter_rows())
    assert backwards["judge-6"] > 0.999
    assert backwards["judge-1"] < 0.001
    assert 0.01 < backwards["judge-5"] < 0.99


def test_agreement_and_influence_are_those_of_a_fit_without_the_judge(
    simulated: pl.DataFrame, report: jr.JudgeReport
) -> None:
    whole = jr.rank(simulated)
    for judge in ("judge-1", "judge-6"):
        rest = jr.rank(jr.votes_from(simulated).without([judge]), prior=whole.fit.prior)  # type: ignore[arg-type]
        score = dict(rest.items.select("item", "score").iter_rows())
        own = simulated.filter(pl.col("judge") == judge)
        agree = [
            (score[left] > score[right]) == (winner == "left")
            for _, left, right, winner in own.iter_rows()
        ]
        assert row(report, judge)["agreement"] == pytest.approx(np.mean(agree), abs=0.01)
        before, after = (
            {item: rank for rank, item in enumerate(found.items["item"])} for found in (whole, rest)
        )
        moved = max(abs(before[item] - after[item]) for item in before)
        assert row(report, judge)["influence"] == moved


def report_with(votes: pl.DataFrame, effort: Effort) -> jr.JudgeReport:
    task = task_of(jr.votes_from(votes), "hbtl", None, "auto")
    report, _ = report_on(task, 0.95, lambda _: None, effort)
    return report


def test_first_order_influence_is_close(simulated: pl.DataFrame, report: jr.JudgeReport) -> None:
    quick = report_with(simulated, Effort(most_refits=0))
    assert quick.influence.startswith("to first order")
    gap = (quick.table["agreement"] - report.table["agreement"]).abs().max()
    assert gap < 0.05  # type: ignore[operator]


def test_a_single_vote_against_the_order_is_no_lean_to_a_side() -> None:
    """Every vote by a judge of its own: a surprising one is many standard errors from its mean."""
    for seed in range(2):
        made = jr.simulate(30, 600, accuracies=[1.0] * 600, votes_per_judge=1, score_sd=2.0,
                           seed=seed)  # fmt: skip
        ranking = jr.rank(made.votes)
        assert "position-biased" not in ranking.judges["verdict"]


@pytest.mark.parametrize(
    ("votes", "chance", "won"), [(1, 0.01, 1), (5, 0.05, 3), (50, 0.1, 15), (200, 0.5, 130)]
)
def test_an_excess_of_wins_counts_as_much_as_it_is_unlikely(
    votes: int, chance: float, won: int
) -> None:
    """Against the tail of the binomial distribution, however lopsided it is."""
    variance = votes * chance * (1.0 - chance)
    moments = (won - votes * chance, variance, variance * (1.0 - 2.0 * chance))
    (z,) = unlikely_excess(*(np.array([value]) for value in moments))
    assert z == pytest.approx(-norm.ppf(binom.sf(won - 1, votes, chance)), abs=0.5)


def test_position_bias_is_estimated() -> None:
    rng = np.random.default_rng(4)
    made = jr.simulate(10, accuracies=[1.0] * 6, votes_per_judge=300, seed=4)
    lefty = made.votes.filter(pl.col("judge") == "judge-1").with_columns(
        winner=pl.Series(np.where(rng.random(300) < 0.4, "left", made.votes["winner"][:300]))
    )
    votes = pl.concat([lefty, made.votes.filter(pl.col("judge") != "judge-1")])
    found = jr.judges(votes)
    biased = row(found, "judge-1")
    assert biased["verdict"] == "position-biased"
    assert biased["position_p"] < 1e-3  # type: ignore[operator]
    assert 0.4 < biased["position_bias"] < 1.2  # type: ignore[operator]
    others = found.table.filter(pl.col("judge") != "judge-1")
    assert (others["position_p"] > 0.05).all()
    winners = votes.select(
        "judge",
        winner=pl.when(pl.col("winner") == "left").then("left").otherwise("right"),
        loser=pl.when(pl.col("winner") == "left").then("right").otherwise("left"),
    )
    unknown = jr.judges(winners)
    assert unknown.table["position_bias"].null_count() == 6
    assert "position-biased" not in unknown.table["verdict"]


def test_repeats_are_counted() -> None:
    rows = [
        ("ann", "a", "b", "left"), ("ann", "b", "a", "right"), ("ann", "a", "b", "right"),
        ("ann", "a", "c", "left"), ("bob", "a", "b", "left"), ("bob", "b", "c", "left"),
        ("cat", "c", "a", "tie"), ("cat", "a", "c", "tie"),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["judge", "left", "right", "winner"], orient="row")
    found = jr.judges(frame, prior=(1.0, 1.0))
    seen = {judge: (n, share) for judge, n, share in
            found.table.select("judge", "repeats", "consistency").iter_rows()}  # fmt: skip
    assert seen["ann"] == (3, pytest.approx(1 / 3))
    assert seen["bob"] == (0, None)
    assert seen["cat"] == (1, 1.0)
    assert row(found, "ann")["one_item"] == "a"
    assert row(found, "ann")["one_item_share"] == pytest.approx(0.75)


def test_judges_who_differ_matter(report: jr.JudgeReport) -> None:
    test = report.heterogeneity
    assert test is not None
    assert test.p_value == pytest.approx(0.01)
    assert test.gain > 0.05
    assert test.sentence.startswith("Judge differences matter here: equal judges")


def test_a_report_prints_its_judges(report: jr.JudgeReport) -> None:
    heading, finding, columns, *judges = repr(report).splitlines()
    assert heading == "Report on 7 judges (hbtl, 1,203 votes)"
    assert report.heterogeneity is not None
    assert finding == report.heterogeneity.sentence
    assert repr(report.heterogeneity) == f"Heterogeneity({finding})"
    assert columns.split() == ["accuracy", "agreement", "verdict", "judge"]
    first = report.table.row(0, named=True)
    assert judges[0].split()[0] == f"{first['accuracy']:.2f}"
    assert judges[0].endswith(f"  {first['judge']}")
    assert "<table" in report._repr_html_()


@pytest.mark.parametrize(
    ("p_value", "gain", "head"),
    [
        (0.01, 0.02, "Judge differences matter here: "),
        (0.01, -0.001, "Judges differ, but plain Bradley-Terry predicts votes as well: "),
        (0.3, 0.001, "Plain Bradley-Terry would do: "),
    ],
)
def test_the_finding_on_judges_does_not_contradict_its_numbers(
    p_value: float, gain: float, head: str
) -> None:
    test = jr.Heterogeneity(5.0, p_value, 99, "btl", 0.5, 0.5 + gain, gain, 0.001)
    assert test.sentence.startswith(head)


def test_equal_judges_do_not_matter() -> None:
    """The p-value is uniform for equal judges."""
    found = []
    for seed in range(8):
        made = jr.simulate(8, accuracies=[1.0] * 6, votes_per_judge=60, seed=seed)
        test = jr.judges(made.votes).heterogeneity
        assert test is not None
        found.append(test)
    p = np.array([test.p_value for test in found])
    assert np.mean(p <= 0.05) <= 0.25
    assert p.mean() > 0.3
    assert found[-1].sentence.startswith("Plain Bradley-Terry would do")


def test_equal_judges_do_not_matter_where_votes_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 votes per item: simulated from the best scores alone, half of such data would reject."""
    effort = Effort(most_refits=0, few_votes=0)  # 19 simulations
    monkeypatch.setattr(judging, "_held_out", lambda _task, _say: ("btl", 0.0, 0.0, 0.0, 0.0))
    p = []
    for seed in range(12):
        made = jr.simulate(200, accuracies=[1.0] * 20, votes_per_judge=150, seed=seed)
        test = report_with(made.votes, effort).heterogeneity
        assert test is not None
        p.append(test.p_value)
    assert np.mean(np.array(p) <= 0.05) <= 0.25
    assert np.mean(p) > 0.2


def test_only_models_with_accuracies_have_judges(simulated: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="does not estimate accuracies"):
        jr.judges(simulated, "btl")


def test_one_judge() -> None:
    made = jr.simulate(5, 1, seed=1)
    found = jr.judges(made.votes)
    assert found.heterogeneity is None
    assert found.table["influence"].null_count() == 1


def test_the_command(simulated: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("judges")
    path = str(folder / "votes.csv")
    simulated.write_csv(path)
    shown = run("judges", path, "--out", str(folder / "judges.csv"))
    assert shown.exit_code == 0
    assert "Judge differences matter here" in shown.stdout
    assert "- judge-6 (backwards) votes against the order" in shown.stdout
    assert len(pl.read_csv(folder / "judges.csv")) == 7
    answer = json.loads(run("judges", path, "--json").stdout)
    assert answer["heterogeneity"]["matters"] is True
    assert answer["judges"][0]["verdict"] == "backwards"
    assert run("judges", path, "--model", "btl").exit_code == 2


def test_leaving_judges_out_and_comparing_items(
    simulated: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = str(tmp_path_factory.mktemp("without") / "votes.csv")
    simulated.write_csv(path)
    answer = json.loads(
        run("rank", path, "--without", "judge-6", "--without", "judge-5", "--json").stdout
    )
    assert len(answer["judges"]) == 5
    wrong = run("rank", path, "--without", "nobody")
    assert wrong.exit_code == 2
    assert "1 judge is not in the votes: nobody" in wrong.stderr
    first, second = (row["item"] for row in answer["items"][:2])
    versus = json.loads(run("rank", path, "--versus", first, second, "--json").stdout)["versus"]
    assert versus["item"] == first
    assert versus["low"] <= versus["difference"] <= versus["high"]
    shown = run("rank", path, "--versus", first, second).stdout
    assert f"{first} - {second}: " in shown
    assert run("rank", path, "--versus", first, "nobody").exit_code == 2
    assert run("rank", path, "--confidence", "95").exit_code == 2


def test_a_handful_of_votes() -> None:
    rows = [("ann", "a", "b", "left"), ("bob", "b", "c", "left"), ("bob", "a", "c", "right")]
    frame = pl.DataFrame(rows, schema=["judge", "left", "right", "winner"], orient="row")
    assert len(jr.judges(frame).table) == 2


def test_held_out_votes_are_predicted_by_models_of_one_noise(simulated: pl.DataFrame) -> None:
    by_name, by_noise = jr.judges(simulated, "htcv"), jr.judges(simulated, "htm", noise="normal")
    assert by_noise.heterogeneity == by_name.heterogeneity


def test_one_vote_without_a_prior_proves_nothing() -> None:
    made = jr.simulate(6, accuracies=[1.5, 1.2, 1.0, 1.0, 0.8], votes_per_judge=200, seed=3)
    low, *_, high = made.items.sort("score")["item"]
    rows = [("right", high, low, "left"), ("wrong", low, high, "left")]
    ordered = made.items.sort("score")["item"].to_list()
    rows += [("mirror", a, b, "left") for k, a in enumerate(ordered) for b in ordered[k + 1 :]]
    rows += [("of one pair", low, high, "left")] * 20
    more = pl.DataFrame(rows, schema=made.votes.columns, orient="row")
    found = jr.rank(pl.concat([made.votes, more]), prior=None, guard=False)
    verdict = dict(found.judges.select("judge", "verdict").iter_rows())
    assert verdict["right"] == verdict["wrong"] == "too few votes to tell"
    assert verdict["mirror"] == "backwards"
    assert verdict["of one pair"] == "too few votes to tell"


def test_who_is_below_nought_votes_backwards() -> None:
    made = jr.simulate(10, accuracies=[1.5] * 30 + [-1.5] * 8, votes_per_judge=30, seed=1)
    many = made.votes.filter(judge="judge-38")
    votes = pl.concat([made.votes, *[many] * 3])
    found = jr.rank(votes, guard=False, intervals="information").judges
    below = found.filter(pl.col("accuracy_high") < 0.0)
    assert len(below) >= 3
    assert set(below["judge"]) <= {f"judge-{u}" for u in range(31, 39)}
    assert set(below["verdict"]) == {"backwards"}


def test_ties_alone_say_nothing_of_a_judge() -> None:
    rows = [(f"judge-{k % 3}", "abc"[k % 3], "abc"[(k + 1) % 3], "tie") for k in range(30)]
    frame = pl.DataFrame(rows, schema=["judge", "left", "right", "winner"], orient="row")
    found = jr.rank(frame, prior=None)
    assert found.judges["accuracy_low"].null_count() == 3
    assert set(found.judges["verdict"]) == {"too few votes to tell"}


def test_ties_between_unequal_sides_are_no_lean() -> None:
    made = jr.simulate(8, 12, tie=1.5, votes_per_judge=150, seed=2)
    score = dict(made.items.iter_rows())
    better_left = [score[row["left"]] >= score[row["right"]] for row in made.votes.to_dicts()]
    swap = {"left": "right", "right": "left", "tie": "tie"}
    rows = [
        row if kept else {
            "judge": row["judge"], "left": row["right"], "right": row["left"],
            "winner": swap[row["winner"]],
        }
        for row, kept in zip(made.votes.to_dicts(), better_left, strict=True)
    ]  # fmt: skip
    table = jr.judges(pl.DataFrame(rows)).table
    assert (table["left_share"] > 0.5).all()
    assert (table["position_p"] > 0.2).all()
    assert abs(float(np.mean(table["position_bias"].to_numpy()))) < 0.1


def test_ties_in_rankings_agree_by_half() -> None:
    rows = [{"judge": judge, "ranking": "a > b > c > d"} for judge in ("x", "y", "z") * 3]
    for ranking, agreement in (("a = b = c = d", 0.5), ("a = b > c = d", 5 / 6)):
        judged = pl.DataFrame([*rows, {"judge": "w", "ranking": ranking}])
        table = jr.judges(judged, guard=False).table
        assert table.filter(pl.col("judge") == "w")["agreement"].item() == pytest.approx(agreement)
