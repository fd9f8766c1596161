"""Input that is odd in ways users meet: what is kept, what is said."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import polars as pl
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
