"""The command line, as its users see it: streams, exit codes, files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from juryrank import __version__
from juryrank.cli.app import app
from juryrank.simulation.simulation import simulate

ESCAPE = "\x1b"
PROGRAM = "from juryrank.cli import main; main()"
HOSTILE = ("[red]x[/red]", "[/]", ":smile:", "two\nlines", "bell\x07", "long" * 50, "名前", "007")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("votes")


@pytest.fixture(scope="module")
def votes(folder: Path) -> str:
    """Six careful judges, one who guesses and one who votes backwards."""
    accuracies = [2, 2, 2, 2, 2, 2, 0, -2]
    made = simulate(30, 8, accuracies=accuracies, votes_per_judge=200, seed=1)
    made.votes.write_csv(folder / "votes.csv")
    return str(folder / "votes.csv")


@pytest.fixture(scope="module")
def hostile(folder: Path) -> str:
    pairs = zip(HOSTILE, (*HOSTILE[1:], HOSTILE[0]), strict=True)
    rows = [{"judge": "[b]", "winner": winner, "loser": loser} for winner, loser in pairs]
    rows += [row | {"judge": "\x1b[31mred"} for row in rows]
    pl.DataFrame(rows).write_csv(folder / "hostile.csv")
    return str(folder / "hostile.csv")


def run(*arguments: str, stdin: str | bytes | None = None, width: int = 100) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": str(width)})


def program(*arguments: str, script: str = PROGRAM, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | environment,
    )


def run_program(*arguments: str, script: str = PROGRAM, **environment: str) -> tuple[int, str, str]:
    with program(*arguments, script=script, **environment) as running:
        out, err = running.communicate()
    return running.returncode, out, err


def errors(result: Result) -> list[str]:
    """What is said on stderr, but for how the votes were read."""
    return [line for line in result.stderr.splitlines() if not line.startswith("Read ")]


# --- rank ----------------------------------------------------------------------------------------


def test_the_package_is_a_program_too(votes: str) -> None:
    command = [sys.executable, "-m", "juryrank", "rank", votes]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)  # noqa: S603
    assert done.stdout == run_program("rank", votes)[1]


def test_rank_shows_items_judges_and_nothing_on_stderr(votes: str) -> None:
    result = run("rank", votes)
    assert result.exit_code == 0
    assert errors(result) == []
    sizes, model, _, header, best, *_ = result.stdout.splitlines()
    assert sizes == "30 items, 8 judges, 1,600 votes"
    assert model == "Model hbtl: Heterogeneous Bradley-Terry-Luce"
    assert header.split() == ["rank", "item", "score", "95%", "interval", "ranks", "tier"]
    interval = r"\+\d\.\d\d to \+\d\.\d\d"
    assert re.match(rf" +1  item-\d\d  \+\d\.\d\d  {interval} +1(-\d)? +1 +│━+", best)
    assert "... and 10 more (--top 30 shows them)" in result.stdout
    assert re.search(r"prefers item-\d\d to item-\d\d in \d\d% of votes\.", result.stdout)
    assert ESCAPE not in result.stdout


def test_rank_names_the_judges_worth_a_look(votes: str) -> None:
    shown = run("rank", votes).stdout
    assert re.search(r"judge-8 +-\d\.\d\d +-\d\.\d\d to -\d\.\d\d +200 +backwards", shown)
    assert re.search(r"judge-7 +-?0\.\d\d +-\d\.\d\d to 0\.\d\d +200 +inconsistent", shown)
    assert "- judge-8 (backwards) votes against the order" in shown


def test_rank_asks_for_no_votes_on_a_best_item_that_is_sure() -> None:
    """As the report does; of the order, which is open, it says how many it takes."""
    shown = " ".join(run("rank", "--example").stdout.split())
    assert "To name the best item, Aster, no more votes are needed." in shown
    assert "settle the best item" not in shown
    assert "Unlikely to be settled within 10,000 votes: the order of all items" in shown


def test_rank_says_that_a_model_treats_judges_alike(votes: str) -> None:
    shown = run("rank", votes, "--model", "btl").stdout
    assert "This model treats all judges alike" in shown
    assert "reliable" not in shown


def test_rank_top(votes: str) -> None:
    few, all_of_them = (run("rank", votes, "--top", top).stdout for top in ("3", "30"))
    assert len(re.findall(r"item-\d\d +[-+]?\d\.\d\d", few)) == 3
    assert "... and 27 more (--top 30 shows them)" in few
    assert len(re.findall(r"item-\d\d +[-+]?\d\.\d\d", all_of_them)) == 30
    assert "more (" not in all_of_them
    assert re.search(r"-\d\.\d\d .* \d +╺?━+│ *\n", all_of_them)


def test_rank_json_is_one_object(votes: str) -> None:
    result = run("rank", votes, "--json")
    answer = json.loads(result.stdout)
    assert list(answer) == [
        "model", "scale", "items", "judges", "effects", "tastes", "fit", "warnings", "reading",
    ]  # fmt: skip
    assert list(answer["items"][0]) == [
        "rank", "item", "score", "score_low", "score_high", "rank_low", "rank_high", "p_best",
        "tier",
    ]  # fmt: skip
    assert list(answer["judges"][0]) == [
        "judge", "accuracy", "accuracy_low", "accuracy_high", "votes", "verdict", "reason",
    ]  # fmt: skip
    assert result.stdout.count("\n") == 1
    assert errors(result) == []


def test_rank_shows_each_warning_once_and_on_stderr() -> None:
    rows = "winner,loser\na,b\nb,a\na,a\n"
    result = run("rank", "-", "--json", stdin=rows)
    warned = json.loads(result.stdout)["warnings"]
    assert len(warned) >= 2
    assert errors(result) == [f"Warning: {warning}" for warning in warned]


def test_rank_saves_by_ending(votes: str, tmp_path: Path) -> None:
    items, judges = tmp_path / "ranking.parquet", tmp_path / "judges.tsv"
    result = run("rank", votes, "--json", "--out", str(items), "--judges-out", str(judges))
    answer = json.loads(result.stdout)
    assert pl.read_parquet(items).to_dicts() == answer["items"]
    assert pl.read_csv(judges, separator="\t")["judge"][-1] == "judge-8"
    assert errors(result) == [f"Saved the ranking to {items}.", f"Saved the judges to {judges}."]


@pytest.mark.parametrize(
    ("out", "complaint"),
    [
        ("ranking.docx", "must end in .csv, .tsv, .json, .parquet, .html, .md, .tex, .xlsx."),
        ("nowhere/ranking.csv", "there is no folder"),
        (".csv/ranking.csv", "there is no folder"),
        ("folder.csv", "it is a folder."),
    ],
)
@pytest.mark.parametrize("option", ["--out", "--judges-out"])
def test_where_to_save_is_checked_before_the_fit(
    votes: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    out: str,
    complaint: str,
) -> None:
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.setattr("juryrank.cli.rank._fitted", lambda *_, **__: pytest.fail("fitted"))
    result = run("rank", votes, option, str(tmp_path / out))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: Cannot ")
    assert complaint in result.stderr


@pytest.mark.parametrize("option", ["--out", "--judges-out"])
def test_excel_without_its_package_is_refused_before_the_fit(
    votes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr("juryrank.cli.rank._fitted", lambda *_, **__: pytest.fail("fitted"))
    monkeypatch.setattr("juryrank.writing.needed_packages.find_spec", lambda _: None)
    result = run("rank", votes, option, str(tmp_path / "x.xlsx"))
    assert result.exit_code == 2
    assert "pip install xlsxwriter" in result.stderr


def test_votes_are_not_overwritten(votes: str, tmp_path: Path) -> None:
    before = Path(votes).read_bytes()
    assert "would overwrite the votes" in run("rank", votes, "--out", votes).stderr
    same = str(tmp_path / "x.csv")
    assert "cannot both" in run("rank", votes, "--out", same, "--judges-out", same).stderr
    assert Path(votes).read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        ["--prior", "none"],
        ["--prior", "1.5,0.5"],
        ["--lambda0", "1"],
        ["--solver", "paper", "--model", "btl"],
        ["--model", "htm", "--noise", "exponential"],
        ["--model", "crowdbt"],
        ["--threads", "2"],
    ],
)
def test_rank_takes_options_of_the_fit(votes: str, options: list[str]) -> None:
    result = run("rank", votes, "--json", *options)
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["items"]) == 30


def test_prior_reaches_the_fit(votes: str) -> None:
    def prior(text: str) -> object:
        return json.loads(run("rank", votes, "--json", "--prior", text).stdout)["fit"]["prior"]

    assert prior("none") is None
    assert prior("1.5,0.5") == [1.5, 0.5]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--model", "hbt"], "Did you mean 'hbtl'?"),
        (["--prior", "some"], "--prior some must be numbers"),
        (["--prior", "1,2,3"], "--prior 1,2,3 must be auto, none, or two numbers"),
        (["--prior", "0,1"], "must be positive"),
        (["--noise", "normal"], "use model='htm'"),
        (["--outcome-map", "left"], "does not say what 'left' means"),
        (["--judge", "nobody"], "nobody"),
        (["second.csv"], "There is no file 'second.csv'"),
    ],
)
def test_bad_options_are_explained(votes: str, options: list[str], complaint: str) -> None:
    result = run("rank", votes, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert errors(result)[0].startswith("Error: ")
    assert complaint in result.stderr
    assert len(errors(result)) == 1


@pytest.mark.parametrize("options", [["--top", "0"], ["--solver", "x"], ["--nonsense"], []])
def test_usage_errors(options: list[str]) -> None:
    result = run("rank", *options)
    assert result.exit_code == 2
    assert result.stdout == ""


# --- names that are no markup --------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 80, 200])
def test_hostile_names_are_shown_and_do_nothing(hostile: str, width: int) -> None:
    result = run("rank", hostile, width=width)
    assert result.exit_code == 0
    for name in ("[red]x[/red]", "[/]", ":smile:", r"two\nlines", r"bell\x07", "名前", "007"):
        assert len(re.findall(rf"^ +1  {re.escape(name)} ", result.stdout, re.MULTILINE)) == 1
    assert "longlong" in result.stdout
    assert "…" in result.stdout
    assert "long" * 50 not in result.stdout
    assert ESCAPE not in result.output


def test_hostile_names_in_json_come_back_unchanged(hostile: str) -> None:
    answer = json.loads(run("rank", hostile, "--json").stdout)
    assert {row["item"] for row in answer["items"]} == set(HOSTILE)


def test_hostile_names_in_errors(tmp_path: Path) -> None:
    result = run("rank", str(tmp_path / "[bold]\x1b[31m.csv"))
    assert result.exit_code == 2
    assert "[bold]" in result.stderr
    assert ESCAPE not in result.stderr


# --- reading options -----------------------------------------------------------------------------


def test_reading_options_are_shared() -> None:
    rows = "who;A;B;result;times\nann;x;y;Left wins;2\nbob;y;x;both;1\nbob;y;x;?;1\nbob;y;x;bad;1\n"
    options = [
        "--judge", "who", "--left", "A", "--right", "B", "--winner", "result", "--weight", "times",
        "--outcome-map", "Left wins=left,both=tie", "--outcome-map", "?=skip", "--skip-bad",
        "--format", "csv", "--json",
    ]  # fmt: skip
    checked = json.loads(run("check", "-", *options, stdin=rows).stdout)
    assert (checked["votes"], checked["ties"], checked["weight"]) == (2, 1, 3.0)
    assert (checked["left_out"]["bad_rows"], checked["left_out"]["skipped"]) == (1, 1)
    ranked = json.loads(run("rank", "-", *options, stdin=rows).stdout)
    assert ranked["judges"][0]["votes"] + ranked["judges"][1]["votes"] == 3
    assert run("compare", "-", *options, "--folds", "2", stdin=rows).exit_code == 0


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ("who,what\nann,x>y\nann,y>x\n", ["--judge", "who", "--ranking", "what"]),
        ("day,saw,what\n1,x|y,x\n2,x|y,y\n", ["--options", "saw", "--winner", "what"]),
        (
            "heat,driver,at\n1,x,1\n1,y,2\n2,y,1\n2,x,2\n",
            ["--ranking", "heat", "--item", "driver", "--position", "at"],
        ),
        ("# TITLE: two\n1: 1,2\n1: 2,1\n", ["--format", "soc", "--judge-per-row"]),
    ],
)
def test_rankings_have_options_too(rows: str, options: list[str]) -> None:
    checked = json.loads(run("check", "-", *options, "--json", stdin=rows).stdout)
    assert (checked["votes"], checked["items"]) == (2, 2)
    assert checked["judges"] == (2 if "--judge-per-row" in options else 1)


def test_a_bad_ranking_stops_the_run() -> None:
    result = run("check", "-", stdin="judge,ranking\na,x > y > z\na,x > x > y\n")
    assert result.exit_code == 2
    assert "row 2 'x'" in result.stderr


def test_bad_rows_stop_the_run() -> None:
    result = run("check", "-", stdin="judge,left,right,winner\na,x,y,left\na,x,y,who\n")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "'who' (row 2)" in result.stderr


READ = (
    "Read Standard input: 5 rows as pairs (judge = rater, left = model_a, right = model_b, "
    "outcome = winner); ignored: prompt; left out: 1 row."
)
TABLE = "prompt,rater,model_a,model_b,winner\n" + "".join(
    f"p,{row}\n" for row in ("a,x,y,[[A]]", "a,x,y,[[B]]", "b,y,x,x", "b,x,y,y", "b,x,y,who")
)


@pytest.mark.parametrize("command", ["check", "rank", "judges", "compare"])
def test_every_command_says_how_votes_were_read(command: str) -> None:
    options = ("--models", "btl", "--folds", "2") if command == "compare" else ()
    result = run(command, "-", "--skip-bad", "--json", *options, stdin=TABLE)
    assert result.stderr.splitlines()[0] == READ
    (reading,) = json.loads(result.stdout)["reading"]
    assert reading["columns"] == {
        "judge": "rater",
        "left": "model_a",
        "right": "model_b",
        "outcome": "winner",
    }
    assert (reading["ignored"], reading["left_out"]) == (["prompt"], 1)


def test_the_share_that_is_left_out_is_said_first() -> None:
    found = json.loads(run("check", "-", "--skip-bad", "--json", stdin=TABLE).stdout)
    assert found["verdict"].startswith(
        "1 of 5 rows (20%) cannot be used: what follows is about the rest. All 2"
    )


def test_to_leave_out_most_rows_takes_another_word() -> None:
    bad = TABLE + "p,b,x,y,who\n" * 5
    result = run("check", "-", "--skip-bad", stdin=bad)
    assert result.exit_code == 2
    assert "--skip-bad would leave out 6 of 10 rows (60%), more than half." in result.stderr
    assert run("check", "-", "--skip-most", stdin=bad).exit_code == 0


# --- check ---------------------------------------------------------------------------------------


def test_check_says_whether_the_votes_can_rank(votes: str) -> None:
    result = run("check", votes)
    assert result.stdout.startswith("All 30 items are connected: the votes can rank them.\n")
    assert re.search(r"judges +8  200 votes each", result.stdout)
    assert re.search(r"votes +1,600", result.stdout)
    assert "Worth knowing" not in result.stdout
    assert errors(result) == []


def test_check_says_what_is_wrong() -> None:
    rows = "judge,winner,loser\nann,a,b\nbob,c,[/d]\nbob,c,[/d]\ncat,a,a\n"
    shown = run("check", "-", stdin=rows).stdout
    assert "The items fall into 2 groups that were never compared" in shown
    assert "- 2 groups of items were never compared with each other: [/d], c | a, b." in shown
    assert "share no pair with any other judge" in shown
    assert re.search(r"duplicates +1", shown)
    assert re.search(r"rows left out +1", shown)


def test_check_without_judges() -> None:
    shown = run("check", "-", stdin="winner,loser\na,b\nb,a\n").stdout
    assert "no judge column: all votes count as one judge's" in shown


def test_check_json(votes: str) -> None:
    result = run("check", votes, "--json")
    assert json.loads(result.stdout)["can_rank_without_prior"] is True
    assert result.stdout.count("\n") == 1


# --- compare -------------------------------------------------------------------------------------


def test_compare_shows_models_best_first(votes: str, tmp_path: Path) -> None:
    out = tmp_path / "models.csv"
    result = run(
        "compare", votes, "--models", "win-rate, hbtl,hbtl", "--folds", "2", "--out", str(out)
    )
    lines = result.stdout.splitlines()
    assert lines[0] == "How well models predict unseen votes (1,600 votes, 2 folds, seed 0)"
    assert re.match(r"hbtl +0\.\d{4} +\d\d\.\d% +best", lines[3])
    assert re.match(r"win-rate +0\.\d{4} +\d\d\.\d% +0\.\d{4} ± 0\.\d{4}", lines[4])
    assert errors(result) == [f"Saved the comparison to {out}."]
    assert pl.read_csv(out)["model"].to_list() == ["hbtl", "win-rate"]


def test_compare_json(votes: str) -> None:
    result = run("compare", votes, "--models", "btl", "--folds", "2", "--seed", "3", "--json")
    answer = json.loads(result.stdout)
    assert list(answer) == ["models", "folds", "seed", "votes", "guessing", "reading"]
    assert (answer["folds"], answer["seed"], answer["votes"]) == (2, 3, 1600)
    assert [row["model"] for row in answer["models"]] == ["btl"]
    assert errors(result) == []


def test_compare_says_which_model_could_not_be_fitted() -> None:
    rows = "judge,winner,loser\n" + "ann,a,b\nbob,a,b\n" * 4
    result = run("compare", "-", "--models", "btl,rank-centrality", stdin=rows)
    assert re.search(r"rank-centrality +- +- +could not be fitted", result.stdout)
    assert "- rank-centrality could not be fitted on 5 of 5 folds" in result.stdout


def test_compare_refuses_an_unknown_model(votes: str) -> None:
    result = run("compare", votes, "--models", "btl,elo")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "There is no model called 'elo'." in result.stderr


# --- simulate ------------------------------------------------------------------------------------


def test_simulate_prints_csv_that_rank_reads() -> None:
    made = run("simulate", "--items", "5", "--accuracies", "-1,2,3", "--votes", "40")
    assert made.stderr == ""
    lines = made.stdout.splitlines()
    assert lines[0] == "judge,left,right,winner"
    assert len(lines) == 121
    ranked = run("rank", "-", "--json", stdin=made.stdout)
    assert {row["judge"] for row in json.loads(ranked.stdout)["judges"]} == {
        "judge-1",
        "judge-2",
        "judge-3",
    }


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_simulate_saves_the_truth_beside_the_votes(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"made.{ending}"
    result = run(
        "simulate", "--judges", "4", "--adversaries", "1", "--seed", "5", "--out", str(out)
    )
    assert result.exit_code == 0
    assert result.stdout == ""
    read = pl.read_csv if ending == "csv" else pl.read_parquet
    assert read(out).columns == ["judge", "left", "right", "winner"]
    assert read(tmp_path / f"made.items.{ending}").columns == ["item", "score"]
    assert read(tmp_path / f"made.judges.{ending}")["accuracy"][0] < 0
    for name in (out.name, f"made.items.{ending}", f"made.judges.{ending}"):
        assert name in result.stderr


def test_simulate_makes_rankings_with_ties_and_saves_the_effects(tmp_path: Path) -> None:
    made = run("simulate", "--items", "6", "--per-vote", "4", "--top", "2", "--votes", "3")
    lines = made.stdout.splitlines()
    assert lines[0] == "judge,ranking,options"
    assert lines[1].count(">") == 1
    assert lines[1].count("|") == 3
    out = tmp_path / "made.csv"
    habits = ("--tie", "0.8", "--tie-sd", "0.3", "--left", "0.5", "--left-sd", "0.2")
    result = run("simulate", *habits, "--out", str(out))
    assert "tie" in pl.read_csv(out)["winner"]
    assert pl.read_csv(tmp_path / "made.judges.csv").columns == [
        "judge", "accuracy", "tie", "left",
    ]  # fmt: skip
    assert pl.read_csv(tmp_path / "made.effects.csv").rows() == [("tie", 0.8), ("left side", 0.5)]
    assert "made.effects.csv" in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--out", "votes.html"],
        ["--out", "nowhere/votes.csv"],
        ["--model", "win-rate"],
        ["--accuracies", "1,x"],
        ["--votes", "5", "--density", "0.5"],
        ["--items", "1"],
        ["--seed", "-1"],
        ["--score-sd", "-1"],
        ["--per-vote", "5", "--items", "4"],
        ["--per-vote", "3", "--top", "4"],
        ["--per-vote", "3", "--left", "1"],
        ["--tie-sd", "1"],
    ],
)
def test_simulate_refuses(options: list[str]) -> None:
    result = run("simulate", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


# --- the program ---------------------------------------------------------------------------------


COMMANDS = ("rank", "judges", "check", "compare", "simulate", "paper")
A_SCREEN = 45
"""Lines of a terminal."""


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_screen(command: str) -> None:
    result = run(*command.split(), "--help", width=80)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert "Examples" in lines
    assert len(lines) <= A_SCREEN
    assert max(len(line) for line in lines) <= 80
    assert errors(result) == []


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_help_has_no_types_of_python(command: str, option: str) -> None:
    shown = run(command, option).stdout
    assert not re.search(r"<|list\[|bool|[{}]", shown)


@pytest.mark.parametrize("command", ["rank", "judges", "check", "compare"])
def test_help_is_in_groups_and_all_of_it_has_every_option(command: str) -> None:
    few, everything = (run(command, option).stdout for option in ("--help", "--help-all"))
    for title in ("What to rank", "What to write"):
        assert title in few.splitlines()
    assert "How votes are read" not in few.splitlines()
    assert "Options" not in everything.splitlines()  # what has no group is hard to find
    assert "How votes are read" in everything.splitlines()
    made: Any = get_command(app)
    for param in made.commands[command].params:
        name = "VOTES" if param.name == "votes" else max(param.opts, key=len)
        assert re.search(rf"^  {name}( |$)", everything, re.M), name


def test_help_describes_every_model() -> None:
    shown = run("rank", "--help-all").stdout
    for name in ("hbtl", "htcv", "htm", "btl", "tcv", "crowdbt", "crowdtcv", "win-rate"):
        assert re.search(rf"^  {name} +\S.*: judges (alike|differ)", shown, re.M)


def test_a_first_run_says_what_to_try() -> None:
    assert "juryrank rank --example" in run().output
    nothing = run("rank")
    assert nothing.exit_code == 2
    assert errors(nothing) == [
        "Error: There are no votes to read. Name a file of votes, or - for standard input; or try "
        "--example."
    ]


def test_the_example_comes_with_the_package() -> None:
    shown = run("check", "--example")
    assert shown.exit_code == 0
    assert "votes          720" in shown.stdout
    both = run("check", "--example", "votes.csv")
    assert both.exit_code == 2
    assert "Give votes or --example, not both: votes.csv." in both.stderr


def test_version() -> None:
    assert run("--version").stdout == f"juryrank {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "light"),
    [
        (["--help"], ["scipy", "polars", "numpy"]),
        (["rank", "--help"], ["scipy", "polars", "numpy"]),
        (["--version"], ["scipy", "polars", "numpy"]),
        (["rank", "not_there.csv"], ["scipy"]),
        (["rank", "not_there.csv", "--memory", "1GB"], ["scipy"]),
        (["rank", "not_there.csv", "--memory", "x"], ["scipy", "polars", "numpy"]),
        (["check", "not_there.csv"], ["scipy"]),
        (["compare", "not_there.csv"], ["scipy"]),
        (["rank", "not_there.csv", "--out", "x.docx"], ["scipy", "polars", "numpy"]),
    ],
)
def test_quick_answers_do_not_import_what_is_slow(arguments: list[str], light: list[str]) -> None:
    code, out, _ = run_program(*arguments, script=telling_at_exit(LOADED.format(light)))
    assert out.endswith("loaded []\n")
    assert code == (2 if "not_there.csv" in arguments else 0)


def telling_at_exit(what: str) -> str:
    """The program, which says something when all is done."""
    return f"import atexit, gc, sys\natexit.register(lambda: print({what}))\n{PROGRAM}"


LOADED = "'loaded', sorted(set(sys.modules) & set({!r}))"


def test_ranking_pairs_does_not_import_what_it_does_not_need(tmp_path: Path) -> None:
    made = str(tmp_path / "votes.csv")
    simulate(30, 8, votes_per_judge=60, seed=1).votes.write_csv(made)
    light = ["scipy.optimize", "scipy.stats", "scipy.interpolate", "altair"]
    code, out, _ = run_program("rank", made, script=telling_at_exit(LOADED.format(light)))
    assert (code, out.splitlines()[-1]) == (0, "loaded []")


def test_no_time_is_spent_on_garbage_at_the_end(votes: str) -> None:
    _, out, _ = run_program("rank", votes, script=telling_at_exit("gc.get_freeze_count() > 0"))
    assert out.splitlines()[-1] == "True"


def test_blas_starts_no_threads(votes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    pools = "__import__('threadpoolctl').threadpool_info()"
    several = f"[p for p in {pools} if p['internal_api'] == 'openblas' and p['num_threads'] > 1]"
    _, out, _ = run_program("rank", votes, script=telling_at_exit(several))
    assert out.splitlines()[-1] == "[]"


def test_piped_output_has_no_control_codes(votes: str) -> None:
    code, out, err = run_program("rank", votes, FORCE_COLOR="", COLUMNS="10")
    assert code == 0
    assert err.startswith("Read votes.csv: ")
    assert ESCAPE not in err
    assert ESCAPE not in out
    assert out.startswith("30 items, 8 judges, 1,600 votes\nModel hbtl: Heterogeneous")


def test_a_terminal_without_unicode(hostile: str) -> None:
    code, out, _ = run_program("rank", hostile, PYTHONIOENCODING="ascii")
    assert code == 0
    assert "??" in out
    _, out, _ = run_program("rank", hostile, "--json", PYTHONIOENCODING="ascii")
    assert "名前" in {row["item"] for row in json.loads(out)["items"]}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_is_no_error(votes: str, options: list[str]) -> None:
    with program("rank", votes, *options) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert len(running.stderr.read().splitlines()) == 1
    assert running.returncode == 1


def _raises(error: BaseException) -> object:
    def fit(*_: object, **__: object) -> None:
        raise error

    return fit


def test_a_bug_is_confessed(votes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("juryrank.cli.rank._fitted", _raises(ZeroDivisionError("oh [/]")))
    result = run("rank", votes)
    assert result.exit_code == 1
    assert "(ZeroDivisionError: oh [/])" in result.stderr
    assert "please report it" in result.stderr
    assert "Traceback" not in result.output


def test_a_bug_can_be_looked_into(votes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURYRANK_DEBUG", "1")
    monkeypatch.setattr("juryrank.cli.rank._fitted", _raises(ZeroDivisionError("oh")))
    assert isinstance(run("rank", votes).exception, ZeroDivisionError)


def test_an_interruption_is_quiet(votes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("juryrank.cli.rank._fitted", _raises(KeyboardInterrupt()))
    result = run("rank", votes)
    assert (result.exit_code, result.stdout, errors(result)) == (130, "", [])


def test_an_option_given_twice_is_refused(votes: str) -> None:
    result = run("rank", votes, "--model", "btl", "--model", "hbtl")
    assert result.exit_code == 2
    assert "--model is given more than once" in result.stderr
    assert run("check", votes, "--skip-bad", "--skip-bad").exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cluster", "local:none"), "must be local:N"),
        (("--cluster", "local:2", "--by", "judge"), "is not available on a cluster"),
        (("--cluster", "local:2", "--without", "judge-1"), "is not available on a cluster"),
        (("--cluster", "local:2", "--merge-names"), "--merge-names: not with --cluster"),
    ],
)
def test_what_a_cluster_does_not_know_is_refused(
    votes: str, options: tuple[str, ...], said: str
) -> None:
    result = run("rank", votes, *options, width=200)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
