from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import juryrank as jr
from juryrank.cli.app import app


def read(text: str) -> jr.Votes:
    return jr.read_votes(io.BytesIO(text.encode()))


def test_votes_of_two_files_are_as_if_they_had_been_in_one() -> None:
    one = "judge,left,right,winner\nann,x,y,left\nbob,y,z,tie\n"
    other = "ann,z,x,right\ncat,x,w,left\n"
    joined = jr.join_votes(read(one), read(one.split("\n", 1)[0] + "\n" + other))
    together = read(one + other)
    assert joined.items.equals(together.items)
    assert joined.judges.equals(together.judges)
    for name in ("start", "left", "right", "outcome", "weight"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(together, name))
    assert joined.sides_known


def test_sides_are_known_only_if_they_are_for_all() -> None:
    sides = read("left,right,winner\nx,y,left\n")
    assert not jr.join_votes(sides, read("winner,loser\nx,y\n")).sides_known


def test_numbers_and_text_become_text() -> None:
    joined = jr.join_votes(read("winner,loser\n1,2\n"), read("winner,loser\n1,a\n"))
    assert joined.items.to_list() == ["1", "2", "a"]


def test_what_was_left_out_stays_counted() -> None:
    bad = jr.read_votes(io.BytesIO(b"winner,loser\nx,x\nx,y\n"))
    joined = jr.join_votes(bad, bad)
    assert joined.left_out.self_comparisons == 2
    assert len(joined.left_out.sentences) == 2


def test_nothing_to_join_is_an_error() -> None:
    with pytest.raises(jr.InputError, match="no votes to join"):
        jr.join_votes()


def test_what_is_no_votes_is_refused() -> None:
    votes = read("winner,loser\nx,y\n")
    with pytest.raises(jr.InputError, match="cannot be taken from a value of type int"):
        jr.concat_votes(votes, 3)
    with pytest.raises(jr.InputError, match="no votes to join"):
        jr.concat_votes([])


def test_votes_may_be_given_one_by_one_or_in_a_list() -> None:
    votes = read("winner,loser\nx,y\n")
    rows = [{"winner": "y", "loser": "z"}]
    for joined in (
        jr.concat_votes(votes, rows),
        jr.concat_votes([votes, rows]),
        jr.join_votes(votes, rows),
        jr.join_votes((votes, rows)),
    ):
        assert joined.items.to_list() == ["x", "y", "z"]
    assert jr.concat_votes(rows).items.to_list() == ["y", "z"]


def test_rows_of_several_files_are_different_judges(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("ranking\na > b > c\nc > b > a\n")
    files = [str(tmp_path / name) for name in ("one.csv", "two.csv")]
    result = CliRunner().invoke(app, ["check", *files, "--judge-per-row", "--json"])
    assert json.loads(result.stdout)["judges"] == 4
