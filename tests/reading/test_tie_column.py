"""A column that tells ties, beside who won, is read; nothing of it is ignored."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

import juryrank as jr

WINS = "judge,winner,loser,is_tie\na,x,y,{no}\nb,x,y,{yes}\nc,y,z,{no}\n"


@pytest.mark.parametrize(
    ("yes", "no"), [("true", "False"), ("1", "0"), ("Yes", "no"), ("x", ""), (" tie ", "")]
)
def test_ties_beside_winner_and_loser(yes: str, no: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(WINS.format(yes=yes, no=no))
    votes = jr.read_votes(path)
    assert votes.outcome.tolist() == [1, 0, 1]
    assert not votes.sides_known
    assert "(judge, winner, loser, tie = is_tie)" in str(votes.reading[0])
    assert votes.reading[0].ignored == ()
    larger = jr.read_votes(path, memory="1MB")
    assert larger.outcome.tolist() == [1, 0, 1]
    assert not larger.sides_known


def test_ties_beside_an_outcome() -> None:
    table = b"""\
judge,model_a,model_b,winner,tie
a,x,y,model_b,no
b,x,y,x,yes
c,y,z,,1
d,y,z,both_bad,1
e,y,z,tie,0
"""
    votes = jr.read_votes(BytesIO(table))
    assert votes.outcome.tolist() == [-1, 0, 0, 0, 0]
    assert votes.both_bad == 1
    assert votes.sides_known


def test_what_is_neither_yes_nor_no_is_complained_about() -> None:
    table = b"judge,winner,loser,tie\na,x,y,0\nb,x,y,maybe\nc,y,z,\n"
    with pytest.raises(
        jr.InputError,
        match=r"2 of 3 rows .* 'tie: maybe' \(row 2\), 'tie: nothing' \(row 3\)",
    ):
        jr.read_votes(BytesIO(table))
    mapped = {"tie: maybe": "tie", "tie: nothing": "left"}
    assert jr.read_votes(BytesIO(table), outcome_map=mapped).outcome.tolist() == [1, 0, 1]


def test_the_draw_of_a_tournament_is_no_tie() -> None:
    frame = pl.DataFrame({"winner": ["x", "y"], "loser": ["y", "x"], "draw": [17, 64]})
    assert jr.votes_from(frame).reading[0].ignored == ("draw",)
    with pytest.raises(jr.InputError, match="'draw: 17'"):
        jr.votes_from(frame, tie="draw")


def test_a_tie_column_of_another_name_and_blank_lines() -> None:
    frame = {"winner": ["x", "y"], "loser": ["y", "x"], "unentschieden": [True, False]}
    assert jr.votes_from(frame, tie="unentschieden").outcome.tolist() == [0, 1]
    blank = b"winner,loser,tie\nx,y,x\n,,\ny,x,\n"
    assert jr.read_votes(BytesIO(blank)).outcome.tolist() == [0, 1]


def test_several_tie_columns_are_asked_about() -> None:
    table = b"winner,loser,tied,draw\nx,y,1,0\n"
    with pytest.raises(jr.InputError, match="2 columns that may be whether it is a tie"):
        jr.read_votes(BytesIO(table))
