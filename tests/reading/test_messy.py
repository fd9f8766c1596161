"""Files as real tools write them: each is read as what it is, or refused with the way out."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from messy_files import CSV, ORDER, Messy, archive, messy_files, workbook

import juryrank as jr
from juryrank.reading import archives
from juryrank.votes.votes import Votes

FILES = messy_files()
READ = [messy for messy in FILES if messy.votes]
REFUSED = [messy for messy in FILES if not messy.votes]


def by_share_of_wins(votes: Votes) -> list[object]:
    """Order the items, but for those that are only there as makeweights, by their wins."""
    wins = votes.in_pairs().for_model().pairs
    won = np.bincount(wins.winner, weights=wins.weight, minlength=votes.n_items)
    lost = np.bincount(wins.loser, weights=wins.weight, minlength=votes.n_items)
    share = dict(zip(votes.items, won / (won + lost), strict=True))
    return sorted((item for item in share if item in ORDER), key=lambda item: -share[item])


@pytest.mark.parametrize("messy", READ, ids=lambda messy: messy.name)
def test_is_read(messy: Messy, tmp_path: Path) -> None:
    path = tmp_path / messy.name
    path.write_bytes(messy.content)
    votes = jr.read_votes(path, **messy.options)
    assert by_share_of_wins(votes) == ORDER
    assert (len(votes), votes.n_judges) == (messy.votes, messy.judges)
    for words in messy.says:
        assert words in str(votes.reading[0])


@pytest.mark.parametrize("messy", REFUSED, ids=lambda messy: messy.name)
def test_is_refused(messy: Messy, tmp_path: Path) -> None:
    path = tmp_path / messy.name
    path.write_bytes(messy.content)
    with pytest.raises(jr.InputError) as caught:
        jr.read_votes(path, **messy.options)
    for words in messy.says:
        assert words in str(caught.value)


def test_what_is_read_is_also_ranked(tmp_path: Path) -> None:
    path = tmp_path / "votes.zip"
    path.write_bytes(archive({"votes.csv": CSV.encode("cp1252")}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jr.JuryrankWarning)
        ranking = jr.rank(jr.read_votes(path))
    assert ranking.items["item"].to_list() == ORDER
    assert "Windows-1252" in ranking.to_dict()["reading"][0]["remarks"][0]


def test_our_own_workbooks_can_be_read(tmp_path: Path) -> None:
    votes = jr.simulate(4, 3, votes_per_judge=20, seed=1).votes
    votes.write_excel(tmp_path / "votes.xlsx")
    votes.write_csv(tmp_path / "votes.csv")
    sheet, text = (jr.read_votes(tmp_path / f"votes.{kind}") for kind in ("xlsx", "csv"))
    assert sheet.items.equals(text.items)
    assert sheet.outcome.tolist() == text.outcome.tolist()


def test_a_spreadsheet_without_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    path.write_bytes(workbook({"Votes": [("winner", "loser"), ("a", "b")]}))
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(jr.InputError, match=r"pip install fastexcel.*as CSV"):
        jr.read_votes(path)


def test_an_archive_that_would_unpack_to_too_much() -> None:
    bomb = archive({"votes.csv": b"winner,loser\n" + b"a,b\n" * 100_000})
    assert len(bomb) < 2_000
    with pytest.raises(jr.InputError, match="unpack it and give the folder"):
        archives.unpacked("bomb.zip", bomb, unpack_all=False, most_bytes=100_000)
    unpacked = archives.unpacked("bomb.zip", bomb, unpack_all=True, most_bytes=100_000)
    assert len(unpacked.files) == 1


def test_an_archive_that_lies_about_its_size() -> None:
    packed = archive({"votes.csv": b"winner,loser\n" + b"a,b\n" * 1000})
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        size = opened.infolist()[0].file_size
    lie = packed.replace(size.to_bytes(4, "little"), (20).to_bytes(4, "little"))
    with pytest.raises(jr.InputError, match="cannot be unpacked"):
        jr.read_votes(io.BytesIO(lie))


def test_an_archive_with_a_password() -> None:
    packed = bytearray(archive({"votes.csv": CSV}))
    for header, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(header) + flag] |= 1
    with pytest.raises(jr.InputError, match="it has a password"):
        jr.read_votes(io.BytesIO(bytes(packed)))


@pytest.mark.parametrize("at", [0, 1 << 17, (1 << 20) - 1])
def test_a_byte_that_is_not_utf8_is_found_wherever_it_is(at: int, tmp_path: Path) -> None:
    text = "winner,loser\n" + "tea,milk\n" * (at // 9) + "Zoë,tea\ntea,Zoë"
    path = tmp_path / "votes.csv"
    path.write_bytes(text.encode("cp1252"))
    assert jr.read_votes(path).items.to_list()[0] in ("Zoë", "milk")
    path.write_bytes(text.encode())
    assert jr.read_votes(path).reading[0].remarks == ()


def test_ratings_are_compared_within_a_judge_and_context() -> None:
    frame: dict[str, list[object]] = {
        "judge": ["u", "u", "u", "u", "v", "w"],
        "prompt": ["p", "p", "q", "q", "p", "p"],
        "item": ["a", "b", "a", "b", "a", "b"],
        "rating": [5, 3, 2, 2, 1, 5],
    }
    votes = jr.votes_from(frame)
    assert votes.judges.to_list() == ["u"]
    assert votes.outcome.tolist() == [1, 0]
    assert not votes.sides_known
    assert votes.left_out.sentences == (
        "Left out: 2 of 6 rows, with the only rating of their judge and context; first row 5.",
    )
    assert jr.votes_from(frame, lower_is_better=True).left.tolist()[0] == 1
    anonymous = {name: column[:4] for name, column in frame.items() if name != "judge"}
    assert jr.votes_from(anonymous, judge_per_row=True).judges.to_list() == [1, 2]


def test_an_unanswered_row_of_a_survey_is_counted() -> None:
    frame = {"Rank them [a]": ["1", None, "2"], "Rank them [b]": ["2", "", "1"]}
    votes = jr.votes_from(frame)
    assert len(votes) == 2
    assert votes.left_out.sentences == ("Left out: 1 of 3 rows, without any answer; first row 2.",)


def test_the_same_is_said_of_votes_larger_than_memory(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("rater,winner,loser,note\nu,a,b,x\nu,b,a,y\nu,N/A,a,y\n")
    with pytest.raises(jr.InputError) as small:
        jr.read_votes(path)
    with pytest.raises(jr.InputError) as large:
        jr.read_votes(path, memory="1MB")
    assert str(small.value) == str(large.value)
    one, other = (jr.read_votes(path, na_is_name=True, memory=size) for size in (None, "1MB"))
    assert one.reading == other.reading
    assert one.items.equals(other.items)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"cells": "rating"}, "omit --cells"),
        ({"counts": "columns"}, "omit --counts"),
        ({"lower_is_better": True}, "omit --lower-is-better"),
        ({"sheet": "Votes"}, "omit --sheet"),
        ({"cells": "stars"}, "must be 'position' or 'rating'"),
        ({"counts": "both"}, "must be 'rows' or 'columns'"),
    ],
)
def test_what_does_not_apply_is_not_ignored(option: dict[str, Any], said: str) -> None:
    with pytest.raises(jr.InputError, match=said):
        jr.read_votes(io.BytesIO(CSV.encode()), **option)


def test_wins_that_are_noted_beside_an_outcome_are_ignored() -> None:
    table = b"model_a,model_b,winner,wins_a,wins_b\nx,y,model_a,7,9\nx,y,model_b,7,9\n"
    votes = jr.read_votes(io.BytesIO(table))
    assert votes.outcome.tolist() == [1, -1]
    assert votes.reading[0].ignored == ("wins_a", "wins_b")


def test_a_frame_of_counts() -> None:
    votes = jr.votes_from(pl.DataFrame({"": ["a", "b"], "a": [0, 3], "b": [7, 0]}))
    assert votes.weight.tolist() == [7, 3]


@pytest.mark.parametrize("odd", ["60/100", "80%", "12:30", "2024-01-01", "3-5"])
def test_what_only_begins_with_a_number_is_no_rating(odd: str) -> None:
    frame = pl.DataFrame(
        {
            "judge": ["a", "a", "a", "b", "b"],
            "item": ["x", "y", "z", "x", "y"],
            "rating": ["4/5", "3/5", odd, "5/5 (best)", "2/5"],
        }
    )
    with pytest.raises(jr.InputError, match="rating that is not a number"):
        jr.votes_from(frame)
    assert len(jr.votes_from(frame, skip_bad=True)) == 2


def test_names_that_no_column_holds_are_answered(tmp_path: Path) -> None:
    """A number of 65 bits, a duration, a file name that is not UTF-8, an encoding that is none."""
    large = tmp_path / "large.jsonl"
    large.write_text('{"judge":"a","winner":9223372036854775808,"loser":"y"}\n')
    with pytest.raises(jr.InputError, match="different types"):
        jr.read_votes(large)
    frame = pl.DataFrame({"judge": ["a"], "winner": ["x"], "loser": ["y"]})
    with pytest.raises(jr.InputError, match="holds durations"):
        jr.votes_from(frame.with_columns(weight=pl.duration(days=1)))
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv"))
    odd.write_bytes(b"judge,winner,loser\na,x,y\nb,y,x\n")
    assert jr.read_votes(odd).reading[0].source == "caf\\xe9.csv"
    with pytest.raises(jr.InputError, match="no encoding 'rot13'"):
        jr.read_votes(odd, encoding="rot13")


@pytest.mark.parametrize("make", [pd.DataFrame, dict])
def test_a_column_that_mixes_types_stops_the_read_only_if_it_is_used(make: Any) -> None:
    mixed = make({"winner": ["a", "b"], "loser": ["b", "a"], "note": [1, "x"], "more": [{1}, None]})
    votes = jr.votes_from(mixed)
    assert votes.reading[0].ignored == ("note", "more")
    assert votes.items.to_list() == ["a", "b"]
    used = make({"winner": ["a", 1], "loser": ["b", "a"]})
    with pytest.raises(jr.InputError, match=r"column 'winner' mixes types \(int, str\)"):
        jr.votes_from(used)
    options: list[dict[str, Any]]
    options = [{"where": "note == 1"}, {"by": "note"}, {"weight": "note"}, {"tie": "note"}]
    for option in options:
        with pytest.raises(jr.InputError, match="types"):
            jr.votes_from(mixed, **option)


@pytest.mark.parametrize("name", ["a\U0001f600", "a\\\\ud83d", "\u00e9\U0001f44d\U0001f3fd"])
def test_whole_characters_in_json_are_no_halves(name: str) -> None:
    records = [{"winner": name, "loser": "b"}, {"winner": "b", "loser": name}]
    lines = "\n".join(map(json.dumps, records))
    for text in (json.dumps(records), lines):
        assert name in jr.read_votes(io.BytesIO(text.encode())).items.to_list()


def test_lists_beside_a_column_that_mixes_types() -> None:
    frame = pd.DataFrame({"ranking": [["a", "b"], ["b", ["a", "c"]]], "note": [1, "x"]})
    assert len(jr.votes_from(frame)) == 2


@pytest.mark.parametrize(
    "frame",
    [
        {"winner": ["a\ud83d", "a\ud83c"], "loser": ["b", "b"]},
        [{"winner": "a\ud83d", "loser": "b"}],
    ],
)
def test_half_a_character_in_a_frame(frame: object) -> None:
    with pytest.raises(jr.InputError, match="half of a character"):
        jr.votes_from(frame)


def test_commas_in_the_name_of_the_only_item_ranked_part_nothing() -> None:
    frame = {"ranking": ["Doe, Jo", "Roe, Al"], "options": ["Doe, Jo|Roe, Al", "Doe, Jo|Roe, Al"]}
    assert jr.votes_from(frame).items.to_list() == ["Doe, Jo", "Roe, Al"]
    without = jr.votes_from({"ranking": ["tea, milk", "milk, tea", "tea"]}, skip_bad=True)
    assert without.items.to_list() == ["milk", "tea"]
    assert "with , between the items, the best first" in str(without.reading[0])
