"""`juryrank next` and `juryrank plan`, as their users see them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from juryrank.cli.app import app
from juryrank.simulation.simulation import simulate


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100"})


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("asking") / "votes.csv"
    simulate(7, 3, votes_per_judge=12, seed=1).votes.write_csv(path)
    return str(path)


def test_next_prints_and_saves_questions(votes: str, tmp_path: Path) -> None:
    out = tmp_path / "pairs.csv"
    found = run("next", votes, "-n", "4", "--judge", "judge-1", "--out", str(out))
    assert found.exit_code == 0, found.stderr
    assert found.stdout.split()[:5] == ["left", "right", "judge", "gain", "chosen"]
    saved = pl.read_csv(out)
    assert saved["judge"].to_list() == ["judge-1"] * 4
    again = run("next", votes, "-n", "4", "--judge", "judge-1", "--pending", str(out), "--json")
    questions = json.loads(again.stdout)["questions"]
    before = {frozenset(row) for row in saved.select("left", "right").rows()}
    assert before.isdisjoint({frozenset((one["left"], one["right"])) for one in questions})


def test_next_chooses_among_judges_within_what_they_can_take(votes: str) -> None:
    found = run("next", votes, "-n", "6", "--judges-can", "judge-1=2:0.5,new=1,judge-2", "--json")
    asked = [one["judge"] for one in json.loads(found.stdout)["questions"]]
    assert asked.count("judge-1") <= 2
    assert asked.count("new") <= 1
    assert len(asked) == 6


def test_next_says_which_judges_are_new(votes: str) -> None:
    known = run("next", votes, "-n", "1", "--judge", "judge-1")
    assert "new judge" not in known.stderr
    new = run("next", votes, "-n", "1", "--judge", "zoe")
    assert "zoe has cast no vote: it is taken for a new judge" in " ".join(new.stderr.split())
    slip = run("next", votes, "-n", "1", "--judge", "jugde-1")
    said = " ".join(slip.stderr.split())
    assert slip.exit_code == 0
    assert said.count("has cast no vote") == 1
    assert "taken for a new one. Did you mean 'judge-1'" in said


def test_next_begins_with_items_alone(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("item\ntea\ncoffee\nwater\n")
    found = run("next", "--items", str(items), "-n", "2", "--json")
    questions = json.loads(found.stdout)["questions"]
    assert {name for one in questions for name in (one["left"], one["right"])} == {
        "tea", "coffee", "water",
    }  # fmt: skip


def test_names_that_are_numbers_are_known_in_every_table(tmp_path: Path) -> None:
    votes, items, pairs, barred = (
        str(tmp_path / name) for name in ("votes.csv", "items.csv", "pairs.csv", "barred.csv")
    )
    made = simulate(6, 3, votes_per_judge=8, seed=1).votes
    number = pl.col("judge", "left", "right").str.extract("(\\d+)")
    made.with_columns(number).write_csv(votes)
    Path(items).write_text("item\n1\n7\n")
    Path(barred).write_text("judge,item\n2,7\n")
    every = ("next", votes, "--items", items, "--judges-can", "1,2,3", "-n", "40", "--json")
    first = run(*every[:-1], "--barred", barred, "--out", pairs)
    assert first.exit_code == 0, first.stderr
    asked = pl.read_csv(pairs)
    assert 7 in asked["left"].append(asked["right"])
    assert asked.filter(
        pl.col("judge") == 2, (pl.col("left") == 7) | (pl.col("right") == 7)
    ).is_empty()
    again = run(*every, "--pending", pairs)
    rest = pl.DataFrame(json.loads(again.stdout)["questions"])
    known = {(row[0], frozenset(row[1:])) for row in asked.select("judge", "left", "right").rows()}
    more = {(row[0], frozenset(row[1:])) for row in rest.select("judge", "left", "right").rows()}
    assert more
    assert not more & known
    priced = run("plan", votes, "--cost", "2=3", "--json")
    assert priced.exit_code == 0, priced.stderr
    assert json.loads(priced.stdout)["cost_of_one"] == [1, 3]
    for option in (
        ("next", votes, "--judges-can", "1=3,ana=1"),
        ("plan", votes, "--cost", "1=3,ana=1"),
    ):
        found = run(*option)
        assert found.exit_code == 2
        said = " ".join(found.stderr.split())
        assert "1 judge is not of the type of those in the votes, such as 1: ana." in said


@pytest.mark.parametrize("option", ["--items", "--pending", "--barred"])
def test_no_table_that_was_read_is_overwritten(option: str, votes: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    content = "item,left,right,judge\nitem-1,item-1,item-2,judge-1\n"
    table.write_text(content)
    found = run("next", votes, option, str(table), "--out", str(table))
    assert found.exit_code == 2
    assert f"would overwrite the table of {option}" in " ".join(found.stderr.split())
    assert table.read_text() == content


@pytest.mark.parametrize("option", ["--items", "--pending", "--barred"])
def test_no_answer_is_added_to_a_table_that_was_read(
    option: str, votes: str, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    content = "item,left,right,judge\nitem-1,item-1,item-2,judge-1\n"
    table.write_text(content)
    command = [sys.executable, "-m", "juryrank", "next", votes, option, str(table)]
    with table.open("a") as stdout:
        found = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=False)  # noqa: S603
    assert found.returncode == 2
    assert f"which is the table of {option}" in " ".join(found.stderr.decode().split())
    assert table.read_text() == content


def test_the_column_of_judges_has_another_option(votes: str, tmp_path: Path) -> None:
    renamed = tmp_path / "rated.csv"
    pl.read_csv(votes).rename({"judge": "rater_x"}).write_csv(renamed)
    found = run("next", str(renamed), "--judge-column", "rater_x", "--judge", "judge-2", "-n", "1")
    assert found.exit_code == 0, found.stderr
    assert "judge-2" in found.stdout


def test_plan_says_how_many_more_votes_and_what_they_cost(votes: str) -> None:
    found = run("plan", votes, "--target", "top:1", "--cost", "judge-1=0.5", "--json")
    answer = json.loads(found.stdout)
    assert answer["target"] == "the best item"
    assert {"votes_median", "price_median", "reachable", "unsettled"} <= set(answer)
    shown = run("plan", votes, "--target", "top:1")
    assert "the best item" in " ".join(shown.stdout.split())
    assert answer["cost_of_one"] == ["judge-2", "judge-3"]
    never = json.loads(run("plan", votes, "--no-repeats", "--json").stdout)
    assert not never["repeats"]
    assert 0 < never["questions_left"] < 3 * 21


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("next", "-n", "3"), "nothing to ask about"),
        (("next", "VOTES", "--target", "top:0"), "top:1 to top:6"),
        (("next", "VOTES", "--judge", "a", "--judges-can", "b"), "not both"),
        (("next", "VOTES", "--judges-can", "b=x"), "not understood"),
        (("next", "VOTES", "--judges-can", "b,b=2"), "more than once"),
        (("next", "VOTES", "--pending", "gone.csv"), "gone.csv"),
        (("next", "VOTES", "--judges-can", "b,,c"), "without a name"),
        (("next", "VOTES", "--judge", " "), "without a name"),
        (("next", "VOTES", "--judges-can", ","), "without a name"),
        (("next", "VOTES", "--judges-can", "judge-1:0,02"), "with a point, such as gpt:0.02"),
        (("next", "VOTES", "--judges-can", "judge-1=0"), "can take no more questions"),
        (("plan", "VOTES", "--cost", "=3"), "without a name"),
        (("plan", "VOTES", "--cost", ""), "without a name"),
        (("plan", "VOTES", "--cost", "x"), "not understood"),
        (("plan", "VOTES", "--cost", "judge-1=1,judge-1=2"), "more than once"),
        (("plan", "VOTES", "--cost", "1,judge-1=2"), "for all judges"),
        (("plan", "VOTES", "--cost", "judge-9=2"), "not asked"),
    ],
)
def test_bad_calls_end_with_2_and_say_why(
    arguments: tuple[str, ...], said: str, votes: str
) -> None:
    found = run(*(votes if word == "VOTES" else word for word in arguments))
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


def asked_about(found: Result) -> set[str]:
    """The items of the questions, on every one of which there is one at least."""
    assert found.exit_code == 0, found.stderr
    questions = json.loads(found.stdout)["questions"]
    return {name for one in questions for name in (one["left"], one["right"])}


@pytest.mark.parametrize(
    ("name", "content", "items", "warned"),
    [
        ("movies.txt", "Alien\nHeat\nUp\n", {"Alien", "Heat", "Up"}, False),
        ("movies.txt", "\ufeffAlien, 1979\r\n\r\nUp;Down\r\n", {"Alien, 1979", "Up;Down"}, False),
        ("movies.txt", "Movies\nAlien\nHeat\n", {"Alien", "Heat"}, False),
        ("movies.txt", "year,item\n1979,Alien\n1995,Heat\n", {"Alien", "Heat"}, False),
        ("movies.csv", "Alien\nHeat\nUp\n", {"Alien", "Heat", "Up"}, True),
        ("numbers.csv", "1\n2\n3\n", {"1", "2", "3"}, True),
        ("movies.csv", "Name\nAlien\nHeat\n", {"Alien", "Heat"}, False),
        ("movies.csv", "year,movie\n1979,Alien\n1995,Heat\n", {"Alien", "Heat"}, False),
        ("movies.json", '[{"x": "Alien"}, {"x": "Heat"}]', {"Alien", "Heat"}, False),
    ],
)
def test_no_item_of_a_list_is_lost_to_a_header(
    name: str, content: str, items: set[str], warned: bool, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, newline="")
    found = run("next", "--items", str(path), "-n", str(len(items) - 1), "--json")
    assert asked_about(found) == items
    said = " ".join(found.stderr.split())
    assert f"Read {len(items)} items from {name} (" in said
    assert ("read as an item. If it is a header, call it 'item'" in said) == warned


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("items.csv", "", "is empty: there are no items in it"),
        ("items.txt", "\n", "is empty: there are no items in it"),
        ("items.csv", "x,y\n1,2\n", "no column item"),
        ("items.json", '{"item": ["a", "b"]}', "Give each item a row of its own"),
        (
            "items.csv",
            "item\na\nN/A\nnull\n",
            "2 of 3 items in items.csv usually stand for nothing",
        ),
    ],
)
def test_lists_of_items_are_refused_in_words(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    found = run("next", "--items", str(path), "-n", "1")
    assert found.exit_code == 2
    assert said in " ".join(found.stderr.split())


def test_a_table_without_a_header_is_refused(votes: str, tmp_path: Path) -> None:
    path = tmp_path / "asked.csv"
    path.touch()
    found = run("next", votes, "--pending", str(path))
    assert found.exit_code == 2
    assert "The table of --pending" in " ".join(found.stderr.split())


def test_items_may_be_called_as_nothing_is(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("a\nN/A\n")
    found = run("next", "--items", str(path), "--na-is-name", "-n", "1", "--json")
    assert asked_about(found) == {"a", "N/A"}


def test_json_has_what_was_said_of_the_votes_and_the_questions(votes: str, tmp_path: Path) -> None:
    few = json.loads(run("next", votes, "-n", "50", "--judge", "zoe", "--json").stdout)
    assert [one["source"] for one in few["reading"]] == ["votes.csv"]
    assert any("Only 21 questions of 50" in warning for warning in few["warnings"])
    assert any("zoe has cast no vote" in warning for warning in few["warnings"])
    plan = json.loads(run("plan", votes, "--json").stdout)
    assert plan["reading"] == few["reading"]
    assert plan["warnings"] == []
    items = tmp_path / "items.csv"
    items.write_text("tea\nmilk\n")
    alone = json.loads(run("next", "--items", str(items), "-n", "1", "--json").stdout)
    assert alone["reading"] == []
    assert len(alone["warnings"]) == 1
