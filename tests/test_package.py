"""The package as a whole: its names, and machines on which nothing can be written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

import juryrank as jr

pytestmark = pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")


def test_every_public_name_is_there_and_listed() -> None:
    assert set(jr.__all__) == set(jr._HOME)
    assert {name for name in dir(jr) if not name.startswith("_")} == set(jr.__all__)
    for name in set(jr.__all__) - {"MODELS"}:
        assert getattr(jr, name).__name__ == name
    assert jr.MODELS["hbtl"].title == "Heterogeneous Bradley-Terry-Luce"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(jr, "nothing")


def test_public_objects_print_themselves_in_a_few_lines() -> None:
    made = jr.simulate(4, 2, votes_per_judge=50, tie=0.5, seed=1)
    assert repr(made) == "Simulation(100 votes by 2 judges on 4 items, tie 0.5)"
    check = repr(jr.check(made.votes)).splitlines()
    assert check[0].startswith("Check of 100 votes by 2 judges on 4 items (")
    assert check[1] == "All 4 items are connected: the votes can rank them."
    ranking = jr.rank(made.votes, "btl")
    best, second = ranking.items["item"][:2]
    gap = ranking.difference(best, second)
    assert repr(gap) == f"Difference({gap})"
    assert repr(ranking.scale) == "Scale(model)"
    points = ranking.scaled("elo", (best, 1200.0))
    assert re.fullmatch(
        rf"Scale\(elo: \d+\.?\d* \+ 173\.718 \* score, {best} has 1200\)", repr(points.scale)
    )
    assert repr(ranking.fit).startswith("Fit(converged=True, iterations=")
    assert "=None" not in repr(ranking.fit)


def test_a_check_prints_what_keeps_the_votes_from_ranking() -> None:
    rows = [
        {"judge": "j", "winner": "a", "loser": "b"},
        {"judge": "j", "winner": "c", "loser": "d"},
    ]
    shown = repr(jr.check(pl.DataFrame(rows)))
    assert "2 groups that were never compared" in shown
    assert "\n- " in shown


def test_a_comparison_prints_its_models() -> None:
    made = jr.simulate(4, 2, votes_per_judge=50, seed=1)
    found = jr.compare(made.votes, ["btl", "win-rate"], folds=2)
    heading, columns, best, other = repr(found).splitlines()
    assert heading.startswith(
        "Comparison of 2 models on held-out votes (100 votes, 2 folds, seed 0;"
    )
    assert columns.split() == ["log-loss", "worse", "by", "model"]
    assert re.fullmatch(r" +0\.\d{4} +best  (btl|win-rate)", best)
    assert re.fullmatch(r" +0\.\d{4} +0\.\d{4} ± 0\.\d{4}  (btl|win-rate)", other)
    assert "<table" in found._repr_html_()


NASTY = "<script>alert('1')</script>&"


def nasty_votes() -> jr.Votes:
    """Votes whose labels would be markup."""
    rows = {
        "judge": [NASTY, "v", NASTY, "v", NASTY, "v"],
        "left": [NASTY, "b", "c", NASTY, "b", "c"],
        "right": ["b", "c", NASTY, "b", "c", NASTY],
        "winner": ["left", "tie", "right", "left", "right", "left"],
    }
    return jr.votes_from(rows)


def test_objects_are_shown_as_tables_with_labels_escaped() -> None:
    votes = nasty_votes()
    rankings = pl.DataFrame({"judge": [NASTY], "ranking": [f"{NASTY} > b = c"]})
    for shown in (
        votes,
        jr.votes_from(rankings),
        jr.check(votes),
        jr.rank(votes),
        jr.judges(votes),
        jr.compare(votes, ["btl"], folds=2),
    ):
        page = shown._repr_html_()
        assert page.count("<table>") >= 1, type(shown)
        assert "<script" not in page
        assert "alert('1')" not in page
    assert "&lt;script&gt;" in votes._repr_html_()
    assert "&lt;script&gt;" in jr.judges(votes)._repr_html_()


def test_votes_are_shown_as_people_write_them() -> None:
    votes = jr.votes_from({"judge": ["u"] * 2, "left": ["a", "b"], "right": ["b", "c"],
                           "winner": ["right", "tie"], "weight": [2.0, 1.5]})  # fmt: skip
    page = votes._repr_html_()
    assert "<p>Votes(2 votes by 1 judge on 3 items, 0 rows left out)</p>" in page
    assert "<tr><td>u</td><td>b &gt; a</td><td>2</td></tr>" in page
    assert "<tr><td>u</td><td>b = c</td><td>1.5</td></tr>" in page
    lists = jr.votes_from({"judge": ["u", "v"], "ranking": ["a > b = c > d", "b > a"],
                           "options": ["a|b|c|d|e|f", "a|b|c"]})  # fmt: skip
    page = lists._repr_html_()
    assert "<td>u</td><td>a &gt; b = c &gt; d &gt; e | f</td>" in page
    assert "<td>v</td><td>b &gt; a &gt; c</td>" in page


def test_a_check_shows_its_counts() -> None:
    votes = jr.votes_from({"judge": ["u", "u", "v"], "winner": ["a", "c", "c"],
                           "loser": ["b", "d", "d"]})  # fmt: skip
    page = jr.check(votes)._repr_html_()
    assert "<tr><td>judges</td><td>2</td></tr>" in page
    assert "<tr><td>groups that were never compared</td><td>2</td></tr>" in page
    assert "<tr><td>votes per judge</td><td>1 to 2, median 1.5</td></tr>" in page
    assert "The items fall into 2 groups" in page


def test_a_ranking_prints_its_intervals() -> None:
    votes = jr.simulate(12, 3, votes_per_judge=100, seed=1).votes
    ranking = jr.rank(votes, "btl", confidence=0.9)
    _, columns, first, *others = repr(ranking).splitlines()
    assert columns.split() == ["rank", "score", "90%", "interval", "item"]
    row = ranking.items.row(0, named=True)
    low, high = f"{row['score_low']:.3f}", f"{row['score_high']:.3f}"
    assert first.split() == ["1", f"{row['score']:.3f}", f"{low},", high, row["item"]]
    assert others[9] == "  ... and 2 more"
    _, columns, first, *_ = repr(jr.rank(votes, "btl", intervals=None)).splitlines()
    assert columns.split() == ["rank", "score", "item"]
    assert len(first.split()) == 3
    points = repr(ranking.scaled("elo")).splitlines()[2].split()
    assert float(points[2].rstrip(",")) < float(points[1]) < float(points[3])


def test_a_label_cannot_break_the_lines_of_a_ranking() -> None:
    frame = {"judge": ["u", "v"] * 2, "winner": ["a\nb", "c"] * 2, "loser": ["c", "a\nb"] * 2}
    assert len(repr(jr.rank(frame, "win-rate")).splitlines()) == 4


def test_every_function_that_takes_votes_takes_a_path(tmp_path: Path) -> None:
    votes = jr.simulate(4, 3, votes_per_judge=40, seed=1).votes
    file = tmp_path / "votes.csv"
    frame = votes.with_columns(round=pl.int_range(pl.len()) % 2)
    frame.write_csv(file)
    read = jr.read_votes(file)
    for given in (file, str(file)):
        assert repr(jr.check(given)) == repr(jr.check(read))
        assert jr.rank(given, "btl").items.equals(jr.rank(read, "btl").items)
        found = jr.compare(given, ["btl"], folds=2)
        assert found.table.equals(jr.compare(read, ["btl"], folds=2).table)
        assert len(jr.concat_votes(given, read)) == len(jr.concat_votes([given, frame])) == 240
    assert jr.judges(file).table.equals(jr.judges(read).table)
    apart = jr.rank(str(file), "win-rate", by="round")
    assert apart.items.equals(jr.rank(frame, "win-rate", by="round").items)
    with pytest.raises(jr.InputError, match=r"There is no file 'no\.csv'"):
        jr.rank("no.csv")


def test_a_prior_can_be_given_by_name() -> None:
    votes = jr.simulate(4, 3, votes_per_judge=40, seed=1).votes
    by_name = jr.rank(votes, prior=jr.Prior(score_sd=1.0, accuracy_sd=0.5))
    assert by_name.items.equals(jr.rank(votes, prior=(1.0, 0.5)).items)
    assert by_name.fit.prior == (1.0, 0.5)
    with pytest.raises(jr.InputError, match="must be positive"):
        jr.Prior(score_sd=-1.0)


def test_a_fit_that_did_not_converge_warns_of_just_that() -> None:
    made = jr.simulate(5, 4, votes_per_judge=40, seed=1)
    frame = pl.DataFrame({"judge": [1], "winner": ["a"], "loser": ["b"]})
    solver = jr.PaperSolver(iterations=2)
    with pytest.warns(jr.ConvergenceWarning, match="before it converged") as caught:
        ranking = jr.rank(made.votes, solver=solver, intervals=None)
    assert not ranking.fit.converged
    converging = [str(one.message) for one in caught if one.category is jr.ConvergenceWarning]
    assert converging == [ranking.warnings[-1]]
    assert caught[-1].filename == __file__
    assert issubclass(jr.ConvergenceWarning, jr.JuryrankWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error", jr.ConvergenceWarning)
        warnings.simplefilter("ignore", jr.JuryrankWarning, append=True)
        assert jr.rank(frame, "btl").fit.converged  # it warns of other things


def test_a_value_whose_fit_did_not_converge_is_named_in_the_warning() -> None:
    votes = jr.simulate(5, 4, votes_per_judge=40, seed=1).votes
    frame = votes.with_columns(round=pl.int_range(pl.len()) % 2)
    solver = jr.PaperSolver(iterations=2)
    with pytest.warns(jr.ConvergenceWarning, match="round 0: Algorithm 1 ended") as caught:
        jr.rank(frame, by="round", solver=solver, intervals=None)
    assert caught[-1].filename == __file__


LATER = """
from juryrank.threads import one_blas_thread
with one_blas_thread():
    pass
import scipy.linalg
from threadpoolctl import threadpool_info
with one_blas_thread():
    print({one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"})
"""


def test_libraries_that_are_loaded_later_are_kept_to_one_thread_too() -> None:
    """scipy has a library of its own, which is not there before it is imported."""
    several = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", LATER], env=several, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"
