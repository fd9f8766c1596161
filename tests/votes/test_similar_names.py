"""Names that look the same are told, and merged only on request."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_help import complaint, read, rows
from typer.testing import CliRunner, Result

import juryrank as jr
from juryrank.cli.app import app
from juryrank.votes.similar_names import looks

HEADER = "judge,winner,loser\n"
TWICE = (
    f"{HEADER}ann,GPT-4,claude\nann,GPT-4,Claude\nAnn ,claude,gpt-4\nbob,GPT-4,claude\n"
    "bob,claude,GPT-4\n"
)
ITEMS = (
    "4 item names differ only by case: 'claude' (4 times), 'Claude' (1 time); 'GPT-4' (4 times), "
    "'gpt-4' (1 time). They count as different; --merge-names (merge_names=True) merges those "
    "that look the same."
)
JUDGES = "2 judge names differ only by blanks or case: 'ann' (2 times), 'Ann ' (1 time)."
MERGED = (
    "Merged 4 item names that differ only by case into 2: 'Claude' (1 time) into 'claude' (4 "
    "times); 'gpt-4' (1 time) into 'GPT-4' (4 times)."
)


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, env={"COLUMNS": "400"})


@pytest.mark.parametrize(
    ("one", "other", "differ_by"),
    [
        ("GPT-4", "gpt-4", "case"),
        ("tea", " tea", "blanks"),
        ("tea", "tea\t", "blanks"),
        ("green tea", "green  tea", "blanks"),
        ("green tea", "green\u00a0tea", "blanks"),
        ("Zoë", unicodedata.normalize("NFD", "Zoë"), "the composition of accents"),
        ("tea", "t\u200bea", "invisible signs"),
        ("tea", "\ufefftea", "invisible signs"),
        (
            "Zoë",
            unicodedata.normalize("NFD", "ZOË "),
            "the composition of accents or blanks or case",
        ),
    ],
)
def test_what_sets_names_apart_is_named(one: str, other: str, differ_by: str) -> None:
    votes = jr.votes_from({"winner": [one, other, one], "loser": ["x", "x", "y"]})
    assert votes.n_items == 4
    assert votes.notices[0].startswith(f"2 item names differ only by {differ_by}: ")
    merged = jr.votes_from(
        {"winner": [one, other, one], "loser": ["x", "x", "y"]}, merge_names=True
    )
    assert sorted(merged.items) == sorted([one, "x", "y"])


@pytest.mark.parametrize("names", [("tea", "teas"), ("a b", "ab"), ("é", "e"), ("1", "01")])
def test_other_names_are_left_in_peace(names: tuple[str, str]) -> None:
    votes = jr.votes_from({"winner": names, "loser": ["x", "y"]}, merge_names=True)
    assert votes.n_items == 4
    assert votes.notices == ()


@given(
    st.lists(st.text("aAeE\u00e9\u0301 \t\u00a0\u2003\u200b\u200d\ufeff", max_size=6), min_size=1)
)
def test_looks_are_those_of_plain_python(names: list[str]) -> None:
    def look(name: str) -> str:
        visible = "".join(sign for sign in name if sign not in "\u200b\u200d\ufeff")
        return " ".join(unicodedata.normalize("NFC", visible).split()).lower()

    assert looks(pl.Series(names)).to_list() == [look(name) for name in names]


def test_they_are_told_with_counts_and_stay_apart() -> None:
    votes = read(TWICE)
    assert votes.notices[0] == ITEMS
    assert votes.notices[1].startswith(JUDGES)
    assert (votes.n_items, votes.n_judges) == (4, 3)
    told = votes.reading[0].to_dict()["spellings"]
    assert [one["kind"] for one in told] == ["item", "judge"]
    assert told[0]["first"][0] == [
        {"name": "claude", "times": 4}, {"name": "Claude", "times": 1},
    ]  # fmt: skip
    assert told[0]["merged"] is False
    assert jr.check(votes).notices == votes.notices


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_they_are_merged_on_request(memory: str | None, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(TWICE)
    votes = jr.read_votes(path, merge_names=True, memory=memory)
    assert votes.items.to_list() == ["GPT-4", "claude"]
    assert votes.judges.to_list() == ["ann", "bob"]
    assert votes.notices[0] == MERGED
    assert rows(votes)[0] == ("ann", "GPT-4", "claude", 1, 1.0)
    apart = jr.read_votes(path, memory=memory)
    assert apart.notices == read(TWICE).notices
    assert apart.reading[0].spellings == apart.spellings


def test_of_equally_frequent_spellings_the_first_stays() -> None:
    assert read(f"{HEADER}u,TEA,x\nu,x,tea\n", merge_names=True).items.to_list() == ["TEA", "x"]
    assert read(f"{HEADER}u,x,tea\nu,TEA,x\n", merge_names=True).items.to_list() == ["tea", "x"]
    ranked = "judge,ranking\nu,x > tea\nu,TEA > x\n"
    assert read(ranked, merge_names=True).items.to_list() == ["tea", "x"]


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_a_vote_on_two_spellings_is_one_on_an_item_and_itself(
    memory: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"{HEADER}u,tea,Tea\nu,tea,milk\n")
    votes = jr.read_votes(path, merge_names=True, memory=memory)
    assert votes.left_out.self_comparisons == 1
    assert votes.left_out.sentences == (
        "Left out: 1 of 2 rows, in which an item is compared with itself; first row 1.",
    )
    assert jr.read_votes(path, memory=memory).left_out.total == 0


def test_an_item_twice_in_a_ranking_is_complained_about() -> None:
    table = "judge,ranking\nu,tea > milk\nu,tea > Tea > milk\n"
    said = complaint(lambda: read(table, merge_names=True))
    assert "1 of 2 rows has an item twice in the ranking: row 2 'tea'" in said
    assert len(read(table, merge_names=True, skip_bad=True)) == 1


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_outcomes_may_name_a_side_in_any_spelling(memory: str | None, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\ntea,milk,TEA \nTea,milk,milk\nmilk,tea,tie\n")
    votes = jr.read_votes(path, merge_names=True, memory=memory)
    assert votes.outcome.tolist() == [1, -1, 0]
    said = complaint(lambda: jr.read_votes(path, memory=memory))
    assert "look like items: --merge-names (merge_names=True)" in said


def test_ratings_and_rows_per_item_are_merged_before_they_are_grouped() -> None:
    rated = "judge,prompt_id,item,rating\nann,1,tea,5\nAnn,1,Milk,3\nann,2,TEA,2\nann,2,milk,1\n"
    votes = read(rated, merge_names=True)
    assert votes.n_judges == 1
    assert len(votes) == 2
    assert [one.kind for one in votes.spellings] == ["item", "judge"]
    long = "judge,item,rank\nann,tea,1\nANN ,milk,2\nann,coffee,3\n"
    assert read(long, merge_names=True).lists.length.tolist() == [3]


def test_numbers_are_never_the_same() -> None:
    votes = jr.votes_from({"winner": [1, 2], "loser": [2, 3]}, merge_names=True)
    assert votes.notices == ()


class TestSeveralSources:
    ONE = f"{HEADER}ann,tea,milk\nann,tea,milk\nann,milk,tea\n"
    OTHER = f"{HEADER}Ann,TEA,milk\nbob,milk,TEA\n"

    def files(self, folder: Path) -> list[str]:
        for name, text in (("one.csv", self.ONE), ("other.csv", self.OTHER)):
            (folder / name).write_text(text)
        return [str(folder / "one.csv"), str(folder / "other.csv")]

    def test_are_told_together(self) -> None:
        votes = jr.join_votes(read(self.ONE), read(self.OTHER))
        assert votes.n_items == 3
        assert (
            "2 item names differ only by case: 'tea' (3 times), 'TEA' (2 times)" in votes.notices[0]
        )
        assert votes.reading[1].spellings == votes.spellings
        again = jr.join_votes(votes, read(self.OTHER))
        assert len(again.notices) == 2, "each thing is said once"
        assert "'TEA' (4 times), 'tea' (3 times)" in again.notices[0]

    def test_are_merged_together(self) -> None:
        parts = [read(text, merge_names=True) for text in (self.ONE, self.OTHER)]
        votes = jr.join_votes(*parts, merge_names=True)
        assert votes.items.to_list() == ["milk", "tea"]
        assert votes.judges.to_list() == ["ann", "bob"]
        assert votes.notices[0].startswith("Merged 2 item names")
        assert len(votes) == 5

    def test_must_each_be_merged(self) -> None:
        said = complaint(lambda: jr.join_votes(read(TWICE), read(self.ONE), merge_names=True))
        assert "read them with merge_names=True too" in said

    @pytest.mark.parametrize("memory", [(), ("--memory", "1MB")])
    def test_on_the_command_line(self, memory: tuple[str, ...], tmp_path: Path) -> None:
        paths = self.files(tmp_path)
        apart = json.loads(run("check", *paths, "--json", *memory).stdout)
        assert apart["items"] == 3
        assert len(apart["notices"]) == 2
        assert apart["reading"][1]["spellings"][0]["first"][0][0] == {"name": "tea", "times": 3}
        one = json.loads(run("check", *paths, "--json", "--merge-names", *memory).stdout)
        assert (one["items"], one["judges"]) == (2, 2)


def test_on_the_command_line_they_come_before_the_table() -> None:
    result = run("rank", "-", stdin=TWICE)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    where = lines.index(f"Warning: {ITEMS}")
    assert where < next(at for at, line in enumerate(lines) if line.startswith("rank  item"))
    assert result.output.count("item names differ only") == 1
    answer = json.loads(run("rank", "-", "--json", "--merge-names", stdin=TWICE).stdout)
    assert answer["warnings"][0] == MERGED
    assert answer["reading"][0]["spellings"][0]["merged"] is True
    assert {row["item"] for row in answer["items"]} == {"GPT-4", "claude"}


@pytest.mark.parametrize("command", ["judges", "compare", "check"])
def test_every_command_tells_them_once(command: str) -> None:
    often = HEADER + TWICE.removeprefix(HEADER) * 6
    result = run(command, "-", stdin=often)
    assert result.exit_code == 0
    assert result.output.count("4 item names differ only by case") == 1


@pytest.mark.filterwarnings("ignore::juryrank.errors.JuryrankWarning")
def test_the_report_tells_them() -> None:
    assert "4 item names differ only by case" in jr.rank(read(TWICE)).report()


def test_a_long_list_is_cut_short() -> None:
    names = [f"item {number:03}" for number in range(50)]
    votes = jr.votes_from({"winner": names, "loser": [name.upper() for name in names]})
    assert votes.notices[0].startswith("100 item names differ only by case: 'item 000' (1 time), ")
    assert "; and 47 more. They" in votes.notices[0]
    assert len(votes.notices[0]) < 300


def test_a_million_names_take_seconds() -> None:
    names = pl.select(pl.format("Name {}", pl.int_range(500_000)))["literal"]
    both = pl.concat([names, names.str.to_uppercase()])
    frame = pl.DataFrame({"winner": both, "loser": both.reverse()})
    start = time.process_time()
    votes = jr.votes_from(frame, merge_names=True)
    assert votes.n_items == 500_000
    assert time.process_time() - start < 60.0


@pytest.mark.parametrize(
    "name", ["N/A", "NA", "none", "null", "nan", "-", "--", "?", "unknown", "Unknown ", "#REF!"]
)
def test_names_that_may_stand_for_nothing_are_asked_about(name: str) -> None:
    table = f"{HEADER}u,tea,milk\nu,milk,tea\n{name},tea,milk\nu,{name},tea\nu,tea,{name}\n"
    said = complaint(lambda: read(table))
    for column, row in (("judge", 3), ("winner", 4), ("loser", 5)):
        assert (
            f"1 of 5 rows has a word in the column {column!r} that usually stands for nothing: "
            f"{name!r} (row {row})." in said
        )
    assert "say --na-is-name (na_is_name=True)" in said
    assert "--skip-bad (skip_bad=True)" in said
    assert len(read(table, skip_bad="most")) == 2
    assert len(read(table, na_is_name=True)) == 5
