"""Columns of two items by their names, and outcomes that are mistaken for items."""

from __future__ import annotations

from io import BytesIO

import pytest

import juryrank as jr
from juryrank.reading.names import side_pairs
from juryrank.reading.outcome_words import statement


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["script_left", "script_right"], [("script_left", "script_right")]),
        (["Left essay", "Right essay"], [("Left essay", "Right essay")]),
        (["scriptA", "scriptB"], [("scriptA", "scriptB")]),
        (["thing_l", "thing_r"], [("thing_l", "thing_r")]),
        (["score_a", "score_b", "judge_a", "judge_b"], []),
        (["file_a", "file_b", "poem_a", "poem_b"], [("file_a", "file_b")]),
        (["poem_right", "poem"], []),
    ],
)
def test_pairs_of_columns(names: list[str], pairs: list[tuple[str, str]]) -> None:
    assert side_pairs(names) == pairs


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("1-0", 1), ("0 - 1", -1), ("1/2-1/2", 0), ("½-½", 0), ("0.5:0.5", 0), ("0,5-0,5", 0),
        ("1-1", None), ("0-0", None), ("1/2-1", None), ("L", 1), ("r", -1), ("L>R", 1),
        ("R>L", -1), ("L>B", None),
    ],
)  # fmt: skip
def test_results_and_letters(word: str, said: int | None) -> None:
    assert statement(word) == said


def test_the_other_side_goes_with_the_one_that_is_named() -> None:
    table = b"judge,thisLeft,thisRight,thatLeft,thatRight,choice\na,x,y,1,2,left\nb,y,x,1,2,left\n"
    with pytest.raises(jr.InputError, match="2 columns that may be the left item"):
        jr.read_votes(BytesIO(table))
    votes = jr.read_votes(BytesIO(table), left="thisLeft")
    assert votes.items.to_list() == ["x", "y"]


def test_winners_and_losers_go_before_pairs_of_columns() -> None:
    table = b"winner,loser,poem_left,poem_right\nx,y,1,2\ny,x,3,4\n"
    assert jr.read_votes(BytesIO(table)).reading[0].ignored == ("poem_left", "poem_right")


@pytest.mark.parametrize("memory", [None, "1MB"])
def test_outcomes_are_no_winners(memory: str | None) -> None:
    table = b"one,winner,loser\npoem,1,song\nsong,2,poem\n"
    with pytest.raises(jr.InputError, match="look like outcomes"):
        jr.read_votes(BytesIO(table), memory=memory)


@pytest.mark.parametrize(
    "rows",
    [b"A,B\nA,C\n", b"1,2\n1,3\n", b"L,R\nL,x\n", b"L,x\nx,L\n", b"0,10\n1,11\n", b"a,c\nb,d\n"],
)
def test_items_that_are_called_like_outcomes_may_win(rows: bytes) -> None:
    assert len(jr.read_votes(BytesIO(b"winner,loser\n" + rows))) == 2
