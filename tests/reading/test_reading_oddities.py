"""Input that is odd in ways users meet: what is kept, what is said."""

from __future__ import annotations

import codecs
import io
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading_help import complaint, read

import juryrank as jr


def test_names_of_folders_stay_text(tmp_path: Path) -> None:
    for judge in ("007", "7", "2024-01-05"):
        folder = tmp_path / f"judge={judge}"
        folder.mkdir()
        pl.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"]}).write_parquet(
            folder / "part.parquet"
        )
    assert jr.read_votes(tmp_path).judges.to_list() == ["007", "2024-01-05", "7"]


def test_a_column_that_is_text_here_and_numbers_there(tmp_path: Path) -> None:
    for name, judge in (("a", 1), ("b", "1")):
        frame = pl.DataFrame({"judge": [judge], "winner": ["x"], "loser": ["y"]})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    said = complaint(lambda: jr.read_votes(tmp_path))
    assert "'judge' holds whole numbers in a.parquet and text in b.parquet" in said


def test_ids_that_differ_by_blanks_are_kept_and_remarked() -> None:
    votes = read("winner, loser\nA, B\nB, C\nC, A\n")
    assert votes.n_items == 6
    assert votes.notices[0].startswith("6 item names differ only by blanks: 'A' (1 time), ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jr.JuryrankWarning)
        assert votes.notices[0] in jr.rank(votes).warnings
    assert jr.check(votes).to_dict()["notices"] == list(votes.remarks)


def test_a_row_with_nothing_but_a_comment_is_not_lost() -> None:
    table = "judge,winner,loser,comment\nu,a,b,\n,,,note\nu,b,a,\n,,,\n"
    assert "row 2" in complaint(lambda: read(table))


def test_absurd_weights_are_refused() -> None:
    table = "winner,loser,weight\na,b,1e300\nb,a,1\n"
    assert "1 of 2 rows has a weight" in complaint(lambda: read(table))


def test_an_empty_file_name() -> None:
    assert "empty" in complaint(lambda: jr.read_votes(""))


def test_a_cross_table_does_not_say_who_was_on_the_left() -> None:
    text = "Name,1,2,3\ntea,X,1,\u00bd\nmilk,0,X,1\ncoffee,\u00bd,0,X\n"
    votes = jr.read_votes(io.BytesIO(text.encode()))
    assert votes.n_pairs == 3
    assert not votes.sides_known


MORE = [f"c{number}" for number in range(200)]


def test_a_byte_order_mark_counts_for_nothing(tmp_path: Path) -> None:
    alone, twice = tmp_path / "alone.csv", tmp_path / "twice.csv"
    alone.write_bytes(codecs.BOM_UTF8)
    twice.write_bytes(2 * codecs.BOM_UTF8 + b"judge,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    with pytest.raises(jr.InputError, match=r"alone.csv is empty"):
        jr.read_votes(alone)
    assert jr.read_votes(twice).judges.to_list() == ["ann", "bob"]


@pytest.mark.parametrize("separator", [",", " | "])
def test_blank_lines_of_a_wide_table_are_no_rows(tmp_path: Path, separator: str) -> None:
    blank = separator.strip() * (len(MORE) + 2)
    rows = [["judge", "winner", "loser", *MORE], ["ann", "tea", "milk", *MORE]]
    first, second = (separator.join(row) for row in rows)
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([first, blank, second, "", second]) + "\n")
    votes = jr.read_votes(path)
    assert (votes.judges.to_list(), len(votes)) == (["ann"], 2)


@pytest.mark.parametrize("separator", [",", " | "])
def test_a_wide_table_with_a_longer_row_is_told_of_it(tmp_path: Path, separator: str) -> None:
    names = ["judge", "winner", "loser", *MORE]
    path = tmp_path / "wide.csv"
    path.write_text(f"{separator.join(names)}\n{separator.join([*names, 'more'])}\n")
    with pytest.raises(jr.InputError, match=r"1 of 1 rows has more fields .* 203: row 1 \(204\)"):
        jr.read_votes(path)


def test_one_outcome_in_three_columns_of_a_wide_table(tmp_path: Path) -> None:
    names = ["model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie", *MORE]
    rows = [names, ["tea", "milk", "1", "0", "0", *MORE], ["tea", "milk", "0", "1", "0", *MORE]]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(map(",".join, rows)) + "\n")
    assert len(jr.read_votes(path)) == 2


def test_scores_of_both_sides_are_found_in_any_column(tmp_path: Path) -> None:
    names = ["home", "away", *MORE, "played"]
    rows = [names, ["tea", "milk", *MORE, "3-1"], ["milk", "tea", *MORE, "2-0"]]
    path = tmp_path / "games.csv"
    path.write_text("\n".join(map(",".join, rows)) + "\n")
    assert len(jr.read_votes(path)) == 2


VOTES = {"judge": ["ann", "bob"], "winner": ["x", "y"], "loser": ["y", "x"]}
MONTHS = pd.period_range("2024-01", periods=2, freq="M")


@pytest.mark.parametrize("column", ["judge", "winner", "weight"])
def test_a_type_of_another_library_is_refused_where_it_counts(column: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(VOTES | {column: MONTHS})
    path = tmp_path / "votes.parquet"
    frame.to_parquet(path)
    for votes in (lambda: jr.votes_from(frame), lambda: jr.read_votes(path)):
        said = complaint(votes)
        assert f"The column '{column}' holds values of the type pandas.period" in said


def test_a_type_of_another_library_in_a_column_that_is_not_used() -> None:
    assert len(jr.votes_from(pd.DataFrame(VOTES | {"month": MONTHS}))) == 2


def test_ties_and_conditions_on_a_type_of_another_library() -> None:
    frame = pd.DataFrame(VOTES | {"tie": MONTHS})
    assert "'tie', which tells ties, holds values" in complaint(lambda: jr.votes_from(frame))
    said = complaint(lambda: jr.votes_from(frame, where="tie == 'x'"))
    assert "holds values of the type pandas.period, and --where compares text" in said


def test_a_type_that_polars_does_not_know_gives_one_message(
    capfd: pytest.CaptureFixture[str],
) -> None:
    most = pa.array([Decimal(1), Decimal(2)], pa.decimal256(70, 2))
    frame = pa.table(VOTES | {"weight": most})
    assert "does not know the type of one of its columns" in complaint(lambda: jr.votes_from(frame))
    assert capfd.readouterr().err == ""


def test_a_lazy_frame_without_the_column_that_it_selects() -> None:
    scan = pl.LazyFrame(VOTES).select("nobody")
    assert "The data frame cannot be read: unable to find column" in complaint(
        lambda: jr.votes_from(scan)
    )


def test_columns_that_are_named_by_numbers() -> None:
    frame = pd.DataFrame([("ann", "x", "y", "de"), ("bob", "y", "x", "de")])
    by_number: dict[str, Any] = {"judge": 0, "winner": 1, "loser": 2}
    assert jr.votes_from(frame, **by_number).judges.to_list() == ["ann", "bob"]
    third: Any = 3
    with pytest.warns(jr.JuryrankWarning):
        rankings = jr.rank(frame.set_axis(["judge", "winner", "loser", 3], axis=1), by=third)
    assert list(rankings) == ["de"]
    several: dict[str, Any] = {"judge": ["ann"]}
    said = complaint(lambda: jr.votes_from(frame, **several))
    assert said == "judge=['ann'] must be the name of a column."


def test_whole_numbers_and_others_in_one_list() -> None:
    votes = jr.votes_from(VOTES | {"weight": [1, 0.5]})
    assert votes.weight.tolist() == [1, 0.5]


@pytest.mark.parametrize("weights", [[2**60 + 1, 0.5], [True, 0.5], ["1", 0.5]])
def test_a_list_that_no_column_of_numbers_holds(weights: list[object]) -> None:
    assert "mixes types" in complaint(lambda: jr.votes_from(VOTES | {"weight": weights}))
