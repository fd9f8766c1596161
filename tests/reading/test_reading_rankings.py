"""Reading rankings, best k of a set and choices: every way to write them, and what is refused."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading_help import Ranking, assert_same, bytes_of, complaint, encoded, rankings, read, rows

from juryrank.errors import InputError
from juryrank.reading import read_votes, votes_from
from juryrank.votes.votes import LEFT_WON, TIE, Votes

Levels = list[list[str]]

JUDGES = ["v", "u", "v", "u", "v"]
RANKINGS: list[Levels] = [
    [["b"], ["c"], ["a"]],
    [["c"], ["a", "b"]],
    [["a"], ["b"]],
    [["d"], ["a"], ["c"], ["b"]],
    [["a", "c"]],
]
WANT_LISTS: list[Ranking] = [
    ("u", [["c"], ["a", "b"]], [], 1.0),
    ("u", [["d"], ["a"], ["c"], ["b"]], [], 1.0),
    ("v", [["b"], ["c"], ["a"]], [], 1.0),
]
WANT_PAIRS = [("v", "a", "b", LEFT_WON, 1.0), ("v", "a", "c", TIE, 1.0)]


def as_text(ranking: Levels) -> str:
    return " > ".join(" = ".join(level) for level in ranking)


def as_mixed(ranking: Levels) -> list[object]:
    """A list of items, with lists where they are tied."""
    return [level[0] if len(level) == 1 else level for level in ranking]


def as_json(ranking: Levels) -> str:
    return json.dumps(as_mixed(ranking))


def cells(write: Callable[[Levels], object]) -> dict[str, list[object]]:
    return {"judge": list(JUDGES), "ranking": [write(ranking) for ranking in RANKINGS]}


def long_rows(rankings: list[Levels], judges: list[str], dense: bool = True) -> pl.DataFrame:
    found = []
    for number, (judge, ranking) in enumerate(zip(judges, rankings, strict=True)):
        place = 1
        for step, level in enumerate(ranking, start=1):
            at = step if dense else place
            found += [{"judge": judge, "ballot": number, "item": i, "rank": at} for i in level]
            place += len(level)
    return pl.DataFrame(found)


def csv(frame: pl.DataFrame) -> Votes:
    return read(frame.write_csv())


def check_all(votes: Votes) -> None:
    assert rankings(votes) == WANT_LISTS
    assert rows(votes) == WANT_PAIRS
    assert not votes.sides_known
    assert len(votes) == 5
    assert votes.left_out.total == 0


class TestRankingColumn:
    def test_text_and_json_in_every_format(self, tmp_path: Path) -> None:
        for write in (as_text, as_json):
            for name, content in encoded(pl.DataFrame(cells(write))).items():
                path = tmp_path / name
                path.write_bytes(content)
                check_all(read_votes(path))

    def test_text_and_json_in_one_column(self) -> None:
        table = cells(as_text)
        table["ranking"][1] = as_json(RANKINGS[1])
        check_all(votes_from(table))

    def test_lists_in_every_typed_format(self, tmp_path: Path) -> None:
        frame = pl.DataFrame(cells(lambda ranking: ranking))
        files = {
            "a.parquet": bytes_of(frame.write_parquet),
            "a.arrow": bytes_of(frame.write_ipc),
            "a.ndjson": bytes_of(frame.write_ndjson),
            "a.json": json.dumps(frame.to_dicts()).encode(),
        }
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
            check_all(read_votes(tmp_path / name))

    @pytest.mark.parametrize("write", [as_mixed, lambda ranking: ranking])
    def test_lists_of_every_library(self, write: Callable[[Levels], object]) -> None:
        table = cells(write)
        by_row = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        check_all(votes_from(table))
        check_all(votes_from(by_row))
        check_all(votes_from(pd.DataFrame(table)))
        lines = "".join(json.dumps(row) + "\n" for row in by_row)
        check_all(read_votes(io.BytesIO(lines.encode())))
        check_all(read_votes(io.BytesIO(json.dumps(by_row).encode())))
        if write is not as_mixed:
            check_all(votes_from(pa.table(table)))

    def test_plain_lists_and_arrays(self) -> None:
        frame = pl.DataFrame({"ranking": [["b", "a", "c"], ["c", "a", "b"]]})
        array = frame.cast({"ranking": pl.Array(pl.String, 3)})
        category = frame.cast({"ranking": pl.List(pl.Categorical)})
        assert_same(votes_from(frame), votes_from(array))
        assert_same(votes_from(frame), votes_from(category))
        assert_same(votes_from(frame), votes_from(frame.to_pandas()))

    def test_numbers_in_mixed_json_lists_stay_numbers(self) -> None:
        lines = b'{"ranking": [3, [1, 2]]}\n{"ranking": [1, 2, 3]}\n'
        votes = read_votes(io.BytesIO(lines))
        assert votes.items.to_list() == [1, 2, 3]
        assert rankings(votes)[0][1] == [[3], [1, 2]]

    def test_blanks_do_not_matter_in_text(self) -> None:
        assert_same(read("ranking\n a>b =  c\n"), read("ranking\na > b=c\n"))
        assert read("ranking\na>b x> c\n").items.to_list() == ["a", "b x", "c"]

    def test_numbers_as_for_pairs(self) -> None:
        assert read("ranking\n10 > 9 > 2\n").items.to_list() == [2, 9, 10]
        assert read('ranking\n"[10, 9, 2]"\n').items.to_list() == [2, 9, 10]
        assert read("ranking\n10 > 9 > x\n").items.to_list() == ["10", "9", "x"]
        assert read("ranking\n007 > 9 > 10\n").items.to_list() == ["007", "10", "9"]
        assert votes_from({"ranking": ["10 > 9 > 2"]}).items.to_list() == ["10", "2", "9"]
        assert votes_from({"ranking": [[10, 9, 2]]}).items.to_list() == [2, 9, 10]

    def test_json_items_are_as_given(self) -> None:
        votes = votes_from({"ranking": ['[" a", "b > c", "d=e"]']})
        assert rankings(votes)[0][1] == [[" a"], ["b > c"], ["d=e"]]

    @pytest.mark.parametrize("label", ["[red]x[/red]", "]x[", "{y}", "'q'"])
    def test_odd_labels_in_text(self, label: str) -> None:
        votes = votes_from({"ranking": [f"{label} > b > {label}2"]})
        assert rankings(votes)[0][1] == [[label], ["b"], [f"{label}2"]]

    @pytest.mark.parametrize("name", ["ranking", "Ranked", "order", "preference-order"])
    def test_names_of_the_column(self, name: str) -> None:
        assert len(read(f"voter,{name}\nu,a>b>c\n")) == 1

    def test_the_column_can_be_named(self) -> None:
        assert len(read("who,what\nu,a>b>c\n", judge="who", ranking="what")) == 1

    def test_weights_and_no_judge(self) -> None:
        votes = read("ranking,count\na>b>c,3\nb>a,2.5\n")
        assert rankings(votes) == [("(all)", [["a"], ["b"], ["c"]], [], 3.0)]
        assert rows(votes) == [("(all)", "b", "a", LEFT_WON, 2.5)]
        assert not votes.judges_known

    def test_an_all_tied_ranking(self) -> None:
        assert rankings(read("ranking\nc=a=b\n")) == [("(all)", [["a", "b", "c"]], [], 1.0)]

    def test_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("judge,ranking\nu,a>b>c\n")
        (tmp_path / "b.csv").write_text("judge,ranking\nu,a>b>c\nu,a>a>b\n")
        said = complaint(lambda: read_votes(tmp_path))
        assert "1 of 3 rows has an item twice in the ranking: row 2 of b.csv 'a'." in said
        assert len(read_votes(tmp_path, skip_bad=True)) == 2

    def test_the_words_of_votes(self) -> None:
        votes = votes_from(cells(as_text))
        assert repr(votes) == (
            "Votes(5 votes (2 pairs, 3 lists) by 2 judges on 4 items, 0 rows left out)"
        )


class TestSets:
    WANT = (
        [("u", [["b"], ["d"]], ["a", "c"], 1.0), ("v", [["a", "b"], ["c"]], [], 1.0)],
        [("u", "a", "e", LEFT_WON, 1.0)],
    )

    @pytest.mark.parametrize("sign", ["|", ";", ",", " | "])
    def test_text(self, sign: str) -> None:
        sets = [sign.join(some) for some in (["a", "b", "c", "d"], ["c", "b", "a"], ["e", "a"])]
        frame = pl.DataFrame(
            {"judge": ["u", "v", "u"], "ranking": ["b>d", "a=b", "a"], "options": sets}
        )
        votes = csv(frame)
        assert (rankings(votes), rows(votes)) == self.WANT

    def test_json_and_lists(self) -> None:
        sets = [["a", "b", "c", "d"], ["c", "b", "a"], ["e", "a"]]
        table = {"judge": ["u", "v", "u"], "ranking": ["b>d", "a=b", "a"]}
        for written in ([json.dumps(some) for some in sets], sets):
            votes = votes_from(table | {"shown": written})
            assert (rankings(votes), rows(votes)) == self.WANT

    def test_items_only_in_sets_are_items(self) -> None:
        assert read("ranking,options\na>b,a|b|c|d\n").items.to_list() == ["a", "b", "c", "d"]

    def test_the_column_can_be_named(self) -> None:
        votes = read("ranking,saw\na>b,a|b|c|d\n", options="saw")
        assert rankings(votes)[0][2] == ["c", "d"]

    def test_a_set_beside_places(self) -> None:
        votes = read("1st,2nd,options\na,b,a|b|c|d\n")
        assert rankings(votes) == [("(all)", [["a"], ["b"]], ["c", "d"], 1.0)]

    def test_complaints(self) -> None:
        table = (
            "ranking,options\na>x,a|b|c\nb=a,a|b|b\na,a\na>b,\na,a||c\n"
            'a,"[""a"", {}]"\na>b>c,a|b|c\n'
        )
        said = complaint(lambda: read(table))
        for part in (
            "1 of 7 rows has nothing in the column 'options': row 4.",
            "1 of 7 rows has a set that cannot be read: '[\"a\", {}]' (row 6).",
            "1 of 7 rows has an item twice in the column 'options': row 2 'b'.",
            "1 of 7 rows has an item in the ranking that is not in the column 'options': row 1 'x'",
            "1 of 7 rows has an empty item in the column 'options': row 5.",
            "has only one item: row 3 'a'",
        ):
            assert part in said
        votes = read(table, skip_bad="most")
        assert len(votes) == 1
        assert votes.left_out.bad_rows == 6


class TestChoices:
    def test_a_choice_is_the_best_of_its_set(self) -> None:
        votes = read("judge,options,choice\nu,a|b|c,b\nv,b|a,a\n")
        assert rankings(votes) == [("u", [["b"]], ["a", "c"], 1.0)]
        assert rows(votes) == [("v", "a", "b", LEFT_WON, 1.0)]
        assert not votes.sides_known

    @pytest.mark.parametrize("name", ["winner", "chosen", "choice", "answer"])
    def test_names(self, name: str) -> None:
        assert len(read(f"candidates,{name}\na|b|c,b\n")) == 1

    def test_numbers(self) -> None:
        votes = votes_from({"options": [[3, 1, 2], [1, 2]], "winner": [1, 2]})
        assert votes.items.to_list() == [1, 2, 3]
        assert read('options,winner\n"[3, 1, 2]",1\n1|2, 2\n').items.to_list() == [1, 2, 3]

    def test_words(self) -> None:
        table = "options,choice\na|b,tie\na|b|c,Both bad\na|b,skip\na|b,a\na|b,none\n"
        votes = read(table, outcome_map={"none": "both_bad"})
        assert rows(votes) == [
            ("(all)", "a", "b", TIE, 1.0),
            ("(all)", "a", "b", LEFT_WON, 1.0),
            ("(all)", "a", "b", TIE, 1.0),
        ]
        assert rankings(votes) == [("(all)", [["a", "b", "c"]], [], 1.0)]
        assert votes.both_bad == 2
        assert votes.left_out.skipped == votes.left_out.total == 1

    def test_an_item_of_the_set_is_no_word(self) -> None:
        assert rows(read("options,choice\ntie|b,tie\n")) == [("(all)", "tie", "b", LEFT_WON, 1.0)]

    def test_complaints(self) -> None:
        table = "options,choice\na|b|c,z\na|b,\na|a,tie\na|b,left\n,a\na|b,b\n"
        said = complaint(lambda: read(table))
        for part in (
            "2 of 6 rows have an item in the choice that is not in the column 'options': "
            "row 1 'z', row 4 'left'.",
            "1 of 6 rows has nothing in the column 'choice': row 2.",
            "1 of 6 rows has an item twice in the column 'options': row 3 'a'.",
            "1 of 6 rows has nothing in the column 'options': row 5.",
        ):
            assert part in said
        assert len(read(table, skip_bad="most")) == 1


class TestLongForm:
    @pytest.mark.parametrize("dense", [True, False])
    def test_positions_with_ties(self, dense: bool) -> None:
        check_all(csv(long_rows(RANKINGS, JUDGES, dense)))
        check_all(votes_from(long_rows(RANKINGS, JUDGES, dense)))

    def test_rows_in_any_order(self) -> None:
        frame = long_rows(RANKINGS, JUDGES).sort("item", "rank", descending=True)
        got = rankings(csv(frame))
        assert sorted(map(str, got)) == sorted(map(str, WANT_LISTS))

    def test_without_an_id_each_judge_gives_one_ranking(self) -> None:
        votes = read("judge,item,rank\nu,a,2\nv,b,1\nu,b,1\nv,a,2\nu,c,3\n")
        assert rankings(votes) == [("u", [["b"], ["a"], ["c"]], [], 1.0)]
        assert rows(votes) == [("v", "b", "a", LEFT_WON, 1.0)]

    def test_without_a_judge_all_are_one_judges(self) -> None:
        votes = read("race,place,item\n1,1,a\n1,2,b\n1,3,c\n2,1,b\n2,2,a\n")
        assert votes.judges.to_list() == ["(all)"]
        assert not votes.judges_known
        assert len(votes) == 2

    def test_the_same_id_of_two_judges(self) -> None:
        votes = read("judge,task,item,rank\nu,1,a,1\nv,1,a,2\nu,1,b,2\nv,1,b,1\n")
        assert [row[:3] for row in rows(votes)] == [("u", "a", "b"), ("v", "b", "a")]

    def test_the_columns_can_be_named(self) -> None:
        table = "grid,run,driver\n1,r,a\n2,r,b\n3,r,c\n"
        votes = read(table, position="grid", ranking="run", item="driver")
        assert rankings(votes)[0][1] == [["a"], ["b"], ["c"]]
        votes = read("judge,item,ranking\nu,a,1\nu,b,2\n", position="ranking")
        assert len(votes) == 1

    def test_whole_floats_of_pandas(self) -> None:
        frame = pd.DataFrame({"judge": ["u", "u"], "item": ["a", "b"], "rank": [1.0, 2.0]})
        assert len(votes_from(frame)) == 1

    def test_weights(self) -> None:
        table = "judge,item,rank,weight\nu,a,1,2\nu,b,2,2\nu,c,3,2\n"
        assert rankings(read(table))[0][3] == 2.0
        said = complaint(lambda: read(table.replace("c,3,2", "c,3,4")))
        assert "another weight than the first row of their ranking: '4' (row 3)" in said

    BAD = (
        "judge,item,rank\n"
        "u,a,1\nu,b,2\n"
        "gap,a,1\ngap,b,3\ngap,c,4\n"
        "late,a,2\nlate,b,3\n"
        "mixed,a,1\nmixed,b,1\nmixed,c,2\nmixed,d,2\nmixed,e,5\n"
        "no,a,best\nno,b,2\nno,c,0\nno,d,1.25\n"
        "twice,a,1\ntwice,a,2\ntwice,b,3\n"
        "lost,a,1\nlost,,2\n"
        ",a,1\n"
        "one,a,1\n"
    )

    def test_complaints(self) -> None:
        said = complaint(lambda: read(self.BAD))
        for part in (
            "3 of 23 rows have a position after a gap in its ranking: row 4 '3', row 6 '2', "
            "row 10 '2'.",
            "3 of 23 rows have a position that is not a positive whole number: 'best' (row 13), "
            "'0' (row 15), '1.25' (row 16).",
            "1 of 23 rows has an item twice in one ranking: row 18 'a'.",
            "1 of 23 rows has an empty item in one ranking: row 21.",
            "1 of 23 rows has nothing in the column 'judge': row 22.",
            "1 of 23 rows has only one item: row 23 'a'.",
        ):
            assert part in said

    def test_the_whole_ranking_is_left_out(self) -> None:
        votes = read(self.BAD, skip_bad="most")
        assert rows(votes) == [("u", "a", "b", LEFT_WON, 1.0)]
        assert votes.left_out.bad_rows == 21
        assert votes.left_out.sentences[0] == (
            "Left out: 21 of 23 rows (91%) in all, "
            "since a ranking with a bad row is left out whole."
        )

    def test_nothing_tells_rankings_apart(self) -> None:
        said = complaint(lambda: read("item,rank\na,1\nb,2\n"))
        assert "--judge (judge=...)" in said
        assert "--ranking (ranking=...)" in said

    def test_a_missing_item_column(self) -> None:
        said = complaint(lambda: read("race,position,jockey\n1,1,a\n1,2,b\n"))
        assert "no column for the item" in said
        assert "--item" in said

    def test_two_ids_are_a_question(self) -> None:
        said = complaint(lambda: read("task,session,item,rank\n1,1,a,1\n1,1,b,2\n"))
        assert "2 columns that may be the ranking an item's row belongs to: task, session" in said
        assert "--ranking task" in said


class TestWideForm:
    @pytest.mark.parametrize(
        "header",
        [
            "1st,2nd,3rd",
            "1st choice,2nd choice,3rd choice",
            "rank_1,rank_2,rank_3",
            "rank1,rank2,rank3",
            "Choice 1,Choice 2,Choice 3",
            "position_1,position_2,position_3",
            "first,second,third",
        ],
    )
    def test_headers(self, header: str) -> None:
        votes = read(f"judge,{header}\nu,b,a,c\nv,a,b,\n")
        assert rankings(votes) == [("u", [["b"], ["a"], ["c"]], [], 1.0)]
        assert rows(votes) == [("v", "a", "b", LEFT_WON, 1.0)]

    def test_more_than_ten_places(self) -> None:
        names = [f"rank_{place}" for place in range(12, 0, -1)]
        items = "abcdefghijkl"[::-1]
        votes = read(f"{','.join(names)}\n{','.join(items)}\n")
        assert rankings(votes)[0][1] == [[item] for item in "abcdefghijkl"]

    def test_numbers(self) -> None:
        votes = votes_from({"1st": [1, 2], "2nd": [2, 3], "3rd": [None, 1]})
        assert votes.items.to_list() == [1, 2, 3]
        assert votes_from(pd.DataFrame({"1st": [1, 2], "2nd": [2, 3], "3rd": [None, 1]})).n_items

    def test_sides_are_still_sides(self) -> None:
        votes = read("judge,first,second,winner\nu,a,b,second\n")
        assert votes.sides_known
        assert "no column for the outcome" in complaint(lambda: read("first,second\na,b\n"))
        assert complaint(lambda: read("choice_1,choice_2,choice_3,answer\na,b,c,b\n"))

    def test_two_rows_of_places(self) -> None:
        header, cells = "1st,2nd,rank_1,rank_2", "a,b,b,a"
        assert "1st, 2nd; rank_1, rank_2" in complaint(lambda: read(f"{header}\n{cells}\n"))
        assert len(read(f"winner,loser,{header}\na,b,{cells}\n")) == 1

    def test_complaints(self) -> None:
        table = "judge,1st,2nd,3rd\nu,a,,c\nv,a,,\nw,a,b,a\n,a,b,c\nu,,,\nu,,b,\nu,a,b,c\n"
        said = complaint(lambda: read(table))
        for part in (
            "1 of 7 rows has an empty ranking: row 5.",
            "2 of 7 rows have an empty rank before a filled one: row 1, row 6.",
            "1 of 7 rows has nothing in the column 'judge': row 4.",
            "1 of 7 rows has an item twice in the ranking: row 3 'a'.",
            "row 2 'a'",
        ):
            assert part in said
        assert len(read(table, skip_bad="most")) == 1


class TestComplaints:
    def test_bad_rankings(self) -> None:
        frame = {
            "judge": ["u", "u", "u", "u", "u", "", "u", "u", "u"],
            "ranking": [
                "a > a > c", "b = > c", '["a", ["b", "c"]', "a", " ", "a > b", "[1, 2",
                '["a", {"b": 1}]', "a > b > c",
            ],
            "weight": [1, 1, 1, 1, 1, 1, 0, 1, 1],
        }  # fmt: skip
        said = complaint(lambda: votes_from(frame))
        for part in (
            "1 of 9 rows has an empty ranking: row 5.",
            "1 of 9 rows has nothing in the column 'judge': row 6.",
            "1 of 9 rows has an item twice in the ranking: row 1 'a'.",
            "1 of 9 rows has an empty item in the ranking: row 2.",
            "'0' (row 7)",
            "Write a > b > c, with = for ties",
            "--skip-bad",
        ):
            assert part in said
        assert '\'["a", {"b": 1}]\' (row 8)' in said
        votes = votes_from(frame, skip_bad="most")
        assert rankings(votes) == [("u", [["a"], ["b"], ["c"]], [], 1.0)]
        assert votes.left_out.bad_rows == 8

    def test_bad_lists(self) -> None:
        frame = {"ranking": [["a", None, "b"], [], None, ["a"], ["a", "b", "a"], ["a", "b"]]}
        said = complaint(lambda: votes_from(frame))
        assert "2 of 6 rows have an empty ranking: row 2, row 3." in said
        assert "an empty item in the ranking: row 1." in said
        assert "only one item: row 4 'a'" in said
        assert "an item twice in the ranking: row 5 'a'" in said

    def test_an_empty_tie(self) -> None:
        frame = {"ranking": [[["a"], [], ["b"]], [["a"], ["b", "c"]]]}
        assert "an empty item in the ranking: row 1." in complaint(lambda: votes_from(frame))

    @pytest.mark.parametrize("column", [[1, 2], [[["a", ["b"]]]], [{"a": 1}]])
    def test_columns_that_are_no_rankings(self, column: list[object]) -> None:
        assert complaint(lambda: votes_from({"ranking": column}))

    def test_several_shapes(self) -> None:
        said = complaint(lambda: read("ranking,options,winner\na>b,a|b,a\n"))
        assert "may be read in 2 ways" in said
        assert "--ranking" in said
        assert "--winner" in said
        assert len(read("ranking,options,winner\na>b,a|b,a\n", ranking="ranking")) == 1
        assert len(read("ranking,options,winner\na>b,a|b,a\n", winner="winner")) == 1
        said = complaint(lambda: read("ranking,1st,2nd\na>b,a,b\n"))
        assert "one column per rank (1st, 2nd)" in said

    def test_columns_that_do_not_go_together(self) -> None:
        act = lambda: read("a,b,c\nx,y,z\n", loser="a", ranking="b")  # noqa: E731
        assert "No kind of vote has all these columns: loser='a', ranking='b'" in complaint(act)

    def test_pairs_go_before_all_else(self) -> None:
        table = "judge,winner,loser,ranking,options,item,rank\nu,a,b,1,a|b,q,1\n"
        assert rows(read(table)) == [("u", "a", "b", LEFT_WON, 1.0)]

    def test_no_outcomes_to_map(self) -> None:
        act = lambda: read("ranking\na>b\n", outcome_map={"x": "tie"})  # noqa: E731
        assert "no outcome column to map" in complaint(act)

    def test_different_types_in_ranking_and_set(self) -> None:
        frame = {"ranking": [[1, 2]], "options": [["1", "2", "3"]]}
        assert "different types" in complaint(lambda: votes_from(frame))


class TestJudgePerRow:
    def test_rankings_and_pairs(self) -> None:
        votes = read("ranking\na>b>c\nb>a\nc>a>b\n", judge_per_row=True)
        assert votes.judges.to_list() == [1, 2, 3]
        assert votes.judges_known
        assert votes.start.tolist() == [0, 0, 1, 1]
        assert votes.lists.start.tolist() == [0, 1, 1, 2]
        assert read("winner,loser\na,b\nb,a\n", judge_per_row=True).n_judges == 2

    def test_rows_left_out_keep_their_numbers(self) -> None:
        votes = read("ranking\na>a\nb>a\n", judge_per_row=True, skip_bad=True)
        assert votes.judges.to_list() == [2]

    def test_a_judge_column_is_passed_over_unless_it_is_named(self) -> None:
        assert read("judge,ranking\nu,a>b\nu,b>a\n", judge_per_row=True).n_judges == 2
        act = lambda: read("judge,ranking\nu,a>b\n", judge="judge", judge_per_row=True)  # noqa: E731
        assert "but not both" in complaint(act)

    def test_long_form(self) -> None:
        votes = read("race,item,rank\n7,a,1\n7,b,2\n5,b,1\n5,a,2\n", judge_per_row=True)
        assert [(row[0], row[1]) for row in rows(votes)] == [(1, "a"), (2, "b")]


class TestOutcomesOfPairs:
    def test_both_bad_is_a_tie_that_is_counted(self) -> None:
        words = ["tie", "both_bad", "tie (bothbad)", "Neither", "left", "bothbad"]
        votes = votes_from({"left": ["a"] * 6, "right": ["b"] * 6, "winner": words})
        assert votes.outcome.tolist() == [TIE] * 4 + [LEFT_WON, TIE]
        assert votes.both_bad == 4

    def test_the_map(self) -> None:
        words = ["meh", "left", "pass"]
        votes = votes_from(
            {"left": ["a"] * 3, "right": ["b"] * 3, "winner": words},
            outcome_map={"meh": "both_bad", "pass": "skip"},
        )
        assert votes.both_bad == 1
        assert votes.outcome.tolist() == [TIE, LEFT_WON]

    def test_skip_is_known_by_itself(self) -> None:
        words = ["skip", "left", "Skipped"]
        votes = votes_from({"left": ["a"] * 3, "right": ["b"] * 3, "winner": words})
        assert votes.left_out.skipped == 2
        assert "2 of 3 rows, whose outcome is skip" in votes.left_out.sentences[0]


ITEMS = ["a", "b", "c", "d", "é f", "7", "x,y", 'q"']


@st.composite
def some_rankings(draw: st.DrawFn) -> tuple[list[str], list[Levels]]:
    found = []
    for _ in range(draw(st.integers(1, 6))):
        items = draw(st.permutations(ITEMS))[: draw(st.integers(2, len(ITEMS)))]
        levels: Levels = [[items[0]]]
        for item in items[1:]:
            if draw(st.booleans()):
                levels.append([item])
            else:
                levels[-1].append(item)
        found.append(levels)
    size = len(found)
    return draw(st.lists(st.sampled_from("uvw"), min_size=size, max_size=size)), found


@settings(max_examples=60, deadline=None)
@given(some_rankings())
def test_every_way_to_write_rankings_gives_the_same(made: tuple[list[str], list[Levels]]) -> None:
    judges, levels = made
    table = {"judge": judges}
    want = csv(pl.DataFrame(table | {"ranking": [as_text(ranking) for ranking in levels]}))
    assert_same(want, csv(pl.DataFrame(table | {"ranking": [as_json(r) for r in levels]})))
    assert_same(want, csv(long_rows(levels, judges, dense=True)))
    assert_same(want, csv(long_rows(levels, judges, dense=False)))
    assert_same(want, votes_from(table | {"ranking": levels}))
    assert_same(want, votes_from(table | {"ranking": [as_mixed(r) for r in levels]}))
    check_lists(want)
    assert sorted(rankings(want), key=str) == sorted(
        (
            (judge, [sorted(level) for level in ranking], [], 1.0)
            for judge, ranking in zip(judges, levels, strict=True)
            if sum(map(len, ranking)) > 2
        ),
        key=str,
    )


@settings(max_examples=40, deadline=None)
@given(some_rankings())
def test_strict_rankings_in_columns_and_as_the_best_of_sets(
    made: tuple[list[str], list[Levels]],
) -> None:
    judges, levels = made
    strict = [[[item] for level in ranking for item in level] for ranking in levels]
    text = pl.DataFrame({"judge": judges, "ranking": [as_text(r) for r in strict]})
    wide = {
        f"rank_{place + 1}": [r[place][0] if place < len(r) else None for r in strict]
        for place in range(len(ITEMS))
    }
    assert_same(csv(text), csv(pl.DataFrame({"judge": judges} | wide)))
    sets = [json.dumps(sorted(item for (item,) in ranking)) for ranking in strict]
    best = text.with_columns(ranking=pl.Series(as_json(r[:1]) for r in strict), set=pl.Series(sets))
    chosen = best.drop("ranking").with_columns(choice=pl.Series(r[0][0] for r in strict))
    assert_same(csv(best), csv(chosen))
    check_lists(csv(chosen))


def check_lists(votes: Votes) -> None:
    lists = votes.lists
    assert lists.start[0] == lists.begin[0] == 0
    assert lists.start[-1] == lists.number == len(lists.weight) == len(lists.begin) - 1
    assert lists.begin[-1] == len(lists.item) == len(lists.level)
    size = np.diff(lists.begin)
    assert (size >= 3).all()
    assert (lists.ranked >= 1).all()
    assert (size - lists.ranked != 1).all()
    for number in range(lists.number):
        inside = slice(lists.begin[number], lists.begin[number + 1])
        level, item = lists.level[inside], lists.item[inside]
        assert level[0] == 0
        assert set(np.diff(level)) <= {0, 1}
        assert len(set(item)) == len(item)
        assert ((np.diff(level) == 1) | (np.diff(item) > 0)).all()
    used = np.unique(np.concatenate([votes.left, votes.right, lists.item]))
    assert used.tolist() == list(range(votes.n_items))


CELL = st.sampled_from(
    ["a", "a>b", "b = c>a", "a>>b", "", '["a","b",["c"]]', "[a", ">", "a|b", "[]"]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6),
    st.permutations(["ranking", "options", "choice", "item", "rank", "judge", "1st", "2nd"]),
)
def test_any_table_gives_votes_or_a_complaint(
    table: list[tuple[str, str, str]], names: list[str]
) -> None:
    frame = pl.DataFrame(table, schema=names[:3], orient="row")
    for skip_bad in (False, True):
        with suppress(InputError):
            check_lists(votes_from(frame, skip_bad=skip_bad))


def test_many_rankings_are_fast() -> None:
    rng = np.random.default_rng(0)
    orders = np.argsort(rng.random((20_000, 30)), axis=1)[:, :10].astype(str)
    content = "ranking\n" + "\n".join(" > ".join(order) for order in orders)
    began = time.perf_counter()
    assert read(content).lists.number == 20_000
    assert time.perf_counter() - began < 5


def test_bad_rankings_are_refused_without_scipy() -> None:
    code = (
        "import io, sys\nfrom juryrank.reading import read_votes\n"
        "try: read_votes(io.BytesIO(b'judge,ranking\\nv,a>b>c\\nu,a>a\\n'))\n"
        "except ValueError: print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)  # noqa: S603
    assert done.stdout.strip() == b"False"


class TestPublicData:
    def test_potatoes(self, data: Path) -> None:
        for name in ("potato_visual.csv", "potato_weighing.csv"):
            votes = read_votes(data / name)
            assert (votes.n_items, votes.n_judges, votes.lists.number) == (20, 12, 12)
            assert (np.diff(votes.lists.begin) == 20).all()

    def test_races(self, data: Path) -> None:
        votes = read_votes(data / "nascar.csv", item="driver")
        assert (votes.n_items, votes.n_judges, votes.lists.number) == (87, 1, 36)
        assert read_votes(data / "nascar.csv", item="driver", judge_per_row=True).n_judges == 36
