"""Hints: what is near is named, what is not is not, and nothing that was needed is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_help import complaint, read
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app
from juryrank.hints import did_you_mean_all, near_names

MODELS = ["claude-2", "Claude-3-opus", "gpt-4", "gpt-3.5-turbo", "llama"]


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("Claude", ["claude-2", "Claude-3-opus"]),
        ("CLAUDE-3", ["Claude-3-opus", "claude-2"]),
        ("cl", ["claude-2", "Claude-3-opus"]),
        ("gtp-4", ["gpt-4"]),
        ("turbo", ["gpt-3.5-turbo"]),
        ("c", []),
        ("mistral", []),
    ],
)
def test_names_are_near_by_case_beginning_spelling_or_part(wanted: str, near: list[str]) -> None:
    assert near_names(wanted, MODELS) == near


def test_several_wanted_names_have_a_hint_each() -> None:
    assert did_you_mean_all(["lama"], MODELS) == " Did you mean 'llama'?"
    assert did_you_mean_all(["lama", "zzz", "gpt4"], MODELS) == (
        " 'lama': Did you mean 'llama'? 'gpt4': Did you mean 'gpt-4'?"
    )


def test_versus_hints_at_both_items() -> None:
    result = CliRunner().invoke(app, ["rank", "--example", "--versus", "aster", "bir"])
    assert result.exit_code == 2
    assert result.stderr.strip().endswith(
        "2 items are not in the votes: aster, bir. 'aster': Did you mean 'Aster'? 'bir': Did you "
        "mean 'Birch'?"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("results.csv", "report.csv", "novotes.parquet"):
        (tmp_path / name).touch()
    said = complaint(lambda: jr.read_votes(tmp_path / "nosuch.csv"))
    assert "Did you mean" not in said
    assert "'results.csv'?" not in said


def test_all_columns_that_are_asked_for_in_vain_are_named_at_once() -> None:
    said = complaint(
        lambda: read("rater,best,worst\nu,a,b\n", judge="ratr", winner="bst", loser="last")
    )
    assert said.startswith(
        "The open file has no column 'ratr', asked for as the judge or 'bst', asked for as the "
        "winner or 'last', asked for as the loser. Columns found: rater, best, worst."
    )
    assert "'ratr': Did you mean 'rater'? 'bst': Did you mean 'best'?" in said


def test_all_columns_that_are_missing_are_named_at_once() -> None:
    said = complaint(lambda: read("judge,winner_of_pair\nu,a\n"))
    assert "has no column for" in said
    said = complaint(lambda: read("judge,left\nu,a\n"))
    assert "no column for the right item and the outcome" in said


def test_columns_that_may_count_are_not_hidden_among_many() -> None:
    names = [f"q{number}" for number in range(200)]
    header = ",".join([*names, "item of interest", "the judge"])
    said = complaint(lambda: read(f"{header}\n{'1,' * 201}1\n"))
    assert "Columns found: item of interest, the judge, q0, q1" in said
    assert "and 142 more" in said
    said = complaint(lambda: read(f"{header}\n{'1,' * 201}1\n", item_columns=["q1", "item"]))
    assert "no column 'item'" in said
    assert "Did you mean 'item of interest'?" in said
